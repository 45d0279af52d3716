"""Where does a model look, and what in its layout decides that? Three seeds.

``python -m tools.experiments.layouts [--workers N]`` trains 27 small models (about 6 minutes on two cores)
and writes one row for each to ``mha_course/data/layouts.tsv``. The first has no attention. Then the encoder's
direction, the decoder's initial state and the number of layers are crossed.

``dev_exact_match`` is of the development split, all else of the test split. ``alignment`` counts every token
that has a gold position, ``words`` leaves out the punctuation. ``shift`` is the mean distance, in source
tokens, from the nearest gold position to the peak of the weights: positive where it looks too late. ``peaks``
are the source positions at which the weights peak for each target token of the course's sentence, and
``written`` is its translation.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from mha_course.corpus import Pair, load_corpus
from mha_course.metrics import alignment_accuracy
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from mha_course.translation import forced_weights, translate
from tools.experiments.runs import (
    SEEDS,
    Row,
    columns_of,
    exact_matches,
    measure_all,
    training_data,
    write_table,
)

HIDDENS = 64
SENTENCE = "give me two new hats ."
PUNCTUATION = tuple(".?!。？！")


@dataclass(frozen=True)
class Setting:
    """One model to train."""

    attention: str = "additive"
    direction: str = "one"
    initial_state: str = "last"
    layers: int = 1
    seed: int = 0


def settings() -> Iterator[Setting]:
    """Yield the model without attention, then every layout with it."""
    for seed in SEEDS:
        yield Setting("none", seed=seed)
    for direction, initial_state, layers, seed in itertools.product(
        ("one", "both"), ("last", "zero"), (1, 2), SEEDS
    ):
        yield Setting("additive", direction, initial_state, layers, seed)


def build(setting: Setting, source_size: int, target_size: int) -> EncoderDecoder:
    """Return the untrained model of a setting; the seed decides its first weights."""
    seed_everything(setting.seed)
    sizes = HIDDENS, HIDDENS, setting.layers
    encoder = Seq2SeqEncoder(source_size, *sizes, bidirectional=setting.direction == "both")
    if setting.attention == "none":
        return EncoderDecoder(encoder, Seq2SeqDecoder(target_size, *sizes))
    decoder = Seq2SeqAttentionDecoder(target_size, *sizes, initial_state=setting.initial_state)
    return EncoderDecoder(encoder, decoder)


def shifts(weights: Sequence[torch.Tensor], pairs: Sequence[Pair]) -> list[int]:
    """Return the signed distance from the nearest gold position to the peak, for each token that has one."""
    return [
        min((int(row.argmax()) - position for position in gold), key=abs)
        for matrix, pair in zip(weights, pairs, strict=True)
        for row, gold in zip(matrix, pair.alignment, strict=True)
        if gold
    ]


def words_only(pair: Pair) -> list[tuple[int, ...]]:
    """Return the alignment, in which punctuation has no gold position."""
    both = zip(pair.target, pair.alignment, strict=True)
    return [() if token in PUNCTUATION else gold for token, gold in both]


def where_it_looks(weights: Sequence[torch.Tensor], pairs: Sequence[Pair]) -> Row:
    """Score the attention weights of the pairs, one of which is the course's sentence."""
    found = shifts(weights, pairs)
    course = next(place for place, pair in enumerate(pairs) if " ".join(pair.source) == SENTENCE)
    return {
        "alignment": f"{alignment_accuracy(weights, [pair.alignment for pair in pairs]):.3f}",
        "words": f"{alignment_accuracy(weights, [words_only(pair) for pair in pairs]):.3f}",
        "shift": f"{sum(found) / len(found):.3f}",
        "peaks": " ".join(str(int(row.argmax())) for row in weights[course]),
    }


def measure(setting: Setting) -> Row:
    """Train one model and score it; without attention there is nothing to say about its weights."""
    pairs, vocabularies = training_data()
    model = build(setting, *map(len, vocabularies))
    fit(model, pairs, *vocabularies, seed=setting.seed, progress=False)
    row = columns_of(setting) | exact_matches(model, vocabularies)
    row["written"] = " ".join(translate(model, SENTENCE, *vocabularies).tokens)
    if setting.attention == "none":
        return row | dict.fromkeys(("alignment", "words", "shift", "peaks"), "none")
    test = load_corpus("fr", "test")
    return row | where_it_looks(forced_weights(model, test, *vocabularies), test)


if __name__ == "__main__":
    write_table("layouts", measure_all(measure, settings()))
