"""The tables of the page for teachers: how long each chapter takes, and its exercises by level."""

import re

from nbformat import NotebookNode

from tools.cells import Role, for_students, with_roles
from tools.course import Course

from . import markup
from .form import TIME

LEVELS = ("★", "★★", "★★★")
EXERCISE = re.compile(r"^### (.+?) ?[(（](★+)", re.MULTILINE)  # in any language


def table(course: Course, language: str) -> str:
    """Return a line a chapter, in the words of a language: the minutes that it says, the seconds that it ran.

    Cells of solutions and checks have no link: copies for students lack them.
    """
    words = course.words(language)
    heads = ("chapter", "reading", "exercises", "running", "longest")
    lines = [[words[f"times_{head}"] for head in heads]]
    total = [0, 0, 0]
    for number, stem in enumerate(course.chapter_numbers, 1):
        english = course.read(course.source, stem)
        said = TIME.search(english.cells[0].source)
        there = {"", *(cell["id"] for cell in for_students(english.cells))}
        measured = (row for row in course.running_times if row["chapter"] == stem and row["cell"] in there)
        seconds = {row["cell"]: int(row["seconds"]) for row in measured}
        numbers = [*(map(int, said.groups()) if said else (0, 0)), seconds.pop("", 0)]
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        lines.append(
            [
                f"{number}. [{title_of(course, language, stem)}]({stem}.ipynb)",
                *(words["minutes"].format(n=n) for n in numbers[:2]),
                words["seconds"].format(n=numbers[2]),
                words["references_comma"].join(f"[`{key}`]({stem}.ipynb#{key})" for key in seconds) or "–",
            ]
        )
    hours = [words["hours"].format(n=round(minutes / 60)) for minutes in total[:2]]
    lines.append([words["times_total"], *hours, words["minutes"].format(n=round(total[2] / 60)), ""])
    return markup.table(*lines)


def levels(course: Course, language: str) -> str:
    """Return a line a chapter: links to its exercises, in a column for each number of stars."""
    words = course.words(language)
    lines = [[words["times_chapter"], *LEVELS]]
    for number, stem in enumerate(course.chapter_numbers, 1):
        found: dict[str, list[str]] = {level: [] for level in LEVELS}
        for key, cell in with_roles(page(course, language, stem).cells, Role.EXERCISE).items():
            if match := EXERCISE.search(cell.source):
                found[match[2]].append(f"[{match[1]}]({stem}.ipynb#{key})")
        name = f"{number}. [{title_of(course, language, stem)}]({stem}.ipynb)"
        lines.append([name, *(words["references_comma"].join(links) or "–" for links in found.values())])
    return markup.table(*lines)


def page(course: Course, language: str, stem: str) -> NotebookNode:
    """Return a page in a language, or in the source's where it has none yet."""
    return course.read(language if course.path(language, stem).exists() else course.source, stem)


def title_of(course: Course, language: str, stem: str) -> str:
    """Return the title of a page in a language."""
    return str(page(course, language, stem).cells[0].source.splitlines()[0].removeprefix("# "))
