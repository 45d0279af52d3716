"""What a cell and an attention are worth: each swapped, at three learning rates, on three seeds.

``python -m tools.experiments.ablation [--workers N] [PATH]`` trains 27 small models (about 5 minutes on two
cores) and writes one row for each to ``mha_course/data/ablation.tsv``, which the chapter reads.

The three rates are there so that the best can be chosen on the development pairs. Scores are of held-out
pairs: ``dev_exact_match`` on the development split, ``exact_match`` and ``alignment`` on the compositional
test split. ``shift`` is the mean distance, in source tokens, from the nearest gold position to the peak of
the weights: positive where it looks too late.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch

from mha_course.attention import AdditiveAttention, DotProductAttention
from mha_course.corpus import Pair, Vocabulary, load_corpus
from mha_course.metrics import alignment_accuracy, exact_match
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from mha_course.translation import forced_weights, translate_all

TABLE = Path(__file__).parents[2] / "mha_course" / "data" / "ablation.tsv"
SEEDS = (0, 1, 2)
HIDDENS = 64


@dataclass(frozen=True)
class Setting:
    """One model to train."""

    study: str
    seed: int
    direction: str = "both"
    initial_state: str = "last"
    layers: int = 1
    cell: str = "gru"
    attention: str = "additive"
    learning_rate: float = 0.005


@dataclass(frozen=True)
class Scores:
    """What one trained model reached on pairs it never saw."""

    dev_exact_match: float
    exact_match: float
    alignment: float
    shift: float


def parts() -> Iterator[Setting]:
    """The base model, its cell swapped, its attention swapped, each at three learning rates."""
    variants = (("gru", "additive"), ("lstm", "additive"), ("gru", "dot-product"))
    for (cell, attention), learning_rate, seed in itertools.product(variants, (0.001, 0.005, 0.02), SEEDS):
        yield Setting(
            "parts", seed, initial_state="zero", cell=cell, attention=attention, learning_rate=learning_rate
        )


def build(setting: Setting, source_size: int, target_size: int) -> EncoderDecoder:
    """The untrained model of a setting; the seed decides its first weights."""
    seed_everything(setting.seed)
    attention = AdditiveAttention(HIDDENS, 0) if setting.attention == "additive" else DotProductAttention(0)
    encoder = Seq2SeqEncoder(
        source_size, HIDDENS, HIDDENS, setting.layers,
        bidirectional=setting.direction == "both", cell=setting.cell,
    )  # fmt: skip
    decoder = Seq2SeqAttentionDecoder(
        target_size, HIDDENS, HIDDENS, setting.layers,
        attention=attention, cell=setting.cell, initial_state=setting.initial_state,
    )  # fmt: skip
    return EncoderDecoder(encoder, decoder)


def nearest_shift(peak: int, gold: tuple[int, ...]) -> int:
    """Signed distance from the gold position nearest to `peak`."""
    return min((peak - position for position in gold), key=abs)


def mean_shift(weights: list[torch.Tensor], pairs: list[Pair]) -> float:
    """Mean of `nearest_shift` over all target tokens that have a gold position."""
    shifts = [
        nearest_shift(int(row.argmax()), gold)
        for matrix, pair in zip(weights, pairs, strict=True)
        for row, gold in zip(matrix, pair.alignment, strict=False)
        if gold
    ]
    return sum(shifts) / len(shifts)


def measure(setting: Setting) -> Scores:
    """Train the model of a setting and score it on the held-out splits."""
    torch.set_num_threads(1)
    train = load_corpus(split="train") + load_corpus(split="phrases")
    dev, test = load_corpus(split="dev"), load_corpus(split="test")
    source_vocabulary = Vocabulary([pair.source for pair in train])
    target_vocabulary = Vocabulary([pair.target for pair in train])
    vocabularies = source_vocabulary, target_vocabulary
    model = build(setting, len(source_vocabulary), len(target_vocabulary))
    fit(model, train, *vocabularies, learning_rate=setting.learning_rate, seed=setting.seed, progress=False)

    def matches(pairs: list[Pair]) -> float:
        translations = translate_all(model, [pair.source for pair in pairs], *vocabularies)
        return exact_match([item.tokens for item in translations], [pair.target for pair in pairs])

    weights = forced_weights(model, test, *vocabularies)
    alignment = alignment_accuracy(weights, [pair.alignment for pair in test])
    return Scores(matches(dev), matches(test), alignment, mean_shift(weights, test))


def as_row(setting: Setting, scores: Scores) -> dict[str, str]:
    """One line of the table."""
    rounded = {name: f"{value:.3f}" for name, value in asdict(scores).items()}
    return {name: str(value) for name, value in asdict(setting).items()} | rounded


def write_table(path: Path, rows: list[dict[str, str]]) -> None:
    """Write the whole table at once, so that a cut leaves the old one."""
    names = [field.name for kind in (Setting, Scores) for field in fields(kind)]
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draft.replace(path)


def main() -> None:
    """Train every setting and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("path", nargs="?", type=Path, default=TABLE)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    arguments = parser.parse_args()
    settings, rows = list(parts()), []
    with ProcessPoolExecutor(arguments.workers) as pool:
        for number, scores in enumerate(pool.map(measure, settings)):
            rows.append(as_row(settings[number], scores))
            print(f"{number + 1}/{len(settings)}", settings[number], scores, flush=True)
    write_table(arguments.path, rows)


if __name__ == "__main__":
    main()
