"""Which part of the attention model does the work? Cells and scores swapped, each at three learning rates.

``python -m tools.experiments.parts [--workers N]`` trains 45 small models (about 10 minutes on two cores) and
writes one row for each to ``mha_course/data/parts.tsv``. The encoder reads both ways, there is one layer, and
the decoder starts from zeros. The cell is swapped alone, then the score; then the first model gets fewer
units. Every variant has three learning rates, so that its rate can be chosen on the development split, and
three seeds. ``dev_exact_match`` is of that split, ``exact_match`` of the compositional test split.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from mha_course.attention import AdditiveAttention, Attention, DotProductAttention
from mha_course.corpus import Pair, Vocabulary, load_corpus
from mha_course.metrics import exact_match
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from mha_course.translation import translate_all

TABLE = Path(__file__).parents[2] / "mha_course" / "data" / "parts.tsv"
VARIANTS = (
    ("gru", "additive", 64),
    ("lstm", "additive", 64),
    ("gru", "dot", 64),
    ("gru", "bilinear", 64),
    ("gru", "additive", 16),
)
RATES, SEEDS = (0.001, 0.005, 0.02), (0, 1, 2)

Row = dict[str, str]


class BilinearAttention(DotProductAttention):
    """The dot product after a learned map of the keys (Luong et al., 2015: general)."""

    def __init__(self, num_hiddens: int) -> None:
        super().__init__()
        self.W = nn.Linear(num_hiddens, num_hiddens, bias=False)

    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Map the keys."""
        return self.W(keys), values


@dataclass(frozen=True)
class Setting:
    """One model to train."""

    cell: str = "gru"
    attention: str = "additive"
    num_hiddens: int = 64
    learning_rate: float = 0.005
    seed: int = 0


def settings() -> Iterator[Setting]:
    """Every variant at every rate with every seed."""
    for variant, learning_rate, seed in itertools.product(VARIANTS, RATES, SEEDS):
        yield Setting(*variant, learning_rate, seed)


def attention_of(name: str, num_hiddens: int) -> Attention:
    """The score of that name."""
    if name == "dot":
        return DotProductAttention()
    return {"additive": AdditiveAttention, "bilinear": BilinearAttention}[name](num_hiddens)


def build(setting: Setting, source_size: int, target_size: int) -> EncoderDecoder:
    """The untrained model of a setting; the seed decides its first weights."""
    seed_everything(setting.seed)
    attention = attention_of(setting.attention, setting.num_hiddens)
    sizes = setting.num_hiddens, setting.num_hiddens, 1
    encoder = Seq2SeqEncoder(source_size, *sizes, bidirectional=True, cell=setting.cell)
    decoder = Seq2SeqAttentionDecoder(
        target_size, *sizes, attention=attention, cell=setting.cell, initial_state="zero"
    )
    return EncoderDecoder(encoder, decoder)


def measure(setting: Setting) -> Row:
    """Train one model and score its translations."""
    torch.set_num_threads(1)
    pairs = load_corpus("fr", "train") + load_corpus("fr", "phrases")
    vocabularies = Vocabulary([pair.source for pair in pairs]), Vocabulary([pair.target for pair in pairs])
    model = build(setting, len(vocabularies[0]), len(vocabularies[1]))
    fit(model, pairs, *vocabularies, learning_rate=setting.learning_rate, seed=setting.seed, progress=False)

    def match(split: list[Pair]) -> str:
        translations = translate_all(model, [pair.source for pair in split], *vocabularies)
        return f"{exact_match([one.tokens for one in translations], [pair.target for pair in split]):.3f}"

    return {name: str(value) for name, value in asdict(setting).items()} | {
        "parameters": str(sum(parameter.numel() for parameter in model.parameters())),
        "dev_exact_match": match(load_corpus("fr", "dev")),
        "exact_match": match(load_corpus("fr", "test")),
    }


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write the whole table at once, so that a cut leaves the old one."""
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draft.replace(path)


def main() -> None:
    """Train every setting and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    arguments = parser.parse_args()
    rows, chosen = [], list(settings())
    with ProcessPoolExecutor(arguments.workers) as pool:
        for row in pool.map(measure, chosen):
            rows.append(row)
            print(f"{len(rows)}/{len(chosen)}", *row.values(), flush=True)
    write_table(TABLE, rows)


if __name__ == "__main__":
    main()
