"""Every question has an answer that runs or a link to one; the glossary has every term."""

import re

from tools.course import Course, cells

COURSE = Course()
LINK = re.compile(r"\]\(([a-z-]+)\.ipynb#([A-Za-z0-9-]+)\)")


def links(source: str) -> list[tuple[str, str]]:
    """Pairs of chapter and cell that a Markdown cell links to."""
    return LINK.findall(source)


def answers() -> dict[str, list]:
    """The cells that belong to each question: from its heading to the next heading."""
    found: dict[str, list] = {}
    current: list = []
    for cell in COURSE.read("en", "faq").cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            current = []
            if cell.source.startswith("### "):
                found[cell["id"]] = current
        current.append(cell)
    return found


def test_there_are_at_least_25_questions() -> None:
    assert len(answers()) >= 25


def test_every_answer_runs_or_links_to_a_cell() -> None:
    for question, parts in answers().items():
        runs = any(cell.cell_type == "code" for cell in parts)
        # Where the solutions are is the one question about the pages themselves.
        assert runs or any(links(cell.source) for cell in parts) or question == "solutions", question


def test_the_glossary_has_one_cell_and_one_row_for_each_term() -> None:
    page = cells(COURSE.read("en", "glossary"))
    terms = (re.match(r"\*\*(.+?)\*\*: ", cell.source) for cell in page.values())
    defined = [term[1].lower() for term in terms if term]
    assert sorted(defined) == sorted(row["en"].lower() for row in COURSE.terms)
    rows = page["terms-table"].source.splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == [f"| {row['en']}" for row in COURSE.terms]


def test_every_definition_is_one_sentence_with_a_link_to_a_cell_that_exists() -> None:
    for key, cell in cells(COURSE.read("en", "glossary")).items():
        if cell.source.startswith("**"):
            (stem, target), *more = links(cell.source)
            assert not more, key
            assert target in cells(COURSE.read("en", stem)) | cells(COURSE.read("en", stem), "code"), key
            definition = cell.source.split(" See [")[0]
            assert definition.endswith(".") and not re.search(r"[.!?] [A-Z]", definition), key
