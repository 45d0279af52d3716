"""Pictures of attention weights, in colours that colour-blind readers can tell apart.

Every function that draws returns its Axes. Figures are white and at most 5.5 inches wide: a phone shows that
at nine tenths, so that letters of 10 points stay legible. `QUERY`, `KEY`, `VALUE` and `OUTPUT` are the
course's colours of the four. A wrong argument raises a TypeError or a ValueError that names it, and draws
nothing. Tokens are written as they are; titles and the names of axes may hold formulas, ``"$QK^T$"``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.mathtext import MathTextParser
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from mha_course.checks import check_choice, check_type
from mha_course.metrics import Tokens, check_alignment, tokens_of

__all__ = ("KEY", "OUTPUT", "QUERY", "VALUE", "diagram", "show_alignment", "show_heads", "show_heatmaps")

# Okabe & Ito, 2008.
QUERY, KEY, VALUE, OUTPUT = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
WEIGHTS, GOLD = "Blues", "#D55E00"
STOPS = (".", "。")
GRID: Any = {"sharex": True, "sharey": True, "squeeze": False, "layout": "constrained", "facecolor": "white"}
FONT_SIZE, MAX_WIDTH, MAX_COLUMNS = 10.0, 5.5, 4
SMALLEST_CELL, USUAL_CELL, BESIDE, COLOUR_BAR = 0.16, 0.35, 0.4, 1.2  # inches; one line of text needs .16
# Whole families first; what systems bring by themselves next; what Linux distributions add last.
WIDE_FONTS = (
    "Noto Sans CJK TC",
    "Noto Sans TC",
    "PingFang TC",
    "Heiti TC",
    "Microsoft JhengHei",
    "Source Han Sans TC",
    "Noto Sans CJK JP",
    "Arial Unicode MS",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "AR PL UMing TW",
)


@dataclass(frozen=True)
class Diagram:
    """A drawing that a notebook shows; `svg` is its source."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


def diagram(name: str) -> Diagram:
    """Return one of the package's drawings, to be the last line of a cell.

    Parameters
    ----------
    name : str

    Returns
    -------
    Diagram
        What a notebook shows as a picture; its attribute `svg` is the source.
    """
    folder = resources.files("mha_course").joinpath("data", "diagrams")
    names = sorted(file.name.removesuffix(".svg") for file in folder.iterdir() if file.name.endswith(".svg"))
    check_choice("name", name, names)
    return Diagram(folder.joinpath(f"{name}.svg").read_text(encoding="utf-8"))


def show_heatmaps(
    matrices: Tensor,
    xlabel: str = "keys",
    ylabel: str = "queries",
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    cmap: str = WEIGHTS,
) -> Any:
    """Draw a grid of matrices in one scale, with a colour bar.

    Parameters
    ----------
    matrices : Tensor, shape (rows, columns, queries, keys), (columns, queries, keys) or (queries, keys)
    xlabel, ylabel : str
        Below the last row, beside the first column.
    titles : sequence of str, optional
        One for each column.
    figsize : tuple of float, optional
        Width and height in inches; by default by the number of pictures, at most 5.5 wide.
    cmap : str
        A colour map of matplotlib.

    Returns
    -------
    numpy.ndarray of Axes, shape (rows, columns)
    """
    grid = check_matrices("matrices", matrices, (2, 3, 4))
    grid = grid.reshape((1,) * (4 - grid.dim()) + tuple(grid.shape))  # (rows, columns, queries, keys)
    rows, columns = grid.shape[:2]
    low, high = min(0.0, float(grid.min())), float(grid.max())
    titles = check_labels("titles", titles, columns)
    figure, axes = plt.subplots(rows, columns, figsize=figsize or grid_size(*grid.shape), **GRID)
    for ax, matrix in zip(axes.flat, grid.flatten(0, 1), strict=True):
        image = draw(ax, matrix, low, high, cmap)
    for ax, title in zip(axes[0], titles or (), strict=False):
        ax.set_title(title, fontsize=FONT_SIZE, parse_math=is_math(title))
    for ax in axes[-1]:
        ax.set_xlabel(xlabel, fontsize=FONT_SIZE, parse_math=is_math(xlabel))
    for ax in axes[:, 0]:
        ax.set_ylabel(ylabel, fontsize=FONT_SIZE, parse_math=is_math(ylabel))
    figure.colorbar(image, ax=axes, shrink=0.6)
    return axes


def show_heads(
    weights: Tensor,
    queries: Tokens | None = None,
    keys: Tokens | None = None,
    titles: Sequence[str] | None = None,
) -> Any:
    """Draw every head's weights in one scale from 0 to 1, as many a row as leave room for the tokens.

    Parameters
    ----------
    weights : Tensor, shape (heads, queries, keys)
    queries, keys : str or sequence of str, optional
        Tokens that label the rows and the columns; a string is split at white space. By default numbers.
    titles : sequence of str, optional
        One for each head; by default ``"0"``, ``"1"``, …

    Returns
    -------
    numpy.ndarray of Axes, shape (heads,)
    """
    weights = check_matrices("weights", weights, (3,))
    heads, rows, columns = weights.shape
    titles = check_labels("titles", titles, heads) or [str(head) for head in range(heads)]
    queries, keys = check_labels("queries", queries, rows), check_labels("keys", keys, columns)
    room = int((MAX_WIDTH - COLOUR_BAR) / (columns * SMALLEST_CELL + BESIDE))
    across = min(heads, MAX_COLUMNS, max(1, room))
    down = -(-heads // across)
    figure, axes = plt.subplots(down, across, figsize=grid_size(down, across, rows, columns), **GRID)
    shown, unused = axes.flat[:heads], axes.flat[heads:]
    for ax, matrix, title in zip(shown, weights, titles, strict=True):
        image = draw(ax, matrix, 0.0, 1.0, WEIGHTS)
        ax.set_title(title, fontsize=FONT_SIZE, parse_math=is_math(title))
        label(ax, keys, queries)
    for ax in shown[-across:]:  # the lowest of each column, also above an unused place
        ax.tick_params(labelbottom=True)
    for ax in unused:
        ax.remove()
    figure.colorbar(image, ax=list(shown), shrink=0.6)
    return shown


def show_alignment(
    weights: Tensor,
    source: Tokens,
    target: Tokens,
    alignment: Sequence[Sequence[int]] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw one sentence's attention weights, with a dot where the gold alignment is.

    Parameters
    ----------
    weights : Tensor, shape (target tokens, source positions)
        As in `Translation.weights`.
    source, target : str or sequence of str
        Tokens; a string is split at white space. Where the weights have one position more than the source, it
        is labelled ``<eos>``.
    alignment : sequence of sequences of int, optional
        For each target token its gold source positions, counted from 0, as in `Pair.alignment`.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    weights = check_matrices("weights", weights, (2,))
    rows, columns = weights.shape
    ending = ["<eos>"] if len(tokens_of(source)) == columns - 1 else []
    source_names = check_labels("source", [*tokens_of(source), *ending], columns)
    target_names = check_labels("target", target, rows)
    if alignment is not None:
        check_alignment("alignment", alignment, rows, columns)
    if ax is not None:
        check_type("ax", ax, Axes, "Axes of matplotlib")
    else:
        _, ((ax,),) = plt.subplots(figsize=grid_size(1, 1, rows, columns), **GRID)
    draw(ax, weights, 0.0, 1.0, WEIGHTS)
    label(ax, source_names, target_names)
    for row, gold in enumerate(alignment or ()):
        for position in gold:
            ax.scatter(position, row, s=45, color=GOLD, edgecolors="white", linewidths=1.0, zorder=3)
    return ax


def draw(ax: Axes, matrix: Tensor, low: float, high: float, cmap: str) -> Any:
    """Draw one matrix, every cell a square, and return the picture."""
    ax.tick_params(labelsize=FONT_SIZE)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    return ax.imshow(matrix.numpy(), cmap=cmap, vmin=low, vmax=high, aspect="equal")


def label(ax: Axes, columns: Sequence[str] | None, rows: Sequence[str] | None) -> None:
    """Write tokens under the columns and beside the rows, a dollar sign too as it is."""
    style: Any = {"fontfamily": font_families(), "parse_math": False}
    if columns is not None:
        names = list(map(legible, columns))
        ax.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor", **style)
        for tick, token in zip(ax.xaxis.get_major_ticks(len(names)), columns, strict=True):
            if token in STOPS:
                tick.label1.set(rotation=0, ha="center")
    if rows is not None:
        ax.set_yticks(range(len(rows)), map(legible, rows), **style)


def legible(token: str) -> str:
    """Return a token as a label; a lone full stop gets quotation marks, or it would look like a speck."""
    return f"“{token}”" if token in STOPS else token


def is_math(text: str) -> bool:
    """Tell whether matplotlib can read the formulas in a text; where it cannot, ``$`` is a dollar sign."""
    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return False
    return True


def font_families() -> list[str]:
    """Return the usual font and the installed ones of `WIDE_FONTS`.

    matplotlib takes each character from the first that has it, and warns of those that none has.
    """
    installed = font_manager.get_font_names()
    return [*plt.rcParams["font.family"], *(name for name in WIDE_FONTS if name in installed)]


def grid_size(rows: int, columns: int, queries: int, keys: int) -> tuple[float, float]:
    """Return a figure's size in inches: cells of the usual size, or smaller where it would be too wide."""
    cell = max(USUAL_CELL, 1.4 / max(queries, keys))
    wanted = columns * (keys * cell + BESIDE)
    width = min(MAX_WIDTH, wanted + COLOUR_BAR)
    scale = (width - COLOUR_BAR) / wanted
    return width, rows * (queries * cell * scale + 0.5) + 0.9


def check_matrices(name: str, matrices: Tensor, dims: tuple[int, ...]) -> Tensor:
    """Return `matrices` detached, on the CPU, in float32; raise unless there are as many axes as allowed."""
    check_type(name, matrices, Tensor, "a tensor")
    if matrices.dim() not in dims or matrices.numel() == 0:
        allowed = " or ".join(map(str, dims))
        raise ValueError(f"{name} must have {allowed} axes, none of size 0, got {tuple(matrices.shape)}")
    real = None if matrices.is_complex() else matrices.detach().to("cpu", torch.float32)
    if real is None or not real.isfinite().all():
        raise ValueError(f"{name} must hold finite real numbers, got others")
    return real


def check_labels(name: str, tokens: Tokens | None, size: int) -> list[str] | None:
    """Return the tokens, if any; raise unless there are as many as positions."""
    if tokens is None:
        return None
    labels = tokens_of(tokens, name)
    if len(labels) != size:
        raise ValueError(f"{name} must be as many as there are places, {size}, got {len(labels)}")
    return labels
