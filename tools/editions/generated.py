"""Files that `sync` writes whole: the pages that are not notebooks, and the README's table of chapters."""

import re
from collections.abc import Iterator
from functools import cache

from pybtex.database import BibliographyData, Entry, Person, parse_string
from pybtex.richtext import Text

from tools.course import Course, write_atomically

from .lock import page_state
from .markup import table

MAX_AUTHORS = 4
TABLE = re.compile(r"(<!-- chapters: begin -->\n)(.*?)(\n\n.*?<!-- chapters: end -->)", re.DOTALL)


def write(course: Course) -> list[str]:
    """Write every such file; those that changed are returned."""
    return [name for name, text in files(course) if write_atomically(course.root / name, text)]


def outdated(course: Course) -> list[str]:
    """Return the files that `write` would change."""
    return [name for name, text in files(course) if course.text(name) != text]


def files(course: Course) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file."""
    bodies = {
        "references": lambda words: references(course, words),
        "api": lambda words: "```{course-api}\n```",
    }
    for language in course.languages:
        words = course.words(language)
        for page in filter(bodies.get, course.pages):
            text = f"# {words[page + '_title']}\n\n{words[page + '_about']}\n\n{bodies[page](words)}\n"
            yield f"book/{language}/{page}.md", text
    if TABLE.search(readme := course.text("README.md")):
        yield "README.md", TABLE.sub(lambda match: match[1] + chapters(course) + match[3], readme)


def chapters(course: Course) -> str:
    """Return the table of chapters by language: ✓ where every passage is in the language."""
    states = {code: {s: page_state(code, s, course) for s in course.stems()} for code in course.languages}
    codes = [code for code in states if any(state.fresh for state in states[code].values())]
    lines = [["", *(course.languages[code].name for code in codes)]]
    for stem in course.stems():
        heading = course.read(course.source, stem).cells[0].source.splitlines()[0]
        whole = {code for code in codes if not states[code][stem].untranslated}
        links = (f"[{'✓' if c in whole else course.source}](book/{c}/{stem}.ipynb)" for c in codes)
        lines.append([heading.removeprefix("# ").split(":")[0], *links])
    return table(*lines)


@cache
def from_latex(text: str) -> str:
    return str(Text.from_latex(text))


@cache
def bibliography(text: str) -> BibliographyData:
    return parse_string(text, "bibtex")


def references(course: Course, words: dict[str, str]) -> str:
    """Return the list of what the chapters cite, from ``references.bib``."""
    entries = bibliography(course.text("book/references.bib")).entries
    return "\n".join(reference(key, entry, words) for key, entry in sorted(entries.items()))


def name(person: Person) -> str:
    """Return a person's name as people say it."""
    parts = (*person.first_names, *person.middle_names, *person.prelast_names, *person.last_names)
    return " ".join(map(from_latex, parts))


def authors(entry: Entry, words: dict[str, str]) -> str:
    """Return the authors' names, joined as the language joins them."""
    names = [name(person) for person in entry.persons.get("author", entry.persons.get("editor", []))]
    comma = words["references_comma"]
    if len(names) > MAX_AUTHORS:
        return comma.join(names[: MAX_AUTHORS - 1]) + words["references_others"]
    return comma.join(names[:-1]) + words["references_and"] + names[-1] if len(names) > 1 else "".join(names)


def reference(key: str, entry: Entry, words: dict[str, str]) -> str:
    """Return one entry in portable Markdown, with an anchor that GitHub keeps too."""
    fields = {field: from_latex(value) for field, value in entry.fields.items()}
    title = fields["title"]
    place = fields.get("booktitle") or fields.get("journal") or fields.get("publisher") or ""
    if "volume" in fields:
        place += f" {fields['volume']}" + (f"({fields['number']})" if "number" in fields else "")
    if "pages" in fields:
        place += f", {fields['pages'].replace('--', '–')}"
    address = fields.get("url") or (f"https://doi.org/{fields['doi']}" if "doi" in fields else "")
    linked = f"[{title}]({address})" if address else title
    stop = "" if title.endswith(("?", "!")) else "."
    return f'- <a id="{key}"></a>{authors(entry, words)} ({fields["year"]}). {linked}{stop}' + (
        f" {place}." if place else ""
    )
