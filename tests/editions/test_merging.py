"""Git merges what different people did; a conflict that is theirs is left to them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest
from nbformat.v4 import new_markdown_cell
from two_chapters import (
    ENGLISH,
    TURKISH,
    VIETNAMESE,
    cell_of,
    commit,
    errors,
    git,
    mangle,
    named,
    replace,
    rewrite,
    run,
    start_history,
)

from tools.course import Course, cells
from tools.editions.check import check
from tools.editions.lock import page_state, stamp
from tools.editions.sync import sync


def commit_branches(course: Course, **edits: Callable[[], object]) -> None:
    """Make each edit in a branch of its own, all of which begin at the same commit."""
    start_history(course)
    for branch, edit in edits.items():
        git(course, "checkout", "--quiet", "-b", branch, "main")
        edit()
        commit(course, branch)


def translate(course: Course, language: str, key: str, text: str) -> None:
    rewrite(course, language, lambda nb: cell_of(nb, key).update(source=text))
    stamp(course, language, "masks", [key])


def change_english(course: Course, key: str, old: str, new: str) -> None:
    rewrite(course, "en", replace(key, old, new))
    sync(course)


@pytest.mark.parametrize(
    ("language", "left", "right"),
    [
        ("tr", ("why", TURKISH["why"].replace("bakın", "bakınız")), ("result", TURKISH["result"] + " Evet.")),
        ("vi", ("result", VIETNAMESE["result"]), ("formula", ENGLISH["formula"])),
    ],
)
def test_two_branches_that_translate_neighbouring_cells_merge(
    course: Course, language: str, left: tuple[str, str], right: tuple[str, str]
) -> None:
    commit_branches(
        course,
        left=lambda: translate(course, language, *left),
        right=lambda: translate(course, language, *right),
    )
    git(course, "merge", "--quiet", "left")
    texts = cells(course.read(language, "masks"))
    for key, text in (left, right):
        assert texts[key].source == text
        assert key in page_state(language, "masks", course).fresh
    assert errors(course) == []


def test_an_english_edit_merged_with_a_translation_is_not_taken_for_fresh(course: Course) -> None:
    commit_branches(
        course,
        english=lambda: change_english(course, "why", "are not zero", "are small"),
        turkish=lambda: translate(course, "tr", "why", TURKISH["why"].replace("bakın", "bakınız")),
    )
    git(course, "merge", "--quiet", "english")
    assert page_state("tr", "masks", course).stale == ("why",)
    assert errors(course) == []


def test_different_code_cells_of_one_page_merge(course: Course) -> None:
    commit_branches(
        course,
        left=lambda: change_english(course, "add", "1 + 1", "1 + 2"),
        right=lambda: change_english(course, "solution-half", "0.5", "0.25"),
    )
    merge_with_conflicts(course)
    assert run(course, "resolve") == 0
    assert run(course, "sync") == 0
    assert cell_of(course.read("zh", "masks"), "add").outputs[0].text == "3\n"
    assert cell_of(course.read("zh", "masks"), "solution-half").source == "0.25"
    assert check(course) == []


def merge_with_conflicts(course: Course) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        git(course, "merge", "--quiet", "left")


def test_different_terms_merge(course: Course) -> None:
    rewrite(course, "en", lambda nb: nb.cells.append(named(new_markdown_cell("x"), "terms-table")), "sums")
    sync(course)

    def change_term(old: str, new: str) -> None:
        mangle(course.root / "book/vi/terms.csv", old, new)
        sync(course)

    commit_branches(
        course,
        left=lambda: change_term("khóa", "chìa khóa"),
        right=lambda: change_term("mặt nạ", "mặt che"),
    )
    merge_with_conflicts(course)
    assert run(course, "resolve") == 0
    assert run(course, "sync") == 0
    table = cells(course.read("tr", "sums"))["terms-table"].source
    assert "chìa khóa" in table and "mặt che" in table
    assert errors(course) == []


def test_a_conflict_in_prose_is_left_to_people(course: Course, capsys: pytest.CaptureFixture) -> None:
    commit_branches(
        course,
        left=lambda: translate(course, "tr", "why", TURKISH["why"].replace("bakın", "left")),
        right=lambda: translate(course, "tr", "why", TURKISH["why"].replace("bakın", "right")),
    )
    merge_with_conflicts(course)
    assert run(course, "resolve") == 1
    said = capsys.readouterr().out
    assert said == "resolved book/tr/translation.lock\nchoose by hand: book/tr/masks.ipynb#why\n"
    path = course.path("tr", "masks")
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"<<<<<<<.*?=======\n|>>>>>>> .*?\n", "", text, flags=re.DOTALL), encoding="utf-8")
    assert any("tr masks#why: was edited and not stamped" in line for line in errors(course))


def test_two_branches_that_each_add_a_language_merge(course: Course) -> None:
    def add(code: str) -> None:
        assert run(course, f"add {code} {code}") == 0
        mangle(course.root / f"book/{code}/terms.csv", "key,,", "key,k,")

    commit_branches(course, da=lambda: add("da"), eo=lambda: add("eo"))
    git(course, "merge", "--quiet", "da")
    assert list(Course(course.root).languages) == ["en", "da", "eo", "tr", "vi", "zh"]
    assert errors(Course(course.root)) == []
