"""The form of a chapter, as CONTRIBUTING says under "How a page is built": what of it a tool can see."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from itertools import pairwise

from nbformat import NotebookNode

from tools.course import Course, cells

from .lock import MEASURED
from .markup import plain
from .package import SHOWN

Fault = tuple[str, str]  # a cell's id, and what to do

LEXICONS = ("notation", "faq", "glossary", "teaching", "translations")  # to be looked up, not read through
TITLE_LENGTH, PROMISE_LENGTH, CAPTION_LENGTH = 28, 160, 120
MOST_MINUTES, WORDS_A_MINUTE, LINES_A_MINUTE = 40, 150, 12
BEGINNING = ["setup", "question", "opening", "opening-caption", "imports"]
TAGS = re.compile(r"hide-input|hide-cell|claim|one-model|atol-0\.\d+")
MOST_TOLERANCE = 0.15  # the widest spread of a score that threads and instruction sets were seen to make
ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*|class-\w+")
RANDOM = re.compile(r"(?=\w*\d)[0-9a-f]{8}(?:-[0-9a-f-]+)?")  # what editors call a new cell
FOLDED = {"hide-input", "hide-cell", "claim"}
TIME = re.compile(r"\*\*Time:\*\* (\d+) minutes, and (\d+) more for the exercises\.")
EXERCISE = re.compile(r"^### .*\S \(★{1,3}, (\d+) minutes\)$", re.MULTILINE)
TURN = re.compile(r"### Your turn: .*\S \(★{1,3}, \d+ minutes\)\n")
WORKED = ("exercise-", "your-turn-")  # cells that say how many minutes they take
SHARP = '%config InlineBackend.figure_formats = ["retina"]'
SHADE = re.compile(r"(?<![*\w])(?:dark|pale|light|bright)(?:er|est)?\b|\bblack\b")
UNTOUCHED = "…\n"  # what a stub prints
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
SOLUTION = re.compile(r"<details><summary>Solution.*</summary>\n")
ANSWER = re.compile(r"<details><summary>.*?</details>", re.DOTALL)


def promises(course: Course, stem: str, notebook: NotebookNode) -> Iterator[Fault]:
    """What readers are promised of every page, in the form or not yet."""
    yield from id_faults(notebook)
    yield from tag_faults(notebook)
    yield from solved(notebook)
    if stem in course.pages[:1]:
        yield from home_faults(course, notebook)


def faults(course: Course, stem: str, notebook: NotebookNode) -> Iterator[Fault]:
    """What an English page lacks of its form. Only pages of the contents have one."""
    if stem not in course.pages:
        return
    yield from title_faults(notebook)
    if stem not in (course.pages[0], *LEXICONS):
        for part in (lead, order, opening, imports, summary, quiz, exercises, claims, turns, captions):
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
        if not ID.fullmatch(cell["id"]) or RANDOM.fullmatch(cell["id"]):
            yield cell["id"], "an id is words of a-z and 0-9 with hyphens that say what the cell is, for ever"


def tag_faults(notebook: NotebookNode) -> Iterator[Fault]:
    """Tags come from a list, are wide only so far, and nothing but the tag folds a cell."""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        for tag in tags:
            if not TAGS.fullmatch(tag):
                yield cell["id"], f"the tag {tag!r} means nothing here: {TAGS.pattern.replace('|', ', ')}"
            elif tag.startswith("atol-") and float(tag.removeprefix("atol-")) > MOST_TOLERANCE:
                yield cell["id"], f"the tag {tag!r} forgives too much: at most atol-{MOST_TOLERANCE}"
            elif tag == "one-model" and not draws(cell):
                yield cell["id"], f"the tag {tag!r} is for a figure: numbers have a tolerance"
        for name in {"jupyter", "cellView"} & cell.metadata.keys():
            if "hide-cell" not in tags:
                yield cell["id"], f"the metadata {name!r} folds it: delete it, or tag a solution hide-cell"


def draws(cell: NotebookNode) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))


def solved(notebook: NotebookNode) -> Iterator[Fault]:
    """Every exercise has a solution: text, or code that is folded and has run."""
    names = {cell["id"]: cell for cell in notebook.cells}
    for key in names:
        solution = key.replace("exercise-", "solution-", 1)
        if key.startswith("exercise-") and not any(name.startswith(solution) for name in names):
            yield key, f"has no solution: {solution} (code), {solution}-why (words), or both"
        if key.startswith("solution-") and names[key].cell_type == "code":
            if not is_folded(names[key]):
                yield key, "is tagged hide-cell"
            if names[key].execution_count is None:
                yield key, "has not run: run sync"


def home_faults(course: Course, notebook: NotebookNode) -> Iterator[Fault]:
    said = "\n".join(cell.source for cell in cells(notebook).values())
    for stem in course.pages[1:]:
        if stem in course.stems() and f"]({stem}.ipynb" not in said:
            yield notebook.cells[0]["id"], f"no cell of the page links to {stem}.ipynb"


def lead(notebook: NotebookNode) -> Iterator[Fault]:
    """Under the title: the promise, what is needed, and the time that was measured."""
    first = notebook.cells[0]
    blocks = re.split(r"\n\s*\n", first.source.strip())[1:]
    promise = plain(blocks[0]) if blocks else ""
    if not promise or blocks[0].startswith("**"):
        yield first["id"], "one sentence under the title says what the reader will see or be able to do"
    elif len(promise) > PROMISE_LENGTH or re.search(r"[.!?]\s+\S", promise):
        yield first["id"], f"the promise is one sentence of at most {PROMISE_LENGTH} characters"
    if len(blocks) != 3 or not blocks[1].startswith("**You need:** "):
        yield first["id"], "after the promise stand '**You need:** …' and '**Time:** …', and nothing else"
    time = TIME.fullmatch(blocks[-1]) if blocks else None
    minutes, exercise_minutes = reading_minutes(notebook), sum(minutes_of_exercises(notebook))
    if minutes > MOST_MINUTES:
        yield first["id"], f"takes {minutes} minutes to read: at most {MOST_MINUTES}"
    wanted = f"**Time:** {minutes} minutes, and {exercise_minutes} more for the exercises."
    if not time or time.groups() != (str(minutes), str(exercise_minutes)):
        yield first["id"], f"the last line is '{wanted}'"


def reading_minutes(notebook: NotebookNode) -> int:
    """What is to be read before the exercises: a formula or a name in code counts as a word."""
    words = lines = 0
    for cell in notebook.cells:
        if cell["id"].startswith("exercise-"):
            break
        if cell["id"].startswith(("your-turn-", "attempt-")):
            continue
        if cell.cell_type == "markdown" and not cell["id"].endswith(MEASURED):
            words += len(re.findall(r"\S*[\w…]\S*", plain(cell.source)))
        elif cell.cell_type == "code" and not is_folded(cell):
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
    return math.ceil((words / WORDS_A_MINUTE + lines / LINES_A_MINUTE) / 5) * 5


def is_folded(cell: NotebookNode) -> bool:
    return cell["id"] == "setup" or bool(FOLDED & set(cell.metadata.get("tags", [])))


def minutes_of_exercises(notebook: NotebookNode) -> list[int]:
    texts = (cell.source for key, cell in cells(notebook).items() if key.startswith(WORKED))
    return [int(match[1]) for text in texts if (match := EXERCISE.search(text))]


def order(notebook: NotebookNode) -> Iterator[Fault]:
    """The cells that every chapter has, where they stand, and the headings they begin with."""
    ids = [cell["id"] for cell in notebook.cells]
    if ids[1 : len(BEGINNING) + 1] != BEGINNING:
        yield ids[0], f"after the title stand {', '.join(BEGINNING)}, in this order"
    ends = ["summary", "quiz-", "exercise-", "references"]
    places = [next((i for i, key in enumerate(ids) if key.startswith(end)), None) for end in ends]
    for end, place in zip(ends, places, strict=True):
        if place is None:
            yield ids[-1], f"the page has no cell '{end}{'NAME' if end.endswith('-') else ''}'"
    known = [place for place in places if place is not None]
    if known != sorted(known) or ids[-1] != "references":
        yield ids[-1], "a page ends with summary, quiz, exercises, references, in this order"
    predictions = [cells(notebook)[key].source for key in cells(notebook) if key.startswith("predict-")]
    if not predictions:
        yield ids[0], "no cell 'predict-NAME' asks for a guess before an experiment"
    texts = cells(notebook)
    for key, start in {
        "summary": "## What to remember",
        "references": "## References",
        **dict.fromkeys((key for key in texts if key.startswith("predict-")), "> **Predict first.** "),
    }.items():
        if key in texts and not texts[key].source.startswith(start):
            yield key, f"begins with '{start.strip()}'"


def opening(notebook: NotebookNode) -> Iterator[Fault]:
    """A question of at most two paragraphs, and a picture drawn by folded code."""
    text, code = cells(notebook), cells(notebook, "code")
    if "question" in text:
        heading, *rest = re.split(r"\n\s*\n", text["question"].source.strip())
        if not re.fullmatch(r"## .*\?", heading):
            yield "question", "its heading is a question: '## …?'"
        if len(rest) > 2:
            yield "question", f"has {len(rest)} paragraphs: at most two"
    for key in {"opening", "imports"} & code.keys():
        if "hide-input" not in code[key].metadata.get("tags", []):
            yield key, "is tagged hide-input"
    if "opening" in code and not has_picture(code["opening"]):
        yield "opening", "draws a picture"


def has_picture(cell: NotebookNode) -> bool:
    return any(
        kind.startswith("image/") for output in cell.get("outputs", []) for kind in output.get("data", {})
    )


def imports(notebook: NotebookNode) -> Iterator[Fault]:
    code = cells(notebook, "code")
    if "imports" in code and not re.search(r"^seed = 0$", code["imports"].source, re.MULTILINE):
        yield "imports", "says 'seed = 0'"
    for key, cell in code.items():
        if key in ("setup", "opening", "imports") or SHOWN.fullmatch(key):
            continue
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(parsed(cell.source))):
            yield key, "imports: move it to 'imports'"


def parsed(source: str) -> ast.Module:
    """A cell's code without IPython's lines; empty where it cannot be read, which is reported elsewhere."""
    try:
        return ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE))
    except SyntaxError:
        return ast.Module([], [])


def summary(notebook: NotebookNode) -> Iterator[Fault]:
    if (cell := cells(notebook).get("summary")) is not None:
        points = re.findall(r"^[-*] (.*)", cell.source, re.MULTILINE)
        if not re.match(r"(- )?\*\*Next:\*\* ", cell.source.strip().splitlines()[-1]):
            yield "summary", "its last line begins with '**Next:**'"
        if len([point for point in points if not point.startswith("**Next:**")]) > 6:
            yield "summary", "has more than six points"


def quiz(notebook: NotebookNode) -> Iterator[Fault]:
    found = {key: cell.source for key, cell in cells(notebook).items() if key.startswith("quiz-")}
    if found and not 3 <= len(found) <= 5:
        yield next(iter(found)), f"the page has {len(found)} questions: three to five"
    for number, (key, text) in enumerate(found.items()):
        if text.startswith("## Check yourself\n") != (number == 0):
            yield key, "the first question, and no other, begins with '## Check yourself'"
        marks = [re.findall("[✓✗]", answer) for answer in ANSWER.findall(text)]
        if len(marks) < 2 or [len(mark) for mark in marks] != [1] * len(marks):
            yield key, "each answer is '<details><summary>…</summary>' with one ✓ or ✗"
        if marks.count(["✓"]) != 1:
            yield key, "exactly one answer is ✓"


def exercises(notebook: NotebookNode) -> Iterator[Fault]:
    """Name, stars, minutes, and solutions of their names."""
    ids = [cell["id"] for cell in notebook.cells]
    texts = {key: cell.source for key, cell in cells(notebook).items() if key.startswith("exercise-")}
    for number, (key, text) in enumerate(texts.items()):
        if len(EXERCISE.findall(text)) != 1:
            yield key, "has one heading '### Name (★, 10 minutes)' with one to three stars"
        if text.startswith("## Exercises\n") != (number == 0):
            yield key, "the first exercise, and no other, begins with '## Exercises'"
    for cell in notebook.cells:
        if cell["id"].startswith("solution-") and not cell["id"].endswith(MEASURED):
            yield from ((cell["id"], what) for what in solution_faults(cell, ids))


def solution_faults(cell: NotebookNode, ids: list[str]) -> Iterator[str]:
    """A solution belongs to an exercise; one in words is folded."""
    kind = (
        "-why"
        if cell.cell_type == "markdown"
        else "-claim"
        if "claim" in cell.metadata.get("tags", [])
        else ""
    )
    name = cell["id"].removeprefix("solution-")
    if not {f"exercise-{name}", f"exercise-{name.removesuffix(kind)}"} & set(ids):
        yield "belongs to no exercise: one in code is solution-NAME, in words solution-NAME-why"
    if cell.cell_type == "markdown" and not SOLUTION.match(cell.source):
        yield "begins with '<details><summary>Solution</summary>'"


def claims(notebook: NotebookNode) -> Iterator[Fault]:
    """What is asserted stands in cells of its own; the table of three seeds right after."""
    for key, cell in cells(notebook, "code").items():
        shown = is_folded(cell) or SHOWN.fullmatch(key)
        if not shown and any(isinstance(node, ast.Assert) for node in parsed(cell.source).body):
            yield key, "asserts: move it to a cell of its own, tagged claim"
    for before, cell in pairwise(notebook.cells):
        key = cell["id"]
        if cell.cell_type == "markdown" and key.endswith(MEASURED):
            claim = key.removesuffix(MEASURED)
            if before["id"] != claim or "claim" not in before.metadata.get("tags", []):
                yield key, f"stands right after the cell {claim}, which is tagged claim"
            if not 1 <= (rows := len(cell.source.splitlines()) - 2) <= 5:
                yield key, f"has {rows} rows: one to five; the claims command measures them"


def turns(notebook: NotebookNode) -> Iterator[Fault]:
    """A turn is a task, a stub that prints its sign, and the end of its section."""
    for cell, following, after in zip(notebook.cells, notebook.cells[1:], notebook.cells[2:], strict=False):
        if cell["id"].startswith("your-turn-"):
            name = cell["id"].removeprefix("your-turn-")
            if not TURN.match(cell.source) or following["id"] != f"attempt-{name}":
                yield cell["id"], f"is '### Your turn: Name (★, 5 minutes)', and attempt-{name} follows"
            else:
                yield from ((following["id"], what) for what in attempt_faults(following, name))
            if not after.source.startswith("#"):
                yield cell["id"], "ends its section: a cell with a heading follows the attempt"


def attempt_faults(cell: NotebookNode, name: str) -> Iterator[str]:
    """A stub has run, is called by its turn in the last line, and says nothing yet."""
    name = name.replace("-", "_")
    call = f"practice.{name}.check(my_{name})"
    if cell.source.splitlines()[-1:] != [call]:
        yield f"its last line is {call}"
    if [output.get("text") for output in cell.get("outputs", [])] != [UNTOUCHED]:
        yield f"prints {UNTOUCHED.strip()} and nothing else: what it defines is a stub"


def captions(notebook: NotebookNode) -> Iterator[Fault]:
    texts = cells(notebook)
    for key, cell in cells(notebook, "code").items():
        if any(
            "image/png" in output.get("data", {}) and "image/png" not in output.metadata
            for output in cell.get("outputs", [])
        ):
            yield key, f"is blurred on sharp screens: before the first plot stands {SHARP}"
        if has_picture(cell) and f"{key}-caption" in texts:
            yield from ((f"{key}-caption", what) for what in caption_faults(texts[f"{key}-caption"].source))


def caption_faults(text: str) -> Iterator[str]:
    """In every language a caption begins with what is seen, in one bold sentence."""
    bold = BOLD.match(text)
    if not bold:
        yield "begins with what is seen, in one bold sentence"
    elif (length := len(plain(bold[0]))) > CAPTION_LENGTH:
        yield f"its bold sentence has {length} characters: at most {CAPTION_LENGTH} are read aloud well"
    if shade := SHADE.search(text):
        yield f"says {shade[0]!r}, which is not so where the page is dark: strong, filled, first, left"
