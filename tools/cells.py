"""The contract: the role of each notebook cell. Every tool that treats cells differently asks here.

A cell's role follows from its id, its type, its tags and its place on the page. Scripts of the site get roles
as fields of the search data or as classes; they do not read ids. A new role is one entry in the tables below.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Any

Cell = Mapping[str, Any]  # a cell of a notebook, as nbformat reads it


class Role(StrEnum):
    """The purpose of a cell. Scripts and style sheets use the role's value as its name."""

    TITLE = "title"
    SETUP = "setup"  # installs the package; made by sync
    QUESTION = "question"
    OPENING = "opening"  # draws the first picture of the page
    IMPORTS = "imports"
    SUMMARY = "summary"
    CHECKS = "checks"  # the heading of the section with the checks
    REFERENCES = "references"

    PREDICT = "predict"
    TURN = "your-turn"
    ATTEMPT = "attempt"
    QUIZ = "quiz"
    EXERCISE = "exercise"
    SOLUTION = "solution"

    CAPTION = "caption"  # of the figure before it
    SEEDS = "seeds"  # the table of what a check measured on each seed; made by sync
    TABLE = "table"  # any other table that is made by sync

    SHOWN_CLASS = "class"  # source of the package; made by sync
    SHOWN_FUNCTION = "function"
    CHECK = "check"  # an asserted experiment in the section `checks`
    CLAIM = "claim"  # an asserted experiment anywhere else
    FIGURE = "figure"  # code that a caption follows
    CODE = "code"
    TEXT = "text"


SHOWN = (Role.SHOWN_CLASS, Role.SHOWN_FUNCTION)

# Cells that a page has once: their ids and types.
SINGLE = {
    Role.TITLE: "markdown",
    Role.SETUP: "code",
    Role.QUESTION: "markdown",
    Role.OPENING: "code",
    Role.IMPORTS: "code",
    Role.SUMMARY: "markdown",
    Role.CHECKS: "markdown",
    Role.REFERENCES: "markdown",
}
TERMS_TABLE = "terms-table"  # on the glossary page: the terms in all languages
TIMES_TABLE = "chapter-times"  # on the teachers' page: how long the chapters take
LEVELS_TABLE = "exercise-levels"  # on the teachers' page: the exercises of each chapter by their stars
MADE_TABLES = (TERMS_TABLE, TIMES_TABLE, LEVELS_TABLE)

# How other ids begin or end. A Markdown cell X-seeds belongs to the code cell X, X-caption to the figure X.
BEGINNINGS = {
    "markdown": (Role.PREDICT, Role.TURN, Role.QUIZ, Role.EXERCISE, Role.SOLUTION),
    "code": (Role.ATTEMPT, Role.SOLUTION),
}
ENDINGS = (Role.SEEDS, Role.CAPTION)
CLASS_ID = re.compile(r"class-([A-Z]\w*)")
FUNCTION_ID = re.compile(r"function-([a-z][a-z0-9-]*)")
FOLDING_TAGS = {"hide-input", "hide-cell", "claim"}


def role_of(cell: Cell) -> Role:
    """Return a cell's role as far as the cell alone tells it; `roles` also looks at its place."""
    role = role_by_id(cell["id"], cell["cell_type"])
    return Role.CLAIM if role is Role.CODE and is_claim(cell) else role


@cache
def role_by_id(key: str, kind: str) -> Role:
    """Return the role of a cell as far as its id and its type tell it."""
    if SINGLE.get(key) == kind:
        return Role(key)
    if kind == "markdown":
        if key in MADE_TABLES:
            return Role.TABLE
        for role in ENDINGS:
            if key.endswith(f"-{role}"):
                return role
    for role in BEGINNINGS.get(kind, ()):
        if key.startswith(f"{role}-"):
            return role
    if kind == "code":
        if CLASS_ID.fullmatch(key):
            return Role.SHOWN_CLASS
        if FUNCTION_ID.fullmatch(key):
            return Role.SHOWN_FUNCTION
        return Role.CODE
    return Role.TEXT


def roles(cells: Sequence[Cell]) -> dict[str, Role]:
    """Return the role of every cell of a page, by id."""
    found = {cell["id"]: role_of(cell) for cell in cells}
    for cell, following in pairwise(cells):
        if found[cell["id"]] is Role.CODE and following["id"] == caption_id(cell["id"]):
            found[cell["id"]] = Role.FIGURE
    for cell in checks_section(cells):
        if found[cell["id"]] is Role.CLAIM:
            found[cell["id"]] = Role.CHECK
    return found


def having(cells: Sequence[Cell], *wanted: Role) -> dict[str, Any]:
    """Return the cells of a page that have one of these roles, by id."""
    found = roles(cells)
    return {cell["id"]: cell for cell in cells if found[cell["id"]] in wanted}


def checks_section(cells: Sequence[Cell]) -> list[Cell]:
    """Return the section of the checks with its heading: from the cell `checks` up to the references."""
    here = [role_of(cell) for cell in cells]
    if Role.CHECKS not in here:
        return []
    start = here.index(Role.CHECKS)
    end = here.index(Role.REFERENCES, start) if Role.REFERENCES in here[start:] else len(here)
    return list(cells[start:end])


def has_checks(cells: Sequence[Cell]) -> bool:
    """Return True for a page with a section of checks, which is held to the whole form."""
    return bool(checks_section(cells))


def is_claim(cell: Cell) -> bool:
    """Return True for code that asserts what an experiment measured."""
    return "claim" in cell["metadata"].get("tags", [])


def is_solution(cell: Cell) -> bool:
    """Return True for all that belongs to a solution: code, words, checks and their tables."""
    return bool(cell["id"].startswith(f"{Role.SOLUTION}-"))


def for_students(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that copies for students keep: all but solutions and checks."""
    checks = {cell["id"] for cell in checks_section(cells)}
    return [cell for cell in cells if not is_solution(cell) and cell["id"] not in checks]


def is_folded(cell: Cell) -> bool:
    """Return True for code that a page folds."""
    return role_of(cell) is Role.SETUP or bool(FOLDING_TAGS & set(cell["metadata"].get("tags", [])))


def is_made(key: str) -> bool:
    """Return True for the id of a Markdown cell that sync makes and nobody translates."""
    return role_by_id(key, "markdown") in (Role.SEEDS, Role.TABLE)


def is_made_code(cell: Cell) -> bool:
    """Return True for a code cell that sync makes."""
    return role_of(cell) in (Role.SETUP, *SHOWN)


def starts_section(cell: Cell) -> bool:
    """Return True for a Markdown cell that begins with a heading."""
    return cell["cell_type"] == "markdown" and cell["source"].startswith("#")


def sections(cells: Sequence[Cell]) -> list[list[str]]:
    """Return the ids of a page's cells, from each heading up to the next."""
    found: list[list[str]] = [[]]
    for cell in cells:
        if starts_section(cell):
            found.append([])
        found[-1].append(cell["id"])
    return found


# --- names in ids ----------------------------------------------------------------------------------


def name_of(key: str, role: Role) -> str:
    """Return the NAME in an id such as quiz-NAME."""
    return key.removeprefix(f"{role}-")


def id_of(role: Role, name: str) -> str:
    """Return the id of a cell with a role and a NAME, such as quiz-NAME."""
    return f"{role}-{name}"


def caption_id(key: str) -> str:
    """Return the id of the caption of a figure."""
    return f"{key}-{Role.CAPTION}"


def check_id(key: str) -> str:
    """Return the id of the code cell that a table of seeds belongs to."""
    return key.removesuffix(f"-{Role.SEEDS}")


def shown_name(cell: Cell) -> str:
    """Return the name of the class or function of the package that a cell shows; empty if it shows none."""
    if role_of(cell) not in SHOWN:
        return ""
    return str(cell["id"]).partition("-")[2].replace("-", "_")


def solves(key: str, exercise: str) -> bool:
    """Return True if the cell `key` belongs to the solution of the cell `exercise`."""
    name = name_of(exercise, Role.EXERCISE)
    return key.startswith(id_of(Role.SOLUTION, name))


# --- folding on the site -----------------------------------------------------------------------------


def fold_word(cell: Cell, role: Role, has_picture: bool) -> str:
    """Return the key in words.yml of the line behind which a cell's code is folded; empty if it is shown."""
    tags = cell["metadata"].get("tags", [])
    if is_solution(cell) or role is Role.CHECK:
        return ""  # folded as a whole
    if role is Role.IMPORTS:
        return "set_up"
    if not {"hide-input", "hide-cell"} & set(tags):
        return ""
    if role in SHOWN:
        return f"package_{role}"
    return "figure_code" if has_picture and "hide-input" in tags else "show_code"
