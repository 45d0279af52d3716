"""Which sentences does a small language model write, beside n-grams and beside the grammar?

``python -m tools.experiments.language_models [--workers N]`` trains 3 small models (about 2 minutes on two
cores) and writes two tables to ``mha_course/data``.

``language_models.tsv`` has a row for each model, seed and temperature, of 1,000 sentences each.
``grammatical``: the share that the corpus's grammar could produce; ``new``: the share that is no training
sentence; ``both``: the share that is grammatical and new, and ``different``: what is left of it if every
sentence counts once. ``new_pairs`` counts the sentences among ``both`` in which an adjective describes a noun
that it never described in training. Perplexities are of the development and the test sentences; ``dev_nouns``
and ``test_nouns`` are those of the nouns right after an adjective: training has all these pairs of ``dev``
and none of ``test``. ``hats`` is the probability of *hats* after *give me two new*, a
pair that training lacks. An n-gram knows the n − 1 tokens before; its counts are smoothed after Witten and
Bell (1991). ``grammar`` is what somebody would write who knows the grammar: each template as often as
training has it, and in it each sentence alike.

``language_samples.tsv`` has the first five sentences of seed 0 for each model and temperature, with the same
verdicts, and the first five that the Transformer writes after *give me two* in several ways.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, product
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.corpus import Pair, Vocabulary, batches, load_corpus
from mha_course.language_model import (
    LanguageModel,
    fit_language_model,
    generate,
    next_token_probabilities,
)
from mha_course.training import seed_everything, shift_right
from mha_course.translation import up_to
from tools.corpus.generate import SPLIT_SIZES, english_text, held_out, meanings, quotas
from tools.corpus.grammar import lexicon, templates
from tools.experiments.runs import SEEDS, Row, measure_all, write_table

Sentence = tuple[str, ...]
TEMPERATURES, SAMPLES, SHOWN, MAX_TOKENS = (0.5, 1.0, 1.5), 1000, 5, 20
MODELS = ("Transformer", "3-gram", "5-gram", "grammar")
PROMPT, NEXT = ("give", "me", "two", "new"), "hats"
WAYS: tuple[dict[str, Any], ...] = (
    {"temperature": 0}, {"temperature": 0.5}, {"temperature": 1.0}, {"temperature": 1.5}, {"top_k": 3},
    {"top_p": 0.5},
)  # fmt: skip


# ---- the corpus and its grammar ----


def sentences(*splits: str) -> list[Sentence]:
    """Return the English side of some splits."""
    return [pair.source for split in splits for pair in load_corpus("fr", split)]


def vocabulary() -> Vocabulary:
    return Vocabulary(sentences("train", "phrases"))


@cache
def grammar() -> dict[str, bool]:
    """Return the grammar's sentences, each with True where an adjective stands with an unseen noun."""
    unseen = held_out()
    known = {" ".join(sentence): False for sentence in sentences("phrases")}
    produced = (
        (english_text(meaning), (meaning.adjective, meaning.noun) in unseen)
        for name in templates()
        for meaning in meanings(name)
    )
    return known | dict(produced)


# ---- models without a network ----


class LookupModel:
    """Base class of models that look up the probabilities of the next token, without a network."""

    vocabulary: Vocabulary

    def probabilities(self, context: tuple[int, ...]) -> Tensor:
        """Return the probability of each next token, (vocab_size,), after ``<bos>`` and the tokens so far."""
        raise NotImplementedError

    def losses(self, held_out: Iterable[Sentence]) -> list[list[float]]:
        """Return the loss of each token of each sentence, ``<eos>`` included."""
        found = []
        for sentence in held_out:
            ids = [self.vocabulary.bos, *self.vocabulary[list(sentence)], self.vocabulary.eos]
            places = range(1, len(ids))
            found.append(
                [-float(self.probabilities(tuple(ids[:place]))[ids[place]].log()) for place in places]
            )
        return found

    def write(self, temperature: float, draw: torch.Generator) -> list[int]:
        """Write one sentence, as ids without ``<bos>`` and ``<eos>``."""
        ids = [self.vocabulary.bos]
        while len(ids) <= MAX_TOKENS:
            logits = self.probabilities(tuple(ids)).log()
            ids.append(
                int(torch.multinomial(next_token_probabilities(logits, temperature), 1, generator=draw))
            )
            if ids[-1] == self.vocabulary.eos:
                return ids[1:-1]
        return ids[1:]

    def texts(self, count: int, temperature: float, draw: torch.Generator) -> list[str]:
        """Write some sentences."""
        return [" ".join(self.vocabulary.to_tokens(self.write(temperature, draw))) for _ in range(count)]


class Grammar(LookupModel):
    """The best possible model of the corpus: it knows the templates and how often each of them is used.

    All sentences of a template are equally probable, also those with pairs of adjective and noun that no
    training sentence has.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.following: defaultdict[tuple[int, ...], defaultdict[int, float]] = defaultdict(
            lambda: defaultdict(float)
        )
        for name, share in quotas(SPLIT_SIZES["train"], list(templates())).items():
            produced = [tuple(english_text(meaning).split()) for meaning in meanings(name)]
            for sentence in produced:
                self.add(sentence, share / len(produced))
        for sentence in sentences("phrases"):
            self.add(sentence, 1)

    def add(self, sentence: Sentence, weight: float) -> None:
        """Put a sentence's weight at each of its tokens."""
        ids = [self.vocabulary.bos, *self.vocabulary[list(sentence)], self.vocabulary.eos]
        for place in range(1, len(ids)):
            self.following[tuple(ids[:place])][ids[place]] += weight

    def probabilities(self, context: tuple[int, ...]) -> Tensor:
        weights = torch.zeros(len(self.vocabulary), dtype=torch.float64)
        for token, weight in self.following[context].items():
            weights[token] = weight
        return (weights / weights.sum()).float()


class NGram(LookupModel):
    """Counts of what followed the last tokens, mixed with those of shorter contexts."""

    def __init__(self, order: int, training: Iterable[Sentence], vocabulary: Vocabulary) -> None:
        self.order, self.vocabulary = order, vocabulary
        self.counts: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        self.known: dict[tuple[int, ...], Tensor] = {}
        for sentence in training:
            ids = [vocabulary.bos, *vocabulary[list(sentence)], vocabulary.eos]
            for place in range(1, len(ids)):
                for length in range(min(order, place + 1)):
                    self.counts[tuple(ids[place - length : place])][ids[place]] += 1

    def probabilities(self, context: tuple[int, ...]) -> Tensor:
        """Return the probability of each next token, p = (c + T · p of the shorter context) / (N + T).

        c counts a token after the context, N all tokens, T the different ones.
        """
        context = context[max(0, len(context) - self.order + 1) :]
        if context not in self.known:
            size = len(self.vocabulary)
            shorter = self.probabilities(context[1:]) if context else torch.full((size,), 1 / size)
            counts = torch.zeros(size)
            for token, count in self.counts.get(context, {}).items():
                counts[token] = count
            kinds = counts.count_nonzero()
            mixed = (counts + kinds * shorter) / (counts.sum() + kinds) if counts.any() else shorter
            self.known[context] = mixed
        return self.known[context]


# ---- what models write ----


def padded(held_out: Sequence[Sentence], words: Vocabulary) -> tuple[Tensor, Tensor]:
    """Return all sentences as one batch, (sentences, steps), and their lengths."""
    pairs = [Pair("", "", (), sentence, ()) for sentence in held_out]
    batch = batches(pairs, words, words, len(pairs))[0]
    return batch.target, batch.target_lens


@torch.no_grad()
def losses(model: LanguageModel, words: Vocabulary, held_out: Sequence[Sentence]) -> list[list[float]]:
    """Return the loss of each token of each sentence, ``<eos>`` included."""
    target, lens = padded(held_out, words)
    logits, _ = model.eval()(shift_right(target, words.bos))  # (sentences, steps, vocab_size)
    found = F.cross_entropy(logits.mT, target, reduction="none")  # (sentences, steps)
    return [row[:length] for row, length in zip(found.tolist(), lens.tolist(), strict=True)]


def perplexity(found: Iterable[float]) -> float:
    return math.exp(fmean(found))


def after_adjectives(sentence: Sentence) -> list[int]:
    """Return the places of the nouns that stand right after an adjective."""
    adjectives = {entry["en"] for entry in lexicon("adjectives").values()}
    nouns = {entry[form] for entry in lexicon("nouns").values() for form in ("en", "en_plural")}
    places = range(1, len(sentence))
    return [place for place in places if sentence[place - 1] in adjectives and sentence[place] in nouns]


def perplexities(measured: Callable[[list[Sentence]], list[list[float]]]) -> dict[str, str]:
    """Compute perplexities of development and test sentences, and of their nouns after adjectives."""
    columns = {}
    for split in ("dev", "test"):
        held_out = sentences(split)
        found = measured(held_out)
        nouns = [
            row[place]
            for row, sentence in zip(found, held_out, strict=True)
            for place in after_adjectives(sentence)
        ]
        columns |= {f"{split}_perplexity": chain(*found), f"{split}_nouns": nouns}
    return {name: f"{perplexity(values):.3f}" for name, values in columns.items()}


def write(
    model: LanguageModel, words: Vocabulary, prompt: Sequence[str], draw: torch.Generator, samples: int,
    **way: Any,
) -> list[str]:  # fmt: skip
    """Write sentences that begin with the prompt."""
    given = torch.tensor([[words.bos, *words[list(prompt)]]]).expand(samples, -1)
    written = generate(model, given, MAX_TOKENS, stop=words.eos, generator=draw, **way)
    return [" ".join(words.to_tokens(up_to(row, words.eos))) for row in written[:, 1:].tolist()]


def verdicts(text: str, trained: set[str]) -> dict[str, bool]:
    """Judge a sentence: is it grammatical, new, both, and has it then an unseen pair?"""
    grammatical, new = text in grammar(), text not in trained
    both = grammatical and new
    return {"grammatical": grammatical, "new": new, "both": both, "unseen": both and grammar()[text]}


def samples(name: str, way: str, prompt: Sequence[str], texts: Sequence[str], trained: set[str]) -> list[Row]:
    """Return rows of the second table."""
    first = {"model": name, "prompt": " ".join(prompt), "way": way}
    marks = [verdicts(text, trained) for text in texts]
    return [
        first | {"sentence": text} | {key: str(int(mark[key])) for key in ("grammatical", "new")}
        for text, mark in zip(texts, marks, strict=True)
    ]


class TrainedModel:
    """A network that is asked like a `LookupModel`."""

    def __init__(self, network: LanguageModel, vocabulary: Vocabulary) -> None:
        self.network, self.vocabulary = network, vocabulary

    @torch.no_grad()
    def probabilities(self, context: tuple[int, ...]) -> Tensor:
        logits, _ = self.network(torch.tensor([context]))  # (1, tokens, vocab_size)
        return logits[0, -1].softmax(dim=-1)  # (vocab_size,)

    def losses(self, held_out: Sequence[Sentence]) -> list[list[float]]:
        return losses(self.network, self.vocabulary, held_out)

    def texts(self, count: int, temperature: float, draw: torch.Generator) -> list[str]:
        return write(self.network, self.vocabulary, (), draw, count, temperature=temperature)


def trained_model(name: str, seed: int, training: Sequence[Sentence]) -> LookupModel | TrainedModel:
    """Return the model of a name, made of the training sentences."""
    words = vocabulary()
    if name == "grammar":
        return Grammar(words)
    if name != "Transformer":
        return NGram(int(name[0]), training, words)
    network = LanguageModel(len(words), dropout=0.1)
    fit_language_model(network, training, words, seed=seed)
    return TrainedModel(network.eval(), words)


def shares(texts: Sequence[str], trained: set[str]) -> Row:
    """Return the columns about what a model wrote, as shares of its sentences; new pairs are counted."""
    found = [verdicts(text, trained) for text in texts]
    counts = {key: sum(verdict[key] for verdict in found) for key in found[0]}
    counts["different"] = len({text for text, verdict in zip(texts, found, strict=True) if verdict["both"]})
    columns = ("grammatical", "new", "both", "different")
    return {key: f"{counts[key] / len(texts):.3f}" for key in columns} | {"new_pairs": str(counts["unseen"])}


def measure(setting: tuple[str, int]) -> tuple[list[Row], list[Row]]:
    """Train one model; its rows of the first table and, for seed 0, of the second."""
    name, seed = setting
    seed_everything(seed)
    training = sentences("train", "phrases")
    trained = {" ".join(sentence) for sentence in training}
    model = trained_model(name, seed, training)
    words = model.vocabulary
    following = model.probabilities((words.bos, *words[list(PROMPT)]))
    scores = perplexities(model.losses) | {"hats": f"{following[words[NEXT]]:.5f}"}
    draw = torch.Generator().manual_seed(seed)
    rows, shown = [], []
    for temperature in TEMPERATURES:
        texts = model.texts(SAMPLES, temperature, draw)
        first = {"model": name, "temperature": str(temperature), "seed": str(seed)}
        rows.append(first | scores | shares(texts, trained))
        shown += samples(name, f"temperature={temperature}", (), texts[:SHOWN], trained)
    if isinstance(model, TrainedModel):
        for way in WAYS:
            texts = write(model.network, words, PROMPT[:3], draw, SHOWN, **way)
            description = " ".join(f"{key}={value}" for key, value in way.items())
            shown += samples(name, description, PROMPT[:3], texts, trained)
    return rows, shown if seed == 0 else []


if __name__ == "__main__":
    found = measure_all(measure, product(MODELS, SEEDS))
    write_table("language_models", [row for rows, _ in found for row in rows])
    write_table("language_samples", [row for _, rows in found for row in rows])
