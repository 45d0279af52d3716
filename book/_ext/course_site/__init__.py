"""The Sphinx side of the course: notebooks with portable Markdown in, an edition of the site out.

One build makes one edition. Everything an edition needs to know of its language comes from
`book/languages.yml` and `book/_locale/<code>.yml`; pages are laid out by `book/_templates`.
"""

import zlib
from pathlib import Path

from docutils.utils.smartquotes import smartchars
from sphinx.application import Sphinx
from sphinx.config import Config

from course_site import api, index, markup, math, pages, progress, writer
from course_site.languages import BOOK
from course_site.notebook import NotebookParser


def configure(app: Sphinx, config: Config) -> None:
    """Point Sphinx at the book's folders, wherever the build was started from."""
    config.html_theme = "course"
    config.templates_path = []
    config.html_math_renderer = "course"
    config.html_favicon = None
    config.html_permalinks_icon = "#"
    config.add_module_names = False
    smartchars.quotes.setdefault("vi", smartchars.quotes["en"])
    if not config.course_assets:  # a lone build ships its own copy; the editions share one
        config.html_static_path = [str(BOOK / "_static")]


def version_of_this() -> int:
    """A number that changes with this extension and the interface's words: kept pages are then read again."""
    files = [
        *sorted(Path(__file__).parent.glob("*.py")),
        *sorted((BOOK / "_locale").glob("*.yml")),
        BOOK / "languages.yml",
    ]
    return zlib.crc32(b"".join(path.read_bytes() for path in files))


def setup(app: Sphinx) -> dict[str, object]:
    """Register the parser, the writer, the pages' context and the search index."""
    app.add_config_value("course_language", "en", "env")
    app.add_config_value("course_assets", "", "html")
    app.add_config_value("course_repository", {}, "html")
    app.add_config_value(
        "comments_config", {}, "html"
    )  # jupyter-book sets it, for an extension not used here
    app.connect("config-inited", configure)
    app.add_html_theme("course", str(BOOK / "_templates"))
    app.add_source_parser(NotebookParser, override=True)
    for part in (writer, markup, math, pages, index, api, progress):
        part.setup(app)
    return {"parallel_read_safe": False, "parallel_write_safe": True, "env_version": version_of_this()}
