"""Sync carries code and outputs over, executes what changed, and loses no translator's text."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output
from two_chapters import cell_of, errors, mangle, remove, replace, rewrite, run, snapshot

from tools.course import ROOT, Course, CourseError, cells, write_atomically
from tools.editions.check import check
from tools.editions.form import RETINA
from tools.editions.sync import sync


def run_out_of_order(notebook: NotebookNode) -> None:
    cell_of(notebook, "add").execution_count = 46
    cell_of(notebook, "solution-half").update(execution_count=43)
    cell_of(notebook, "solution-half").outputs[0].update(execution_count=43)


LEFT_BEHIND: dict[str, Callable[[NotebookNode], object]] = {
    "execution counts": run_out_of_order,
    "empty attachments": lambda nb: cell_of(nb, "why").update(attachments={}),
    "metadata of outputs": lambda nb: cell_of(nb, "solution-half").outputs[0].metadata.update(isolated=True),
    "metadata of cells": lambda nb: cell_of(nb, "add").metadata.update(collapsed=False, ExecuteTime={}),
    "metadata of the notebook": lambda nb: nb.metadata.update(toc={}),
}


@pytest.mark.parametrize("kind", LEFT_BEHIND)
def test_sync_takes_out_what_editors_leave_behind(course: Course, kind: str) -> None:
    before = snapshot(course)
    rewrite(course, "en", LEFT_BEHIND[kind])
    assert "error: en masks: derived cells or metadata are not as sync writes them: run sync" in errors(
        course
    )
    sync(course)
    assert snapshot(course) == before


def test_the_size_of_a_picture_is_kept(course: Course) -> None:
    picture = new_output(
        "display_data", {"image/png": "iVBO"}, metadata={"image/png": {"width": 3, "x": 1}, "y": 2}
    )
    rewrite(course, "en", lambda nb: cell_of(nb, "add").update(outputs=[picture]))
    sync(course)
    assert cell_of(course.read("tr", "masks"), "add").outputs[0].metadata == {"image/png": {"width": 3}}


MODULE = '''"""Sums."""
from tiny.base import ONE

def read():
    return open("numbers.tsv")
'''


@pytest.fixture(scope="module")
def with_package(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course whose page was executed with a package that reads data."""
    course = Course(Path(shutil.copytree(template, tmp_path_factory.mktemp("package") / "course")))
    (course.root / "tiny/data").mkdir(parents=True)
    files = {"__init__.py": "", "sums.py": MODULE, "base.py": "ONE = 1", "other.py": "ONE = 1"}
    for name, text in {**files, "data/numbers.tsv": "1", "data/other.tsv": "1"}.items():
        (course.root / "tiny" / name).write_text(text)
    write_atomically(course.root / "_config.yml", "package: tiny\n")
    imports = 'import sys\n\nsys.path.insert(0, "../..")\nfrom tiny import sums\n\nprint'
    rewrite(course, "en", replace("add", "print", imports))
    sync(course)
    assert check(course) == []
    return course.root


OUTDATED = (
    "warning: en masks: the package or its data changed since it was executed: run sync --execute masks"
)


@pytest.mark.parametrize(
    ("file", "old", "new", "noticed"),
    [
        ("sums.py", "return open", "return print or open", True),
        ("sums.py", "Sums.", "Totals.", False),
        ("sums.py", "def read", "# opens\ndef read", False),
        ("base.py", "1", "2", True),
        ("data/numbers.tsv", "1", "2", True),
        ("data/other.tsv", "1", "2", False),
        ("other.py", "1", "2", False),
    ],
)
def test_pages_are_named_whose_package_or_data_changed(
    with_package: Path, tmp_path: Path, file: str, old: str, new: str, noticed: bool
) -> None:
    course = Course(Path(shutil.copytree(with_package, tmp_path / "course")))
    mangle(course.root / "tiny" / file, old, new)
    assert [finding.line() for finding in check(course)] == ([OUTDATED] if noticed else [])


def test_sync_names_an_outdated_page_and_executes_it_on_demand(
    with_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    course = Course(Path(shutil.copytree(with_package, tmp_path / "course")))
    mangle(course.root / "tiny/base.py", "1", "2")
    assert run(course, "sync") == 0
    assert "execute them again: sync --execute masks\n" in capsys.readouterr().out
    assert [finding.line() for finding in check(course)] == [OUTDATED]
    assert run(course, "sync --execute masks") == 0
    assert check(course) == []


def test_sync_refuses_to_lose_a_translation_and_says_how_to_keep_it(course: Course) -> None:
    rewrite(course, "en", remove("why"))
    before = snapshot(course)
    with pytest.raises(
        CourseError, match=r"(?s)book/tr/masks.ipynb, cell why.*book/zh.*give the English cell that id"
    ):
        sync(course)
    assert snapshot(course) == before
    sync(course, drop=["masks#why"])
    assert "why" not in cells(course.read("tr", "masks"))
    assert "why" not in cells(course.read("vi", "masks"))
    assert errors(course) == []


def test_sync_refuses_to_lose_a_chapter(course: Course) -> None:
    course.path("en", "masks").unlink()
    before = snapshot(course)
    with pytest.raises(CourseError, match=r"book/tr/masks\.ipynb, cell title"):
        sync(course)
    assert snapshot(course) == before
    sync(course, drop=["masks"])
    assert course.stems("tr") == ["sums"]


def test_a_cell_that_fails_stops_sync_with_every_file_whole(course: Course) -> None:
    rewrite(course, "en", replace("add", "1 + 1", "1 / 0"))
    before = snapshot(course)
    with pytest.raises(CourseError, match="en masks#add: fails: ZeroDivisionError"):
        sync(course)
    assert snapshot(course) == before


def test_a_kernel_that_dies_stops_sync_with_every_file_whole(course: Course) -> None:
    rewrite(course, "en", replace("add", "print(1 + 1)", "import os; os._exit(1)"))
    before = snapshot(course)
    with pytest.raises(CourseError, match="en masks: fails: Kernel died; nothing was written"):
        sync(course)
    assert snapshot(course) == before


def test_changed_code_is_executed_and_carried_over(course: Course) -> None:
    rewrite(course, "en", replace("add", "1 + 1", "1 + 2"))
    sync(course)
    for language in course.languages:
        assert cell_of(course.read(language, "masks"), "add").outputs[0].text == "3\n"
    assert errors(course) == []
    assert "timestamp" not in course.path("en", "masks").read_text(encoding="utf-8")


def test_a_figure_is_drawn_for_the_site_and_the_page_keeps_its_names(course: Course) -> None:
    for name in ("startup.py", "drawn.py"):
        shutil.copy(ROOT / "book" / name, course.root / "book")
    code = f"{RETINA}\nfrom matplotlib import pyplot\nfigure, axes = pyplot.subplots()\n"
    code += "print('drawing' in dir())"
    rewrite(course, "en", replace("add", "print(1 + 1)", code))
    sync(course)
    said, picture = cell_of(course.read("en", "masks"), "add").outputs
    assert said.text == "False\n"
    assert picture.data["text/plain"].startswith("Figure of 1 axes")
    assert "<svg" in course.text("book/figures/masks/add.svg")


def test_the_setup_cell_follows_the_repository_address(course: Course) -> None:
    assert "needs the folder json" in cell_of(course.read("tr", "masks"), "setup").source
    (course.root / "_config.yml").write_text(
        "package: json\nrepository: {url: https://example.org/course}\n", encoding="utf-8"
    )
    sync(course)
    assert '"json @ git+https://example.org/course"' in cell_of(course.read("tr", "masks"), "setup").source
    assert errors(course) == []


def test_solutions_are_folded_everywhere(course: Course) -> None:
    metadata = cell_of(course.read("tr", "masks"), "solution-half").metadata
    hidden = {"source_hidden": True, "outputs_hidden": True}  # no result is seen before it is asked for
    assert metadata == {"tags": ["hide-cell"], "jupyter": hidden, "cellView": "form"}


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notebook.ipynb"
    path.write_text("old", encoding="utf-8")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["notebook.ipynb"]
    assert path.read_text(encoding="utf-8") == "old"


def test_sync_interrupted_before_any_write_can_be_repeated(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop each sync after one write: every file is as before or as after, and repeating ends the work."""
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    rewrite(course, "en", replace("add", "1 + 1", "1 + 2"))
    before = snapshot(course)
    finished = Course(course.root.parent / "finished")
    shutil.copytree(course.root, finished.root)
    sync(finished)
    after = {course.root / path.relative_to(finished.root): text for path, text in snapshot(finished).items()}
    real_replace, stops = os.replace, 0
    while snapshot(course) != after:
        allowed = iter(range(1))

        def replace_once(source: str, target: str, allowed: Iterator[int] = allowed) -> None:
            if next(allowed, None) is None:
                raise KeyboardInterrupt
            real_replace(source, target)

        with monkeypatch.context() as patched:
            patched.setattr("os.replace", replace_once)
            with contextlib.suppress(KeyboardInterrupt):
                sync(course)
        now, stops = snapshot(course), stops + 1
        assert now.keys() == before.keys()
        assert all(now[path] in (before[path], after[path]) for path in now)
    assert stops == 5  # the English, three languages, the Vietnamese lock
