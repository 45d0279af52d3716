"""``book/<lang>/translation.lock``: which English each translated cell was read against.

One line for each Markdown cell::

    multi-head-attention mask-why 3f9ab2c10a1b 77aa01bc55d0

Page, cell id, digest of the English that was translated (``-``: none yet), digest of the text that
was read. Every cell has its line from the first ``sync``, so that stamping never inserts one.
"""

from typing import NamedTuple

from tools.cells import is_generated
from tools.course import Course, CourseError, cells

from . import records
from .records import NOTHING, digest

COLUMNS = "page cell digest digest"


class Entry(NamedTuple):
    """Digests of the English that was translated and of the text that was read."""

    english: str = NOTHING
    text: str = NOTHING


Lock = dict[tuple[str, str], Entry]


class PageState(NamedTuple):
    """The ids of a page's Markdown cells by state, each in reading order."""

    fresh: tuple[str, ...]
    stale: tuple[str, ...]
    untranslated: tuple[str, ...]


def cell_state(entry: Entry, english: str, text: str) -> str:
    """Return ``fresh``, ``stale`` (English changed), ``untranslated`` or ``unread`` (not stamped)."""
    if entry.english == NOTHING and (digest(text) == entry.text or text == english):
        return "untranslated"
    if entry.english == NOTHING or digest(text) != entry.text:
        return "unread"
    return "fresh" if digest(english) == entry.english else "stale"


def read_lock(course: Course, language: str) -> Lock:
    """Return the entry of each cell, by page and cell id."""
    rows = records.read(course, path_of(language), COLUMNS)
    return {(stem, key): Entry(*digests) for (stem, key), digests in rows.items()}


def write_lock(course: Course, language: str, lock: Lock) -> bool:
    """Write the entries by page and, within it, in the order of the dictionary; True if the file changed."""
    return records.write(course, path_of(language), lock)


def path_of(language: str) -> str:
    return f"book/{language}/translation.lock"


def page_state(language: str, stem: str, course: Course | None = None) -> PageState:
    """Return the state that readers are shown. A cell edited but not stamped counts as stale."""
    course = course or Course()
    english = cells(course.read(course.source, stem))
    if language == course.source:
        return PageState(tuple(english), (), ())
    if not course.path(language, stem).exists():
        return PageState((), (), tuple(english))
    lock, texts = read_lock(course, language), cells(course.read(language, stem))
    states = {
        cell: cell_state(lock.get((stem, cell), Entry()), english[cell].source, texts[cell].source)
        for cell in english
        if cell in texts and not is_generated(cell)
    }
    by_state = {state: tuple(c for c in states if states[c] == state) for state in set(states.values())}
    stale = tuple(cell for cell in states if states[cell] in ("stale", "unread"))
    return PageState(by_state.get("fresh", ()), stale, by_state.get("untranslated", ()))


def stamp(course: Course, language: str, stem: str, ids: list[str] | None = None) -> list[str]:
    """State that these cells (None: all translated ones) were read against today's English."""
    english = cells(course.read(course.source, stem))
    texts, lock = cells(course.read(language, stem)), read_lock(course, language)
    if unknown := [key for key in ids or () if key not in english or key not in texts]:
        raise CourseError(f"{language} {stem}: no such Markdown cell: {', '.join(unknown)}")
    stamped = []
    for key in english.keys() & texts.keys() if ids is None else ids:
        before = lock.get((stem, key), Entry())
        if ids is None and cell_state(before, english[key].source, texts[key].source) == "untranslated":
            continue
        lock[stem, key] = Entry(digest(english[key].source), digest(texts[key].source))
        if lock[stem, key] != before:
            stamped.append(key)
    write_lock(course, language, lock)
    return sorted(stamped, key=list(english).index)
