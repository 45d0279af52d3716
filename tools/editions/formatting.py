"""Format the code of a page with ruff, by the settings in ``book/ruff.toml``."""

import subprocess
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from ruff import find_ruff_bin

from tools.cells import is_made_code
from tools.course import Course, CourseError, cells, parsed_notebook

from .package import WIDTH


def format_pages(course: Course, stems: Collection[str] = ()) -> list[str]:
    """Lay out the code of these English pages (none: of all), and return the files changed."""
    if unknown := set(stems) - set(course.stems()):
        raise CourseError(f"{course.source} {min(unknown)}: there is no such notebook")
    changed = []
    for stem in stems or course.stems():
        notebook = course.read(course.source, stem)
        for key, source in unformatted(course, stem, notebook).items():
            cells(notebook, "code")[key].source = source
        if course.write(course.source, stem, notebook):
            changed.append(f"book/{course.source}/{stem}.ipynb")
    return changed


def unformatted(course: Course, stem: str, notebook: NotebookNode) -> dict[str, str]:
    """Return the code cells that ruff would change, as it would have them, but those that sync makes."""
    code, path = cells(notebook, "code"), course.path(course.source, stem)
    wanted = cells(parsed_notebook(by_ruff(nbformat.writes(notebook), path)), "code")
    return {
        key: wanted[key].source
        for key in code
        if not is_made_code(code[key]) and wanted[key].source != code[key].source
    }


@cache
def by_ruff(text: str, path: Path) -> str:
    """Return a notebook's text as ruff lays it out; ids and metadata may differ."""
    command = [find_ruff_bin(), "format", "--stdin-filename", str(path), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"{path.parent.name} {path.stem}: ruff cannot read its code: {done.stderr.strip()}")
    return done.stdout


def faults(course: Course, stem: str, notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield cells whose code is laid out otherwise, or has lines that a reader would have to scroll."""
    for key in unformatted(course, stem, notebook):
        yield key, "its code is not laid out as the others': run format"
    for key, cell in cells(notebook, "code").items():
        longest = max(map(len, cell.source.splitlines()), default=0)
        if longest > WIDTH and not is_made_code(cell):
            yield key, f"has a line of {longest} characters; {WIDTH} fit on a page"
