"""``book/pictures.lock``: which pictures ``sync`` drew, so that another one in their place is seen.

One line a code cell that shows a picture, a blank line between two, for git's sake::

    attention-pooling opening 3f9ab2c10a1b

Page, cell id, digest of the pictures in its outputs and of the drawing of it that the site shows. Every
language shows the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from tools.course import Course, CourseError, cells, write_atomically

from . import drawings

RECORD = "book/pictures.lock"
Digests = dict[tuple[str, str], str]


def read(course: Course) -> Digests:
    found: Digests = {}
    for number, line in enumerate(course.text(RECORD).splitlines(), 1):
        row = re.fullmatch(r"([\w-]+) ([\w-]+) ([0-9a-f]{12})|", line)
        if not row or (row[1], row[2]) in found:
            raise CourseError(
                f"{RECORD}: line {number} is not 'page cell digest' of a cell of its own: mend it"
            )
        if line:
            found[row[1], row[2]] = row[3]
    return found


def digests(course: Course, stem: str, notebook: NotebookNode) -> dict[str, str]:
    """The digest of what each cell shows, of those that show a picture."""
    shown = {
        key: [
            "".join(str(content).split())
            for output in cell.get("outputs", [])
            for kind, content in sorted(output.get("data", {}).items())
            if kind.startswith("image/")
        ]
        for key, cell in cells(notebook, "code").items()
    }
    seen = {key: [*found, course.text(drawings.path(stem, key))] for key, found in shown.items() if found}
    return {key: hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12] for key, parts in seen.items()}


def record(course: Course, stem: str, notebook: NotebookNode, drawn: bool) -> bool:
    """Note the page's pictures: all that were ``drawn`` just now, else those that have no line yet."""
    before, now = read(course), digests(course, stem, notebook)
    old = {} if drawn else {key: digest for (page, key), digest in before.items() if page == stem}
    kept = {
        place: digest for place, digest in before.items() if place[0] != stem and place[0] in course.stems()
    }
    lines = kept | {(stem, key): old.get(key, digest) for key, digest in now.items()}
    text = "\n".join(f"{page} {key} {lines[page, key]}\n" for page, key in sorted(lines))
    return bool(lines or before) and write_atomically(course.root / RECORD, text)


def faults(course: Course, stem: str, notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Cells whose pictures are not those that sync drew."""
    recorded = read(course)
    for key, digest in digests(course, stem, notebook).items():
        if (stem, key) not in recorded:
            yield key, f"its picture has no line in {RECORD}: run sync"
        elif recorded[stem, key] != digest:
            which = f"its picture or {drawings.path(stem, key)}"
            yield key, f"{which} is not the one that sync drew: run sync --execute {stem}"
