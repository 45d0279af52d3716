"""The script behind the table of layouts, and the table that lies in the package."""

from dataclasses import asdict

import pytest
import torch

from mha_course.corpus import Pair, load_corpus
from mha_course.results import stored_results
from tools.experiments.layouts import SENTENCE, Setting, build, settings, shifts, where_it_looks, words_only

PAIR = Pair("1", "t", ("a", "b", "."), ("x", "y", "z", "."), ((0,), (), (0, 1), (2,)))


def test_every_setting_is_trained_once_a_seed():
    chosen = list(settings())
    assert len(chosen) == len(set(chosen)) == 3 + 2 * 2 * 2 * 3


def test_the_table_in_the_package_is_of_these_settings():
    rows = stored_results("layouts")
    names = list(asdict(Setting()))
    assert [tuple(row[name] for name in names) for row in rows] == [
        tuple(asdict(setting).values()) for setting in settings()
    ]
    pair = next(pair for pair in load_corpus("fr", "test") if " ".join(pair.source) == SENTENCE)
    for row in rows:
        assert 0 <= row["exact_match"] <= 1
        assert row["attention"] == "none" or len(row["peaks"].split()) == len(pair.target)


def test_seeds_and_layers_are_read_as_whole_numbers_and_shares_as_fractions():
    row = stored_results("layouts")[0]
    kinds = [type(row[name]) for name in ("seed", "layers", "exact_match", "written")]
    assert kinds == [int, int, float, str]


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


@pytest.mark.parametrize("setting", [Setting("none"), Setting(direction="both", layers=2)])
def test_the_seed_decides_the_weights_and_the_model_runs(setting):
    model, twin = build(setting, 12, 14), build(setting, 12, 14)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    source, target = torch.ones(2, 5, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)
    assert model(source, target, torch.tensor([5, 3]))[0].shape == (2, 3, 14)
