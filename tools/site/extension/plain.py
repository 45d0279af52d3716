"""Formulas as words and signs: what is read aloud of a picture, searched for, and shown by search engines."""

import re
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.smartquotes import smartyPants
from sphinx.config import Config

from .formulas import render

MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
LOW = str.maketrans("0123456789+−-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
HIGH = str.maketrans("0123456789+−-=()⊤hijkn", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵀʰⁱʲᵏⁿ")
RELATIONS = set("=≠<>≤≥≈→←∈")


def curled(text: str, config: Config) -> str:
    """Text that stands in no paragraph, with the quotation marks that Sphinx gives to paragraphs."""
    kept = config.language in config.smartquotes_excludes.get("languages", ())
    return text if kept else str(smartyPants(text, "q", config.language))


def plain(node: nodes.Node) -> str:
    """A node's text, with `h₁, …, h₄` for `$h_1, \\dots, h_4$`."""
    if isinstance(node, nodes.math | nodes.math_block):
        mathml = MATHML.search(render(node.astext(), False).get("html", ""))
        return formula(mathml[0]) if mathml else node.astext()
    if isinstance(node, nodes.Element) and node.children:
        return node.child_text_separator.join(map(plain, node.children))
    return node.astext()


def formula(mathml: str) -> str:
    """MathML as plain text."""
    text = written(ElementTree.fromstring(mathml.replace("&nbsp;", "\u00a0")))
    return " ".join(text.replace("\u2061 (", "(").replace("\u2061(", "(").replace("\u2061", " ").split())


def written(node: ElementTree.Element) -> str:
    """One element of MathML as plain text."""
    name = node.tag.rpartition("}")[2]
    if name == "annotation":
        return ""
    if name == "mspace":
        return " "
    parts = [written(child) for child in node]
    if name in ("msub", "munder"):
        return parts[0] + moved(parts[1], LOW, "_")
    if name == "msup":
        return parts[0] + moved(parts[1], HIGH, "^")
    if name in ("msubsup", "munderover"):
        return parts[0] + moved(parts[1], LOW, "_") + moved(parts[2], HIGH, "^")
    if name == "mfrac":
        return "/".join(map(grouped, parts))
    if name == "msqrt":
        return "√" + grouped("".join(parts))
    if name in ("mtable", "mtr"):
        return (", " if name == "mtr" else "; ").join(parts)
    text = "".join(parts) or (node.text or "")
    if node.get("separator") == "true":
        return text + " "
    return f" {text} " if name == "mo" and text in RELATIONS else text


def grouped(text: str) -> str:
    """Parentheses around more than one sign."""
    return text if re.fullmatch(r"\w*|\([^()]*\)", text) else f"({text})"


def moved(text: str, places: dict[int, int], mark: str) -> str:
    """An index or exponent in small signs where each has one, else behind a mark."""
    if all(ord(sign) in places for sign in text):
        return text.translate(places)
    return text if text in "′″" else mark + grouped(text)
