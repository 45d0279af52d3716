"""For authors and translators without Jupyter: a notebook as one Markdown file, cell by cell."""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.course import Course, CourseError, cells

from .lint import differences, lint
from .lock import Entry, cell_state, digest, read_lock, write_lock
from .sync import tidy

HEADER = """\
<!-- {stem}, {name}. For each cell: the English, then after "%%% {code}" the translation.
     Leave the lines that begin with %%% as they are; an empty translation stays as it was.
     Formulas, `code` and link targets are the same in every language. -->
"""


SOURCE_HEADER = """\
<!-- {stem}. "%%% text ID" and "%%% code ID tag,tag" begin a cell; cells may be added, moved and removed.
     An id is words of a-z and 0-9 with hyphens, and is kept for ever. -->
"""


@dataclass(frozen=True)
class Passage:
    """A cell as it comes back: its id, the digest of the English that stood beside it, the translation."""

    key: str
    english: str
    text: str


def default_path(course: Course, language: str, stem: str) -> Path:
    return course.root / "_build/translations" / language / f"{stem}.md"


def export(course: Course, language: str, stem: str, todo: bool = False) -> str:
    """The file's text; ``todo``: only cells that are not fresh, with code between them for context."""
    if language == course.source:
        return export_source(course, stem)
    source, texts = course.read(course.source, stem), cells(course.read(language, stem))
    lock, name = read_lock(course, language), course.languages[language].name
    parts = [HEADER.format(stem=stem, name=name, code=language)]
    for cell in source.cells:
        key = cell["id"]
        if cell.cell_type == "code":
            parts.append(f"%%% code {key}\n```python\n{cell.source}\n```\n")
        elif key in texts:
            text = texts[key].source
            state = cell_state(lock.get((stem, key), Entry()), cell.source, text)
            if state == "fresh" and todo:
                continue
            shown = "" if state == "untranslated" else f"{text}\n"
            parts.append(
                f"%%% cell {key} {digest(cell.source)} {state}\n{cell.source}\n%%% {language}\n{shown}"
            )
    return "\n".join(parts)


def passages(language: str, text: str, where: str) -> Iterator[Passage]:
    """The translations of a file; lines that nobody could have meant are errors."""
    blocks = re.split(r"^%%% (.*)$", text, flags=re.MULTILINE)
    cell: tuple[str, str] | None = None
    for header, body in zip(blocks[1::2], blocks[2::2], strict=True):
        if match := re.fullmatch(r"cell ([\w-]+) ([0-9a-f]{12}) \w+\s*", header):
            cell = match[1], match[2]
        elif header.strip() == language and cell:
            if body.strip():
                yield Passage(*cell, body.strip())
            cell = None
        elif not re.fullmatch(r"code [\w-]+\s*", header):
            raise CourseError(
                f"{where}: the line '%%% {header}' is not as export wrote it; nothing was changed"
            )


def take_in(course: Course, language: str, stem: str, path: Path, stamp: bool = False) -> list[str]:
    """Write the file's translations into the notebook: all, or none where one has a fault."""
    try:
        file = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: cannot be read: {error}") from None
    if language == course.source:
        return take_in_source(course, stem, file, str(path))
    found = list(passages(language, file, str(path)))
    english, notebook = cells(course.read(course.source, stem)), course.read(language, stem)
    texts, lock = cells(notebook), read_lock(course, language)
    changed = [p for p in found if p.key not in texts or p.text != texts[p.key].source.strip()]
    faults = [
        f"  {p.key}: {fault}" for p in changed for fault in passage_faults(course, language, english, p)
    ]
    faults += [f"  {key}: stands twice" for key in duplicates(found)]
    if faults:
        raise CourseError(f"{path}: nothing was changed, because of\n" + "\n".join(faults))
    for passage in changed:
        texts[passage.key].source = passage.text
        if stamp:
            lock[stem, passage.key] = Entry(passage.english, digest(passage.text))
    course.write(language, stem, notebook)
    write_lock(course, language, lock)
    return [passage.key for passage in changed]


def duplicates(found: list[Passage]) -> set[str]:
    keys = [passage.key for passage in found]
    return {key for key in keys if keys.count(key) > 1}


def passage_faults(
    course: Course, language: str, english: dict[str, NotebookNode], passage: Passage
) -> Iterator[str]:
    cell = english.get(passage.key)
    if cell is None:
        yield "English has no such cell"
        return
    source = cell.source
    yield from lint(course, language, source, passage.text)
    if passage.english == digest(source):
        yield from differences(source, passage.text)


def export_source(course: Course, stem: str) -> str:
    """The English notebook as text, from which ``take_in_source`` makes it again."""
    parts = [SOURCE_HEADER.format(stem=stem)]
    for cell in course.read(course.source, stem).cells:
        kind = "code" if cell.cell_type == "code" else "text"
        header = f"%%% {kind} {cell['id']} {','.join(cell.metadata.get('tags', []))}".rstrip()
        parts.append(f"{header}\n{cell.source}\n")
    return "\n".join(parts)


def take_in_source(course: Course, stem: str, file: str, where: str) -> list[str]:
    """Make the English notebook of a file, new or changed. Cells that are as before keep their outputs."""
    exists = stem in course.stems()
    before = {cell["id"]: cell for cell in course.read(course.source, stem).cells} if exists else {}
    blocks = re.split(r"^%%% (.*)$", file, flags=re.MULTILINE)
    made, changed = [], []
    for header, body in zip(blocks[1::2], blocks[2::2], strict=True):
        row = re.fullmatch(r"(text|code) ([a-z][\w-]*) ?(\S*)\s*", header)
        if not row or row[2] in [cell["id"] for cell in made]:
            raise CourseError(
                f"{where}: the line '%%% {header}' is not '%%% text ID' or '%%% code ID' of a new id"
            )
        kind, key, tags = row.groups()
        cell = new_code_cell(body.strip("\n")) if kind == "code" else new_markdown_cell(body.strip("\n"))
        old = before.get(key)
        if old and (old.cell_type, old.source.strip("\n")) == (cell.cell_type, cell.source):
            cell = old
        else:
            changed.append(key)
        cell["id"], cell.metadata["tags"] = key, tags.split(",") if tags else []
        made.append(cell)
    notebook = new_notebook(cells=made, metadata=course.read(course.source, stem).metadata if exists else {})
    course.write(course.source, stem, tidy(notebook, course, stem))
    return changed + [f"{key} (removed)" for key in before if key not in {cell["id"] for cell in made}]


def difference(course: Course, language: str, stem: str, key: str) -> str:
    """The English of the cell then and now, word by word: [-gone-] {+new+}."""
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
    """The text of the English cell that has this digest, from git's history."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(course.root), *arguments], capture_output=True, text=True, check=False
        ).stdout

    path = course.path(course.source, stem).relative_to(course.root).as_posix()
    for commit in git("log", "--format=%H", "--", path).split():
        try:
            text: str = cells(nbformat.reads(git("show", f"{commit}:./{path}"), 4))[key].source
        except (KeyError, ValueError, nbformat.reader.NotJSONError):
            continue
        if digest(text) == wanted:
            return text
    return None


def mark_changes(then: str, now: str) -> str:
    old, new = (re.findall(r"\s+|[^\s]+", text) for text in (then, now))
    shown = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = "".join(old[a:b]), "".join(new[c:d])
        shown.append(
            come if kind == "equal" else (f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else "")
        )
    return "".join(shown)
