"""Check how one cell is written: Markdown that is not closed, typography, words to avoid, English left in."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from tools.course import Course

from . import glossary
from .markup import PLACEHOLDER, as_read, headings, plain, stray_marks

INVISIBLE = "[\u00ad\u00a0\u200b-\u200f\u2009\u202f\u2060\ufeff]"
WRONG = {  # in every language: pattern, and what to do
    INVISIBLE: "has an invisible sign or a special space: delete it",
    r"(?<=\S)[ \t]{2,}(?=\S)": "has two spaces in a row",
    r"(?<![\w.,)])[.,]\d": "a decimal begins with a digit: 0.65",
}
ASIDE = re.compile(r"“[^”]*”|「[^」]*」|\"[^\"]*\"|«[^»]*»|[(（][^)）]*[)）]")  # quotations and brackets


def lint(course: Course, code: str, english: str, text: str) -> Iterator[str]:
    """Find mistakes in a text that a reader would stumble over."""
    language = course.languages[code]
    if not text.strip():
        yield "is empty"
    if not unicodedata.is_normalized("NFC", text):
        yield "is not in Unicode's normal form NFC"
    for mark in stray_marks(text):
        yield f"shows a literal {mark!r}: not closed, or with a space inside"
    for year, key, other in re.findall(r"\[[^\]]*?(\d{4})[^\]]*\]\(references\.md#([\w-]*?(\d{4}))\)", text):
        if year != other:
            yield f"says {year} of {key}"
    if re.search(r"\{[\w:-]+\}`|^\([\w-]+\)=|^:::", text, re.MULTILINE):
        yield "has a MyST role, label or directive, which only the site would render"
    yield from language.faults(plain(text))
    prose = plain(text).lower()
    for wrong, right in language.avoid.items():
        start = r"\b" if language.spaces else ""  # else nothing shows where a word begins
        if match := compiled(start + wrong).search(prose):
            yield f"says {match[0]!r}, which is wrong here: {right!r}"
    yield from typographic_faults(course, code, text)
    if code != course.source and any(english_left_in(english, text, set())):
        terms, shared = glossary.english_names(course), glossary.words(course, code)  # these may stay
        yield from english_left_in(english, terms.sub(" … ", text), shared)


def typographic_faults(course: Course, code: str, text: str) -> Iterator[str]:
    """Yield signs and spaces that are wrong in the language, and words of another language."""
    language, read = course.languages[code], as_read(text)
    for pattern, what in (WRONG | language.wrong).items():
        if match := compiled(pattern).search(read):
            yield f"{what} (in {around(read, match)!r})"
    for other in course.languages.values():
        if other is not language and other.letters and (match := compiled(other.letters).search(read)):
            yield f"has {other.name} in it (in {around(read, match)!r})"
    source = course.languages[course.source]
    common = any_word(source.common_words)
    if language is not source and (match := common.search(ASIDE.sub(" … ", as_read(text, quoted=False)))):
        yield f"has {source.name} in it: {match[0]!r}"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern once: there are more than `re` keeps."""
    return re.compile(pattern)


@cache
def any_word(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words.split())) or '(?!)'})(?![\w-])")


def around(text: str, match: re.Match[str]) -> str:
    """Return the fault with a few letters on both sides."""
    return text[max(0, match.start() - 12) : match.end() + 12].replace(PLACEHOLDER, "…")


def english_left_in(english: str, text: str, shared: set[str]) -> Iterator[str]:
    """Yield four English words in a row, or an English heading, but no title, quotation or shared word."""
    ours = [run for run in runs_of_four(text) if "".join(run).isascii() and sum(map(str.islower, run)) > 1]
    theirs = {tuple(map(str.lower, run)) for run in runs_of_four(english)} if ours else set()
    for run in ours:
        if tuple(map(str.lower, run)) in theirs:
            yield f"has English left in: {' '.join(run)!r}"
            return
    for heading in headings(english) & headings(text):
        words = set(re.findall(r"\b[A-Za-z]?[a-z]{3,}\b", heading))
        if any(word.lower() not in shared for word in words):
            yield f"has English left in: {heading!r}"


@cache
def runs_of_four(text: str) -> list[tuple[str, ...]]:
    """Return the words of a text that stand together, four by four, without names and quotations."""
    words = re.findall(r"(?<!\w)[^\W\d_]+(?!\w)", plain(text, quoted=False))
    return list(zip(words, words[1:], words[2:], words[3:], strict=False))
