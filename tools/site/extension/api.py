"""The package's reference, from its docstrings: read from the source, so that nothing has to be imported."""

import ast
import copy
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx

from tools.course import Course

from .edition import course_of, interface_words
from .notebook import folded
from .writer import Box

PACKAGE = Course().root / Course().package
LISTS = {"Parameters", "Returns", "Yields", "Raises", "Attributes"}
Documented = ast.FunctionDef | ast.ClassDef


def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def assignments(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the names that a module gives to values, types and constants."""
    found = {}
    for node in body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if several else [(target, value)]
            found |= {name.id: value for name, value in pairs if isinstance(name, ast.Name)}
    return found


def public(module: ast.Module) -> list[Documented]:
    """Return the classes and functions that a module's `__all__` names, in the order of the source."""
    names = ast.literal_eval(assignments(module.body).get("__all__", ast.Tuple([])))
    return [node for node in module.body if isinstance(node, Documented) and node.name in names]


def methods(node: Documented) -> list[ast.FunctionDef]:
    """Return the documented methods of a class that do not start with `_`."""
    parts = node.body if isinstance(node, ast.ClassDef) else []
    found = [part for part in parts if isinstance(part, ast.FunctionDef) and not part.name.startswith("_")]
    return [part for part in found if ast.get_docstring(part)]


@cache
def homes() -> dict[str, str]:
    """Return the module of every public class and function."""
    return {node.name: path.stem for path in PACKAGE.glob("[!_]*.py") for node in public(tree(path))}


def has_decorator(node: Documented, name: str) -> bool:
    """Return True for a function with this decorator."""
    return any(ast.unparse(part) == name for part in node.decorator_list)


def arguments(node: ast.FunctionDef, constants: dict[str, ast.expr]) -> str:
    """Return names and defaults as a caller gives them; types and shapes are in the list of parameters."""
    given = copy.deepcopy(node.args)
    if given.vararg and given.vararg.annotation and ast.unparse(given.vararg.annotation) == "object":
        given.vararg = None  # it only catches wrong calls
    given.args = [argument for argument in given.args if argument.arg != "self"]
    given.defaults = [constants.get(ast.unparse(value), value) for value in given.defaults]
    for argument in ast.walk(given):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return f"({ast.unparse(given)})"


def signature(node: Documented, constants: dict[str, ast.expr]) -> str:
    """Return the arguments of a function or of a class's `__init__`, or a named tuple's fields."""
    if isinstance(node, ast.FunctionDef):
        return "" if has_decorator(node, "property") else arguments(node, constants)
    if any(ast.unparse(base) == "NamedTuple" for base in node.bases):
        return f"({', '.join(part.target.id for part in node.body if isinstance(part, ast.AnnAssign))})"
    starts = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    return arguments(starts[0], constants) if starts else ""


def linked(name: str) -> str:
    """Return a name as code; a public one links to its description."""
    home = homes().get(name.partition(".")[0])
    return f":py:obj:`{name} <{PACKAGE.name}.{home}.{name}>`" if home else f"``{name}``"


def as_code(text: str) -> str:
    """Write single backticks as code, and escape markup outside of code and formulas."""
    parts = re.split(r"(``.+?``|:math:`.+?`)|`([^`\n]+)`", text)
    return "".join(
        re.sub(r"([*_|])", r"\\\1", plain) + (kept or (linked(name) if name else ""))
        for plain, kept, name in zip(parts[::3], [*parts[1::3], ""], [*parts[2::3], ""], strict=True)
    )


def format_type(text: str) -> str:
    """Write a type: allowed values are code, the package's classes link to their descriptions."""
    if text.startswith("{"):
        return f"``{text}``"
    return as_code(re.sub(r"[`\w.]+", lambda word: f"`{word[0]}`" if word[0] in homes() else word[0], text))


def item(lines: list[str], title: str) -> str:
    """Return one argument, answer or error of a numpydoc section as a list item."""
    name, _, kind = lines[0].partition(" : ")
    text = as_code(" ".join(line.strip() for line in lines[1:]))
    if not kind and title in {"Returns", "Yields"}:
        return ". ".join(filter(None, [f"- {format_type(name)}", text]))
    head = f"- ``{name}`` : {format_type(kind)}." if kind else f"- ``{name}``:"
    return f"{head} {text}" if text else head[:-1]


def link_citations(text: str) -> str:
    """Link sources to the list of references."""
    source = r"(\w+) et al\. \((\d{4})\)"
    return re.sub(source, lambda m: f"`{m[0]} <references.html#{m[1].lower()}-{m[2]}>`__", text)


def section(title: str, lines: list[str], words: dict[str, str]) -> list[str]:
    """Return a section of a docstring with its heading in the reader's language."""
    head = ["", f".. rubric:: {words['api_' + title.lower()]}", ""]
    if title == "Examples":  # code, as it is
        return head + lines
    if title not in LISTS:
        return head + [link_citations(as_code(line)) for line in lines]
    groups: list[list[str]] = []
    for line in filter(str.strip, lines):
        if not line.startswith(" ") or not groups:
            groups.append([])
        groups[-1].append(line)
    return head + [item(group, title) for group in groups]


def description(text: str, words: dict[str, str]) -> list[str]:
    """Return a numpydoc docstring as reStructuredText."""
    summary, *parts = re.split(r"^([A-Z]\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    lines = as_code(summary).splitlines()
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        lines += section(title, body.splitlines(), words)
    return lines


def entry(node: Documented, words: dict[str, str], constants: dict[str, ast.expr], kind: str) -> list[str]:
    """Return a class with its methods, a function or a property."""
    inner = ["", *description(ast.get_docstring(node) or "", words), ""]
    for part in methods(node):
        inner += entry(part, words, constants, "property" if has_decorator(part, "property") else "method")
    return [f".. py:{kind}:: {node.name}{signature(node, constants)}", *("   " + line for line in inner), ""]


def module(path: Path, words: dict[str, str]) -> list[str]:
    """Return the reference of one module."""
    parsed = tree(path)
    lines = [
        f".. py:module:: {PACKAGE.name}.{path.stem}",
        "",
        *description(ast.get_docstring(parsed) or "", words),
        "",
        ", ".join(linked(node.name) for node in public(parsed)),
        "",
    ]
    for node in public(parsed):
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        lines += entry(node, words, assignments(parsed.body), kind)
    return ["````{eval-rst}", *lines, "````"]


class Reference(Directive):
    """`{course-api}`: the reference of the whole package."""

    def run(self) -> list[nodes.Node]:
        """Return one section a module; its text is in the source language in every edition."""
        environment = self.state.document.settings.env
        words, course = interface_words(environment.config), course_of(environment.config)
        source, sections = course.languages[course.source], []
        for path in sorted(PACKAGE.glob("[!_]*.py")):
            environment.note_dependency(str(path))
            if not public(tree(path)):
                continue
            part = nodes.section(ids=[path.stem])
            part += nodes.title("", "", nodes.literal("", f"{PACKAGE.name}.{path.stem}"))
            text = Box(lang=source.html)
            self.state.nested_parse(StringList(module(path, words), str(path)), 0, text)
            for content in text.findall(addnodes.desc_content):
                if not isinstance(content.parent.parent, addnodes.desc_content):
                    content[1:] = [folded(words["api_details"], *content.children[1:], classes=[])]
            part += text
            sections.append(part)
        return sections


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("course-api", Reference)
