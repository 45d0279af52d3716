"""Shared by long experiments: seeds, training on every core with progress, and writing tables.

A module of this folder names its ``settings``, has a ``measure`` that trains one of them and returns what it
found, and a ``main`` of two or three lines. Its tables lie in ``mha_course/data``, where the pages read them.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

import torch

DATA = Path(__file__).parents[2] / "mha_course" / "data"
SEEDS = (0, 1, 2)

Row = dict[str, str]
Setting = TypeVar("Setting")
Found = TypeVar("Found")


def measure_all(measure: Callable[[Setting], Found], settings: Iterable[Setting]) -> list[Found]:
    """Measure every setting, as many at a time as ``--workers`` says; each that is done is printed."""
    about = sys.modules[measure.__module__].__doc__ or ""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    workers, chosen, found = parser.parse_args().workers, list(settings), []
    with ProcessPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for setting, result in zip(chosen, pool.map(measure, chosen), strict=True):
            found.append(result)
            print(f"{len(found)}/{len(chosen)}", setting, flush=True)
    return found


def write_table(name: str, rows: Sequence[Row]) -> None:
    """Write ``mha_course/data/NAME.tsv`` at once, so that an interruption leaves the old table."""
    path = DATA / f"{name}.tsv"
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draft.replace(path)
