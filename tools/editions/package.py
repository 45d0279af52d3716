"""Fill the cells ``class-Name`` and ``function-a-name`` with source code of the package, shortened.

Left out are docstrings, checks of arguments and comments other than shapes. A check of arguments is
a statement that calls a function which the package decorates with ``@argument_check``. The package is the
folder that ``package`` names in ``_config.yml``.
"""

import ast
import builtins
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache

from nbformat import NotebookNode
from ruff import find_ruff_bin

from tools.cells import SHOWN_SOURCE, shown_name, with_roles
from tools.course import Course, CourseError, cells

from . import names

WIDTH = 79
CHECK = "argument_check"  # the decorator of functions whose calls a page leaves out


def shown_sources(course: Course, stem: str, notebook: NotebookNode) -> dict[str, str]:
    """Return the source of every cell of the notebook that shows a class or a function of the package."""
    shown = with_roles(notebook.cells, *SHOWN_SOURCE) if course.package else {}
    if not shown:
        return {}
    paths = sorted((course.root / course.package).rglob("*.py"))
    modules = [path.read_text(encoding="utf-8") for path in paths]
    checks = frozenset().union(*map(argument_checks, modules))
    sources = {}
    for key, cell in shown.items():
        name = shown_name(cell)
        homes = [source for module in modules if (source := definition(module, name))]
        if len(homes) != 1:
            number = "no" if not homes else "more than one"
            raise CourseError(f"{course.source} {stem}#{key}: {course.package} has {number} {name}")
        sources[key] = short(homes[0], checks)
    return sources


parsed = cache(ast.parse)


@cache
def argument_checks(module: str) -> frozenset[str]:
    """Return the names of the functions that a module marks as checks of arguments."""
    functions = (node for node in parsed(module).body if isinstance(node, ast.FunctionDef))
    return frozenset(node.name for node in functions if has_decorator(node, CHECK))


def has_decorator(node: ast.FunctionDef, name: str) -> bool:
    """Return True if a function has this decorator, with or without its module's name before it."""
    return any(ast.unparse(part).rpartition(".")[2] == name for part in node.decorator_list)


@cache
def definition(module: str, name: str) -> str | None:
    """Return the source of a class or function that a module defines."""
    for node in parsed(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            first = min(part.lineno for part in (node, *node.decorator_list))
            return "\n".join(module.splitlines()[first - 1 : node.end_lineno])
    return None


@cache
def short(source: str, checks: frozenset[str]) -> str:
    """Return a definition as a page shows it, without calls of these checks, formatted."""
    lines: list[str | None] = list(source.splitlines())
    for first, last, instead in removals(ast.parse(source), checks):
        lines[first - 1 : last] = [instead] + [None] * (last - first)
        if instead is None and last < len(lines) and not lines[last]:
            lines[last] = None
    text = "\n".join(line for line in lines if line is not None)
    first = formatted(with_shapes_only(text))
    second = with_shapes_only(first)  # a line that ruff joined may be too long for its shape
    return first if second == first else formatted(second)


def removals(node: ast.AST, checks: frozenset[str]) -> Iterator[tuple[int, int, str | None]]:
    """Yield first and last line of what is left out, and the line to put there."""
    for body in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
        if not isinstance(body, list):
            continue
        left_out = [part for part in body if is_left_out(part, checks)]
        for part in left_out:
            first = min(line.lineno for line in (part, *getattr(part, "decorator_list", ())))
            is_body_empty = len(left_out) == len(body) and part is left_out[-1]
            yield first, part.end_lineno or first, " " * part.col_offset + "pass" if is_body_empty else None
        for part in body:
            if part not in left_out:
                yield from removals(part, checks)


def is_left_out(node: ast.stmt, checks: frozenset[str]) -> bool:
    """Return True for docstrings, checks, an `if` around nothing but checks, signatures for type checkers."""
    if isinstance(node, ast.If):
        return not node.orelse and all(is_left_out(part, checks) for part in node.body)
    if isinstance(node, ast.FunctionDef):
        return has_decorator(node, "overload")
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func).rpartition(".")[2] in checks
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def with_shapes_only(source: str) -> str:
    """Return code without comments in words. A shape that does not fit behind its line stands above it."""
    lines: list[str] = []
    comments = {
        token.start[0]: token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    for number, line in enumerate(source.splitlines(), 1):
        if comment := comments.get(number):
            code = line[: comment.start[1]].rstrip()
            is_shape = re.match(r"#\s*[(\[]", comment.string)
            if is_shape and code and len(line) > WIDTH:
                lines.append(re.match(r"\s*", line)[0] + comment.string)  # type: ignore[index]
            line = line if is_shape and len(line) <= WIDTH else code
            if not line:
                continue
        lines.append(line)
    return "\n".join(lines)


def formatted(source: str) -> str:
    """Return code as ruff formats it, with arguments on one line where they fit."""
    command = [find_ruff_bin(), "format", "--isolated", f"--line-length={WIDTH}"]
    command += ["--config=format.skip-magic-trailing-comma=true", "--stdin-filename=cell.py", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def unknown_names(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield cells that show the package, each with a name that nothing before it on the page defines."""
    known, shown = {*dir(builtins), "__file__"}, with_roles(notebook.cells, *SHOWN_SOURCE)
    for key, cell in cells(notebook, "code").items():
        tree = names.parsed(cell.source)
        if key in shown:
            yield from ((key, name) for name in sorted(names.read_names(tree) - known))
        known |= names.bound_names(tree, imports=True)
