"""Notebooks into documents: one cell after the other, each with its permanent id as an anchor."""

from docutils import nodes
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.errors import SphinxError

from tools.course import parsed_notebook

from .edition import words
from .outputs import Picture, output_nodes
from .plain import plain
from .renderer import CellRenderer
from .writer import Box


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
        for cell in cells:
            renderer.cell = cell["id"]
            if cell["cell_type"] == "markdown":
                if cell["id"] not in renderer.captions:
                    renderer.markdown_cell(cell["source"])
            elif cell["cell_type"] == "code":
                renderer.current_node += code_cell(cell, renderer)
        renderer._render_finalise()
        environment.metadata[environment.docname].update(renderer.summary())


def code_cell(cell: dict, renderer: CellRenderer) -> list[nodes.Node]:
    """Code and stored outputs; folded where the cell is tagged `hide-cell`; a figure where it draws."""
    tags = cell["metadata"].get("tags", [])
    source = cell["source"]
    code = nodes.literal_block(source, source, language="ipython3", classes=["code"])
    parts = [code] if source.strip() and "remove-input" not in tags else []
    for item in output_nodes(cell, renderer.environment):
        parts.append(figure(item, cell["id"], renderer) if isinstance(item, Picture) else item)
    box = Box(classes=["cell", *(f"tag-{tag}" for tag in tags)], ids=[cell["id"]])
    if "hide-cell" in tags or cell["id"] == "setup":  # readers of the site have nothing to set up
        label = "solution" if cell["id"].startswith("solution") else "show_code"
        text = words(renderer.environment.config)[label]
        parts = [raw(f"<details><summary>{text}</summary>"), *parts, raw("</details>")]
    box += parts
    return [box] if parts else []


def figure(picture: Picture, cell: str, renderer: CellRenderer) -> nodes.Node:
    """A picture with the caption cell that follows it, whose text is also what is read aloud."""
    box = Box(tag="figure")
    caption = renderer.captions_of.get(cell)
    if caption is None:
        renderer.warn(f"the picture has no caption: a Markdown cell {cell}-caption must follow")
        box += raw(picture.html(""))
        return box
    paragraphs = renderer.detached(caption)
    text = " ".join(" ".join(map(plain, paragraphs)).split())
    renderer.passages.append([f"{cell}-caption", text, renderer.heading])
    box += raw(picture.html(text))
    box += Box("", *paragraphs, tag="figcaption", ids=[f"{cell}-caption"])
    return box


def raw(html: str) -> nodes.raw:
    """Finished HTML."""
    return nodes.raw("", html, format="html")
