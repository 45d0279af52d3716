"""Compare a cell of a translation with its English: what both have to hold, as a set, in any order.

Code, formulas, links, numbers and terms of an English cell are in its translation, or at least in the same
section. Headings, tables, answers of a quiz and what is folded keep their form. Sentences, paragraphs and
lists are the translator's own.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tools.course import Course

from . import glossary, numbers
from .markup import CONTENTS, skeleton


class Difference(NamedTuple):
    """Something that a translation lacks or adds; an error or a warning."""

    level: str
    what: str


def differences(
    course: Course, language: str, key: str, english: Mapping[str, str], texts: Mapping[str, str], prose: bool
) -> Iterator[Difference]:
    """Yield the differences of the cell `key`.

    `english` and `texts` hold the cells of its section by id; `prose` says whether numbers and terms count.
    """
    yield from differences_of_form(english[key], texts[key])
    yield from differences_of_contents(key, english, texts)
    if prose:
        yield from lost_numbers(course, language, key, english, texts)
        yield from lost_terms(course, language, key, english, texts)


def differences_of_form(english: str, text: str) -> Iterator[Difference]:
    """Yield headings, rows of tables, HTML tags and marks of answers that only one of the two texts has."""
    wanted, given = skeleton(english), skeleton(text)
    for parts, fault in ((wanted - given, "of English is missing"), (given - wanted, "is not in English")):
        for kind, what in parts:
            if kind not in CONTENTS:
                yield Difference("error", f"{kind} {what!r} {fault}")


def differences_of_contents(
    key: str, english: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield code, formulas, links and images that the text lacks, or that no English of the section has."""
    wanted, given = skeleton(english[key]), skeleton(texts[key])
    for part in wanted.keys() - given.keys():
        if part[0] in CONTENTS:
            places = [other for other in texts if other != key and part in skeleton(texts[other])]
            yield missing(f"{part[0]} {part[1]!r}", places)
    known = set().union(*map(skeleton, english.values()))
    for kind, what in given.keys() - known:
        if kind in CONTENTS:
            yield Difference("error", f"{kind} {what!r} is not in English")


def lost_numbers(
    course: Course, language: str, key: str, english: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield numbers that the text lacks, as English writes them."""
    for number in numbers.lost(course, language, english[key], texts[key]):
        others = (other for other in texts if other != key)
        places = [other for other in others if numbers.is_in(course, language, number, texts[other])]
        yield missing(f"the number {number}", places)


def lost_terms(
    course: Course, language: str, key: str, english: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield terms for which the text has none of the agreed words."""
    for term, words in glossary.missing_terms(course, language, english[key], texts[key]):
        others = (other for other in texts if other != key)
        place = next(
            (other for other in others if glossary.has_word(course.languages[language], words, texts[other])),
            "",
        )
        what = f"{term!r} is {' or '.join(map(repr, words))} in the glossary, the cell has none"
        yield Difference("warning", f"{what}; moved to {place}?" if place else what)


def missing(name: str, places: list[str]) -> Difference:
    """Return a warning for what is in another cell of the section, else an error."""
    what = f"{name} of English is missing"
    return Difference("warning", f"{what}; moved to {places[0]}?") if places else Difference("error", what)
