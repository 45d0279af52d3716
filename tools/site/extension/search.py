"""The search index: every passage of an edition with its anchor, as a script that also loads from disk."""

import json
import re
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

from tools.course import Course

from .edition import course_of, words
from .plain import plain

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
HERE = Path(__file__).parent
SOURCE, API = "source", "api"  # roles of passages of pages that are no notebooks
logger = logging.getLogger(__name__)


def read(app: Sphinx, doctree: nodes.document) -> None:
    """The passages of a page that is no notebook: sources that the chapters cite, classes and functions."""
    found = []
    for node in doctree.findall(nodes.list_item):
        if anchor := ANCHOR.search(node.astext()):
            found.append([anchor[1], ANCHOR.sub("", node.astext()), "", SOURCE])
    for node in doctree.findall(addnodes.desc):
        said = next(node[1].findall(nodes.paragraph), nodes.Text(""))
        for key in node[0]["ids"][:1]:
            name = key.rpartition(".")[2]
            found.append([key, f"{name}: {plain(said)}", name, API])
    if found:
        app.env.metadata[app.env.docname]["passages"] = found


def passages(app: Sphinx) -> list[list]:
    """For each page in order: address, title, "Chapter 4" and its passages.

    A passage is its anchor, text, heading and role, then in which other words readers ask for it.
    """
    home, course, language = app.config.root_doc, course_of(app.config), app.config.course_language
    numbers, chapter, asked = course.numbers, words(app.config)["chapter"], course.asked(language)
    found = []
    for page in [home, *app.env.toctree_includes.get(home, [])]:
        if own := app.env.metadata.get(page, {}).get("passages"):
            stem = PurePosixPath(page).name
            number = numbers.get(stem)
            own = [[*passage, *asked.pop(f"{stem}#{passage[0]}", [])] for passage in own]
            address, title = app.builder.get_target_uri(page), app.env.titles[page].astext()
            found.append([address, title, chapter.format(n=number) if number else "", own])
    for address in asked:
        logger.warning("book/%s/asked.tsv: %s is no passage", language, address)
    return found


def lines_of(name: str) -> list[str]:
    """A list that lies beside this module, without its remarks."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def names(course: Course, language: str) -> list[list[str]]:
    """Groups of names for the same thing: English, the edition's word and variants, and what readers type."""
    groups = [line.split(" = ") for line in lines_of("synonyms.txt")]
    for row in course.terms:
        term, word = row[course.source], row.get(language, "")
        accepted = (row.get(f"{language}_accepted") or "").split("|")
        own = list(dict.fromkeys(filter(None, (term, word, *accepted))))
        group = next((group for group in groups if term in group), None)
        if group is not None:
            group += [name for name in own if name not in group]
        elif len(own) > 1:
            groups.append(own)
    return groups


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index beside the pages."""
    if exception is None and app.builder.format == "html":
        data = {
            "pages": passages(app),
            "names": names(course_of(app.config), app.config.course_language),
            "absent": [name for line in lines_of("absent.txt") for name in line.split(" = ")],
            "simplified": " ".join(lines_of("simplified.txt")).split(),
        }
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        (Path(app.outdir) / "search-data.js").write_text(f"window.courseData={text};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the index when the pages are done."""
    app.connect("doctree-read", read)
    app.connect("build-finished", write)
