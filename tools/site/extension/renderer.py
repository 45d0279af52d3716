"""Portable Markdown, dressed up for the site: links between notebooks, notes, anchors by cell id."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from docutils import nodes
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from tools import cells as contract
from tools.cells import Role, caption_id
from tools.course import parsed_notebook

from .edition import course_of, interface_words
from .formulas import with_decimal
from .plain import plain, with_curly_quotes
from .writer import Box

logger = logging.getLogger(__name__)
LINK = re.compile(r"^(?P<stem>[\w-]*)(?:\.(?P<kind>ipynb|md))?(?:#(?P<anchor>.+))?$")
DESCRIPTION_LENGTH = 160
LONGEST_NAME = 80  # of a term with its other names, as the glossary begins
TOOLS = "<!-- tools -->"  # the template puts what one can do with the page here
CONTENTS = "<!-- chapters -->"  # the home page's template puts the cards of the chapters here
DETAILS = re.compile(r"\A<details><summary>.*?</summary>\n(.*)</details>\s*\Z", re.DOTALL)
SUMMARY = re.compile(r"(?<=<summary>).*?(?=</summary>)")
ANSWER = re.compile("[✓✗]")
EFFORT = re.compile(r"\s*[(（]★{1,3}[,，、]?\s*[^()（）]*[)）]$")


class Passage(NamedTuple):
    """A piece of a page that the search finds; `heading` is the one above it, or the term it defines."""

    anchor: str
    text: str
    heading: str
    role: str


class Link(NamedTuple):
    """A link to a page of the course, to be checked once all pages are read."""

    cell: str
    href: str
    target: str
    kind: str  # the suffix of the target's file
    anchor: str | None


class CaptionedPicture(NamedTuple):
    """A picture with the bold sentence of its caption."""

    cell: str
    address: str
    width: int
    height: int
    seen: str


class CellRenderer(SphinxRenderer):
    """Renders the Markdown cells of one notebook; `cell` is the id of the one at hand."""

    def begin(self, cells: list[dict], environment) -> None:
        """Start a notebook: find the role of each cell, and the caption of each picture."""
        self.environment = environment
        self.cell, self.role = "", Role.TEXT
        self.roles = contract.roles(cells)
        self.solutions = {cell["id"] for cell in cells if contract.is_solution(cell)}
        self.checks = {cell["id"] for cell in contract.checks_section(cells)}
        self.headings = 0
        self.heading = ""
        self.contents_shown = False
        self.passages: list[Passage] = []
        self.links: list[Link] = []
        self.facts: dict[str, object] = {}  # for lists of chapters: minutes, lead, picture
        self.pictures: list[CaptionedPicture] = []
        self.captions_of = {}
        for cell, following in pairwise(cells):
            if following["id"] == caption_id(cell["id"]) and following["cell_type"] == "markdown":
                self.captions_of[cell["id"]] = following["source"]
        self.captions = set(map(caption_id, self.captions_of))

    def enter(self, cell: str) -> Role:
        """Go on to a cell and return its role."""
        self.cell, self.role = cell, self.roles[cell]
        return self.role

    def add_passage(self, cell: str, text: str, heading: str) -> None:
        """Add a passage to what the search finds, with the role of its cell."""
        self.passages.append(Passage(cell, text, heading, str(self.roles[cell])))

    def warn(self, message: str) -> None:
        """Log a warning that names notebook and cell; the builds count it as an error."""
        docname = self.environment.docname
        logger.warning("%s.ipynb, cell %s: %s", docname, self.cell, message, location=docname)

    def markdown_cell(self, source: str) -> None:
        """Render one cell; its id becomes the anchor of its heading, or of its first block."""
        in_solution = self.cell in self.solutions
        if in_solution:  # the page's own box is around it
            source = DETAILS.sub(r"\1", source)
        if self.role is Role.QUIZ:
            source = source.replace("<details>", '<details class="answer">')
            source = SUMMARY.sub(lambda found: with_curly_quotes(found[0], self.environment.config), source)
        tokens = self.md.parse(source, self.md_env)
        self.headings = 0
        if tokens and tokens[0].content.startswith("<details>"):
            tokens[0].content = tokens[0].content.replace("<details>", f'<details id="{self.cell}">', 1)
        elif not in_solution and (not tokens or tokens[0].type != "heading_open"):
            self.current_node += nodes.target("", "", ids=[self.cell])
        branches = [(branch, len(branch)) for branch in self.open_branches()]
        self._render_tokens(tokens)
        added = [node for branch, length in branches for child in branch[length:] for node in child.findall()]
        self.add_to_search(added)
        for node in added:
            if isinstance(node, nodes.strong):
                close_gap(node)
            if isinstance(node, nodes.math | nodes.math_block):
                self.localize_formula(node)
        self.classify(added)

    def localize_formula(self, node: nodes.math | nodes.math_block) -> None:
        """Write a formula with the language's decimal sign, and note its cell for warnings."""
        node["cell"] = self.cell
        config = self.environment.config
        sign = course_of(config).languages[config.course_language].decimal
        if sign != ".":
            node[:] = [nodes.Text(with_decimal(node.astext(), sign))]

    def add_to_search(self, added: list[nodes.Node]) -> None:
        """Add this cell to the search: no heading without text below it, and no measured numbers."""
        config = self.environment.config
        titles = [EFFORT.sub("", plain(node)) for node in added if isinstance(node, nodes.title)][-1:]
        titles = [with_curly_quotes(title, config) for title in titles]
        self.heading = "".join(titles) or self.heading
        texts = [with_curly_quotes(text, config) for text in filter(None, map(search_text, added))]
        if (texts or not self.passages) and self.role is not Role.SEEDS:
            text = " ".join(titles + texts).replace("\n", " ")
            self.add_passage(self.cell, text, defined_term(added) or self.heading)

    def classify(self, added: list[nodes.Node]) -> None:
        """Add classes for the style sheet: what kind of passage this is."""
        for node in added:
            if isinstance(node, nodes.title) and node.parent.parent is not self.document:
                mark_exercise(node)
            elif isinstance(node, nodes.paragraph) and len(self.passages) == 1:
                self.classify_beginning(node)
            elif isinstance(node, nodes.enumerated_list | nodes.bullet_list) and self.is_contents(node):
                node.replace_self([] if self.contents_shown else nodes.raw("", CONTENTS, format="html"))
                self.contents_shown = True
            elif isinstance(node, nodes.paragraph) and (mark := ANSWER.match(node.astext())):
                node["classes"].append("right" if mark[0] == "✓" else "wrong")
            elif isinstance(node, nodes.table) and self.role is Role.SEEDS:
                node.replace_self(self.seeds_box(node))
        has_facts = any("facts" in node["classes"] for node in added if isinstance(node, nodes.paragraph))
        for section in added if self.role is Role.TITLE and not has_facts and not self.is_home() else ():
            if isinstance(section, nodes.section):
                section += nodes.raw("", TOOLS, format="html")

    def seeds_box(self, table: nodes.table) -> Box:
        """Return a box with a table of seeds; outside the section of checks it is folded."""
        if self.cell in self.checks:
            return Box("", table.deepcopy(), classes=["seeds"])
        words = interface_words(self.environment.config)
        label = f"<summary>{words['seeds']}</summary>\n<p>{words['seeds_bound']}</p>"
        parts = nodes.raw("", label, format="html"), table.deepcopy()
        return Box("", *parts, tag="details", classes=["seeds"])

    def classify_beginning(self, node: nodes.paragraph) -> None:
        """Mark what follows a page's title: promise, first link, prerequisites and time."""
        start = first_part(node)
        if not isinstance(start, nodes.strong):
            if node.parent.index(node) == 1:
                node["classes"].append("lead")
                self.facts["lead"] = plain(node).replace("\n", " ")
        elif node.astext() == start.astext() and next(node.findall(nodes.reference), None):
            node["classes"].append("start")
        else:
            node["classes"].append("facts")
            if node.parent.index(node) == 3:
                node.parent += nodes.raw("", TOOLS, format="html")
            if number := re.search(r"\d+", node.astext()):
                self.facts["minutes"] = int(number[0])  # the last of these lines says the time

    def is_contents(self, node: nodes.Element) -> bool:
        """Return True for the home page's plain list of chapters, which becomes cards."""
        return self.is_home() and self.cell == "chapters" and isinstance(node.parent, nodes.section)

    def is_home(self) -> bool:
        return self.environment.docname == self.environment.config.root_doc

    def open_branches(self) -> list[nodes.Element]:
        """Return the places that the next cell's blocks may go to: this section and those around it."""
        branches = [self.current_node]
        while branches[-1].parent is not None:
            branches.append(branches[-1].parent)
        return branches

    def render_caption(self, source: str) -> list[nodes.Node]:
        """Render the blocks of a caption outside of the page's flow."""
        box = Box()
        with self.current_node_context(box):
            self._render_tokens(self.md.parse(source, self.md_env))
        for strong in list(box.findall(nodes.strong)):
            close_gap(strong)
        for formula in box.findall(lambda node: isinstance(node, nodes.math | nodes.math_block)):
            self.localize_formula(formula)
        return box.children

    def summary(self) -> dict[str, object]:
        """Collect a notebook's passages for the search and the page's description."""
        paragraphs = (plain(node).replace("\n", " ") for node in self.document.findall(nodes.paragraph))
        description = shorten(next(paragraphs, ""))
        found = {"passages": self.passages, "links": self.links, "pictures": self.pictures}
        return {**found, "description": description, **self.facts}

    def render_heading(self, token) -> None:
        """Give a heading its cell's id, by which every language finds it."""
        super().render_heading(token)
        if isinstance(self.current_node, nodes.section):
            self.headings += 1
            self.current_node["ids"] = [self.cell if self.headings == 1 else f"{self.cell}-{self.headings}"]
            if self.role in (Role.SUMMARY, Role.CHECKS):
                self.current_node["classes"].append(f"role-{self.role}")

    def render_blockquote(self, token) -> None:
        """Make a callout of `> **Note.** …`, whose first words are its title."""
        super().render_blockquote(token)
        quote = self.current_node.children[-1]
        first = quote.children[0] if quote.children else None
        if isinstance(first, nodes.paragraph) and isinstance(first_part(first), nodes.strong):
            kind = "predict" if self.role is Role.PREDICT else "note"
            box = Box("", *quote.children, role="note", classes=list(dict.fromkeys(["note", kind])))
            quote.replace_self(box)

    def render_link(self, token) -> None:
        """Turn `stem.ipynb#cell-id` and `#cell-id` into links between pages."""
        href = unquote(str(token.attrGet("href") or ""))
        match = LINK.match(href)
        if not match or (match["stem"] and not match["kind"]):
            if not re.match(r"^(https?|mailto):", href):
                self.warn(f"the link {href!r} is neither a page of the course nor a full address")
            super().render_link_url(token)
            return
        reference = nodes.reference("", "", internal=True, refuri=self.page_address(match))
        with self.current_node_context(reference, append=True):
            self.render_children(token)

    def page_address(self, match: re.Match) -> str:
        """Return the relative address of a page, which is checked when all pages are read."""
        here = self.environment.docname
        kind, stem, anchor = match["kind"] or "ipynb", match["stem"], match["anchor"]
        target = f"{here.rpartition('/')[0]}/{stem}".lstrip("/") if stem else here
        self.links.append(Link(self.cell, match.string, target, kind, anchor))
        builder = self.environment.app.builder
        address = relative_uri(builder.get_target_uri(here), builder.get_target_uri(target)) if stem else ""
        return address + (f"#{anchor}" if anchor else "") or builder.get_target_uri(target).rpartition("/")[2]


def first_part(paragraph: nodes.Element) -> nodes.Node | None:
    """Return the first node of a paragraph; an empty text node is skipped."""
    return next((part for part in paragraph if part.astext()), None)


def close_gap(strong: nodes.strong) -> None:
    """Remove the space that Markdown needs behind stress which ends with a Chinese mark."""
    after = strong.next_node(nodes.Text, descend=False, siblings=True)
    if after is not None and strong.astext().endswith(tuple("。，；：！？")) and after.startswith(" "):
        after.parent.replace(after, nodes.Text(after.lstrip(" ")))


def search_text(node: nodes.Node) -> str:
    """Return a block's text for the search: tables by row, quiz answers left out."""
    if isinstance(node, nodes.table):
        rows = ([plain(entry) for entry in row.findall(nodes.entry)] for row in node.findall(nodes.row))
        return " / ".join(" · ".join(filter(None, row)) for row in rows)
    blocks = (nodes.paragraph, nodes.literal_block, nodes.math_block)
    if not isinstance(node, blocks) or isinstance(node.parent, nodes.entry) or ANSWER.match(node.astext()):
        return ""
    return plain(node)


def defined_term(added: list[nodes.Node]) -> str:
    """Return the term that a passage defines, `**Query** (the question): …`; empty where it defines none."""
    first = next((node for node in added if isinstance(node, nodes.title | nodes.paragraph)), None)
    if not isinstance(first, nodes.paragraph) or not isinstance(first_part(first), nodes.strong):
        return ""
    name, colon, _ = plain(first).replace("：", ":").partition(":")
    return name if colon and len(name) <= LONGEST_NAME else ""


def mark_exercise(title: nodes.title) -> None:
    """Make small marks of the stars and minutes behind an exercise's name."""
    last = title.children[-1] if title.children else None
    found = EFFORT.search(last) if isinstance(last, nodes.Text) else None
    if found:
        title.parent["classes"].append("exercise")
        title.replace(last, nodes.Text(last[: found.start()]))
        title += nodes.inline("", " " + found[0].strip(), classes=["effort"])


def check_links(app: Sphinx, environment) -> None:
    """Warn of links that lead nowhere, in every page, since their targets may have changed."""
    for docname, metadata in environment.metadata.items():
        for link in metadata.get("links", []):
            source = Path(app.srcdir) / f"{link.target}.{link.kind}"
            if link.target not in environment.found_docs or not source.exists():
                fault = "leads to a page that does not exist"
            elif link.anchor and link.anchor not in anchors(source):
                fault = f"leads to no cell of {source.name}"
            else:
                continue
            place = f"{docname}.ipynb, cell {link.cell}"
            logger.warning("%s: the link %r %s", place, link.href, fault, location=docname)


@cache
def anchors(source: Path) -> set[str]:
    """Return the cell ids of a notebook, or the explicit anchors of a Markdown page."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".ipynb":
        return {cell["id"] for cell in parsed_notebook(text).cells}
    return set(re.findall(r'<a id="([^"]+)">', text)) | set(
        re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)
    )


def shorten(text: str) -> str:
    """Shorten a description so that search engines show it whole, between words or after a full stop."""
    text = " ".join(text.split())
    if len(text) <= DESCRIPTION_LENGTH:
        return text
    cut = text[:DESCRIPTION_LENGTH]
    end = max(cut.rfind(mark) for mark in (". ", "。", "! ", "? "))
    return (
        cut[: end + 1].strip()
        if end > DESCRIPTION_LENGTH // 2
        else cut.rpartition(" ")[0].rstrip(",;:") + " …"
    )


def setup(app: Sphinx) -> None:
    """Check links once all pages are read."""
    app.connect("env-updated", check_links)
