"""Figures as drawings: words are text, formulas are curves, and each language writes its own words."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.textpath import TextPath
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.course import ROOT, Course, CourseError
from tools.editions import drawings
from tools.editions.drawings import SVG, embeddable
from tools.site.extension.drawings import HAN, lettered, translated

matplotlib.use("agg")
import matplotlib.pyplot as plt

drawing = runpy.run_path(str(ROOT / "book" / "drawn.py"))["drawing"]
LANGUAGES = Course().languages
WORDS = {
    "tr": {"figure.loss": "kayıp", "figure.exact match": "tam eşleşme", "figure.layer 0": "katman 0"},
    "zh": {"figure.loss": "損失", "figure.exact match": "完全相符"},
}
REFERENCE = re.compile(r'(?:href="|url\()#([^")]+)')


def drawn() -> str:
    """Return a figure with words and formulas, a curve of dots, and a matrix with tokens along it."""
    figure, (curve, matrix) = plt.subplots(1, 2, layout="constrained")
    curve.plot([1, 2], [0.25, 0.75], marker="o", label="loss")
    curve.set(
        xlabel=r"$\sqrt{d}$",
        ylabel="exact match",
        title="dev_exact_match",
        yticks=[0.25, 0.75],
        xticks=[1, 2],
    )
    curve.legend()
    matrix.imshow([[0.5, 1.0], [0.0, 0.25]])
    matrix.set_xticks([0, 1], ["loss", "<eos>"])
    matrix.set_yticks([0], ["layer 0"])
    matrix.text(0, 0, "0.50")
    made = drawing(figure)
    plt.close(figure)
    return made


@pytest.fixture(scope="module")
def figure() -> str:
    return embeddable(drawn(), "page-cell")


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_words_are_text_and_formulas_are_curves(figure: str) -> None:
    assert {"loss", "exact match", "dev_exact_match", "<eos>", "0.50"} < set(texts(figure))
    assert not [text for text in texts(figure) if text == "d" or "sqrt" in text]
    assert re.search(r'<path id="page-cell-DejaVuSans-Oblique-\w+"', figure)


def test_a_matrix_is_a_picture_of_as_many_dots_as_it_has_numbers(figure: str) -> None:
    (image,) = ElementTree.fromstring(figure).iter(f"{SVG}image")
    assert (image.get("width"), image.get("height"), image.get("image-rendering")) == ("2", "2", "pixelated")


def test_the_same_figure_is_the_same_drawing(figure: str) -> None:
    assert embeddable(drawn(), "page-cell") == figure


def test_a_drawing_can_stand_beside_others_in_a_page(figure: str) -> None:
    """Its ids are its own, and there; its looks need no style sheet, which a page would refuse."""
    ids = re.findall(r' id="([^"]+)"', figure)
    assert ids and all(name.startswith("page-cell-") for name in ids) and len(ids) == len(set(ids))
    assert set(REFERENCE.findall(figure)) == set(ids)
    assert "style" not in figure and "font-family" not in figure
    assert 'stroke="#1f77b4"' in figure


def test_labels_are_written_in_the_language_and_tokens_stay(figure: str) -> None:
    turkish = texts(lettered(figure, WORDS["tr"], LANGUAGES["tr"]))
    expected = {"exact match": "tam eşleşme", "layer 0": "katman 0", "0.25": "0,25", "0.75": "0,75"}
    before = [text for text in texts(figure) if text not in ("loss", "0.50")]
    after = [text for text in turkish if text not in ("loss", "kayıp", "0,50")]
    assert after == [expected.get(text, text) for text in before]
    assert turkish.count("kayıp") == turkish.count("loss") == 1  # in the legend, and along the matrix
    assert "0,50" in turkish


def test_chinese_along_an_upright_axis_stands_upright(figure: str) -> None:
    label = re.search(r"<text[^>]*>完全相符", lettered(figure, WORDS["zh"], LANGUAGES["zh"]))
    assert label and 'writing-mode="vertical-rl"' in label[0] and "rotate" not in label[0]
    label = re.search(r"<text[^>]*>tam eşleşme", lettered(figure, WORDS["tr"], LANGUAGES["tr"]))
    assert label and "rotate(-90" in label[0]


def test_a_label_with_a_digit_is_translated_as_a_whole() -> None:
    words = {"figure.place among 20 words": "20 kelime"}
    assert translated("place among 20 words", words, LANGUAGES["tr"]) == "20 kelime"


def test_numbers_are_written_as_the_language_writes_them_and_names_stay() -> None:
    turkish = LANGUAGES["tr"]
    assert translated("gru 0.001 \u22120.5 1.125", {}, turkish) == "gru 0,001 \u22120,5 1,125"
    assert translated("C1.2", {}, turkish) == "C1.2"
    assert translated("n = 2,048 102,547", {}, turkish) == "n = 2\u202f048 102\u202f547"
    assert translated("n = 2,048 0.25", {}, LANGUAGES["vi"]) == "n = 2.048 0,25"
    assert translated("n = 2,048 0.25", {}, LANGUAGES["zh"]) == "n = 2,048 0.25"


def executed(*figures: tuple[str, ...]) -> NotebookNode:
    """Return a page whose cells, named one, two, …, have just drawn figures."""
    page = new_notebook()
    for name, drawn_there in zip(("one", "two"), figures, strict=False):
        outputs = [
            new_output("display_data", {"image/png": "aGk="}, metadata={"image/png": {"drawing": svg}})
            for svg in drawn_there
        ]
        page.cells.append(new_code_cell(name, id=name, outputs=outputs))
    return page


@pytest.fixture
def course(tmp_path: Path) -> Course:
    made = Course(tmp_path)
    (tmp_path / "book/en").mkdir(parents=True)
    (tmp_path / "book/en/language.yml").write_text((ROOT / "book/en/language.yml").read_text())
    made.write("en", "page", new_notebook())
    return made


def test_drawings_move_from_the_page_into_files_and_old_ones_go(course: Course) -> None:
    svg = drawn()
    page = executed((svg,), (svg,))
    drawings.write(course, "page", page)
    assert "<svg" not in str(page)
    assert course.text("book/figures/page/two.svg") == embeddable(svg, "page-two")
    elsewhere = course.root / "book/figures/gone/one.svg"
    elsewhere.parent.mkdir()
    elsewhere.write_text(svg)
    drawings.write(course, "page", executed((svg,)))
    left = sorted(path.relative_to(course.root).as_posix() for path in course.root.rglob("*.svg"))
    assert left == ["book/figures/page/one.svg"]


def test_a_cell_draws_one_figure(course: Course) -> None:
    with pytest.raises(CourseError, match="en page#one: draws two figures"):
        drawings.write(course, "page", executed((drawn(), drawn())))


@cache
def width_of(size: str, label: str) -> float:
    """Return a label's width in a wide font; a Chinese character is about as wide as an m."""
    wide = TextPath((0, 0), HAN.sub(lambda found: "m" * len(found[0]), label), float(size.removesuffix("px")))
    return float(wide.get_extents().width)


@pytest.mark.parametrize("code", list(LANGUAGES))
def test_the_books_labels_stay_within_their_drawings(code: str) -> None:
    course = Course()
    words, language = course.words(code), course.languages[code]
    beyond, looked_at = [], 0
    for path in sorted((ROOT / drawings.FOLDER).glob("*/*.svg")):
        root = ElementTree.fromstring(lettered(path.read_text("utf-8"), words, language))
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        for node in root.iter(f"{SVG}text"):
            transform = node.get("transform", "")
            if transform and not transform.startswith("rotate(-90"):  # tokens, which stay as they are
                continue
            turned = transform or node.get("writing-mode")
            wide = width_of(node.attrib["font-size"], node.text or "")
            shift = {"middle": 0.5, "end": 1.0}.get(node.get("text-anchor", ""), 0.0) * wide
            if turned:  # written upwards
                start, end = float(node.attrib["y"]) + shift - wide, float(node.attrib["y"]) + shift
            else:
                start, end = float(node.attrib["x"]) - shift, float(node.attrib["x"]) - shift + wide
            looked_at += 1
            if start < 0 or end > (height if turned else width):
                beyond.append((path.parent.name, path.stem, node.text))
    assert looked_at > 500 and not beyond
