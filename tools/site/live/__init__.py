"""A Sphinx extension for what moves on the pages: components that a reader starts with a button.

`places.toml` says after which cell of which page a component stands. The page then holds a button, the words
of the component in the reader's language, and `scripts/live.js`, which loads the component and the network it
needs when the button is pressed. The figure above stays, for print and for readers without scripts.
"""

import hashlib
import json
import tomllib
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from tools.site.extension.edition import course_of, words
from tools.site.extension.writer import Box, unbroken

HERE = Path(__file__).parent
FILES = [*sorted((HERE / "scripts").iterdir()), *sorted((HERE / "models").glob("*.js"))]
PREFIX = "live."


@cache
def places() -> list[dict[str, Any]]:
    """Return the rows of `places.toml`: page, cell, component; `before` where it is
    put before its cell, `plays` where a stored run plays before the button is pressed,
    `sections` where sections lead to a step of it, `words` where it also has another
    component's words."""
    rows: list[dict[str, Any]] = tomllib.loads((HERE / "places.toml").read_text(encoding="utf-8"))["place"]
    return rows


@cache
def digest() -> str:
    """Return a short mark of all files' content, so that caches never go stale."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in FILES)).hexdigest()[:8]


def words_of(component: str, every: dict[str, str], other: str = "") -> dict[str, str]:
    """Return a component's words without prefixes: its own, else `other`'s, else those that all share."""
    own = {key.removeprefix(PREFIX): word for key, word in every.items() if key.startswith(PREFIX)}
    found: dict[str, dict[str, str]] = {}
    for key, word in own.items():
        kind, _, name = key.rpartition(".")
        found.setdefault(kind, {})[name] = word
    return found[""] | found.get(other, {}) | found.get(component, {})


def targets(kind: str) -> list[str]:
    """Return the languages into which the networks of a kind translate."""
    return [path.stem.removeprefix(f"{kind}-") for path in FILES if path.match(f"{kind}-*.js")]


def markup(app: Sphinx, place: dict[str, Any]) -> str:
    """Return the button that starts a component, and what its script has to know."""
    component, course, code = place["component"], course_of(app.config), app.config.course_language
    language = course.languages[code]
    word = words_of(component, words(app.config), place.get("words", ""))
    facts = {
        "code": language.code,
        "locale": language.locale or language.html,
        "spaces": language.spaces,
        "decimal": language.decimal,
        "thousands": language.thousands_sign,
    }
    told = {
        "live": component,
        "language": json.dumps(facts, ensure_ascii=False),
        "words": unbroken(course, code, json.dumps(word, ensure_ascii=False)),
    }
    if kind := place.get("targets"):
        told["targets"] = json.dumps(targets(kind))
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in told.items())
    button = f'<button class="button" type="button">{escape(word["open"])}</button>'
    hero = short_walk(app) if place.get("plays") else ""
    return f'<div class="live" id="play-{component}"{data}>{hero}{button}</div>'


def step_link(app: Sphinx, place: dict[str, Any], step: str) -> str:
    """Return a link that starts a component at one of its steps."""
    component = place["component"]
    word = words_of(component, words(app.config), place.get("words", ""))["see"]
    return f'<p class="live-step"><a href="#play-{component}?step={step}">{escape(word)}</a></p>'


def short_walk(app: Sphinx) -> str:
    """Return the place of the walk's short form, with a run into the edition's language, else the first."""
    runs = {path.stem.removeprefix("run-"): path for path in sorted((HERE / "models").glob("run-*.json"))}
    code = app.config.course_language if app.config.course_language in runs else next(iter(runs))
    run = json.dumps({"lang": code, **json.loads(runs[code].read_text(encoding="utf-8"))}, ensure_ascii=False)
    word = json.dumps(words_of("hero", words(app.config)), ensure_ascii=False)
    return f'<div class="hero" data-run="{escape(run)}" data-words="{escape(word)}"></div>'


def address_of(app: Sphinx, page: str, name: str) -> str:
    """Return the address of a script or style sheet, relative to a page."""
    folder = (app.config.course_assets or "_static/") + "live/"
    return f"{relative_uri(app.builder.get_target_uri(page), folder)}{name}?{digest()}"


def loader(app: Sphinx, page: str) -> str:
    """Return the scripts that a page with components needs once."""
    names = ["live.js"]
    if any(place["page"] == page.rpartition("/")[2] and place.get("plays") for place in places()):
        names.append("hero.js")
    return "".join(f'<script src="{address_of(app, page, name)}" defer></script>' for name in names)


def put_in_place(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Add each component of a page after its cell."""
    start = loader(app, page)
    for place in places():
        if place["page"] == page.rpartition("/")[2]:
            for cell in [box for box in doctree.findall(Box) if place["cell"] in box["ids"]]:
                html = start + markup(app, place)
                side = 0 if place.get("before") else 1
                cell.parent.insert(cell.parent.index(cell) + side, nodes.raw("", html, format="html"))
                start = ""
            for section in list(doctree.findall(nodes.section)):
                for cell, step in place.get("sections", {}).items():
                    if cell in section["ids"]:
                        link = step_link(app, place, step)
                        section.insert(1, nodes.raw("", link, format="html"))  # below its heading


def announce(app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Tell the template what moves on a page, so that it can lead there from the page's beginning."""
    here = [place["component"] for place in places() if place["page"] == page.rpartition("/")[2]]
    every = words(app.config)
    context["moving"] = [(f"#play-{component}", words_of(component, every)["open"]) for component in here]
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
    app.connect("doctree-resolved", put_in_place)
    app.connect("html-page-context", announce)
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
