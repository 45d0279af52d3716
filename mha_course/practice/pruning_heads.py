"""The turns of the chapter on pruning heads."""

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


@turn(
    (numbers(0, 5, 3),),
    late=lambda gradients: gradients.mean(0).abs() / gradients.mean(0).norm(),
    not_divided=lambda gradients: gradients.abs().mean(0),
    by_sum=lambda gradients: gradients.abs().mean(0) / gradients.abs().mean(0).sum(),
    signed=lambda gradients: gradients.mean(0) / gradients.mean(0).norm(),
    squared=lambda gradients: gradients.square().mean(0) / gradients.square().mean(0).norm(),
)
def importance(gradients: Tensor) -> Tensor:
    sizes = gradients.abs().mean(dim=0)  # (heads,)
    return sizes / sizes.square().sum().sqrt()


def lowest(scores: Tensor, count: int) -> Tensor:
    """Return the places of the lowest scores, whatever is left of their module."""
    ranks: Tensor = scores.flatten().argsort().argsort().reshape(scores.shape)
    low: Tensor = ranks < count
    return low


def guarded(scores: Tensor) -> Tensor:
    """Return the scores, where the highest of each module is out of reach."""
    best: Tensor = scores.amax(1, True)  # (modules, 1)
    return scores.masked_fill(scores == best, torch.inf)


SCORES = torch.tensor([[0.7, 0.1, 0.5], [0.2, 0.3, 0.25], [0.9, 0.8, 0.15], [0.6, 0.4, 0.35]])


@turn(
    (SCORES, 6),
    (SCORES, 4),
    empties=lowest,
    highest=lambda scores, count: lowest(-scores, count),
    each_module=lambda scores, count: torch.stack([lowest(row, count // 4) for row in scores]),
    kept=lambda scores, count: ~lowest(guarded(scores), count),
)
def to_remove(scores: Tensor, count: int) -> Tensor:
    best = scores.amax(dim=1, keepdim=True)  # (modules, 1)
    others = scores.masked_fill(scores == best, torch.inf)  # (modules, heads)
    removed = torch.zeros(scores.numel(), dtype=torch.bool)
    removed[others.flatten().argsort()[:count]] = True
    return removed.reshape(scores.shape)  # (modules, heads)
