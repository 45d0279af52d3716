"""A Sphinx extension for what moves on the pages: components that a reader starts with a button.

`places.toml` says after which cell of which page a component stands. The page then holds a button, the words
of the component in the reader's language, and `scripts/live.js`, which loads the component and the network it
needs when the button is pressed. The figure above stays, for print and for readers without scripts.
"""

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from tools.site.extension.edition import course_of, interface_words, short_digest
from tools.site.extension.writer import Box, unbroken

HERE = Path(__file__).parent
FILES = [*sorted((HERE / "scripts").iterdir()), *sorted((HERE / "models").glob("*.js"))]
PREFIX = "live."


@dataclass(frozen=True)
class Place:
    """A row of `places.toml`: where a component stands."""

    page: str
    cell: str
    component: str
    before: bool = False  # before its cell, not after it
    plays: bool = False  # a stored run plays before the button is pressed
    targets: str = ""  # a kind of network of which there is one for each target language
    words: str = ""  # another component, whose words it has too
    sections: dict[str, str] = field(default_factory=dict)  # cells whose sections lead to one of its steps


@cache
def places() -> list[Place]:
    """Return the places of all components."""
    rows = tomllib.loads((HERE / "places.toml").read_text(encoding="utf-8"))["place"]
    return [Place(**row) for row in rows]


def places_on(page: str) -> list[Place]:
    """Return the places on a page, which may be in a folder."""
    return [place for place in places() if place.page == page.rpartition("/")[2]]


@cache
def digest() -> str:
    """Return the digest of all files."""
    return short_digest(path.read_bytes() for path in FILES)


def words_of(component: str, all_words: dict[str, str], other: str = "") -> dict[str, str]:
    """Return a component's words without prefixes: its own, else `other`'s, else those that all share."""
    by_component: dict[str, dict[str, str]] = {}
    for key, word in all_words.items():
        if key.startswith(PREFIX):
            owner, _, name = key.removeprefix(PREFIX).rpartition(".")
            by_component.setdefault(owner, {})[name] = word
    return by_component[""] | by_component.get(other, {}) | by_component.get(component, {})


def targets(kind: str) -> list[str]:
    """Return the languages into which the networks of a kind translate."""
    return [path.stem.removeprefix(f"{kind}-") for path in FILES if path.match(f"{kind}-*.js")]


def markup(app: Sphinx, place: Place) -> str:
    """Return the button that starts a component, and the data for its script."""
    component, course, code = place.component, course_of(app.config), app.config.course_language
    language = course.languages[code]
    words = words_of(component, interface_words(app.config), place.words)
    facts = {
        "code": language.code,
        "locale": language.locale or language.html,
        "spaces": language.spaces,
        "decimal": language.decimal,
        "thousands": language.thousands_sign,
    }
    data = {
        "live": component,
        "language": json.dumps(facts, ensure_ascii=False),
        "words": unbroken(course, code, json.dumps(words, ensure_ascii=False)),
    }
    if place.targets:
        data["targets"] = json.dumps(targets(place.targets))
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    button = f'<button class="button" type="button">{escape(words["open"])}</button>'
    hero = short_walk(app) if place.plays else ""
    return f'<div class="live" id="play-{component}"{attributes}>{hero}{button}</div>'


def step_link(app: Sphinx, place: Place, step: str) -> str:
    """Return a link that starts a component at one of its steps."""
    label = words_of(place.component, interface_words(app.config), place.words)["see"]
    return f'<p class="live-step"><a href="#play-{place.component}?step={step}">{escape(label)}</a></p>'


def short_walk(app: Sphinx) -> str:
    """Return the place of the walk's short form, with a run into the edition's language, else the first."""
    runs = {path.stem.removeprefix("run-"): path for path in sorted((HERE / "models").glob("run-*.json"))}
    code = app.config.course_language if app.config.course_language in runs else next(iter(runs))
    run = json.dumps({"lang": code, **json.loads(runs[code].read_text(encoding="utf-8"))}, ensure_ascii=False)
    words = json.dumps(words_of("hero", interface_words(app.config)), ensure_ascii=False)
    return f'<div class="hero" data-run="{escape(run)}" data-words="{escape(words)}"></div>'


def address_of(app: Sphinx, page: str, name: str) -> str:
    """Return the address of a script or style sheet, relative to a page."""
    folder = (app.config.course_assets or "_static/") + "live/"
    return f"{relative_uri(app.builder.get_target_uri(page), folder)}{name}?{digest()}"


def loader(app: Sphinx, page: str) -> str:
    """Return the scripts that a page with components needs once."""
    names = ["live.js"]
    if any(place.plays for place in places_on(page)):
        names.append("hero.js")
    return "".join(f'<script src="{address_of(app, page, name)}" defer></script>' for name in names)


def add_components(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Add the components of a page beside their cells, and the links to their steps."""
    scripts = loader(app, page)
    for place in places_on(page):
        for cell in [box for box in doctree.findall(Box) if place.cell in box["ids"]]:
            html = nodes.raw("", scripts + markup(app, place), format="html")
            cell.parent.insert(cell.parent.index(cell) + (0 if place.before else 1), html)
            scripts = ""
        for section in list(doctree.findall(nodes.section)):
            for cell_id, step in place.sections.items():
                if cell_id in section["ids"]:
                    link = nodes.raw("", step_link(app, place, step), format="html")
                    section.insert(1, link)  # below its heading


def add_links(app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Give the template the address and label of each component, for links at the page's beginning."""
    here = [place.component for place in places_on(page)]
    all_words = interface_words(app.config)
    context["moving"] = [(f"#play-{component}", words_of(component, all_words)["open"]) for component in here]
    context["live_sheet"] = address_of(app, page, "live.css") if here else ""


def copy_files(app: Sphinx, error: Exception | None) -> None:
    """Put scripts and networks beside the theme's files."""
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / (app.config.course_assets or "_static/") / "live"
        folder.mkdir(parents=True, exist_ok=True)
        for path in FILES:
            (folder / path.name).write_bytes(path.read_bytes())


def setup(app: Sphinx) -> dict[str, object]:
    """Hook into every page."""
    app.connect("doctree-resolved", add_components)
    app.connect("html-page-context", add_links)
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
