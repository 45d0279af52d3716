"""The turns of the chapter from sequence to sequence."""

from collections.abc import Callable

import torch
from torch import Tensor

from mha_course.masking import length_mask
from mha_course.practice.turn import numbers, turn

Model = Callable[[list[int]], Tensor]


@turn(
    (numbers(0, 3, 5).abs(), torch.tensor([5, 2, 3])),
    padding_too=lambda losses, lens: losses.mean(),
    wrong_divisor=lambda losses, lens: (losses * length_mask(lens, 5)).mean(),
    by_sentence=lambda losses, lens: ((losses * length_mask(lens, 5)).sum(1) / lens).mean(),
    by_batch=lambda losses, lens: (losses * length_mask(lens, 5)).sum() / 3,
    summed=lambda losses, lens: (losses * length_mask(lens, 5)).sum(),
)
def mean_loss(losses: Tensor, valid_lens: Tensor) -> Tensor:
    counts = torch.arange(losses.shape[1]) < valid_lens[:, None]  # (batch, steps)
    return losses[counts].mean()


def writes(*sentence: int) -> Model:
    """A model that knows one sentence, and after anything else writes token 8."""

    def logits(before: list[int]) -> Tensor:
        if len(before) > 30:
            raise RuntimeError("30 tokens are written, and there is no end")
        known = before == list(sentence[: len(before)]) and len(before) < len(sentence)
        return torch.eye(9)[sentence[len(before)] if known else 8]  # (vocab_size,)

    return logits


def steps(model: Model, bos: int, count: int) -> list[int]:
    """All that a model writes in so many steps, whatever it is."""
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
def greedy(next_logits: Model, bos: int, eos: int, max_steps: int) -> list[int]:
    tokens = [bos]
    for _ in range(max_steps):
        best = int(next_logits(tokens).argmax())
        if best == eos:
            break
        tokens.append(best)
    return tokens[1:]
