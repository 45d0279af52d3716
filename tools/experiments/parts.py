"""Which part of the attention model does the work? Cells and scores swapped, each at six learning rates.

``python -m tools.experiments.parts [--workers N]`` trains 93 small models (about 20 minutes on two cores) and
writes one row for each to ``mha_course/data/parts.tsv``. The encoder reads both ways, there is one layer, and
the decoder starts from zeros. The cell is swapped alone, then the score; then the first model gets fewer
units. Every variant has six learning rates, so that its rate can be chosen on the development split, and
three seeds. ``dev_exact_match`` is of that split, ``exact_match`` of the compositional test split. The last
three models have a size in between, at one rate.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor, nn

from mha_course.attention import AdditiveAttention, Attention, DotProductAttention
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from tools.experiments.runs import (
    SEEDS,
    Row,
    columns_of,
    exact_matches,
    measure_all,
    training_data,
    write_table,
)

VARIANTS = (
    ("gru", "additive", 64),
    ("lstm", "additive", 64),
    ("gru", "dot", 64),
    ("gru", "bilinear", 64),
    ("gru", "additive", 16),
)
RATES = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04)


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
    """Yield every variant at every rate with every seed, then a size in between at one rate."""
    for variant, learning_rate, seed in itertools.product(VARIANTS, RATES, SEEDS):
        yield Setting(*variant, learning_rate, seed)
    for seed in SEEDS:
        yield Setting(num_hiddens=32, learning_rate=0.01, seed=seed)


def attention_of(name: str, num_hiddens: int) -> Attention:
    """Return the score of that name."""
    if name == "dot":
        return DotProductAttention()
    return {"additive": AdditiveAttention, "bilinear": BilinearAttention}[name](num_hiddens)


def build(setting: Setting, source_size: int, target_size: int) -> EncoderDecoder:
    """Return the untrained model of a setting; the seed decides its first weights."""
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
    pairs, vocabularies = training_data()
    model = build(setting, *map(len, vocabularies))
    fit(model, pairs, *vocabularies, learning_rate=setting.learning_rate, seed=setting.seed, progress=False)
    parameters = str(sum(parameter.numel() for parameter in model.parameters()))
    return columns_of(setting) | {"parameters": parameters} | exact_matches(model, vocabularies)


if __name__ == "__main__":
    write_table("parts", measure_all(measure, settings()))
