"""The turns of the chapter on attention pooling."""

import torch
from torch import Tensor

from mha_course.masking import length_mask
from mha_course.practice.turn import numbers, turn


@turn(
    (numbers(0, 3, 2), numbers(1, 4, 2), numbers(2, 4, 5), 1.5),
    (numbers(3, 1, 6), numbers(4, 2, 6), numbers(5, 2, 3), 0.5),
    over_queries=lambda q, k, v, beta: (beta * q @ k.T).softmax(0) @ v,
    no_beta=lambda q, k, v, beta: (q @ k.T).softmax(-1) @ v,
    late_beta=lambda q, k, v, beta: beta * (q @ k.T).softmax(-1) @ v,
    divided=lambda q, k, v, beta: (q @ k.T / beta).softmax(-1) @ v,
    no_softmax=lambda q, k, v, beta: beta * q @ k.T @ v,
)
def several_queries(queries: Tensor, keys: Tensor, values: Tensor, beta: float) -> Tensor:
    scores = beta * queries @ keys.T  # (queries, keys)
    return torch.softmax(scores, dim=-1) @ values  # (queries, value_size)


@turn(
    (numbers(0, 3, 5, 4), torch.tensor([2, 4, 1])),
    whole=lambda values, lens: values.mean(1),
    whole_length=lambda values, lens: (values * length_mask(lens, 5)[:, :, None]).mean(1),
    summed=lambda values, lens: (values * length_mask(lens, 5)[:, :, None]).sum(1),
    one_more=lambda values, lens: (values * length_mask(lens + 1, 5)[:, :, None]).sum(1) / lens[:, None],
    inverted=lambda values, lens: (values * ~length_mask(lens, 5)[:, :, None]).sum(1) / lens[:, None],
)
def masked_mean(values: Tensor, valid_lens: Tensor) -> Tensor:
    mask = torch.arange(values.shape[1]) < valid_lens[:, None]  # (batch, keys)
    total = (values * mask[:, :, None]).sum(dim=1)  # (batch, value_size)
    return total / valid_lens[:, None]
