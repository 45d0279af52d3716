"""The turns of the chapter that looks inside a language model."""

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


def after_match(weights: Tensor, same: Tensor) -> Tensor:
    """Sum the weight behind matching tokens, and average over the queries that have any."""
    after = same.roll(1, dims=1)  # (queries, keys)
    return (weights * after).sum(dim=1)[after.any(dim=1)].mean()


def equal_tokens(tokens: Tensor) -> Tensor:
    """Mark the keys that hold the query's token."""
    return tokens[:, None] == tokens


@turn(
    (numbers(0, 7, 7).exp().tril().softmax(dim=-1), torch.tensor([3, 1, 4, 1, 5, 3, 1])),
    (numbers(1, 5, 5).exp().tril().softmax(dim=-1), torch.tensor([2, 2, 0, 2, 0])),
    the_match=lambda weights, tokens: after_match(weights, equal_tokens(tokens).tril(-1).roll(-1, dims=1)),
    one_before=lambda weights, tokens: after_match(weights, equal_tokens(tokens).tril(-1).roll(-2, dims=1)),
    all_queries=lambda weights, tokens: (
        (weights * equal_tokens(tokens).tril(-1).roll(1, dims=1)).sum(dim=1).mean()
    ),
    all_pairs=lambda weights, tokens: weights[equal_tokens(tokens).tril(-1).roll(1, dims=1)].mean(),
)
def prefix_matching(weights: Tensor, tokens: Tensor) -> Tensor:
    same = (tokens[:, None] == tokens).tril(-1)  # (queries, keys)
    after = same.roll(1, dims=1)  # (queries, keys)
    found = (weights * after).sum(dim=1)  # (queries,)
    return found[after.any(dim=1)].mean()


@turn(
    (numbers(2, 2, 3, 4) + 1, torch.tensor([1.0, 2.0, 0.5, 3.0])),
    (numbers(3, 1, 2, 5), torch.tensor([0.1, 1.0, 2.0, 1.0, 1.5])),
    not_rooted=lambda heads, gain: gain * heads / heads.square().mean(dim=-1, keepdim=True),
    length=lambda heads, gain: gain * heads / heads.norm(dim=-1, keepdim=True),
    centred=lambda heads, gain: torch.nn.functional.layer_norm(heads, heads.shape[-1:], gain),
    all_heads=lambda heads, gain: gain * heads / heads.square().mean(dim=(-2, -1), keepdim=True).sqrt(),
    no_gain=lambda heads, gain: heads / heads.square().mean(dim=-1, keepdim=True).sqrt(),
)
def normalized(heads: Tensor, gain: Tensor) -> Tensor:
    size = heads.square().mean(dim=-1, keepdim=True).sqrt()  # (steps, heads, 1)
    return gain * heads / size
