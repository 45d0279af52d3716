"""Finds where a language has left the English, and text that a reader of it would stumble over."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from nbformat import NotebookNode

from . import glossary
from .course import Course, CourseError, Language, cells
from .lock import NOTHING, Entry, Lock, cell_state, digest, read_lock
from .markup import plain, prose, skeleton, stray_marks
from .sync import code_digest, tidy


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


def check(course: Course, language: str | None = None, stem: str | None = None) -> list[Finding]:
    """All findings, or those of one language or one of its notebooks."""
    found = []
    for code in [language] if language else course.languages:
        for name in [stem] if stem else sorted({*course.stems(), *course.stems(code)}):
            try:
                found += list(
                    check_source(course, name) if code == course.source else check_page(course, code, name)
                )
            except CourseError as error:
                found.append(Finding("error", *str(error).split(": ", 1)))
        if code != course.source and not stem:
            found += list(check_lock(course, code))
    return list(dict.fromkeys(found))


def check_source(course: Course, stem: str) -> Iterator[Finding]:
    """English by itself: executed as it stands, ids that can be permanent, links that lead somewhere."""
    notebook, where = course.read(course.source, stem), f"{course.source} {stem}"
    if notebook != tidy(notebook, course.setup_code):
        yield Finding("error", where, "set-up cell or metadata are not as sync writes them: run sync")
    if notebook.metadata.get("executed") != code_digest(notebook):
        yield Finding("error", where, "its code changed after it was executed: run sync")
    ids = [cell["id"] for cell in notebook.cells]
    for key in dict.fromkeys(ids):
        if ids.count(key) > 1:
            yield Finding("error", f"{where}#{key}", "two cells have this id")
        if not re.fullmatch(r"[a-z][a-z0-9-]*|class-\w+", key):
            yield Finding("error", f"{where}#{key}", "an id is words of a-z and 0-9 with hyphens, for ever")
    for key, cell in cells(notebook, "code").items():
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                yield Finding("error", f"{where}#{key}", "its output has a warning or an error in it")
    for key, cell in cells(notebook).items():
        for what in [
            *broken_links(course, cell.source),
            *lint(course.languages[course.source], "", cell.source),
        ]:
            yield Finding("error", f"{where}#{key}", what)


def broken_links(course: Course, text: str) -> Iterator[str]:
    for kind, target in skeleton(text):
        if kind == "link to" and (link := re.fullmatch(r"([\w-]+)?(?:\.ipynb)?#?([\w-]+)?", target)):
            stem, key = link[1], link[2]
            if not stem or not target.startswith(f"{stem}.ipynb"):
                continue
            if stem not in course.stems():
                yield f"link to {target}: there is no such notebook"
            elif key and key not in {c["id"] for c in course.read(course.source, stem).cells}:
                yield f"link to {target}: there is no such cell"


def check_page(course: Course, language: str, stem: str) -> Iterator[Finding]:
    where = f"{language} {stem}"
    if stem not in course.stems():
        yield Finding("error", where, "English has no such notebook: run sync")
        return
    source, target, lock = (
        course.read(course.source, stem),
        course.read(language, stem),
        read_lock(course, language),
    )
    yield from check_frame(where, source, target)
    texts = cells(target)
    for key, cell in cells(source).items():
        if key in texts:
            yield from check_cell(course, language, f"{where}#{key}", lock.get((stem, key)), cell, texts[key])


def check_frame(where: str, source: NotebookNode, target: NotebookNode) -> Iterator[Finding]:
    """Everything but the prose equals English, byte for byte."""
    ours, theirs = [c["id"] for c in target.cells], [c["id"] for c in source.cells]
    for key in dict.fromkeys(theirs):
        if ours.count(key) != 1:
            yield Finding(
                "error", f"{where}#{key}", "stands twice" if key in ours else "cell is missing: run sync"
            )
    for key in dict.fromkeys(ours):
        if key not in theirs:
            yield Finding("error", f"{where}#{key}", "English has no cell of this id")
    common = [key for key in ours if key in theirs]
    rank = {key: place for place, key in enumerate(theirs)}
    for before, after in pairwise(common):
        if rank[before] > rank[after]:
            yield Finding(
                "error", f"{where}#{after}", f"stands after {before}, in English before it: run sync"
            )
    originals = {cell["id"]: cell for cell in source.cells}
    for cell in target.cells:
        original = originals.get(cell["id"], cell)
        fields = {"cell_type", "metadata", "attachments", "outputs", "execution_count"}
        if cell.cell_type == "code":
            fields |= {"source"}
        for name in sorted(fields):
            if cell.get(name) != original.get(name):
                what = {"source": "code", "execution_count": "execution count", "cell_type": "type"}.get(
                    name, name
                )
                yield Finding("error", f"{where}#{cell['id']}", f"its {what} differs from English: run sync")
    if (source.metadata, source.nbformat, source.nbformat_minor) != (
        target.metadata,
        target.nbformat,
        target.nbformat_minor,
    ):
        yield Finding("error", where, "the notebook's metadata differ from English: run sync")


def check_cell(
    course: Course, language: str, where: str, entry: Entry | None, english: NotebookNode, cell: NotebookNode
) -> Iterator[Finding]:
    """One cell of prose: has someone vouched for it, is its skeleton whole, is its text fit to read?"""
    if entry is None:
        yield Finding("error", where, "has no line in translation.lock: run sync")
        return
    state = cell_state(entry, english.source, cell.source)
    if state == "untranslated":
        if cell.source != english.source:
            yield Finding("error", where, "not translated, and English has changed: run sync")
        return
    if state == "unread":
        yield Finding(
            "error", where, "was edited and not stamped as read: compare it with English, then stamp it"
        )
    if entry.english not in (NOTHING, digest(english.source)):
        yield Finding("stale", where, "is older than its English: see diff")
    else:
        for (kind, what), number in (skeleton(english.source) - skeleton(cell.source)).items():
            yield Finding("error", where, f"{kind} {what!r} of English is missing" + times(number))
        for (kind, what), number in (skeleton(cell.source) - skeleton(english.source)).items():
            yield Finding("error", where, f"{kind} {what!r} is not in English" + times(number))
        for what in glossary.missing_terms(course, language, english.source, cell.source):
            yield Finding("warning", where, what)
    for what in lint(course.languages[language], english.source, cell.source):
        yield Finding("error", where, what)


def times(number: int) -> str:
    return f" ({number} times)" if number > 1 else ""


def check_lock(course: Course, language: str) -> Iterator[Finding]:
    try:
        lock: Lock = read_lock(course, language)
        known = {(stem, key) for stem in course.stems() for key in cells(course.read(course.source, stem))}
    except CourseError as error:
        yield Finding("error", *str(error).split(": ", 1))
        return
    for stem, key in lock.keys() - known:
        yield Finding(
            "error",
            f"{language} {stem}#{key}",
            "translation.lock names it, English has no such cell: run sync",
        )


def lint(language: Language, english: str, text: str) -> Iterator[str]:
    """Faults of a text that can be seen without understanding it."""
    if not text.strip():
        yield "is empty"
    if not unicodedata.is_normalized("NFC", text):
        yield "is not in Unicode's normal form NFC"
    for mark in stray_marks(text):
        yield f"shows a literal {mark!r}: not closed, or with a space inside"
    if re.search(r"\{[\w:-]+\}`|^\([\w-]+\)=|^:::", text, re.MULTILINE):
        yield "has a MyST role, label or directive, which only the site would render"
    if language.html.startswith("zh-Hant") and (found := sorted(set(filter(is_simplified, plain(text))))):
        yield f"has Simplified characters: {''.join(found)}"
    for wrong, right in language.avoid.items():
        if wrong in plain(text).lower():
            yield f"says {wrong!r}, which is wrong here: {right!r}"
    if english:
        yield from english_left_in(english, text)


def is_simplified(character: str) -> bool:
    """In mainland China's basic set and unknown to Taiwan's."""

    def knows(encoding: str) -> bool:
        try:
            return bool(character.encode(encoding))
        except UnicodeEncodeError:
            return False

    return character > "\u2e7f" and knows("gb2312") and not knows("big5")


def english_left_in(english: str, text: str) -> Iterator[str]:
    """Runs of four English words, or a heading or line that is as in English; titles and names may stay."""
    words = [re.findall(r"[^\W\d_]+", plain(t, quoted=False)) for t in (english, text)]
    runs = {tuple(word.lower() for word in words[0][i : i + 4]) for i in range(len(words[0]) - 3)}
    for i in range(len(words[1]) - 3):
        run = words[1][i : i + 4]
        if (
            tuple(w.lower() for w in run) in runs
            and sum(w.islower() for w in run) > 1
            and all(map(str.isascii, run))
        ):
            yield f"has English left in: {' '.join(run)!r}"
            return
    blocks = [{"".join(w.text for w in b if not w.quoted).strip() for b in prose(t)} for t in (english, text)]
    for block in sorted(blocks[0] & blocks[1]):
        if len(re.findall(r"\b[A-Za-z]?[a-z]{3,}\b", block)) > 1:
            yield f"has English left in: {block!r}"
