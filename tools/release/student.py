"""The course without its solutions, for a class that is to find them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.course import Course, CourseError
from tools.site.build import build

from .archives import archive

LEFT_OUT = "solution-"
COPIED = ("_config.yml", "_toc.yml", "LICENSE", "LICENSE-PROSE")


def without_solutions(course: Course, folder: Path) -> Course:
    """A copy of the course whose notebooks lack every cell ``solution-…``."""
    shutil.rmtree(folder, ignore_errors=True)
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("book", course.package):
        shutil.copytree(course.root / name, folder / name, ignore=hidden)
    for name in COPIED:
        shutil.copy(course.root / name, folder)
    copy = Course(folder)
    for language in copy.languages:
        for stem in copy.stems(language):
            notebook = copy.read(language, stem)
            notebook.cells = [cell for cell in notebook.cells if not cell["id"].startswith(LEFT_OUT)]
            copy.write(language, stem, notebook)
    return copy


def student(course: Course, wheel: Path, out: Path) -> list[Path]:
    """The site and one archive an edition, without solutions."""
    copy = without_solutions(course, out / "source")
    if not build(list(copy.languages), out / "html", copy):
        raise CourseError("the site without solutions has faults; they are listed above")
    archives = [archive(copy, language, wheel, out / "archives") for language in copy.languages]
    return [out / "html" / "index.html", *archives]
