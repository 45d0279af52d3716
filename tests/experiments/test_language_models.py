"""The script that lets language models write, and the tables that lie in the package."""

import math
from itertools import chain

import pytest
import torch

from mha_course.corpus import Vocabulary
from mha_course.language_model import LanguageModel
from mha_course.results import stored_results
from tools.experiments import language_models
from tools.experiments.language_models import (
    MODELS,
    TEMPERATURES,
    Grammar,
    NGram,
    after_adjectives,
    grammar,
    losses,
    perplexities,
    perplexity,
    sentences,
    verdicts,
    vocabulary,
)
from tools.experiments.runs import SEEDS

TRAINING = [("a", "b"), ("a", "b"), ("a", "c"), ("b",)]
WORDS = Vocabulary(TRAINING)
A, B, C = WORDS[["a", "b", "c"]]


def test_smoothed_counts_by_hand():
    # After <bos>: a three times, b once. Of all tokens: a 3, b 3, c 1, <eos> 4; at last seven types alike.
    bigram = NGram(2, TRAINING, WORDS)
    single = (3 + 4 / 7) / 15
    assert bigram.probabilities(())[A].item() == pytest.approx(single)
    assert bigram.probabilities((WORDS.bos,))[A].item() == pytest.approx((3 + 2 * single) / 6)
    assert torch.equal(bigram.probabilities((WORDS.bos, A)), bigram.probabilities((A,)))  # one token before
    assert bigram.probabilities((WORDS.unk,))[A].item() == pytest.approx(
        single
    )  # never seen: shorter context


def test_the_page_counts_hats_by_hand():
    words = vocabulary()
    two, new, hats = words[["two", "new", "hats"]]
    trigram = NGram(3, sentences("train", "phrases"), words)
    after_two_new, after_new = trigram.counts[two, new], trigram.counts[(new,)]
    assert (after_two_new.total(), len(after_two_new), after_two_new[hats]) == (12, 8, 0)
    assert (after_new.total(), len(after_new), after_new[hats]) == (157, 19, 0)
    assert trigram.probabilities(())[hats].item() == pytest.approx(1 / 780, rel=0.01)
    by_hand = 8 / (12 + 8) * 19 / (157 + 19) / 780
    assert trigram.probabilities((two, new))[hats].item() == pytest.approx(by_hand, rel=0.01)


def test_six_of_the_fifteen_sentences_on_the_page_are_wrong():
    shown = {
        (row["way"], row["sentence"]): row["grammatical"]
        for row in stored_results("language_samples")
        if row["prompt"] and row["way"] not in ("temperature=0.5", "top_k=3")
    }
    assert (len(shown), list(shown.values()).count(0)) == (15, 6)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_sum_to_1(order):
    ngram = NGram(order, TRAINING, WORDS)
    for context in ((), (WORDS.bos,), (WORDS.bos, A), (A, B), (C, C)):
        assert ngram.probabilities(context).sum().item() == pytest.approx(1)


def test_the_grammar_produces_the_corpus_and_knows_unseen_pairs():
    produced = grammar()
    assert all(" ".join(sentence) in produced for sentence in sentences("train", "dev", "test", "phrases"))
    assert produced["give me two new hats ."]
    assert not any(produced[" ".join(sentence)] for sentence in sentences("train"))
    found = verdicts("give me two new hats .", {"go ."})
    assert found == {"grammatical": True, "new": True, "both": True, "unseen": True}
    assert verdicts("go .", {"go ."}) == {"grammatical": True, "new": False, "both": False, "unseen": False}
    assert not verdicts("hats new two me give .", set())["grammatical"]


def test_the_grammar_takes_all_that_a_template_allows_for_equally_probable():
    known, model = vocabulary(), Grammar(vocabulary())
    prompt = (known.bos, *known[["give", "me", "two", "new"]])
    following = model.probabilities(prompt)
    nouns = {text.split()[4] for text in grammar() if text.startswith("give me two new ")}
    assert "hats" in nouns
    assert following.nonzero().flatten().tolist() == sorted(known[list(nouns)])
    assert following[following > 0] == pytest.approx(1 / len(nouns))
    assert sum(model.following[(known.bos,)].values()) == pytest.approx(
        len(sentences("train")) + len(sentences("phrases"))
    )
    draw = torch.Generator().manual_seed(0)
    for temperature in TEMPERATURES:
        assert " ".join(known.to_tokens(model.write(temperature, draw))) in grammar()
    assert perplexity(chain(*model.losses(sentences("test")))) < 4.1  # no sentence is impossible


def test_nouns_after_adjectives_were_all_trained_in_dev_and_none_in_test():
    assert after_adjectives(("these", "two", "new", "hats", "are", "old", ".")) == [3]
    pairs = {
        split: {row[place - 1 : place + 1] for row in sentences(*split) for place in after_adjectives(row)}
        for split in (("train", "phrases"), ("dev",), ("test",))
    }
    trained, dev, test = pairs.values()
    assert dev and test and dev <= trained and not test & trained
    tokens = sum(len(row) + 1 for row in sentences("test"))  # <eos> is one, too
    assert sum(len(after_adjectives(row)) for row in sentences("test")) / tokens == pytest.approx(
        1 / 9, rel=0.05
    )


def test_perplexities_of_all_tokens_and_of_nouns_after_adjectives():
    def measured(split):
        found = [[1.0] * (len(sentence) + 1) for sentence in split]
        for row, sentence in zip(found, split, strict=True):
            for place in after_adjectives(sentence):
                row[place] = 3.0
        return found

    found = {name: float(value) for name, value in perplexities(measured).items()}
    for split in ("dev", "test"):
        assert found[f"{split}_nouns"] == pytest.approx(math.e**3, abs=1e-3)
        assert math.e < found[f"{split}_perplexity"] < math.e**3


def test_losses_are_those_of_single_sentences():
    torch.manual_seed(0)
    model = LanguageModel(len(WORDS)).eval()
    together = losses(model, WORDS, TRAINING)
    assert [len(row) for row in together] == [3, 3, 3, 2]
    for sentence, row in zip(TRAINING, together, strict=True):
        assert losses(model, WORDS, [sentence])[0] == pytest.approx(row, abs=1e-5)


def test_the_tables_in_the_package_are_of_these_settings():
    rows = stored_results("language_models")
    keys = [(row["model"], row["seed"], row["temperature"]) for row in rows]
    assert keys == [(name, seed, t) for name in MODELS for seed in SEEDS for t in TEMPERATURES]
    assert all(row["both"] <= min(row["grammatical"], row["new"]) for row in rows)
    trained = {" ".join(sentence) for sentence in sentences("train", "phrases")}
    for row in stored_results("language_samples"):
        found = verdicts(row["sentence"], trained)
        assert (row["grammatical"], row["new"]) == (found["grammatical"], found["new"])


def test_the_first_sentences_are_those_that_were_counted(monkeypatch):
    monkeypatch.setattr(language_models, "fit_language_model", lambda *arguments, **options: [])
    monkeypatch.setattr(language_models, "SAMPLES", 8)
    rows, shown = language_models.measure(("Transformer", 0))
    assert [row["new"] for row in rows] == ["1.000"] * 3  # an untrained model
    assert len(shown) == 5 * (3 + len(language_models.WAYS))
    assert all(row["sentence"].startswith(row["prompt"]) for row in shown)
    assert language_models.measure(("5-gram", 1))[1] == []
