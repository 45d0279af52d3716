"""The course that is built, the words of the edition's language, and digests of its files."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from sphinx.config import Config

from tools.course import Course


@cache
def course_at(root: str) -> Course:
    """Return the course in a folder."""
    return Course(Path(root))


def course_of(config: Config) -> Course:
    """Return the course that is built."""
    return course_at(config.course_root)


@cache
def words_of(course: Course, language: str) -> dict[str, str]:
    """Return the interface's words in a language, read once."""
    return course.words(language)


def interface_words(config: Config) -> dict[str, str]:
    """Return the interface's words in the edition's language."""
    return words_of(course_of(config), config.course_language)


def short_digest(contents: Iterable[bytes]) -> str:
    """Return eight hexadecimal digits for the address of files, so that caches never go stale."""
    return hashlib.sha256(b"".join(contents)).hexdigest()[:8]
