"""The HTML of a page's content: valid, labelled in the reader's language, scrolling inside itself."""

import re
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from course_site.languages import words

HAN = re.compile("[\u4e00-\u9fff]")


class CourseTranslator(HTML5Translator):
    """Sphinx's writer with the course's figures, callouts, tables and permalinks."""

    def word(self, key: str) -> str:
        """A word of the interface, ready for an attribute."""
        return escape(words(self.config.course_language)[key])

    def add_permalink_ref(self, node: nodes.Element, title: str) -> None:
        """A link to a heading, labelled in the reader's language instead of Sphinx's."""
        if node["ids"]:
            label = self.word("permalink")
            self.body.append(f'<a class="headerlink" href="#{node["ids"][0]}" aria-label="{label}" title="{label}">#</a>')

    def container_tag(self, node: nodes.Element) -> str:
        """The element that a container stands for."""
        if node.get("is_figure"):
            return "figure"
        if node.get("is_caption"):
            return "figcaption"
        return "aside" if node.get("is_note") else "div"

    def visit_container(self, node: nodes.Element) -> None:
        """Open a cell, a figure, a caption or a note."""
        classes = " ".join(node["classes"])
        identity = f' id="{node["ids"][0]}"' if node["ids"] else ""
        identity += f' lang="{node["lang"]}"' if "lang" in node else ""
        self.body.append(f"<{self.container_tag(node)}{identity}" + (f' class="{classes}">' if classes else ">"))

    def depart_container(self, node: nodes.Element) -> None:
        """Close it."""
        self.body.append(f"</{self.container_tag(node)}>\n")

    def visit_emphasis(self, node: nodes.Element) -> None:
        """Chinese is stressed by dots, not by slanted characters: the style sheet needs to tell them apart."""
        self.body.append('<em class="han">' if HAN.search(node.astext()) else "<em>")

    def visit_table(self, node: nodes.Element) -> None:
        """A table scrolls inside itself, by keyboard too."""
        label = self.word("table")
        self.body.append(f'<div class="wide" role="region" tabindex="0" aria-label="{label}">')
        super().visit_table(node)

    def depart_table(self, node: nodes.Element) -> None:
        """Close table and box."""
        super().depart_table(node)
        self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    """Register the writer for every HTML build."""
    app.set_translator("html", CourseTranslator)
