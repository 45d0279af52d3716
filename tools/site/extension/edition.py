"""What one build is of: the course, and the words of the language that the edition speaks."""

from functools import cache
from pathlib import Path

from sphinx.config import Config

from tools.course import Course


@cache
def course_at(root: str) -> Course:
    """The course in a folder."""
    return Course(Path(root))


def course_of(config: Config) -> Course:
    """The course that is built."""
    return course_at(config.course_root)


@cache
def words_of(course: Course, language: str) -> dict[str, str]:
    """What the site says in a language besides the chapters, read once."""
    return course.words(language)


def words(config: Config) -> dict[str, str]:
    """What the site says in the edition's language."""
    return words_of(course_of(config), config.course_language)
