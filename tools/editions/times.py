"""The table of the page for teachers: how long each chapter is to be read, worked on and run."""

from __future__ import annotations

from tools.cells import for_students
from tools.course import Course

from .form import TIME


def table(course: Course, language: str) -> str:
    """Return a line a chapter, in the words of a language: the minutes that it says, the seconds that it ran.

    Cells of solutions and checks have no link: copies for students lack them.
    """
    word = course.words(language)
    heads = ("chapter", "reading", "exercises", "running", "longest")
    lines = [[word[f"times_{head}"] for head in heads], ["---"] * len(heads)]
    total = [0, 0, 0]
    for number, stem in enumerate(course.numbers, 1):
        english = course.read(course.source, stem)
        title = (course.read(language, stem) if course.path(language, stem).exists() else english).cells[0]
        name = title.source.splitlines()[0].removeprefix("# ")
        said = TIME.search(english.cells[0].source)
        there = {"", *(cell["id"] for cell in for_students(english.cells))}
        measured = (row for row in course.running if row["chapter"] == stem and row["cell"] in there)
        seconds = {row["cell"]: int(row["seconds"]) for row in measured}
        numbers = [*(map(int, said.groups()) if said else (0, 0)), seconds.pop("", 0)]
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        lines.append(
            [
                f"{number}. [{name}]({stem}.ipynb)",
                *(word["minutes"].format(n=n) for n in numbers[:2]),
                word["seconds"].format(n=numbers[2]),
                word["references_comma"].join(f"[`{key}`]({stem}.ipynb#{key})" for key in seconds) or "–",
            ]
        )
    hours = [word["hours"].format(n=round(minutes / 60)) for minutes in total[:2]]
    lines.append([word["times_total"], *hours, word["minutes"].format(n=round(total[2] / 60)), ""])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
