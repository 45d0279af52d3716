"""``book/CODE/terms.csv``: the word agreed on for each term, and whether a translation uses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tools.course import Course

from .markup import plain


def table(course: Course) -> str:
    """All terms in every language that has some, as the Markdown table of the glossary page."""
    codes = [code for code in course.languages if any(row.get(code) for row in course.terms)]
    head = [course.languages[code].name for code in codes]
    lines = [head, ["---"] * len(head), *([row.get(code, "") for code in codes] for row in course.terms)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def english_names(course: Course) -> re.Pattern[str]:
    """The English terms, longest first: a translation may give them in brackets."""
    return any_name(tuple(row[course.source] for row in course.terms))


@cache
def any_name(terms: tuple[str, ...]) -> re.Pattern[str]:
    names = sorted(map(english_pattern, terms), key=len, reverse=True)
    return re.compile("|".join(names) or "(?!)", re.IGNORECASE)


def words(course: Course, language: str) -> set[str]:
    """Every word of the language's terms: those that are also English may stand in a heading."""
    texts = (f"{row.get(language)} {row.get(f'{language}_accepted')}" for row in course.terms)
    return {word.lower() for text in texts for word in re.findall(r"\w+", text)}


def missing_terms(
    course: Course, language: str, english: str, text: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield terms of the English cell, each with its agreed words, if the text has none of these."""
    wanted = terms_in(course, course.source, english)
    for row in course.terms:
        term, words = row[course.source], tuple(allowed_words(row, language))
        if term in wanted and words and not has_word(language, words, text):
            yield term, words


def has_word(language: str, words: tuple[str, ...], text: str) -> bool:
    """Return True if a text has one of these words, in any form."""
    return bool(any_of(language, words).search(fold(plain(text))))


def terms_in(course: Course, language: str, text: str) -> frozenset[str]:
    """The terms that a text uses, by their English names."""
    names = tuple(row[course.source] for row in course.terms)
    if language == course.source:
        return english_terms(names, plain(text).lower())
    words, rows = fold(plain(text)), ((row, tuple(allowed_words(row, language))) for row in course.terms)
    found = (row for row, allowed in rows if allowed and any_of(language, allowed).search(words))
    return frozenset(row[course.source] for row in found)


@cache
def english_terms(names: tuple[str, ...], prose: str) -> frozenset[str]:
    """Longer terms first: "attention" inside "multi-head attention" is not a term of its own."""
    found = set()
    for term in sorted(names, key=len, reverse=True):
        if term[:-1].lower() in prose:
            prose, times = re.subn(english_pattern(term), " … ", prose)
            found |= {term} if times else set()
    return frozenset(found)


@cache
def any_of(language: str, allowed: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(inflected(word, language) for word in allowed))


def allowed_words(row: dict[str, str], language: str) -> list[str]:
    """The word agreed on for a term, then the others that are accepted; none where the language has none."""
    if not row.get(language):
        return []
    return [row[language], *filter(None, row[f"{language}_accepted"].split("|"))]


def without_words(course: Course, language: str) -> list[str]:
    """The terms that the language has no word for yet."""
    return [row[course.source] for row in course.terms if not row.get(language)]


def english_pattern(term: str) -> str:
    """The term in singular and plural, as whole words."""
    term = re.escape(term.lower())
    plural = rf"(?:{term[:-1]}(?:y|ies))" if term.endswith("y") else rf"{term}(?:s|es)?"
    return rf"(?<![\w-]){plural}(?![\w-])"


def fold(text: str) -> str:
    """Lower case without the Turkish dots and spaces that would hide a word."""
    return re.sub(r"\s+", " ", text.replace("İ", "i").lower().replace("ı", "i"))


def inflected(term: str, language: str) -> str:
    """A pattern that finds the term with its suffixes: Turkish ones soften the last consonant (kp → ğb)."""
    words = fold(term).split()
    if language != "tr":
        return r"\s*".join(map(re.escape, words))
    return r"\w*['’]?\w*\s(?:bir\s)?".join(stem(word) for word in words)  # "geçitli bir yinelemeli birim"


def stem(word: str) -> str:
    """The Turkish word without a possessive ending; its last vowel may fall (şekil, şekli)."""
    bare = re.sub(r"(?<=\w{3})(?:s[iuü]|[iuü])$", "", word)
    soft = next((f"[{pair}]" for pair in ("kğ", "pb", "çc", "td") if bare[-1] in pair), re.escape(bare[-1]))
    falling = "?" if re.search(r"[^aeioöuü][iuü]\w$", bare) else ""
    return rf"(?:\b|(?<=-)){re.escape(bare[:-1])}{falling}{soft}"
