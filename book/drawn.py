"""What a figure draws, in numbers and as a drawing.

The numbers are the text that is stored beside its picture. The drawing is an
SVG with words as text, which ``sync`` puts beside the notebooks, so that the
site can write them in another language.

``startup.py`` runs this in a page's kernel before its first cell, for ``sync``
and for the tests, so that a run of the tests compares what the figures show.
Positions are shares of the axes and colours shares of the colour map; of long
curves and large matrices a sample is kept, and the mean of all.
"""

import io
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from IPython.core import pylabtools
from matplotlib import rc_context
from matplotlib.backends import backend_svg
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

SAMPLE_SIZE = 40  # numbers of one curve or matrix
OMITTED_METADATA = ("Creator", "Date", "Format", "Type")


def sample(values: Any) -> str:
    """Return some of the values, evenly spaced, and their mean."""
    flat = np.ma.filled(np.ma.asarray(values, float), np.nan).ravel()
    if not flat.size:
        return "none"
    kept = flat[
        np.linspace(0, flat.size - 1, min(SAMPLE_SIZE, flat.size))
        .round()
        .astype(int)
    ]
    return " ".join(
        f"{value:.3f}" for value in [*kept, np.nanmean(flat)]
    ).replace("-0.000", "0.000")


def drawn(figure: Any) -> str:
    """Describe the axes of a figure and what they show, line by line."""
    lines = [f"Figure of {len(figure.axes)} axes"]
    for axes in figure.axes:
        names = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        lines.append(" | ".join(["axes", *names]))
        lines += [f"{what} {sample(values)}" for what, values in shown(axes)]
    return "\n".join(lines)


def shown(axes: Any) -> Iterator[tuple[str, Any]]:
    """Yield scales, curves, bars, points, words and matrices of axes."""
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


class Drawing(backend_svg.RendererSVG):
    """Writes words as text and draws formulas: as text, a root falls apart."""

    def draw_text(
        self, *place: Any, ismath: Any = False, **options: Any
    ) -> None:
        with rc_context({"svg.fonttype": "path" if ismath else "none"}):
            super().draw_text(*place, ismath=ismath, **options)


def drawing(figure: Figure) -> str:
    """Return a figure as SVG; each number of a matrix is one large pixel."""
    for axes in figure.axes:
        if axes.images:  # the labels of a matrix are tokens, not translated
            ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
            for text in [*axes.texts, *ticks]:
                text.set_gid("tokens")
    file = io.StringIO()
    with (
        mock.patch.object(backend_svg, "RendererSVG", Drawing),
        mock.patch.object(AxesImage, "get_interpolation", lambda _: "none"),
        rc_context({"svg.hashsalt": "the same ids each time"}),
    ):
        figure.savefig(
            file,
            format="svg",
            bbox_inches="tight",
            transparent=True,
            metadata=dict.fromkeys(OMITTED_METADATA),
        )
    return file.getvalue()


def with_drawing(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what makes a picture of a figure, to make its drawing too."""

    def drawn_twice(figure: Any, **options: Any) -> Any:
        picture, facts = draw(figure, **options)
        return picture, facts | {"drawing": drawing(figure)}

    return drawn_twice


pylabtools.retina_figure = with_drawing(pylabtools.retina_figure)
Figure._repr_pretty_ = lambda self, printer, cycle: printer.text(drawn(self))
