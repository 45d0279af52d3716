"""Stored outputs into documents: text, tables, formulas and pictures."""

import base64
import hashlib
import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath

from docutils import nodes
from PIL import Image
from sphinx.util.osutil import relative_uri

from tools.editions import drawings

from .drawings import lettered
from .edition import course_of, interface_words

FOLDER = "_images"
CARD = b'<view id="card"'


@dataclass
class Picture:
    """A picture in a file beside the pages."""

    address: str
    width: int
    height: int
    for_card: bool = False  # True for a drawing with a part for a card
    drawing: str = ""  # SVG to write into the page itself

    def html(self, text: str, enlarge: str) -> str:
        """Return its element, a link to itself; the size is written so that nothing jumps while it loads."""
        address, size = escape(self.address), f'width="{self.width}" height="{self.height}"'
        image = f'<img src="{address}" alt="{escape(text)}" {size} loading="lazy" decoding="async">'
        if self.drawing:
            image = self.drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(text)}" ', 1)
        return f'<a class="enlarge" href="{address}" title="{escape(enlarge)}">{image}</a>'


def output_nodes(cell: dict, environment) -> Iterator[nodes.Node | Picture]:
    """Yield a cell's outputs, printed, returned and drawn, in their order."""
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            yield text_block(output["text"])
        elif output["output_type"] == "error":
            yield text_block("\n".join(re.sub(r"\x1b\[[\d;]*m", "", line) for line in output["traceback"]))
        else:
            yield drawing_of(cell, output, environment) or richest_form(output, environment)


def drawing_of(cell: dict, output: dict, environment) -> Picture | None:
    """Return the drawing that `sync` keeps of a figure, in the reader's language."""
    course = course_of(environment.config)
    path = drawings.path(PurePosixPath(environment.docname).name, cell["id"])
    if "image/png" not in output["data"] or not (drawing := course.text(path)):
        return None
    environment.note_dependency(str(course.root / path))
    language = course.languages[environment.config.course_language]
    drawing = lettered(drawing, interface_words(environment.config), language)
    head = f'<svg class="drawing" lang="{language.html}" font-family="sans-serif" '
    drawing = drawing.replace("<svg ", head, 1)
    picture = store(drawing.encode(), "svg", environment, svg_size(drawing))
    picture.drawing = drawing
    return picture


def richest_form(output: dict, environment) -> nodes.Node | Picture:
    """Return one result in the richest of its forms that a page can show."""
    data = output["data"]
    if "image/svg+xml" in data:
        language = course_of(environment.config).languages[environment.config.course_language]
        drawing = lettered(data["image/svg+xml"], interface_words(environment.config), language)
        return store(drawing.encode(), "svg", environment, svg_size(drawing))
    if "image/png" in data:
        content = base64.b64decode(data["image/png"])
        stored = output.get("metadata", {}).get("image/png", {})
        width, height = struct.unpack(">II", content[16:24])
        size = (stored.get("width", width), stored.get("height", height))
        return store(content, "webp", environment, size)
    if "text/html" in data:
        return nodes.raw("", f'<div class="output wide">{data["text/html"]}</div>', format="html")
    if "text/latex" in data:
        formula = data["text/latex"].strip().strip("$")
        return nodes.math_block(formula, formula, nowrap=False, number=None, label=None)
    return text_block(data.get("text/plain", ""))


def text_block(text: str) -> nodes.literal_block:
    """Return plain text, as printed."""
    text = text.rstrip("\n")
    return nodes.literal_block(text, text, language="none", classes=["output"])


def svg_size(svg: str) -> tuple[int, int]:
    """Return width and height of a drawing, from its viewBox where it does not say them."""
    sides = [re.search(rf'<svg[^>]*\s{side}="([\d.]+)(?:px)?"', svg) for side in ("width", "height")]
    if all(sides):
        return tuple(round(float(side[1])) for side in sides)
    box = re.search(r'viewBox="([^"]+)"', svg)
    _, _, width, height = map(float, re.split(r"[\s,]+", box[1].strip())) if box else (0, 0, 600, 600)
    return round(width), round(height)


def store(content: bytes, suffix: str, environment, size: tuple[int, int]) -> Picture:
    """Write a picture under a name made from its content, so that caches never go stale.

    What a notebook stores as PNG becomes WebP without loss: the same pixels in about two fifths of the bytes.
    """
    name = f"{hashlib.sha256(content).hexdigest()[:16]}.{suffix}"
    builder = environment.app.builder
    target = Path(builder.outdir) / FOLDER / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if suffix == "svg":
        target.write_bytes(content)
    elif not target.exists():
        Image.open(io.BytesIO(content)).save(target, lossless=True, quality=100)
    address = relative_uri(builder.get_target_uri(environment.docname), f"{FOLDER}/{name}")
    return Picture(address, *size, for_card=CARD in content)
