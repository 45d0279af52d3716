"""The comparison of notebook outputs (book/conftest.py) finds what changed and forgives the last digit."""

import io
import runpy
import shutil
import subprocess
import sys

import matplotlib
import nbformat
import numpy as np
import pytest
from IPython.core import pylabtools
from matplotlib import font_manager
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from tools.course import ROOT, Course
from tools.site.extension import lettering
from tools.site.extension.lettering import DOTS, POINTS, PREFIX, fonts, lacks_font, lettered, translated

matplotlib.use("agg")
import matplotlib.pyplot as plt

CONFTEST = ROOT / "book" / "conftest.py"
DRAWN = runpy.run_path(str(CONFTEST.with_name("drawn.py")))


def cell(
    key: str, code: str, output: str | None, *tags: str, executed: bool = True, **outputs: str
) -> object:
    """A cell that holds ``output`` from an earlier run, which may not be what ``code`` prints."""
    stored = [new_output("stream", name="stdout", text=output)] if output is not None else []
    stored += [new_output("stream", name=name, text=text) for name, text in outputs.items()]
    made = new_code_cell(code, execution_count=1 if executed else None, outputs=stored)
    made["id"] = key
    made.metadata["tags"] = list(tags)
    return made


def figure(key: str, code: str, stored: str, *tags: str) -> object:
    """A cell that draws, and shows what another code drew; no code: what Jupyter says of a figure."""
    text = "<Figure size 640x480 with 1 Axes>"
    if stored:
        exec(stored, {"plt": plt})
        text = DRAWN["drawn"](plt.gcf())
        plt.close("all")
    made = cell(key, f"import matplotlib.pyplot as plt\n{code}\nplt.show()", None, *tags)
    made["outputs"] = [new_output("display_data", {"image/png": "aGk=", "text/plain": text})]
    return made


CURVE, BARS = "_ = plt.plot([1.0, 2.0, 3.0])", "_ = plt.bar([1, 2], [3.0, 4.0])"
WORD = f"{CURVE}; _ = plt.text(1, 2, '0.04')"
MATRIX = "_ = plt.imshow([[0.0, 0.5], [0.7, 1.0]])"
SAME = [
    figure("curve", CURVE, CURVE),
    figure("curve-nearly", CURVE.replace("2.0", "2.001"), CURVE),
    figure("curve-within-tag", CURVE.replace("2.0", "2.05"), CURVE, "atol-0.05"),
    figure("bars", BARS, BARS),
    figure("matrix", MATRIX, MATRIX),
    figure("one-model", MATRIX.replace("0.7", "0.1"), MATRIX, "one-model"),
    figure("minus-of-a-word", f"{CURVE}; _ = plt.text(1, 2, '\u22120.03')", WORD),
    figure("drawn-by-an-editor", CURVE, ""),
    cell("equal", "print('loss', 0.5)", "loss 0.5\n"),
    cell("last-digit", "print(0.5454, 12345.6)", "0.5455 12345.9\n"),
    cell("exponent", "print(1.2005e-05)", "1.2e-05\n"),
    cell("spaces", "print('[ 0.000, 1.]')", "[-0.000,  1.]\n"),
    cell("gpu", "print('tensor([1.]) cpu')", "tensor([1.], device='cuda:0') cuda:0\n"),
    cell("tolerant", "print(0.93)", "0.95\n", "atol-0.05"),
    cell("empty", "", None, executed=False),
]
CHANGED = [
    figure("another-curve", CURVE.replace("2.0", "2.3"), CURVE),
    figure("another-scale", CURVE, CURVE.replace("3.0", "3.5")),
    figure("another-bar", BARS, BARS.replace("3.0", "3.6")),
    figure("another-matrix", MATRIX, MATRIX.replace("0.7", "0.4")),
    figure("another-sign", WORD.replace("0.04", "\u22120.3"), WORD.replace("0.04", "0.3")),
    figure("another-title", f"{CURVE}; _ = plt.title('x')", CURVE),
    figure("one-curve-more", f"{CURVE}; {CURVE}", CURVE),
    figure("one-model-of-another-title", f"{MATRIX}; _ = plt.title('x')", MATRIX, "one-model"),
    figure("one-model-of-another-shape", MATRIX.replace(", [0.7, 1.0]", ""), MATRIX, "one-model"),
    cell("one-model-without-a-figure", "print(0.80)", "0.95\n", "one-model"),
    figure("beyond-the-tag", CURVE.replace("2.0", "2.3"), CURVE, "atol-0.05"),
    cell("word", "print('shape')", "shade\n"),
    cell("integer", "print(117000)", "117001\n"),
    cell("integer-beside-decimal", "print(0.5, 3)", "0.5 4\n"),
    cell("third-place", "print(0.545)", "0.548\n"),
    cell("sign", "print(-0.545)", "0.545\n"),
    cell("small", "print(1.2e-05)", "1.3e-05\n"),
    cell("boolean", "print(True)", "False\n"),
    cell("not-a-number", "print(float('nan'))", "0.5\n"),
    cell("decimal-for-integer", "print(2.0)", "2\n"),
    cell("one-more", "print(0.5, 0.5)", "0.5\n"),
    cell("beyond-tag", "print(0.80)", "0.95\n", "atol-0.05"),
    cell("gone", "pass", "0.5\n"),
    cell("warned", "import sys; print('careful', file=sys.stderr)", None),
    cell("silent", "print(1)", "1\n", stderr="careful\n"),
    cell("raises", "1 / 0", None),
    cell("never-executed", "print(1)", None, executed=False),
]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The outcome of each cell, by id, of one run in a process of its own."""
    folder = tmp_path_factory.mktemp("book")
    for path in (CONFTEST, CONFTEST.with_name("drawn.py")):
        shutil.copy(path, folder)
    notebook = new_notebook(
        cells=[*SAME, *CHANGED], metadata={"kernelspec": {"name": "python3", "display_name": "P"}}
    )
    nbformat.write(notebook, folder / "planted.ipynb")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        str(folder),
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    rows = [
        line.split()[:2] for line in run.stdout.splitlines() if "planted.ipynb::" in line and "%]" not in line
    ]
    return {where.rsplit("::", 1)[1]: outcome for outcome, where in rows}


@pytest.mark.parametrize("key", [c["id"] for c in SAME])
def test_an_output_that_means_the_same_passes(verdicts: dict[str, str], key: str) -> None:
    assert verdicts[key] == "PASSED"


@pytest.mark.parametrize("key", [c["id"] for c in CHANGED])
def test_a_changed_output_fails(verdicts: dict[str, str], key: str) -> None:
    assert verdicts[key] == "FAILED"


def pixels(picture: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int)


@pytest.fixture
def labelled() -> tuple[bytes, list[str]]:
    """A figure with words and formulas in label, title and legend: its picture, and where its words are."""
    figure, axes = plt.subplots(figsize=(4, 3), dpi=100, layout="constrained")
    axes.plot([1, 2], [3, 4], label="loss")
    axes.plot([1, 2], [4, 3], label="$\\alpha$, loss")
    axes.set(xlabel="$x$", ylabel="exact match", title="dev_exact_match")
    axes.text(1.5, 3.5, "loss")
    axes.text(1.2, 3.3, "0.25", color="white", backgroundcolor="black")
    axes.set(xticks=[1, 1.5, 2], yticks=[3, 3.5, 4])
    axes.legend()
    picture, facts = pylabtools.retina_figure(figure)
    plt.close(figure)
    return picture, facts["words"]


def test_a_picture_notes_where_its_words_are(labelled):
    picture, words = labelled
    assert [word.split(" ", 6)[6] for word in words] == [
        "dev_exact_match",
        "exact match",
        "loss",
        "$\\alpha$, loss",
        "loss",
        "0.25",
        *("1.0", "1.5", "2.0", "3.0", "3.5", "4.0"),
    ]
    dark = pixels(picture).sum(-1) < 600
    for word in words[:4]:
        left, top, across, down = map(int, word.split()[:4])
        around = dark[top - 4 : top + down + 4, left - 4 : left + across + 4]
        within = dark[top : top + down, left : left + across].sum()
        assert 100 < within <= around.sum() <= 1.01 * within, word


def test_tokens_along_a_matrix_are_no_words():
    figure, axes = plt.subplots()
    axes.imshow([[0.5]])
    axes.set_xticks([0], ["loss"])
    axes.set(ylabel="step", yticks=[])
    words = pylabtools.retina_figure(figure)[1]["words"]
    assert [word.split(" ", 6)[6] for word in words] == ["step"]
    plt.close(figure)


def test_a_picture_without_words_notes_nothing():
    figure, axes = plt.subplots()
    axes.set(xlabel="$x$", xticks=[], yticks=[])
    assert set(pylabtools.retina_figure(figure)[1]) == {"height", "width"}
    plt.close(figure)


LABELLED = [
    "tr",
    "vi",
    pytest.param(
        "zh",
        marks=pytest.mark.skipif(
            lacks_font(Course().words("zh")), reason="a Chinese font: apt-get install fonts-noto-cjk"
        ),
    ),
]


@pytest.mark.parametrize("code", LABELLED)
def test_labels_are_written_in_the_language_and_nothing_else_changes(labelled, code):
    picture, words = labelled
    own = {key: word for key, word in Course().words(code).items() if key.startswith(PREFIX)}
    before, after = pixels(picture), pixels(lettered(picture, words, own, Course().languages[code].decimal))
    assert before.shape == after.shape
    changed = (before != after).any(-1)
    elsewhere = changed.copy()
    comma = Course().languages[code].decimal == ","
    expectations = [False, True, True, False, True] + [comma] * (len(words) - 5)
    for word, expected in zip(words, expectations, strict=True):
        left, top, across, down = map(int, word.split()[:4])
        wider = 70 if word.split(" ", 6)[6][0].isalpha() else 4
        place = np.s_[max(top - wider, 0) : top + down + wider, max(left - 25, 0) : left + across + wider]
        assert changed[top : top + down, left : left + across].any() == expected, word
        if expected:
            elsewhere[place] = False
    assert not elsewhere.any()


def stored_labels(course: Course) -> list[tuple[int, str]]:
    """What the chapters' figures note of their words, each with the width of its picture in pixels."""
    outputs = [
        output
        for stem in course.numbers
        for cell in course.read("en", stem).cells
        for output in cell.get("outputs", [])
    ]
    pictures = [output.get("metadata", {}).get("image/png", {}) for output in outputs]
    return [(2 * facts["width"], word) for facts in pictures for word in facts.get("words", [])]


@pytest.mark.parametrize("code", LABELLED)
def test_the_books_labels_stay_within_their_pictures(code):
    course = Course()
    own = {key: word for key, word in course.words(code).items() if key.startswith(PREFIX)}
    drawing = Figure((1, 1), DOTS)
    beyond, translations = [], 0
    for width, label in stored_labels(course):
        left, _, across, down, size, side, old = label.split(" ", 6)
        new = translated(old, own, course.languages[code].decimal)
        if new == old or int(down) > int(across):  # along the vertical axis
            continue
        text = drawing.text(0, 0, new, fontfamily=fonts(), fontsize=int(size) * POINTS / DOTS)
        wide = text.get_window_extent().width
        shift = {"left": 0, "center": (int(across) - wide) / 2, "right": int(across) - wide}[side]
        translations += 1
        if int(left) + shift < 0 or int(left) + shift + wide > width:
            beyond.append(new)
    assert translations > 30 and not beyond


def test_decimals_in_a_label_are_written_as_the_language_writes_them():
    assert translated("gru 0.001", {}, ",") == "gru 0,001"
    assert translated("gru 0.001", {}, ".") == "gru 0.001"


def test_a_label_with_a_digit_is_translated_as_a_whole():
    assert (
        translated("place among 20 words", {PREFIX + "place among 20 words": "20 kelime"}, ",") == "20 kelime"
    )


def test_a_picture_whose_words_no_font_can_write_stays_as_it_is(labelled, monkeypatch):
    monkeypatch.setattr("tools.site.extension.lettering.fonts", lambda: ["DejaVu Sans"])
    picture, words = labelled
    assert lettered(picture, words, Course().words("zh")) == picture
    assert lettered(picture, words, Course().words("tr")) != picture


@pytest.fixture
def without_chinese_fonts(monkeypatch):
    """Matplotlib's list of fonts, as it was before Chinese ones were installed."""
    fonts.cache_clear()
    names = lettering.CHINESE
    kept = [font for font in font_manager.fontManager.ttflist if font.name not in names]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", kept)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [])
    yield
    fonts.cache_clear()


def test_labels_that_no_font_can_write_are_reported(without_chinese_fonts):
    assert lacks_font(Course().words("zh"))
    assert not lacks_font(Course().words("vi"))


def test_a_font_that_came_after_matplotlibs_list_is_found(without_chinese_fonts, monkeypatch):
    dejavu = font_manager.findfont("DejaVu Sans")
    later = [font for font in font_manager.fontManager.ttflist if font.fname != dejavu]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", later)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [__file__, dejavu])  # one is no font
    monkeypatch.setattr(lettering, "CHINESE", ("DejaVu Sans",))  # which every machine has
    assert fonts() == ["DejaVu Sans", "DejaVu Sans"]
