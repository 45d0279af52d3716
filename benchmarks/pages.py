"""Measure each chapter's processor time on one core, and the cells that take most of it.

``python -m benchmarks.pages`` runs every chapter (about ten minutes) and writes ``book/running.tsv``, of
which ``sync`` makes the table for teachers; ``python -m benchmarks.pages STEM …`` runs some chapters.
Seconds are rounded to five, so that another run writes nearly the same. Other work on the machine makes
them more: measure while it is idle.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os

from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tools.course import RUNNING, Course, cells, write_atomically

COLUMNS = ["chapter", "cell", "seconds"]
LONG = 5  # seconds: a shorter cell has no row of its own


def timed(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with a last cell that prints the processor time after each code cell."""
    made = [new_code_cell("import json as _json, time as _clock\n_times = [_clock.process_time()]")]
    for cell in cells(notebook, "code").values():
        made += [new_code_cell(cell.source), new_code_cell("_times.append(_clock.process_time())")]
    made.append(new_code_cell("print(_json.dumps(_times))"))
    return NotebookNode(notebook, cells=made)


def measure(course: Course, stem: str) -> list[dict[str, str]]:
    """Return the rows of a chapter: the whole of it, then each cell that takes long, the longest first."""
    notebook = course.read(course.source, stem)
    run, folder = timed(notebook), course.path(course.source, stem).parent
    quiet = {"extra_arguments": ["--log-level=ERROR"]}
    NotebookClient(run, timeout=1200, resources={"metadata": {"path": str(folder)}}, **quiet).execute()
    times = json.loads(run.cells[-1].outputs[-1].text)
    return rows(stem, list(cells(notebook, "code")), times)


def rows(stem: str, keys: list[str], times: list[float]) -> list[dict[str, str]]:
    """Turn the times before and after each cell into rows."""
    spent = {key: after - before for key, before, after in zip(keys, times, times[1:], strict=False)}
    long = sorted((key for key in keys if spent[key] >= LONG), key=lambda key: -spent[key])
    seconds = [("", times[-1] - times[0]), *((key, spent[key]) for key in long)]
    return [dict(zip(COLUMNS, (stem, key, f"{max(5, 5 * round(s / 5))}"), strict=True)) for key, s in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stems", nargs="*", metavar="STEM")
    course = Course()
    os.environ["OMP_NUM_THREADS"] = "1"
    for stem in parser.parse_args().stems or course.chapter_numbers:
        measured = measure(course, stem)
        print(stem, *(f"{row['cell'] or 'all'} {row['seconds']}" for row in measured), flush=True)
        known = [
            row
            for row in course.running_times
            if row["chapter"] != stem and row["chapter"] in course.chapter_numbers
        ]
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(known + measured, key=lambda row: course.chapter_numbers[row["chapter"]]))
        write_atomically(course.root / RUNNING, text.getvalue())


if __name__ == "__main__":
    main()
