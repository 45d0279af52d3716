"""One language of the course: the settings and rules of ``book/CODE/language.yml`` and ``language.py``.

The tools know no language by name: what is special about one is in its folder, and each rule has a
default. ``language.py`` may define ``fold``, ``forms``, ``faults`` and ``spelling``; the methods of
`Language` say what each gets and returns.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from types import ModuleType
from typing import Any


@dataclass(frozen=True, eq=False)
class Language:
    """The settings of ``language.yml``, of which `name`, `html` and `sphinx` are required."""

    code: str
    name: str  # as its speakers write it
    html: str  # the page's lang attribute (BCP 47)
    sphinx: str  # Sphinx's name of its catalogue
    source: bool = False  # true of the one language that the others are translated from
    locale: str = ""  # for lists in scripts, where the lang attribute is too general: en-GB
    spaces: bool = True  # False if words are written without spaces
    decimal: str = "."  # the decimal sign in prose
    thousands: str = ""  # the sign between thousands; by default a comma, beside a decimal comma a point
    quotes: str = ""  # two double and two single marks that the site sets for straight ones: “”‘’
    alphabet: str = "abcdefghijklmnopqrstuvwxyz"  # the order of its letters, in which the glossary is sorted
    letters: str = ""  # a pattern of letters that no other language of the course writes its words with
    common_words: str = ""  # words, separated by spaces, by which a text in this language is recognized
    unbroken: list[str] = field(default_factory=list)  # patterns of words and numbers that no line breaks in
    avoid: dict[str, str] = field(default_factory=dict)  # patterns of words not to use, with the right word
    wrong: dict[str, str] = field(default_factory=dict)  # patterns not to write, with what to do instead;
    # in these, \uFFFC stands for code or a formula
    search: dict[str, Any] = field(default_factory=dict)  # see `tools.site.search`
    rules: str = ""  # the source of language.py

    @property
    def functions(self) -> ModuleType:
        """Return the functions of ``language.py``."""
        return functions_of(f"book/{self.code}/language.py", self.rules)

    @property
    def thousands_sign(self) -> str:
        """Return the sign between thousands; a space is narrow, and no line ends there."""
        default = "." if self.decimal == "," else ","
        return (self.thousands or default).replace(" ", "\u202f")

    def fold(self, text: str) -> str:
        """Return the text in lower case, with as many characters as before."""
        # İ is the one capital whose lower case is two characters.
        own = getattr(self.functions, "fold", None)
        return str(own(text)) if own else text.replace("İ", "I").lower()

    def sorting_key(self, text: str) -> list[int]:
        """Return a key that sorts words by the alphabet, and other writing after it by code points.

        Marks that make no letter of the alphabet do not count, such as Vietnamese tones.
        """
        if "ı" in self.alphabet:
            text = text.replace("I", "ı").replace("İ", "i")
        key = []
        for character in unicodedata.normalize("NFC", text.lower()):
            letter, *marks = unicodedata.normalize("NFD", character)
            for mark in marks:
                marked = unicodedata.normalize("NFC", letter + mark)
                letter = marked if marked in self.alphabet else letter
            if letter in self.alphabet:
                key.append(1 + self.alphabet.index(letter))
            elif letter in " -":
                key.append(0)
            elif letter.isalnum():
                key.append(len(self.alphabet) + ord(letter))
        return key

    def forms(self, term: str) -> str:
        """Return a pattern that finds the term in folded text, with every ending it may have."""
        own = getattr(self.functions, "forms", None)
        folded = self.fold(term)
        return str(own(folded)) if own else r"\s*".join(map(re.escape, folded.split()))

    def faults(self, text: str) -> Iterator[str]:
        """Yield faults in the words of a cell that no pattern of ``wrong`` can find."""
        yield from getattr(self.functions, "faults", lambda _: ())(text)

    def spelling(self, texts: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Yield likely typos, each with the name of its text; ``texts``: the words of every cell."""
        yield from getattr(self.functions, "spelling", lambda _: ())(texts)


SETTINGS = {field.name for field in fields(Language)} - {"code", "rules"}  # of language.yml
REQUIRED = {"name", "html", "sphinx"}


@cache
def functions_of(path: str, source: str) -> ModuleType:
    """Run the source of a ``language.py`` once."""
    module = ModuleType(f"language of {path}")
    exec(compile(source, path, "exec"), module.__dict__)
    return module
