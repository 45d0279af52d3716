"""The script behind the table of layouts, and the table that lies in the package."""

import torch

from mha_course.corpus import Pair, load_corpus
from mha_course.results import stored_results
from tools.experiments.layouts import SENTENCE, shifts, where_it_looks, words_only

PAIR = Pair("1", "t", ("a", "b", "."), ("x", "y", "z", "."), ((0,), (), (0, 1), (2,)))


def test_a_row_says_where_each_word_of_a_sentence_looks():
    pair = next(pair for pair in load_corpus("fr", "test") if " ".join(pair.source) == SENTENCE)
    for row in stored_results("layouts"):
        assert row["attention"] == "none" or len(row["peaks"].split()) == len(pair.target)


def test_shifts_count_from_the_nearest_gold_position_and_skip_tokens_without_one():
    weights = torch.eye(4)[[2, 0, 3, 1]]
    assert shifts([weights], [PAIR]) == [2, 2, -1]


def test_words_only_leaves_out_the_gold_positions_of_punctuation():
    assert words_only(PAIR) == [(0,), (), (0, 1), ()]
    for mark in ".?!。？！":  # Chinese has marks of its own
        assert words_only(PAIR._replace(target=("x", "y", "z", mark)))[-1] == ()


def test_where_it_looks_scores_with_and_without_punctuation_and_finds_the_sentence():
    course = Pair("2", "t", tuple(SENTENCE.split()), ("u", "."), ((3,), (5,)))
    weights = [torch.eye(4)[[0, 0, 1, 3]], torch.eye(7)[[3, 6]]]
    assert where_it_looks(weights, [PAIR, course]) == {
        "alignment": "0.600", "words": "1.000", "shift": "0.400", "peaks": "3 6",
    }  # fmt: skip
