"""Does a text translate its English cell? What can be told without understanding either."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from tools.course import Course

from . import glossary, numbers
from .lock import digest
from .markup import KINDS, as_read, parsed, plain, skeleton

REORDERED = "book/reordered.tsv"
FEWEST = {"zh": 0.25}  # letters of a translation for one of English, where it has fewer sentences
FEWEST_WITH_SPACES = 0.89
LONG_ENOUGH = 60  # letters of an English paragraph
SURE = 2.0
SENTENCES = re.compile(r"[.!?](?=\s|$)|[。！？]")

Marks = list[tuple[str, str]]  # kind and content of code, formulas and links, in their order


def blocks(text: str) -> list[tuple[str, Marks]]:
    """The words and the marks of each paragraph, list item, heading and cell of a table."""
    found = []
    for token in parsed(text):
        if token.type == "inline":
            marks = [
                ("link", str(part.attrs["href"]))
                if part.type == "link_open"
                else (KINDS[part.type], part.content)
                for part in token.children or []
                if part.type == "link_open" or part.type in KINDS
            ]
            found.append((as_read(token.content), marks))
    return found


def exchanged(english: str, text: str) -> Iterator[str]:
    """Code, formulas and links that stand in another paragraph, item or cell of a table than in English."""
    theirs, ours = blocks(english), blocks(text)
    if len(theirs) != len(ours):
        return
    for (_, wanted), (words, marks) in zip(theirs, ours, strict=True):
        if lost := Counter(wanted) - Counter(marks):
            yield f"{' '.join(next(iter(lost)))!r} of English is missing in the paragraph {words[:30]!r}"
        wanted_links, links = ([what for kind, what in m if kind == "link"] for m in (wanted, marks))
        if not lost and links != wanted_links:
            yield f"its links stand in another order than in English: {', '.join(wanted_links)}"


def reordered(english: str, text: str) -> tuple[str, str]:
    """Where code and formulas of a paragraph stand in another order than in English; the order's digest."""
    said, orders = "", []
    for (_, wanted), (_, marks) in zip(blocks(english), blocks(text), strict=False):
        theirs, ours = ([what for kind, what in part if kind != "link"] for part in (wanted, marks))
        if theirs != ours and Counter(theirs) == Counter(ours):
            first = next(i for i, pair in enumerate(zip(theirs, ours, strict=True)) if pair[0] != pair[1])
            said = said or f"has {ours[first]} where English has {theirs[first]}"
            orders.append(ours)
    return said, digest(str(orders))[:6] if orders else ""


def shortened(language: str, english: str, text: str) -> Iterator[str]:
    """Paragraphs of fewer sentences than in English that are also short."""
    fewest = FEWEST.get(language, FEWEST_WITH_SPACES)
    for (wanted, _), (words, _) in zip(blocks(english), blocks(text), strict=False):
        fewer = len(SENTENCES.findall(wanted)) > len(SENTENCES.findall(words))
        if fewer and len(wanted) >= LONG_ENOUGH and len(words) < fewest * len(wanted):
            yield f"the paragraph {words[:30]!r} seems to lack a sentence of its English"


@dataclass(frozen=True)
class Features:
    """What a cell and its translation have in common: terms, numbers, names, signs, length."""

    terms: frozenset[str]
    numbers: Counter[str]
    names: frozenset[str]
    signs: Counter[str]
    length: int


def features(course: Course, language: str, text: str) -> Features:
    words = plain(text)
    read = as_read(text).translate(str.maketrans("？（：。", "?(:."))
    return Features(
        frozenset(glossary.terms_in(course, language, text)),
        Counter(min(numbers.readings(n, course.languages[language].decimal)) for n in numbers.numbers(text)),
        frozenset(re.findall(r"[a-z]{2,}", words.lower())),
        Counter(re.findall(r"[?(:]|\.(?!\d)", read)),
        len(words),
    )


def distance(english: Features, ours: Features, usual: float) -> float:
    """How badly a text fits an English cell; ``usual``: the language's letters for one of English."""
    return (
        2 * len(english.terms - ours.terms)
        + 2 * sum(((english.numbers - ours.numbers) + (ours.numbers - english.numbers)).values())
        + 3 * abs(math.log(ours.length / english.length / usual))
        + 0.5 * sum(((english.signs - ours.signs) + (ours.signs - english.signs)).values())
        - len(english.names & ours.names)
    )


def swapped(course: Course, language: str, pairs: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Cells of a page whose texts would fit better if they changed places. ``pairs``: English and text."""
    alike: dict[object, list[str]] = {}
    for key, (english, text) in pairs.items():
        if len(plain(english)) > LONG_ENOUGH / 2 and plain(text).strip():
            alike.setdefault(frozenset(skeleton(english).items()), []).append(key)
    groups = [keys for keys in alike.values() if len(keys) > 1]
    found = {
        key: (features(course, course.source, pairs[key][0]), features(course, language, pairs[key][1]))
        for keys in groups
        for key in keys
    }
    ratios = sorted(ours.length / theirs.length for theirs, ours in found.values())
    for one, other in (pair for keys in groups for pair in combinations(keys, 2)):
        (first, text), (second, text_2) = found[one], found[other]
        usual = ratios[len(ratios) // 2]
        now = distance(first, text, usual) + distance(second, text_2, usual)
        if now - distance(first, text_2, usual) - distance(second, text, usual) >= SURE:
            yield one, f"its text and that of {other} seem to have changed places"
