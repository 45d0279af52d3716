"""Git merges what different people did; a conflict that is theirs is left to them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest
from nbformat.v4 import new_markdown_cell
from two_chapters import cell_of, commit, errors, git, mangle, named, replace, rewrite

from tools.course import Course, cells
from tools.editions.__main__ import main
from tools.editions.check import check
from tools.editions.lock import page_state, stamp
from tools.editions.sync import sync


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
