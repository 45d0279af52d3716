"""The turns of the chapter on one attention under many names."""

import torch
from torch import Tensor

from mha_course.practice.turn import turn

HIDDEN = torch.tensor([[False, False, True], [False, True, True]])


@turn(
    (HIDDEN,),
    inverted=lambda hidden: torch.zeros(2, 1, 1, 3).masked_fill(~hidden[:, None, None], -torch.inf),
    not_a_number=lambda hidden: (hidden * -torch.inf)[:, None, None],
    finite=lambda hidden: hidden[:, None, None] * -1e9,
    boolean=lambda hidden: ~hidden[:, None, None],
    three_axes=lambda hidden: torch.zeros(2, 1, 3).masked_fill(hidden[:, None], -torch.inf),
)
def to_added(hidden: Tensor) -> Tensor:
    zeros = torch.zeros(hidden.shape)  # (batch, keys)
    mask = zeros.masked_fill(hidden, -torch.inf)
    return mask[:, None, None]  # (batch, 1, 1, keys)


@turn(
    (2, 5),
    (1, 4),
    (3, 3),
    upper_left=lambda n, m: torch.ones(n, m).tril() == 1,
    hides=lambda n, m: torch.ones(n, m).tril(m - n) == 0,
    one_less=lambda n, m: torch.ones(n, m).tril(m - n - 1) == 1,
    one_more=lambda n, m: torch.ones(n, m).tril(m - n + 1) == 1,
)
def causal_with_cache(num_queries: int, num_keys: int) -> Tensor:
    seen = num_keys - num_queries + torch.arange(num_queries)  # (queries,)
    return torch.arange(num_keys) <= seen[:, None]  # (queries, keys)
