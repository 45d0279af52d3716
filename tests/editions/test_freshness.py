"""A translation is fresh while its English is what it was read against."""

from __future__ import annotations

import pytest
from two_chapters import ENGLISH, VIETNAMESE, commit, errors, replace, rewrite, run, snapshot, start_history

from tools.course import Course, CourseError, cells
from tools.editions.lock import page_state, stamp
from tools.editions.sync import sync


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
    rewrite(course, "vi", replace("result", ENGLISH["result"], VIETNAMESE["result"]))
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
    start_history(course)
    rewrite(course, "en", replace("why", old, new))
    if committed and kind != "nothing":
        commit(course, "Second")
    stale = page_state("tr", "masks", course).stale
    assert run(course, "stamp --trivial masks why") == status
    assert said in "".join(capsys.readouterr())
    assert page_state("tr", "masks", course).stale == (() if status == 0 else stale)
    assert page_state("vi", "masks", course).untranslated == tuple(ENGLISH)


def test_a_trivial_edit_leaves_stale_what_was_stale(course: Course) -> None:
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    start_history(course)
    stamp(course, "tr", "masks", ["why"])
    rewrite(course, "en", replace("why", "Without it", "Without it,"))
    assert run(course, "stamp --trivial masks why") == 0
    assert page_state("tr", "masks", course).stale == ()
    assert page_state("zh", "masks", course).stale == ("why",)


def test_a_typo_that_was_made_and_taken_back_leaves_nothing_to_stamp(
    course: Course, capsys: pytest.CaptureFixture
) -> None:
    start_history(course)
    for old, new in (("Without", "Wihtout"), ("Wihtout", "Without")):
        rewrite(course, "en", replace("why", old, new))
        commit(course, new)
    before = snapshot(course)
    assert run(course, "stamp --trivial masks why") == 0
    assert "masks#why: nothing to stamp: no translation was read against" in capsys.readouterr().out
    assert snapshot(course) == before


def test_stamping_a_stale_cell_shows_what_changed_in_english(
    course: Course, capsys: pytest.CaptureFixture
) -> None:
    start_history(course)
    rewrite(course, "en", replace("why", "are not zero", "are small"))
    assert run(course, "stamp tr masks why") == 0
    assert (
        "en masks#why: Without it the weights on padding are [-not zero.-]{+small.+}"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("words", ["tr masks", "tr", "--trivial masks", "xx masks --all"])
def test_stamp_says_what_it_needs(course: Course, words: str) -> None:
    before = snapshot(course)
    assert run(course, f"stamp {words}") == 1
    assert snapshot(course) == before
