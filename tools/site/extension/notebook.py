"""Turn notebooks into documents: one cell after the other, each with its permanent id as an anchor."""

import ast
import re
from contextlib import nullcontext
from html import escape
from itertools import groupby
from pathlib import PurePosixPath

from docutils import nodes
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.errors import SphinxError

from tools.cells import Role, caption_id, fold_word, is_solution, name_of, shown_name
from tools.course import parsed_notebook
from tools.editions.names import parsed

from .edition import course_of, interface_words
from .outputs import Picture, output_nodes
from .plain import plain
from .renderer import CaptionedPicture, CellRenderer
from .terms import GLOSSARY, in_alphabetical_order
from .writer import Box

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
        if PurePosixPath(environment.docname).name == GLOSSARY:
            language = course_of(environment.config).languages[environment.config.course_language]
            cells = in_alphabetical_order(cells, language)
        markdown = MarkdownIt("commonmark", renderer_cls=CellRenderer)
        markdown.enable(["table", "strikethrough"]).use(dollarmath_plugin, double_inline=True)
        markdown.options.update({"document": document, "myst_config": environment.myst_config})
        renderer = markdown.renderer
        renderer.setup_render(markdown.options, {})
        renderer.begin(cells, environment)
        is_solved = any(map(is_solution, cells))  # copies for students have no solutions
        for solves, group in groupby(cells, is_solution):
            label = interface_words(environment.config)["solution"]
            box = folded(label, classes=["solution"]) if solves else None
            with renderer.current_node_context(box, append=True) if box else nullcontext():
                render(list(group), renderer, is_solved)
        renderer._render_finalise()
        environment.metadata[environment.docname].update(renderer.summary())


def render(cells: list[dict], renderer: CellRenderer, is_solved: bool) -> None:
    """Render one cell after the other; what is there for the notebook only is left out."""
    for cell in cells:
        role = renderer.enter(cell["id"])
        if cell["cell_type"] == "code" and role is not Role.SETUP:  # readers of the site install nothing
            renderer.current_node += code_cell(cell, role, renderer)
            if is_solved and role is Role.ATTEMPT:
                renderer.current_node += turn_solution(name_of(cell["id"], role), renderer)
        elif cell["cell_type"] == "markdown" and cell["id"] not in renderer.captions:
            if is_solution(cell):
                with renderer.current_node_context(Box(ids=[cell["id"]]), append=True):
                    renderer.markdown_cell(cell["source"])
            else:
                renderer.markdown_cell(cell["source"])


def code_cell(cell: dict, role: Role, renderer: CellRenderer) -> list[nodes.Node]:
    """Return code, folded where the page is not about it, stored outputs, and figures with captions."""
    tags, source = cell["metadata"].get("tags", []), cell["source"]
    is_stub = role is Role.ATTEMPT  # what it prints says that nothing is written yet
    outputs = [] if is_stub else list(output_nodes(cell, renderer.environment))
    has_picture = any(isinstance(item, Picture) for item in outputs)
    shown = [figure(item, cell["id"], renderer) if isinstance(item, Picture) else item for item in outputs]
    name = shown_name(cell)  # of a class or function of the package
    parts: list[nodes.Node] = []
    if source.strip() and not only_diagrams(source):
        parts = [nodes.literal_block(source, source, language="ipython3", classes=["code"])]
        if key := fold_word(cell, role, has_picture):
            label = fold_label(key, interface_words(renderer.environment.config), name)
            parts = [folded(label, *parts, classes=["aside"])]
    if name and (start := re.search(rf"^(?:class|def) {name}\b", source, re.MULTILINE)):
        signature = " ".join(source[start.start() :][:SIGNATURE].split())
        renderer.add_passage(cell["id"], f"{name} {signature}", name)
    box = Box(classes=["cell", *(f"tag-{tag}" for tag in tags)], ids=[cell["id"]])
    box += shown + parts if has_picture and "hide-input" in tags else parts + shown
    return [box] if box.children else []


def turn_solution(name: str, renderer: CellRenderer) -> nodes.Node:
    """Return a turn's solution, which the notebook prints when it is asked to, folded."""
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
    return folded(interface_words(environment.config)["solution"], block, classes=["solution"])


def fold_label(key: str, words: dict[str, str], name: str) -> str:
    """Return the line behind which a cell's code is folded, as HTML, with the name of what it shows."""
    return escape(words[key]) + (f"{escape(words['colon'])}<code>{name}</code>" if name else "")


def only_diagrams(source: str) -> bool:
    """Return True for a cell that only shows drawings of the package."""
    found = parsed(source).body
    return bool(found) and all(re.fullmatch(r"diagram\(.*\)", ast.unparse(part)) for part in found)


def folded(label: str, *parts: nodes.Node, classes: list[str]) -> Box:
    """Return blocks behind a line, which opens them without a script."""
    return Box("", raw(f"<summary>{label}</summary>"), *parts, tag="details", classes=classes)


def figure(picture: Picture, cell: str, renderer: CellRenderer) -> nodes.Node:
    """Return a picture with the caption cell that follows it, whose bold beginning is read aloud."""
    box = Box(tag="figure")
    is_opening = renderer.roles[cell] is Role.OPENING
    if is_opening or picture.for_card or "picture" not in renderer.facts:  # the page's own on the home page
        renderer.facts["picture"] = (picture.address, picture.width, picture.height)
        renderer.facts["pictured"] = cell
    caption = renderer.captions_of.get(cell)
    if caption is None:
        renderer.warn(f"the picture has no caption: a Markdown cell {caption_id(cell)} must follow")
        box += raw(picture.html("", ""))
        return box
    paragraphs = renderer.render_caption(caption)
    text = " ".join(" ".join(map(plain, paragraphs)).split())
    renderer.add_passage(caption_id(cell), text, renderer.heading)
    bold = next(paragraphs[0].findall(nodes.strong), None) if BOLD.match(caption) else None
    seen = " ".join(plain(bold).split()) if bold else text
    renderer.pictures.append(CaptionedPicture(cell, picture.address, picture.width, picture.height, seen))
    box += raw(picture.html(seen, interface_words(renderer.environment.config)["enlarge"]))
    if bold:  # it is heard as the picture's words
        bold.replace_self([raw('<strong aria-hidden="true">'), *bold.children, raw("</strong>")])
    box += Box("", *paragraphs, tag="figcaption", ids=[caption_id(cell)])
    return box


def raw(html: str) -> nodes.raw:
    """Return finished HTML."""
    return nodes.raw("", html, format="html")
