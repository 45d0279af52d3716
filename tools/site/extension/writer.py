"""The HTML of a page's content: valid, labelled in the reader's language, scrolling inside itself."""

import re
from functools import cache
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from tools.cells import Role
from tools.course import Course

from .code import by_line
from .edition import course_of, interface_words

HAN = re.compile("[\u4e00-\u9fff]")
CHECKS = f"role-{Role.CHECKS}"  # the class of a section that is folded behind its heading
MAX_COLUMN, MAX_TABLE = 30, 60  # characters that count of one column; that fit on a phone
LONE_STOP = re.compile(r" (?=[.?!](?:\s|$))")  # a full stop that is a token
PRE = re.compile(r"(<pre>)(.*?)\n?(</pre>)", re.DOTALL)


def words_in(node: nodes.Element) -> str:
    """Return the words of a heading or a table's cell, without formulas."""
    texts = (text.astext() for text in node.findall(nodes.Text) if not isinstance(text.parent, nodes.math))
    return " ".join("".join(texts).split())


def column_heads(group: nodes.tgroup) -> list[str]:
    """Return the words over a table's columns."""
    rows = list(group.findall(nodes.thead))
    return [words_in(cell) for cell in rows[0][0]] if rows else []


def is_too_wide(table: nodes.table) -> bool:
    """Return True for a table that does not fit on a phone: three columns or more, and much text."""
    rows = [[len(words_in(cell)) for cell in row] for row in table.findall(nodes.row)]
    columns = list(zip(*rows, strict=False))
    return len(columns) > 2 and sum(min(max(lengths), MAX_COLUMN) for lengths in columns) > MAX_TABLE


@cache
def unbroken_words(course: Course, language: str) -> re.Pattern[str]:
    """Return a pattern of words that must not be broken over lines, in an edition and in the source."""
    codes = dict.fromkeys((course.source, language))
    return re.compile("|".join(word for code in codes for word in course.languages[code].unbroken) or "(?!)")


def unbroken(course: Course, language: str, text: str) -> str:
    """Return a text whose unbroken words, by the rules of edition and source, stay on one line."""
    return unbroken_words(course, language).sub(with_joiner, text)


def with_joiner(word: re.Match[str]) -> str:
    """Return a word or a number with joiners and no-break spaces in place of its hyphens and spaces."""
    return re.sub("(?<=\\d) ", "\u202f", word[0].replace("-", "-\u2060")).replace(" ", "\u00a0")


class Box(nodes.General, nodes.Element):
    """Blocks that belong together; `tag` is the element that holds them."""


class CourseTranslator(HTML5Translator):
    """Sphinx's writer with the course's figures, callouts, tables and permalinks."""

    def visit_Text(self, node: nodes.Text) -> None:
        """Write text; unbroken words stay on one line, and no line begins with a full stop."""
        start = len(self.body)
        super().visit_Text(node)
        if not isinstance(node.parent, nodes.literal):
            course, language = course_of(self.config), self.config.course_language
            parts = [unbroken(course, language, part) for part in self.body[start:]]
            self.body[start:] = [LONE_STOP.sub("\u00a0", part) for part in parts]

    def word(self, key: str) -> str:
        """Return a word of the interface, ready for an attribute."""
        return escape(interface_words(self.config)[key])

    def add_permalink_ref(self, node: nodes.Element, title: str) -> None:
        """Link to a heading, labelled in the reader's language; the Tab key skips it.

        The heading of the checks has no permalink: a click on it opens its section.
        """
        if node["ids"] and CHECKS not in node["classes"]:
            title = node.next_node(nodes.title)
            label = self.word("permalink") + (self.word("colon") + escape(words_in(title)) if title else "")
            attributes = f'tabindex="-1" aria-label="{label}" title="{self.word("permalink")}"'
            self.body.append(f'<a class="headerlink" href="#{node["ids"][0]}" {attributes}>#</a>')

    def visit_title(self, node: nodes.Element) -> None:
        """Open a heading; that of the checks is the line behind which its section is folded."""
        if CHECKS in node.parent["classes"]:
            self.body.append("<details><summary>")
        super().visit_title(node)

    def depart_title(self, node: nodes.Element) -> None:
        """Close it."""
        super().depart_title(node)
        if CHECKS in node.parent["classes"]:
            self.body.append("</summary>\n")

    def depart_section(self, node: nodes.Element) -> None:
        """Close a section and its fold."""
        if CHECKS in node["classes"]:
            self.body.append("</details>\n")
        super().depart_section(node)

    def visit_Box(self, node: Box) -> None:
        """Open a cell, a figure, a caption, a note or a passage in another language."""
        attributes = {
            "role": node.get("role", ""),
            "class": " ".join(node["classes"]),
            "id": " ".join(node["ids"]),
            "lang": node.get("lang", ""),
        }
        written = "".join(f' {name}="{value}"' for name, value in attributes.items() if value)
        written += " open" * node.get("open", False)
        self.body.append(f"<{node.get('tag', 'div')}{written}>")

    def depart_Box(self, node: Box) -> None:
        """Close it."""
        tag = node.get("tag", "div")
        self.body.append(f"</{tag}>" if tag == "span" else f"</{tag}>\n")

    def visit_literal_block(self, node: nodes.Element) -> None:
        """Write code with an element a line, so that narrow screens can indent what goes on in the next.

        Printed lines are not broken: a phone is told how long they are, and makes its letters smaller.
        """
        is_printed = "output" in node["classes"]
        if not is_printed and "code" not in node["classes"]:
            node["classes"].append("code")  # between paragraphs
        try:
            super().visit_literal_block(node)
        except nodes.SkipNode:
            if not is_printed:
                self.body[-1] = PRE.sub(by_line, self.body[-1])
            else:
                columns = max(map(len, node.astext().splitlines()), default=1)
                self.body[-1] = self.body[-1].replace("<pre", f'<pre style="--columns: {columns}"', 1)
            raise

    def visit_emphasis(self, node: nodes.Element) -> None:
        """Mark Chinese that is stressed: the style sheet makes it bold, not slanted."""
        self.body.append('<em class="han">' if HAN.search(node.astext()) else "<em>")

    def visit_table(self, node: nodes.Element) -> None:
        """Open a table that scrolls; on a phone, one of much text is stacked, unless it is of seeds."""
        stacked = is_too_wide(node) and "seeds" not in node.parent["classes"]
        classes = "wide stacked" if stacked else "wide"
        self.body.append(f'<div class="{classes}" role="group" aria-label="{self.word("table")}">')
        super().visit_table(node)

    def visit_entry(self, node: nodes.Element) -> None:
        """Open a table's cell. A head without words, an empty corner or a lone formula, is a plain cell."""
        is_head = isinstance(node.parent.parent, nodes.thead) and words_in(node) != ""
        classes = " ".join(name for name in node["classes"] if name.startswith("text-"))
        written = f' class="{classes}"' if classes else ""
        heads = column_heads(node.parent.parent.parent)
        column = node.parent.index(node)
        has_head = 0 < column < len(heads) and heads[column]
        if not is_head and has_head and node.astext().strip():  # a phone writes it before the cell
            written += f' data-head="{escape(heads[column])}"'
        self.body.append(f'<th scope="col"{written}>' if is_head else f"<td{written}>")
        self.context.append("</th>" if is_head else "</td>")

    def depart_entry(self, node: nodes.Element) -> None:
        """Close it."""
        self.body.append(self.context.pop())

    def depart_table(self, node: nodes.Element) -> None:
        """Close table and box."""
        super().depart_table(node)
        self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    """Register the writer for every HTML build."""
    app.set_translator("html", CourseTranslator)
