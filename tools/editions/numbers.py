"""Check numbers in the prose: their section shows them, and translations keep them."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from nbformat import NotebookNode

from tools.cells import Role, is_claim, is_folded, is_generated, role_of, with_roles
from tools.course import Course

from .markup import plain

EXCEPTIONS = "book/numbers.tsv"
# A number of the English prose, with its decimals and its percent sign if it has them.
PROSE_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d*)(\.\d+)?( ?%)?(?![\w%]|\.\d)")
# A version, such as PyTorch 2.13, is not a number.
VERSION = re.compile(
    r"(?i)\b(?:D2L|PyTorch|Python|CUDA|CC BY|torch|versions?)\W{1,2}\d+(?:\.\d+)+(?: and \d+(?:\.\d+)+)?"
)
SHOWN_NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+(?:e[+-]?\d+)?(?![\w])")
TIMES_AND_HEADINGS = re.compile(r"^\*\*Time:\*\*.*$|^#{1,6} .*$", re.MULTILINE)
# A number in any language, whose decimal and grouping signs differ.
ANY_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_])(?<!\d\.)"  # 3.2.1 counts sections and is no number
    r"(?:[1-9]\d{0,2}(?:[.,\s]\d{3})+(?:[.,]\d+)?|\d*[.,]\d+|\d+)(?![A-Za-z0-9_]|\.\d)"
)
GROUPED = re.compile(r"[1-9]\d{0,2}(?:[.,\s]\d{3})+")


@dataclass
class Section:
    """The prose from one `##` heading to the next, with every number that its outputs and code show."""

    prose: list[tuple[str, str]] = field(default_factory=list)
    shown: set[float] = field(default_factory=set)


def faults(course: Course, stem: str, notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield decimals and percentages that neither their section nor a table of seeds on the page shows.

    A course without a file of exceptions has its numbers unchecked.
    """
    if not course.text(EXCEPTIONS):
        return
    seeds = set(chain.from_iterable(map(shown_numbers, with_roles(notebook.cells, Role.SEEDS).values())))
    allowed = {
        (row["cell"], row["number"])
        for row in csv.DictReader(course.text(EXCEPTIONS).splitlines(), delimiter="\t")
        if row["stem"] == stem
    }
    for section in sections(notebook):
        for key, text in section.prose:
            for written, value, rounding in decimals(text):
                scales = (1, 0.01) if "%" in written else (1,)  # 71 % may be shown as 71 or as 0.71
                if (key, written) not in allowed and not any(
                    abs(value * scale - number) <= rounding * scale * 1.001
                    for number in section.shown | seeds
                    for scale in scales
                ):
                    yield key, f"{written} is in no output of its section, nor in {EXCEPTIONS}"


def sections(notebook: NotebookNode) -> Iterator[Section]:
    """Cut a page at its headings of the second level."""
    section = Section()
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and not is_generated(cell["id"]):
            if re.match(r"## ", cell.source):
                yield section
                section = Section()
            if role_of(cell) is not Role.REFERENCES:
                section.prose.append((cell["id"], plain(TIMES_AND_HEADINGS.sub("", cell.source))))
        else:
            section.shown |= shown_numbers(cell)
    yield section


def shown_numbers(cell: NotebookNode) -> set[float]:
    """Return every number that a cell shows."""
    return set(map(float, SHOWN_NUMBER.findall("\n".join(shown_texts(cell)))))


def shown_texts(cell: NotebookNode) -> Iterator[str]:
    """Yield the texts that a cell shows: a generated table, outputs, and code that is not folded."""
    if cell.cell_type == "markdown" or not is_folded(cell) or is_claim(cell):
        yield cell.source
    for output in cell.get("outputs", []):
        yield output.get("text", "")
        data = output.get("data", {})
        yield "" if any(kind.startswith("image/") for kind in data) else data.get("text/plain", "")
        yield re.sub(r"<[^>]+>", " ", data.get("text/html", ""))


def decimals(text: str) -> Iterator[tuple[str, float, float]]:
    """Yield each decimal and percentage: as written, its value, and the largest error of its rounding."""
    for match in PROSE_NUMBER.finditer(VERSION.sub(" ", text)):
        whole, fraction, percent = match.groups()
        if fraction or (percent and whole):
            value = float((whole or "0").replace(",", "") + (fraction or ""))
            yield match[0].replace(" ", ""), value, 0.5 * 10 ** -len((fraction or ".")[1:])


def lost(course: Course, language: str, english: str, text: str) -> Iterator[str]:
    """Yield the numbers of an English cell that its translation lacks, as English writes them."""
    point = course.languages[language].decimal
    ours = [readings(written, point) for written in numbers(text)]
    known, missing = set().union(*ours), []
    for written in numbers(english):
        wanted = readings(written, ".")
        if found := next((values for values in ours if values & wanted), None):
            ours.remove(found)
        else:
            missing.append((written, not wanted & known))
    for written, is_nowhere in dict.fromkeys(missing):
        if is_nowhere or ours:  # a repetition may be left out, but not if another number comes in its place
            yield written


def is_in(course: Course, language: str, written: str, text: str) -> bool:
    """Return True if a text has a number of English, as its language writes it."""
    point = course.languages[language].decimal
    return any(readings(number, point) & readings(written, ".") for number in numbers(text))


@cache
def numbers(text: str) -> list[str]:
    """Return the numbers in the prose of a cell as written, without versions and names such as `h1`.

    They are found once, and not to be changed.
    """
    return ANY_NUMBER.findall(VERSION.sub(" ", plain(text)))


def readings(written: str, point: str) -> set[str]:
    """Return the values that a number may have with this decimal sign: 40.000 may be 40 or 40,000."""
    whole, dot, fraction = written.rpartition(point)
    found = {
        f"{int(re.sub(r'[^0-9]', '', whole) or 0)}.{fraction}"
        if dot
        else str(int(re.sub(r"[^0-9]", "", written)))
    }
    if GROUPED.fullmatch(written):
        found.add(str(int(re.sub(r"[^0-9]", "", written))))
    return found
