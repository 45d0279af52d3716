"""The package's reference, from its docstrings: read from the source, so that nothing has to be imported."""

import ast
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from course_site.languages import ROOT, words
from course_site.writer import Box

PACKAGE = ROOT / "mha_course"
INTERNAL = {"checks"}
LISTS = {"Parameters", "Returns", "Yields", "Raises", "Attributes"}
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
    start = next(
        (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None
    )
    return f"({ast.unparse(start.args)})".replace("(self, ", "(").replace("(self)", "()") if start else ""


def as_code(text: str) -> str:
    """`name` in single backticks, as docstrings write it, is code; `|` is a sign, no substitution."""
    text = re.sub(r"(?<![`:\w])`([^`\n]+)`(?![`_])", r"``\1``", text)
    parts = re.split(r"(``.+?``|:math:`.+?`)", text)
    return "".join(part if index % 2 else part.replace("|", r"\|") for index, part in enumerate(parts))


def item(lines: list[str]) -> str:
    """One argument, answer or error of a numpydoc section as a list item."""
    name, _, kind = lines[0].partition(" : ")
    said = " ".join(line.strip() for line in lines[1:])
    if not re.fullmatch(r"[\w*., ]+", name):  # an answer without a name
        return f"- {as_code(name)}" + (f". {as_code(said)}" if said else "")
    kind = re.sub(r"([*_\\])", r"\\\1", kind) if "`" not in kind else kind
    return f"- ``{name}``" + (f" : {as_code(kind)}" if kind else "") + (f". {as_code(said)}" if said else "")


def section(title: str, lines: list[str], word: dict[str, str]) -> list[str]:
    """A section of a docstring with its heading in the reader's language."""
    head = ["", f".. rubric:: {word['api_' + title.lower()]}", ""]
    if title not in LISTS:
        return head + [as_code(line) for line in lines]
    groups: list[list[str]] = []
    for line in filter(str.strip, lines):
        if not line.startswith(" ") or not groups:
            groups.append([])
        groups[-1].append(line)
    return head + [item(group) for group in groups]


def description(text: str, word: dict[str, str]) -> list[str]:
    """A numpydoc docstring as reStructuredText."""
    summary, *parts = re.split(r"^([A-Z]\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    lines = as_code(summary).splitlines()
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        lines += section(title, body.splitlines(), word)
    return lines


def entry(node: Documented, kind: str, word: dict[str, str]) -> list[str]:
    """A class with its methods, or a function."""
    inner = ["", *description(ast.get_docstring(node) or "", word), ""]
    for part in public(node.body) if isinstance(node, ast.ClassDef) else []:
        inner += entry(part, "method", word)
    return [f".. py:{kind}:: {node.name}{signature(node)}", *("   " + line for line in inner), ""]


def module(path: Path, word: dict[str, str]) -> list[str]:
    """The reference of one module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [
        f".. py:module:: mha_course.{path.stem}",
        "",
        *description(ast.get_docstring(tree) or "", word),
        "",
    ]
    for node in public(tree.body):
        lines += entry(node, "class" if isinstance(node, ast.ClassDef) else "function", word)
    return ["````{eval-rst}", *lines, "````"]


class Reference(Directive):
    """`{course-api}`: the reference of the whole package."""

    def run(self) -> list[nodes.Node]:
        """One section a module; its text is English in every edition."""
        environment = self.state.document.settings.env
        word = words(environment.config.course_language)
        sections = []
        for path in sorted(PACKAGE.glob("[!_]*.py")):
            if path.stem in INTERNAL:
                continue
            environment.note_dependency(str(path))
            part = nodes.section(ids=[path.stem])
            part += nodes.title("", "", nodes.literal("", f"mha_course.{path.stem}"))
            text = Box(lang="en")
            self.state.nested_parse(StringList(module(path, word), str(path)), 0, text)
            part += text
            sections.append(part)
        return sections


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("course-api", Reference)
