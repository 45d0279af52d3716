"""The turns of the chapter on long contexts."""

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


def distances(n: int) -> Tensor:
    """Return the distance of each query from each key before it, (queries, keys)."""
    return torch.arange(n)[:, None] - torch.arange(n)


@turn(
    (9, 3, 2),
    (6, 2, 1),
    no_sinks=lambda n, window, sinks: (distances(n) >= 0) & (distances(n) < window),
    future=lambda n, window, sinks: (distances(n) >= 0) & (distances(n) < window) | (torch.arange(n) < sinks),
    one_too_wide=lambda n, window, sinks: (
        (distances(n) >= 0) & ((distances(n) <= window) | (torch.arange(n) < sinks))
    ),
    one_sink_more=lambda n, window, sinks: (
        (distances(n) >= 0) & ((distances(n) < window) | (torch.arange(n) <= sinks))
    ),
    only_sinks=lambda n, window, sinks: (distances(n) >= 0) & (torch.arange(n) < sinks),
)
def sink_mask(n: int, window: int, sinks: int) -> Tensor:
    place = torch.arange(n)  # (n,)
    distance = place[:, None] - place  # (queries, keys)
    return (distance >= 0) & ((distance < window) | (place < sinks))


def faded(keys: Tensor, values: Tensor, gamma: float) -> Tensor:
    """Return the table with the newest pair unfaded."""
    powers = gamma ** torch.arange(len(keys) - 1, -1, -1)  # (tokens,)
    return (powers[:, None] * values).mT @ keys


@turn(
    (numbers(0, 5, 3), numbers(1, 5, 4), 0.9),
    (numbers(2, 4, 3), numbers(3, 4, 2), 0.5),
    sum=lambda keys, values, gamma: values.mT @ keys,
    transposed=lambda keys, values, gamma: faded(keys, values, gamma).mT,
    new_too=lambda keys, values, gamma: gamma * faded(keys, values, gamma),
    new_only=lambda keys, values, gamma: values.mT @ keys * gamma,
    backwards=lambda keys, values, gamma: faded(keys.flip(0), values.flip(0), gamma),
)
def fading(keys: Tensor, values: Tensor, gamma: float) -> Tensor:
    table = torch.zeros(values.shape[1], keys.shape[1])  # (value_size, key_size)
    for k, v in zip(keys, values, strict=True):
        table = gamma * table + torch.outer(v, k)
    return table
