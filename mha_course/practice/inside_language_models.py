"""The turns of the chapter that looks inside a language model."""

import math

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


def halves(X: Tensor, angles: Tensor) -> Tensor:
    """Turn each feature of the first half and its partner in the second by an angle."""
    a, b = X.chunk(2, dim=-1)
    return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), dim=-1)


def neighbours(X: Tensor, angles: Tensor) -> Tensor:
    """Turn pairs of neighbouring features."""
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


def alibi(slopes: Tensor, steps: int) -> Tensor:
    """Return what ALiBi adds to the scores, without a mask."""
    places = torch.arange(steps)
    return slopes[:, None, None] * (places[None, :] - places[:, None])


def later(steps: int) -> Tensor:
    """Which keys stand behind their query."""
    return torch.ones(steps, steps, dtype=torch.bool).triu(1)


@turn(
    (torch.tensor([0.5, 0.25, 0.125]), 4),
    (torch.tensor([1.0, 0.1]), 3),
    added=lambda slopes, steps: (-alibi(slopes, steps)).masked_fill(later(steps), -math.inf),
    no_mask=alibi,
    zeros=lambda slopes, steps: alibi(slopes, steps).masked_fill(later(steps), 0),
    exchanged=lambda slopes, steps: alibi(slopes, steps).masked_fill(later(steps), -math.inf).mT,
    one_slope=lambda slopes, steps: (
        alibi(slopes[:1], steps).masked_fill(later(steps), -math.inf).expand(len(slopes), steps, steps)
    ),
)
def bias(slopes: Tensor, steps: int) -> Tensor:
    places = torch.arange(steps)  # (steps,)
    distances = places[:, None] - places  # (queries, keys)
    bias = -slopes[:, None, None] * distances  # (heads, queries, keys)
    return bias.masked_fill(distances < 0, -math.inf)
