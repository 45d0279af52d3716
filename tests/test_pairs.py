# ruff: noqa: E501 - tables have one line a row
"""A text that does not translate its English cell is found, and one that does is left alone."""

import shutil
from itertools import combinations
from pathlib import Path

import pytest

from tools.course import Course, cells
from tools.editions import pairs
from tools.editions.check import check_words, check_works
from tools.editions.lint import differences
from tools.editions.lock import page_state
from tools.editions.markup import plain

COURSE = Course()
ENGLISH = "Take `a` and $b$.\n\n- First `c`, see [x](#x) and [y](#y).\n- Then **it**.\n\n| `d` | `e` |\n|---|---|\n| 1 | 2 |"

LOST = [
    ("same", ENGLISH, []),
    ("an item", ENGLISH.replace("- Then **it**.\n", ""), ["list item", "paragraph", "bold"]),
    ("a row", ENGLISH.replace("\n| 1 | 2 |", ""), ["row"]),
    ("a paragraph", ENGLISH.replace("$b$.\n\n-", "$b$.\n\nMore.\n\n-"), ["paragraph"]),
    ("code in another place", ENGLISH.replace("`a`", "`X`").replace("`c`", "`a`").replace("`X`", "`c`"), ["missing in the paragraph"]),
    ("cells of a table", ENGLISH.replace("`d` | `e`", "`e` | `d`"), ["missing in the paragraph"]),
    ("links", ENGLISH.replace("(#x)", "(#z)").replace("(#y)", "(#x)").replace("(#z)", "(#y)"), ["another order"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), [row[1:] for row in LOST], ids=[row[0] for row in LOST])
def test_what_is_lost_or_exchanged_is_named(text: str, said: list[str]) -> None:
    found = list(differences(ENGLISH, text))
    assert bool(found) == bool(said)
    assert all(any(word in what for what in found) for word in said)


def test_another_order_in_a_sentence_is_asked_about() -> None:
    said, order = pairs.reordered("Take `a` of $b$.\n\n$c$ and $d$.", "$b$'nin `a`'sı.\n\n$c$ ve $d$.")
    assert said == "has b where English has a"
    assert pairs.reordered("Take `a` of $b$.\n\n$c$ and $d$.", "$b$'nin `a`'sı.\n\n$d$ ve $c$.")[1] != order
    assert pairs.reordered(ENGLISH, ENGLISH) == ("", "")


def test_a_sentence_too_few_is_found_where_the_rest_is_short() -> None:
    english = (
        "A word often needs two things. It asks for a noun. It asks for an adjective that comes before it."
    )
    whole = "Bir sözcük sık sık iki şeye gerek duyar. Bir ad ister. Ondan önce gelen bir sıfat da ister."
    assert list(pairs.shortened("tr", english, whole)) == []
    assert list(pairs.shortened("tr", english, whole.replace(" Bir ad ister.", "")))


STEM = "multi-head-attention"


@pytest.mark.parametrize("language", [c for c in COURSE.translations if page_state(c, STEM).fresh])
def test_cells_that_changed_places_are_found(language: str) -> None:
    """Every two of a page that are built alike, and none of the page as it is."""
    stem = STEM
    english, texts = cells(COURSE.read("en", stem)), cells(COURSE.read(language, stem))
    whole = {key: (english[key].source, texts[key].source) for key in english if plain(english[key].source)}
    assert list(pairs.swapped(COURSE, language, whole)) == []
    alike = [ab for ab in combinations(whole, 2) if not [*differences(*(whole[key][0] for key in ab))]]
    assert alike
    for a, b in alike:
        planted = {a: (whole[a][0], whole[b][1]), b: (whole[b][0], whole[a][1])}
        assert list(pairs.swapped(COURSE, language, whole | planted)), (a, b)


def test_what_the_site_says_keeps_its_numbers_and_works_their_years(tmp_path: Path) -> None:
    for name in ("en/language.yml", "tr/language.yml", "en/words.yml", "tr/words.yml", "references.bib"):
        (tmp_path / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(COURSE.root / "book" / name, tmp_path / "book" / name)
    assert list(check_words(Course(tmp_path), "tr")) == []
    assert [f for f in check_works(Course(tmp_path)) if f.is_error()] == []
    for name, old, new in (
        ("tr/words.yml", "{n}", ""),
        ("references.bib", "{1964}", "{1965}"),
    ):
        text = (tmp_path / "book" / name).read_text(encoding="utf-8")
        assert old in text
        (tmp_path / "book" / name).write_text(text.replace(old, new), encoding="utf-8")
    assert all("{n}" in finding.what for finding in check_words(Course(tmp_path), "tr"))
    assert list(check_words(Course(tmp_path), "tr"))
    assert [f for f in check_works(Course(tmp_path)) if f.is_error() and "1965" in f.what]
