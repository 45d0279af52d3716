"""Typographic rules for all languages; each language adds its own in its settings."""

import re
from collections.abc import Iterator
from functools import cache

from tools.course import Course

from .markup import SIGN, as_read

INVISIBLE = "[\u00ad\u00a0\u200b-\u200f\u2009\u202f\u2060\ufeff]"
WRONG = {  # in every language: pattern, and what to do
    INVISIBLE: "has an invisible sign or a special space: delete it",
    r"(?<=\S)[ \t]{2,}(?=\S)": "has two spaces in a row",
    r"(?<![\w.,)])[.,]\d": "a decimal begins with a digit: 0.65",
}
ASIDE = re.compile(r"“[^”]*”|「[^」]*」|\"[^\"]*\"|«[^»]*»|[(（][^)）]*[)）]")  # quotations and brackets


def faults(course: Course, code: str, text: str) -> Iterator[str]:
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


compiled = cache(re.compile)  # there are more patterns than `re` keeps


@cache
def any_word(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words.split())) or '(?!)'})(?![\w-])")


def around(text: str, match: re.Match[str]) -> str:
    """Return the fault with a few letters on both sides."""
    return text[max(0, match.start() - 12) : match.end() + 12].replace(SIGN, "…")
