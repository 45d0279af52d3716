"""The turns of the chapter on looking at heads."""

import math

import torch
from torch import Tensor

from mha_course.masking import masked_softmax
from mha_course.practice.turn import numbers, turn

WEIGHTS = masked_softmax(2 * numbers(0, 2, 3, 5), torch.tensor([4, 5]))  # some weights are 0


def entropies(weights: Tensor) -> Tensor:
    """Return the entropy of each row."""
    return -torch.xlogy(weights, weights).sum(-1)


@turn(
    (WEIGHTS,),
    not_a_number=lambda weights: -(weights * weights.log()).sum(-1).mean(-1),
    no_sign=lambda weights: -entropies(weights).mean(-1),
    bits=lambda weights: entropies(weights).mean(-1) / math.log(2),
    summed=lambda weights: entropies(weights).sum(-1),
    over_keys=lambda weights: entropies(weights).mean(-1) / 5,
)
def mean_entropy(weights: Tensor) -> Tensor:
    terms = torch.xlogy(weights, weights)  # (heads, queries, keys), 0 where a weight is 0
    return -terms.sum(dim=-1).mean(dim=-1)  # (heads,)


@turn(
    (WEIGHTS, numbers(1, 2, 5, 3), numbers(2, 2, 3, 6)),
    no_projection=lambda weights, values, W_o: weights * values.norm(dim=-1)[:, None],
    no_weights=lambda weights, values, W_o: (values @ W_o).norm(dim=-1)[:, None].expand_as(weights),
    squared=lambda weights, values, W_o: weights * (values @ W_o).square().sum(-1)[:, None],
    whole_output=lambda weights, values, W_o: (weights @ values @ W_o).norm(dim=-1),
    one_head=lambda weights, values, W_o: weights * (values @ W_o[0]).norm(dim=-1)[:, None],
)
def contribution_sizes(weights: Tensor, values: Tensor, W_o: Tensor) -> Tensor:
    vectors = values @ W_o  # (heads, keys, num_hiddens)
    lengths: Tensor = vectors.norm(dim=-1)  # (heads, keys)
    return weights * lengths.unsqueeze(1)  # (heads, queries, keys)
