"""A cell's role is decided in one place, and nothing else compares ids."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools import cells as contract
from tools.cells import Role
from tools.course import ROOT


def cell(kind: str, key: str, *tags: str) -> NotebookNode:
    make = new_code_cell if kind == "code" else new_markdown_cell
    made = make("", metadata={"tags": list(tags)})
    made["id"] = key
    return made


PAGE = {
    ("markdown", "title"): Role.TITLE,
    ("code", "setup"): Role.SETUP,
    ("markdown", "question"): Role.QUESTION,
    ("code", "opening"): Role.OPENING,
    ("markdown", "opening-caption"): Role.CAPTION,
    ("code", "imports"): Role.IMPORTS,
    ("markdown", "masks"): Role.TEXT,
    ("code", "class-Mask"): Role.SHOWN_CLASS,
    ("code", "function-valid-mask"): Role.SHOWN_FUNCTION,
    ("markdown", "class-Mask-why"): Role.TEXT,
    ("markdown", "predict-mask"): Role.PREDICT,
    ("code", "mask-plot"): Role.FIGURE,
    ("markdown", "mask-plot-caption"): Role.CAPTION,
    ("code", "mask-claim", "claim"): Role.CLAIM,
    ("markdown", "mask-claim-seeds"): Role.SEEDS,
    ("markdown", "your-turn-mask"): Role.TURN,
    ("code", "attempt-mask"): Role.ATTEMPT,
    ("markdown", "summary"): Role.SUMMARY,
    ("markdown", "quiz-mask"): Role.QUIZ,
    ("markdown", "exercise-mask"): Role.EXERCISE,
    ("code", "solution-mask"): Role.SOLUTION,
    ("code", "solution-mask-claim", "claim"): Role.SOLUTION,
    ("markdown", "solution-mask-claim-seeds"): Role.SEEDS,
    ("markdown", "solution-mask-why"): Role.SOLUTION,
    ("markdown", "checks"): Role.CHECKS,
    ("code", "mask-check", "claim"): Role.CHECK,
    ("markdown", "mask-check-seeds"): Role.SEEDS,
    ("code", "loose"): Role.CODE,
    ("markdown", "references"): Role.REFERENCES,
    ("markdown", "terms-table"): Role.TABLE,
}
CELLS = [cell(*row) for row in PAGE]


def test_every_role_has_a_cell_and_every_cell_its_role() -> None:
    assert list(contract.roles(CELLS).values()) == list(PAGE.values())
    assert set(PAGE.values()) == set(Role)


def test_the_section_of_checks_ends_at_the_references() -> None:
    ids = [one["id"] for one in contract.checks_section(CELLS)]
    assert ids == ["checks", "mask-check", "mask-check-seeds", "loose"]
    assert contract.checks_section(CELLS[:-8]) == []


def test_students_get_no_solutions_and_no_checks() -> None:
    lost = {one["id"] for one in CELLS} - {one["id"] for one in contract.for_students(CELLS)}
    assert lost == {key for _, key, *_ in PAGE if key.startswith("solution-")} | {
        "checks", "mask-check", "mask-check-seeds", "loose"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "tags", "word"),
    [
        ("imports", ["hide-input"], "set_up"),
        ("class-Mask", ["hide-input"], "package_class"),
        ("class-Mask", [], ""),
        ("function-valid-mask", ["hide-input"], "package_function"),
        ("mask-plot", ["hide-input"], "figure_code"),
        ("mask-claim", ["claim"], ""),
        ("mask-check", ["claim"], ""),
        ("solution-mask", ["hide-cell"], ""),
        ("loose", ["hide-input"], "show_code"),
    ],
)
def test_a_cell_is_folded_behind_its_words(key: str, tags: list[str], word: str) -> None:
    role = contract.roles(CELLS)[key]
    assert contract.fold_word(cell("code", key, *tags), role, role is Role.FIGURE) == word


# ---- nothing else compares ids ----

BEGIN = {role for group in contract.BEGINNINGS.values() for role in group} | set(contract.SHOWN_SOURCE)
AFFIXES = {f"{role}-" for role in BEGIN} | {f"-{role}" for role in contract.ENDINGS}
IDS = {role.value for role in contract.SINGLE}
MODULES = [path for path in sorted((ROOT / "tools").rglob("*.py")) if path != Path(contract.__file__)]
SCRIPTS = [path for path in sorted((ROOT / "tools/site").rglob("*.js")) if path.parent.name != "models"]


def compared_ids(source: str) -> list[str]:
    """Return the ids and parts of ids that a module compares with something."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in AFFIXES:
            found.append(node.value)
        elif isinstance(node, ast.Compare) and re.search(r"\bkey\b|\[.id.\]|\.cell\b", ast.unparse(node)):
            texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
            found += [text for text in texts if text in IDS]
        elif isinstance(node, ast.JoinedStr):  # f"{cell}-caption"
            parts = (part.value for part in node.values if isinstance(part, ast.Constant))
            found += [part for part in parts if part in AFFIXES]
    return found


def test_no_other_module_compares_an_id() -> None:
    found = {str(path): compared_ids(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {path: ids for path, ids in found.items() if ids} == {}


def test_no_script_reads_roles_out_of_ids() -> None:
    names = "|".join({*BEGIN, *contract.ENDINGS, *IDS})
    reads = rf"(?:#|\^|\?:|\bid === [\"']|[\"'`])(?:{names})-|\bid === [\"'](?:{names})|-(?:{names})\$"
    assert [str(path) for path in SCRIPTS if re.search(reads, path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "line",
    [
        'key.startswith("quiz-")',
        'cell["id"] == "setup"',
        'f"{key}-caption" in texts',
        'key.removesuffix("-seeds")',
        'key in ("imports", "opening")',
    ],
)
def test_a_comparison_of_an_id_is_seen(line: str) -> None:
    assert compared_ids(line)
