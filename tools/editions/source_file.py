"""Write the English notebook as one Markdown file, for authors without Jupyter, and read it back."""

import re
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.course import Course, CourseError

from .sync import tidy

HEADER = """\
<!-- {stem}. "%%% text ID" and "%%% code ID tag,tag" begin a cell; cells may be added, moved and removed.
     An id is words of a-z and 0-9 with hyphens, and is kept for ever. -->
"""
END = "%%% end "


@dataclass(frozen=True)
class SourceCell:
    """A cell of the English file."""

    kind: str
    key: str
    tags: tuple[str, ...]
    text: str


def export(course: Course, stem: str) -> str:
    """Return the English notebook as text, from which ``take_in`` makes it again."""
    parts = [HEADER.format(stem=stem)]
    for cell in exported_cells(course.read(course.source, stem)):
        header = f"%%% {cell.kind} {cell.key} {','.join(cell.tags)}".rstrip()
        parts.append(f"{header}\n{cell.text}\n")
    return "\n".join(parts)


def exported_cells(notebook: NotebookNode) -> list[SourceCell]:
    return [
        SourceCell(
            "code" if cell.cell_type == "code" else "text",
            cell["id"],
            tuple(cell.metadata.get("tags", [])),
            cell.source.strip("\n"),
        )
        for cell in notebook.cells
    ]


def source_cells(file: str, where: str) -> list[SourceCell]:
    """Return the cells of an English file, which may be an author's own."""
    blocks = re.split(r"^%%% (.*)$", file, flags=re.MULTILINE)
    found: list[SourceCell] = []
    for header, body in zip(blocks[1::2], blocks[2::2], strict=True):
        if re.fullmatch(r"end [0-9a-f]{12}\s*", header):
            if body.strip():
                raise CourseError(f"{where}: text stands beneath '{END}…': give it a line '%%% text ID'")
            continue
        row = re.fullmatch(r"(text|code) ([a-z][\w-]*) ?(\S*)\s*", header)
        if not row or row[2] in [cell.key for cell in found]:
            raise CourseError(
                f"{where}: the line '%%% {header}' is not '%%% text ID' or '%%% code ID' of a new id"
            )
        found.append(SourceCell(row[1], row[2], tuple(row[3].split(",") if row[3] else ()), body.strip("\n")))
    return found


def take_in(course: Course, stem: str, file: str, where: str) -> list[str]:
    """Make the English notebook of a file, new or changed. Cells that are as before keep their outputs."""
    exists = stem in course.stems()
    before = {cell["id"]: cell for cell in course.read(course.source, stem).cells} if exists else {}
    made, changed = [], []
    for row in source_cells(file, where):
        cell = new_code_cell(row.text) if row.kind == "code" else new_markdown_cell(row.text)
        old = before.get(row.key)
        if old and (old.cell_type, old.source.strip("\n")) == (cell.cell_type, cell.source):
            cell = old
        else:
            changed.append(row.key)
        cell["id"], cell.metadata["tags"] = row.key, list(row.tags)
        made.append(cell)
    notebook = new_notebook(cells=made, metadata=course.read(course.source, stem).metadata if exists else {})
    course.write(course.source, stem, tidy(notebook, course, stem))
    return changed + [f"{key} (removed)" for key in before if key not in {cell["id"] for cell in made}]
