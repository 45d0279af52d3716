"""One context vector against attention, both tuned alike: is the vector too small, or its training?

``python -m tools.experiments.bottleneck [--workers N]`` trains 114 small models (an hour on one core) and
writes two tables into ``mha_course/data``. ``bottleneck.tsv`` has one row a model: with attention or without,
19 settings of dropout, epochs and learning rate, three seeds each, and the exact match on ``dev`` and
``test``. ``bottleneck_mistakes.tsv`` has one row for every sentence of ``test`` that a model with one vector
and the course's usual settings translates wrongly: which word of the new pair is still there, and which pair
of noun and adjective was written instead.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mha_course.corpus import Pair, load_corpus
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from tools.experiments.runs import (
    SEEDS,
    Row,
    columns_of,
    exact_matches,
    measure_all,
    training_data,
    translations,
    write_table,
)

ATTENTIONS = ("none", "additive")
# Dropout, epochs and learning rate: a grid, and three settings beyond the edges that its best ones touched.
GRID = (
    *itertools.product((0.0, 0.1, 0.2, 0.3), (25, 50), (0.005, 0.01)),
    (0.4, 50, 0.005),
    (0.5, 50, 0.005),
    (0.3, 100, 0.005),
)
HIDDENS = 64
ADJECTIVES = {
    "red", "blue", "green", "black", "white", "big", "small", "beautiful", "new", "old", "expensive",
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One model to train; the defaults are the course's usual settings."""

    attention: str = "none"
    dropout: float = 0.0
    epochs: int = 25
    learning_rate: float = 0.005
    seed: int = 0


def settings() -> Iterator[Setting]:
    """Yield every model, with the same settings for both kinds of decoder."""
    for attention, values, seed in itertools.product(ATTENTIONS, GRID, SEEDS):
        yield Setting(attention, *values, seed)


def build(setting: Setting, source_size: int, target_size: int) -> EncoderDecoder:
    """Return the untrained model of a setting; the seed decides its first weights."""
    seed_everything(setting.seed)
    decoder = Seq2SeqAttentionDecoder if setting.attention == "additive" else Seq2SeqDecoder
    sizes = HIDDENS, HIDDENS, 1, setting.dropout
    return EncoderDecoder(Seq2SeqEncoder(source_size, *sizes), decoder(target_size, *sizes))


def measure(setting: Setting) -> tuple[Row, list[Row]]:
    """Train one model, and return its row and a row for each of its mistakes on ``test``."""
    pairs, vocabularies = training_data()
    model = build(setting, *map(len, vocabularies))
    fit(
        model, pairs, *vocabularies, epochs=setting.epochs, learning_rate=setting.learning_rate,
        seed=setting.seed, progress=False,
    )  # fmt: skip
    train, test = load_corpus("fr", "train"), load_corpus("fr", "test")
    wrong = mistakes(test, translations(model, test, vocabularies), train)
    row = columns_of(setting) | exact_matches(model, vocabularies)
    return row, [{"seed": str(setting.seed)} | mistake for mistake in wrong]


def noun_and_adjective(words: Sequence[str]) -> tuple[str, str] | None:
    """Return noun, in the singular, and adjective of an English sentence; None where it has no adjective."""
    place = next((place for place, word in enumerate(words) if word in ADJECTIVES), None)
    if place is None:
        return None
    after = words[place + 1]
    return singular(after if after.isalpha() else words[1]), words[place]


def singular(noun: str) -> str:
    return noun.replace("ves", "f").removesuffix("s")


def english_of(pairs: Sequence[Pair]) -> dict[str, str]:
    """Return for each French word the English word that it alone is most often aligned with."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for word, positions in zip(pair.target, pair.alignment, strict=True):
            if len(positions) == 1:
                counts[word][singular(pair.source[positions[0]])] += 1
    return {word: counter.most_common(1)[0][0] for word, counter in counts.items()}


def mistakes(test: Sequence[Pair], written: Sequence[list[str]], train: Sequence[Pair]) -> Iterator[Row]:
    """Yield one row for every translation that differs from its reference.

    ``kept`` says which words of the pair are still there. ``instead`` is the pair that was written, where
    there is just one, and ``trained`` whether a training sentence has it.
    """
    english = english_of(train)
    trained = {noun_and_adjective(pair.source) for pair in train} - {None}
    nouns = {pair[0] for pair in trained if pair}
    for pair, tokens in zip(test, written, strict=True):
        if tokens == list(pair.target):
            continue
        words = [english.get(token, token) for token in tokens]
        wanted = noun_and_adjective(pair.source)
        assert wanted is not None
        kept = [kind for kind, word in zip(("noun", "adjective"), wanted, strict=True) if word in words]
        found = [word for word in words if word in nouns], [word for word in words if word in ADJECTIVES]
        one = (found[0][0], found[1][0]) if [len(part) for part in found] == [1, 1] else None
        yield {
            "id": pair.id, "template": pair.template, "source": " ".join(pair.source),
            "target": " ".join(pair.target), "written": " ".join(tokens), "kept": " ".join(kept) or "none",
            "instead": " ".join(one) if one else "none", "trained": str(int(one in trained)),
        }  # fmt: skip


if __name__ == "__main__":
    found = measure_all(measure, settings())
    write_table("bottleneck", [row for row, _ in found])
    usual = [
        wrong
        for setting, (_, wrong) in zip(settings(), found, strict=True)
        if setting == Setting(seed=setting.seed)
    ]
    write_table("bottleneck_mistakes", [row for wrong in usual for row in wrong])
