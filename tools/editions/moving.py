"""Move cells to another page in every language; fresh translations stay fresh."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Self

from nbformat import NotebookNode

from tools.course import CLAIMS, Course, CourseError, cells, write_atomically

from .lock import Entry, Lock, read_lock, write_lock
from .records import digest

NUMBERS = "book/numbers.tsv"
LINK = re.compile(r"\]\((?:([\w-]+)\.ipynb)?#([\w-]+)\)")


@dataclass
class Pages:
    """Every notebook and lock of the course in memory; nothing is written before ``write``."""

    course: Course
    notebooks: dict[tuple[str, str], NotebookNode]
    locks: dict[str, Lock]

    @classmethod
    def of(cls, course: Course) -> Self:
        notebooks = {
            (code, stem): course.read(code, stem) for code in course.languages for stem in course.stems()
        }
        return cls(course, notebooks, {code: read_lock(course, code) for code in course.translations})

    def edit(self, change: Callable[[str, str, str], str]) -> None:
        """Change every passage: ``change(stem, cell, text)``. What was fresh, stale or unread stays so."""
        source = self.course.source
        for (code, stem), notebook in self.notebooks.items():
            if code == source:
                continue
            english = cells(self.notebooks[source, stem])
            for key, cell in cells(notebook).items():
                changed = change(stem, key, cell.source)
                if entry := self.locks[code].get((stem, key)):
                    original = english[key].source if key in english else ""
                    self.locks[code][stem, key] = Entry(
                        english=follow(entry.english, original, change(stem, key, original)),
                        text=follow(entry.text, cell.source, changed),
                    )
                cell.source = changed
        for stem in self.course.stems():
            for key, cell in cells(self.notebooks[source, stem]).items():
                cell.source = change(stem, key, cell.source)

    def write(self) -> list[str]:
        """Write what changed, and return its names."""
        changed = [
            f"book/{code}/{stem}.ipynb"
            for (code, stem), notebook in self.notebooks.items()
            if self.course.write(code, stem, notebook)
        ]
        return changed + [
            f"book/{code}/translation.lock"
            for code, lock in self.locks.items()
            if write_lock(self.course, code, lock)
        ]


def follow(recorded: str, before: str, after: str) -> str:
    """Return the digest of a changed text if the lock recorded the text before, else what it recorded."""
    return digest(after) if recorded == digest(before) else recorded


def move(course: Course, stem: str, keys: Collection[str], to: str, after: str | None = None) -> list[str]:
    """Move cells to another page, behind ``after`` (none: to its end), with all that belongs to them.

    Translations and their lines of the locks go along, and so do the rows of claims and of excepted
    numbers. Links to the cells, and links in them, are written anew. Returns the files changed.
    """
    pages = Pages.of(course)
    for page in (stem, to):
        if page not in course.stems():
            raise CourseError(f"{course.source} {page}: there is no such notebook")
    ids_here, ids_there = (
        [cell["id"] for cell in pages.notebooks[course.source, page].cells] for page in (stem, to)
    )
    if stem == to:
        raise CourseError(f"{course.source} {stem}: the cells stand on this page")
    for key in keys:
        if key not in ids_here:
            raise CourseError(f"{course.source} {stem}#{key}: there is no such cell")
        if key in ids_there:
            raise CourseError(f"{course.source} {to}#{key}: this page already has a cell of that id")
    if after is not None and after not in ids_there:
        raise CourseError(f"{course.source} {to}#{after}: there is no such cell")
    pages.edit(lambda page, key, text: relinked(page, key, text, stem, keys, to))
    for code in course.languages:
        carry_cells(pages, code, stem, keys, to, after)
    changed = pages.write()
    order = {
        (page, cell["id"]): (number, place)
        for number, page in enumerate(course.stems())
        for place, cell in enumerate(pages.notebooks[course.source, page].cells)
    }
    for name in (CLAIMS, NUMBERS):
        rows = [line.split("\t") for line in course.text(name).splitlines()]
        moved = [[to, *row[1:]] if row[0] == stem and row[1] in keys else row for row in rows]
        moved[1:] = sorted(moved[1:], key=lambda row: order.get((row[0], row[1]), (len(order), 0)))
        if moved != rows and write_atomically(course.root / name, "\n".join(map("\t".join, moved)) + "\n"):
            changed.append(name)
    return changed


def relinked(page: str, key: str, text: str, stem: str, keys: Collection[str], to: str) -> str:
    """Return a passage whose links keep their targets when the cells ``keys`` of ``stem`` move to ``to``."""
    new_page = to if page == stem and key in keys else page

    def link(match: re.Match[str]) -> str:
        target = match[1] or page
        new_target = to if target == stem and match[2] in keys else target
        if (target, page) == (new_target, new_page):
            return match[0]
        return f"](#{match[2]})" if new_target == new_page else f"]({new_target}.ipynb#{match[2]})"

    return LINK.sub(link, text)


def carry_cells(
    pages: Pages, code: str, stem: str, keys: Collection[str], to: str, after: str | None
) -> None:
    """Take cells out of one notebook of a language and put them into the other, with the lock's lines."""
    source, target = pages.notebooks[code, stem], pages.notebooks[code, to]
    moved = [cell for cell in source.cells if cell["id"] in keys]
    source.cells = [cell for cell in source.cells if cell["id"] not in keys]
    ids = [cell["id"] for cell in target.cells]
    place = ids.index(after) + 1 if after in ids else len(ids)
    target.cells[place:place] = moved
    for cell in moved:
        if entry := pages.locks.get(code, Lock()).pop((stem, cell["id"]), None):
            pages.locks[code][to, cell["id"]] = entry
