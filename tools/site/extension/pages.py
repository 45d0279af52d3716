"""What the templates need to know of a page: its language, neighbours, chapters, buttons and notices."""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from .edition import course_of, words
from .notices import notices, untranslated

STATIC = Path(__file__).parents[1] / "theme" / "static"


def context_of_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree) -> None:
    """Add everything of ours to the context of one page."""
    course, language, word = course_of(app.config), app.config.course_language, words(app.config)
    stem = page.rpartition("/")[2]
    metadata = app.env.metadata.get(page, {})
    told = notices(app, page)
    openings = {passage[0]: passage[1] for passage in metadata.get("passages", [])}
    context.update(
        w=word,
        lang=course.languages[language].html,
        edition=language,
        stem=stem,
        description=metadata.get("description") or word["about_site"],
        asset=lambda name: asset_address(app, page, name),
        editions=editions(app, page, stem),
        chapters=chapters(app, page),
        sections=sections(doctree),
        colab=colab_address(repository(app), language, stem) if course.path(language, stem).exists() else "",
        download=f"notebooks/{stem}.ipynb" if is_notebook(app, page) and app.config.course_assets else "",
        canonical=page_address(app.config.html_baseurl, language, stem),
        site_address=app.config.html_baseurl.rstrip("/"),
        home=relative_uri(app.builder.get_target_uri(page), app.builder.get_target_uri(home_of(app))) or "#",
        search_data=relative_uri(app.builder.get_target_uri(page), "search-data.js"),
        state_page=neighbour(app, page, "translations"),
        notices=told,
        openings=openings,
        text_lang=course.languages[course.source].html if untranslated(course, language, stem) else "",
    )


def home_of(app: Sphinx) -> str:
    """The document that opens the edition."""
    return app.config.root_doc


def is_notebook(app: Sphinx, page: str) -> bool:
    """Whether a page comes from a notebook."""
    return page in app.env.found_docs and app.env.doc2path(page).endswith(".ipynb")


def neighbour(app: Sphinx, page: str, stem: str) -> str:
    """The relative address of another page of the edition, empty where there is none."""
    target = page.rpartition("/")[0] + "/" + stem if "/" in page else stem
    if target not in app.env.found_docs:
        return ""
    return relative_uri(app.builder.get_target_uri(page), app.builder.get_target_uri(target)) or "#"


def asset_address(app: Sphinx, page: str, name: str) -> str:
    """The address of a style sheet or script, with a mark of its content so that caches never go stale."""
    folder = app.config.course_assets or "_static/"
    return relative_uri(app.builder.get_target_uri(page), folder) + name + "?" + digest(name)


@cache
def digest(name: str) -> str:
    """A short mark of a file's content."""
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:8]


def editions(app: Sphinx, page: str, stem: str) -> list[dict[str, Any]]:
    """The same page in each language; a lone build knows only its own."""
    own = app.config.course_language
    if not app.config.course_assets:
        return []
    return [
        {
            "code": code,
            "name": about.name,
            "html": about.html,
            "href": ("" if code == own else f"../{code}/") + f"{stem}.html",
            "address": page_address(app.config.html_baseurl, code, stem),
            "current": code == own,
        }
        for code, about in course_of(app.config).languages.items()
    ]


def page_address(base: str, language: str, stem: str) -> str:
    """The full address of a page, empty where the site's address is not set."""
    base = base.rstrip("/")
    return f"{base}/{language}/" + ("" if stem == "index" else f"{stem}.html") if base else ""


def chapters(app: Sphinx, page: str) -> list[dict[str, Any]]:
    """The course's pages in order, the home page first."""
    home, course = home_of(app), course_of(app.config)
    order = [home, *app.env.toctree_includes.get(home, [])]
    here = app.builder.get_target_uri(page)
    return [
        {
            "title": app.env.titles[name].astext(),
            "href": relative_uri(here, app.builder.get_target_uri(name)) or here.rpartition("/")[2],
            "current": name == page,
            "lang": course.languages[course.source].html
            if untranslated(course, app.config.course_language, name)
            else "",
        }
        for name in order
        if name in app.env.titles and not name.endswith("translations")  # the footer leads there
    ]


def sections(doctree: nodes.document | None) -> list[dict[str, str]]:
    """The page's second-level headings."""
    if doctree is None:
        return []
    found = [node for node in doctree.findall(nodes.section) if isinstance(node.parent, nodes.section)]
    top = [node for node in found if isinstance(node.parent.parent, nodes.document)]
    return [{"id": node["ids"][0], "title": node[0].astext()} for node in top if node["ids"]]


def repository(app: Sphinx) -> dict[str, str]:
    """Where the project is published; `repository.url` is empty until it is."""
    return app.config.course_repository or course_of(app.config).repository


def colab_address(repository: dict[str, str], language: str, stem: str) -> str:
    """Colab's address of a notebook; empty where the repository is not set or not on GitHub."""
    match = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", repository.get("url") or "")
    if not match:
        return ""
    branch = repository.get("branch") or "main"
    return f"https://colab.research.google.com/github/{match[1]}/blob/{branch}/book/{language}/{stem}.ipynb"


def quieten(app: Sphinx) -> None:
    """No search index, sources or general index of Sphinx's: the course has its own search."""
    app.builder.search = False


def setup(app: Sphinx) -> None:
    """Hook into every page."""
    app.connect("builder-inited", quieten)
    app.connect("html-page-context", context_of_page)
