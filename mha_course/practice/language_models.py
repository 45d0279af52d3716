"""The turns of the chapter on language models."""

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


def halves(X: Tensor, angles: Tensor) -> Tensor:
    """Each feature of the first half and its partner in the second, turned by an angle."""
    a, b = X.chunk(2, dim=-1)
    return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), dim=-1)


def neighbours(X: Tensor, angles: Tensor) -> Tensor:
    """The same for pairs of neighbouring features."""
    apart = torch.cat((X[..., 0::2], X[..., 1::2]), dim=-1)
    return torch.stack(halves(apart, angles).chunk(2, dim=-1), dim=-1).flatten(-2)


@turn(
    (numbers(0, 4, 6), torch.tensor([7.0, 2.0, 30.0, 5.0]), torch.tensor([1.0, 0.3, 0.01])),
    other_way=lambda X, positions, speeds: halves(X, -positions[:, None] * speeds),
    neighbours=lambda X, positions, speeds: neighbours(X, positions[:, None] * speeds),
    one_speed=lambda X, positions, speeds: halves(X, positions[:, None].expand(4, 3)),
    in_order=lambda X, positions, speeds: halves(X, torch.arange(4)[:, None] * speeds),
    mirrored=lambda X, positions, speeds: (
        halves(X, positions[:, None] * speeds) * torch.tensor([1, 1, 1, -1, -1, -1])
    ),
)
def turned(X: Tensor, positions: Tensor, speeds: Tensor) -> Tensor:
    angles = positions[:, None] * speeds  # (tokens, d / 2)
    a, b = X.chunk(2, dim=-1)  # (tokens, d / 2)
    first = a * angles.cos() - b * angles.sin()
    second = a * angles.sin() + b * angles.cos()
    return torch.cat((first, second), dim=-1)  # (tokens, d)


def by_rank(probabilities: Tensor, p: float, descending: bool = True) -> Tensor:
    """Which of the sorted probabilities are kept."""
    ordered = probabilities.sort(descending=descending).values
    return ordered.cumsum(0) - ordered < p


def placed(probabilities: Tensor, ranks: Tensor, descending: bool = True) -> Tensor:
    """What is said of the sorted probabilities, in the order of the tokens."""
    return ranks[probabilities.argsort(descending=descending).argsort()]


@turn(
    (torch.tensor([0.1, 0.4, 0.2, 0.3]), 0.8),
    (torch.tensor([0.05, 0.3, 0.25, 0.4]), 0.5),
    stops_short=lambda probabilities, p: placed(probabilities, probabilities.sort(0, True)[0].cumsum(0) <= p),
    sorted_order=by_rank,
    threshold=lambda probabilities, p: probabilities >= 1 - p,
    lowest=lambda probabilities, p: placed(probabilities, by_rank(probabilities, p, False), False),
    removed=lambda probabilities, p: ~placed(probabilities, by_rank(probabilities, p)),
)
def kept(probabilities: Tensor, p: float) -> Tensor:
    ordered, order = probabilities.sort(descending=True)  # (tokens,)
    above = ordered.cumsum(dim=0) - ordered  # (tokens,)
    keep = torch.zeros(len(probabilities), dtype=torch.bool)
    keep[order] = above < p
    return keep
