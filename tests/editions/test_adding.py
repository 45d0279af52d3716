"""A new language is one command."""

from __future__ import annotations

import json

import pytest
from two_chapters import ENGLISH, errors, replace, rewrite, run, snapshot

from tools.course import Course
from tools.editions.lock import page_state
from tools.editions.sync import sync


def test_status_counts_cells_by_chapter_and_language(course: Course, capsys: pytest.CaptureFixture) -> None:
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    sync(course)
    assert run(course, "status") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["fresh/stale/untranslated", "tr", "vi", "zh"],
        ["masks", "3/1/0", "0/0/4", "3/1/0"],
        ["sums", "0/0/1", "0/0/1", "0/0/1"],
        ["all", "3/1/1", "0/0/5", "3/1/1"],
    ]


def test_a_language_is_one_command(course: Course) -> None:
    before = snapshot(course)
    assert run(course, "add eo Esperanto") == 0
    added = Course(course.root)
    assert added.languages["eo"].name == "Esperanto"
    assert errors(added) == []
    assert page_state("eo", "masks", added).untranslated == tuple(ENGLISH)
    changed = {path for path, text in snapshot(added).items() if before.get(path) != text}
    assert {str(path.relative_to(course.root)) for path in changed} == {
        "book/eo/language.yml",
        "book/eo/terms.csv",
        "book/eo/masks.ipynb",
        "book/eo/sums.ipynb",
        "book/eo/translation.lock",
    }


@pytest.mark.parametrize("code", ["tr", "Klingon!", ".."])
def test_a_language_that_cannot_be_added_changes_nothing(course: Course, code: str) -> None:
    before = snapshot(course)
    assert run(course, f"add {code} Name") == 1
    assert snapshot(course) == before


def test_notebooks_are_written_as_jupyter_writes_them(course: Course) -> None:
    text = course.path("tr", "masks").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
