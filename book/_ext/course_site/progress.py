"""What readers are told of the translations: a notice on a page, and the table of all pages."""

import sys
from functools import cache

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes
from sphinx.application import Sphinx

from course_site.languages import BOOK, ROOT, languages, source_language, words

if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

from tools.translations import PageState, page_state


@cache
def state_of(code: str, stem: str) -> PageState | None:
    """The state of a chapter in a language; None where it has no notebook yet."""
    return page_state(code, stem) if (BOOK / code / f"{stem}.ipynb").exists() else None


def untranslated(code: str, stem: str) -> bool:
    """Whether a chapter stands in the source language although the edition's is another."""
    if code == source_language() or not (BOOK / source_language() / f"{stem}.ipynb").exists():
        return False
    state = state_of(code, stem)
    return state is None or bool(state.untranslated and not state.fresh and not state.stale)


def notices(app: Sphinx, page: str) -> list[dict[str, str]]:
    """What to say above a page: passages that are older than the English, passages not translated."""
    code, stem = app.config.course_language, page.rpartition("/")[2]
    if code == source_language() or not (BOOK / source_language() / f"{stem}.ipynb").exists():
        return []
    word = words(code)
    state = state_of(code, stem)
    source = source_language()
    english = {
        "href": f"../{source}/{stem}.html",
        "html": languages()[source]["html"],
        "link": word["english"],
    }
    if state is None or untranslated(code, stem):
        return [{"text": word["page_untranslated"]}]
    texts = [
        (word[key], group)
        for key, group in (("stale", state.stale), ("untranslated", state.untranslated))
        if group
    ]
    return [{"text": text.format(n=len(group)), "cells": group, **english} for text, group in texts]


class StateTable(Directive):
    """`{course-state}`: how many passages of each chapter are fresh, older and untranslated."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        environment = self.state.document.settings.env
        environment.note_reread()  # the notebooks and locks that it counts may change without it
        word = words(environment.config.course_language)
        codes = [code for code in languages() if code != source_language()]
        stems = [
            page
            for page in chapter_order(environment)
            if (BOOK / source_language() / f"{page}.ipynb").exists()
        ]
        head = [word["page"], *(languages()[code]["name"] for code in codes)]
        rows = [
            [
                [page_link(environment.docname, stem)],
                *(list(map(nodes.Text, cell_lines(state_of(code, stem), word))) for code in codes),
            ]
            for stem in stems
        ]
        return [table([[nodes.Text(text)] for text in head], rows)]


def page_link(here: str, stem: str) -> addnodes.pending_xref:
    """A link to a page that reads as the page's title in the edition's language."""
    link = addnodes.pending_xref(
        "", refdoc=here, refdomain="std", reftype="doc", reftarget=stem, refexplicit=False, refwarn=True
    )
    link += nodes.inline("", stem)
    return link


def chapter_order(environment) -> list[str]:
    """The stems of the course's pages, in order."""
    site_map = environment.config.external_site_map
    return [
        site_map.root.docname.rpartition("/")[2],
        *(name.rpartition("/")[2] for name in site_map if name != site_map.root.docname),
    ]


def cell_lines(state: PageState | None, word: dict[str, str]) -> list[str]:
    """A chapter's state in a few words, a line for each."""
    if state is None:
        return [word["missing"]]
    counts = (
        (word["fresh"], state.fresh),
        (word["older"], state.stale),
        (word["missing"], state.untranslated),
    )
    return [f"{name}{word['colon']}{len(group)}" for name, group in counts if group]


def table(head: list[list[nodes.Node]], rows: list[list[list[nodes.Node]]]) -> nodes.table:
    """A table whose cells have a line or more."""

    def row(cells: list[list[nodes.Node]]) -> nodes.row:
        lines = [[nodes.paragraph("", "", line) for line in cell] for cell in cells]
        return nodes.row("", *(nodes.entry("", *cell) for cell in lines))

    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", row(head))
    group += nodes.tbody("", *(row(texts) for texts in rows))
    return nodes.table("", group, classes=["state"])


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("course-state", StateTable)
