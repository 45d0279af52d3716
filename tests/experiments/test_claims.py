"""The table of claims is of the claims that the notebooks make, and each held on every seed."""

import ast
import operator
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools.course import Course
from tools.experiments import claims

COURSE = Course()
OPERATORS = {"<": operator.lt, "<=": operator.le, "==": operator.eq, ">=": operator.ge, ">": operator.gt}


def code(key: str, source: str, *tags: str) -> object:
    cell = new_code_cell(source, metadata={"tags": list(tags)})
    cell["id"] = key
    return cell


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with a claim that holds on every seed and, in ``shaky``, one that fails on seed 1."""
    (tmp_path / "book/en").mkdir(parents=True)
    settings = "{name: English, html: en, sphinx: en, source: true}\n"
    (tmp_path / "book/en/language.yml").write_text(settings, encoding="utf-8")
    made = Course(tmp_path)
    for stem, asserted in (("solid", "score >= 0.8"), ("shaky", "score != 0.9")):
        cells = [
            code("imports", "seed = 0\nscores = [0.8125, 0.9, 1.0]"),
            code("result", f"score = scores[seed]\nassert {asserted}\nassert (score, 2)[1] == 2", "claim"),
            code("after", "assert seed in (0, 1, 2)"),
        ]
        made.write("en", stem, new_notebook(cells=cells))
    return made


def test_claims_are_the_comparisons_in_tagged_cells(course: Course) -> None:
    found = claims.claims_of(course.read("en", "solid"))
    assert found == [("result", "score", ">= 0.8"), ("result", "(score, 2)[1]", "== 2")]


def test_each_seed_is_run_and_its_value_tabled_and_a_claim_that_fails_on_one_is_named(
    course: Course, capsys: pytest.CaptureFixture
) -> None:
    assert claims.run(course, ["solid", "shaky"]) == 1
    assert "does not hold: shaky#result: score != 0.9" in capsys.readouterr().out
    tabled = course.claims
    assert [row["chapter"] for row in tabled] == ["shaky"] * 2 + ["solid"] * 2
    first, second = tabled[2:]
    assert [first[f"seed {seed}"] for seed in (0, 1, 2)] == ["0.8125", "0.9", "1"]
    assert (second["cell"], second["claim"], second["threshold"]) == ("result", "(score, 2)[1]", "== 2")
    # a chapter that stops leaves the table
    notebook = course.read("en", "solid")
    notebook.cells[2].source = "assert seed == 0"
    course.write("en", "solid", notebook)
    assert claims.run(course, ["solid"]) == 1
    assert "solid: fails: AssertionError" in capsys.readouterr().out
    assert course.claims == tabled


@pytest.mark.parametrize("stem", COURSE.stems())
def test_the_table_has_the_claims_of_the_chapter(stem: str) -> None:
    tabled = [
        (row["cell"], row["claim"], row["threshold"]) for row in COURSE.claims if row["chapter"] == stem
    ]
    assert tabled == claims.claims_of(COURSE.read("en", stem)), (
        f"run `python -m tools.experiments.claims {stem}`"
    )


@pytest.mark.parametrize("stem", COURSE.stems())
def test_every_tagged_cell_claims_something(stem: str) -> None:
    notebook = COURSE.read("en", stem)
    tagged = {c["id"] for c in notebook.cells if "claim" in c.metadata.get("tags", [])}
    assert tagged == {claim.cell for claim in claims.claims_of(notebook)}


def value_of(text: str) -> object:
    """Return the number or the list in a table's cell, else its text."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def test_every_tabled_number_meets_its_threshold() -> None:
    for row in COURSE.claims:
        sign, bound = row["threshold"].split(" ", 1)
        for seed in claims.SEEDS:
            assert OPERATORS[sign](value_of(row[f"seed {seed}"]), value_of(bound)), row
