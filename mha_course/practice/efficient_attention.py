"""The turns of the chapter on efficient attention."""

import math

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn

Step = tuple[Tensor, Tensor, Tensor]


def attended(query: Tensor, keys: Tensor, values: Tensor, scale: bool = True) -> Tensor:
    """Compute attention by the written-out formula."""
    root = math.sqrt(query.shape[-1]) if scale else 1
    return (query @ keys.mT / root).softmax(-1) @ values


def grown(old: Tensor, new: Tensor) -> Tensor:
    """Append a new key or value to the old ones."""
    return torch.cat((old, new), dim=1)


@turn(
    (numbers(0, 2, 1, 4), numbers(1, 2, 1, 4), numbers(2, 2, 1, 4), numbers(3, 2, 3, 4), numbers(4, 2, 3, 4)),
    without_itself=lambda q, k, v, K, V: (attended(q, K, V), grown(K, k), grown(V, v)),
    forgotten=lambda q, k, v, K, V: (attended(q, grown(K, k), grown(V, v)), K, V),
    in_front=lambda q, k, v, K, V: (attended(q, grown(K, k), grown(V, v)), grown(k, K), grown(v, V)),
    unscaled=lambda q, k, v, K, V: (attended(q, grown(K, k), grown(V, v), False), grown(K, k), grown(V, v)),
    upper_left=lambda q, k, v, K, V: (V[:, :1], grown(K, k), grown(V, v)),
)
def cached_step(query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor) -> Step:
    keys = torch.cat((keys, key), dim=1)  # (heads, tokens + 1, head_dim)
    values = torch.cat((values, value), dim=1)  # (heads, tokens + 1, head_dim)
    scores = query @ keys.transpose(1, 2) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ values, keys, values


@turn(
    (5, 8, 2, 16, 100, 4),
    (3, 6, 3, 7, 11, 2),
    every_head=lambda layers, heads, groups, width, n, b: 2 * layers * heads * width * n * b,
    keys_alone=lambda layers, heads, groups, width, n, b: layers * groups * width * n * b,
    one_layer=lambda layers, heads, groups, width, n, b: 2 * groups * width * n * b,
    quadratic=lambda layers, heads, groups, width, n, b: 2 * layers * groups * width * n * n * b,
    counted=lambda layers, heads, groups, width, n, b: 2 * layers * groups * width * n,
)
def cache_bytes(layers: int, heads: int, groups: int, head_dim: int, tokens: int, number_bytes: int) -> int:
    return 2 * layers * groups * head_dim * tokens * number_bytes
