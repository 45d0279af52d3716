"""The Sphinx side of the course: notebooks with portable Markdown in, an edition of the site out.

One build makes one edition. A notebook goes through these modules, in this order: `notebook` and `renderer`
(cells into a document), `outputs` (stored results), `pages` and `notices` (what surrounds the text), `writer`
and `formulas` (HTML). `../theme` lays the page out.
"""

import zlib
from pathlib import Path

from docutils.utils.smartquotes import smartchars
from sphinx.application import Sphinx
from sphinx.config import Config

from tools.course import ROOT, Course

from . import api, formulas, home, notices, pages, renderer, terms, writer
from .edition import course_of
from .notebook import NotebookParser

QUOTES = "“”‘’"  # unless the language or docutils has others
THEME = Path(__file__).parents[1] / "theme"


def configure(app: Sphinx, config: Config) -> None:
    """Point Sphinx at the book's folders, wherever the build was started from."""
    config.html_theme = "course"
    config.templates_path = []
    config.html_math_renderer = "course"
    config.html_favicon = None
    config.html_permalinks_icon = "#"
    config.add_module_names = False
    course = course_of(config)
    config.course_language = config.course_language or course.source
    set_quotes(course)


def set_quotes(course: Course) -> None:
    """Tell docutils which quotation marks each language writes for straight ones."""
    for language in course.languages.values():
        tag = language.sphinx.lower().replace("_", "-")
        smartchars.quotes[tag] = language.quotes or smartchars.quotes.get(tag, QUOTES)


def version_of_this() -> int:
    """Return a number that changes with this extension and the words: kept pages are then read again."""
    book = ROOT / "book"
    files = [*Path(__file__).parent.glob("*.py"), *book.glob("*/words.yml"), *book.glob("*/language.*")]
    return zlib.crc32(b"".join(path.read_bytes() for path in sorted(files)))


def setup(app: Sphinx) -> dict[str, object]:
    """Register the parser, the writer, and the pages' context."""
    app.add_config_value("course_root", str(ROOT), "env")
    app.add_config_value("course_language", "", "env")
    app.add_config_value("course_assets", "", "html")
    app.add_config_value(
        "comments_config", {}, "html"
    )  # jupyter-book sets it, for an extension not used here
    app.connect("config-inited", configure)
    app.add_html_theme("course", str(THEME))
    app.add_source_parser(NotebookParser, override=True)
    for part in (writer, renderer, formulas, pages, home, api, notices, terms):
        part.setup(app)
    return {"parallel_read_safe": False, "parallel_write_safe": True, "env_version": version_of_this()}
