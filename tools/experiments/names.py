"""How well does a small language model know the names of Unicode's characters, beside n-grams?

``python -m tools.experiments.names [--workers N]`` trains 24 small models (about seven minutes on one core)
on the text of the chapter on language models, with the pieces and the division that its cells make, and
writes two tables to ``mha_course/data``.

``names.tsv`` has a row for each model: first those of the chapter's table, one a seed, and the same trained
twice as long. (The chapter's own model is trained for a single epoch.) Then come those that differ in
``merges``, in ``share`` (of the training names; the number of steps stays) or in ``num_hiddens``, the last
with several learning rates each. At the end come the n-grams, over characters (``merges`` 0) or pieces.
``bits_dev`` and ``bits_test`` are bits per byte, where the end of a name counts as one byte; ``perplexity``
is that of a token of ``dev``. The first six models and the n-gram that is best on ``dev`` also write 3,000
names a seed: ``held_out`` counts the names of ``test`` among them, ``invented`` those that Unicode 3.2 does
not have, and ``later`` those of the invented that Python's newer Unicode has, each name once.

``names_written.tsv`` has the first names of each of these kinds that the models wrote.
"""

import math
import random
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F

from mha_course.corpus import Vocabulary
from mha_course.language_model import LanguageModel, fit_language_model, generate
from mha_course.training import seed_everything
from mha_course.translation import up_to
from tools.course import Course, cells
from tools.experiments.language_models import NGram
from tools.experiments.runs import SEEDS, Row, columns_of, measure_all, write_table

CELLS = ("nats-code", "names-code", "pieces-code", "pieces-encode")
SAMPLES, LONGEST, SHOWN, LONGER = 3000, 60, 8, 6
RATES = {
    16: (0.008, 0.016, 0.032, 0.064),
    32: (0.008, 0.016, 0.032, 0.064),
    64: (0.004, 0.008, 0.016, 0.032),
    96: (0.004, 0.008, 0.016),
}  # of each width, so that no best one lies at an edge
KINDS = ("held_out", "invented", "later")


@dataclass(frozen=True)
class Setting:
    """One model to train; the defaults are those of the chapter's table."""

    model: str = "Transformer"
    merges: int = 256
    num_hiddens: int = 96
    share: float = 1.0
    learning_rate: float = 0.008
    epochs: int = 3
    seed: int = 0


CHAPTER = Setting()
NGRAMS = [
    Setting(f"{n}-gram", merges, 0, 1.0, 0.0, 0)
    for merges, orders in ((0, range(3, 8)), (256, range(2, 6)))
    for n in orders
]


def settings() -> Iterator[Setting]:
    """Yield the chapter's setting, then those that differ from it."""
    for epochs in (CHAPTER.epochs, LONGER):
        for seed in SEEDS:
            yield replace(CHAPTER, epochs=epochs, seed=seed)
    for merges in (0, 1024):
        yield replace(CHAPTER, merges=merges)
    for share in (1 / 4, 1 / 2):
        yield replace(CHAPTER, share=share)
    for num_hiddens, rates in RATES.items():
        for rate in rates:
            if (num_hiddens, rate) != (CHAPTER.num_hiddens, CHAPTER.learning_rate):
                yield replace(CHAPTER, num_hiddens=num_hiddens, learning_rate=rate)


@cache
def chapter() -> dict[str, Any]:
    """Return the names that the chapter's cells on names and pieces bind."""
    code = cells(Course().read("en", "language-models"), "code")
    names: dict[str, Any] = {
        "Counter": Counter, "F": F, "random": random, "re": re, "sys": sys, "torch": torch,
        "unicodedata": unicodedata,
    }  # fmt: skip
    for key in CELLS:
        exec(code[key].source, names)
    return names


@cache
def encoded(merges: int, share: float) -> tuple[dict[str, list[list[str]]], Vocabulary]:
    """Return the pieces of the names in each part, and their vocabulary. Only ``train`` decides on pieces."""
    names = chapter()
    parts = dict(names["parts"])
    parts["train"] = parts["train"][: round(share * len(parts["train"]))]
    rules = names["learn_merges"](parts["train"], merges)
    pieces = {part: names["encode"](texts, rules) for part, texts in parts.items()}
    return pieces, Vocabulary(pieces["train"])


def size_in_bytes(part: str) -> int:
    """Count the bytes of the names of a part, and one for the end of each."""
    return sum(len(name.encode()) + 1 for name in chapter()["parts"][part])


def scores(nats: dict[str, float], tokens: int) -> Row:
    """Return bits per byte of both parts, and the perplexity of a token of ``dev``."""
    bits = {f"bits_{part}": f"{nats[part] / math.log(2) / size_in_bytes(part):.3f}" for part in nats}
    return bits | {"perplexity": f"{math.exp(nats['dev'] / tokens):.2f}"}


@cache
def later_names() -> frozenset[str]:
    """Return the names that Python's own Unicode has."""
    return frozenset(unicodedata.name(chr(code), "") for code in range(sys.maxunicode + 1)) - {""}


def verdicts(written: Sequence[str]) -> dict[str, list[str]]:
    """Sort out the written names, each once."""
    parts = chapter()["parts"]
    test, known = set(parts["test"]), {name for texts in parts.values() for name in texts}
    distinct = list(dict.fromkeys(written))
    invented = [name for name in distinct if name not in known]
    return {
        "held_out": [name for name in distinct if name in test],
        "invented": invented,
        "later": [name for name in invented if name in later_names()],
    }


def written_by_counting(table: NGram, draw: torch.Generator) -> str:
    """Write one name with an n-gram."""
    ids = [table.vocabulary.bos]
    while len(ids) <= LONGEST and ids[-1] != table.vocabulary.eos:
        ids.append(int(torch.multinomial(table.probabilities(tuple(ids)), 1, generator=draw)))
    return "".join(table.vocabulary.to_tokens(up_to(ids[1:], table.vocabulary.eos)))


def measured(setting: Setting, found: Row, written: Sequence[str] | None) -> tuple[Row, list[Row]]:
    """Put a row of the first table together, and rows of the second for seed 0 and what came true later."""
    row = columns_of(setting) | found
    if written is None:
        return row | dict.fromkeys(KINDS, ""), []
    kinds = verdicts(written)
    shown = [
        {
            "model": setting.model,
            "epochs": str(setting.epochs),
            "seed": str(setting.seed),
            "kind": kind,
            "name": name,
        }
        for kind, names in kinds.items()
        for name in (names if kind == "later" else names[:SHOWN])
    ]
    return row | {kind: str(len(names)) for kind, names in kinds.items()}, shown


def measure(setting: Setting) -> tuple[Row, list[Row]]:
    """Train one model and measure it; one in the chapter's setting writes names too."""
    pieces, vocabulary = encoded(setting.merges, setting.share)
    seed_everything(setting.seed)
    model = LanguageModel(len(vocabulary), setting.num_hiddens, 2 * setting.num_hiddens)
    fit_language_model(
        model, pieces["train"], vocabulary, epochs=round(setting.epochs / setting.share), batch_size=32,
        learning_rate=setting.learning_rate, seed=setting.seed,
    )  # fmt: skip
    model.eval()
    nats = {part: chapter()["nats"](model, pieces[part], vocabulary) for part in ("dev", "test")}
    parameters = sum(weight.numel() for weight in model.parameters())
    found = {"parameters": str(parameters)} | scores(nats, sum(len(name) + 1 for name in pieces["dev"]))
    if replace(setting, epochs=CHAPTER.epochs, seed=0) != CHAPTER:
        return measured(setting, found, None)
    begin = torch.full((SAMPLES, 1), vocabulary.bos)
    draw = torch.Generator().manual_seed(setting.seed)
    ids = generate(model, begin, LONGEST, stop=vocabulary.eos, generator=draw)[:, 1:].tolist()
    written = ["".join(vocabulary.to_tokens(up_to(row, vocabulary.eos))) for row in ids]
    return measured(setting, found, written)


def count(setting: Setting) -> tuple[NGram, Row]:
    """Count for an n-gram, and measure it."""
    pieces, vocabulary = encoded(setting.merges, setting.share)
    table = NGram(int(setting.model[0]), map(tuple, pieces["train"]), vocabulary)
    nats = {part: sum(map(sum, table.losses(map(tuple, pieces[part])))) for part in ("dev", "test")}
    return table, {"parameters": ""} | scores(nats, sum(len(name) + 1 for name in pieces["dev"]))


def ngrams() -> list[tuple[Row, list[Row]]]:
    """Measure all n-grams, and let the best on ``dev`` write."""
    counted = [(setting, *count(setting)) for setting in NGRAMS]
    best = min(counted, key=lambda each: float(each[2]["bits_dev"]))[0]
    rows = []
    for setting, table, found in counted:
        if setting != best:
            rows.append(measured(setting, found, None))
            continue
        for seed in SEEDS:
            draw = torch.Generator().manual_seed(seed)
            written = [written_by_counting(table, draw) for _ in range(SAMPLES)]
            rows.append(measured(replace(setting, seed=seed), found, written))
    return rows


if __name__ == "__main__":
    found = measure_all(measure, settings()) + ngrams()
    write_table("names", [row for row, _ in found])
    write_table("names_written", [row for _, shown in found for row in shown])
