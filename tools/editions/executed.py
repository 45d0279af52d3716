"""Record with which state of the package and its data each page was executed.

``book/executed.lock`` has one line for each page::

    attention-pooling 3f9ab2c10a1b

The digest is of what the page imports of the package, directly or not, without docstrings and comments,
and of the package's data that are named in it.
"""

import ast
import io
import re
import tokenize
from functools import cache
from hashlib import sha256
from pathlib import Path

from nbformat import NotebookNode

from tools.cells import Role, role_of
from tools.course import Course, cells

from . import records

PATH, COLUMNS = "book/executed.lock", "page digest"


def record(course: Course, stem: str, notebook: NotebookNode) -> None:
    """Record that the page was executed with the package as it is now."""
    if course.package:
        rows = records.read(course, PATH, COLUMNS) | {(stem,): (package_digest(course, notebook),)}
        records.write(course, PATH, {page: row for page, row in rows.items() if page[0] in course.stems()})


def outdated(course: Course, stems: list[str]) -> list[str]:
    """Return the pages whose outputs are of another state of the package or its data."""
    if not course.package:
        return []
    rows = records.read(course, PATH, COLUMNS)
    pages = {stem: course.read(course.source, stem) for stem in stems}
    return [stem for stem in stems if rows.get((stem,)) != (package_digest(course, pages[stem]),)]


def package_digest(course: Course, notebook: NotebookNode) -> str:
    """Digest the modules that the page imports, those that these import, and the data that they name."""
    folder = course.root / course.package
    code = cells(notebook, "code").values()
    page = "\n".join(cell.source for cell in code if role_of(cell) is not Role.SETUP)
    texts, to_read = {"": page}, set(imported(page, course.package))
    while to_read:
        path = to_read.pop()
        for name in f"{path}.py", f"{path}/__init__.py":
            if name not in texts and (file := folder.parent / name).exists():
                texts[name] = code_of(file.read_text(encoding="utf-8"))
                to_read |= imported(texts[name], course.package)
    data = [path for path in data_files(folder) if any(is_named(path, text) for text in texts.values())]
    parts = [f"{name}\n{text}" for name, text in sorted(texts.items()) if name]
    parts += [f"{path.relative_to(folder)}\n{sha256(path.read_bytes()).hexdigest()}" for path in data]
    return records.digest("\n".join(parts))


def data_files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
    )


def is_named(path: Path, code: str) -> bool:
    """Return True if the code names the file, with or without its suffix, in a string."""
    return f'"{path.stem}"' in code or f'"{path.name}"' in code


@cache
def imported(code: str, package: str) -> frozenset[str]:
    """Return the modules of the package that the code imports, as paths."""
    lines = re.findall(
        rf"^\s*(?:from|import) ({package}[\w.]*)(?: import (?:\(([^)]*)|([^\n(]*)))?", code, re.MULTILINE
    )
    found = {module for module, _, _ in lines}
    for module, inside, after in lines:
        found |= {f"{module}.{name.split()[0]}" for name in (inside or after).split(",") if name.strip()}
    return frozenset(name.replace(".", "/") for name in found)


@cache
def code_of(source: str) -> str:
    """Return the code of a module without docstrings, comments and empty lines."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())
