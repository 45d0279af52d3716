"""Shared by the five grammars: words with labels, meanings, the lexicon and sentence patterns."""

import csv
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
Entry = dict[str, str]


@dataclass(frozen=True)
class Word:
    """A token, with the labels of the English words that it translates (or, in English, its own)."""

    text: str
    labels: frozenset[str]


@dataclass(frozen=True)
class Meaning:
    """The meaning of a row, before it is put into a language; "" where the template lacks a part."""

    template: str
    subject: str = ""
    verb: str = ""
    determiner: str = ""
    adjective: str = ""
    noun: str = ""
    place: str = ""
    second: str = ""
    mood: str = ""


Slot = Callable[[Meaning, str], list[Word]]
Slots = dict[str, Slot]


def table(path: Path) -> list[Entry]:
    """Return the lines of a TSV file as dictionaries."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def lexicon(name: str) -> dict[str, Entry]:
    """Return the entries of ``lexicon/NAME.tsv`` by English word; "-" stands for nothing."""
    entries = table(FOLDER / "lexicon" / f"{name}.tsv")
    cleaned = [{key: "" if value == "-" else value for key, value in entry.items()} for entry in entries]
    return {entry["en"]: entry for entry in cleaned}


@cache
def templates() -> dict[str, dict[str, Any]]:
    """Return the blocks of ``templates.toml`` by name."""
    return tomllib.loads((FOLDER / "templates.toml").read_text(encoding="utf-8"))


def words(text: str, *labels: str) -> list[Word]:
    """Return each word of ``text`` with the same labels."""
    return [Word(part, frozenset(labels)) for part in text.split()]


def fill(pattern: str, meaning: Meaning, slots: Slots) -> list[Word]:
    """Return the sentence of a pattern (see the head of ``templates.toml``)."""
    sentence: list[Word] = []
    for item in pattern.split():
        name, _, feature = item.partition(".")
        text, _, labels = item.partition("@")
        if name in slots:
            sentence += slots[name](meaning, feature)
        elif name.isupper():
            raise ValueError(f"{meaning.template}: there is no slot {name!r} in {pattern!r}")
        else:
            sentence += words(text, *(labels or text).split(","))
    return sentence


def align(source: list[Word], target: list[Word]) -> list[list[int]]:
    """Return for each target word the positions of the source words that share a label with it."""
    return [[i for i, word in enumerate(source) if word.labels & goal.labels] for goal in target]


def subject_words(entry: Entry, language: str) -> list[Word]:
    """Return the subject; in "my mother" the determiner and the noun have labels of their own."""
    parts = []
    for part in entry[language].split():
        mark, _, text = part.rpartition(":")
        parts += words(text, *(f"subj-{label}" for label in mark.split(",")) if mark else ["subj"])
    return parts
