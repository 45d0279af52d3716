"""The search index: every passage of an edition with its anchor, as a script that also loads from disk."""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from .plain import plain

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')


def read(app: Sphinx, doctree: nodes.document) -> None:
    """The passages of a page that is no notebook: sources that the chapters cite, classes and functions."""
    found = []
    for node in doctree.findall(nodes.list_item):
        if anchor := ANCHOR.search(node.astext()):
            found.append([anchor[1], ANCHOR.sub("", node.astext()), ""])
    for node in doctree.findall(addnodes.desc):
        said = next(node[1].findall(nodes.paragraph), nodes.Text(""))
        found += [[name, f"{name.rpartition('.')[2]}: {plain(said)}", ""] for name in node[0]["ids"][:1]]
    if found:
        app.env.metadata[app.env.docname]["passages"] = found


def passages(app: Sphinx) -> list[list]:
    """For each page in order: address, title and its passages, each with anchor, text and heading."""
    home = app.config.root_doc
    return [
        [app.builder.get_target_uri(page), app.env.titles[page].astext(), app.env.metadata[page]["passages"]]
        for page in [home, *app.env.toctree_includes.get(home, [])]
        if app.env.metadata.get(page, {}).get("passages")
    ]


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index beside the pages."""
    if exception is None and app.builder.format == "html":
        data = json.dumps(passages(app), ensure_ascii=False, separators=(",", ":"))
        (Path(app.outdir) / "search-data.js").write_text(f"window.courseData={data};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the index when the pages are done."""
    app.connect("doctree-read", read)
    app.connect("build-finished", write)
