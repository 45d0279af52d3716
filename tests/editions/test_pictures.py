"""A picture that sync did not draw is seen without drawing anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.course import Course, CourseError, cells
from tools.editions import drawings, pictures


def cell(key: str, *contents: str) -> NotebookNode:
    """Return a cell that shows pictures of these contents."""
    made = new_code_cell(key, outputs=[new_output("display_data", {"image/png": text}) for text in contents])
    made["id"] = key
    return made


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "book/en").mkdir(parents=True)
    made = Course(tmp_path)
    notebook = new_notebook(cells=[cell("one", "aGk="), cell("two", "aG8=", "aHU="), cell("none")])
    made.write("en", "page", notebook)
    (made.root / drawings.path("page", "one")).parent.mkdir(parents=True)
    (made.root / drawings.path("page", "one")).write_text("<svg/>", encoding="utf-8")
    pictures.record(made, "page", notebook, drawn=True)
    return made


def show(notebook: NotebookNode, key: str, *contents: str) -> None:
    cells(notebook, "code")[key].outputs = cell(key, *contents).outputs


def exchange(notebook: NotebookNode) -> None:
    one, two = (cells(notebook, "code")[key] for key in ("one", "two"))
    one.outputs, two.outputs = two.outputs, one.outputs


CHANGES: dict[str, tuple[Callable[[NotebookNode], object], set[str]]] = {
    "nothing": (lambda notebook: None, set()),
    "lines broken otherwise": (lambda notebook: show(notebook, "one", "aG\nk=\n"), set()),
    "replaced": (lambda notebook: show(notebook, "one", "aGs="), {"one"}),
    "exchanged": (exchange, {"one", "two"}),
    "the order of two": (lambda notebook: show(notebook, "two", "aHU=", "aG8="), {"two"}),
    "new": (lambda notebook: show(notebook, "none", "aGs="), {"none"}),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_another_picture_is_named_and_sync_does_not_bless_it(course: Course, kind: str) -> None:
    change, named = CHANGES[kind]
    notebook = course.read("en", "page")
    change(notebook)
    assert {key for key, _ in pictures.faults(course, "page", notebook)} == named
    pictures.record(course, "page", notebook, drawn=False)
    assert {key for key, _ in pictures.faults(course, "page", notebook)} == named - {"none"}
    pictures.record(course, "page", notebook, drawn=True)
    assert not list(pictures.faults(course, "page", notebook))


def test_a_drawing_that_is_missing_or_another_is_named(course: Course) -> None:
    notebook, drawing = course.read("en", "page"), course.root / drawings.path("page", "one")
    for change in (lambda: drawing.write_text("<svg></svg>"), drawing.unlink):
        assert not list(pictures.faults(course, "page", notebook))
        change()
        ((key, what),) = pictures.faults(course, "page", notebook)
        assert key == "one" and drawings.path("page", "one") in what
        drawing.write_text("<svg/>")


def test_a_broken_record_is_named_by_line(course: Course) -> None:
    (course.root / pictures.PATH).write_text("page one 0123456789ab\nthree words only\n", encoding="utf-8")
    with pytest.raises(CourseError, match="line 2"):
        list(pictures.faults(course, "page", course.read("en", "page")))
