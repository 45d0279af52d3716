"""A course of one chapter as a site: what is folded behind its words, and faults that fail the build."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from small_page import PAGE, page

from tools.course import ROOT, Course, cells
from tools.editions import drawings
from tools.site.build import build

ANSWERED = "lost?\n\n<details><summary>Answer</summary>\n\nA tenth.\n\n</details>"
SHOWN = """\
%%% code class-Loaf hide-input
class Loaf:
    pass
%%% code function-cut hide-input
def cut(): ...
"""


def small_course(root: Path, text: str) -> Course:
    """Return a course of a home page and a chapter of this text."""
    for name in ("_config.yml", "LICENSE", "LICENSE-PROSE", "book/en/language.yml", "book/en/words.yml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "_toc.yml").write_text("root: book/en/index\nchapters: [{file: book/en/bread}]\n")
    course = Course(root)
    practice = root / course.package / "practice/bread.py"
    practice.parent.mkdir(parents=True)
    practice.write_text("def cut(loaf): ...\n")
    text = text.replace(" picture", "").replace("%%% text opening-caption\n**A loaf.** It is brown.\n", "")
    course.write("en", "index", page("%%% text title\n# Baking\n\n[Bread](bread.ipynb)"))
    course.write("en", "bread", page(text))
    return course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    text = PAGE.replace("lost?", ANSWERED).replace("%%% text summary", f"{SHOWN}%%% text summary")
    made = small_course(tmp_path_factory.mktemp("course"), text)
    made.write("en", "bread", page(text))  # with its picture and caption
    draw(made, "crust")
    return made


def draw(course: Course, word: str) -> None:
    """Write the drawing that is kept of the page's figure."""
    drawing = course.root / drawings.path("bread", "opening")
    drawing.parent.mkdir(parents=True, exist_ok=True)
    text = f'<svg width="40" height="30" viewBox="0 0 4 3"><text x="1">{word}</text></svg>'
    drawing.write_text(text, encoding="utf-8")


def built(course: Course) -> BeautifulSoup:
    assert build(["en"], course.root / "html", course)
    return BeautifulSoup((course.root / "html/en/bread.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def bread(course: Course) -> BeautifulSoup:
    return built(course)


def test_the_checks_are_folded_behind_their_heading(bread: BeautifulSoup) -> None:
    section = bread.find(id="checks")
    assert [child.name for child in section.find_all(recursive=False)] == ["details"]
    assert section.details.summary.h2.get_text().startswith("Checks")
    assert section.find(id="weigh-check").find_parent("details") is section.details
    assert not section.details.find("details")  # code and table are shown plainly
    assert section.table and "assert" in section.pre.get_text()
    assert not bread.find(id="references").find_parent("details")


def test_the_checks_are_in_the_contents(bread: BeautifulSoup) -> None:
    assert bread.select_one('.sections a[href="#checks"]')


def test_the_packages_code_is_folded_behind_its_words(bread: BeautifulSoup) -> None:
    words = Course().words("en")
    assert bread.find(id="class-Loaf").summary.get_text() == f"{words['package_class']}: Loaf"
    assert bread.find(id="function-cut").summary.get_text() == f"{words['package_function']}: cut"


def test_a_prediction_folds_its_answer_and_nothing_else(bread: BeautifulSoup) -> None:
    question = bread.select_one(".note.predict")
    answer = question.find_next_sibling()
    assert (answer.name, answer.summary.get_text()) == (
        "details",
        "Answer",
    ) and "A tenth." in answer.get_text()
    assert not bread.find(id="weigh-code").find_parent("details")


FAULTS = {  # planted in a cell: what the build says
    "question": ("[gone](index.ipynb#no-such-cell)", "leads to no cell of index.ipynb"),
    "weigh": ("[gone](no-such-page.ipynb)", "leads to a page that does not exist"),
    "exercise-half": ("[gone](#no-such-cell)", "leads to no cell of bread.ipynb"),
    "summary": ("$\\nosuchcommand{x}$", "cannot be set"),
}


def test_planted_faults_fail_the_build_and_their_cells_are_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    course = small_course(tmp_path, PAGE)
    chapter = course.read("en", "bread")
    for key, (fault, _) in FAULTS.items():
        cells(chapter)[key].source += f"\n\n{fault}"
    course.write("en", "bread", chapter)
    assert not build(["en"], tmp_path / "html", course)
    complaints = capfd.readouterr().err.splitlines()
    for key, (_, message) in FAULTS.items():
        place = f"bread.ipynb, cell {key}:"
        assert [line for line in complaints if place in line and message in line], (key, complaints)


def test_a_figure_is_shown_as_the_drawing_that_is_kept_of_it(course: Course, bread: BeautifulSoup) -> None:
    """Also when only the drawing changed since the page was read."""
    check_drawing(course, bread, "crust")
    draw(course, "crumb")
    check_drawing(course, built(course), "crumb")


def check_drawing(course: Course, soup: BeautifulSoup, word: str) -> None:
    shown = soup.select_one("#opening figure .enlarge > .drawing")
    assert shown and shown.get_text().strip() == word and shown["aria-label"] == "A loaf."
    file = course.root / "html/en" / str(soup.select_one("#opening .enlarge")["href"])
    assert word in file.read_text(encoding="utf-8")
