"""Write a notebook as one Markdown file, for translators without Jupyter, and read the translation back."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from tools.cells import Role, is_generated, sections
from tools.course import Course, CourseError, cells

from . import source_file
from .comparison import Difference, differences
from .glossary import allowed_words, terms_in
from .lint import lint
from .lock import Entry, cell_state, read_lock, write_lock
from .records import digest
from .source_file import END

HEADER = """\
<!-- {stem}, {name}. For each cell: the English, then after "%%% {code}" the translation.
     Leave the English and the lines that begin with %%% as they are; an empty translation stays as it was.
     Formulas, `code` and link targets are the same in every language. -->
"""


@dataclass(frozen=True)
class Passage:
    """One cell of a translator's file: its English, and the translation, empty where there is none yet."""

    key: str
    digest: str
    english: str
    text: str


def write_export(course: Course, language: str, stem: str, path: Path, todo: bool, force: bool) -> None:
    """Write the file, unless one lies there with work that was not imported."""
    text = export(course, language, stem, todo)
    if not force and path.exists() and holds_work(course, language, stem, path):
        raise CourseError(
            f"{language} {stem}: {path_in(course, path)} holds work that was not imported."
            " Import it, export into another FILE, or say --force to overwrite it. Nothing was written."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n{END}{digest(text)}\n", encoding="utf-8")


def holds_work(course: Course, language: str, stem: str, path: Path) -> bool:
    """Return True if the file was edited since export, and differs from its notebook."""
    file = read_text(path)
    body, _, stated = file.rpartition(f"\n{END}")
    if digest(body) == stated.strip():
        return False
    try:
        if language == course.source:
            return source_file.source_cells(file, "") != source_file.exported_cells(
                course.read(language, stem)
            )
        texts = cells(course.read(language, stem))
        found = passages(language, file, str(path_in(course, path)))
        return any(p.text and (p.key not in texts or p.text != texts[p.key].source.strip()) for p in found)
    except CourseError:
        return True


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: cannot be read: {error}") from None


def path_in(course: Course, path: Path) -> Path:
    """Return a path as a person in the course's folder names it."""
    return path.relative_to(course.root) if path.is_relative_to(course.root) else path


def default_path(course: Course, language: str, stem: str) -> Path:
    return course.root / "translations" / language / f"{stem}.md"


def export(course: Course, language: str, stem: str, todo: bool = False) -> str:
    """Return the file's text; ``todo``: only cells that are not fresh, with code between them for context."""
    if language == course.source:
        return source_file.export(course, stem)
    source, texts = course.read(course.source, stem), cells(course.read(language, stem))
    lock, name = read_lock(course, language), course.languages[language].name
    parts = [HEADER.format(stem=stem, name=name, code=language)]
    for cell in source.cells:
        key = cell["id"]
        if cell.cell_type == "code":
            parts.append(f"%%% code {key}\n```python\n{cell.source}\n```\n")
        elif key in texts and not is_generated(key):
            text = texts[key].source
            state = cell_state(lock.get((stem, key), Entry()), cell.source, text)
            if state == "fresh" and todo:
                continue
            translation = "" if state == "untranslated" else f"{text}\n"
            parts.append(
                f"%%% cell {key} {digest(cell.source)} {state}\n{cell.source}\n"
                f"{term_line(course, language, cell.source)}%%% {language}\n{translation}"
            )
    return "\n".join(parts)


def term_line(course: Course, language: str, english: str) -> str:
    """Return the glossary's words for the terms of a cell."""
    used = terms_in(course, english)
    rows = ((row[course.source], allowed_words(row, language)) for row in course.terms)
    found = [f"{term}: {' | '.join(words)}" for term, words in rows if term in used and words]
    return f"%%% terms {'; '.join(found)}\n" if found else ""


def passages(language: str, text: str, where: str) -> list[Passage]:
    """Parse a translator's file; a header that is missing or that export does not write is an error."""

    def fault(what: str) -> CourseError:
        return CourseError(f"{where}: {what}. Mend the file, or export into another; nothing was changed")

    found: list[Passage] = []
    cell: tuple[str, str, str] | None = None
    blocks = re.split(r"^%%% (.*)$", text, flags=re.MULTILINE)
    headers = [header.strip() for header in blocks[1::2]]
    if not headers or not headers[-1].startswith("end "):
        raise fault(f"its last line, '{END}…', is missing")
    for header, body in zip(headers, blocks[2::2], strict=True):
        if header.startswith("end ") and body.strip():
            raise fault(f"text stands beneath its last line, '{END}…'")
        if header == language and cell:
            found.append(Passage(*cell, body.strip()))
            cell = None
        elif cell and not header.startswith("terms "):
            raise fault(f"cell {cell[0]} has lost its line '%%% {language}'")
        elif match := re.fullmatch(r"cell ([\w-]+) ([0-9a-f]{12}) \w+", header):
            cell = match[1], match[2], body.strip("\n")
        elif not re.fullmatch(r"code [\w-]+|end [0-9a-f]{12}", header) and not cell:
            after = f" (after cell {found[-1].key})" if found else ""
            raise fault(f"the line '%%% {header}'{after} is not as export wrote it")
    return found


def take_in(course: Course, language: str, stem: str, path: Path, stamp: bool = False) -> list[str]:
    """Write the file's translations into the notebook, and return the ids that changed.

    If any passage has a fault, nothing is written.
    """
    file = read_text(path)
    if language == course.source:
        return source_file.take_in(course, stem, file, str(path_in(course, path)))
    header = re.match(r"<!-- (.+)\. For each cell", file)
    wanted = f"{stem}, {course.languages[language].name}"
    if header and header[1] != wanted:
        raise CourseError(
            f"{path_in(course, path)}: is the file of {header[1]}, not of {wanted}. Nothing was changed"
        )
    found = passages(language, file, str(path_in(course, path)))
    english, notebook = course.read(course.source, stem), course.read(language, stem)
    texts, lock = cells(notebook), read_lock(course, language)
    after = {key: cell.source for key, cell in texts.items()} | {p.key: p.text for p in found if p.text}
    changed = [p for p in found if p.text and (p.key not in texts or p.text != texts[p.key].source.strip())]
    faults = [
        f"  {language} {stem}#{passage.key}: {fault}"
        for passage in found
        for fault in passage_faults(course, language, english, after, passage, passage in changed)
    ]
    keys = Counter(passage.key for passage in found)
    faults += [
        f"  {language} {stem}#{key}: is in the file twice" for key, number in keys.items() if number > 1
    ]
    if faults:
        raise CourseError(f"{path_in(course, path)}: nothing was changed, because of\n" + "\n".join(faults))
    for passage in changed:
        texts[passage.key].source = passage.text
        if stamp:
            lock[stem, passage.key] = Entry(passage.digest, digest(passage.text))
    course.write(language, stem, notebook)
    write_lock(course, language, lock)
    return [passage.key for passage in changed]


def passage_faults(
    course: Course,
    language: str,
    english: NotebookNode,
    texts: dict[str, str],
    passage: Passage,
    is_changed: bool,
) -> Iterator[str]:
    """Yield why a passage cannot be taken in; `texts`: the notebook's texts as they would be."""
    cell = cells(english).get(passage.key)
    if cell is None:
        yield "English has no such cell"
        return
    is_current = passage.digest == digest(cell.source)  # else the English changed since the export
    if is_current:
        is_intact = passage.english.split() == cell.source.split()
    else:
        is_intact = passage.digest == digest(passage.english)
    if not is_intact:
        yield f"its English was edited in the file; write the translation beneath '%%% {language}'"
    if is_changed:
        yield from lint(course, language, cell.source, passage.text)
        found = compared(course, language, english, texts, passage.key) if is_current else ()
        yield from (what for level, what in found if level == "error")


def compared(
    course: Course, language: str, english: NotebookNode, texts: dict[str, str], key: str
) -> Iterator[Difference]:
    """Compare one text with its English, in its section."""
    section = next(keys for keys in sections(english.cells) if key in keys)
    theirs = {key: cell.source for key, cell in cells(english).items() if key in section}
    ours = {key: texts[key] for key in theirs if key in texts}
    yield from differences(course, language, key, theirs, ours, prose=key != Role.REFERENCES)


def warnings(course: Course, language: str, stem: str, keys: list[str]) -> Iterator[str]:
    """Yield warnings about imported cells: terms, and contents that moved to another cell."""
    if language == course.source:
        return
    english = course.read(course.source, stem)
    texts = {key: cell.source for key, cell in cells(course.read(language, stem)).items()}
    for key in keys:
        for level, what in compared(course, language, english, texts, key):
            if level == "warning":
                yield f"warning: {language} {stem}#{key}: {what}"
