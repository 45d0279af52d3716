"""What readers are told of the translations: a notice on a page, and the table of all pages."""

import sys
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from course_site.languages import BOOK, ROOT, languages, source_language, words

if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

from tools.translations import page_state  # noqa: E402  (the path above leads to it)


def states(stem: str) -> dict[str, Any]:
    """The state of one chapter in every language but the source; None where it has no notebook yet."""
    return {
        code: page_state(code, stem) if (BOOK / code / f"{stem}.ipynb").exists() else None
        for code in languages()
        if code != source_language()
    }


def notices(app: Sphinx, page: str) -> list[dict[str, str]]:
    """What to say above a page: passages that are older than the English, passages not translated."""
    code, stem = app.config.course_language, page.rpartition("/")[2]
    if code == source_language() or not (BOOK / source_language() / f"{stem}.ipynb").exists():
        return []
    word = words(code)
    state = states(stem)[code]
    english = {"href": f"../{source_language()}/{stem}.html", "link": word["english"]}
    if state is None or (state.untranslated and not state.fresh and not state.stale):
        return [{"text": word["page_untranslated"], "whole": True}]
    texts = [
        (word[key], group)
        for key, group in (("stale", state.stale), ("untranslated", state.untranslated))
        if group
    ]
    return [{"text": text.format(n=len(group)), "cells": group, **english} for text, group in texts]


class StateTable(Directive):
    """`{course-state}`: for each chapter and language, how many passages are fresh, older and untranslated."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        environment = self.state.document.settings.env
        word = words(environment.config.course_language)
        codes = [code for code in languages() if code != source_language()]
        stems = [page for page in chapter_order(environment) if (BOOK / source_language() / f"{page}.ipynb").exists()]
        head = [word["page"], *(languages()[code]["name"] for code in codes)]
        rows = [[stem, *(cell_text(state, word) for state in states(stem).values())] for stem in stems]
        return [table(head, rows)]


def chapter_order(environment) -> list[str]:
    """The stems of the course's pages, in order."""
    site_map = environment.config.external_site_map
    return [site_map.root.docname.rpartition("/")[2], *(name.rpartition("/")[2] for name in site_map if name != site_map.root.docname)]


def cell_text(state, word: dict[str, str]) -> str:
    """A chapter's state in a few words."""
    if state is None:
        return word["missing"]
    counts = ((word["fresh"], state.fresh), (word["older"], state.stale), (word["missing"], state.untranslated))
    return "; ".join(f"{name}: {len(group)}" for name, group in counts if group)


def table(head: list[str], rows: list[list[str]]) -> nodes.table:
    """A plain table."""
    def row(texts: list[str]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph(text, text)) for text in texts))

    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", row(head))
    group += nodes.tbody("", *(row(texts) for texts in rows))
    return nodes.table("", group)


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("course-state", StateTable)
