"""The script behind the table of languages, and the table that lies in the package."""

from itertools import product

import pytest

from mha_course.corpus import TARGETS
from mha_course.results import stored_results
from tools.experiments.languages import measure
from tools.experiments.runs import SEEDS


def test_every_language_is_trained_once_a_seed():
    rows = stored_results("languages")
    assert [(row["language"], row["seed"]) for row in rows] == list(product(TARGETS, SEEDS))


def test_the_french_rows_are_those_of_the_layouts():
    layouts = [
        row
        for row in stored_results("layouts")
        if (row["direction"], row["initial_state"], row["layers"]) == ("both", "zero", 1)
    ]
    for row, same in zip(stored_results("languages"), layouts, strict=False):
        for name in ("seed", "exact_match", "alignment", "words"):
            assert row[name] == pytest.approx(
                same[name], abs=0.02
            )  # measured on another day, perhaps elsewhere


@pytest.mark.parametrize("language", TARGETS)
def test_the_ruler_of_each_language_is_that_of_the_table(language):
    row = next(row for row in stored_results("languages") if row["language"] == language)
    measured = measure((language, 0), epochs=0)
    assert list(measured) == list(row)
    assert float(measured["ruler"]) == row["ruler"]
    assert float(measured["ruler_words"]) == row["ruler_words"] < row["ruler"]
