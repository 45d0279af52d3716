"""The turns of the chapter on scoring functions."""

import math

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


@turn(
    (numbers(0, 2, 3, 6), numbers(1, 2, 4, 6)),
    unscaled=lambda Q, K: Q @ K.mT,
    by_d=lambda Q, K: Q @ K.mT / 6,
    by_keys=lambda Q, K: Q @ K.mT / 2,
    multiplied=lambda Q, K: Q @ K.mT * math.sqrt(6),
    weights=lambda Q, K: (Q @ K.mT / math.sqrt(6)).softmax(-1),
)
def scaled_scores(queries: Tensor, keys: Tensor) -> Tensor:
    d = queries.shape[-1]
    return queries @ keys.transpose(1, 2) / math.sqrt(d)  # (batch, queries, keys)


@turn(
    (numbers(0, 3, 2), numbers(1, 4, 5), numbers(2, 6, 2), numbers(3, 6, 5), numbers(4, 6)),
    no_tanh=lambda q, k, W_q, W_k, w_v: ((q @ W_q.T)[:, None] + (k @ W_k.T)[None]) @ w_v,
    tanh_apart=lambda q, k, W_q, W_k, w_v: ((q @ W_q.T).tanh()[:, None] + (k @ W_k.T).tanh()[None]) @ w_v,
    tanh_last=lambda q, k, W_q, W_k, w_v: (((q @ W_q.T)[:, None] + (k @ W_k.T)[None]) @ w_v).tanh(),
    multiplied=lambda q, k, W_q, W_k, w_v: ((q @ W_q.T)[:, None] * (k @ W_k.T)[None]).tanh() @ w_v,
    turned=lambda q, k, W_q, W_k, w_v: ((q @ W_q.T)[None] + (k @ W_k.T)[:, None]).tanh() @ w_v,
)
def additive_scores(queries: Tensor, keys: Tensor, W_q: Tensor, W_k: Tensor, w_v: Tensor) -> Tensor:
    left = (queries @ W_q.T).unsqueeze(1)  # (queries, 1, hiddens)
    right = (keys @ W_k.T).unsqueeze(0)  # (1, keys, hiddens)
    return torch.tanh(left + right) @ w_v  # (queries, keys)
