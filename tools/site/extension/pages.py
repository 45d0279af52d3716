"""The templates' context for a page: language, neighbours, chapters, buttons and notices."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from tools.course import Course

from ..archives import archive_name
from .colophon import colophon
from .edition import course_of, interface_words, short_digest
from .notices import is_untranslated, notices
from .plain import plain, with_curly_quotes
from .renderer import TOOLS
from .writer import unbroken


def digest_of(text: str) -> str:
    """Return the digest by which a content security policy allows an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


STATIC = Path(__file__).parents[1] / "theme" / "static"
# Inline: with a content security policy, browsers fetch no style before a script above it has arrived.
EARLY = (STATIC.parent / "early.js").read_text(encoding="utf-8")
POLICY = (
    f"default-src 'self'; script-src 'self' '{digest_of(EARLY)}'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; object-src 'none'"
)  # formulas bring places in style attributes
SHEET = "course.css"


def context_of_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree) -> None:
    """Add what the course's templates use to the context of one page."""
    course, language, words = course_of(app.config), app.config.course_language, interface_words(app.config)
    stem = page.rpartition("/")[2]
    metadata = app.env.metadata.get(page, {})
    all_parts = parts(app, page)
    pages = [item for part in all_parts for item in part["pages"]]
    openings = {passage.anchor: passage.text for passage in metadata.get("passages", [])}
    context.update(
        w=words,
        policy=POLICY,
        early=EARLY,
        lang=course.languages[language].html,
        edition=language,
        stem=stem,
        description=metadata.get("description") or words["about_site"],
        asset=lambda name: asset_address(app, page, name),
        editions=editions(app, page, stem),
        parts=all_parts,
        here=next((item for item in pages if item["current"]), None),
        part_here=next(
            (part for part in all_parts if any(item["current"] for item in part["pages"])), all_parts[0]
        ),
        before=neighbour(pages, -1),
        after=neighbour(pages, 1),
        sections=sections(doctree, 1 if stem in course.chapter_numbers else 2),
        colab=colab_address(repository(app), language, stem) if has_code(app, stem) else "",
        download=download_address(app, stem),
        alone=bool(repository(app).get("url")),
        colophon=colophon(course, language, stem, repository(app).get("url") or "", app.config.html_baseurl),
        canonical=page_address(app.config.html_baseurl, language, stem),
        site_address=app.config.html_baseurl.rstrip("/"),
        home=relative_uri(app.builder.get_target_uri(page), app.builder.get_target_uri(home_of(app))) or "#",
        state_page=address_in_edition(app, page, "translations"),
        notices=notices(app, page),
        openings=openings,
        tools_mark=TOOLS,
        text_lang=course.languages[course.source].html if is_untranslated(course, language, stem) else "",
    )


def neighbour(pages: list[dict[str, Any]], step: int) -> dict[str, Any] | None:
    """Return the page before or after the current one."""
    place = next((place + step for place, item in enumerate(pages) if item["current"]), -1)
    return pages[place] if 0 <= place < len(pages) else None


def home_of(app: Sphinx) -> str:
    """Return the document that opens the edition."""
    return app.config.root_doc


def has_code(app: Sphinx, stem: str) -> bool:
    """Return True for a page that is a notebook with code."""
    course, language = course_of(app.config), app.config.course_language
    return course.path(language, stem).exists() and any(
        cell.cell_type == "code" for cell in course.read(language, stem).cells
    )


def download_address(app: Sphinx, stem: str) -> str:
    """Return the address of the notebook, or without a repository's address that of the edition's archive."""
    if not app.config.course_assets or not has_code(app, stem):
        return ""
    if repository(app).get("url"):
        return f"notebooks/{stem}.ipynb"
    return archive_name(course_of(app.config), app.config.course_language) + ".zip"


def address_in_edition(app: Sphinx, page: str, stem: str) -> str:
    """Return the relative address of another page of the edition, empty where there is none."""
    target = page.rpartition("/")[0] + "/" + stem if "/" in page else stem
    if target not in app.env.found_docs:
        return ""
    return relative_uri(app.builder.get_target_uri(page), app.builder.get_target_uri(target)) or "#"


def asset_address(app: Sphinx, page: str, name: str) -> str:
    """Return the address of a file, with a digest of its content."""
    folder = app.config.course_assets or "_static/"
    return (
        relative_uri(app.builder.get_target_uri(page), folder)
        + name
        + "?"
        + digest(course_of(app.config), name)
    )


@cache
def digest(course: Course, name: str) -> str:
    """Return the digest of a file."""
    return short_digest([style_sheet(course).encode() if name == SHEET else (STATIC / name).read_bytes()])


def style_sheet(course: Course) -> str:
    """Return the theme's style sheet with what each language adds for its texts in any edition."""
    own = (course.text(f"book/{code}/style.css") for code in course.languages)
    return "\n".join([(STATIC / SHEET).read_text(encoding="utf-8"), *filter(None, own)])


def write_style_sheet(app: Sphinx, exception: Exception | None) -> None:
    """Write the style sheet of an edition that is built alone."""
    if exception is None and app.builder.format == "html" and not app.config.course_assets:
        sheet = Path(app.outdir) / "_static" / SHEET
        sheet.write_text(style_sheet(course_of(app.config)), encoding="utf-8")


def editions(app: Sphinx, page: str, stem: str) -> list[dict[str, Any]]:
    """Return the same page in each language; a lone build knows only its own."""
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
    """Return the full address of a page, empty where the site's address is not set."""
    base = base.rstrip("/")
    return f"{base}/{language}/" + ("" if stem == "index" else f"{stem}.html") if base else ""


def parts(app: Sphinx, page: str) -> list[dict[str, Any]]:
    """Return the pages by part, the home page before them in a part without a name."""
    course, words = course_of(app.config), interface_words(app.config)
    groups = {"": [course.pages[0]], **course.parts}
    return [
        {
            "name": words.get(f"part_{name}", name),
            "order": order,  # its colour
            "pages": [{**page_entry(app, page, stem), "part": order} for stem in stems],
        }
        for order, (name, group) in enumerate(groups.items())
        if (stems := [stem for stem in group if stem != "translations"])  # the footer leads there
    ]


def page_entry(app: Sphinx, here: str, stem: str) -> dict[str, Any]:
    """Return a page's entry in the lists of chapters."""
    course, words = course_of(app.config), interface_words(app.config)
    page = str(PurePosixPath(here).with_name(stem))
    facts = app.env.metadata.get(page, {})
    start, target = app.builder.get_target_uri(here), app.builder.get_target_uri(page)
    is_foreign = is_untranslated(course, app.config.course_language, stem)
    return {
        "stem": stem,
        "title": unbroken(course, app.config.course_language, app.env.titles[page].astext()),
        "number": course.chapter_numbers.get(stem, ""),
        "minutes": words["minutes"].format(n=facts["minutes"]) if "minutes" in facts else "",
        "short_minutes": f"{facts['minutes']}′" if "minutes" in facts else "",  # where a line is short
        "lead": with_curly_quotes(facts.get("lead", ""), app.config),
        "picture": facts.get("picture"),
        "href": relative_uri(start, target) or start.rpartition("/")[2],
        "current": page == here,
        "lang": course.languages[course.source].html if is_foreign else "",
    }


def sections(node: nodes.Node | None, depth: int) -> list[dict[str, Any]]:
    """Return the headings below a page's title, `depth` levels of them."""
    found = [part for part in (node.children if node and depth else ()) if isinstance(part, nodes.section)]
    if isinstance(node, nodes.document):
        return sections(found[0], depth) if found else []
    return [
        {"id": part["ids"][0], "title": heading(part), "parts": sections(part, depth - 1)} for part in found
    ]


def heading(section: nodes.section) -> str:
    """Return a heading's words, without an exercise's stars and minutes."""
    return "".join(
        plain(part)
        for part in section[0]
        if not (hasattr(part, "attributes") and "effort" in part["classes"])
    )


def repository(app: Sphinx) -> dict[str, str]:
    """Return the repository's settings; `repository.url` is empty until the project is published."""
    return course_of(app.config).repository


def colab_address(repository: dict[str, str], language: str, stem: str) -> str:
    """Return Colab's address of a notebook; empty where the repository is not set or not on GitHub."""
    match = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", repository.get("url") or "")
    if not match:
        return ""
    branch = repository.get("branch") or "main"
    return f"https://colab.research.google.com/github/{match[1]}/blob/{branch}/book/{language}/{stem}.ipynb"


def turn_off_search_index(app: Sphinx) -> None:
    """Turn off Sphinx's search index: the course has its own search."""
    app.builder.search = False


def setup(app: Sphinx) -> None:
    """Hook into every page."""
    app.connect("builder-inited", turn_off_search_index)
    app.connect("html-page-context", context_of_page)
    app.connect("build-finished", write_style_sheet)
