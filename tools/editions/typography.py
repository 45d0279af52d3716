"""How each language is written, as far as a tool can see it: CONTRIBUTING says it in words."""

# ruff: noqa: E501 - the table has one line a rule

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from .markup import SIGN, as_read

HAN = "[\u3400-\u9fff]"
FULL = "，。；：？！（）、「」〈〉"
OWN_LETTERS = {  # letters that no other language of the course writes its words with
    "zh": ("Chinese", HAN),
    "tr": ("Turkish", "[ğışĞİŞ]"),
    "vi": ("Vietnamese", "[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏốồổỗộớờởỡợụủũứừửữựỳỵỷỹ]"),
}
SHORT_WORDS = re.compile(r"(?<![\w-])(?:the|of|and|are|that|with|from|which|this|these|its)(?![\w-])")
BETWEEN = re.compile(r"“[^”]*”|「[^」]*」|\"[^\"]*\"|«[^»]*»|[(（][^)）]*[)）]")

OFTEN = 3
LETTERS = re.compile("[ışğçöü]")
PLAIN = str.maketrans("ışğçöü", "isgcou")


class Rule(NamedTuple):
    """In this language (``*``: in all) a text with the pattern is wrong, and what to write instead."""

    language: str
    pattern: str
    what: str


RULES = [
    Rule("*", "[\u00ad\u00a0\u200b-\u200f\u2009\u202f\u2060\ufeff]", "has an invisible sign or a special space: delete it"),
    Rule("*", r"(?<=\S)[ \t]{2,}(?=\S)", "has two spaces in a row"),
    Rule("*", r"(?<![\w.,)])[.,]\d", "a decimal begins with a digit: 0.65"),
    Rule("en", r"\b(?!(?:to|it|that|had)\b)([a-z]+) \1\b", "has a word twice"),
    Rule("en|tr|vi", "[“”‘’«»„]", "quotation marks are straight: \" and '"),
    Rule("tr", rf"{SIGN}[^\W\d_]", "a suffix after code or a formula begins with an apostrophe"),
    Rule("tr", r"\b(?!(?:FLOPs|RMSNorm)\b)[A-ZÇĞİÖŞÜ]{2,}[a-zçğıöşü]+\b", "a suffix after an abbreviation begins with an apostrophe"),
    Rule("tr", r"\d ?%", "the sign stands before the number: %70"),
    Rule("tr", r"\d,\d{3},\d|\b[1-9]\d{0,2}\.\d{3}\b", "thousands have a space, decimals a comma: 40 000"),
    Rule("vi", r"\d %|% ?\d", "the sign stands right after the number: 70%"),
    Rule("vi", r"\b[1-9]\d{0,2} \d{3}\b", "thousands have a point, decimals a comma: 40.000"),
    Rule("vi", r"o[àáảãạèéẻẽẹ]\b|(?<!q)u[ỳýỷỹỵ]\b", "the tone stands on the first vowel: hòa, khỏe, thủy"),
    Rule("zh", rf"{HAN}(?:[,;:?!()]|\.(?!\d))|[,;:?!()]{HAN}", "a half-width sign beside Chinese: write ，。；：？！（）"),
    Rule("zh", rf"{HAN}[\"'“”‘’]|[\"'“”‘’]{HAN}", "quotation marks are 「」"),
    Rule("zh", rf"[ \t]+[{FULL}]|[{FULL}][ \t]+", "a full-width sign has no space beside it"),
    Rule("zh", rf"{HAN}[A-Za-z0-9{SIGN}]|[A-Za-z0-9{SIGN}]{HAN}", "a space parts Chinese from letters, numbers and code"),
    Rule("zh", rf"{HAN} +{HAN}", "no space stands between Chinese characters"),
    Rule("zh", r"\d %|% ?\d", "the sign stands right after the number: 70%"),
]  # fmt: skip


def faults(language: str, text: str) -> Iterator[str]:
    """Signs and spaces that the language writes otherwise, and words of another language."""
    read = as_read(text)
    for rule in RULES:
        here = rule.language == "*" or language in rule.language.split("|")
        if here and (match := re.search(rule.pattern, read)):
            yield f"{rule.what} (in {around(read, match)!r})"
    for code, (name, letters) in OWN_LETTERS.items():
        if code != language and (match := re.search(letters, read)):
            yield f"has {name} in it (in {around(read, match)!r})"
    if language != "en" and (match := SHORT_WORDS.search(BETWEEN.sub(" … ", read))):
        yield f"has English in it: {match[0]!r}"


def plain_letters(texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Turkish words of a cell that stand once in the book, and elsewhere with ı, ş, ğ, ç, ö or ü.

    ``texts``: every Turkish cell of the book, by any name.
    """
    words = {
        name: re.findall(r"(?<![\w'])[^\W\d_]{4,}", turkish_lower(as_read(text)))
        for name, text in texts.items()
    }
    times = Counter(word for found in words.values() for word in found)
    spelled: dict[str, list[str]] = {}
    for word in times:
        spelled.setdefault(word.translate(PLAIN), []).append(word)
    for name, found in words.items():
        for word in found:
            own = len(LETTERS.findall(word))
            others = [o for o in spelled[word.translate(PLAIN)] if len(LETTERS.findall(o)) > own]
            if times[word] == 1 and others:
                yield name, f"says {word!r}; elsewhere the book says {others[0]!r}"


def exchanged_letters(texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """English words that stand once in the book and, with two letters exchanged, often."""
    words = {name: re.findall(r"[a-z]{3,}", as_read(text).lower()) for name, text in texts.items()}
    times = Counter(word for found in words.values() for word in found)
    for name, found in words.items():
        for word in found:
            if times[word] == 1:
                for i in range(len(word) - 1):
                    other = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
                    if other != word and times[other] >= OFTEN:
                        yield name, f"says {word!r}; is {other!r} meant?"


def turkish_lower(text: str) -> str:
    return text.replace("İ", "i").replace("I", "ı").lower()


SPELLING = {"tr": plain_letters, "en": exchanged_letters}


def around(text: str, match: re.Match[str]) -> str:
    """The fault with a few letters on both sides."""
    return text[max(0, match.start() - 12) : match.end() + 12].replace(SIGN, "…")
