"""Pictures: what is drawn is what was given, labels fit, every character is in a font."""

import itertools
import warnings
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib import font_manager
from matplotlib.axes import Axes

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from mha_course import plot
from mha_course.plot import diagram, show_alignment, show_heads, show_heatmaps

SOURCE = ["the", "red", "house", "is", "big", "."]
TARGET = ["la", "maison", "rouge", "est", "grande", "."]
SVG = "{http://www.w3.org/2000/svg}"
SHOWN_SOURCE, SHOWN_TARGET = ([*tokens[:-1], "“.”"] for tokens in (SOURCE, TARGET))


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def weights(*shape):
    torch.manual_seed(0)
    return torch.rand(*shape).softmax(-1)


def drawn(ax):
    return torch.tensor(ax.images[0].get_array())


def texts(ticks):
    return [tick.get_text() for tick in ticks]


def fits_a_page(ax):
    """At most 5.5 inches wide, white, and no text below 10 points, which a phone shows as 9."""
    figure = ax.figure
    figure.canvas.draw()
    words = [t for a in figure.axes for t in [*a.get_xticklabels(), *a.get_yticklabels(), a.title]]
    sizes = [word.get_fontsize() for word in words]
    white = matplotlib.colors.to_rgba("white")
    return figure.get_size_inches()[0] <= 5.5 and min(sizes) >= 10 and figure.get_facecolor() == white


def has_a_colour_bar(ax):
    return sum(a.get_label() == "<colorbar>" for a in ax.figure.axes) == 1


# ---- heat-maps


def test_heatmaps_show_each_matrix_in_its_place_and_one_scale():
    matrices = weights(2, 3, 4, 5)
    axes = show_heatmaps(matrices, "k", "q", titles=["a", "b", "c"])
    assert axes.shape == (2, 3) and all(isinstance(ax, Axes) for ax in axes.flat)
    for row in range(2):
        for column in range(3):
            assert torch.equal(drawn(axes[row, column]), matrices[row, column])
            assert axes[row, column].images[0].get_clim() == (0.0, matrices.max().item())
    assert [ax.get_title() for ax in axes[0]] == ["a", "b", "c"]
    assert [ax.get_xlabel() for ax in axes.flat] == ["", "", "", "k", "k", "k"]
    assert [ax.get_ylabel() for ax in axes.flat] == ["q", "", "", "q", "", ""]
    assert fits_a_page(axes[0, 0])
    assert has_a_colour_bar(axes[0, 0])


def test_a_heat_map_is_read_like_a_table():
    """First row above, first column left, darker is more, each cell a square of one colour."""
    ax = show_heatmaps(torch.tensor([[1.0, 0.5], [0.0, 0.0], [0.0, 0.25]]))[0, 0]
    figure = ax.figure
    figure.canvas.draw()
    pixels = torch.tensor(np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float)).mean(-1)

    def brightness(row, column, away=0.0):
        x, y = ax.transData.transform((column + away, row + away))
        return pixels[len(pixels) - 1 - int(y), int(x)].item()

    order = [brightness(0, 0), brightness(0, 1), brightness(2, 1), brightness(0 + 1, 0)]
    assert order == sorted(order) and len(set(order)) == 4
    assert all(brightness(0, 0, away) == brightness(0, 0) for away in (-0.4, -0.2, 0.2, 0.4))
    left, top = ax.transData.transform((0, 0))
    right, below = ax.transData.transform((1, 1))
    assert right - left == pytest.approx(top - below)


def test_size_and_colours_can_be_given():
    ax = show_heatmaps(weights(2, 3), figsize=(3, 2), cmap="Reds")[0, 0]
    assert ax.figure.get_size_inches().tolist() == [3, 2] and ax.images[0].get_cmap().name == "Reds"


@pytest.mark.parametrize(("shape", "grid"), [((4, 5), (1, 1)), ((3, 4, 5), (1, 3)), ((2, 3, 4, 5), (2, 3))])
def test_fewer_axes_make_smaller_grids(shape, grid):
    axes = show_heatmaps(weights(*shape))
    assert axes.shape == grid
    assert torch.equal(drawn(axes[-1, -1]), weights(*shape).reshape(-1, 4, 5)[-1])


def test_equal_weights_are_not_drawn_as_nothing():
    low, high = show_heatmaps(torch.full((3, 3), 1 / 3))[0, 0].images[0].get_clim()
    assert low == 0 and high == pytest.approx(1 / 3)


def test_negative_scores_widen_the_scale():
    assert show_heatmaps(torch.tensor([[-2.0, 1.0]]))[0, 0].images[0].get_clim() == (-2, 1)


def test_positions_are_whole_numbers():
    ax = show_heatmaps(weights(3, 3))[0, 0]
    assert all(position == int(position) for position in [*ax.get_xticks(), *ax.get_yticks()])


def test_tensors_of_a_graph_in_any_precision_are_drawn_and_left_as_they_are():
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.bool):
        matrix = torch.eye(3, dtype=dtype)
        if dtype.is_floating_point:
            matrix.requires_grad_()
        assert torch.equal(drawn(show_heatmaps(matrix)[0, 0]), torch.eye(3))
        assert matrix.dtype == dtype


# ---- heads


@pytest.mark.parametrize("heads", [1, 5])
def test_every_head_has_its_picture_in_a_grid(heads):
    given = weights(heads, 6, 6)
    axes = show_heads(given, TARGET, SOURCE)
    assert axes.shape == (heads,)
    for head in range(heads):
        assert torch.equal(drawn(axes[head]), given[head])
        assert axes[head].images[0].get_clim() == (0, 1)
        assert axes[head].get_title() == str(head)
    assert texts(axes[0].get_yticklabels()) == SHOWN_TARGET
    assert fits_a_page(axes[0])
    assert has_a_colour_bar(axes[0])
    assert len(axes[0].figure.axes) == heads + 1  # no empty ones
    assert len({round(ax.get_position().x0, 3) for ax in axes}) == min(heads, 3)


@pytest.mark.parametrize(("keys", "columns"), [(2, 4), (6, 3), (30, 1)])
def test_fewer_pictures_a_row_leave_room_for_more_tokens(keys, columns):
    axes = show_heads(weights(8, 3, keys), None, ["t"] * keys)
    axes[0].figure.canvas.draw()
    assert len({round(ax.get_position().x0, 3) for ax in axes}) == columns
    if columns > 1:
        assert axes[0].get_position().width * axes[0].figure.get_size_inches()[0] >= keys * 0.14


def test_the_lowest_picture_of_each_column_has_its_tokens_written():
    axes = show_heads(weights(5, 6, 6), TARGET, SOURCE)
    axes[0].figure.canvas.draw()
    written = [any(tick.label1.get_visible() for tick in ax.xaxis.get_major_ticks()) for ax in axes]
    assert written == [False, False, True, True, True]
    assert all(texts(ax.get_xticklabels()) == SHOWN_SOURCE for ax in axes[2:])


def test_heads_without_tokens_are_numbered_and_titles_can_be_given():
    axes = show_heads(weights(2, 3, 3), titles=["x", "y"])
    assert [ax.get_title() for ax in axes] == ["x", "y"]
    assert all(position == int(position) for position in axes[0].get_xticks())


# ---- alignments


def test_gold_dots_stand_where_the_gold_alignment_is():
    given = weights(6, 6)
    ax = show_alignment(given, SOURCE, TARGET, [(0,), (2,), (1,), (3,), (), (4, 5)])
    assert torch.equal(drawn(ax), given)
    dots = {tuple(map(int, xy)) for dot in ax.collections for xy in dot.get_offsets()}
    assert dots == {(0, 0), (2, 1), (1, 2), (3, 3), (4, 5), (5, 5)}
    assert texts(ax.get_xticklabels()) == SHOWN_SOURCE and texts(ax.get_yticklabels()) == SHOWN_TARGET
    assert [text.get_rotation() for text in ax.get_xticklabels()] == [60] * 5 + [0]
    assert ax.images[0].get_clim() == (0, 1)
    assert fits_a_page(ax)


def test_gold_dots_stand_out_from_every_cell():
    """They lie above the picture, opaque, and no shade of the map comes near their colour."""
    ax = show_alignment(torch.eye(2), "a b", "a b", [(0,), (0, 1)])
    for dot in ax.collections:
        assert dot.get_zorder() > ax.images[0].get_zorder()
        (colour,) = torch.tensor(dot.get_facecolor())
        assert colour[3] == 1
        shades = torch.tensor(ax.images[0].get_cmap()(np.linspace(0, 1, 50)))
        assert (shades[:, :3] - colour[:3]).norm(dim=-1).min() > 0.4


def test_without_gold_there_are_no_dots():
    assert not show_alignment(weights(6, 6), SOURCE, TARGET).collections
    assert not show_alignment(weights(6, 6), SOURCE, TARGET, [()] * 6).collections


def test_one_position_more_than_the_source_is_labelled_eos():
    ax = show_alignment(weights(6, 7), " ".join(SOURCE), " ".join(TARGET))
    assert texts(ax.get_xticklabels()) == [*SHOWN_SOURCE, "<eos>"]


DOLLARS = ["$$", "$", "$a$", "\\$", "$\\frac$", "a_b^c", "$5", "\\alpha"]


def test_tokens_are_drawn_as_they_are_also_with_dollar_signs():
    """matplotlib takes what lies between two dollar signs for a formula, and fails where it is none."""
    size = len(DOLLARS)
    ax = show_alignment(torch.rand(size, size), DOLLARS, DOLLARS)
    axes = show_heads(torch.rand(2, size, size), DOLLARS, DOLLARS, titles=["$$", "$\\frac$"])
    ax.figure.canvas.draw()
    axes[0].figure.canvas.draw()
    for drawn in (ax, axes[0]):  # the heads share their rows
        for tick in (*drawn.get_xticklabels(), *drawn.get_yticklabels()):
            assert tick.get_parse_math() is False
        assert [tick.get_text() for tick in drawn.get_yticklabels()] == DOLLARS


def test_titles_and_names_of_axes_may_hold_formulas_and_need_not():
    axes = show_heatmaps(torch.rand(3, 2, 2), "$$", "$k$", titles=["$QK^\\top$", "$\\frac$", ""])
    axes[0, 0].figure.canvas.draw()
    texts = (*(ax.title for ax in axes[0]), axes[0, 0].xaxis.label, axes[0, 0].yaxis.label)
    assert [text.get_parse_math() for text in texts] == [True, False, True, False, True]


def test_an_alignment_can_be_drawn_into_given_axes():
    _, axes = plt.subplots(1, 2)
    assert show_alignment(weights(6, 6), SOURCE, TARGET, ax=axes[1]) is axes[1]
    assert not axes[0].images and len(plt.get_fignums()) == 1


# ---- fonts


def drawn_pixels(source, target):
    figure = show_alignment(weights(len(target), len(source)), source, target).figure
    figure.canvas.draw()
    return bytes(figure.canvas.buffer_rgba())


def test_letters_of_english_french_turkish_and_vietnamese_keep_the_usual_font(monkeypatch):
    source, target = ["çéœ", "ğıİşü", "<eos>"], ["ơưạếữđ", "ₜ→"]
    with_wide_fonts = drawn_pixels(source, target)
    monkeypatch.setattr(plot, "WIDE_FONTS", ())
    assert with_wide_fonts == drawn_pixels(source, target)


def wide_font():
    installed = font_manager.get_font_names()
    return next((name for name in plot.WIDE_FONTS if name in installed), None)


@pytest.mark.skipif(wide_font() is None, reason="needs a font with Chinese characters")
def test_chinese_tokens_get_a_font_that_has_them_without_any_message(caplog):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a missing glyph matplotlib warns
        ax = show_alignment(weights(3, 6), SOURCE, ["這", "間", "房子"])
        ax.figure.canvas.draw()
    assert wide_font() in ax.get_yticklabels()[0].get_fontfamily()
    assert not caplog.messages


def test_characters_that_no_font_has_are_named_by_matplotlib(monkeypatch, caplog):
    monkeypatch.setattr(plot, "WIDE_FONTS", ("No Such Font TC", "Nor This"))
    with pytest.warns(UserWarning, match="Glyph 25151 .* missing from"):
        drawn_pixels(SOURCE, ["房", "x"])
    assert not caplog.messages


# ---- diagrams


def seen_without_green_cones(colour):
    """Return a colour as seen with deuteranopia (Viénot, Brettel & Mollon, 1999), in linear RGB."""
    rgb = torch.tensor(matplotlib.colors.to_rgb(colour)) ** 2.2
    return torch.tensor([[0.29, 0.71, 0.0], [0.29, 0.71, 0.0], [-0.02, 0.02, 1.0]]) @ rgb


def test_queries_keys_values_and_outputs_can_be_told_apart_without_green_cones():
    colours = [seen_without_green_cones(c) for c in (plot.QUERY, plot.KEY, plot.VALUE, plot.OUTPUT)]
    distances = [(one - other).norm() for one, other in itertools.combinations(colours, 2)]
    assert min(distances) > 0.1
    red, green = (seen_without_green_cones(c) for c in ("#b03000", "#506000"))
    assert (red - green).norm() < 0.1


def drawings() -> list[ElementTree.Element]:
    """Return all drawings of the package."""
    with pytest.raises(ValueError, match=r"name must be one of .*, got 'nothing'") as error:
        diagram("nothing")
    names = str(error.value).removeprefix("name must be one of ").split(", got ")[0].split(", ")
    assert all(diagram(name.strip("'"))._repr_svg_() == diagram(name.strip("'")).svg for name in names)
    return [ElementTree.fromstring(diagram(name.strip("'")).svg) for name in names]


def test_every_drawing_of_the_package_is_found_and_is_svg():
    assert len(drawings()) >= 1
    assert {drawing.tag for drawing in drawings()} == {f"{SVG}svg"}


def test_drawings_are_by_one_hand():
    """Words have one face, formulas a second, code a third; the ground has no frame."""
    faces = {node.get("font-family") for drawing in drawings() for node in drawing.iter()} - {None}
    assert len({drawing.get("font-family") for drawing in drawings()}) == 1
    assert len(faces) == 3
    assert {drawing.find(f"{SVG}rect").get("stroke") for drawing in drawings()} == {None}
