"""The glossary's terms are found in their inflected forms."""

from __future__ import annotations

import re

import pytest
from nbformat.v4 import new_markdown_cell
from two_chapters import errors, named, replace, rewrite

from tools.course import Course, cells
from tools.editions.check import check
from tools.editions.lock import stamp
from tools.editions.sync import sync


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
        ("en", "query", "query queries Queries,"),
        ("en", "mask", "masks (mask)"),
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
    ("language", "term", "others"),
    [("en", "key", "monkey keyboard key-value hot-key"), ("en", "query", "queried subquery"),
     ("tr", "kayıp", "kaynak"), ("tr", "değer", "eder"), ("tr", "kafa", "kaba"), ("tr", "dizi", "iz")],
)  # fmt: skip
def test_another_word_is_not_taken_for_the_term(language: str, term: str, others: str) -> None:
    assert not is_found(term, language, others)


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
