"""An edition as one PDF: all chapters, links inside, glyphs embedded."""

import re

import pytest
from browsing import CHAPTER, CHROMIUM
from bs4 import BeautifulSoup

from tools.course import Course
from tools.site import pdf
from tools.site.pdf import link, print_editions, print_whole, whole_book

CHAPTERS = ["attention-pooling", CHAPTER]


@pytest.fixture(scope="module")
def book(site):
    """Return a book of the glossary, which links to all chapters, and of two chapters."""
    return BeautifulSoup(whole_book(site / "tr", ["glossary", *CHAPTERS]), "html.parser")


def by_link(book):
    """Return the elements of a book by the links that lead to them."""
    return {f"#{node['id']}": node for node in book.find_all(id=True)}


def test_links_between_chapters_stay_inside_the_document(book):
    links = {node["href"] for node in book.select("article a[href]")}
    assert "#attention-pooling--formula" in links & by_link(book).keys()
    within = "|".join(CHAPTERS)
    assert not [link for link in links if re.search(rf"(?:{within})\.html", link)]
    assert not book.select("details:not([open])")


def test_solutions_stand_at_the_end_and_are_linked_both_ways(book):
    *chapters, last = book.select("article")
    assert not any(chapter.select(".solution, [id*=--solution-]") for chapter in chapters)
    assert last.h1.get_text() == "Çözümler" and book.select('.contents a[href="#solutions"]')
    solved, ids = last.select(".exercise"), by_link(book)
    assert len(solved) > 10
    for box in solved:
        exercise = ids[box.h3.a["href"]]
        assert exercise.find_parent("article") is not last
        assert exercise.select(f'a[href="#{box["id"]}"]')


def test_answers_to_questions_stand_at_the_end_and_the_choices_where_they_were(book):
    *chapters, last = book.select("article")
    assert not any(chapter.select(".answer, .right, .wrong") for chapter in chapters)
    answered, ids = last.select("section:has(> .answer)"), by_link(book)
    assert len(answered) == len(CHAPTERS)
    for box in answered:
        quiz = ids[box.h3.a["href"]]
        assert quiz.find_parent("article") is not last and quiz.select(f'a[href="#{box["id"]}"]')
        choices = [answer.summary.get_text() for answer in box.select(".answer")]
        assert choices == [choice.get_text() for choice in quiz.select("ul > li")]
        assert all(answer.select(".right, .wrong") for answer in box.select(".answer"))


def test_a_printed_edition_is_linked_once_at_the_foot_of_its_pages(tmp_path):
    edition, printed = tmp_path / "site" / "vi", tmp_path / "vi.pdf"
    edition.mkdir(parents=True)
    printed.write_bytes(b"%PDF")
    (edition / "index.html").write_text("<p>A.</p>\n<footer>\n  <p>B.</p>\n</footer>\n")
    for _ in range(2):
        link(tmp_path / "site", [printed])
    word = Course().words("vi")["pdf"]
    page = f'<p>A.</p>\n<footer>\n  <p>B. <a href="course.pdf">{word}</a></p>\n</footer>\n'
    assert (edition / "index.html").read_text(encoding="utf-8") == page
    assert (edition / "course.pdf").read_bytes() == b"%PDF"


def test_a_book_without_its_end_is_printed_again_and_never_kept(tmp_path, monkeypatch):
    document, target, prints = tmp_path / "book.html", tmp_path / "book.pdf", []

    def print_some(command, **_: object) -> None:
        assert f"--print-to-pdf={target}" in command and command[-1] == document.as_uri()
        target.write_bytes(b"/Title" * (1 + prints.pop(0)))

    monkeypatch.setattr(pdf, "find_chromium", lambda: "chromium")
    monkeypatch.setattr(pdf.subprocess, "run", print_some)
    prints[:] = [1, 3]
    assert print_whole(document, target, headings=3) == target and not prints
    prints[:] = [1, 2, 2]
    with pytest.raises(SystemExit, match="a part of the book"):
        print_whole(document, target, headings=3)


@pytest.mark.skipif(
    not CHROMIUM, reason="to test printing, install Chromium (Debian: apt-get install chromium)"
)
def test_the_pdf_has_links_an_outline_and_its_fonts(site, tmp_path):
    (printed,) = print_editions(site, tmp_path, ["vi"], ["index", CHAPTER])
    content = printed.read_bytes()
    assert content.startswith(b"%PDF") and b"/Outlines" in content
    assert content.count(b"/Subtype /Link") > 5 and content.count(b"/Dest") > 5
    assert content.count(b"/FontFile2") > 3
