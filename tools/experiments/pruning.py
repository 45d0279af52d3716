"""How well does a Transformer translate without some of its heads, and how much of that is luck? Three seeds.

``python -m tools.experiments.pruning [--workers N]`` trains one model for each seed, as the chapter does, and
prunes it in many ways (about 5 minutes on two free cores). It writes three tables to ``mha_course/data``;
exact match is always of test pairs, and every choice uses development or training pairs only.

``pruning.tsv``: a row for each choice of heads and number of heads ``removed``; ``draw`` counts the random
choices. ``gradient_l2`` divides the gradients by their Euclidean norm in each attention module, ``reversed``
removes the heads that leaving one out finds most important. ``trained`` is the number of epochs after
pruning.

``pruning_data.tsv``: 12 heads are chosen greedily on 100 training pairs of a kind, ``chosen_on``, and the
rest is tested on test pairs of a kind, ``tested_on``; three draws of the 100.

``pruning_costs.tsv``: what the forward pass over the test pairs costs with 12 heads ``masked`` and ``sliced``
out, relative to the whole model: ``parameters``, ``flops`` and ``time`` (median over rounds, one thread).
"""

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.measure import interleaved, ratio
from mha_course.corpus import Batch, Pair, batches, load_corpus
from mha_course.heads import (
    Head,
    all_heads,
    attentions,
    count_flops,
    count_parameters,
    gradient_importance,
    leave_one_out,
    masked_heads,
    prune_heads,
)
from mha_course.metrics import exact_match
from mha_course.training import fit, masked_loss, seed_everything, shift_right
from mha_course.transformer import Transformer
from tools.experiments.runs import (
    SEEDS,
    Row,
    Vocabularies,
    measure_all,
    training_data,
    translations,
    write_table,
)

ROUNDS = 40  # in which each way to compute is timed
TUNED = ("greedy", "reversed", "random")
EPOCHS, RATE = 12, 0.003
MORE_EPOCHS, MORE_RATE = 2, 0.002
COUNTS, HALF = (4, 8, 12, 16), 12
RANDOM_DRAWS, DATA_DRAWS, DATA_PAIRS = 10, 3, 100
KINDS = ("questions", "statements")

Importance = dict[Head, float]


class Data(NamedTuple):
    """The pairs and the vocabularies made of the training pairs."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    vocabularies: Vocabularies


def load() -> Data:
    """Read the French corpus."""
    train, vocabularies = training_data()
    return Data(train, load_corpus("fr", "dev"), load_corpus("fr", "test"), vocabularies)


def is_question(pair: Pair) -> bool:
    """Return True for a pair of the first of the two kinds."""
    return pair.source[-1] == "?"


def least(importance: Importance, count: int) -> list[Head]:
    """Return the least important heads, so that every module keeps one."""
    left = {name: sum(head.module == name for head in importance) for name, _ in importance}
    chosen: list[Head] = []
    for head in sorted(importance, key=lambda head: importance[head]):
        if len(chosen) < count and left[head.module] > 1:
            chosen.append(head)
            left[head.module] -= 1
    return chosen


def greedy(model: Transformer, score: Callable[[], float], count: int) -> list[Head]:
    """Remove the least important head and measure the others again, until `count` are gone."""
    left = {name: module.num_heads for name, module in attentions(model).items()}
    chosen: list[Head] = []
    while len(chosen) < count:
        importance = leave_one_out(model, score, without=chosen)
        candidates = [head for head in importance if left[head.module] > 1]
        chosen.append(min(candidates, key=lambda head: importance[head]))
        left[chosen[-1].module] -= 1
    return chosen


def normalized(importance: Importance) -> Importance:
    """Divide by the Euclidean norm of each module's heads (Michel et al., 2019)."""
    squares = {name: 0.0 for name, _ in importance}
    for head, value in importance.items():
        squares[head.module] += value**2
    return {head: value / squares[head.module] ** 0.5 for head, value in importance.items()}


class Experiment:
    """One trained model and what is measured of it."""

    def __init__(self, seed: int, data: Data, epochs: int = EPOCHS, model: Transformer | None = None) -> None:
        """Train a model, or take one that is trained."""
        self.seed, self.data = seed, data
        self.model = model or self.trained(self.untrained(), epochs, RATE, seed)

    def untrained(self) -> Transformer:
        seed_everything(self.seed)
        return Transformer(*map(len, self.data.vocabularies), dropout=0.1)

    def trained(self, model: Transformer, epochs: int, rate: float, seed: int) -> Transformer:
        choices = {"epochs": epochs, "learning_rate": rate, "seed": seed, "progress": False}
        fit(model, self.data.train, *self.data.vocabularies, **choices)
        return model.eval()

    def loss(self, batch: Batch) -> Tensor:
        fed = shift_right(batch.target, self.data.vocabularies[1].bos)  # (batch, target steps)
        logits, _ = self.model(batch.source, fed, batch.source_lens)
        return masked_loss(logits, batch.target, batch.target_lens)

    def score_on(self, pairs: Sequence[Pair]) -> Callable[[], float]:
        """Return a function that says how good the model is at this moment: minus the loss."""
        batch = batches(pairs, *self.data.vocabularies, len(pairs))[0]

        @torch.no_grad()
        def score() -> float:
            return -self.loss(batch).item()

        return score

    def match(self, model: Transformer, pairs: Sequence[Pair]) -> float:
        written = translations(model, pairs, self.data.vocabularies)
        return exact_match(written, [pair.target for pair in pairs])

    def match_without(self, heads: Iterable[Head], pairs: Sequence[Pair]) -> float:
        with masked_heads(self.model, heads):
            return self.match(self.model, pairs)

    def choices(self, most: int = max(COUNTS)) -> Iterator[tuple[str, int, Callable[[int], list[Head]]]]:
        """Yield each way to choose up to `most` heads: its name, its draw, and the heads for a number."""
        dev, score = self.data.dev, self.score_on(self.data.dev)
        left_out = leave_one_out(self.model, score)
        single = batches(dev, *self.data.vocabularies, batch_size=1)
        gradient = gradient_importance(self.model, self.loss, single)
        importances = {
            "leave_one_out": left_out,
            "gradient": gradient,
            "gradient_l2": normalized(gradient),
            "reversed": {head: -value for head, value in left_out.items()},
        }
        order = greedy(self.model, score, most)
        yield "greedy", 0, lambda count: order[:count]
        for name, importance in importances.items():
            yield name, 0, lambda count, importance=importance: least(importance, count)
        generator = random.Random(self.seed)
        for draw in range(RANDOM_DRAWS):
            lottery = {head: generator.random() for head in all_heads(self.model)}
            yield "random", draw, lambda count, lottery=lottery: least(lottery, count)

    def rows(self) -> Iterator[Row]:
        """Yield rows of ``pruning.tsv``."""
        test = self.data.test

        def row(choice: str, removed: int, draw: int, trained: int, value: float) -> Row:
            numbers = {"seed": self.seed, "removed": removed, "draw": draw, "trained": trained}
            written = {name: str(number) for name, number in numbers.items()}
            return {"choice": choice} | written | {"exact_match": f"{value:.3f}"}

        def tuned(model: Transformer) -> float:
            more = self.trained(copy.deepcopy(model), MORE_EPOCHS, MORE_RATE, self.seed + 1)
            return self.match(more, test)

        yield row("none", 0, 0, 0, self.match(self.model, test))
        yield row("none", 0, 0, MORE_EPOCHS, tuned(self.model))
        for choice, draw, heads in self.choices():
            for count in COUNTS:
                yield row(choice, count, draw, 0, self.match_without(heads(count), test))
            if draw == 0 and choice in TUNED:
                yield row(choice, HALF, draw, MORE_EPOCHS, tuned(prune_heads(self.model, heads(HALF))))

    def data_rows(self) -> Iterator[Row]:
        """Yield rows of ``pruning_data.tsv``."""
        train, test = (
            {kind: [pair for pair in pairs if is_question(pair) == (kind == KINDS[0])] for kind in KINDS}
            for pairs in (self.data.train, self.data.test)
        )
        generator = random.Random(self.seed)
        for draw in range(DATA_DRAWS):
            for chosen_on in KINDS:
                heads = greedy(
                    self.model, self.score_on(generator.sample(train[chosen_on], DATA_PAIRS)), HALF
                )
                for tested_on in KINDS:
                    names = {"seed": str(self.seed), "draw": str(draw)}
                    names |= {"chosen_on": chosen_on, "tested_on": tested_on}
                    yield names | {"exact_match": f"{self.match_without(heads, test[tested_on]):.3f}"}

    @torch.no_grad()
    def cost_rows(self) -> Iterator[Row]:
        """Yield rows of ``pruning_costs.tsv``; which heads are gone does not matter."""
        batch = batches(self.data.test, *self.data.vocabularies, len(self.data.test))[0]
        fed = shift_right(batch.target, self.data.vocabularies[1].bos)  # (batch, target steps)
        heads = [head for head in all_heads(self.model) if head.number >= 2]
        sliced = prune_heads(self.model, heads)

        def whole_call() -> object:
            return self.model(batch.source, fed, batch.source_lens)

        def masked_call() -> object:
            with masked_heads(self.model, heads):
                return whole_call()

        calls = {
            "whole": whole_call,
            "masked": masked_call,
            "sliced": lambda: sliced(batch.source, fed, batch.source_lens),
        }
        times = interleaved(calls, torch.device("cpu"), seconds=0, least=ROUNDS, most=ROUNDS)
        for name, model in (("masked", self.model), ("sliced", sliced)):
            ratios = {
                "parameters": count_parameters(model) / count_parameters(self.model),
                "flops": count_flops(calls[name]) / count_flops(whole_call),
                "time": ratio(times, name, "whole"),
            }
            written = {name: f"{value:.2f}" for name, value in ratios.items()}
            yield {"seed": str(self.seed), "heads": name} | written


def measure(seed: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Train one model and make its rows of the three tables."""
    experiment = Experiment(seed, load())
    return list(experiment.rows()), list(experiment.data_rows()), list(experiment.cost_rows())


if __name__ == "__main__":
    tables = zip(*measure_all(measure, SEEDS), strict=True)
    for name, rows_of_seeds in zip(("pruning", "pruning_data", "pruning_costs"), tables, strict=True):
        write_table(name, [row for rows in rows_of_seeds for row in rows])
