"""The home page, with the chapters as cards, and the small pictures of chapters that others show."""

import base64
import io
import re
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx

from tools.course import parsed_notebook

from .edition import interface_words
from .plain import plain
from .renderer import CONTENTS

LANGUAGES = "<!-- languages -->"  # the template puts the list of the editions here
WIDTH = 640  # of a card's picture: enough for a sharp screen
STATIC = Path(__file__).parents[1] / "theme" / "static"
WITH_WALK = ("index", "transformer")  # pages whose share picture is the walk
SHARE_SIZE, SHARE_MARGIN, SHARE_COLOUR = (1200, 630), 70, "#0b4f8a"  # pixels
FRAME = 30  # pixels of white around the picture
PLOTS = {  # the part of a chapter's plot that its card shows, as in viewBox; a drawing by hand names its own
    "attention-pooling": "34 0 148 160",
    "bahdanau-attention": "66 5 229 165",
    "multi-head-attention": "186 10 168 174",
    "long-contexts": "28 0 262 144",
    "language-models": "0 4 200 112",
}


def start_button(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add to the start link the minutes of the chapter it leads to, and after it the languages."""
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if "start" in paragraph["classes"]:
            link = next(paragraph.findall(nodes.reference))
            link["refuri"] = link["refuri"].partition("#")[0]  # above the title stand the page's contents
            target = link["refuri"].removesuffix(".html")
            first = str(PurePosixPath(docname).with_name(target))
            if minutes := app.env.metadata.get(first, {}).get("minutes"):
                link += nodes.Text(" · " + interface_words(app.config)["minutes"].format(n=minutes))
            paragraph.parent.insert(
                paragraph.parent.index(paragraph) + 1, nodes.raw("", LANGUAGES, format="html")
            )


def store_lead(app: Sphinx, doctree: nodes.document) -> None:
    """Store a card's text for a page that is not a notebook: its first paragraph."""
    if paragraph := next(doctree.findall(nodes.paragraph), None):
        app.env.metadata[app.env.docname].setdefault("lead", plain(paragraph))


def small_picture(folder: Path, address: str, stem: str) -> tuple[str, int, int] | None:
    """Return address and size of a small copy, or of a part of a drawing; None for a drawing without one."""
    if address.endswith(".svg"):
        return part_of_drawing(folder, address, PLOTS.get(stem))
    small = address.replace(".webp", "-small.webp")
    picture = Image.open(folder / address).convert("RGBA")
    paper = Image.new("RGBA", picture.size, "white")
    paper.alpha_composite(picture)
    paper = paper.convert("RGB")
    paper.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    paper.save(folder / small, quality=85)
    return small, *paper.size


def part_of_drawing(folder: Path, address: str, plot: str | None) -> tuple[str, int, int] | None:
    """Return the part that a drawing names as `<view id="card">`, or else this part of a plot."""
    drawing = (folder / address).read_text(encoding="utf-8")
    named = re.search(r'<view id="card" viewBox="([^"]+)"/>', drawing)
    if not (part := named[1] if named else plot):
        return None
    _, _, width, height = part.split()
    own = {"viewBox": part, "width": width, "height": height}
    card = address.replace(".svg", "-card.svg")
    drawing = re.sub(
        r'(?<=\s)(viewBox|width|height)="[^"]*"', lambda side: f'{side[1]}="{own[side[1]]}"', drawing, count=3
    )
    (folder / card).write_text(drawing, encoding="utf-8")
    return card, int(width), int(height)


def stored_picture(notebook: Path, key: str | None) -> bytes | None:
    """Return the picture that a notebook stores in a cell: other sites take no drawings."""
    cells = parsed_notebook(notebook.read_text(encoding="utf-8")).cells if key else ()
    outputs = [output.get("data", {}) for cell in cells if cell["id"] == key for output in cell["outputs"]]
    return next((base64.b64decode(data["image/png"]) for data in outputs if "image/png" in data), None)


def share_picture(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree) -> None:
    """Name a page's share image, where the site has an address: the walk, or an opening picture on blue."""
    if not app.config.html_baseurl:
        return
    base, language = app.config.html_baseurl.rstrip("/"), app.config.course_language
    walk = STATIC / f"walk-{language}.png"
    if PurePosixPath(page).name in WITH_WALK and walk.exists():
        context["share_picture"] = f"{base}/_shared/{walk.name}"
        return
    cell = app.env.metadata.get(page, {}).get("pictured")
    if not (stored := stored_picture(Path(app.env.doc2path(page)), cell)):
        return
    name = f"_images/share-{PurePosixPath(page).name}.png"
    share_card(stored).convert("RGB").quantize(128).save(Path(app.outdir, name), optimize=True)
    context["share_picture"] = f"{base}/{language}/{name}"


def share_card(stored: bytes) -> Image.Image:
    """Return a picture with a white frame, in the middle of a card of the size that other sites show."""
    picture = Image.open(io.BytesIO(stored)).convert("RGBA")
    width, height = SHARE_SIZE
    room = width - 2 * SHARE_MARGIN, height - 2 * SHARE_MARGIN
    scale = min(room[0] / picture.width, room[1] / picture.height)
    picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
    left, top = (width - picture.width) // 2, (height - picture.height) // 2
    right, bottom = left + picture.width, top + picture.height
    card = Image.new("RGBA", SHARE_SIZE, SHARE_COLOUR)
    card.paste("white", (left - FRAME, top - FRAME, right + FRAME, bottom + FRAME))
    card.alpha_composite(picture, (left, top))
    return card


def context_of_home(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree) -> str | None:
    """Give the home page a template of its own, and a small picture of each chapter."""
    if page != app.config.root_doc:
        return None
    for part in context["parts"]:
        for chapter in part["pages"]:
            if chapter["picture"]:
                small = small_picture(Path(app.outdir, page).parent, chapter["picture"][0], chapter["stem"])
                chapter["picture"], chapter["width"], chapter["height"] = small or chapter["picture"]
    context["languages_mark"] = LANGUAGES
    context["before_contents"], _, context["after_contents"] = context["body"].partition(CONTENTS)
    return "home.html"


def setup(app: Sphinx) -> None:
    """Hook into the home page."""
    app.connect("doctree-read", store_lead)
    app.connect("doctree-resolved", start_button)
    app.connect("html-page-context", context_of_home)
    app.connect("html-page-context", share_picture)
