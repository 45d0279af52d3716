"""Whatever drifts is found and named by language, notebook and cell; no translator's text is ever lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.course import ROOT, Course, CourseError, cells, write_atomically
from tools.editions.__main__ import main
from tools.editions.check import check
from tools.editions.lock import page_state, read_lock, stamp
from tools.editions.refactor import relinked, renamed
from tools.editions.sync import sync
from tools.editions.times import levels

ENGLISH = {
    "title": "# Masks\n\nA **mask** hides padding from every query, `mask`: $m_{ij} \\in \\{0, 1\\}$.",
    "why": "Without it the weights on padding are not zero. See [result](#result), [sums](sums.ipynb#title).",
    "result": "## Result\n\nThe two learning rates are *equal*.",
    "formula": "$$a = b$$",
}
TURKISH = {
    "title": "# Maskeler\n\n**Maske** dolguyu sorgulardan gizler, `mask`: $m_{ij} \\in \\{0, 1\\}$.",
    "why": "Onsuz dolgunun ağırlıkları sıfır olmaz. [Sonuç](#result), [toplam](sums.ipynb#title): bakın.",
    "result": "## Sonuç\n\nİki öğrenme oranı *eşittir*.",
    "formula": "$$a = b$$",
}
CHINESE = {
    "title": "# 遮罩\n\n**遮罩**對每個查詢隱藏填充：`mask` 各有一列，$m_{ij} \\in \\{0, 1\\}$。",
    "why": "沒有它，填充的權重就不是零。見[結果](#result)與[總和](sums.ipynb#title)。",
    "result": "## 結果\n\n兩個學習率*相等*。",
    "formula": "$$a = b$$",
}


def named(cell: NotebookNode, key: str) -> NotebookNode:
    cell["id"] = key
    return cell


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of two chapters, executed once; ``masks`` is translated into Turkish and Chinese."""
    root = tmp_path_factory.mktemp("template")
    for code in ("en", "tr", "vi", "zh"):
        (root / "book" / code).mkdir(parents=True)
        for path in [*(ROOT / "book" / code).glob("language.*"), ROOT / "book" / code / "terms.csv"]:
            shutil.copy(path, root / "book" / code)
    (root / "_config.yml").write_text("package: json\n", encoding="utf-8")
    course = Course(root)
    code = [
        named(new_code_cell("pass"), "setup"),
        named(new_code_cell("print(1 + 1)"), "add"),
        named(new_code_cell("0.5", metadata={"tags": ["hide-cell"]}), "solution-half"),
    ]
    markdown = [named(new_markdown_cell(text), key) for key, text in ENGLISH.items()]
    course.write(
        "en", "masks", new_notebook(cells=[markdown[0], *code[:2], *markdown[1:3], code[2], markdown[3]])
    )
    course.write("en", "sums", new_notebook(cells=[named(new_markdown_cell("# Sums"), "title"), code[0]]))
    sync(course)
    for language, texts in {"tr": TURKISH, "zh": CHINESE}.items():
        rewrite(course, language, lambda nb, texts=texts: cells_update(nb, texts))
        stamp(course, language, "masks", list(texts))
    return root


def cells_update(notebook: NotebookNode, texts: dict[str, str]) -> None:
    for key, cell in cells(notebook).items():
        cell.source = texts[key]


def rewrite(
    course: Course, language: str, change: Callable[[NotebookNode], object], stem: str = "masks"
) -> None:
    notebook = course.read(language, stem)
    change(notebook)
    course.write(language, stem, notebook)


@pytest.fixture
def course(template: Path, tmp_path: Path) -> Course:
    shutil.copytree(template, tmp_path / "course")
    return Course(tmp_path / "course")


def errors(course: Course, release: bool = False) -> list[str]:
    return [finding.line(release) for finding in check(course) if finding.is_error(release)]


def snapshot(course: Course) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(course.root.rglob("*")) if path.is_file()}


def test_a_course_in_step_has_no_findings_and_sync_changes_nothing(course: Course) -> None:
    before = snapshot(course)
    assert check(course) == []
    assert sync(course) == []
    assert snapshot(course) == before


# --- drift ----------------------------------------------------------------------------------------


def cell_of(notebook: NotebookNode, key: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell["id"] == key)


def replace(key: str, old: str, new: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        cell = cell_of(notebook, key)
        assert old in cell.source
        cell.source = cell.source.replace(old, new)

    return change


def swap(notebook: NotebookNode) -> None:
    notebook.cells[3], notebook.cells[4] = notebook.cells[4], notebook.cells[3]


def rename(notebook: NotebookNode) -> None:
    cell_of(notebook, "why")["id"] = "neden"


def change_output(notebook: NotebookNode) -> None:
    cell_of(notebook, "add").outputs[0].text = "3\n"


def remove(key: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells.remove(cell_of(notebook, key))


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
    "another order": ("tr", swap, "result", "stands where English has why"),
    "a missing code cell": ("tr", remove("add"), "add", "cell is missing"),
    "a missing text": ("tr", remove("why"), "why", "cell is missing"),
    "an extra cell": ("tr", lambda nb: nb.cells.append(named(new_markdown_cell("Ek."), "ek")),
        "ek", "English has no cell of this id"),
    "an edited formula": ("tr", replace("title", "m_{ij}", "m_{ji}"), "title", "formula 'm_{ij} \\\\in"),
    "an edited display formula": ("tr", replace("formula", "a = b", "b = a"),
        "formula", "formula 'a = b' of English"),
    "an edited link": ("tr", replace("why", "(#result)", "(#sonuc)"),
        "why", "link to '#result' of English is missing"),
    "an edited inline code": ("tr", replace("title", "`mask`", "`maske`"),
        "title", "code 'maske' is not in English"),
    "another heading level": ("tr", replace("result", "## ", "### "),
        "result", "heading '###' is not in English"),
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
    assert main(["--root", str(course.root), "check"]) == 1
    assert snapshot(course) == before


def test_sync_mends_what_is_not_the_translators(course: Course) -> None:
    before = snapshot(course)
    for kind in (
        "an edited code cell",
        "an edited output",
        "a lost tag",
        "another order",
        "a missing code cell",
    ):
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
        assert main(["--root", str(course.root), "check", language, "gone"]) == 1
        assert capsys.readouterr().out.startswith(f"error: {language} gone: there is no book/en/gone.ipynb\n")


@pytest.mark.parametrize("target", ["sums.ipynb#name", "#name", "sum.ipynb"])
def test_a_link_to_nothing_is_found_in_english(course: Course, target: str) -> None:
    rewrite(course, "en", replace("why", "sums.ipynb#title", target))
    assert any(f"error: en masks#why: link to {target}: there is no such" in line for line in errors(course))


def make_untidy(notebook: NotebookNode) -> None:
    cell_of(notebook, "add").source = f"print( 1+1 )\nlong = '{'x' * 80}'"


def test_untidy_code_is_an_error_only_on_pages_with_checks(course: Course) -> None:
    rewrite(course, "en", make_untidy)
    sync(course)
    said = [finding.line() for finding in check(course)]
    assert said == ["warning: en masks: 1 code cells are not laid out: run format"]
    rewrite(course, "en", lambda nb: nb.cells.append(named(new_markdown_cell("## Checks"), "checks")))
    sync(course)
    assert [line for line in errors(course) if "#add" in line] == [
        "error: en masks#add: its code is not laid out as the others': run format",
        "error: en masks#add: has a line of 89 characters; 79 fit on a page",
    ]


def test_format_lays_out_code_and_keeps_everything_else(course: Course) -> None:
    before = course.read("en", "masks")
    rewrite(course, "en", lambda notebook: cell_of(notebook, "add").update(source="print( 1+1 )"))
    assert main(["--root", str(course.root), "format", "sums"]) == 0
    assert cell_of(course.read("en", "masks"), "add").source == "print( 1+1 )"
    assert main(["--root", str(course.root), "format"]) == 0
    assert course.read("en", "masks") == before


def test_code_that_cannot_be_read_is_named(course: Course) -> None:
    rewrite(course, "en", lambda notebook: cell_of(notebook, "add").update(source="print(1"))
    assert any(line.startswith("error: en masks: ruff cannot read its code") for line in errors(course))


def test_code_changed_after_execution_is_found(course: Course) -> None:
    rewrite(course, "en", replace("add", "1 + 1", "1 + 2"))
    assert "error: en masks: its outputs are not known to be of this code: run sync" in errors(course)


# --- broken files ---------------------------------------------------------------------------------

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
    for command in (
        ["sync"],
        ["stamp", "tr", "masks", "why"],
        ["export", "tr", "masks"],
        ["import", "tr", "masks"],
    ):
        assert main(["--root", str(course.root), *command]) == 1
    assert snapshot(course) == before


@pytest.mark.parametrize("name", ["_config.yml", "_toc.yml", "book/tr/language.yml", "book/tr/words.yml"])
def test_a_broken_settings_file_is_named(course: Course, name: str, capsys: pytest.CaptureFixture) -> None:
    (course.root / name).write_text("package: json\nclose: Ka: pat\n", encoding="utf-8")
    assert main(["--root", str(course.root), "check"]) == 1
    said = "".join(capsys.readouterr())
    assert said.startswith(f"error: {name}: mapping values are not allowed here")
    assert "line 2, column 10" in said


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
    assert any(line.startswith("error: tr translation.lock: line ") for line in errors(course))
    for command in (["sync"], ["stamp", "tr", "masks", "why"], ["import", "tr", "masks"]):
        assert main(["--root", str(course.root), *command]) == 1
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


# --- freshness ------------------------------------------------------------------------------------


def test_an_english_edit_makes_its_translations_stale_until_they_are_stamped(course: Course) -> None:
    rewrite(course, "en", replace("why", "are not zero", "are small, not zero"))
    sync(course)
    assert errors(course) == []
    assert errors(course, release=True) == [
        f"error: {language} masks#why: is older than its English: see diff" for language in ("tr", "zh")
    ]
    assert page_state("tr", "masks", course) == (("title", "result", "formula"), ("why",), ())
    rewrite(course, "tr", replace("why", "sıfır olmaz", "küçüktür, sıfır değildir"))
    assert page_state("tr", "masks", course).stale == ("why",)
    assert any("tr masks#why: was edited and not stamped" in line for line in errors(course))
    stamp(course, "tr", "masks", ["why"])
    assert page_state("tr", "masks", course).stale == ()
    assert [line for line in errors(course, release=True) if " tr " in line] == []


def test_an_untranslated_cell_follows_the_english(course: Course) -> None:
    rewrite(course, "en", replace("why", "are not zero", "are small, not zero"))
    sync(course)
    assert "small" in cells(course.read("vi", "masks"))["why"].source
    assert page_state("vi", "masks", course) == ((), (), tuple(ENGLISH))
    assert errors(course) == []


def test_an_english_sentence_is_a_change_of_one_file(course: Course) -> None:
    """Until the next sync a page that is not translated shows the older English, which is a warning."""
    rewrite(course, "en", replace("why", "are not zero", "are small, not zero"))
    assert errors(course) == []
    what = "not translated, and shows an older English: run sync"
    assert f"error: vi masks#why: {what}" in errors(course, release=True)


def test_a_translation_begun_but_not_stamped_survives_sync(course: Course) -> None:
    rewrite(course, "vi", replace("result", "Result", "Kết quả"))
    rewrite(course, "en", replace("result", "two", "three"))
    sync(course)
    assert cells(course.read("vi", "masks"))["result"].source.startswith("## Kết quả")


def test_stamping_takes_only_cells_that_are_there(course: Course) -> None:
    before = snapshot(course)
    with pytest.raises(CourseError, match="tr masks: no such Markdown cell: wy, add"):
        stamp(course, "tr", "masks", ["why", "wy", "add"])
    assert snapshot(course) == before


def test_stamp_all_leaves_untranslated_cells(course: Course) -> None:
    rewrite(course, "vi", replace("result", ENGLISH["result"], "## Kết quả\n\nHai tốc độ học *bằng nhau*."))
    assert stamp(course, "vi", "masks") == ["result"]
    assert page_state("vi", "masks", course).untranslated == ("title", "why", "formula")


TRIVIAL = {
    "a typo": ("Without it the", "Without it, the", 0, "fresh in tr, zh\nWithout [-it-]{+it,+} the"),
    "a link": ("(#result)", "(#formula)", 1, "changes a formula, code, a link"),
    "a number": ("are not zero", "are not 0", 1, "changes a formula, code, a link, a heading or a number"),
    "nothing": ("Without", "Without", 1, "git's history here has no other text"),
}  # fmt: skip


@pytest.mark.parametrize("kind", TRIVIAL)
@pytest.mark.parametrize("committed", [False, True])
def test_a_trivial_edit_keeps_translations_fresh_where_they_were(
    course: Course, kind: str, committed: bool, capsys: pytest.CaptureFixture
) -> None:
    old, new, status, said = TRIVIAL[kind]
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    rewrite(course, "en", replace("why", old, new))
    if committed and kind != "nothing":
        commit(course, "Second")
    stale = page_state("tr", "masks", course).stale
    assert main(["--root", str(course.root), "stamp", "--trivial", "masks", "why"]) == status
    assert said in "".join(capsys.readouterr())
    assert page_state("tr", "masks", course).stale == (() if status == 0 else stale)
    assert page_state("vi", "masks", course).untranslated == tuple(ENGLISH)


def test_a_trivial_edit_leaves_stale_what_was_stale(course: Course) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    commit(course, "First")
    stamp(course, "tr", "masks", ["why"])
    rewrite(course, "en", replace("why", "Without it", "Without it,"))
    assert main(["--root", str(course.root), "stamp", "--trivial", "masks", "why"]) == 0
    assert page_state("tr", "masks", course).stale == ()
    assert page_state("zh", "masks", course).stale == ("why",)


def test_a_typo_that_was_made_and_taken_back_leaves_nothing_to_stamp(
    course: Course, capsys: pytest.CaptureFixture
) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    for old, new in (("Without", "Wihtout"), ("Wihtout", "Without")):
        rewrite(course, "en", replace("why", old, new))
        commit(course, new)
    before = snapshot(course)
    assert main(["--root", str(course.root), "stamp", "--trivial", "masks", "why"]) == 0
    assert "masks#why: nothing to stamp: no translation was read against" in capsys.readouterr().out
    assert snapshot(course) == before


def test_stamping_a_stale_cell_shows_what_changed_in_english(
    course: Course, capsys: pytest.CaptureFixture
) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    assert main(["--root", str(course.root), "stamp", "tr", "masks", "why"]) == 0
    assert (
        "en masks#why: Without it the weights on padding are [-not zero.-]{+small.+}"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("words", [["tr", "masks"], ["tr"], ["--trivial", "masks"], ["xx", "masks", "--all"]])
def test_stamp_says_what_it_needs(course: Course, words: list[str]) -> None:
    before = snapshot(course)
    assert main(["--root", str(course.root), "stamp", *words]) == 1
    assert snapshot(course) == before


# --- the same edit in every language --------------------------------------------------------------


def test_cells_move_with_their_translations_links_and_claims(course: Course) -> None:
    claims = course.root / "tools/experiments/claims.tsv"
    claims.parent.mkdir(parents=True)
    claims.write_text("chapter\tcell\tclaim\tthreshold\nmasks\tadd\ta\t> 1\nsums\tx\tb\t> 1\n")
    command = ["--root", str(course.root), "move", "masks", "result", "add", "sums", "--after", "title"]
    assert main(command) == 0
    sync(course)
    for language in course.languages:
        assert [cell["id"] for cell in course.read(language, "sums").cells] == [
            "title",
            "add",
            "result",
            "setup",
        ]
    assert cells(course.read("tr", "sums"))["result"].source == TURKISH["result"]
    assert (
        "[Sonuç](sums.ipynb#result), [toplam](sums.ipynb#title)"
        in cells(course.read("tr", "masks"))["why"].source
    )
    assert page_state("tr", "masks", course) == (("title", "why", "formula"), (), ())
    assert page_state("tr", "sums", course) == (("result",), (), ("title",))
    assert "sums\tadd\ta" in claims.read_text() and "masks\tadd" not in claims.read_text()
    assert errors(course) == []


@pytest.mark.parametrize(
    ("text", "page", "cell", "expected"),
    [
        ("[a](#result)", "masks", "why", "[a](sums.ipynb#result)"),
        ("[a](masks.ipynb#result)", "sums", "title", "[a](#result)"),
        ("[a](masks.ipynb#result)", "other", "title", "[a](sums.ipynb#result)"),
        ("[a](#why) [b](sums.ipynb#title)", "masks", "result", "[a](masks.ipynb#why) [b](#title)"),
        ("[a](#result) [b](masks.ipynb)", "masks", "result", "[a](#result) [b](masks.ipynb)"),
        ("[a](#title)", "sums", "title", "[a](#title)"),
    ],
)
def test_links_lead_where_they_led(text: str, page: str, cell: str, expected: str) -> None:
    assert relinked(page, cell, text, "masks", ["result"], "sums") == expected


@pytest.mark.parametrize(
    "words",
    [["masks", "gone", "sums"], ["masks", "title", "sums"], ["masks", "why", "masks"], ["masks", "why", "no"],
     ["masks", "why", "sums", "--after", "no"]],
)  # fmt: skip
def test_a_move_that_cannot_be_changes_nothing(course: Course, words: list[str]) -> None:
    before = snapshot(course)
    assert main(["--root", str(course.root), "move", *words]) == 1
    assert snapshot(course) == before


def test_a_variable_is_renamed_in_code_prose_and_claims(course: Course) -> None:
    rewrite(course, "en", replace("add", "print(1 + 1)", "mask = 2\nprint(mask, f'{mask}', end='\\n')"))
    sync(course)
    claims = course.root / "tools/experiments/claims.tsv"
    claims.parent.mkdir(parents=True)
    claims.write_text("chapter\tcell\tclaim\tthreshold\nmasks\tadd\tmask[0]\t> 1\nsums\tx\tmask\t> 1\n")
    assert main(["--root", str(course.root), "rename", "masks", "mask", "hidden"]) == 0
    sync(course)
    assert cell_of(course.read("zh", "masks"), "add").source.startswith(
        "hidden = 2\nprint(hidden, f'{hidden}'"
    )
    assert "`hidden`" in cells(course.read("tr", "masks"))["title"].source
    assert "**mask** hides" in cells(course.read("en", "masks"))["title"].source
    assert page_state("tr", "masks", course).stale == ()
    assert claims.read_text().splitlines()[1:] == ["masks\tadd\thidden[0]\t> 1", "sums\tx\tmask\t> 1"]
    assert errors(course) == []


@pytest.mark.parametrize(
    ("code", "renamed_code"),
    [
        ("f(n=n).n", "f(n=m).n"),
        ("def g(n):\n    return n", "def g(m):\n    return m"),
        ("π = n + nn", "π = m + nn"),
        ("print('n')", None),
        ("def n(): pass", None),
        ("%pip install n", None),
    ],
)
def test_only_a_variable_is_renamed(code: str, renamed_code: str | None) -> None:
    if renamed_code is None:
        with pytest.raises(CourseError, match="by hand"):
            renamed(code, "n", "m", "en masks#add")
    else:
        assert renamed(code, "n", "m", "en masks#add") == renamed_code


@pytest.mark.parametrize("words", [["mask", "hidden"], ["print", "2x"], ["print", "print"]])
def test_a_rename_that_cannot_be_changes_nothing(course: Course, words: list[str]) -> None:
    before = snapshot(course)
    assert main(["--root", str(course.root), "rename", "masks", *words]) == 1
    assert snapshot(course) == before


def test_the_table_of_times_follows_titles_minutes_and_what_was_measured(course: Course) -> None:
    (course.root / "_toc.yml").write_text("root: sums\nchapters: [{file: masks}]\n")
    (course.root / "_config.yml").write_text("{package: json, parts: {foundations: masks}}")
    heads = ("chapter", "reading", "exercises", "running", "longest", "total")
    words = "".join(f"times_{head}: {head}\n" for head in heads)
    words += 'minutes: "{n} min"\nseconds: "{n} s"\nhours: "{n} h"\nreferences_comma: ", "\n'
    (course.root / "book/en/words.yml").write_text(words)
    said = "\n\n**Time:** 20 minutes, and 70 more for the exercises."
    rewrite(course, "en", lambda nb: cells(nb)["title"].update(source=f"# Masks{said}"))
    rewrite(course, "en", lambda nb: nb.cells.append(named(new_markdown_cell("x"), "chapter-times")), "sums")
    measured = course.root / "book/running.tsv"
    measured.write_text("chapter\tcell\tseconds\nmasks\t\t35\nmasks\tadd\t30\nmasks\tgone\t5\n")
    sync(course)
    line = "| 1. [{}](masks.ipynb) | 20 min | 70 min | 35 s | [`add`](masks.ipynb#add) |"
    for code, title in {"en": "Masks", "tr": "Maskeler", "zh": "遮罩"}.items():
        table = cells(course.read(code, "sums"))["chapter-times"].source
        assert table.splitlines()[2:] == [line.format(title), "| total | 0 h | 1 h | 1 min |  |"]
    assert errors(course) == []
    rewrite(course, "tr", replace("title", "# Maskeler", "# Maske"))
    stamp(course, "tr", "masks", ["title"])
    assert "error: tr sums#chapter-times: is made by sync: run sync" in errors(course)
    measured.write_text("chapter\tcell\tseconds\nmasks\t\t40\n")
    assert any(fault.startswith("error: en sums: derived cells") for fault in errors(course))
    sync(course)
    assert not [fault for fault in errors(course) if " sums" in fault]
    assert (
        "[Maske](masks.ipynb) | 20 min | 70 min | 40 s | – |"
        in cells(course.read("tr", "sums"))["chapter-times"].source
    )


def test_the_table_of_exercises_follows_their_stars_and_names(course: Course) -> None:
    (course.root / "_toc.yml").write_text("root: sums\nchapters: [{file: masks}]\n")
    (course.root / "_config.yml").write_text("{package: json, parts: {foundations: masks}}")
    (course.root / "book/en/words.yml").write_text('times_chapter: chapter\nreferences_comma: ", "\n')
    stars = {"half": "### Half a mask (★★, 10 minutes)", "whole": "### A whole one (★, 5 minutes)\n\nGo."}
    new = [named(new_markdown_cell(text), f"exercise-{key}") for key, text in stars.items()]
    rewrite(
        course, "en", lambda nb: nb.update(cells=[c for c in nb.cells if "exercise" not in c["id"]] + new)
    )
    table = levels(course, "en").splitlines()
    half, whole = "[Half a mask](masks.ipynb#exercise-half)", "[A whole one](masks.ipynb#exercise-whole)"
    assert table[0] == "| chapter | ★ | ★★ | ★★★ |"
    assert table[2:] == [f"| 1. [Masks](masks.ipynb) | {whole} | {half} | – |"]


# --- what editors leave behind ---------------------------------------------------------------------


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


# --- a package that changed -----------------------------------------------------------------------

MODULE = '''"""Sums."""
from tiny.base import ONE

def read():
    return open("numbers.tsv")
'''


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
    course: Course, capsys: pytest.CaptureFixture, file: str, old: str, new: str, noticed: bool
) -> None:
    (course.root / "tiny/data").mkdir(parents=True)
    files = {"__init__.py": "", "sums.py": MODULE, "base.py": "ONE = 1", "other.py": "ONE = 1"}
    for name, text in {**files, "data/numbers.tsv": "1", "data/other.tsv": "1"}.items():
        (course.root / "tiny" / name).write_text(text)
    write_atomically(course.root / "_config.yml", "package: tiny\n")
    imports = 'import sys\n\nsys.path.insert(0, "../..")\nfrom tiny import sums\n\nprint'
    rewrite(course, "en", replace("add", "print", imports))
    sync(course)
    assert check(course) == []
    mangle(course.root / "tiny" / file, old, new)
    capsys.readouterr()
    assert main(["--root", str(course.root), "sync"]) == 0
    assert ("execute them again: sync --execute masks\n" in capsys.readouterr().out) == noticed
    warning = (
        "warning: en masks: the package or its data changed since it was executed: run sync --execute masks"
    )
    assert ([finding.line() for finding in check(course)] == [warning]) == noticed
    assert main(["--root", str(course.root), "sync", "--execute", "masks"]) == 0
    assert check(course) == []


# --- what sync must not do ------------------------------------------------------------------------


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


# --- diff, export, import -------------------------------------------------------------------------


def git(course: Course, *arguments: str) -> str:
    command = [
        "git",
        "-C",
        str(course.root),
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        *arguments,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commit(course: Course, message: str) -> None:
    git(course, "add", "--all")
    git(course, "commit", "--quiet", "--message", message)


def test_diff_shows_what_changed_in_english_since(course: Course, capsys: pytest.CaptureFixture) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    for new in ("are tiny", "are small"):
        rewrite(
            course,
            "en",
            lambda nb, new=new: cell_of(nb, "why").update(source=f"Without it the weights {new}."),
        )
        sync(course)
        commit(course, new)
    command = ["--root", str(course.root), "diff", "tr", "masks"]
    assert main([*command, "why"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Without it the weights [-on padding -]are [-not zero.")
    assert shown.endswith("{+small.+}\n")
    assert main([*command, "title"]) == 0
    assert "has not changed" in capsys.readouterr().out
    assert main([*command, "add"]) == 1


@pytest.fixture
def exported(course: Course) -> Path:
    assert main(["--root", str(course.root), "export", "vi", "masks"]) == 0
    return course.root / "translations/vi/masks.md"


def fill(path: Path, texts: dict[str, str], language: str = "vi") -> None:
    text = path.read_text(encoding="utf-8")
    for key, translation in texts.items():
        before, header, after = text.partition(f"%%% cell {key} ")
        english, mark, rest = after.partition(f"%%% {language}\n")
        text = f"{before}{header}{english}{mark}{translation}\n{rest}"
    path.write_text(text, encoding="utf-8")


def test_a_translation_goes_out_and_comes_back(course: Course, exported: Path) -> None:
    texts = {
        "title": "# Mặt nạ\n\n**Mặt nạ** che đệm: `mask`, truy vấn, $m_{ij} \\in \\{0, 1\\}$.",
        "formula": "$$a = b$$",
    }
    fill(exported, texts)
    assert main(["--root", str(course.root), "import", "vi", "masks", "--stamp"]) == 0
    assert cells(course.read("vi", "masks"))["title"].source == texts["title"]
    assert page_state("vi", "masks", course) == (("title",), (), ("why", "result", "formula"))
    assert errors(course) == []


def test_an_import_without_stamp_vouches_for_nothing(course: Course, exported: Path) -> None:
    fill(exported, {"result": "## Kết quả\n\nHai tốc độ học *bằng nhau*."})
    assert main(["--root", str(course.root), "import", "vi", "masks"]) == 0
    assert errors(course) == [
        "error: vi masks#result: was edited and not stamped as read: compare it with English, then stamp it"
    ]


def as_windows_saves(path: Path) -> None:
    """Give a file a byte order mark and the line ends of Windows."""
    text = path.read_text(encoding="utf-8")
    path.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))


def test_files_that_were_saved_on_windows_are_read_as_others(course: Course, exported: Path) -> None:
    fill(exported, {"result": "## Kết quả\n\nHai tốc độ học *bằng nhau*."})
    as_windows_saves(exported)
    assert main(["--root", str(course.root), "import", "vi", "masks", "--stamp"]) == 0
    assert cells(course.read("vi", "masks"))["result"].source == "## Kết quả\n\nHai tốc độ học *bằng nhau*."
    for path in ("book/vi/terms.csv", "book/vi/language.yml"):
        as_windows_saves(course.root / path)
    assert errors(Course(course.root)) == []


def test_an_import_is_stamped_against_the_english_that_the_translator_saw(
    course: Course, exported: Path
) -> None:
    fill(exported, {"result": "## Kết quả\n\nHai tốc độ học *bằng nhau*."})
    rewrite(course, "en", replace("result", "two", "three"))
    assert main(["--root", str(course.root), "import", "vi", "masks", "--stamp"]) == 0
    assert page_state("vi", "masks", course).stale == ("result",)


def mangle(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def edit_english_as_text(course: Course, *edits: tuple[str, str]) -> int:
    """Export, replace, import; returns the exit status of the import."""
    assert main(["--root", str(course.root), "export", "en", "masks"]) == 0
    path = course.root / "translations/en/masks.md"
    text = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return main(["--root", str(course.root), "import", "en", "masks"])


def test_english_goes_out_as_text_and_comes_back_the_same(course: Course) -> None:
    before = course.path("en", "masks").read_bytes()
    assert edit_english_as_text(course) == 0
    assert course.path("en", "masks").read_bytes() == before


def test_english_is_changed_without_jupyter(course: Course) -> None:
    new_cell = "%%% text more\nMore.\n\n%%% code solution-half hide-cell"
    edits = [("not zero", "small"), ("1 + 1", "1 + 2"), ("%%% code solution-half hide-cell", new_cell)]
    assert edit_english_as_text(course, *edits) == 0
    assert errors(course)[0] == "error: en masks: its outputs are not known to be of this code: run sync"
    sync(course)
    assert errors(course) == []
    assert page_state("tr", "masks", course) == (("title", "result", "formula"), ("why",), ("more",))
    assert cell_of(course.read("zh", "masks"), "add").outputs[0].text == "3\n"


def test_a_chapter_is_written_without_jupyter(course: Course) -> None:
    path = course.root / "draft.md"
    path.write_text("%%% text title\n# Draft\n\n%%% code setup\n\n%%% code one\nprint(1)\n", encoding="utf-8")
    assert main(["--root", str(course.root), "import", "en", "draft", str(path)]) == 0
    sync(course)
    assert cell_of(course.read("vi", "draft"), "one").outputs[0].text == "1\n"
    assert errors(course) == []


@pytest.mark.parametrize("line", ["text why", "prose more", "text Two words", "text", "end 0123456789ab"])
def test_a_faulty_english_file_changes_nothing(course: Course, line: str) -> None:
    before = course.path("en", "masks").read_bytes()
    assert edit_english_as_text(course, ("%%% text formula", f"%%% {line}\nMore.\n\n%%% text formula")) == 1
    assert course.path("en", "masks").read_bytes() == before


FAULTY_IMPORTS = {
    "a lost formula": ({"title": "# Mặt nạ\n\n`mask`"}, "of English is missing"),
    "English left in": ({"why": ENGLISH["why"] + " x"}, "has English left in"),
    "not NFC": ({"result": "## Ke\u0302\u0301t qua\u0309\n\n*bằng nhau*"}, "normal form NFC"),
    "an unknown cell": ({}, "English has no such cell"),
    "a broken marker": ({}, "is not as export wrote it"),
    "a cell twice": ({}, "stands twice"),
}


@pytest.mark.parametrize("kind", FAULTY_IMPORTS)
def test_a_faulty_import_changes_nothing(
    course: Course, exported: Path, kind: str, capsys: pytest.CaptureFixture
) -> None:
    texts, what = FAULTY_IMPORTS[kind]
    fill(exported, texts)
    extra = {
        "an unknown cell": "%%% cell whence 0123456789ab untranslated\nWhence?\n%%% vi\nTừ đâu?\n",
        "a broken marker": "%%% cel why\n",
        "a cell twice": "%%% cell formula 0123456789ab fresh\n$$a = b$$\n%%% vi\n$$a = b$$\n" * 2,
    }.get(kind, "")
    fill(exported, {"result": "## Kết quả\n\nHai tốc độ học *bằng nhau*."} if kind != "not NFC" else {})
    mangle(exported, "%%% end", f"{extra}%%% end")
    before = snapshot(course)
    assert main(["--root", str(course.root), "import", "vi", "masks", "--stamp"]) == 1
    assert what in capsys.readouterr().err
    assert snapshot(course) == before


DAMAGE = {
    "a marker removed": ("%%% vi\n\n%%% code solution", "\n%%% code solution", "cell result has lost"),
    "a marker edited": ("%%% vi\n\n%%% code solution", "%%% vn\n\n%%% code solution", "has lost its line"),
    "a cell's line removed": ("%%% cell why", "why", "(after cell title) is not as export wrote it"),
    "English edited": ("are not zero", "không bằng không", "vi masks#why: its English was edited"),
    "text beneath the end": ("%%% end", "%%% end 0123456789ab\nMore.\n%%% end", "beneath its last"),
    "another language's file": ("Tiếng Việt", "Türkçe", "is the file of masks, Türkçe, not of masks, Tiếng"),
    "another page's file": ("<!-- masks", "<!-- sums", "is the file of sums, Tiếng Việt, not of masks"),
    "the end lost": ("%%% end", "", "its last line, '%%% end …', is missing"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_changes_nothing_and_the_message_says_where(
    course: Course, exported: Path, kind: str, capsys: pytest.CaptureFixture
) -> None:
    old, new, what = DAMAGE[kind]
    mangle(exported, old, new)
    before = snapshot(course)
    assert main(["--root", str(course.root), "import", "vi", "masks"]) == 1
    assert what in capsys.readouterr().err
    assert snapshot(course) == before


def test_an_export_shows_the_terms_of_a_cell_and_an_import_warns_of_others(
    course: Course, exported: Path, capsys: pytest.CaptureFixture
) -> None:
    assert "rates are *equal*.\n%%% terms learning rate: tốc độ học\n%%% vi\n" in exported.read_text()
    fill(exported, {"result": "## Kết quả\n\nHai nhịp học *bằng nhau*."})
    assert main(["--root", str(course.root), "import", "vi", "masks"]) == 0
    assert "warning: vi masks#result: 'learning rate' is 'tốc độ học'" in capsys.readouterr().out


def test_a_file_may_stand_behind_an_option(course: Course) -> None:
    path = course.root / "there.md"
    command = ["--root", str(course.root), "export", "vi", "masks", "--todo"]
    assert main([*command, str(path)]) == 0
    assert "%%% cell why" in path.read_text(encoding="utf-8")
    for wrong in (["--less"], [str(path), "more"], ["more", "--less"]):
        with pytest.raises(SystemExit):
            main([*command, *wrong])


@pytest.mark.parametrize("language", ["en", "vi"])
def test_an_export_overwrites_no_work_that_was_not_imported(course: Course, language: str) -> None:
    path = course.root / f"translations/{language}/masks.md"
    command = ["--root", str(course.root), "export", language, "masks"]
    assert main(command) == 0
    rewrite(course, "en", replace("why", "not zero", "small"))
    assert main(command) == 0  # nobody wrote in the file, though the notebook is another by now
    if language == "en":
        mangle(path, "are small", "are tiny")
    else:
        fill(path, {"result": "## Kết quả\n\nHai tốc độ học *bằng nhau*."})
    work = path.read_text(encoding="utf-8")
    assert main(command) == 1
    assert path.read_text(encoding="utf-8") == work
    assert main(["--root", str(course.root), "import", language, "masks"]) == 0
    assert main(command) == 0
    path.write_text(f"{path.read_text(encoding='utf-8')}\nNotes.\n", encoding="utf-8")
    assert main(command) == 1
    assert main([*command, "--force"]) == 0
    assert "Notes." not in path.read_text(encoding="utf-8")


# --- glossary ---------------------------------------------------------------------------------------


def glossary_warnings(course: Course) -> list[str]:
    return [finding.line() for finding in check(course) if finding.level == "warning"]


@pytest.mark.parametrize(
    ("key", "old", "new", "term"),
    [
        ("title", "sorgulardan", "isteklerden", "query"),
        ("why", "dolgunun ağırlıkları", "doldurmanın ağırlıkları", "padding"),
        ("result", "öğrenme oranı", "öğrenme sürati", "learning rate"),
    ],
)
def test_a_term_that_is_not_the_glossarys_is_a_warning(
    course: Course, key: str, old: str, new: str, term: str
) -> None:
    rewrite(course, "tr", replace(key, old, new))
    stamp(course, "tr", "masks", [key])
    assert errors(course) == []
    (line,) = glossary_warnings(course)
    assert line.startswith(f"warning: tr masks#{key}: {term!r} is ")


def is_found(term: str, code: str, text: str) -> bool:
    language = Course().languages[code]
    return re.search(language.forms(term), language.fold(text)) is not None


@pytest.mark.parametrize(
    ("language", "term", "words"),
    [
        ("tr", "ağırlık", "ağırlığı ağırlıklarının Ağırlık"),
        ("tr", "şekil", "şekli şekillerin şekilde"),
        ("tr", "kayıp", "kaybı kayıplar"),
        ("tr", "anahtar", "anahtarlarla Anahtarı"),
        ("tr", "İlkleme", "ilklemenin İLKLEME"),
        ("tr", "gizli durum", "gizli durumun gizli durumları"),
        ("tr", "dikkat ağırlığı", "dikkat ağırlıkları dikkat ağırlığının"),
        ("vi", "trọng số", "trọng số Trọng số"),
        ("zh", "遮罩 softmax", "遮罩softmax 遮罩 softmax"),
        ("zh", "注意力", "自注意力權重"),
    ],
)
def test_a_term_is_found_in_its_inflected_forms(language: str, term: str, words: str) -> None:
    for form in words.split() if " " not in term else [words]:
        assert is_found(term, language, form), form


@pytest.mark.parametrize(
    ("term", "other"), [("kayıp", "kaynak"), ("değer", "eder"), ("kafa", "kaba"), ("dizi", "iz")]
)
def test_another_word_is_not_taken_for_the_term(term: str, other: str) -> None:
    assert not is_found(term, "tr", other)


def test_the_table_of_terms_follows_the_glossary(course: Course) -> None:
    rewrite(course, "en", lambda nb: nb.cells.append(named(new_markdown_cell("x"), "terms-table")), "sums")
    sync(course)
    table = cells(course.read("vi", "sums"))["terms-table"].source
    assert "| Tiếng Việt | English | Türkçe | 繁體中文 |" in table
    assert "| khóa | key | anahtar | 鍵 |" in table
    assert check(course) == []
    path = course.root / "book/vi/terms.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("khóa", "chìa"), encoding="utf-8")
    assert errors(course)[0] == (
        "error: en sums: derived cells or metadata are not as sync writes them: run sync"
    )
    sync(course)
    assert "| anahtar | key | chìa | 鍵 |" in cells(course.read("tr", "sums"))["terms-table"].source
    assert check(course) == []


# --- merging --------------------------------------------------------------------------------------


def test_two_branches_that_edit_neighbouring_cells_merge(course: Course) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    edits = {"left": ("why", "bakın", "bakınız"), "right": ("result", "eşittir", "aynıdır")}
    for branch, (key, old, new) in edits.items():
        git(course, "checkout", "--quiet", "-b", branch, "main")
        rewrite(course, "tr", replace(key, old, new))
        stamp(course, "tr", "masks", [key])
        commit(course, branch)
    git(course, "merge", "--quiet", "left")
    assert check(course) == []
    texts = cells(course.read("tr", "masks"))
    assert "bakınız" in texts["why"].source
    assert "aynıdır" in texts["result"].source


def test_two_branches_that_translate_neighbouring_cells_merge(course: Course) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    texts = {
        "left": ("result", "## Kết quả\n\nHai tốc độ học *bằng nhau*."),
        "right": ("formula", "$$a = b$$"),
    }
    for branch, (key, text) in texts.items():
        git(course, "checkout", "--quiet", "-b", branch, "main")
        rewrite(course, "vi", lambda nb, key=key, text=text: cell_of(nb, key).update(source=text))
        stamp(course, "vi", "masks", [key])
        commit(course, branch)
    git(course, "merge", "--quiet", "left")
    assert page_state("vi", "masks", course).fresh == ("result", "formula")
    assert errors(course) == []


def test_two_branches_that_edit_one_cell_conflict(course: Course) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    for branch in ("left", "right"):
        git(course, "checkout", "--quiet", "-b", branch, "main")
        rewrite(course, "tr", replace("why", "bakın", branch))
        stamp(course, "tr", "masks", ["why"])
        commit(course, branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(course, "merge", "--quiet", "left")


def test_an_english_edit_merged_with_a_translation_is_not_taken_for_fresh(course: Course) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    git(course, "checkout", "--quiet", "-b", "english")
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    sync(course)
    commit(course, "English")
    git(course, "checkout", "--quiet", "-b", "turkish", "main")
    rewrite(course, "tr", replace("why", "bakın", "bakınız"))
    stamp(course, "tr", "masks", ["why"])
    commit(course, "Turkish")
    git(course, "merge", "--quiet", "english")
    assert page_state("tr", "masks", course).stale == ("why",)
    assert errors(course) == []


def conflict(course: Course, edit: Callable[[str], None]) -> None:
    """Two branches, each edited and committed; the second is merged into the first with conflicts."""
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    for branch in ("left", "right"):
        git(course, "checkout", "--quiet", "-b", branch, "main")
        edit(branch)
        commit(course, branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(course, "merge", "--quiet", "left")


def test_different_code_cells_of_one_page_merge(course: Course) -> None:
    def edit(branch: str) -> None:
        pair = ("add", "1 + 1", "1 + 2") if branch == "left" else ("solution-half", "0.5", "0.25")
        rewrite(course, "en", replace(*pair))
        sync(course)

    conflict(course, edit)
    assert main(["--root", str(course.root), "resolve"]) == 0
    assert main(["--root", str(course.root), "sync"]) == 0
    assert cell_of(course.read("zh", "masks"), "add").outputs[0].text == "3\n"
    assert cell_of(course.read("zh", "masks"), "solution-half").source == "0.25"
    assert check(course) == []


def test_different_terms_merge(course: Course) -> None:
    rewrite(course, "en", lambda nb: nb.cells.append(named(new_markdown_cell("x"), "terms-table")), "sums")
    sync(course)

    def edit(branch: str) -> None:
        pair = ("khóa", "chìa khóa") if branch == "left" else ("mặt nạ", "mặt che")
        mangle(course.root / "book/vi/terms.csv", *pair)
        sync(course)

    conflict(course, edit)
    assert main(["--root", str(course.root), "resolve"]) == 0
    assert main(["--root", str(course.root), "sync"]) == 0
    table = cells(course.read("tr", "sums"))["terms-table"].source
    assert "chìa khóa" in table and "mặt che" in table
    assert errors(course) == []


def test_a_conflict_in_prose_is_left_to_people(course: Course, capsys: pytest.CaptureFixture) -> None:
    def edit(branch: str) -> None:
        rewrite(course, "tr", replace("why", "bakın", branch))
        stamp(course, "tr", "masks", ["why"])

    conflict(course, edit)
    assert main(["--root", str(course.root), "resolve"]) == 1
    said = capsys.readouterr().out
    assert said == "mended book/tr/translation.lock\nchoose by hand: book/tr/masks.ipynb#why\n"
    path = course.path("tr", "masks")
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"<<<<<<<.*?=======\n|>>>>>>> .*?\n", "", text, flags=re.DOTALL), encoding="utf-8")
    assert any("tr masks#why: was edited and not stamped" in line for line in errors(course))


def test_two_branches_that_each_add_a_language_merge(course: Course) -> None:
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")
    for code in ("da", "eo"):
        git(course, "checkout", "--quiet", "-b", code, "main")
        assert main(["--root", str(course.root), "add", code, code]) == 0
        mangle(course.root / f"book/{code}/terms.csv", "key,,", "key,k,")
        commit(course, code)
    git(course, "merge", "--quiet", "da")
    assert list(Course(course.root).languages) == ["en", "da", "eo", "tr", "vi", "zh"]
    assert errors(Course(course.root)) == []


# --- a new language -------------------------------------------------------------------------------


def test_status_counts_cells_by_chapter_and_language(course: Course, capsys: pytest.CaptureFixture) -> None:
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    sync(course)
    assert main(["--root", str(course.root), "status"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["fresh/stale/untranslated", "tr", "vi", "zh"],
        ["masks", "3/1/0", "0/0/4", "3/1/0"],
        ["sums", "0/0/1", "0/0/1", "0/0/1"],
        ["all", "3/1/1", "0/0/5", "3/1/1"],
    ]


def test_a_language_is_one_command(course: Course) -> None:
    before = snapshot(course)
    assert main(["--root", str(course.root), "add", "eo", "Esperanto"]) == 0
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
    assert main(["--root", str(course.root), "add", code, "Name"]) == 1
    assert snapshot(course) == before


def test_notebooks_are_written_as_jupyter_writes_them(course: Course) -> None:
    text = course.path("tr", "masks").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
