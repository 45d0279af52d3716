"""The script that lets language models write, and the tables that lie in the package."""

import math

import pytest
import torch

from mha_course.corpus import Vocabulary
from mha_course.results import stored_results
from tools.experiments import language_models
from tools.experiments.language_models import (
    MODELS,
    POSITIONS,
    RANGES,
    TEMPERATURES,
    NGram,
    grammar,
    model_with,
    sentences,
    texts,
    verdicts,
)
from tools.experiments.layouts import SEEDS

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


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_sum_to_1(order, smooth):
    ngram = NGram(order, TRAINING, WORDS, smooth)
    for context in ((), (WORDS.bos,), (WORDS.bos, A), (A, B), (C, C)):
        assert ngram.probabilities(context).sum().item() == pytest.approx(1)


def test_raw_counts_write_what_was_seen():
    raw = NGram(3, TRAINING, WORDS, smooth=False)
    assert raw.probabilities((WORDS.bos, A))[B].item() == pytest.approx(2 / 3)
    assert raw.perplexity([("a", "c")]) == pytest.approx((4 / 3 * 3) ** (1 / 3))
    assert raw.perplexity([("c",)]) == math.inf
    draw = torch.Generator().manual_seed(0)
    written = {tuple(WORDS.to_tokens(raw.write(1.0, draw))) for _ in range(50)}
    assert written == set(TRAINING)


def test_the_grammar_produces_the_corpus_and_knows_unseen_pairs():
    produced = grammar()
    assert all(" ".join(sentence) in produced for sentence in sentences("train", "dev", "test", "phrases"))
    assert produced["give me two new hats ."]
    assert not any(produced[" ".join(sentence)] for sentence in sentences("train"))
    found = verdicts("give me two new hats .", {"go ."})
    assert found == {"grammatical": True, "new": True, "both": True, "unseen": True}
    assert verdicts("go .", {"go ."}) == {"grammatical": True, "new": False, "both": False, "unseen": False}
    assert not verdicts("hats new two me give .", set())["grammatical"]


@pytest.mark.parametrize("positions", POSITIONS)
def test_models_are_causal_and_differ_in_positions_only(positions):
    models = []
    for name in (positions, "rotary"):
        torch.manual_seed(0)
        models.append(model_with(name, 12).eval())
    tokens = torch.tensor([[4, 5, 6, 7, 8]])
    changed = torch.tensor([[4, 5, 6, 9, 8]])
    with torch.no_grad():
        logits, after = models[0](tokens)[0], models[0](changed)[0]
        assert torch.equal(logits[:, :3], after[:, :3]) and not torch.allclose(logits[:, 3:], after[:, 3:])
        assert torch.allclose(logits, models[1](tokens)[0], atol=1e-6) == (positions == "rotary")
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(one, other)


def test_texts_hold_whole_sentences_one_after_another():
    rows = texts(TRAINING, WORDS, 4, 3, seed=0)
    assert rows.shape == (3 * 11 // 5, 5)
    assert set(rows.flatten().tolist()) == {A, B, C, WORDS.eos}


def test_the_tables_in_the_package_are_of_these_settings():
    rows = stored_results("language_models")
    keys = [(row["model"], row["seed"], row["temperature"]) for row in rows]
    assert keys == [(name, seed, t) for name in MODELS for seed in SEEDS for t in TEMPERATURES]
    assert all(row["both"] <= min(row["grammatical"], row["new"]) for row in rows)
    trained = {" ".join(sentence) for sentence in sentences("train", "phrases")}
    for row in stored_results("language_samples"):
        found = verdicts(row["sentence"], trained)
        assert (row["grammatical"], row["new"]) == (found["grammatical"], found["new"])
    keys = [(row["positions"], row["seed"], row["start"]) for row in stored_results("language_positions")]
    assert keys == [(name, seed, low) for name in POSITIONS for seed in SEEDS for low, _ in RANGES]


def test_the_first_sentences_are_those_that_were_counted(monkeypatch):
    monkeypatch.setattr(language_models, "fit_language_model", lambda *arguments, **options: [])
    monkeypatch.setattr(language_models, "SAMPLES", 8)
    rows, shown = language_models.measure(("Transformer", 0))
    assert [row["new"] for row in rows] == ["1.000"] * 3  # an untrained model
    assert len(shown) == 5 * (3 + len(language_models.WAYS))
    assert all(row["sentence"].startswith(row["prompt"]) for row in shown)
    assert language_models.measure(("5-gram, raw", 1))[1] == []
