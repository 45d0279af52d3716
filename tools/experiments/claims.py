"""Run every claim of the course on three seeds, and write a table of what was measured (``make claims``).

A claim is a line ``assert name >= 0.85`` in a code cell tagged ``claim``. Each English notebook that has
claims is run from the top with ``seed = 0``, ``1`` and ``2``; the table in ``claims.tsv`` beside
this module holds the measured left side for each seed. A claim that does not hold makes the command fail.

``python -m tools.experiments.claims`` runs everything: the long experiments first (the other modules of this
folder, whose tables the pages read), then the chapters. ``… claims NAME …`` runs some of both.
"""

import argparse
import ast
import copy
import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tools.cells import Role, is_claim, role_of
from tools.course import CLAIMS, Course, CourseError, cells, write_atomically
from tools.experiments.runs import SEEDS

EXPERIMENTS = sorted(
    path.stem for path in Path(__file__).parent.glob("[!_]*.py") if path.stem not in ("claims", "runs")
)


class Claim(NamedTuple):
    """An asserted comparison: in which cell, of what, with what."""

    cell: str
    name: str
    threshold: str


class Measured(NamedTuple):
    """The left side of a claim on one seed, and whether the claim held."""

    value: str
    held: bool


def parse(line: ast.stmt) -> tuple[str, str] | None:
    """Return left side and threshold of ``assert left OP right``; None for every other statement."""
    if not (isinstance(line, ast.Assert) and isinstance(line.test, ast.Compare) and len(line.test.ops) == 1):
        return None
    threshold = ast.Compare(ast.Name("_"), line.test.ops, line.test.comparators)
    return ast.unparse(line.test.left), ast.unparse(threshold).removeprefix("_ ")


def claims_of(notebook: NotebookNode) -> list[Claim]:
    return [
        Claim(key, *parsed)
        for key, cell in cells(notebook, "code").items()
        if is_claim(cell)
        for line in ast.parse(cell.source).body
        if (parsed := parse(line))
    ]


def recording(source: str) -> str:
    """Return code that records the left side of each claim and whether it held, and goes on."""
    lines = []
    for line in ast.parse(source).body:
        lines.append(ast.unparse(line))
        if parsed := parse(line):
            left, threshold = parsed
            lines[-1] = f"_claims.append(((_claim := {left}), bool(_claim {threshold})))"
    return "\n".join(lines)


def with_seed(notebook: NotebookNode, seed: int) -> NotebookNode:
    """Return the notebook to run: with another seed, claims recorded, and a last cell that prints them."""
    notebook = copy.deepcopy(notebook)
    for cell in cells(notebook, "code").values():
        cell.outputs = []
        if role_of(cell) is Role.IMPORTS:
            cell.source = re.sub(r"^seed = \d+$", f"seed = {seed}", cell.source, flags=re.MULTILINE)
        if is_claim(cell):
            cell.source = recording(cell.source)
    if not any(re.search(rf"^seed = {seed}$", c.source, re.MULTILINE) for c in notebook.cells):
        raise CourseError("`imports` has no line `seed = 0`")
    notebook.cells.insert(0, new_code_cell("_claims = []"))
    shown = "[(f'{v:.4g}' if isinstance(v, float) else str(v), held) for v, held in _claims]"
    notebook.cells.append(new_code_cell(f"import json\nprint(json.dumps({shown}))"))
    return notebook


def measure(notebook: NotebookNode, seed: int, folder: Path) -> list[Measured]:
    """Run a notebook with one seed, in a kernel of its own."""
    notebook = with_seed(notebook, seed)
    try:
        quiet = {"extra_arguments": ["--log-level=ERROR"]}
        NotebookClient(
            notebook, timeout=1200, resources={"metadata": {"path": str(folder)}}, **quiet
        ).execute()
    except CellExecutionError as error:
        raise CourseError(f"fails: {error.ename}: {error.evalue}") from None
    except (CellTimeoutError, DeadKernelError) as error:
        raise CourseError(f"fails: {str(error).splitlines()[0]}") from None
    return [Measured(*row) for row in json.loads(notebook.cells[-1].outputs[-1].text)]


def chapter_rows(course: Course, stem: str) -> Iterator[tuple[dict[str, str], bool]]:
    """Yield the rows of one chapter, and whether each held on every seed."""
    notebook, folder = course.read(course.source, stem), course.path(course.source, stem).parent
    claims, columns = claims_of(notebook), []
    for seed in SEEDS if claims else ():
        start = time.perf_counter()
        columns.append(measure(notebook, seed, folder))
        held = sum(measured.held for measured in columns[-1])
        print(
            f"{stem}, seed {seed}: {held} of {len(claims)} hold, {time.perf_counter() - start:.0f} s",
            flush=True,
        )
    for claim, measured in zip(claims, zip(*columns, strict=True), strict=True):
        values = {f"seed {seed}": m.value for seed, m in zip(SEEDS, measured, strict=True)}
        row = {
            "chapter": stem,
            "cell": claim.cell,
            "claim": claim.name,
            "threshold": claim.threshold,
        } | values
        if not all(m.held for m in measured):
            print(f"  does not hold: {stem}#{claim.cell}: {claim.name} {claim.threshold}: {values}")
        yield row, all(m.held for m in measured)


def write_table(course: Course, rows: list[dict[str, str]]) -> None:
    columns = ["chapter", "cell", "claim", "threshold", *(f"seed {seed}" for seed in SEEDS)]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(course.root / CLAIMS, text.getvalue())


def run(course: Course, stems: list[str]) -> int:
    """Measure these chapters, write their rows, and return how many claims or chapters failed."""
    failures = 0
    for stem in stems:
        try:
            rows = list(chapter_rows(course, stem))
        except CourseError as error:
            print(f"  {stem}: {error}")
            failures += 1
            continue
        failures += sum(not held for _, held in rows)
        with course.locked():
            others = [
                row for row in course.claims if row["chapter"] != stem and row["chapter"] in course.stems()
            ]
            both = [*others, *(row for row, _ in rows)]
            write_table(course, sorted(both, key=lambda row: course.stems().index(row["chapter"])))
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stems", nargs="*", metavar="NAME", help="chapters, or " + ", ".join(EXPERIMENTS))
    arguments = parser.parse_args()
    course = Course()
    known = [*EXPERIMENTS, *course.stems()]
    names = arguments.stems or known
    if unknown := set(names) - set(known):
        parser.error(f"there is no chapter or experiment {', '.join(sorted(unknown))}")
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in EXPERIMENTS:
        if name in names:
            subprocess.run([sys.executable, "-m", f"tools.experiments.{name}"], cwd=course.root, check=True)
    failures = run(course, [name for name in names if name not in EXPERIMENTS])
    print(f"{failures} failures" if failures else f"every claim holds; see {CLAIMS}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
