"""The list of languages: the state of each, and a new one."""

from __future__ import annotations

import csv
import io
import re

import yaml

from tools.course import Course, CourseError, write_atomically

from .lock import page_state
from .sync import sync


def status_table(course: Course) -> str:
    """Cells fresh/stale/untranslated, one line a chapter, one column a language."""
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
    """A new language: its row in languages.yml, columns in the glossary, interface, notebooks and lock."""
    if not re.fullmatch(r"[a-z]{2,8}(-[a-z0-9]{2,8})*", code):
        raise CourseError(f"{code!r} is not a language code such as 'de' or 'pt-br'")
    if code in course.languages:
        raise CourseError(f"{code} is there already: {course.languages[code].name}")
    row = {"name": name, "html": html or code, "sphinx": sphinx or code}
    path = course.root / "book/languages.yml"
    text = path.read_text(encoding="utf-8").rstrip("\n") + "\n"
    write_atomically(
        path, text + yaml.safe_dump({code: row}, allow_unicode=True, sort_keys=False, width=1000)
    )
    if course.terms:
        add_columns(course, code)
    written = [f"book/languages.yml: {code}"]
    if words := course.text(f"book/{course.source}/words.yml"):
        write_atomically(course.root / "book" / code / "words.yml", words)
        written.append(f"book/{code}/words.yml: what the site says, to translate")
    return written + sync(Course(course.root))


def add_columns(course: Course, code: str) -> None:
    table = course.terms
    fields = [
        *(f for f in table[0] if f not in ("notes", code, f"{code}_accepted")),
        code,
        f"{code}_accepted",
        "notes",
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    write_atomically(course.root / "book/glossary.csv", text.getvalue())
