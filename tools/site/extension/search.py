"""The search index: every passage of an edition with its anchor, as a script that also loads from disk."""

import json
import re
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

from tools.course import Course

from .edition import course_of, words
from .plain import plain

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
GUESS_FROM = 5
SOURCE, API = "source", "api"  # roles of passages of pages that are no notebooks
logger = logging.getLogger(__name__)


def read(app: Sphinx, doctree: nodes.document) -> None:
    """The passages of a page that is no notebook: sources that the chapters cite, classes and functions."""
    found = []
    for node in doctree.findall(nodes.list_item):
        if anchor := ANCHOR.search(node.astext()):
            found.append([anchor[1], ANCHOR.sub("", node.astext()), "", SOURCE])
    for node in doctree.findall(addnodes.desc):
        said = next(node[1].findall(nodes.paragraph), nodes.Text(""))
        for key in node[0]["ids"][:1]:
            name = key.rpartition(".")[2]
            found.append([key, f"{name}: {plain(said)}", name, API])
    if found:
        app.env.metadata[app.env.docname]["passages"] = found


def passages(app: Sphinx) -> list[list]:
    """For each page in order: address, title, "Chapter 4" and its passages.

    A passage is its anchor, text, heading and role, then in which other words readers ask for it.
    """
    home, course, language = app.config.root_doc, course_of(app.config), app.config.course_language
    numbers, chapter, asked = course.numbers, words(app.config)["chapter"], course.asked(language)
    found = []
    for page in [home, *app.env.toctree_includes.get(home, [])]:
        if own := app.env.metadata.get(page, {}).get("passages"):
            stem = PurePosixPath(page).name
            number = numbers.get(stem)
            own = [[*passage, *asked.pop(f"{stem}#{passage[0]}", [])] for passage in own]
            address, title = app.builder.get_target_uri(page), app.env.titles[page].astext()
            found.append([address, title, chapter.format(n=number) if number else "", own])
    for address in asked:
        logger.warning("book/%s/asked.tsv: %s is no passage", language, address)
    return found


def lists(course: Course, name: str) -> list[list[str]]:
    """Return the names in each line of every language's list, the source's first."""
    texts = (course.text(f"book/{code}/{name}") for code in course.languages)
    return [
        line.split(" = ") for text in texts for line in text.splitlines() if line and not line.startswith("#")
    ]


def absent(course: Course) -> list[str]:
    """Return the names of all topics that the course does not treat."""
    return list(dict.fromkeys(name for names in lists(course, "absent.txt") for name in names))


def synonyms(course: Course) -> list[list[str]]:
    """Return groups of names; languages add theirs to the group that begins with the same name."""
    groups: dict[str, list[str]] = {}
    for first, *others in lists(course, "synonyms.txt"):
        groups.setdefault(first, [first]).extend(others)
    return list(groups.values())


def rules_for(course: Course, language: str) -> dict[str, object]:
    """Return what the search knows of the languages: each edition's own rules, and what may be typed in any.

    In ``search`` of ``book/CODE/language.yml`` each language may say:

    - ``endings``: replacements, one after the other, that make a stem of a word of four or more Latin letters
      without marks; ``again`` where one is repeated until nothing changes
    - ``function_words``: words that say nothing by themselves, typed without marks
    - ``contractions``: what may follow an apostrophe and is left out
    - ``marks``: true where marks tell words apart, as tones do
    - ``guess_from``: letters of the shortest word that may be taken for a similar one
    - ``letters``: letters that are no base letter with a mark, each with the one that is typed for it
    - ``variants``: pairs of characters, typed and written
    - ``phrases`` and ``particles``: function words and characters of a script without spaces
    """
    every = [about.search for about in course.languages.values()]
    own, source = (course.languages[code].search for code in (language, course.source))
    both = [source, own] if own is not source else [own]

    def words(key: str, some: list[dict]) -> list[str]:
        return [word for rules in some for word in str(rules.get(key, "")).split()]

    return {
        "spaces": course.languages[language].spaces,
        "endings": own.get("endings", []),
        "marks": own.get("marks", False),
        "guess_from": own.get("guess_from", GUESS_FROM),
        "function_words": words("function_words", both),
        "contractions": words("contractions", both),
        "letters": {letter: typed for rules in every for letter, typed in rules.get("letters", {}).items()},
        "variants": words("variants", every),
        "phrases": words("phrases", every),
        "particles": "".join(words("particles", every)),
    }


def names(course: Course, language: str) -> list[list[str]]:
    """Groups of names for the same thing: English, the edition's word and variants, and what readers type."""
    groups = synonyms(course)
    for row in course.terms:
        term, word = row[course.source], row.get(language, "")
        accepted = (row.get(f"{language}_accepted") or "").split("|")
        own = list(dict.fromkeys(filter(None, (term, word, *accepted))))
        group = next((group for group in groups if term in group), None)
        if group is not None:
            group += [name for name in own if name not in group]
        elif len(own) > 1:
            groups.append(own)
    return groups


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index beside the pages."""
    if exception is None and app.builder.format == "html":
        course, language = course_of(app.config), app.config.course_language
        data = {
            "pages": passages(app),
            "names": names(course, language),
            "absent": absent(course),
            "rules": rules_for(course, language),
        }
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        (Path(app.outdir) / "search-data.js").write_text(f"window.courseData={text};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the index when the pages are done."""
    app.connect("doctree-read", read)
    app.connect("build-finished", write)
