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

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import torch

from mha_course.corpus import Pair, Vocabulary, load_corpus
from mha_course.metrics import alignment_accuracy, exact_match
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from mha_course.translation import forced_weights, translate, translate_all
from tools.experiments.runs import SEEDS, Row, measure_all, write_table

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
    """Without attention, and every layout with it."""
    for seed in SEEDS:
        yield Setting("none", seed=seed)
    for direction, initial_state, layers, seed in itertools.product(
        ("one", "both"), ("last", "zero"), (1, 2), SEEDS
    ):
        yield Setting("additive", direction, initial_state, layers, seed)


def build(setting: Setting, source_size: int, target_size: int) -> EncoderDecoder:
    """The untrained model of a setting; the seed decides its first weights."""
    seed_everything(setting.seed)
    sizes = HIDDENS, HIDDENS, setting.layers
    encoder = Seq2SeqEncoder(source_size, *sizes, bidirectional=setting.direction == "both")
    if setting.attention == "none":
        return EncoderDecoder(encoder, Seq2SeqDecoder(target_size, *sizes))
    decoder = Seq2SeqAttentionDecoder(target_size, *sizes, initial_state=setting.initial_state)
    return EncoderDecoder(encoder, decoder)


def shifts(weights: Sequence[torch.Tensor], pairs: Sequence[Pair]) -> list[int]:
    """Signed distance from the nearest gold position to the peak, for every token that has one."""
    return [
        min((int(row.argmax()) - position for position in gold), key=abs)
        for matrix, pair in zip(weights, pairs, strict=True)
        for row, gold in zip(matrix, pair.alignment, strict=True)
        if gold
    ]


def words_only(pair: Pair) -> list[tuple[int, ...]]:
    """The alignment, in which punctuation has no gold position."""
    both = zip(pair.target, pair.alignment, strict=True)
    return [() if token in PUNCTUATION else gold for token, gold in both]


def where_it_looks(weights: Sequence[torch.Tensor], pairs: Sequence[Pair]) -> Row:
    """Scores of the attention weights of the pairs, one of which is the course's sentence."""
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
    pairs = load_corpus("fr", "train") + load_corpus("fr", "phrases")
    dev, test = load_corpus("fr", "dev"), load_corpus("fr", "test")
    vocabularies = Vocabulary([pair.source for pair in pairs]), Vocabulary([pair.target for pair in pairs])
    model = build(setting, len(vocabularies[0]), len(vocabularies[1]))
    fit(model, pairs, *vocabularies, seed=setting.seed, progress=False)

    def translations(split: list[Pair]) -> list[list[str]]:
        return [one.tokens for one in translate_all(model, [pair.source for pair in split], *vocabularies)]

    row = {name: str(value) for name, value in asdict(setting).items()} | {
        "dev_exact_match": f"{exact_match(translations(dev), [pair.target for pair in dev]):.3f}",
        "exact_match": f"{exact_match(translations(test), [pair.target for pair in test]):.3f}",
        "written": " ".join(translate(model, SENTENCE, *vocabularies).tokens),
    }
    if setting.attention == "none":
        return row | dict.fromkeys(("alignment", "words", "shift", "peaks"), "none")
    return row | where_it_looks(forced_weights(model, test, *vocabularies), test)


def main() -> None:
    """Train every setting and write the table."""
    write_table("layouts", measure_all(measure, settings()))


if __name__ == "__main__":
    main()
