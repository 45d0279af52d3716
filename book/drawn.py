"""What a figure draws, in numbers: the text that is stored beside its picture.

``sync`` and ``conftest.py`` run this in a page's kernel before its first cell,
apart from the page's names, so that a run of the tests compares what the
figures show. Positions are shares of the axes and colours shares of the colour
map; of long curves and large matrices a sample is kept, and the mean of all.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

MOST = 40  # numbers of one curve or matrix


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


Figure._repr_pretty_ = lambda self, printer, cycle: printer.text(drawn(self))
