"""Link terms to the glossary, and show the text of a term or source beside a link to it."""

import re
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from tools.course import Course
from tools.language import Language

from .edition import course_of, interface_words
from .writer import Box

GLOSSARY, REFERENCES = "glossary", "references"
DEFINITION = re.compile(r"\*\*(.+?)\*\*")
# Letters. A shorter single word is used all the time, such as `token`, or has other meanings, such as `key`.
LONG_WORD = 10


@cache
def patterns(course: Course, language: str) -> re.Pattern[str]:
    """Return a pattern of the glossary's terms, longest first; a group is named by the entry's number."""
    entries = {cell["id"] for cell in course.read(language, GLOSSARY).cells}
    spoken, found = course.languages[language], []
    for number, row in enumerate(course.terms):
        term, word = row[course.source], row.get(language, "")
        if (
            glossary_anchor(row, course) in entries
            and word
            and (re.search("[ -]", term) or len(term) >= LONG_WORD)
        ):
            own = rf"(?<!\w){spoken.forms(word)}(?!\w)" if spoken.spaces else spoken.forms(word)
            if language != course.source and is_ambiguous(word, spoken):
                own += rf"(?= ?[（(](?:\w+ )?{re.escape(term.split()[-1])})"  # only if its English follows
            found.append((len(word), f"(?P<t{number}>{own})"))
    return re.compile(
        "|".join(pattern for _, pattern in sorted(found, reverse=True)) or "(?!)", re.IGNORECASE
    )


def is_ambiguous(word: str, language: Language) -> bool:
    """Return True for a word so short that it is part of others, as `đầu` is of `đầu tiên`, 頭 of 開頭."""
    return not re.search("[ -]", word) and len(word) < (5 if language.spaces else 2)


def glossary_anchor(row: dict[str, str], course: Course) -> str:
    """Return the anchor of a term on the glossary page."""
    return re.sub(r"[^a-z0-9]+", "-", row[course.source].lower()).strip("-")


def in_alphabetical_order(cells: list[NotebookNode], language: Language) -> list[NotebookNode]:
    """Return the glossary's cells with the definitions in the order of the reader's alphabet."""
    named = [match[1] if (match := DEFINITION.match(cell["source"])) else "" for cell in cells]
    places = [place for place, name in enumerate(named) if name]
    ordered, arranged = sorted(places, key=lambda place: language.sorting_key(named[place])), list(cells)
    for place, taken in zip(places, ordered, strict=True):
        arranged[place] = cells[taken]
    return arranged


def link_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the first mention of a term in each section of a chapter to the glossary."""
    course, language = course_of(app.config), app.config.course_language
    stem, home = PurePosixPath(docname).name, PurePosixPath(docname)
    if stem not in course.chapter_numbers or str(home.with_name(GLOSSARY)) not in app.env.found_docs:
        return
    target = home.with_name(GLOSSARY).name
    for section in [part for part in doctree.findall(nodes.section) if part.parent.parent is doctree]:
        seen: set[str] = set()
        for paragraph in list(section.findall(nodes.paragraph)):
            caption = isinstance(paragraph.parent, Box) and paragraph.parent.get("tag") == "figcaption"
            if not caption and not isinstance(paragraph.parent, nodes.entry):
                link_first(paragraph, patterns(course, language), course, language, target, seen)


def link_first(
    paragraph: nodes.paragraph,
    pattern: re.Pattern[str],
    course: Course,
    language: str,
    target: str,
    seen: set[str],
) -> None:
    """Link the terms of a paragraph that its section has not mentioned before."""
    for text in [child for child in paragraph.children if isinstance(child, nodes.Text)]:
        parts, at = [], 0
        folded = course.languages[language].fold(text).replace("\n", " ")
        for match in pattern.finditer(folded):
            key = glossary_anchor(course.terms[int(match.lastgroup[1:])], course)
            if key in seen:
                continue
            seen.add(key)
            written = text[match.start() : match.end()]
            link = nodes.reference(
                "", written, internal=True, refuri=f"{target}.html#{key}", classes=["term"]
            )
            parts += [nodes.Text(text[at : match.start()]), link]
            at = match.end()
        if parts:
            paragraph.replace(text, [*parts, nodes.Text(text[at:])])


def hints(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree) -> None:
    """Give the template the text behind each link to a term or source, which a script shows as a hint."""
    texts = {}
    see_also = re.compile(
        rf"\s*{re.escape(interface_words(app.config)['see'])} ?[^.。]+[.。]$"
    )  # useless without its link
    for stem in (GLOSSARY, REFERENCES):
        metadata = app.env.metadata.get(str(PurePosixPath(page).with_name(stem)), {})
        for passage in metadata.get("passages", []):
            texts[f"{stem}.html#{passage.anchor}"] = see_also.sub("", passage.text)
    links = doctree.findall(nodes.reference) if doctree is not None else ()
    used = dict.fromkeys(link.get("refuri", "") for link in links)
    context["hints"] = {address: texts[address] for address in used if address in texts}


def setup(app: Sphinx) -> None:
    """Link terms once all pages are read, and give the templates the hints."""
    app.connect("doctree-resolved", link_terms)
    app.connect("html-page-context", hints)
