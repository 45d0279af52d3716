"""Code cells that show the package: ``class-Name`` and ``function-a-name`` are its source, without asides.

No docstrings, no checks of arguments (statements that call a ``check_…`` function), no comments but those of
shapes. The package is the folder that ``package`` names in ``_config.yml``.
"""

from __future__ import annotations

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

from tools.course import Course, CourseError, cells

WIDTH = 79
SHOWN = re.compile(r"class-([A-Z]\w*)|function-([a-z][a-z0-9-]*)")


def shown(course: Course, stem: str, notebook: NotebookNode) -> dict[str, str]:
    """The source of every cell of the notebook that shows a class or a function of the package."""
    found = {}
    for key in cells(notebook, "code"):
        if course.package and (match := SHOWN.fullmatch(key)):
            name = match[1] or match[2].replace("-", "_")
            homes = [
                source
                for path in sorted((course.root / course.package).rglob("*.py"))
                if (source := definition(path.read_text(encoding="utf-8"), name))
            ]
            if len(homes) != 1:
                said = "no" if not homes else "more than one"
                raise CourseError(f"{course.source} {stem}#{key}: {course.package} has {said} {name}")
            found[key] = short(homes[0])
    return found


parsed = cache(ast.parse)


@cache
def definition(module: str, name: str) -> str | None:
    """The source of a class or function that a module defines."""
    for node in parsed(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            first = min(part.lineno for part in (node, *node.decorator_list))
            return "\n".join(module.splitlines()[first - 1 : node.end_lineno])
    return None


@cache
def short(source: str) -> str:
    """A definition as a page shows it, formatted."""
    lines: list[str | None] = list(source.splitlines())
    for first, last, instead in removals(ast.parse(source)):
        lines[first - 1 : last] = [instead] + [None] * (last - first)
        if instead is None and last < len(lines) and not lines[last]:
            lines[last] = None
    text = "\n".join(line for line in lines if line is not None)
    once = formatted(with_shapes_only(text))
    return formatted(with_shapes_only(once))  # a line that ruff joined may be too long for its shape


def removals(node: ast.AST) -> Iterator[tuple[int, int, str | None]]:
    """First and last line of what is left out, and what stands there instead."""
    for body in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
        if not isinstance(body, list):
            continue
        out = [part for part in body if is_left_out(part)]
        for part in out:
            first = min(line.lineno for line in (part, *getattr(part, "decorator_list", ())))
            alone = len(out) == len(body) and part is out[-1]
            yield first, part.end_lineno or first, " " * part.col_offset + "pass" if alone else None
        for part in body:
            if part not in out:
                yield from removals(part)


def is_left_out(node: ast.stmt) -> bool:
    """Docstrings, checks, conditions that guard nothing but checks, and signatures for type checkers."""
    if isinstance(node, ast.If):
        return not node.orelse and all(map(is_left_out, node.body))
    if isinstance(node, ast.FunctionDef):
        return any(ast.unparse(part).endswith("overload") for part in node.decorator_list)
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func).rpartition(".")[2].startswith("check_")
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def with_shapes_only(source: str) -> str:
    """Without comments in words. A shape that does not fit behind its line stands above it."""
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
    """Formatted by ruff; arguments stand on one line where they fit."""
    command = [find_ruff_bin(), "format", "--isolated", f"--line-length={WIDTH}"]
    command += ["--config=format.skip-magic-trailing-comma=true", "--stdin-filename=cell.py", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def unknown_names(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Cells that show the package, each with a name that nothing before it on the page defines."""
    known = {*dir(builtins), "__file__"}
    for key, cell in cells(notebook, "code").items():
        try:
            tree = ast.parse(re.sub(r"^[%!].*$", "", cell.source, flags=re.MULTILINE))
        except SyntaxError:  # a magic inside a block
            continue
        own = bound(tree)
        if SHOWN.fullmatch(key):
            used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            yield from ((key, name) for name in sorted(used - own - known))
        known |= own


def bound(tree: ast.Module) -> set[str]:
    """Every name that a cell gives to something."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found
