"""Take a Markdown cell apart: what must be the same in every language, and the words."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

# Escaped marks stay tokens of their own without "text_join", so that `\*` is not taken for a stray `*`.
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin).disable("text_join")

KINDS = {
    "code_inline": "code",
    "fence": "code",
    "code_block": "code",
    "math_inline": "formula",
    "math_block": "formula",
}

PLACEHOLDER = "\N{OBJECT REPLACEMENT CHARACTER}"  # in place of code or a formula
FULL_STOPS = tuple("。，、：；？！）」〉")  # full-width signs that end a run of words


@cache
def parsed(text: str) -> list[Token]:
    """Return the tokens of a cell, parsed once; not to be changed."""
    return PARSER.parse(text)


CONTENTS = ("code", "formula", "link to", "image")  # may move within a section


def tokens(text: str) -> Iterator[Token]:
    for token in parsed(text):
        yield token
        yield from token.children or ()


@cache
def skeleton(text: str) -> Counter[tuple[str, str]]:
    """Count what a cell has besides words, its contents and its form; not to be changed."""
    parts: list[tuple[str, str]] = list(rows(text))
    for token in tokens(text):
        if token.type in KINDS:
            parts.append((KINDS[token.type], " ".join(token.content.split())))
        elif token.type == "link_open":
            parts.append(("link to", str(token.attrs["href"])))
        elif token.type == "image":
            parts.append(("image", str(token.attrs["src"])))
        elif token.type == "heading_open":
            parts.append(("heading", token.markup))
        elif token.type == "text":
            parts += [("mark", mark) for mark in re.findall("[✓✗]", token.content)]
        elif token.type in ("html_inline", "html_block"):
            parts += [("HTML tag", tag) for tag in re.findall(r"</?\w+", token.content)]
    return Counter(parts)


def rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the rows of a cell's tables with their number of columns."""
    columns = 0
    for token in parsed(text):
        columns += token.type in ("th_open", "td_open")
        if token.type == "tr_close":
            yield "row of a table", f"{columns} columns"
            columns = 0


def table(head: list[str], *rows: list[str], numbers: bool = False) -> str:
    """Return a table; with `numbers`, all columns but the first are aligned to the right."""
    rule = ["---"] + ["---:" if numbers else "---"] * (len(head) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


@cache
def headings(text: str) -> frozenset[str]:
    """Return the words of each heading."""
    pairs = pairwise(parsed(text))
    found = (after.children or [] for token, after in pairs if token.type == "heading_open")
    return frozenset("".join(inline_words(words, quoted=True)).replace(PLACEHOLDER, " … ") for words in found)


@cache
def as_read(text: str, quoted: bool = True) -> str:
    """Return the words of a cell as a reader sees them, a block a line; code and formulas are placeholders.

    Unless `quoted`, emphasis and links, which mark titles and names, are placeholders too. A space after the
    end of emphasis is left out after a full-width sign: only Markdown needs it there.
    """
    blocks = []
    for token in parsed(text):
        if token.type == "html_block":
            blocks.append(re.sub(r"<[^>]*>", "", token.content))
        elif token.type == "inline":
            blocks.append("".join(inline_words(token.children or [], quoted)))
    return "\n".join(blocks)


def inline_words(children: list[Token], quoted: bool) -> Iterator[str]:
    depth, before = 0, ""
    for after, token in zip(["", *(child.type for child in children)], children, strict=False):
        depth += token.nesting if token.type in ("em_open", "em_close", "link_open", "link_close") else 0
        if token.type in ("text", "text_special"):
            ended = after in ("strong_close", "em_close") and before[-1:] in FULL_STOPS
            text = token.content.lstrip(" ") if ended else token.content
            yield text if quoted or not depth else PLACEHOLDER
            before = text
        elif token.type in KINDS:
            yield PLACEHOLDER
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"


@cache
def plain(text: str, quoted: bool = True) -> str:
    """Return the prose of a cell, on demand without titles, names and quotations."""
    words = as_read(text, quoted).replace(PLACEHOLDER, " … ")
    return words if quoted else re.sub(r"“[^”]*”|「[^」]*」|\"[^\"]*\"|«[^»]*»", " … ", words)


def stray_marks(text: str) -> list[str]:
    """Return Markdown characters that a reader would see, from unclosed emphasis or a broken link."""
    shown = "\n".join(
        token.content if token.type == "text" else re.sub(r"<[^>]*>", " ", token.content)
        for token in tokens(text)
        if token.type in ("text", "html_block")
    )
    return [mark for mark in ("*", "`", "$", "](") if mark in shown]
