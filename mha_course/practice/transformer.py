"""The turns of the chapter on the Transformer."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mha_course.practice.turn import numbers, turn


def mixing(X: Tensor) -> Tensor:
    """Replace attention: average each token with those before it."""
    return X.cumsum(0) / torch.arange(1, len(X) + 1)[:, None]


def processing(X: Tensor) -> Tensor:
    """Replace the feed-forward network: change each token by itself."""
    return 2 * X.relu() - 1


def normalized(X: Tensor) -> Tensor:
    """Replace layer normalization, without its parameters."""
    return F.layer_norm(X, X.shape[-1:])


@turn(
    (3 * numbers(0, 4, 5), mixing, processing, normalized),
    norm_last=lambda X, mha, ffn, ln: ln((Y := ln(X + mha(X))) + ffn(Y)),
    no_residual=lambda X, mha, ffn, ln: ffn(ln(mha(ln(X)))),
    residual_normed=lambda X, mha, ffn, ln: ln(Y := ln(X) + mha(ln(X))) + ffn(ln(Y)),
    side_by_side=lambda X, mha, ffn, ln: X + mha(ln(X)) + ffn(ln(X)),
    one_norm=lambda X, mha, ffn, ln: (Y := X + mha(ln(X))) + ffn(Y),
)
def block(X: Tensor, mha: Any, ffn: Any, ln: Any) -> Tensor:
    Y = X + mha(ln(X))  # (tokens, num_hiddens)
    Z: Tensor = Y + ffn(ln(Y))
    return Z


def pairs(steps: int, d: int, power: float = 2) -> tuple[Tensor, Tensor]:
    """Return the sines and cosines of the angles of each position."""
    angles = torch.arange(steps)[:, None] / 10000 ** (power * torch.arange(d // 2) / d)
    return angles.sin(), angles.cos()


@turn(
    (7, 6),
    interleaved=lambda steps, d: torch.stack(pairs(steps, d), -1).flatten(1),
    cosines_first=lambda steps, d: torch.cat(pairs(steps, d)[::-1], -1),
    half_the_power=lambda steps, d: torch.cat(pairs(steps, d, 1), -1),
    multiplied=lambda steps, d: torch.cat(pairs(steps, d, -2), -1),
)
def sines_first(steps: int, d: int) -> Tensor:
    positions = torch.arange(steps).unsqueeze(1)  # (steps, 1)
    frequencies = 10000 ** (-2 * torch.arange(d // 2) / d)  # (d / 2,)
    angles = positions * frequencies  # (steps, d / 2)
    return torch.cat((angles.sin(), angles.cos()), dim=1)
