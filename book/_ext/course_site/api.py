"""The package's reference, from its docstrings: read from the source, so that nothing has to be imported."""

import ast
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

from course_site.languages import ROOT

PACKAGE = ROOT / "mha_course"
Documented = ast.FunctionDef | ast.ClassDef


def public(body: list[ast.stmt]) -> list[Documented]:
    """The documented classes and functions of a module or class that do not start with `_`."""
    found = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [node for node in found if not node.name.startswith("_") and ast.get_docstring(node)]


def signature(node: Documented) -> str:
    """Arguments as written; a class has those of its `__init__`."""
    if isinstance(node, ast.FunctionDef):
        answer = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"({ast.unparse(node.args)}){answer}".replace("(self, ", "(").replace("(self)", "()")
    start = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
    return f"({ast.unparse(start.args)})".replace("(self, ", "(").replace("(self)", "()") if start else ""


def description(node: Documented, indent: str) -> list[str]:
    """The docstring as reStructuredText."""
    text = ast.get_docstring(node) or ""
    config = Config(napoleon_use_param=False, napoleon_use_rtype=False, napoleon_use_ivar=True)
    return [indent + line for line in str(NumpyDocstring(text, config)).splitlines()]


def entry(node: Documented, kind: str, indent: str = "") -> list[str]:
    """A class with its methods, or a function."""
    inner = indent + "   "
    lines = [f"{indent}.. py:{kind}:: {node.name}{signature(node)}", "", *description(node, inner), ""]
    for part in public(node.body) if isinstance(node, ast.ClassDef) else []:
        lines += entry(part, "method", inner)
    return lines


def module(path: Path) -> list[str]:
    """The reference of one module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [f".. py:module:: mha_course.{path.stem}", "", *(ast.get_docstring(tree) or "").splitlines(), ""]
    for node in public(tree.body):
        lines += entry(node, "class" if isinstance(node, ast.ClassDef) else "function")
    return lines


class Reference(Directive):
    """`{course-api}`: the reference of the whole package."""

    def run(self) -> list[nodes.Node]:
        """One section a module."""
        sections = []
        for path in sorted(PACKAGE.glob("[!_]*.py")):
            section = nodes.section(ids=[path.stem])
            section += nodes.title("", "", nodes.literal("", f"mha_course.{path.stem}"))
            self.state.nested_parse(StringList(module(path), str(path)), 0, section)
            sections.append(section)
        return sections


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("course-api", Reference)
