"""The foot of a page, where the project is published: authors, last change, feedback, citation."""

import shutil
import subprocess
from datetime import date
from functools import cache
from typing import Any
from urllib.parse import quote

from babel.dates import format_date

from tools.course import Course

CITATION = "CITATION.cff"


def colophon(course: Course, language: str, stem: str, repository: str, address: str) -> dict[str, Any]:
    """Return the texts of a page's foot; none if neither repository nor address is set."""
    citation = course.parsed(CITATION)
    if not citation or not (repository or address):
        return {}
    changed = last_change(course, f"book/{language}/{stem}.ipynb")
    about = course.languages[language]
    locale = (about.locale or about.html).replace("-", "_")
    return {
        "authors": authors(citation),
        "version": citation["version"],
        "changed": format_date(changed, "long", locale=locale) if changed else "",
        "feedback": f"{repository}/issues/new?title={quote(f'{language}/{stem}: ', safe='')}"
        if repository
        else "",
        "bibtex": bibtex(citation, address or repository),
    }


def authors(citation: dict[str, Any]) -> str:
    """Return the authors' names, as the citation file has them."""
    people = citation["authors"]
    return ", ".join(one.get("name") or f"{one['given-names']} {one['family-names']}" for one in people)


def bibtex(citation: dict[str, Any], address: str) -> str:
    """Return the course's entry for a list of references; braces keep a group's name whole."""
    people = (
        f"{{{one['name']}}}" if "name" in one else f"{one['family-names']}, {one['given-names']}"
        for one in citation["authors"]
    )
    fields = {
        "author": " and ".join(people),
        "title": f"{{{citation['title']}}}",
        "version": citation["version"],
        "year": str(citation.get("date-released") or "")[:4],
        "url": address,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join(["@software{attention_course,", *lines, "}"])


@cache
def last_change(course: Course, path: str) -> date | None:
    """Return the day of a file's last commit; None outside a clone."""
    if not shutil.which("git"):
        return None
    command = ["git", "log", "-1", "--format=%cs", "--", path]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    return date.fromisoformat(done.stdout.strip()) if done.stdout.strip() else None
