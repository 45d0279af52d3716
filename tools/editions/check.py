"""Report where a translation is out of step with its English, and faults of form and spelling on any page."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain

from nbformat import NotebookNode

from tools.cells import Role, is_generated, role_of, sections
from tools.course import Course, CourseError, cells

from . import executed, form, generated, numbers, package, pictures
from .comparison import differences
from .lint import lint
from .lock import Entry, Lock, cell_state, read_lock
from .markup import as_read, skeleton
from .records import NOTHING, digest
from .sync import code_digest, generated_text, tidy


@dataclass(frozen=True)
class Finding:
    """One line of the report. ``stale`` is a warning until a release."""

    level: str
    where: str
    what: str

    def is_error(self, release: bool = False) -> bool:
        return self.level == "error" or (release and self.level == "stale")

    def line(self, release: bool = False) -> str:
        return f"{'error' if self.is_error(release) else 'warning'}: {self.where}: {self.what}"


@dataclass(frozen=True)
class Snapshot(Course):
    """The course while it is checked: each file is read once, and no notebook is changed."""

    notebooks: dict[tuple[str, str], NotebookNode] = field(default_factory=dict, compare=False)
    texts: dict[str, str] = field(default_factory=dict, compare=False)
    stems_by_language: dict[str | None, list[str]] = field(default_factory=dict, compare=False)

    def read(self, language: str, stem: str) -> NotebookNode:
        if (language, stem) not in self.notebooks:
            self.notebooks[language, stem] = super().read(language, stem)
        return self.notebooks[language, stem]

    def text(self, path: str) -> str:
        if path not in self.texts:
            self.texts[path] = super().text(path)
        return self.texts[path]

    def stems(self, language: str | None = None) -> list[str]:
        if language not in self.stems_by_language:
            self.stems_by_language[language] = super().stems(language)
        return self.stems_by_language[language]


def error(where: str, what: str) -> Finding:
    return Finding("error", where, what)


def check(course: Course, language: str | None = None, stem: str | None = None) -> list[Finding]:
    """Return all findings, or those of one language or one of its notebooks."""
    course = Snapshot(course.root)
    found: list[Finding] = []
    if not language and not stem:
        with suppress(CourseError):  # the notebook that cannot be read is named below
            outdated = generated.outdated(course)
            found += [error(name, "is not as sync writes it: run sync") for name in outdated]
    for code in [language] if language else course.languages:
        for name in [stem] if stem else sorted({*course.stems(), *course.stems(code)}):
            try:
                found += (
                    check_source(course, name) if code == course.source else check_page(course, code, name)
                )
            except CourseError as broken:
                found.append(error(*str(broken).split(": ", 1)))
        if code != course.source and not stem:
            found += check_lock(course, code)
        if not stem:
            found += check_words(course, code)
        if not stem and code == course.source:
            found += check_works(course)
        found += check_spelling(course, code, stem)
    return list(dict.fromkeys(found))


def check_source(course: Course, stem: str) -> Iterator[Finding]:
    """Check English by itself: executed as it stands, in the form, links that lead somewhere."""
    notebook, where = course.read(course.source, stem), f"{course.source} {stem}"
    if notebook != tidy(notebook, course, stem):
        yield error(where, "derived cells or metadata are not as sync writes them: run sync")
    if notebook.metadata.get("executed") != code_digest(notebook):
        yield error(where, "its outputs are not known to be of this code: run sync")
    elif executed.outdated(course, [stem]):
        what = f"the package or its data changed since it was executed: run sync --execute {stem}"
        yield Finding("warning", where, what)
    parts = (
        form.promises(course, stem, notebook),
        form.faults(notebook),
        pictures.faults(course, stem, notebook),
    )
    for key, what in chain(*parts, numbers.faults(course, stem, notebook)):
        yield error(f"{where}#{key}", what)
    for key, cell in cells(notebook, "code").items():
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                yield error(f"{where}#{key}", "its output has a warning or an error in it")
    for key, name in package.unknown_names(notebook):
        yield error(f"{where}#{key}", f"uses {name}, which no cell before it imports")
    for key, cell in cells(notebook).items():
        if is_generated(key):
            continue
        for what in chain(
            broken_links(course, stem, cell.source), lint(course, course.source, cell.source, cell.source)
        ):
            yield error(f"{where}#{key}", what)


def broken_links(course: Course, here: str, text: str) -> Iterator[str]:
    for kind, target in skeleton(text):
        link = re.fullmatch(r"(?:([\w-]+)\.ipynb)?(?:#(.+))?", target) if kind == "link to" else None
        if not link:
            continue
        if (stem := link[1] or here) not in course.stems():
            yield f"link to {target}: there is no such notebook"
        elif link[2] and link[2] not in {cell["id"] for cell in course.read(course.source, stem).cells}:
            yield f"link to {target}: there is no such cell"


def check_page(course: Course, language: str, stem: str) -> Iterator[Finding]:
    where = f"{language} {stem}"
    if stem not in course.stems():
        exists = course.path(language, stem).exists()
        nowhere = f"there is no book/{course.source}/{stem}.ipynb"
        yield error(where, "English has no such notebook: run sync" if exists else nowhere)
        return
    source, target = course.read(course.source, stem), course.read(language, stem)
    lock = read_lock(course, language)
    yield from check_frame(where, source, target)
    english, texts = cells(source), cells(target)
    for section in sections(source.cells):
        keys = [key for key in section if key in english and key in texts]
        theirs, ours = ({key: group[key].source for key in keys} for group in (english, texts))
        for key in keys:
            cell, entry = texts[key], lock.get((stem, key))
            yield from check_cell(course, language, f"{where}#{key}", entry, english[key], cell)
            if entry and is_comparable(entry, english[key].source, cell.source):
                yield from check_content(course, language, stem, key, theirs, ours)


def check_frame(where: str, source: NotebookNode, target: NotebookNode) -> Iterator[Finding]:
    """Check that everything but the prose equals English, byte for byte."""
    originals = {cell["id"]: cell for cell in source.cells}
    ours = {cell["id"]: cell for cell in target.cells}
    for key in originals.keys() - ours.keys():
        yield error(f"{where}#{key}", "cell is missing: run sync")
    for key in ours.keys() - originals.keys():
        yield error(f"{where}#{key}", "English has no cell of this id")
    order = [key for key in originals if key in ours]
    for wanted, key in zip(order, (key for key in ours if key in originals), strict=True):
        if wanted != key:
            yield error(f"{where}#{key}", f"is at the place where English has {wanted}: run sync")
            break
    for key in order:
        own = {"source"} if originals[key].cell_type == ours[key].cell_type == "markdown" else set()
        for name in sorted((originals[key].keys() | ours[key].keys()) - own):
            if originals[key].get(name) != ours[key].get(name):
                yield error(f"{where}#{key}", f"{name}: not as in English: run sync")
    if {**source, "cells": ()} != {**target, "cells": ()}:
        yield error(where, "metadata: not as in English: run sync")


def check_cell(
    course: Course, language: str, where: str, entry: Entry | None, english: NotebookNode, cell: NotebookNode
) -> Iterator[Finding]:
    """Check one cell of prose: has someone vouched for it, and is its text fit to read?"""
    if entry is None:
        yield error(where, "has no line in translation.lock: run sync")
        return
    state = cell_state(entry, english.source, cell.source)
    if state == "untranslated":
        if cell.source != english.source:
            yield Finding("stale", where, "not translated, and shows an older English: run sync")
        return
    if is_generated(key := where.partition("#")[2]):
        if cell.source != generated_text(course, language, key, english.source):
            yield error(where, "is not as sync generates it: run sync")
        return
    if state == "unread":
        yield error(where, "was edited and not stamped as read: compare it with English, then stamp it")
    if entry.english not in (NOTHING, digest(english.source)):
        yield Finding("stale", where, "is older than its English: see diff")
    elif role_of(english) is Role.CAPTION and form.BOLD.match(english.source):
        yield from (error(where, what) for what in form.caption_faults(cell.source))
    for what in lint(course, language, english.source, cell.source):
        yield error(where, what)


def is_comparable(entry: Entry, english: str, text: str) -> bool:
    """Return True for a translated text that is of today's English."""
    is_of_today = entry.english in (NOTHING, digest(english))
    return is_of_today and cell_state(entry, english, text) != "untranslated"


def check_content(
    course: Course, language: str, stem: str, key: str, english: dict[str, str], texts: dict[str, str]
) -> Iterator[Finding]:
    """Compare a cell with its English; `english` and `texts` hold the cells of its section."""
    if not is_generated(key):
        prose = key != Role.REFERENCES  # titles keep the words of their language
        for level, what in differences(course, language, key, english, texts, prose):
            yield Finding(level, f"{language} {stem}#{key}", what)


def check_words(course: Course, language: str) -> Iterator[Finding]:
    """Check that words.yml has every key of the English one, with the same placeholders."""
    where = f"book/{language}/words.yml"
    try:
        english, ours = course.words(course.source), course.words(language)
        own = course.parsed(where)
    except CourseError as broken:
        yield error(*str(broken).split(": ", 1))
        return
    for key, word in english.items():
        if key not in own:
            yield Finding("warning", where, f"{key}: is missing, so the page says it in English")
        if lost := set(re.findall(r"\{\w+\}", str(word))) ^ set(re.findall(r"\{\w+\}", str(ours[key]))):
            what = f"{key}: {min(lost)} must be in both this word and the English one"
            yield error(where, what)


def check_works(course: Course) -> Iterator[Finding]:
    """Check that each work of the bibliography is of the year in its key, and cited."""
    where, text = "book/references.bib", course.text("book/references.bib")
    with suppress(CourseError):  # the notebook that cannot be read is named elsewhere
        pages = [course.read(course.source, stem) for stem in course.stems()]
        book = "\n".join(cell.source for page in pages for cell in page.cells)
        for key, entry in generated.bibliography(text).entries.items():
            year = entry.fields.get("year", "")
            if not key.endswith(year):
                yield error(where, f"{key} is of {year}: which is right?")
            if f"references.md#{key})" not in book:
                yield Finding("warning", where, f"{key} is cited nowhere: delete it")


def check_spelling(course: Course, language: str, stem: str | None) -> Iterator[Finding]:
    """Yield likely typos: words spelled differently elsewhere in the book."""
    with suppress(CourseError):  # the notebook that cannot be read is named elsewhere
        english = {c.source for page in course.stems() for c in course.read(course.source, page).cells}
        texts = {
            f"{language} {page}#{key}": as_read(cell.source)
            for page in course.stems(language)
            for key, cell in cells(course.read(language, page)).items()
            if not is_generated(key) and (language == course.source or cell.source not in english)
        }
        for where, what in course.languages[language].spelling(texts):
            if stem in (None, where.split()[1].partition("#")[0]):
                yield Finding("warning", where, what)


def check_lock(course: Course, language: str) -> Iterator[Finding]:
    try:
        lock: Lock = read_lock(course, language)
        known = {(stem, key) for stem in course.stems() for key in cells(course.read(course.source, stem))}
    except CourseError as broken:
        yield error(*str(broken).split(": ", 1))
        return
    for stem, key in lock.keys() - known:
        yield error(
            f"{language} {stem}#{key}",
            "translation.lock names it, English has no such cell: run sync",
        )
