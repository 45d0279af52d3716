"""Show what changed in English since a cell was translated, and record that a change was trivial."""

import difflib
import re
import subprocess
from collections.abc import Iterator

import nbformat

from tools.course import Course, CourseError, cells

from .lock import Entry, cell_state, read_lock, write_lock
from .markup import plain, skeleton
from .records import digest


def difference(course: Course, language: str, stem: str, key: str) -> str:
    """Return the English of the cell then and now, word by word: [-deleted-] {+inserted+}."""
    english, texts = cells(course.read(course.source, stem)), cells(course.read(language, stem))
    if key not in english or key not in texts:
        raise CourseError(f"{language} {stem}: no such Markdown cell: {key}")
    entry, now = read_lock(course, language).get((stem, key), Entry()), english[key].source
    if cell_state(entry, now, texts[key].source) == "untranslated":
        return f"not translated yet; the English:\n\n{now}"
    if entry.english == digest(now):
        return "English has not changed since this cell was translated."
    then = english_of(course, stem, key, entry.english)
    if then is None:
        return f"The English it was translated from is not in this clone's history. Today's:\n\n{now}"
    return mark_changes(then, now)


def english_of(course: Course, stem: str, key: str, wanted: str) -> str | None:
    """Return the text of the English cell that has this digest, from git's history."""
    return next((text for text in versions(course, stem, key) if digest(text) == wanted), None)


def versions(course: Course, stem: str, key: str) -> Iterator[str]:
    """Yield the texts of the English cell in git's history, the latest first."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(course.root), *arguments], capture_output=True, text=True, check=False
        ).stdout

    path = course.path(course.source, stem).relative_to(course.root).as_posix()
    for commit in git("log", "--format=%H", "--", path).split():
        try:
            yield cells(nbformat.reads(git("show", f"{commit}:./{path}"), 4))[key].source
        except (KeyError, ValueError, nbformat.reader.NotJSONError):
            continue


def mark_changes(then: str, now: str) -> str:
    """Return both texts as one, with [-deleted-] and {+inserted+} words."""
    old, new = (re.findall(r"\s+|[^\s]+", text) for text in (then, now))
    marked = ""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        deleted, inserted = "".join(old[old_start:old_end]), "".join(new[new_start:new_end])
        if kind == "equal":
            marked += inserted
        else:
            marked += (f"[-{deleted}-]" if deleted else "") + (f"{{+{inserted}+}}" if inserted else "")
    return marked


def changed_lines(marked: str) -> str:
    """Return the lines of a marked text in which something changed."""
    return "\n".join(line for line in marked.splitlines() if "[-" in line or "{+" in line) or marked


def numbers_of(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,]\d+)*", plain(text))


def stamp_trivial(course: Course, stem: str, keys: list[str]) -> list[str]:
    """State that the last edit of these English cells changed no meaning: what was fresh stays fresh.

    Returns lines for the editor: each cell's change, and the languages that stay fresh.
    """
    english, report = cells(course.read(course.source, stem)), []
    locks = {language: read_lock(course, language) for language in course.translations}
    for key in keys:
        where = f"{course.source} {stem}#{key}"
        if key not in english:
            raise CourseError(f"{where}: there is no such Markdown cell")
        now = english[key].source
        then = next((text for text in versions(course, stem, key) if text != now), None)
        if then is None:
            raise CourseError(f"{where}: git's history here has no other text of this cell")
        if skeleton(then) != skeleton(now) or numbers_of(then) != numbers_of(now):
            raise CourseError(
                f"{where}: the edit changes a formula, code, a link, a heading or a number, which"
                " translations have to follow: mend and stamp each language. Nothing was stamped."
            )
        fresh = []
        for language, lock in locks.items():
            text, entry = cells(course.read(language, stem)).get(key), lock.get((stem, key), Entry())
            if text and cell_state(entry, then, text.source) == "fresh":
                lock[stem, key] = Entry(digest(now), entry.text)
                fresh.append(language)
        nothing = "nothing to stamp: no translation was read against the text before this edit"
        stays = f"stays fresh in {', '.join(fresh)}" if fresh else nothing
        report.append(f"{where}: {stays}\n{changed_lines(mark_changes(then, now))}")
    for language, lock in locks.items():
        write_lock(course, language, lock)
    return report
