"""Formulas, set by KaTeX while the site is built: a page needs no script and no other host for them."""

import json
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from quickjs import Context
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinxcontrib import katex as package

from .writer import Box

logger = logging.getLogger(__name__)
# What touches a formula and must stay on its line.
TOUCHING_AFTER = re.compile(r"^(?:[^\s\u2e80-\uffef]+|[、。，；：！？）」』》〉]+)")
TOUCHING_BEFORE = re.compile(r"(?:[^\s\u2e80-\uffef]+|[（「『《〈]+)$")
MAX_WHOLE = 24  # characters: a formula of up to so many stays on one line
WITHOUT_WIDTH = re.compile(  # fonts, backslashes before a name or a space, braces, marks of indices
    r"\\(?:mathbf|mathrm|operatorname|text)\b|\\(?=[,;! ]|sin|cos|tanh|exp|log|ln|max)|[\s{}^_]"
)
COMMAND = re.compile(r"\\[a-zA-Z]+")  # counts as one character
POINT = re.compile(r"(?P<before>\d?)\.(?=\d)")
PART = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|[^()\[\]]+|.")  # a vector, or what stands between two
VECTOR = re.compile(r"\((-?\d+,\s*)+-?\d+\)")  # of whole numbers
BETWEEN = re.compile(r"(?<=\d),(?=(\\ |\s)*[-\d])")  # two numbers
BASE = re.compile(r'(</span>)(<span class="base">)')
RENDER = """
function render(formula, displayMode) {
  try {
    return {html: katex.renderToString(formula, {displayMode, output: "htmlAndMathml", strict: "ignore"})};
  } catch (error) { return {error: error.message}; }
}
"""


@cache
def katex() -> Context:
    """Return a JavaScript engine with KaTeX loaded."""
    context = Context()
    context.eval(Path(package.__file__).with_name("katex.min.js").read_text(encoding="utf-8"))
    context.eval(RENDER)
    return context


@cache
def render(formula: str, display: bool) -> dict[str, str]:
    """Return the formula's HTML and MathML as `html`, or KaTeX's message as `error`."""
    return json.loads(katex().get("render")(formula, display).json())


def with_decimal(formula: str, sign: str) -> str:
    """Return a formula with this decimal sign; with a comma, semicolons separate numbers of vectors."""
    return PART.sub(lambda part: part_with_decimal(part[0], sign), formula)


def part_with_decimal(part: str, sign: str) -> str:
    """Return a vector, or what stands between two, with this decimal sign."""
    if not POINT.search(part) and not VECTOR.fullmatch(part):
        return part
    separated = BETWEEN.sub(";", part) if sign == "," else part
    return POINT.sub(lambda point: f"{point['before'] or 0}{{{sign}}}", separated)


def visit(translator, node: nodes.Element, display: bool) -> None:
    """Write a formula; a formula that KaTeX refuses is a warning that quotes it."""
    formula = node.astext()
    rendered = render(formula, display)
    if "error" in rendered:
        place = f"{translator.builder.current_docname}.ipynb, cell {node.get('cell', '?')}"
        logger.warning(
            "%s: the formula %r cannot be set: %s", place, formula, rendered["error"], location=node
        )
        rendered = {"html": translator.encode(formula)}
    tag = "div" if display else "span"
    is_whole = not display and len(COMMAND.sub("x", WITHOUT_WIDTH.sub("", formula))) <= MAX_WHOLE
    if "glued" in node.parent.get("classes", []) and not is_whole:
        rendered = {"html": BASE.sub(r"\1<wbr>\2", rendered["html"])}
    translator.body.append(f'<{tag} class="math{" whole" if is_whole else ""}">{rendered["html"]}</{tag}>')
    raise nodes.SkipNode


def glue(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Keep a comma, a bracket or a suffix on the line of the formula that it touches."""
    for node in list(doctree.findall(nodes.math)):
        parent, place = node.parent, node.parent.index(node)
        parts: list[nodes.Node] = [node]
        for side, pattern in ((place + 1, TOUCHING_AFTER), (place - 1, TOUCHING_BEFORE)):
            text = parent[side] if 0 <= side < len(parent) else None
            if isinstance(text, nodes.Text) and (touching := pattern.search(text)):
                parts.insert(len(parts) if side > place else 0, nodes.Text(touching[0]))
                parent[side] = nodes.Text(text[: touching.start()] + text[touching.end() :])
        if len(parts) > 1:
            parent[place] = Box("", *parts, tag="span", classes=["glued"])


def setup(app: Sphinx) -> None:
    """Register the renderer."""
    inline = (lambda translator, node: visit(translator, node, False), None)
    block = (lambda translator, node: visit(translator, node, True), None)
    app.add_html_math_renderer("course", inline, block)
    app.connect("doctree-resolved", glue)
