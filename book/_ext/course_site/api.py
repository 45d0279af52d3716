"""The package's reference, from its docstrings: read from the source, so that nothing has to be imported."""

import ast
import copy
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from course_site.languages import ROOT, words
from course_site.writer import Box

PACKAGE = ROOT / "mha_course"
LISTS = {"Parameters", "Returns", "Yields", "Raises", "Attributes"}
Documented = ast.FunctionDef | ast.ClassDef


def tree(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """The names that a module gives to values, types and constants."""
    found = {}
    for node in body:
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            pairs = zip(target.elts, node.value.elts) if isinstance(target, ast.Tuple) else [(target, node.value)]
            found |= {name.id: value for name, value in pairs if isinstance(name, ast.Name)}
    return found


def public(module: ast.Module) -> list[Documented]:
    """The classes and functions that a module's `__all__` names, in the order of the source."""
    named = ast.literal_eval(assigned(module.body).get("__all__", ast.Tuple([])))
    return [node for node in module.body if isinstance(node, Documented) and node.name in named]


def methods(node: Documented) -> list[ast.FunctionDef]:
    """The documented methods of a class that do not start with `_`."""
    found = [part for part in node.body if isinstance(part, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else []
    return [part for part in found if not part.name.startswith("_") and ast.get_docstring(part)]


class Spelled(ast.NodeTransformer):
    """Writes what a module's own names stand for: `Tokens` is `str | Sequence[str]`."""

    def __init__(self) -> None:
        self.meaning: dict[str, ast.expr] = {}
        for path in PACKAGE.glob("[!_]*.py"):
            self.meaning |= assigned(tree(path).body)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        meaning = self.meaning.get(node.id, node)
        if isinstance(meaning, ast.Call):  # a TypeVar
            return next((word.value for word in meaning.keywords if word.arg == "bound"), ast.Name("Any"))
        return meaning


def decorated(node: ast.FunctionDef, name: str) -> bool:
    """Whether a function has this decorator."""
    return any(ast.unparse(part) == name for part in node.decorator_list)


def arguments(node: ast.FunctionDef) -> str:
    """Arguments as a caller gives them."""
    given = copy.deepcopy(node.args)
    given.args = [argument for argument in given.args if argument.arg != "self"]
    if given.vararg and ast.unparse(given.vararg.annotation or ast.Constant("")) == "object":
        given.vararg = None  # only there to explain a wrong call
    return f"({ast.unparse(Spelled().visit(given))})"


def signature(node: Documented) -> str:
    """Arguments and answer; a class has those of its `__init__`, a named tuple its fields."""
    if isinstance(node, ast.FunctionDef):
        if node.returns is None or decorated(node, "contextmanager"):
            return arguments(node)
        return f"{arguments(node)} -> {ast.unparse(Spelled().visit(copy.deepcopy(node.returns)))}"
    if any(ast.unparse(base) == "NamedTuple" for base in node.bases):
        fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
        return f"({', '.join(ast.unparse(Spelled().visit(copy.deepcopy(field))) for field in fields)})"
    starts = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    return arguments(starts[0]) if starts else ""


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


def entry(node: Documented, word: dict[str, str], *, method: bool = False) -> list[str]:
    """A class with its methods, a function or a property."""
    head = f"{'method' if method else 'function'}:: {node.name}{signature(node)}"
    options = []
    if isinstance(node, ast.ClassDef):
        head = f"class:: {node.name}{signature(node)}"
    elif decorated(node, "property"):
        head, options = f"property:: {node.name}", [f":type: {ast.unparse(node.returns)}"]
    inner = [*options, "", *description(ast.get_docstring(node) or "", word), ""]
    for part in methods(node):
        inner += entry(part, word, method=True)
    return [f".. py:{head}", *("   " + line for line in inner), ""]


def module(path: Path, word: dict[str, str]) -> list[str]:
    """The reference of one module."""
    parsed = tree(path)
    lines = [
        f".. py:module:: mha_course.{path.stem}",
        "",
        *description(ast.get_docstring(parsed) or "", word),
        "",
    ]
    for node in public(parsed):
        lines += entry(node, word)
    return ["````{eval-rst}", *lines, "````"]


class Reference(Directive):
    """`{course-api}`: the reference of the whole package."""

    def run(self) -> list[nodes.Node]:
        """One section a module; its text is English in every edition."""
        environment = self.state.document.settings.env
        word = words(environment.config.course_language)
        sections = []
        for path in sorted(PACKAGE.glob("[!_]*.py")):
            environment.note_dependency(str(path))
            if not public(tree(path)):
                continue
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
