"""The languages: the state of each, and a new one."""

import csv
import io
import re

import yaml

from tools.course import Course, CourseError, write_atomically

from .lock import page_state
from .sync import sync


def status_table(course: Course) -> str:
    """Return a table of cells fresh/stale/untranslated, one line a chapter, one column a language."""
    lines = [["fresh/stale/untranslated", *course.translations]]
    totals = {language: [0, 0, 0] for language in course.translations}
    for stem in course.stems():
        line = [stem]
        for language in course.translations:
            counts = [len(group) for group in page_state(language, stem, course)]
            totals[language] = [a + b for a, b in zip(totals[language], counts, strict=True)]
            line.append("/".join(map(str, counts)))
        lines.append(line)
    lines.append(["all", *("/".join(map(str, totals[language])) for language in course.translations)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def add(
    course: Course, code: str, name: str, html: str | None = None, sphinx: str | None = None
) -> list[str]:
    """Add a language, a folder with all that an edition has, and return what was written."""
    if not re.fullmatch(r"[a-z]{2,8}(-[a-z0-9]{2,8})*", code):
        raise CourseError(f"{code!r} is not a language code such as 'de' or 'pt-br'")
    if code in course.languages:
        raise CourseError(f"{code} is there already: {course.languages[code].name}")
    folder = course.root / "book" / code
    row = {"name": name, "html": html or code, "sphinx": sphinx or code}
    settings = yaml.safe_dump(row, allow_unicode=True, sort_keys=False, width=1000)
    write_atomically(folder / "language.yml", settings)
    written = [f"book/{code}/language.yml: its name; tools/language.py says what else it may have"]
    if course.terms:
        write_atomically(folder / "terms.csv", empty_terms(course))
        written.append(f"book/{code}/terms.csv: a word for each term, to fill in")
    if words := course.text(f"book/{course.source}/words.yml"):
        write_atomically(folder / "words.yml", words)
        written.append(f"book/{code}/words.yml: what the site says, to translate")
    return written + sync(Course(course.root))


def empty_terms(course: Course) -> str:
    """Return a file of terms whose words are still to be found."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["term", "word", "accepted", "notes"])
    writer.writerows([row[course.source], "", "", ""] for row in course.terms)
    return text.getvalue()
