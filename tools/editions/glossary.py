"""``book/CODE/terms.csv``: the word agreed on for each term, and whether a translation uses it."""

import re
from collections.abc import Iterator
from functools import cache

from tools.course import Course
from tools.language import Language

from . import markup
from .markup import plain


def table(course: Course, language: str) -> str:
    """Return the table of all terms, first in one language, by its alphabet, then in the others."""
    codes = [code for code in course.languages if any(row.get(code) for row in course.terms)]
    codes.sort(key=lambda code: code != language)
    head = [course.languages[code].name for code in codes]
    key = course.languages[language].sorting_key
    rows = sorted(course.terms, key=lambda row: key(row.get(language, "")))
    return markup.table(head, *([row.get(code, "") for code in codes] for row in rows))


def english_names(course: Course) -> re.Pattern[str]:
    """Return the English terms, longest first: a translation may give them in brackets."""
    names = tuple(row[course.source] for row in course.terms)
    return any_name(course.languages[course.source], names)


@cache
def any_name(language: Language, terms: tuple[str, ...]) -> re.Pattern[str]:
    names = sorted(map(language.forms, terms), key=len, reverse=True)
    return re.compile("|".join(names) or "(?!)", re.IGNORECASE)


def words(course: Course, language: str) -> set[str]:
    """Return every word of the language's terms; a heading may have those that are also English."""
    texts = (f"{row.get(language)} {row.get(f'{language}_accepted')}" for row in course.terms)
    return {word.lower() for text in texts for word in re.findall(r"\w+", text)}


def missing_terms(
    course: Course, language: str, english: str, text: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield terms of the English cell, each with its agreed words, if the text has none of these."""
    wanted = terms_in(course, english)
    for row in course.terms:
        if (term := row[course.source]) in wanted:
            words = tuple(allowed_words(row, language))
            if words and not has_word(course.languages[language], words, text):
                yield term, words


def has_word(language: Language, words: tuple[str, ...], text: str) -> bool:
    """Return True if a text has one of these words, in any form."""
    return bool(any_of(language, words).search(words_of(language, text)))


def words_of(language: Language, text: str) -> str:
    """Return the prose of a cell in lower case, with one space between words."""
    return re.sub(r"\s+", " ", language.fold(plain(text)))


def terms_in(course: Course, text: str) -> frozenset[str]:
    """Return the terms that a text in the source language uses."""
    source, names = course.languages[course.source], tuple(row[course.source] for row in course.terms)
    return names_in(source, names, text)


@cache
def names_in(language: Language, names: tuple[str, ...], text: str) -> frozenset[str]:
    """Return the names in a text; "attention" in "multi-head attention" is no term of its own."""
    prose, found = words_of(language, text), set()
    for name in sorted(names, key=len, reverse=True):
        prose, times = any_of(language, (name,)).subn(" … ", prose)
        found |= {name} if times else set()
    return frozenset(found)


@cache
def any_of(language: Language, allowed: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(language.forms, allowed)))


def allowed_words(row: dict[str, str], language: str) -> list[str]:
    """Return the word agreed on for a term, then others that are accepted; none where there is none."""
    if not row.get(language):
        return []
    return [row[language], *filter(None, row[f"{language}_accepted"].split("|"))]
