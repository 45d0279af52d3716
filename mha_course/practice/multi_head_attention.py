"""The turns of the chapter on multi-head attention."""

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


@turn(
    (numbers(0, 3, 5, 2), numbers(1, 6, 4)),
    mixed=lambda outputs, W_o: outputs.reshape(5, 6) @ W_o,
    in_turn=lambda outputs, W_o: outputs.permute(1, 2, 0).flatten(1) @ W_o,
    averaged=lambda outputs, W_o: torch.cat([*outputs], dim=1) @ W_o / 3,
    one_block=lambda outputs, W_o: outputs.sum(0) @ W_o[:2],
)
def add_up(head_outputs: Tensor, W_o: Tensor) -> Tensor:
    joined = torch.cat([*head_outputs], dim=1)  # (queries, heads * head_dim)
    return joined @ W_o  # (queries, hiddens)


@turn(
    (numbers(0, 2, 5, 12), 3),
    mixed=lambda X, h: X.reshape(2, h, 5, 4),
    in_turn=lambda X, h: X.reshape(2, 5, 4, h).permute(0, 3, 1, 2),
    not_moved=lambda X, h: X.reshape(2, 5, h, 4),
    folded=lambda X, h: X.reshape(2, 5, h, 4).transpose(1, 2).reshape(2 * h, 5, 4),
)
def split_heads(X: Tensor, num_heads: int) -> Tensor:
    batch, tokens, num_hiddens = X.shape
    X = X.reshape(batch, tokens, num_heads, num_hiddens // num_heads)
    return X.transpose(1, 2)  # (batch, heads, tokens, head_dim)
