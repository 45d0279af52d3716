"""Figures with their labels in the reader's language, written over the picture that the notebook stores.

Code, and so its figures, is the same in every language; `book/drawn.py` notes where a figure has words.
"""

import io
import re
from contextlib import suppress
from functools import cache

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

PREFIX = "figure."  # of what these words are called in words.yml
DOTS, POINTS = 200, 72  # of an inch: in a stored picture, in type
MARGIN = 2  # pixels that are cleared around a label
DECIMAL = re.compile(r"[-\u2212]?\d+\.\d+")
PHRASE = re.compile(r"[a-z]+(?: [a-z]+)*")
HAN = re.compile(r"[\u4e00-\u9fff]+")
CHINESE = ("Noto Sans CJK TC", "Noto Sans TC", "PingFang TC", "Microsoft JhengHei", "Noto Sans CJK JP")


@cache
def fonts() -> list[str]:
    """Return the figures' font, then this machine's fonts for the characters that it lacks."""
    if not set(CHINESE) & set(font_manager.get_font_names()):
        add_new_fonts()
    known = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in CHINESE if name in known)]


def add_new_fonts() -> None:
    """Tell matplotlib of the fonts that were installed after it had listed the machine's."""
    listed = {font.fname for font in font_manager.fontManager.ttflist}
    for path in set(font_manager.findSystemFonts()) - listed:
        with suppress(OSError, RuntimeError):  # not a font that matplotlib can read
            font_manager.fontManager.addfont(path)


def lacks_font(words: dict[str, str]) -> bool:
    """Return whether labels stay English because no font here has their characters."""
    labels = "".join(word for key, word in words.items() if key.startswith(PREFIX))
    return bool(HAN.search(labels)) and len(fonts()) == 1


def translated(label: str, words: dict[str, str], decimal: str) -> str:
    """A label in the language. Names stay, as do labels that no font here can write or that have formulas."""
    if "$" in label:
        return label
    label = DECIMAL.sub(lambda found: found[0].replace(".", decimal), label)
    whole = words.get(PREFIX + label)  # of a label with digits, too
    new = whole or PHRASE.sub(lambda found: words.get(PREFIX + found[0], found[0]), label)
    return new if max(new) < "\u2e80" or len(fonts()) > 1 else label


def colours(place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The paper of a label, its commonest colour, and the ink, the colour that is farthest from that."""
    shades, counts = np.unique(place.reshape(-1, 4) / 255, axis=0, return_counts=True)
    paper = shades[counts.argmax()]
    return paper, shades[np.abs(shades - paper).sum(1).argmax()]


def lettered(picture: bytes, labels: list[str], words: dict[str, str], decimal: str = ".") -> bytes:
    """The picture, a PNG, with labels and decimals as the language writes them."""
    placed = [label.split(" ", 6) for label in labels]
    changed = [(new, *place) for *place, old in placed if (new := translated(old, words, decimal)) != old]
    if not changed:
        return picture
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGBA"))
    height, width, _ = pixels.shape
    figure = Figure((width / DOTS, height / DOTS), DOTS)
    figure.figimage(pixels)
    for label, *numbers, side in changed:
        left, top, across, down, size = map(int, numbers)
        turned = down > across
        if turned and HAN.fullmatch(label):  # one character above the other
            label, turned = "\n".join(label), False
        corner = left - MARGIN, height - top - down - MARGIN
        paper, ink = colours(pixels[top : top + down, left : left + across])
        figure.add_artist(
            Rectangle(corner, across + 2 * MARGIN, down + 2 * MARGIN, color=paper, transform=None)
        )
        figure.text(
            {"left": left, "center": left + across / 2, "right": left + across}[side],
            height - top - down / 2,
            label,
            color=ink,
            fontfamily=fonts(),
            fontsize=size * POINTS / DOTS,
            rotation="vertical" if turned else "horizontal",
            horizontalalignment=side,
            verticalalignment="center",
            transform=None,
        )
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS)
    return file.getvalue()
