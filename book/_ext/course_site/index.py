"""The search index: every passage of an edition with its anchor, as a script that also loads from disk."""

import json
from pathlib import Path

from sphinx.application import Sphinx


def passages(app: Sphinx) -> list[list]:
    """For each page: address, title and its passages as pairs of anchor and text."""
    return [
        [app.builder.get_target_uri(page), app.env.titles[page].astext(), metadata["passages"]]
        for page, metadata in app.env.metadata.items()
        if metadata.get("passages") and page in app.env.titles
    ]


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index beside the pages."""
    if exception is None and app.builder.format == "html":
        data = json.dumps(passages(app), ensure_ascii=False, separators=(",", ":"))
        (Path(app.outdir) / "search-data.js").write_text(f"window.courseData={data};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the index when the pages are done."""
    app.connect("build-finished", write)
