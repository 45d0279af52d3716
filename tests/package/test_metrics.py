"""BLEU, exact match, alignment accuracy and the ruler: values counted by hand, and every edge."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.references import d2l
from mha_course.corpus import load_corpus
from mha_course.metrics import alignment_accuracy, bleu, corpus_bleu, exact_match, ruler_weights

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=8)


def test_bleu_counted_by_hand():
    # 4 of 5 words, 3 of 4 pairs; longer than the reference, so no penalty.
    assert bleu("a b c d e", "a b c d", k=2) == pytest.approx((4 / 5) ** 0.5 * (3 / 4) ** 0.25)
    # 3 of 3 words, 2 of 2 pairs; penalty exp(1 - 6/3).
    assert bleu("a b c", "a b c d e f", k=2) == pytest.approx(math.exp(-1))
    # Three orders: 3/4, 1/3, 0.
    assert bleu("a b x c", "a b c d", k=2) == pytest.approx((3 / 4) ** 0.5 * (1 / 3) ** 0.25)
    assert bleu("a b x c", "a b c d", k=3) == 0


def test_bleu_counts_a_repeated_word_as_often_as_the_reference_has_it():
    assert bleu("a a a", "a b a", k=1) == pytest.approx((2 / 3) ** 0.5)


def test_bleu_of_d2l_on_sentences_that_both_accept():
    sentences = ["va !", "j'ai perdu .", "il est calme .", "je suis chez moi .", "il est calme calme ."]
    for prediction in sentences:
        for reference in sentences:
            for k in (1, 2, 3, 4):
                assert bleu(prediction, reference, k) == pytest.approx(d2l.bleu(prediction, reference, k))


@given(WORDS, st.integers(1, 6))
def test_a_prediction_equal_to_its_reference_scores_one_however_short(words, k):
    assert bleu(words, words, k) == pytest.approx(1)


@given(WORDS, WORDS, st.integers(1, 6))
def test_bleu_lies_from_zero_to_one(prediction, reference, k):
    assert 0 <= bleu(prediction, reference, k) <= 1 + 1e-12


def test_bleu_of_an_empty_prediction_is_zero():
    assert bleu("", "a b") == bleu("   ", "a b") == bleu([], ["a"]) == 0


def test_bleu_of_no_common_word_is_zero():
    assert bleu("x y z", "a b c") == 0


def test_extra_spaces_and_token_lists_give_the_same_bleu():
    expected = bleu("a b c", "a b d")
    assert 0 < expected < 1
    assert bleu("  a  b\tc ", "a b   d") == bleu(["a", "b", "c"], ("a", "b", "d")) == expected


def test_tokens_are_compared_whole_not_joined():
    assert bleu(["a b", "c"], ["a", "b c"], k=1) == 0


def test_corpus_bleu_counted_by_hand():
    # 4 of 4 words, 2 of 3 pairs; penalty exp(1 - 5/4).
    hand = math.exp(1 - 5 / 4) * (4 / 4 * 2 / 3) ** (1 / 2)
    assert corpus_bleu(["il est calme ."], ["il est très calme ."], max_n=2) == pytest.approx(hand)
    # 7 of 8 words, 5 of 7 pairs, 3 of 6 triples, 1 of 5 fours; no penalty.
    prediction, reference = "il n' aime que cette chemise verte .", "il n' aime pas cette chemise verte ."
    assert corpus_bleu([prediction], [reference]) == pytest.approx((7 / 8 * 5 / 7 * 3 / 6 * 1 / 5) ** (1 / 4))


def test_corpus_bleu_counts_all_sentences_together():
    # Words: 2 of 2 and 0 of 1; lengths 3 against 6. Averaged over the sentences it would be 0.184.
    assert corpus_bleu(["a b", "x"], ["a b c d", "y z"], max_n=1) == pytest.approx(math.exp(-1) * 2 / 3)


def test_corpus_bleu_counts_a_repeated_word_as_often_as_the_reference_has_it():
    assert corpus_bleu(["le le le"], ["le chat est"], max_n=1) == pytest.approx(1 / 3)


def test_corpus_bleu_is_one_for_the_references_and_zero_without_a_common_run_of_the_longest_kind():
    references = ["a b c d", "a b"]
    assert corpus_bleu(references, references) == pytest.approx(1)
    assert corpus_bleu(["a b c x", "a b"], references) == 0
    assert corpus_bleu(["", ""], references) == 0
    assert corpus_bleu(["a b"], ["a b"]) == 0  # too short for a run of four


def test_exact_match_counts_whole_sentences():
    predictions = ["a b", "a b c", "a", "b a", "", "d", "d"]
    assert exact_match(predictions, ["a  b", ["a", "b"], "a b", "a b", [], ("d",), "d e"]) == 3 / 7


def test_alignment_accuracy_counted_by_hand():
    weights = [
        torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.4, 0.5, 0.1]]),
        torch.tensor([[0.1, 0.9], [0.6, 0.4]]),
    ]
    # Peaks 0, 2, 1 and 1, 0. Of two gold positions either is right; a token with none does not count.
    assert alignment_accuracy(weights, [((0,), (1, 2), ()), ((0,), (0,))]) == 3 / 4
    assert alignment_accuracy(weights, [((0,), (1, 2), (1,)), ((0,), ())]) == 3 / 4


def test_a_peak_at_the_end_of_the_sentence_is_a_miss():
    assert alignment_accuracy([torch.tensor([[0.2, 0.1, 0.7]])], [((0, 1),)]) == 0


# ---- the ruler


@pytest.mark.parametrize(
    ("steps", "positions", "peaks"),
    [
        (1, 1, [0]),
        (1, 4, [0]),
        (4, 1, [0, 0, 0, 0]),
        (4, 4, [0, 1, 2, 3]),
        (5, 6, [0, 1, 2, 4, 5]),  # 1.25, 2.5 and 3.75: a half goes to the even neighbour
        (3, 2, [0, 0, 1]),
        (7, 4, [0, 0, 1, 2, 2, 2, 3]),
    ],
)
def test_a_step_looks_at_its_own_place_in_the_source(steps, positions, peaks):
    weights = ruler_weights(steps, positions)
    assert torch.equal(weights, torch.eye(positions)[peaks])


def test_it_begins_at_the_first_position_and_ends_at_the_last():
    for steps in range(2, 12):
        for positions in range(1, 12):
            peaks = ruler_weights(steps, positions).argmax(dim=1).tolist()
            assert peaks == sorted(peaks)
            assert (peaks[0], peaks[-1]) == (0, positions - 1)


def test_its_score_on_the_test_split_with_and_without_punctuation():
    pairs = load_corpus("fr", "test")
    weights = [ruler_weights(len(pair.target), len(pair.source)) for pair in pairs]
    words = [
        [
            () if token in (".", "?", "!") else gold
            for token, gold in zip(pair.target, pair.alignment, strict=True)
        ]
        for pair in pairs
    ]
    assert alignment_accuracy(weights, [pair.alignment for pair in pairs]) == pytest.approx(0.685, abs=5e-4)
    assert alignment_accuracy(weights, words) == pytest.approx(0.634, abs=5e-4)
