"""Every question has an answer that runs or a link to one; the glossary has every term."""

import re

import pytest
from nbformat.v4 import new_markdown_cell

from tools.course import Course, cells
from tools.editions.glossary import table
from tools.site.extension.terms import in_alphabetical_order

COURSE = Course()
LINK = re.compile(r"\]\(([a-z-]+)\.ipynb#([A-Za-z0-9-]+)\)")


def links(source: str) -> list[tuple[str, str]]:
    """Return pairs of chapter and cell that a Markdown cell links to."""
    return LINK.findall(source)


def answers() -> dict[str, list]:
    """Return the cells that belong to each question: from its heading to the next heading."""
    found: dict[str, list] = {}
    current: list = []
    for cell in COURSE.read("en", "faq").cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            current = []
            if cell.source.startswith("### "):
                found[cell["id"]] = current
        current.append(cell)
    return found


def test_every_answer_runs_or_links_to_a_cell() -> None:
    assert len(answers()) >= 25
    for question, parts in answers().items():
        runs = any(cell.cell_type == "code" for cell in parts)
        # Where the solutions are is the one question about the pages themselves.
        assert runs or any(links(cell.source) for cell in parts) or question == "solutions", question


def test_the_glossary_defines_each_term_in_alphabetical_order_and_has_a_row_for_it() -> None:
    page = cells(COURSE.read("en", "glossary"))
    found = (re.match(r"\*\*(.+?)\*\*(?: \(.+?\))?: ", cell.source) for cell in page.values())
    defined = [term[1].lower() for term in found if term]
    assert sorted(defined) == sorted(row["en"].lower() for row in COURSE.terms)
    assert defined == sorted(defined, key=lambda term: term.replace("-", " "))
    rows = page["terms-table"].source.splitlines()[2:]
    assert sorted(row.split(" | ")[0] for row in rows) == sorted(f"| {row['en']}" for row in COURSE.terms)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("en", ["key", "key-value cache", "keyboard"]),
        ("tr", ["Cümle", "çapraz dikkat", "Isı haritası", "İnce ayar", "ölçek", "puan", "sözlük", "şekil"]),
        ("vi", ["an", "ảnh", "ăn", "ấn", "bậc", "da", "Đầu chú ý", "khóa", "ô", "ờ"]),
        ("zh", ["BLEU", "softmax", "人", "注意力", "頭"]),
    ],
)
def test_words_are_sorted_by_the_alphabet_of_their_language(code: str, words: list[str]) -> None:
    mixed = words[::-1]
    assert sorted(mixed, key=COURSE.languages[code].sorting_key) == words


def test_the_site_sorts_definitions_by_the_readers_alphabet() -> None:
    sources = ["# Sözlük", "**Şekil**: a.", "**Isı**: b.", "**Çapraz**: c.", "## Tablo", "| a |"]
    cells = [new_markdown_cell(source) for source in sources]
    arranged = in_alphabetical_order(cells, COURSE.languages["tr"])
    assert [cell.source for cell in arranged] == [sources[place] for place in (0, 3, 2, 1, 4, 5)]


def test_the_table_of_terms_begins_with_the_readers_language() -> None:
    head, _, *rows = table(COURSE, "vi").splitlines()
    assert head.startswith("| Tiếng Việt | English |")
    key = COURSE.languages["vi"].sorting_key
    words = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert len(words) == len(COURSE.terms) and words == sorted(words, key=key)


def test_every_definition_is_one_sentence_with_one_link() -> None:
    for key, cell in cells(COURSE.read("en", "glossary")).items():
        if cell.source.startswith("**"):
            assert len(links(cell.source)) == 1, key
            definition = cell.source.split(" See [")[0]
            assert definition.endswith(".") and not re.search(r"[.!?] [A-Z]", definition), key
