"""What is each part of the Transformer worth? It is trained without the part, and beside the Bahdanau model.

``python -m tools.experiments.transformer_parts [--workers N]`` trains 84 small models (about
27 minutes on two cores): each kind at four learning rates, so that the rate can be chosen on the development
pairs, and on three seeds. It writes two tables to ``mha_course/data``. ``transformer_parts.tsv`` has one row
for each model: its kind, rate and seed, how many parameters it has, the training loss of the last epoch, and
the exact match on development and test pairs. ``transformer_mistakes.tsv`` has each wrong translation of a
test sentence by the whole Transformer, trained at the page's rate.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mha_course.corpus import Pair, load_corpus
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from mha_course.transformer import (
    Projected,
    Transformer,
    TransformerDecoderBlock,
    TransformerEncoderBlock,
)
from tools.experiments.runs import (
    SEEDS,
    Row,
    exact_matches,
    measure_all,
    training_data,
    translations,
    write_table,
)

RATES, EPOCHS = (0.001, 0.003, 0.01, 0.03), 12
PAGE_MODEL, PAGE_RATE, HIDDENS = "Transformer", 0.003, 64


class Setting(NamedTuple):
    """One model to train."""

    model: str
    learning_rate: float
    seed: int


class EncoderBlockWithoutResidual(TransformerEncoderBlock):
    """Each part replaces what it receives."""

    def forward(self, X: Tensor, allowed: Tensor | None = None) -> Tensor:
        Y = self.norm_1(X)
        attended, _ = self.attention.attend(Y, *self.attention.project(Y, Y), allowed, need_weights=False)
        X = self.dropout(attended)
        out: Tensor = self.dropout(self.ffn(self.norm_2(X)))
        return out


class DecoderBlockWithoutResidual(TransformerDecoderBlock):
    """Each part replaces what it receives."""

    def forward(
        self, X: Tensor, cache: Projected, memory: Projected, allowed: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Projected, Tensor | None]:
        Y = self.norm_1(X)
        keys, values = self.self_attention.project(Y, Y)
        keys, values = torch.cat((cache[0], keys), dim=2), torch.cat((cache[1], values), dim=2)
        attended, _ = self.self_attention.attend(Y, keys, values, None, need_weights=False, is_causal=True)
        X = self.dropout(attended)
        attended, weights = self.cross_attention.attend(self.norm_2(X), *memory, allowed, need_weights)
        X = self.dropout(self.ffn(self.norm_3(self.dropout(attended))))
        return X, (keys, values), weights


class Nothing(nn.Module):
    """A part that adds nothing."""

    def forward(self, X: Tensor) -> Tensor:
        return torch.zeros_like(X)


def without_encoder_positions(model: Any) -> None:
    model.encoder.positions.P.zero_()


def without_positions(model: Any) -> None:
    model.encoder.positions.P.zero_()
    model.decoder.positions.P.zero_()


def without_ffn(model: Any) -> None:
    for block in (*model.encoder.blocks, *model.decoder.blocks):
        block.ffn = Nothing()


def without_residual(model: Any) -> None:
    for block in model.encoder.blocks:
        block.__class__ = EncoderBlockWithoutResidual
    for block in model.decoder.blocks:
        block.__class__ = DecoderBlockWithoutResidual


def without_norm(model: Any) -> None:
    for layer in list(model.modules()):
        for name, part in layer.named_children():
            if isinstance(part, nn.LayerNorm):
                setattr(layer, name, nn.Identity())


def whole(model: Any) -> None:
    """Take nothing away."""


REMOVALS: dict[str, Callable[[Any], None]] = {
    PAGE_MODEL: whole,
    "- P (encoder)": without_encoder_positions,
    "- P": without_positions,
    "- FFN": without_ffn,
    "- residual": without_residual,
    "- LN": without_norm,
}
MODELS = ("Bahdanau", *REMOVALS)


def settings() -> Iterator[Setting]:
    """Return every kind of model at every rate on every seed."""
    return itertools.starmap(Setting, itertools.product(MODELS, RATES, SEEDS))


def build(setting: Setting, source_size: int, target_size: int) -> EncoderDecoder:
    """Return the untrained model; what stays has the same first weights, whatever is taken away."""
    seed_everything(setting.seed)
    if setting.model == "Bahdanau":
        encoder = Seq2SeqEncoder(source_size, HIDDENS, HIDDENS, 1, bidirectional=True)
        return EncoderDecoder(encoder, Seq2SeqAttentionDecoder(target_size, HIDDENS, HIDDENS, 1))
    model = Transformer(source_size, target_size, HIDDENS, dropout=0.1)
    REMOVALS[setting.model](model)
    return model


def wrong(pairs: Sequence[Pair], translations: Sequence[Sequence[str]], seed: int) -> Iterator[Row]:
    """Yield one row for each translation that differs from its reference."""
    for pair, tokens in zip(pairs, translations, strict=True):
        if tuple(tokens) != tuple(pair.target):
            texts = {"source": pair.source, "target": pair.target, "translation": tokens}
            yield {"seed": str(seed)} | {name: " ".join(text) for name, text in texts.items()}


def measure(setting: Setting) -> tuple[Row, list[Row]]:
    """Train one model: its row of the first table, and its mistakes on the test pairs."""
    train, vocabularies = training_data()
    model = build(setting, *map(len, vocabularies))
    history = fit(
        model, train, *vocabularies,
        epochs=EPOCHS, learning_rate=setting.learning_rate, seed=setting.seed, progress=False,
    )  # fmt: skip
    parameters = sum(parameter.numel() for parameter in model.parameters())
    row = {name: str(value) for name, value in (setting._asdict() | {"parameters": parameters}).items()}
    row |= {"loss": f"{history[-1]:.3f}"} | exact_matches(model, vocabularies)
    test = load_corpus(split="test")
    return row, list(wrong(test, translations(model, test, vocabularies), setting.seed))


if __name__ == "__main__":
    found = measure_all(measure, settings())
    write_table("transformer_parts", [row for row, _ in found])
    write_table(
        "transformer_mistakes",
        [
            row
            for setting, (_, mistakes) in zip(settings(), found, strict=True)
            if (setting.model, setting.learning_rate) == (PAGE_MODEL, PAGE_RATE)
            for row in mistakes
        ],
    )
