"""The turns of the chapter on language models."""

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


def of_the_answers(logits: Tensor, answers: Tensor) -> Tensor:
    """Return the probability of each right token."""
    return logits.softmax(dim=-1)[torch.arange(len(answers)), answers]


@turn(
    (numbers(0, 4, 6), torch.tensor([2, 0, 5, 1])),
    (numbers(1, 3, 5), torch.tensor([4, 4, 0])),
    loss=lambda logits, answers: -of_the_answers(logits, answers).log().mean(),
    product=lambda logits, answers: 1 / of_the_answers(logits, answers).prod(),
    base_two=lambda logits, answers: 2 ** -of_the_answers(logits, answers).log().mean(),
    mean_probability=lambda logits, answers: 1 / of_the_answers(logits, answers).mean(),
    mean_inverse=lambda logits, answers: (1 / of_the_answers(logits, answers)).mean(),
    no_softmax=lambda logits, answers: (-logits[torch.arange(len(answers)), answers].mean()).exp(),
)
def perplexity(logits: Tensor, answers: Tensor) -> Tensor:
    log_probabilities = logits.log_softmax(dim=-1)  # (tokens, vocab)
    places = torch.arange(len(answers))  # (tokens,)
    right = log_probabilities[places, answers]  # (tokens,)
    return (-right.mean()).exp()


def by_rank(probabilities: Tensor, p: float, descending: bool = True) -> Tensor:
    """Return, for the sorted probabilities, whether each is kept."""
    ordered = probabilities.sort(descending=descending).values
    return ordered.cumsum(0) - ordered < p


def placed(probabilities: Tensor, ranks: Tensor, descending: bool = True) -> Tensor:
    """Return values of the sorted probabilities in the order of the tokens."""
    return ranks[probabilities.argsort(descending=descending).argsort()]


@turn(
    (torch.tensor([0.1, 0.4, 0.2, 0.3]), 0.8),
    (torch.tensor([0.05, 0.3, 0.25, 0.4]), 0.5),
    (torch.tensor([0.12, 0.75, 0.05, 0.08]), 0.6),
    (torch.tensor([0.125, 0.5, 0.25, 0.125]), 0.5),
    stops_short=lambda probabilities, p: placed(probabilities, probabilities.sort(0, True)[0].cumsum(0) <= p),
    sorted_order=by_rank,
    gathered=lambda probabilities, p: by_rank(probabilities, p)[probabilities.argsort(descending=True)],
    threshold=lambda probabilities, p: probabilities >= 1 - p,
    lowest=lambda probabilities, p: placed(probabilities, by_rank(probabilities, p, False), False),
    share_of_tokens=lambda probabilities, p: placed(
        probabilities, torch.arange(len(probabilities)) < int(p * len(probabilities))
    ),
    removed=lambda probabilities, p: ~placed(probabilities, by_rank(probabilities, p)),
)
def kept(probabilities: Tensor, p: float) -> Tensor:
    ordered, order = probabilities.sort(descending=True)  # (tokens,)
    above = ordered.cumsum(dim=0) - ordered  # (tokens,)
    keep = torch.zeros(len(probabilities), dtype=torch.bool)
    keep[order] = above < p
    return keep
