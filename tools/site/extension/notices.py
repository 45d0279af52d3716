"""Tell readers the state of the translations: a notice on a page, and a table of all pages."""

from functools import cache
from pathlib import PurePosixPath

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from tools.course import Course
from tools.editions.lock import PageState, page_state

from .edition import course_of, interface_words

TRANSLATIONS, STATE = "translations", "state"  # the page and its passage that has the table


@cache
def state_of(course: Course, language: str, stem: str) -> PageState | None:
    """Return the state of a chapter in a language; None where it has no notebook yet."""
    return page_state(language, stem, course) if course.path(language, stem).exists() else None


def is_translation(course: Course, language: str, stem: str) -> bool:
    """Return True for a page that is translated from another language."""
    return language != course.source and course.path(course.source, stem).exists()


def is_untranslated(course: Course, language: str, stem: str) -> bool:
    """Return True for a chapter that is shown in the source language because nobody has translated it."""
    if not is_translation(course, language, stem):
        return False
    state = state_of(course, language, stem)
    return state is None or bool(state.untranslated and not state.fresh and not state.stale)


def notices(app: Sphinx, page: str) -> list[dict[str, str]]:
    """Return the notice above a page: outdated passages, passages not translated."""
    course, language, words = course_of(app.config), app.config.course_language, interface_words(app.config)
    stem, source = page.rpartition("/")[2], course.source
    if not is_translation(course, language, stem):
        return []
    if is_untranslated(course, language, stem):
        return [{"text": words["page_untranslated"]}]
    state = state_of(course, language, stem)
    english = {
        "href": f"../{source}/{stem}.html",
        "html": course.languages[source].html,
        "link": words["english"],
    }
    texts = ((words["stale"], state.stale), (words["untranslated"], state.untranslated))
    return [{"text": text.format(n=len(group)), "cells": group, **english} for text, group in texts if group]


def add_state(app: Sphinx, doctree: nodes.document) -> None:
    """Add below the passage `state` of the page on translations the state of each page, in a line."""
    environment, here = app.env, app.env.docname
    place = next((part for part in doctree.findall(nodes.section) if part["ids"] == [STATE]), None)
    if PurePosixPath(here).name != TRANSLATIONS or place is None:
        return
    environment.note_reread()  # the notebooks and locks that it counts may change without it
    course, words = course_of(app.config), interface_words(app.config)
    head = [words["page"], *(course.languages[code].name for code in course.translations)]
    rows = [
        [
            [page_link(here, stem)],
            *(
                list(map(nodes.Text, cell_lines(state_of(course, code, stem), words)))
                for code in course.translations
            ),
        ]
        for stem in course.pages
        if course.path(course.source, stem).exists()
    ]
    place += table([[nodes.Text(text)] for text in head], rows)


def page_link(here: str, stem: str) -> addnodes.pending_xref:
    """Return a link to a page that reads as the page's title in the edition's language."""
    link = addnodes.pending_xref(
        "", refdoc=here, refdomain="std", reftype="doc", reftarget=stem, refexplicit=False, refwarn=True
    )
    link += nodes.inline("", stem)
    return link


def cell_lines(state: PageState | None, words: dict[str, str]) -> list[str]:
    """Return a chapter's state in a few words, a line for each."""
    if state is None:
        return [words["missing"]]
    counts = (
        (words["fresh"], state.fresh),
        (words["older"], state.stale),
        (words["missing"], state.untranslated),
    )
    return [f"{name}{words['colon']}{len(group)}" for name, group in counts if group]


def table(head: list[list[nodes.Node]], rows: list[list[list[nodes.Node]]]) -> nodes.table:
    """Return a table whose cells have a line or more."""

    def row(cells: list[list[nodes.Node]]) -> nodes.row:
        lines = [[nodes.paragraph("", "", line) for line in cell] for cell in cells]
        return nodes.row("", *(nodes.entry("", *cell) for cell in lines))

    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", row(head))
    group += nodes.tbody("", *(row(texts) for texts in rows))
    return nodes.table("", group, classes=["state"])


def setup(app: Sphinx) -> None:
    """Add the table once the page is read."""
    app.connect("doctree-read", add_state)
