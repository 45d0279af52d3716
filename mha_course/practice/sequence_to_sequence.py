"""The turns of the chapter from sequence to sequence."""

from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.metrics import ngrams
from mha_course.practice.turn import turn

Model = Callable[[list[int]], Tensor]


def writes(*sentence: int) -> Model:
    """Return a model that knows one sentence, and after anything else writes token 8."""

    def logits(before: list[int]) -> Tensor:
        if len(before) > 30:
            raise RuntimeError("30 tokens are written, and there is no end")
        known = before == list(sentence[: len(before)]) and len(before) < len(sentence)
        return torch.eye(9)[sentence[len(before)] if known else 8]  # (vocab_size,)

    return logits


def steps(model: Model, bos: int, count: int) -> list[int]:
    """Return the tokens that a model writes in `count` steps, without stopping at the end token."""
    tokens = [bos]
    for _ in range(count):
        tokens.append(int(model(tokens).argmax()))
    return tokens[1:]


def ended(tokens: list[int], eos: int) -> list[int]:
    """Return the tokens before the first end."""
    return tokens[: tokens.index(eos)] if eos in tokens else tokens


@turn(
    (writes(1, 5, 3, 7, 2), 1, 2, 6),
    (writes(1, 4, 6, 3, 5, 2), 1, 2, 3),
    keeps_end=lambda model, bos, eos, most: (written := steps(model, bos, most))[
        : len(ended(written, eos)) + 1
    ],
    keeps_beginning=lambda model, bos, eos, most: [bos, *ended(steps(model, bos, most), eos)],
    goes_on=lambda model, bos, eos, most: steps(model, bos, most),
    no_limit=lambda model, bos, eos, most: ended(steps(model, bos, 20), eos),
    last_token=lambda model, bos, eos, most: ended(steps(lambda tokens: model(tokens[-1:]), bos, most), eos),
)
def greedy(
    next_logits: Callable[[list[int]], Tensor],
    bos: int,
    eos: int,
    max_steps: int,
) -> list[int]:
    tokens = [bos]
    for _ in range(max_steps):
        best = int(next_logits(tokens).argmax())
        if best == eos:
            break
        tokens.append(best)
    return tokens[1:]


def count_matches(prediction: list[str], reference: list[str], n: int) -> int:
    """Count the prediction's n-grams that the reference has too, each at most as often as there."""
    return (ngrams(prediction, n) & ngrams(reference, n)).total()


def unclipped(prediction: list[str], reference: list[str], n: int) -> int:
    """Count every one of the prediction's n-grams that the reference has somewhere."""
    known = ngrams(reference, n)
    return sum(count for ngram, count in ngrams(prediction, n).items() if ngram in known)


@turn(
    (["il", "est", "calme", "."], ["il", "est", "toujours", "très", "calme", "."], 2),
    (["le", "le", "chat", "et", "le", "grand", "chien"], ["le", "chat", "et", "un", "chien", "noir"], 1),
    not_clipped=lambda prediction, reference, n: (
        unclipped(prediction, reference, n) / (len(prediction) - n + 1)
    ),
    recall=lambda prediction, reference, n: (
        count_matches(prediction, reference, n) / (len(reference) - n + 1)
    ),
    by_tokens=lambda prediction, reference, n: count_matches(prediction, reference, n) / len(prediction),
    different_only=lambda prediction, reference, n: (
        len(ngrams(prediction, n).keys() & ngrams(reference, n)) / len(ngrams(prediction, n))
    ),
    counted=lambda prediction, reference, n: count_matches(prediction, reference, n),
)
def precision(prediction: list[str], reference: list[str], n: int) -> float:
    ours = [tuple(prediction[i : i + n]) for i in range(len(prediction) - n + 1)]
    theirs = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    matches = sum(min(ours.count(ngram), theirs.count(ngram)) for ngram in set(ours))
    return matches / len(ours)
