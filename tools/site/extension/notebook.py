"""Notebooks into documents: one cell after the other, each with its permanent id as an anchor."""

import ast
import re
from collections.abc import Iterator
from contextlib import nullcontext
from html import escape
from itertools import groupby
from pathlib import PurePosixPath

from docutils import nodes
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.errors import SphinxError

from tools.course import parsed_notebook

from .edition import course_of, words
from .outputs import Picture, output_nodes
from .plain import plain
from .renderer import CellRenderer
from .writer import Box

FOLDED = {"solution": "solution", "guessed": "show_result"}  # behind which words a kind of passage is folded
SHOWN = re.compile(r"(?:class|function)-(?P<name>[\w-]+)")
LONG = 22  # lines of a class that a phone folds
SIGNATURE = 200  # characters of a class's code that the search knows
BOLD = re.compile(r"\s*\*\*")


class NotebookParser(MystParser):
    """Reads what JupyterLab, Colab and GitHub read too: plain Markdown, `$…$`, code and stored outputs."""

    supported = ("myst-nb",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Fill `document` with the notebook's cells."""
        environment = document.settings.env
        if environment.doc2path(environment.docname).endswith(".md"):
            super().parse(inputstring, document)
            return
        try:
            cells = parsed_notebook(inputstring).cells
        except (ValueError, AttributeError) as error:
            raise SphinxError(f"{environment.docname}.ipynb is not a notebook: {error}") from error
        markdown = MarkdownIt("commonmark", renderer_cls=CellRenderer)
        markdown.enable(["table", "strikethrough"]).use(dollarmath_plugin, double_inline=True)
        markdown.options.update({"document": document, "myst_config": environment.myst_config})
        renderer = markdown.renderer
        renderer.setup_render(markdown.options, {})
        renderer.begin(cells, environment)
        solved = any(cell["id"].startswith("solution-") for cell in cells)  # a class's copy has none
        for fold, group in groupby(folds(cells), lambda pair: pair[0]):
            box = folded(words(environment.config)[FOLDED[fold]], classes=[fold]) if fold else None
            with renderer.current_node_context(box, append=True) if box else nullcontext():
                render([cell for _, cell in group], renderer, solved and fold != "solution")
        renderer._render_finalise()
        environment.metadata[environment.docname].update(renderer.summary())


def folds(cells: list[dict]) -> Iterator[tuple[str, dict]]:
    """Each cell with what folds it: a solution, or a guess, which folds what follows up to a heading."""
    guessed = ""
    for cell in cells:
        key, starts_section = cell["id"], cell["cell_type"] == "markdown" and cell["source"].startswith("#")
        if starts_section or key.startswith("predict-"):
            guessed = ""
        yield "solution" if key.startswith("solution-") else guessed, cell
        if key.startswith("predict-"):
            guessed = "guessed"


def render(cells: list[dict], renderer: CellRenderer, solved: bool = False) -> None:
    """One cell after the other; what is there for the notebook only is left out."""
    for cell in cells:
        renderer.cell = cell["id"]
        if cell["cell_type"] == "code" and cell["id"] != "setup":  # readers of the site install nothing
            renderer.current_node += code_cell(cell, renderer)
            if solved and cell["id"].startswith("attempt-"):
                renderer.current_node += turn_solution(cell["id"].removeprefix("attempt-"), renderer)
        elif cell["cell_type"] == "markdown" and cell["id"] not in renderer.captions:
            if cell["id"].startswith("solution-"):
                with renderer.current_node_context(Box(ids=[cell["id"]]), append=True):
                    renderer.markdown_cell(cell["source"])
            else:
                renderer.markdown_cell(cell["source"])


def code_cell(cell: dict, renderer: CellRenderer) -> list[nodes.Node]:
    """Code, folded where it is not what the page is about, and stored outputs; a figure where it draws."""
    tags, source = cell["metadata"].get("tags", []), cell["source"]
    is_stub = cell["id"].startswith("attempt-")  # what it prints says that nothing is written yet
    outputs = [] if is_stub else list(output_nodes(cell, renderer.environment))
    pictures = any(isinstance(item, Picture) for item in outputs)
    shown = [figure(item, cell["id"], renderer) if isinstance(item, Picture) else item for item in outputs]
    of_package = SHOWN.fullmatch(cell["id"])  # a class or a function
    parts: list[nodes.Node] = []
    if source.strip() and not only_diagrams(source):
        parts = [nodes.literal_block(source, source, language="ipython3", classes=["code"])]
        if label := fold_label(cell["id"], tags, source, pictures, words(renderer.environment.config)):
            parts = [folded(label, *parts, classes=["aside"])]
        elif of_package and source.count("\n") >= LONG:
            first = re.search(r"^(?:class|def) \w+", source, re.MULTILINE)
            parts = [folded(f"<code>{first[0]}</code>", *parts, classes=["long"])]
            parts[0]["open"] = True
    if cell["id"] == "opening" and renderer.environment.docname == renderer.environment.config.root_doc:
        shown = [Box("", *shown, ids=["live-translator"])]
    name = of_package["name"].replace("-", "_") if of_package else ""  # by which it is found
    if name and (start := re.search(rf"^(?:class|def) {name}\b", source, re.MULTILINE)):
        signature = " ".join(source[start.start() :][:SIGNATURE].split())
        renderer.passages.append([cell["id"], f"{name} {signature}", name])
    box = Box(classes=["cell", *(f"tag-{tag}" for tag in tags)], ids=[cell["id"]])
    box += shown + parts if pictures and "hide-input" in tags else parts + shown
    return [box] if box.children else []


def turn_solution(name: str, renderer: CellRenderer) -> nodes.Node:
    """A turn's solution, which the notebook prints when it is asked to, folded."""
    environment = renderer.environment
    course = course_of(environment.config)
    module = PurePosixPath(environment.docname).name.replace("-", "_")
    path = course.root / course.package / "practice" / f"{module}.py"
    source = path.read_text(encoding="utf-8") if path.exists() else ""
    found = {part.name: part for part in ast.parse(source).body if isinstance(part, ast.FunctionDef)}
    part = found.get(name.replace("-", "_"))
    if part is None:
        renderer.warn(f"its solution is not in {path.relative_to(course.root)}")
        return nodes.Text("")
    code = "\n".join(source.splitlines()[part.lineno - 1 : part.end_lineno])  # without `turn` above it
    block = nodes.literal_block(code, code, language="ipython3", classes=["code"])
    return folded(words(environment.config)["solution"], block, classes=["solution"])


def fold_label(key: str, tags: list[str], source: str, pictures: bool, word: dict[str, str]) -> str:
    """The line behind which a cell's code is folded, as HTML; empty where the code is to be read."""
    if key.startswith("solution-"):
        return ""  # it is folded as a whole
    if key == "imports":
        return escape(word["set_up"])
    if "claim" in tags and (asserted := assertions(source)):
        checks = ", ".join(f"<code>{escape(check)}</code>" for check in asserted)
        return f'{escape(word["checked"])} ✓ <span class="checks">{checks}</span>'
    if "hide-input" in tags and pictures:
        return escape(word["figure_code"])
    return escape(word["show_code"]) if {"hide-input", "hide-cell"} & set(tags) else ""


def statements(source: str) -> list[ast.stmt]:
    """The statements of a cell; none where it has lines that only IPython reads."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def assertions(source: str) -> list[str]:
    """What a cell asserts, as code."""
    nodes_of = (node for statement in statements(source) for node in ast.walk(statement))
    return [ast.unparse(node.test) for node in nodes_of if isinstance(node, ast.Assert)]


def only_diagrams(source: str) -> bool:
    """Whether a cell does nothing but show drawings of the package."""
    found = statements(source)
    return bool(found) and all(re.fullmatch(r"diagram\(.*\)", ast.unparse(part)) for part in found)


def folded(label: str, *parts: nodes.Node, classes: list[str]) -> Box:
    """Blocks behind a line, which opens them without a script."""
    return Box("", raw(f"<summary>{label}</summary>"), *parts, tag="details", classes=classes)


def figure(picture: Picture, cell: str, renderer: CellRenderer) -> nodes.Node:
    """A picture with the caption cell that follows it, whose bold beginning is what is read aloud."""
    box = Box(tag="figure")
    if (
        cell == "opening" or picture.for_card or "picture" not in renderer.facts
    ):  # the page's own on the home page
        renderer.facts["picture"] = (picture.address, picture.width, picture.height)
    caption = renderer.captions_of.get(cell)
    if caption is None:
        renderer.warn(f"the picture has no caption: a Markdown cell {cell}-caption must follow")
        box += raw(picture.html("", ""))
        return box
    paragraphs = renderer.detached(caption)
    text = " ".join(" ".join(map(plain, paragraphs)).split())
    renderer.passages.append([f"{cell}-caption", text, renderer.heading])
    bold = next(paragraphs[0].findall(nodes.strong), None) if BOLD.match(caption) else None
    seen = " ".join(plain(bold).split()) if bold else text
    box += raw(picture.html(seen, words(renderer.environment.config)["enlarge"]))
    if bold:  # it is heard as the picture's words
        bold.replace_self([raw('<strong aria-hidden="true">'), *bold.children, raw("</strong>")])
    box += Box("", *paragraphs, tag="figcaption", ids=[f"{cell}-caption"])
    return box


def raw(html: str) -> nodes.raw:
    """Finished HTML."""
    return nodes.raw("", html, format="html")
