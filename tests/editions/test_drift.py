"""Whatever drifts is found and named by language, notebook and cell."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from two_chapters import (
    ENGLISH,
    TURKISH,
    cell_of,
    cells_update,
    errors,
    named,
    remove,
    replace,
    rewrite,
    run,
    snapshot,
)

from tools.course import Course, cells
from tools.editions.check import check
from tools.editions.lock import page_state, read_lock
from tools.editions.sync import sync


def test_a_course_in_step_has_no_findings_and_sync_changes_nothing(course: Course) -> None:
    before = snapshot(course)
    assert check(course) == []
    assert sync(course) == []
    assert snapshot(course) == before


def swap(notebook: NotebookNode) -> None:
    notebook.cells[3], notebook.cells[4] = notebook.cells[4], notebook.cells[3]


def rename(notebook: NotebookNode) -> None:
    cell_of(notebook, "why")["id"] = "neden"


def change_output(notebook: NotebookNode) -> None:
    cell_of(notebook, "add").outputs[0].text = "3\n"


# fmt: off
DRIFT: dict[str, tuple[str, Callable[[NotebookNode], object], str, str]] = {
    "an edited code cell": ("tr", replace("add", "1 + 1", "1 + 2"), "add", "source: not as in English"),
    "a translated comment": ("tr", replace("add", "1)", "1)  # toplam"),
        "add", "source: not as in English"),
    "an edited output": ("tr", change_output, "add", "outputs: not as in English"),
    "a lost tag": ("tr", lambda nb: cell_of(nb, "solution-half").metadata.clear(),
        "solution-half", "metadata: not as in English"),
    "an execution count": ("tr", lambda nb: cell_of(nb, "add").update(execution_count=7),
        "add", "execution_count: not as in English"),
    "a changed kernel": ("tr", lambda nb: nb.metadata.kernelspec.update(name="ir"),
        "", "metadata: not as in English"),
    "an edited id": ("tr", rename, "neden", "English has no cell of this id"),
    "the cell of an edited id": ("tr", rename, "why", "cell is missing"),
    "another order": ("tr", swap, "result", "is at the place where English has why"),
    "a missing code cell": ("tr", remove("add"), "add", "cell is missing"),
    "a missing text": ("tr", remove("why"), "why", "cell is missing"),
    "an extra cell": ("tr", lambda nb: nb.cells.append(named(new_markdown_cell("Ek."), "ek")),
        "ek", "English has no cell of this id"),
    "an edited formula": ("tr", replace("title", "m_{ij}", "m_{ji}"), "title", "formula 'm_{ij} \\\\in"),
    "an edited display formula": ("tr", replace("formula", "a = b", "b = a"),
        "formula", "formula 'a = b' of English"),
    "a translation edited, not stamped": ("tr", replace("why", "bakın", "bakınız"),
        "why", "not stamped as read"),
    "a translation written, not stamped": ("vi", replace("result", "Result", "Kết quả"),
        "result", "not stamped as read"),
    "literal asterisks": ("tr", replace("result", "*eşittir*", "* eşittir*"),
        "result", "shows a literal '*'"),
    "literal asterisks beside Chinese": ("zh", replace("result", "*相等*", "**「相等」**的"),
        "result", "literal '*'"),
    "an open formula": ("tr", replace("title", "\\}$", "\\}"), "title", "shows a literal '$'"),
    "a sentence left in English": ("tr",
        replace("why", TURKISH["why"].partition("[")[0], ENGLISH["why"].partition("[")[0]),
        "why", "has English left in: 'Without it the weights'"),
    "a heading left in English": ("tr", replace("result", "Sonuç", "Result"),
        "result", "English left in: 'Result'"),
    "a cell left in English": ("zh", lambda nb: cells_update(nb, ENGLISH), "result", "English left in"),
    "Simplified characters": ("zh", replace("why", "權重", "权重"), "why", "has Simplified characters: 权"),
    "text that is not NFC": ("tr", replace("result", "Sonuç", "Sonuc\u0327"),
        "result", "not in Unicode's normal form"),
    "a wrong word": ("zh", replace("title", "查詢", "查找"),
        "title", "says '查找', which is wrong here: '查詢'"),
    "a wrong Turkish word": ("tr", replace("title", "sorgulardan", "tuşlardan"), "title", "says 'tuş'"),
    "an empty cell": ("tr", lambda nb: cell_of(nb, "why").update(source=" \n"), "why", "is empty"),
    "a MyST role": ("tr", replace("why", "bakın", "{ref}`bakın`"), "why", "MyST role"),
}
# fmt: on


@pytest.mark.parametrize("kind", DRIFT)
def test_drift_is_found_and_named(course: Course, kind: str) -> None:
    language, change, key, what = DRIFT[kind]
    rewrite(course, language, change)
    where = f"error: {language} masks#{key}: " if key else f"error: {language} masks: "
    before = snapshot(course)
    found = errors(course)
    assert any(line.startswith(where) and what in line for line in found), found
    assert all(line.startswith(f"error: {language} masks") for line in found), found
    assert run(course, "check") == 1
    assert snapshot(course) == before


def test_sync_mends_what_is_not_the_translators(course: Course) -> None:
    before = snapshot(course)
    kinds = "an edited code cell", "an edited output", "a lost tag", "another order", "a missing code cell"
    for kind in kinds:
        rewrite(course, "tr", DRIFT[kind][1])
    sync(course)
    assert snapshot(course) == before


def test_a_missing_notebook_is_found_and_made(course: Course) -> None:
    course.path("tr", "sums").unlink()
    assert errors(course) == ["error: tr sums: there is no book/tr/sums.ipynb"]
    sync(course)
    assert errors(course) == []


def test_a_notebook_too_many_is_found(course: Course) -> None:
    shutil.copy(course.path("tr", "masks"), course.path("tr", "more"))
    assert errors(course) == ["error: tr more: English has no such notebook: run sync"]


def test_a_page_that_no_language_has_is_named(course: Course, capsys: pytest.CaptureFixture) -> None:
    for language in ("en", "tr"):
        assert run(course, f"check {language} gone") == 1
        assert capsys.readouterr().out.startswith(f"error: {language} gone: there is no book/en/gone.ipynb\n")


@pytest.mark.parametrize("target", ["sums.ipynb#name", "#name", "sum.ipynb"])
def test_a_link_to_nothing_is_found_in_english(course: Course, target: str) -> None:
    rewrite(course, "en", replace("why", "sums.ipynb#title", target))
    assert any(f"error: en masks#why: link to {target}: there is no such" in line for line in errors(course))


def test_a_line_too_long_for_a_page_is_an_error_on_pages_with_checks(course: Course) -> None:
    rewrite(course, "en", lambda nb: cell_of(nb, "add").update(source=f"long = '{'x' * 80}'"))
    sync(course)
    assert check(course) == []
    rewrite(course, "en", lambda nb: nb.cells.append(named(new_markdown_cell("## Checks"), "checks")))
    sync(course)
    assert "error: en masks#add: has a line of 89 characters; 79 fit on a page" in errors(course)


def test_code_changed_after_execution_is_found(course: Course) -> None:
    rewrite(course, "en", replace("add", "1 + 1", "1 + 2"))
    assert "error: en masks: its outputs are not known to be of this code: run sync" in errors(course)


BROKEN_NOTEBOOKS = {
    "cut off": lambda text: text[: len(text) // 2],
    "merge conflict": lambda text: text.replace(' "cells"', '<<<<<<< HEAD\n "cells"', 1),
    "no ids": lambda text: text.replace('"id": "why"', '"name": "why"'),
    "an id twice": lambda text: text.replace('"id": "why"', '"id": "title"'),
    "not a notebook": lambda text: "[]",
}


@pytest.mark.parametrize("kind", BROKEN_NOTEBOOKS)
@pytest.mark.parametrize("language", ["en", "tr"])
def test_a_broken_notebook_is_named_and_nothing_overwritten(course: Course, language: str, kind: str) -> None:
    path = course.path(language, "masks")
    path.write_text(BROKEN_NOTEBOOKS[kind](path.read_text(encoding="utf-8")), encoding="utf-8")
    before = snapshot(course)
    assert any(line.startswith(f"error: {language} masks: not a valid notebook") for line in errors(course))
    for command in ("sync", "stamp tr masks why", "export tr masks", "import tr masks"):
        assert run(course, command) == 1
    assert snapshot(course) == before


@pytest.mark.parametrize("name", ["_config.yml", "_toc.yml", "book/tr/language.yml", "book/tr/words.yml"])
def test_a_broken_settings_file_is_named(course: Course, name: str, capsys: pytest.CaptureFixture) -> None:
    (course.root / name).write_text("package: json\nclose: Ka: pat\n", encoding="utf-8")
    assert run(course, "check") == 1
    said = "".join(capsys.readouterr())
    assert said.startswith(f"error: {name}: mapping values are not allowed")
    assert "line 2, column 10" in said


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ("{name: Türkçe, html: tr, sphinx: tr, decimals: ','}", "there is no setting 'decimals'"),
        ("{name: Türkçe, html: tr}", "the setting 'sphinx' is missing"),
    ],
)
def test_a_wrong_setting_of_a_language_is_named(
    course: Course, settings: str, what: str, capsys: pytest.CaptureFixture
) -> None:
    (course.root / "book/tr/language.yml").write_text(settings, encoding="utf-8")
    assert run(course, "check") == 1
    assert f"error: book/tr/language.yml: {what}" in capsys.readouterr().err


def test_a_word_of_the_site_that_is_missing_is_found(course: Course) -> None:
    for code in course.languages:
        (course.root / f"book/{code}/words.yml").write_text('close: Close\nstale: "{n}"\n')
    assert check(course) == []
    (course.root / "book/tr/words.yml").write_text("close: Kapat\n", encoding="utf-8")
    what = "stale: is missing, so the page says it in English"
    assert [finding.line() for finding in check(course)] == [f"warning: book/tr/words.yml: {what}"]


BROKEN_LOCKS = {
    "a short line": ("why ", "why"),
    "a digest by hand": ("why ", "why 12345 "),
    "a merge conflict": ("masks why", "<<<<<<< HEAD\nmasks why"),
    "a line twice": ("masks title", "masks why - -\n\nmasks title"),
}


@pytest.mark.parametrize("kind", BROKEN_LOCKS)
def test_a_broken_lock_is_named_by_line_and_nothing_overwritten(course: Course, kind: str) -> None:
    path = course.root / "book/tr/translation.lock"
    path.write_text(path.read_text(encoding="utf-8").replace(*BROKEN_LOCKS[kind], 1), encoding="utf-8")
    before = snapshot(course)
    assert any(line.startswith("error: book/tr/translation.lock: line ") for line in errors(course))
    for command in ("sync", "stamp tr masks why", "import tr masks"):
        assert run(course, command) == 1
    assert snapshot(course) == before


def test_a_lock_edited_by_hand_to_look_fresh_is_found(course: Course) -> None:
    path = course.root / "book/tr/translation.lock"
    entry = read_lock(course, "tr")["masks", "why"]
    path.write_text(path.read_text(encoding="utf-8").replace(entry.text, "0" * 12), encoding="utf-8")
    assert any("tr masks#why: was edited and not stamped" in line for line in errors(course))


def test_a_lost_lock_makes_no_cell_fresh(course: Course) -> None:
    (course.root / "book/tr/translation.lock").unlink()
    assert any("tr masks#why: has no line in translation.lock" in line for line in errors(course))
    sync(course)
    assert cells(course.read("tr", "masks"))["why"].source == TURKISH["why"]
    assert page_state("tr", "masks", course).fresh == ()
    assert any("tr masks#why: was edited and not stamped" in line for line in errors(course))


def test_a_line_of_the_lock_too_many_is_found(course: Course) -> None:
    path = course.root / "book/tr/translation.lock"
    path.write_text(path.read_text(encoding="utf-8") + "\nmasks gone - -\n", encoding="utf-8")
    assert any("tr masks#gone: translation.lock names it" in line for line in errors(course))
