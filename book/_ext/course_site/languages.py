"""What the site knows of a language: `book/languages.yml` and the interface's words in `book/_locale`."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

BOOK = Path(__file__).resolve().parents[2]
ROOT = BOOK.parent


@cache
def languages() -> dict[str, dict[str, Any]]:
    """Every language of the course, the source language first."""
    rows: dict[str, dict[str, Any]] = yaml.safe_load((BOOK / "languages.yml").read_text(encoding="utf-8"))
    return rows


def source_language() -> str:
    """The code of the language that the others are translated from."""
    return next(iter(languages()))


@cache
def own_words(language: str) -> dict[str, str]:
    """What `book/_locale` and `book/languages.yml` hold for one language, which may be too little."""
    path = BOOK / "_locale" / f"{language}.yml"
    found: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {**found, **languages()[language].get("words", {})}


@cache
def words(language: str) -> dict[str, str]:
    """The interface's words; a language that is being added borrows the source's until it has its own."""
    return {**own_words(source_language()), **own_words(language)}
