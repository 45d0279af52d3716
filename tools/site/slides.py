"""List what teachers can put on a slide: each picture as a file, each moving part with its address."""

from html import escape
from pathlib import PurePosixPath

from docutils import nodes
from sphinx.application import Sphinx

from .extension.edition import course_of, interface_words
from .extension.renderer import CaptionedPicture
from .live import PREFIX, Place, places_on

TEACHING, PICTURES = "teaching", "pictures"  # the page and its passage that has the list


def add_slides(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add the pictures and moving parts of each page below the passage on pictures for slides."""
    page = PurePosixPath(docname)
    section = next((part for part in doctree.findall(nodes.section) if PICTURES in part["ids"]), None)
    if page.name == TEACHING and section is not None:
        lists = (slides(app, page.with_name(stem)) for stem in course_of(app.config).pages)
        section += nodes.raw("", "".join(lists), format="html")


def slides(app: Sphinx, page: PurePosixPath) -> str:
    """Return a page's title, its pictures and its moving parts; nothing where it has neither."""
    pictures = app.env.metadata.get(str(page), {}).get("pictures", [])
    links = [picture_link(page.name, picture) for picture in pictures]
    moving = [moving_link(app, place) for place in places_on(page.name)]
    title = f'<p><a href="{page.name}.html">{escape(app.env.titles[str(page)].astext())}</a></p>'
    rows = "".join(f"<ul>{''.join(items)}</ul>" for items in (links, moving) if items)
    return f'<div class="slides">{title}{rows}</div>' if rows else ""


def picture_link(stem: str, picture: CaptionedPicture) -> str:
    """Return a small picture that is saved under the names of its page and cell."""
    name = f"{stem}-{picture.cell}{PurePosixPath(picture.address).suffix}"
    address, seen = escape(picture.address), escape(picture.seen)
    size = f'width="{picture.width}" height="{picture.height}" loading="lazy" decoding="async"'
    image = f'<img src="{address}" alt="{seen}" {size}>'
    return f'<li><a href="{address}" download="{name}" title="{seen}">{image}</a></li>'


def moving_link(app: Sphinx, place: Place) -> str:
    """Return a link that opens a component with nothing else on its page."""
    text = interface_words(app.config)[f"{PREFIX}{place.component}.open"]
    return f'<li><a href="{place.page}.html?embed#play-{place.component}">{escape(text)}</a></li>'


def setup(app: Sphinx) -> dict[str, object]:
    """Add the list when all pages are read."""
    app.connect("doctree-resolved", add_slides)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
