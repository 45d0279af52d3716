"""Shared by long experiments: seeds, sentences, training on every core with progress, and writing tables.

A module of this folder names its ``settings``, and has a ``measure`` that trains one of them and returns what
it found. Its tables lie in ``mha_course/data``, where the pages read them.
"""

import argparse
import csv
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

import torch

from mha_course.corpus import Pair, Vocabulary, load_corpus
from mha_course.metrics import exact_match
from mha_course.seq2seq import EncoderDecoder
from mha_course.translation import translate_all

DATA = Path(__file__).parents[2] / "mha_course" / "data"
SEEDS = (0, 1, 2)

Row = dict[str, str]
Vocabularies = tuple[Vocabulary, Vocabulary]
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


def training_data(language: str = "fr") -> tuple[list[Pair], Vocabularies]:
    """Return the sentences that the chapters train on, and their vocabularies."""
    pairs = load_corpus(language, "train") + load_corpus(language, "phrases")
    return pairs, vocabularies_of(pairs)


def vocabularies_of(pairs: Sequence[Pair]) -> Vocabularies:
    return Vocabulary([pair.source for pair in pairs]), Vocabulary([pair.target for pair in pairs])


def translations(model: EncoderDecoder, pairs: Sequence[Pair], vocabularies: Vocabularies) -> list[list[str]]:
    """Translate the source sentences of some pairs."""
    return [one.tokens for one in translate_all(model, [pair.source for pair in pairs], *vocabularies)]


def exact_matches(model: EncoderDecoder, vocabularies: Vocabularies, language: str = "fr") -> Row:
    """Return the columns with the exact match on the development and on the test sentences."""
    columns = {"dev_exact_match": load_corpus(language, "dev"), "exact_match": load_corpus(language, "test")}
    return {
        name: f"{exact_match(translations(model, pairs, vocabularies), [p.target for p in pairs]):.3f}"
        for name, pairs in columns.items()
    }


def columns_of(setting: object) -> Row:
    """Return the columns that say a setting."""
    return {name: str(value) for name, value in vars(setting).items()}


def write_table(name: str, rows: Sequence[Row]) -> None:
    """Write ``mha_course/data/NAME.tsv`` at once, so that an interruption leaves the old table."""
    path = DATA / f"{name}.tsv"
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draft.replace(path)
