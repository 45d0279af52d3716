"""What a figure draws, in numbers: the text that is stored beside its picture.

Beside its size stands where its words are, so that the site can write them in
another language.

``sync`` and ``conftest.py`` run this in a page's kernel before its first cell,
apart from the page's names, so that a run of the tests compares what the
figures show. Positions are shares of the axes and colours shares of the colour
map; of long curves and large matrices a sample is kept, and the mean of all.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from IPython.core import pylabtools
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

MOST = 40  # numbers of one curve or matrix
WORD, FORMULA = re.compile("[a-z]{2}"), re.compile(r"\$.*?\$")
DECIMAL = re.compile(r"[-\u2212]?\d+\.\d+")
PADDING = 0.1  # inches around a saved figure: matplotlib's savefig.pad_inches


def sample(values: Any) -> str:
    """Some of the values, evenly spaced, and their mean."""
    flat = np.ma.filled(np.ma.asarray(values, float), np.nan).ravel()
    if not flat.size:
        return "none"
    kept = flat[
        np.linspace(0, flat.size - 1, min(MOST, flat.size)).round().astype(int)
    ]
    return " ".join(
        f"{value:.3f}" for value in [*kept, np.nanmean(flat)]
    ).replace("-0.000", "0.000")


def drawn(figure: Any) -> str:
    """The axes of a figure, each with what it shows, a line a piece."""
    lines = [f"Figure of {len(figure.axes)} axes"]
    for axes in figure.axes:
        names = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        lines.append(" | ".join(["axes", *names]))
        lines += [f"{what} {sample(values)}" for what, values in shown(axes)]
    return "\n".join(lines)


def shown(axes: Any) -> Iterator[tuple[str, Any]]:
    """The scales, curves, bars, points, words and matrices of some axes."""
    share = axes.transData + axes.transAxes.inverted()
    yield "scale", [*axes.get_xlim(), *axes.get_ylim()]
    for line in axes.lines:
        if line.get_transform() == axes.transData:
            places = share.transform(line.get_xydata())
            yield "across", places[:, 0]
            yield "up", places[:, 1]
    for patch in axes.patches:
        if isinstance(patch, Rectangle):
            yield "bar", share.transform(patch.get_bbox())
    for points in axes.collections:
        yield "points", share.transform(points.get_offsets())
    for text in axes.texts:
        yield f"text {text.get_text()!r}", share.transform(text.get_position())
    for image in axes.images:
        matrix = image.get_array()
        yield f"matrix {matrix.shape}", image.norm(matrix)


def lettering(axes: Any) -> Iterator[Any]:
    """The texts of some axes that have words or decimals.

    Tokens stand along a matrix, and stay as they are.
    """
    legend = axes.get_legend()
    labels = [axes.title, axes.xaxis.label, axes.yaxis.label]
    for text in [*labels, *(legend.get_texts() if legend else ())]:
        if WORD.search(FORMULA.sub("", text.get_text())):
            yield text
    for text in [*axes.texts, *ticks(axes.xaxis), *ticks(axes.yaxis)]:
        words = not axes.images and WORD.search(text.get_text())
        if words or DECIMAL.search(text.get_text()):
            yield text


def ticks(axis: Any) -> Iterator[Any]:
    """The labels that stand along an axis."""
    low, high = sorted(axis.get_view_interval())
    nearly = 1e-6 * (high - low)  # a tick at the end of an axis is drawn
    for tick in axis.get_major_ticks() if axis.get_visible() else ():
        if low - nearly <= tick.get_loc() <= high + nearly:
            yield from (
                t for t in (tick.label1, tick.label2) if t.get_visible()
            )


def words_of(figure: Any) -> Iterator[str]:
    """What the site writes in its language: each with its place and side.

    The place is left, top, width, height and size of the letters, in pixels
    of the picture, which has two for each of the figure.
    """
    once = figure.dpi
    figure.dpi = 2 * once  # as it was saved: the layout depends on it a little
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    whole = figure.get_tightbbox(renderer).padded(PADDING)
    for text in [text for axes in figure.axes for text in lettering(axes)]:
        box = text.get_window_extent(renderer)
        left = box.x0 - whole.x0 * figure.dpi
        top = whole.y1 * figure.dpi - box.y1
        size = text.get_fontsize() * figure.dpi / 72
        place = [left, top, box.width, box.height, size]
        numbers = [f"{number:.0f}" for number in place]
        yield " ".join([*numbers, text.get_ha(), text.get_text()])
    figure.dpi = once


def with_words(draw: Callable[..., Any]) -> Callable[..., Any]:
    """What makes a picture of a figure, so that it notes its words, too."""

    def drawn_with_words(figure: Any, **options: Any) -> Any:
        picture, size = draw(figure, **options)
        words = list(words_of(figure))
        return picture, size | ({"words": words} if words else {})

    return drawn_with_words


pylabtools.retina_figure = with_words(pylabtools.retina_figure)
Figure._repr_pretty_ = lambda self, printer, cycle: printer.text(drawn(self))
