"""Write formulas as plain text, for alternative texts, the search and descriptions of pages."""

import re
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.smartquotes import smartyPants
from sphinx.config import Config

from .formulas import render

MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
SUBSCRIPTS = str.maketrans("0123456789+−-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
SUPERSCRIPTS = str.maketrans("0123456789+−-=()⊤hijkn", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵀʰⁱʲᵏⁿ")
APPLY = "\u2061"  # between a function's name and its argument
RELATIONS = set("=≠<>≤≥≈→←∈")


def with_curly_quotes(text: str, config: Config) -> str:
    """Return text with typographic quotation marks, as Sphinx writes them in paragraphs only."""
    is_excluded = config.language in config.smartquotes_excludes.get("languages", ())
    return text if is_excluded else str(smartyPants(text, "q", config.language))


def plain(node: nodes.Node) -> str:
    """Return a node's text, with `h₁, …, h₄` for `$h_1, \\dots, h_4$`."""
    if isinstance(node, nodes.math | nodes.math_block):
        mathml = MATHML.search(render(node.astext(), False).get("html", ""))
        return formula(mathml[0]) if mathml else node.astext()
    if isinstance(node, nodes.Element) and node.children:
        return node.child_text_separator.join(map(plain, node.children))
    return node.astext()


def formula(mathml: str) -> str:
    """Return MathML as plain text."""
    text = plain_element(ElementTree.fromstring(mathml.replace("&nbsp;", "\u00a0")))
    return " ".join(
        text.replace(f"{APPLY} (", "(")
        .replace(f"{APPLY}(", "(")
        .replace(APPLY, " ")
        .replace("( ", "(")
        .split()
    )


def plain_element(node: ElementTree.Element) -> str:
    """Return one element of MathML as plain text."""
    name = node.tag.rpartition("}")[2]
    if name == "annotation":
        return ""
    if name == "mspace":
        return "" if node.get("width", "").startswith("-") else " "
    parts = [plain_element(child) for child in node]
    if name in ("msub", "munder"):
        space = " " * (parts[0] in ("∑", "∏"))  # the bound is no part of what is summed
        return (
            parts[0].removesuffix(APPLY)
            + small_characters(parts[1], SUBSCRIPTS, "_")
            + APPLY * parts[0].endswith(APPLY)
            + space
        )
    if name == "msup":
        return parts[0] + small_characters(parts[1], SUPERSCRIPTS, "^")
    if name in ("msubsup", "munderover"):
        space = " " * (parts[0] in ("∑", "∏"))
        return (
            parts[0]
            + small_characters(parts[1], SUBSCRIPTS, "_")
            + small_characters(parts[2], SUPERSCRIPTS, "^")
            + space
        )
    if name == "mfrac":
        over, under = map(in_brackets, parts)
        return f"{over}/{under}" if len(over + under) < 8 else f" {over} / {under} "
    if name == "msqrt":
        return "√" + in_brackets("".join(parts))
    if name in ("mtable", "mtr"):
        whole = (", " if name == "mtr" else "; ").join(part for part in parts if part.strip())
        return re.sub(r"[,;] (?= =)", "", whole)  # an equation over several lines
    text = "".join(parts) or (node.text or "")
    if node.get("separator") == "true":
        return text + " "
    if name == "mi" and len(text) > 1 and text.isalpha():  # a function: a cos b
        return " " + text
    return f" {text} " if name == "mo" and text in RELATIONS else text


def in_brackets(text: str) -> str:
    """Put parentheses around more than one character."""
    text = text.strip()
    return text if re.fullmatch(r"\w*|\([^()]*\)", text) else f"({text})"


def small_characters(text: str, characters: dict[int, int], mark: str) -> str:
    """Return an index or exponent in Unicode's small characters, else after a mark."""
    text = text.strip()
    if all(ord(sign) in characters for sign in text):
        return text.translate(characters)
    if text in "′″":
        return text
    return mark + (f"({text})" if mark == "^" and re.fullmatch(r"\w{2,}", text) else in_brackets(text))
