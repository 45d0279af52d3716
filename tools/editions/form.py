"""Check the form of an English page, as docs/authoring.md says it: what of it a tool can see.

Every page keeps its promises to readers: permanent ids, tags from a list, a solution for each exercise. A
page with a cell `checks` is held to the whole form.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from nbformat import NotebookNode

from tools import cells as contract
from tools.cells import (
    SHOWN_SOURCE,
    Role,
    caption_id,
    has_checks,
    id_of,
    is_folded,
    is_generated_code,
    is_solution,
    name_of,
    with_roles,
)
from tools.course import Course, cells

from .markup import plain
from .names import bound_names, parsed, read_names
from .package import WIDTH

Fault = tuple[str, str]  # a cell's id, and what to do

TITLE_LENGTH = 28
MAX_MINUTES, WORDS_A_MINUTE, LINES_A_MINUTE = 40, 140, 8
BEGINNING = [Role.SETUP, Role.QUESTION, Role.OPENING, caption_id(Role.OPENING), Role.IMPORTS]
ENDING = [Role.SUMMARY, Role.QUIZ, Role.EXERCISE, Role.CHECKS, Role.REFERENCES]
HEADINGS = {
    Role.SUMMARY: "## What to remember",
    Role.CHECKS: "## Checks",
    Role.REFERENCES: "## References",
    Role.PREDICT: "> **Predict first.** ",
}
TAGS = re.compile(r"hide-input|hide-cell|claim|one-model|atol-0\.\d+")
MAX_TOLERANCE = 0.2  # the widest spread of a score that threads, instruction sets and GPUs were seen to make
ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*|class-\w+")
EDITOR_ID = re.compile(r"(?=\w*\d)[0-9a-f]{8}(?:-[0-9a-f-]+)?")  # the random id that editors give a new cell
TIME = re.compile(r"\*\*Time:\*\* (\d+) minutes, and (\d+) more for the exercises\.")
EXERCISE = re.compile(r"^### .*\S \(★{1,3}, (\d+) minutes\)$", re.MULTILINE)
TURN = re.compile(r"### Your turn: .*\S \(★{1,3}, \d+ minutes\)\n")
RETINA = '%config InlineBackend.figure_formats = ["retina"]'
SHADE = re.compile(r"(?<![*\w])(?:dark|pale|light|bright)(?:er|est)?\b|\bblack\b")
UNTOUCHED = "…\n"  # what a stub prints
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
SOLUTION = re.compile(r"<details><summary>Solution.*</summary>\n")
ANSWER = re.compile(r"<details><summary>.*?</details>", re.DOTALL)


def promises(course: Course, stem: str, notebook: NotebookNode) -> Iterator[Fault]:
    """Yield faults of the form that every page must have."""
    yield from id_faults(notebook)
    yield from tag_faults(notebook)
    yield from solved(notebook)
    if stem in course.pages:
        yield from title_faults(notebook)
    if stem in course.pages[:1]:
        yield from home_faults(course, notebook)


def faults(notebook: NotebookNode) -> Iterator[Fault]:
    """Yield faults of the form that a page with a section of checks must have."""
    if has_checks(notebook.cells):
        for part in (lead, order, opening, imports, lines, summary, quiz, exercises, claims, turns, captions):
            yield from part(notebook)


def title_faults(notebook: NotebookNode) -> Iterator[Fault]:
    first = notebook.cells[0]
    title = re.match(r"# (.+)", first.source)
    if not title:
        yield first["id"], "the first cell begins with '# '"
    elif len(title[1]) > TITLE_LENGTH:
        yield first["id"], f"the title has {len(title[1])} characters: at most {TITLE_LENGTH} fit the sidebar"


def id_faults(notebook: NotebookNode) -> Iterator[Fault]:
    for cell in notebook.cells:
        if not ID.fullmatch(cell["id"]) or EDITOR_ID.fullmatch(cell["id"]):
            yield cell["id"], "an id is words of a-z and 0-9 with hyphens that say what the cell is, for ever"


def tag_faults(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that tags come from a list and are not too wide, and that nothing but a tag folds a cell."""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        for tag in tags:
            if not TAGS.fullmatch(tag):
                yield cell["id"], f"the tag {tag!r} means nothing here: {TAGS.pattern.replace('|', ', ')}"
            elif tag.startswith("atol-") and float(tag.removeprefix("atol-")) > MAX_TOLERANCE:
                yield cell["id"], f"the tag {tag!r} forgives too much: at most atol-{MAX_TOLERANCE}"
            elif tag == "one-model" and not has_plot(cell):
                yield cell["id"], f"the tag {tag!r} is for a figure: numbers have a tolerance"
        for name in {"jupyter", "cellView"} & cell.metadata.keys():
            if "hide-cell" not in tags:
                yield cell["id"], f"the metadata {name!r} folds it: delete it, or tag a solution hide-cell"


def has_plot(cell: NotebookNode) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))


def has_picture(cell: NotebookNode) -> bool:
    return any(
        kind.startswith("image/") for output in cell.get("outputs", []) for kind in output.get("data", {})
    )


def solved(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that every exercise has a solution: words, or code that is folded and has run."""
    solutions = {cell["id"]: cell for cell in notebook.cells if is_solution(cell)}
    for key in with_roles(notebook.cells, Role.EXERCISE):
        if not any(contract.solves(solution, key) for solution in solutions):
            wanted = id_of(Role.SOLUTION, name_of(key, Role.EXERCISE))
            yield key, f"has no solution: {wanted} (code), {wanted}-why (words), or both"
    for key, cell in solutions.items():
        if cell.cell_type == "code":
            if not is_folded(cell):
                yield key, "is tagged hide-cell"
            if cell.execution_count is None:
                yield key, "has not run: run sync"


def home_faults(course: Course, notebook: NotebookNode) -> Iterator[Fault]:
    text = "\n".join(cell.source for cell in cells(notebook).values())
    for stem in course.pages[1:]:
        if stem in course.stems() and f"]({stem}.ipynb" not in text:
            yield notebook.cells[0]["id"], f"no cell of the page links to {stem}.ipynb"


def lead(notebook: NotebookNode) -> Iterator[Fault]:
    """Check what stands under the title: the promise, what is needed, and the time, which is computed."""
    first = notebook.cells[0]
    blocks = re.split(r"\n\s*\n", first.source.strip())[1:]
    if not blocks or blocks[0].startswith("**"):
        yield first["id"], "a promise under the title says what the reader will see or be able to do"
    if len(blocks) != 3 or not blocks[1].startswith("**You need:** "):
        yield first["id"], "after the promise stand '**You need:** …' and '**Time:** …', and nothing else"
    time = TIME.fullmatch(blocks[-1]) if blocks else None
    minutes, exercise_minutes = reading_minutes(notebook), sum(minutes_of_exercises(notebook))
    if minutes > MAX_MINUTES:
        yield first["id"], f"takes {minutes} minutes to read: at most {MAX_MINUTES}"
    wanted = f"**Time:** {minutes} minutes, and {exercise_minutes} more for the exercises."
    if not time or time.groups() != (str(minutes), str(exercise_minutes)):
        yield first["id"], f"the last line is '{wanted}'"


def reading_minutes(notebook: NotebookNode) -> int:
    """Compute the time to read a page up to its exercises: a formula or a name in code counts as a word."""
    words = lines = 0
    roles = contract.roles(notebook.cells)
    for cell in notebook.cells:
        role = roles[cell["id"]]
        if role in (Role.EXERCISE, Role.CHECKS):
            break
        if role in (Role.TURN, Role.ATTEMPT, Role.SEEDS):
            continue
        if cell.cell_type == "markdown":
            words += len(re.findall(r"\S*[\w…]\S*", plain(cell.source)))
        elif not is_folded(cell):
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
    return math.ceil((words / WORDS_A_MINUTE + lines / LINES_A_MINUTE) / 5) * 5


def minutes_of_exercises(notebook: NotebookNode) -> list[int]:
    """Return the minutes that exercises and turns say."""
    texts = (cell.source for cell in with_roles(notebook.cells, Role.EXERCISE, Role.TURN).values())
    return [int(match[1]) for text in texts if (match := EXERCISE.search(text))]


def order(notebook: NotebookNode) -> Iterator[Fault]:
    """Check the cells that every chapter has, their order, and the headings they begin with."""
    ids, roles = [cell["id"] for cell in notebook.cells], contract.roles(notebook.cells)
    if ids[1 : len(BEGINNING) + 1] != BEGINNING:
        yield ids[0], f"after the title stand {', '.join(BEGINNING)}, in this order"
    first = {role: place for place, key in reversed([*enumerate(ids)]) if (role := roles[key]) in ENDING}
    for role in ENDING:
        if role not in first:
            name = f"{role}-NAME" if role in (Role.QUIZ, Role.EXERCISE) else role
            yield ids[-1], f"the page has no cell '{name}'"
    places = [first[role] for role in ENDING if role in first]
    if places != sorted(places) or roles[ids[-1]] is not Role.REFERENCES:
        yield ids[-1], f"a page ends with {', '.join(ENDING)}, in this order"
    for key, cell in with_roles(notebook.cells, *HEADINGS).items():
        if not cell.source.startswith(start := HEADINGS[roles[key]]):
            yield key, f"begins with '{start.strip()}'"


def opening(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that the page begins with a question and a picture drawn by folded code."""
    for key, cell in with_roles(notebook.cells, Role.QUESTION).items():
        if not re.match(r"## .*\?(\n|$)", cell.source):
            yield key, "its heading is a question: '## …?'"
    for key, cell in with_roles(notebook.cells, Role.OPENING, Role.IMPORTS).items():
        if "hide-input" not in cell.metadata.get("tags", []):
            yield key, "is tagged hide-input"
    for key, cell in with_roles(notebook.cells, Role.OPENING).items():
        if not has_picture(cell):
            yield key, "draws a picture"


def imports(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that one cell imports, and sets the seed."""
    roles = contract.roles(notebook.cells)
    for key, cell in cells(notebook, "code").items():
        if roles[key] is Role.IMPORTS and not re.search(r"^seed = 0$", cell.source, re.MULTILINE):
            yield key, "says 'seed = 0'"
        if roles[key] in (Role.SETUP, Role.OPENING, Role.IMPORTS, *SHOWN_SOURCE):
            continue
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(parsed(cell.source))):
            yield key, "imports: move it to 'imports'"


def lines(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that no reader has to scroll a line of code."""
    for key, cell in cells(notebook, "code").items():
        longest = max(map(len, cell.source.splitlines()), default=0)
        if longest > WIDTH and not is_generated_code(cell):
            yield key, f"has a line of {longest} characters; {WIDTH} fit on a page"


def summary(notebook: NotebookNode) -> Iterator[Fault]:
    for key, cell in with_roles(notebook.cells, Role.SUMMARY).items():
        if not re.match(r"(- )?\*\*Next:\*\* ", cell.source.strip().splitlines()[-1]):
            yield key, "its last line begins with '**Next:**'"


def quiz(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that each question has one right answer, and that each answer says whether it is right."""
    for number, (key, cell) in enumerate(with_roles(notebook.cells, Role.QUIZ).items()):
        if cell.source.startswith("## Check yourself\n") != (number == 0):
            yield key, "the first question, and no other, begins with '## Check yourself'"
        marks = [re.findall("[✓✗]", answer) for answer in ANSWER.findall(cell.source)]
        if len(marks) < 2 or [len(mark) for mark in marks] != [1] * len(marks):
            yield key, "each answer is '<details><summary>…</summary>' with one ✓ or ✗"
        if marks.count(["✓"]) != 1:
            yield key, "exactly one answer is ✓"


def exercises(notebook: NotebookNode) -> Iterator[Fault]:
    """Check names, stars and minutes of exercises, and that each solution has an exercise."""
    found = with_roles(notebook.cells, Role.EXERCISE)
    for number, (key, cell) in enumerate(found.items()):
        if len(EXERCISE.findall(cell.source)) != 1:
            yield key, "has one heading '### Name (★, 10 minutes)' with one to three stars"
        if cell.source.startswith("## Exercises\n") != (number == 0):
            yield key, "the first exercise, and no other, begins with '## Exercises'"
    for key, cell in with_roles(notebook.cells, Role.SOLUTION).items():
        if not any(contract.solves(key, exercise) for exercise in found):
            yield key, "belongs to no exercise: one in code is solution-NAME, in words solution-NAME-why"
        if cell.cell_type == "markdown" and not SOLUTION.match(cell.source):
            yield key, "begins with '<details><summary>Solution</summary>'"


def claims(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that only checks and solutions assert, and what each check reads and measures."""
    roles = contract.roles(notebook.cells)
    for key, cell in cells(notebook, "code").items():
        asserts = any(isinstance(node, ast.Assert) for node in parsed(cell.source).body)
        if roles[key] is Role.CLAIM or (asserts and roles[key] is not Role.CHECK and not is_solution(cell)):
            yield key, "asserts: move it behind the cell 'checks', tagged claim"
    for cell in contract.checks_section(notebook.cells):
        if cell.cell_type == "code" and roles[cell["id"]] is not Role.CHECK:
            yield cell["id"], "is tagged claim, as every code cell after 'checks'"
    for before, cell in pairwise(notebook.cells):
        if roles[key := cell["id"]] is Role.SEEDS:
            check = contract.check_id(key)
            if before["id"] != check or not contract.is_claim(before):
                yield key, f"stands right after the cell {check}, which is tagged claim"
            if len(cell.source.splitlines()) < 3:
                yield key, "has no row: the claims command measures them"
    yield from rebound_names(notebook)


def rebound_names(notebook: NotebookNode) -> Iterator[Fault]:
    """Yield checks that read a name which several cells of the page bind: which one they mean is a guess."""
    trees = {key: parsed(cell.source) for key, cell in cells(notebook, "code").items()}
    binding = Counter(name for tree in trees.values() for name in bound_names(tree))
    for key in with_roles(notebook.cells, Role.CHECK):
        for name in sorted(read_names(trees[key])):
            if binding[name] > 1:
                yield (
                    key,
                    f"reads {name!r}, which {binding[name]} cells of the page bind: give each its own name",
                )


def turns(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that a turn is a task, a stub that prints its sign, and the end of its section."""
    roles = contract.roles(notebook.cells)
    for cell, following, after in zip(notebook.cells, notebook.cells[1:], notebook.cells[2:], strict=False):
        if roles[cell["id"]] is Role.TURN:
            name = name_of(cell["id"], Role.TURN)
            attempt = id_of(Role.ATTEMPT, name)
            if not TURN.match(cell.source) or following["id"] != attempt:
                yield cell["id"], f"is '### Your turn: Name (★, 5 minutes)', and {attempt} follows"
            else:
                yield from ((following["id"], what) for what in attempt_faults(following, name))
            if not after.source.startswith("#"):
                yield cell["id"], "ends its section: a cell with a heading follows the attempt"


def attempt_faults(cell: NotebookNode, name: str) -> Iterator[str]:
    """Check that a stub has run, is called by its turn in the last line, and says nothing yet."""
    name = name.replace("-", "_")
    call = f"practice.{name}.check(my_{name})"
    if cell.source.splitlines()[-1:] != [call]:
        yield f"its last line is {call}"
    if [output.get("text") for output in cell.get("outputs", [])] != [UNTOUCHED]:
        yield f"prints {UNTOUCHED.strip()} and nothing else: what it defines is a stub"


def captions(notebook: NotebookNode) -> Iterator[Fault]:
    """Check that every figure is sharp and has a caption, which begins with what is seen."""
    texts = cells(notebook)
    for key, cell in cells(notebook, "code").items():
        if any(
            "image/png" in output.get("data", {}) and "image/png" not in output.metadata
            for output in cell.get("outputs", [])
        ):
            yield key, f"is blurred on sharp screens: write {RETINA} before the first plot"
        if has_picture(cell):
            caption = caption_id(key)
            if caption not in texts:
                yield key, f"draws a picture: a cell {caption} after it says what is seen"
            else:
                yield from ((caption, what) for what in caption_faults(texts[caption].source))


def caption_faults(text: str) -> Iterator[str]:
    """Check that a caption begins, in every language, with what is seen: a bold sentence, read aloud."""
    if not BOLD.match(text):
        yield "begins with what is seen, in one bold sentence"
    if shade := SHADE.search(text):
        yield f"says {shade[0]!r}, which is not so where the page is dark: strong, filled, first, left"
