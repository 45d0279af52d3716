"""Keeps the languages of the course in step: see ``python -m tools.translations --help``."""

from .course import ROOT, Course, CourseError, Language
from .lock import PageState, page_state

__all__ = ["ROOT", "Course", "CourseError", "Language", "PageState", "page_state"]
