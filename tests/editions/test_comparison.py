# ruff: noqa: E501 - tables have one line a row
"""What a text lacks of its English cell is found, wherever in the cell it stands; sentences are the translator's own."""

import shutil
from pathlib import Path

import pytest

from tools.course import Course
from tools.editions.check import check_words, check_works
from tools.editions.comparison import Difference, differences

COURSE = Course()
ENGLISH = "## A\n\nTake `a` and $b$, 0.25 of it.\n\n- First `c`, see [x](#x) and [y](#y).\n- Then **it**.\n\n| `d` | `e` |\n|---|---|\n| 1 | 2 |"
QUIZ = "**One?**\n\n<details><summary>A</summary>\n\n✓ Yes.\n\n</details>\n\n<details><summary>B</summary>\n\n✗ No.\n\n</details>"


def found(text: str, english: str = ENGLISH, others: tuple[str, str] = ("", "")) -> list[Difference]:
    """Compare a text with its English; `others`: the next cell of the section, in English and in the text."""
    texts = {"here": text, "there": others[1]}
    return list(differences(COURSE, "vi", "here", {"here": english, "there": others[0]}, texts, prose=True))


OWN = {
    "the same": ENGLISH.replace("0.25", "0,25"),
    "another order": "## A\n\nLấy 0,25 của $b$ và `a`.\n\n[y](#y), [x](#x): `c`.\n\n| `e` | `d` |\n|---|---|\n| 2 | 1 |",
    "other paragraphs": ENGLISH.replace("0.25", "0,25")
    .replace("\n\n- First", " Vì vậy")
    .replace("\n- Then **it**.", " Rồi thế."),
    "a noun repeated": ENGLISH.replace("0.25 of it", "0,25 của `a`, tức là $b$"),
}


@pytest.mark.parametrize("kind", OWN)
def test_order_sentences_and_paragraphs_are_the_translators_own(kind: str) -> None:
    assert found(OWN[kind]) == []


LOST = {
    "code": ("`a`", "a", "code 'a' of English is missing"),
    "a formula": ("$b$", "b", "formula 'b' of English is missing"),
    "a link": ("[x](#x)", "x", "link to '#x' of English is missing"),
    "a number": ("0,25", "0,26", "the number 0.25 of English is missing"),
    "other code": ("`a`", "`a` `z`", "code 'z' is not in English"),
    "a heading": ("## A\n\n", "", "heading '##' of English is missing"),
    "a row": ("\n| 1 | 2 |", "", "row of a table '2 columns' of English is missing"),
    "a column": (
        "| `d` | `e` |\n|---|---|\n| 1 | 2 |",
        "| `d` `e` 1 2 |\n|---|\n| |",
        "row of a table '1 columns' is not in English",
    ),
}


@pytest.mark.parametrize("kind", LOST)
def test_what_is_lost_is_an_error(kind: str) -> None:
    old, new, what = LOST[kind]
    text = ENGLISH.replace("0.25", "0,25")
    assert old in text
    assert ("error", what) in found(text.replace(old, new))


@pytest.mark.parametrize(("old", "new"), [("✗", "✓"), ("✓ ", ""), ("<details><summary>B</summary>", "B")])
def test_a_quiz_keeps_its_answers_and_their_marks(old: str, new: str) -> None:
    assert found(QUIZ, QUIZ) == []
    assert "error" in {level for level, _ in found(QUIZ.replace(old, new, 1), QUIZ)}


@pytest.mark.parametrize(
    ("old", "moved"), [("`a`", "`a`"), ("$b$", "$b$"), ("[x](#x)", "[x](#x)"), ("0,25", "0,25")]
)
def test_what_stands_elsewhere_in_the_section_is_asked_about(old: str, moved: str) -> None:
    text = ENGLISH.replace("0.25", "0,25").replace(old, "…")
    assert [level for level, _ in found(text, others=("So.", f"Thế {moved}."))] == ["warning"]
    assert "moved to there?" in found(text, others=("So.", f"Thế {moved}."))[0].what


def test_code_of_the_sections_english_is_nobodys_addition() -> None:
    text = ENGLISH.replace("0.25", "0,25").replace("`a`", "`a` `z`")
    assert found(text, others=("So `z`.", "Thế `z`.")) == []


def test_a_term_without_its_word_is_a_warning() -> None:
    assert found("Một phím.", "A key.") == [("warning", "'key' is 'khóa' in the glossary, the cell has none")]
    assert found("Một phím.", "A key.", ("So.", "Khóa."))[0].what.endswith("has none; moved to there?")


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
