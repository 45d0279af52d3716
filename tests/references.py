"""Other implementations of attention: D2L 1.0.3 itself, and stand-ins for two that have no package."""

import math
import sys
import types

import torch
from torch import nn


def import_d2l():
    """Import d2l, which imports torchvision; its attention classes use nothing of it."""
    try:
        import torchvision
    except (ImportError, RuntimeError):  # missing, or built for another torch
        torchvision = types.ModuleType("torchvision")
        torchvision.transforms = types.ModuleType("torchvision.transforms")
        sys.modules.setdefault("torchvision", torchvision)
        sys.modules.setdefault("torchvision.transforms", torchvision.transforms)
    from d2l import torch as d2l

    return d2l


class EagerAttention(nn.Module):
    """D2L 0.17's order of arguments and names of layers: sizes first, no lazy layers."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = import_d2l().DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)


class MultiHeadedAttention(nn.Module):
    """The Annotated Transformer's arguments and names: four `linears`, the last one for the output."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        to_q, to_k, to_v, to_output = self.linears
        heads = []
        for head in range(self.h):
            part = slice(head * self.d_k, (head + 1) * self.d_k)
            Q, K, V = to_q(query)[..., part], to_k(key)[..., part], to_v(value)[..., part]
            scores = Q @ K.transpose(1, 2) / math.sqrt(self.d_k)
            if mask is not None:
                scores = scores.masked_fill(mask == 0, -1e9)
            heads.append(self.dropout(scores.softmax(-1)) @ V)
        return to_output(torch.cat(heads, dim=-1))
