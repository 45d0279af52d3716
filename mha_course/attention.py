"""Attention: scaled dot-product, additive and multi-head.

All three share the signature of `Attention.forward`. Its last two steps, ``project`` and ``attend``, can also
be called separately: a decoder that reads the same keys at every step projects them once and attends many
times. These two do not check their arguments. In ``forward`` a wrong argument raises a TypeError or a
ValueError that names it, or PyTorch's RuntimeError if types or devices differ.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.checks import (
    check_attention,
    check_divisible,
    check_dropout,
    check_flag,
    check_sizes,
    check_tensor,
)
from mha_course.masking import (
    at_least_float32,
    attention_mask,
    clean_padding,
    masked_softmax,
    resolve_causal,
)

__all__ = (
    "AdditiveAttention", "Attention", "DotProductAttention", "MultiHeadAttention", "join_heads",
    "scaled_dot_product", "split_heads", "transpose_output", "transpose_qkv",
)  # fmt: skip


def split_heads(X: Tensor, num_heads: int) -> Tensor:
    """Split features among heads: (batch, n, num_hiddens) becomes (batch, num_heads, n, head_dim).

    Parameters
    ----------
    X : Tensor, shape (batch, n, num_hiddens)
    num_heads : int
        Divides num_hiddens.

    Returns
    -------
    Tensor, shape (batch, num_heads, n, num_hiddens / num_heads)
    """
    batch, n, num_hiddens = X.shape
    X = X.reshape(batch, n, num_heads, num_hiddens // num_heads)  # (batch, n, heads, head_dim)
    return X.transpose(1, 2)  # (batch, heads, n, head_dim)


def join_heads(X: Tensor) -> Tensor:
    """Undo `split_heads`.

    Parameters
    ----------
    X : Tensor, shape (batch, num_heads, n, head_dim)

    Returns
    -------
    Tensor, shape (batch, n, num_heads · head_dim)
    """
    return X.transpose(1, 2).flatten(2)  # (batch, n, hiddens)


def transpose_qkv(X: Tensor, num_heads: int) -> Tensor:
    """Split features among heads and fold the heads into the batch.

    Parameters
    ----------
    X : Tensor, shape (batch, n, num_hiddens)
    num_heads : int
        Divides num_hiddens.

    Returns
    -------
    Tensor, shape (batch · num_heads, n, num_hiddens / num_heads)

    Examples
    --------
    >>> transpose_qkv(torch.zeros(2, 4, 100), 5).shape
    torch.Size([10, 4, 20])
    """
    check_tensor("X", X, batch=None, n=None, num_hiddens=None)
    check_divisible("num_hiddens", X.shape[2], num_heads=num_heads)
    return split_heads(X, num_heads).flatten(0, 1)  # (batch · heads, n, head_dim)


def transpose_output(X: Tensor, num_heads: int) -> Tensor:
    """Undo `transpose_qkv`.

    Parameters
    ----------
    X : Tensor, shape (batch · num_heads, n, head_dim)
    num_heads : int
        Divides the first axis.

    Returns
    -------
    Tensor, shape (batch, n, num_heads · head_dim)
    """
    check_tensor("X", X, rows=None, n=None, head_dim=None)
    check_divisible("rows", len(X), num_heads=num_heads)
    folded, n, head_dim = X.shape
    return join_heads(X.reshape(folded // num_heads, num_heads, n, head_dim))  # (batch, n, hiddens)


def scaled_dot_product(
    queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, dropout: float, need_weights: bool,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    r"""Attend with the scores :math:`QK^\top / \sqrt{d}`.

    Without weights PyTorch's fused kernels compute the same. At dropout 0 they store no (queries, keys)
    matrix; with dropout a CPU stores one.

    Parameters
    ----------
    queries, keys, values : Tensor, shapes (..., queries, d), (..., keys, d), (..., keys, value_size)
    allowed : Tensor of booleans, broadcastable to (..., queries, keys), or None
    dropout : float
        Share of the weights set to 0; 0 outside training.
    need_weights : bool
    is_causal : bool
        No query may attend to a later position. The queries are at the last positions, so the last query may
        attend to every key; `F.scaled_dot_product_attention` aligns the first ones instead.

    Returns
    -------
    output : Tensor, shape (..., queries, value_size)
    weights : Tensor, shape (..., queries, keys), before dropout; or None

    References
    ----------
    Vaswani et al. (2017), equation 1.
    """
    allowed, is_causal = resolve_causal(allowed, is_causal, queries, keys, need_weights)
    if not need_weights:
        return F.scaled_dot_product_attention(queries, keys, values, allowed, dropout, is_causal), None
    # A score may overflow in half precision.
    scores = at_least_float32(queries) / math.sqrt(queries.shape[-1]) @ at_least_float32(keys).mT
    weights = masked_softmax(scores, mask=allowed).to(queries.dtype)  # (..., queries, keys)
    return F.dropout(weights, dropout) @ values, weights  # (..., queries, value_size)


class Attention(nn.Module):
    """Base class of all attentions: their common signature, and the handling of padding."""

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None = None,
        *, mask: Tensor | None = None, is_causal: bool = False, need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
        """Return for each query the mean of the values, weighted by how well the keys fit it.

        A query that may attend to nothing gets 0; from multi-head attention the bias of W_o, if there is one.

        Parameters
        ----------
        queries, keys : Tensor, shapes (batch, queries, query_size), (batch, keys, key_size)
        values : Tensor, shape (batch, keys, value_size)
        valid_lens : Tensor of integers, shape (batch,) or (batch, queries), optional
            How many of the first keys may be attended to.
        mask : Tensor of booleans, broadcastable to the weights, optional
            True where a query may attend.
        is_causal : bool
            No query may attend to a later position. If there are fewer queries than keys, the queries are at
            the last positions, so the last query may attend to every key.
        need_weights : bool
            Return the weights too.

        Returns
        -------
        output : Tensor, shape (batch, queries, value_size or num_hiddens)
        weights : Tensor, shape (batch, queries, keys) or (batch, heads, queries, keys)
            Before dropout; only if asked for.
        """
        check_attention(self, queries, keys, values, need_weights, is_causal)
        allowed = attention_mask(valid_lens, mask, self.scores_shape(queries, keys), is_causal)
        keys, values = clean_padding(keys, values, allowed)
        output, weights = self.attend(queries, *self.project(keys, values), allowed, need_weights, is_causal)
        return output if weights is None else (output, weights)

    def scores_shape(self, queries: Tensor, keys: Tensor) -> tuple[int, ...]:
        """Return the shape of the scores: (batch, queries, keys)."""
        return (*queries.shape[:2], keys.shape[1])

    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Project keys and values (batch, keys, …); here they stay as they are."""
        return keys, values

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """Attend to what `project` returned, where `allowed` and `is_causal` let it; weights or None."""
        raise NotImplementedError


class DotProductAttention(Attention):
    """Scaled dot-product attention.

    Parameters
    ----------
    dropout : float
        Share of the weights set to 0 in training, from 0 to 1.

    References
    ----------
    Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> queries, keys = torch.zeros(1, 1, 2), torch.ones(1, 3, 2)
    >>> values = torch.tensor([[[1.0], [3.0], [9.0]]])
    >>> DotProductAttention()(queries, keys, values, torch.tensor([2]))
    tensor([[[2.]]])
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        check_dropout(dropout)
        self.dropout = nn.Dropout(dropout)

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """Attend with one head, since the fused kernels want an axis of heads."""
        dropout = self.dropout.p if self.training else 0.0
        allowed = None if allowed is None else allowed.unsqueeze(1)
        queries, keys, values = (X.unsqueeze(1) for X in (queries, keys, values))  # (batch, 1, n, features)
        output, weights = scaled_dot_product(queries, keys, values, allowed, dropout, need_weights, is_causal)
        return output.squeeze(1), None if weights is None else weights.squeeze(1)


class AdditiveAttention(Attention):
    r"""Additive attention: the scores are :math:`w_v^\top \tanh(W_q q + W_k k)`.

    Parameters
    ----------
    num_hiddens : int
        Size of the hidden layer that scores.
    dropout : float
        Share of the weights set to 0 in training, from 0 to 1.
    query_size, key_size : int, optional
        Features of queries and keys; `num_hiddens` where not given.

    References
    ----------
    Bahdanau et al. (2015), appendix A.1.2.

    Examples
    --------
    >>> attention = AdditiveAttention(8, query_size=3, key_size=4)
    >>> queries, keys, values = torch.randn(2, 5, 3), torch.randn(2, 6, 4), torch.randn(2, 6, 7)
    >>> output, weights = attention(queries, keys, values, need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 7]), torch.Size([2, 5, 6]))
    """

    def __init__(
        self, num_hiddens: int, dropout: float = 0.0,
        *, query_size: int | None = None, key_size: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(num_hiddens=num_hiddens, query_size=query_size, key_size=key_size)
        check_dropout(dropout)
        self.W_q = nn.Linear(query_size or num_hiddens, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size or num_hiddens, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Project the keys to (batch, keys, num_hiddens); the values stay as they are."""
        return self.W_k(keys), values

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """Compare every query with every projected key."""
        allowed, _ = resolve_causal(allowed, is_causal, queries, keys, need_weights=True)
        queries = self.W_q(queries).unsqueeze(2)  # (batch, queries, 1, hiddens)
        hidden = torch.tanh(queries + keys.unsqueeze(1))  # (batch, queries, keys, hiddens)
        scores = self.w_v(hidden).squeeze(-1)  # (batch, queries, keys)
        weights = masked_softmax(scores, mask=allowed)
        output = self.dropout(weights) @ values  # (batch, queries, value_size)
        return output, weights if need_weights else None


class MultiHeadAttention(Attention):
    """Multi-head attention.

    Parameters
    ----------
    num_hiddens : int
        Features of all heads together, and of the output.
    num_heads : int
        Number of heads; divides `num_hiddens`.
    dropout : float
        Share of the weights set to 0 in training, from 0 to 1.
    bias : bool
        Whether the four projections have biases.
    query_size, key_size, value_size : int, optional
        Features of queries, keys and values; `num_hiddens` where not given.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.

    Examples
    --------
    >>> X = torch.randn(2, 4, 100)
    >>> output, weights = MultiHeadAttention(100, 5)(X, X, X, torch.tensor([3, 2]), need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([2, 4, 100]), torch.Size([2, 5, 4, 4]))
    """

    def __init__(
        self, num_hiddens: int, num_heads: int, dropout: float = 0.0, bias: bool = False,
        *, query_size: int | None = None, key_size: int | None = None, value_size: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(num_hiddens=num_hiddens, query_size=query_size, key_size=key_size, value_size=value_size)
        check_divisible("num_hiddens", num_hiddens, num_heads=num_heads)
        check_dropout(dropout)
        check_flag("bias", bias)
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(query_size or num_hiddens, num_hiddens, bias)
        self.W_k = nn.Linear(key_size or num_hiddens, num_hiddens, bias)
        self.W_v = nn.Linear(value_size or num_hiddens, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def scores_shape(self, queries: Tensor, keys: Tensor) -> tuple[int, ...]:
        """Return the shape of the scores: (batch, heads, queries, keys)."""
        return (queries.shape[0], self.num_heads, queries.shape[1], keys.shape[1])

    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Project keys and values and split them among the heads: (batch, heads, keys, head_dim) each."""
        return split_heads(self.W_k(keys), self.num_heads), split_heads(self.W_v(values), self.num_heads)

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """Attend with every head, and join what they return."""
        queries = split_heads(self.W_q(queries), self.num_heads)  # (batch, heads, queries, head_dim)
        dropout = self.dropout.p if self.training else 0.0
        output, weights = scaled_dot_product(queries, keys, values, allowed, dropout, need_weights, is_causal)
        return self.W_o(join_heads(output)), weights  # (batch, queries, hiddens)
