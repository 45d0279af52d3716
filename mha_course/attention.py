"""Attention: scaled dot-product, additive and multi-head.

All three classes are called alike: ``forward`` checks its arguments, hides the padding, projects keys and
values and attends. ``project`` and ``attend`` are its last two steps, for a decoder that asks the same keys
again at every step: it projects them once and attends as often as it likes.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.checks import check_attention, check_dropout, check_multi_head, check_size, check_split
from mha_course.masking import attention_mask, clean_padding, masked_softmax

__all__ = (
    "AdditiveAttention", "DotProductAttention", "MultiHeadAttention", "join_heads", "scaled_dot_product",
    "split_heads", "transpose_output", "transpose_qkv",
)


def split_heads(X: Tensor, num_heads: int) -> Tensor:
    """Split the features among the heads.

    Parameters
    ----------
    X : Tensor, shape (batch, n, num_hiddens)
    num_heads : int
        Number of heads; divides num_hiddens.

    Returns
    -------
    Tensor, shape (batch, num_heads, n, head_dim), where head_dim is num_hiddens / num_heads
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
    """Split the features among the heads and fold the heads into the batch.

    Parameters
    ----------
    X : Tensor, shape (batch, n, num_hiddens)
    num_heads : int
        Number of heads; divides num_hiddens.

    Returns
    -------
    Tensor, shape (batch · num_heads, n, num_hiddens / num_heads)

    Raises
    ------
    TypeError, ValueError
        `X` of another type or shape, or heads that do not divide its features.
    """
    check_split(X, ("batch", "n", "num_hiddens"), 2, num_heads)
    return split_heads(X, num_heads).flatten(0, 1)  # (batch · heads, n, head_dim)


def transpose_output(X: Tensor, num_heads: int) -> Tensor:
    """Undo `transpose_qkv`.

    Parameters
    ----------
    X : Tensor, shape (batch · num_heads, n, head_dim)
    num_heads : int
        Number of heads; divides the first axis.

    Returns
    -------
    Tensor, shape (batch, n, num_heads · head_dim)

    Raises
    ------
    TypeError, ValueError
        `X` of another type or shape, or heads that do not divide its first axis.
    """
    check_split(X, ("batch · num_heads", "n", "head_dim"), 0, num_heads)
    folded, n, head_dim = X.shape
    return join_heads(X.reshape(folded // num_heads, num_heads, n, head_dim))  # (batch, n, hiddens)


def scaled_dot_product(
    queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, dropout: float, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    r"""Attend with the scores :math:`QK^\top / \sqrt{d}`.

    Without weights PyTorch's fused kernels compute the same. At dropout 0 they store no (queries, keys)
    matrix; with dropout a CPU stores one.

    Parameters
    ----------
    queries, keys, values : Tensor, shapes (..., queries, d), (..., keys, d), (..., keys, value_size)
    allowed : Tensor of booleans, broadcastable to (..., queries, keys), or None
        True where a query may attend; None where all may.
    dropout : float
        Share of the weights set to 0; 0 outside training.
    need_weights : bool
        Return the weights too.

    Returns
    -------
    output : Tensor, shape (..., queries, value_size)
    weights : Tensor, shape (..., queries, keys), before dropout; None unless asked for

    Raises
    ------
    TypeError, ValueError
        `allowed` of another type or shape, where weights are asked for. Nothing else is checked.

    References
    ----------
    Vaswani et al. (2017), equation 1.
    """
    if not need_weights:
        return F.scaled_dot_product_attention(queries, keys, values, allowed, dropout), None
    scores = queries / math.sqrt(queries.shape[-1]) @ keys.transpose(-2, -1)  # (..., queries, keys)
    weights = masked_softmax(scores, mask=allowed, inplace=True)
    return F.dropout(weights, dropout) @ values, weights  # (..., queries, value_size)


class DotProductAttention(nn.Module):
    """Scaled dot-product attention.

    Parameters
    ----------
    dropout : float
        Share of the weights set to 0 in training, from 0 to 1.

    Raises
    ------
    TypeError, ValueError
        A dropout that is no number from 0 to 1.

    References
    ----------
    Vaswani et al. (2017), equation 1.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        check_dropout(dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None = None,
        *, mask: Tensor | None = None, need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
        """Return for each query the mean of the values, weighted by how well the keys fit it.

        Parameters
        ----------
        queries, keys : Tensor, shapes (batch, queries, d), (batch, keys, d)
        values : Tensor, shape (batch, keys, value_size)
        valid_lens : Tensor of integers, shape (batch,) or (batch, queries), optional
            How many of the first keys may be attended to.
        mask : Tensor of booleans, broadcastable to (batch, queries, keys), optional
            True where a query may attend.
        need_weights : bool
            Return the weights too.

        Returns
        -------
        output : Tensor, shape (batch, queries, value_size); 0 for a query that may attend to nothing
        weights : Tensor, shape (batch, queries, keys), before dropout; only if asked for

        Raises
        ------
        TypeError, ValueError
            An argument of a wrong type or shape; the message names it.
        """
        check_attention(queries, keys, values, need_weights)
        shape = (*queries.shape[:2], keys.shape[1])
        allowed = attention_mask(valid_lens, mask, shape, queries.device)
        keys, values = clean_padding(keys, values, allowed)
        return self.attend(queries, *self.project(keys, values), allowed, need_weights)

    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values as they are: dot products have no projections.

        Parameters
        ----------
        keys, values : Tensor, shapes (batch, keys, d), (batch, keys, value_size)

        Returns
        -------
        keys, values : Tensor, the same
        """
        return keys, values

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend to what `project` returned.

        Parameters
        ----------
        queries, keys : Tensor, shapes (batch, queries, d), (batch, keys, d)
        values : Tensor, shape (batch, keys, value_size)
        allowed : Tensor of booleans with 3 axes, broadcastable to (batch, queries, keys), or None
            True where a query may attend; None where all may.
        need_weights : bool
            Return the weights too.

        Returns
        -------
        output : Tensor, shape (batch, queries, value_size)
        weights : Tensor, shape (batch, queries, keys), before dropout; only if asked for

        Raises
        ------
        TypeError, ValueError
            As in `scaled_dot_product`.
        """
        dropout = self.dropout.p if self.training else 0.0
        allowed = None if allowed is None else allowed.unsqueeze(1)
        queries, keys, values = (X.unsqueeze(1) for X in (queries, keys, values))  # (batch, 1, n, features)
        output, weights = scaled_dot_product(queries, keys, values, allowed, dropout, need_weights)
        return output.squeeze(1) if weights is None else (output.squeeze(1), weights.squeeze(1))


class AdditiveAttention(nn.Module):
    r"""Additive attention: the scores are :math:`w_v^\top \tanh(W_q q + W_k k)`.

    Parameters
    ----------
    num_hiddens : int
        Size of the hidden layer that scores.
    dropout : float
        Share of the weights set to 0 in training, from 0 to 1.
    query_size, key_size : int, optional
        Features of queries and keys; `num_hiddens` where not given.

    Raises
    ------
    TypeError, ValueError
        Sizes below 1, or a dropout that is no number from 0 to 1.

    References
    ----------
    Bahdanau et al. (2015), appendix A.1.2.
    """

    def __init__(
        self, num_hiddens: int, dropout: float = 0.0,
        *, query_size: int | None = None, key_size: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_size("num_hiddens", num_hiddens)
        check_dropout(dropout)
        self.W_q = projection("query_size", query_size, num_hiddens, bias=False)
        self.W_k = projection("key_size", key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None = None,
        *, mask: Tensor | None = None, need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
        """Return for each query the mean of the values, weighted by how well the keys fit it.

        Parameters
        ----------
        queries, keys : Tensor, shapes (batch, queries, query_size), (batch, keys, key_size)
        values : Tensor, shape (batch, keys, value_size)
        valid_lens, mask, need_weights
            As in `DotProductAttention.forward`.

        Returns
        -------
        output : Tensor, shape (batch, queries, value_size); 0 for a query that may attend to nothing
        weights : Tensor, shape (batch, queries, keys), before dropout; only if asked for

        Raises
        ------
        TypeError, ValueError
            An argument of a wrong type or shape; the message names it.
        """
        check_attention(queries, keys, values, need_weights, self.W_q, self.W_k)
        shape = (*queries.shape[:2], keys.shape[1])
        allowed = attention_mask(valid_lens, mask, shape, queries.device)
        keys, values = clean_padding(keys, values, allowed)
        return self.attend(queries, *self.project(keys, values), allowed, need_weights)

    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Project the keys, and return the values as they are.

        Parameters
        ----------
        keys, values : Tensor, shapes (batch, keys, key_size), (batch, keys, value_size)

        Returns
        -------
        keys : Tensor, shape (batch, keys, num_hiddens)
        values : Tensor, the same
        """
        return self.W_k(keys), values

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend to what `project` returned.

        Parameters
        ----------
        queries, keys : Tensor, shapes (batch, queries, query_size), (batch, keys, num_hiddens)
        values : Tensor, shape (batch, keys, value_size)
        allowed : Tensor of booleans, broadcastable to (batch, queries, keys), or None
            True where a query may attend; None where all may.
        need_weights : bool
            Return the weights too.

        Returns
        -------
        output : Tensor, shape (batch, queries, value_size)
        weights : Tensor, shape (batch, queries, keys), before dropout; only if asked for

        Raises
        ------
        TypeError, ValueError
            `allowed` of another type or shape. Nothing else is checked.
        """
        queries = self.W_q(queries).unsqueeze(2)  # (batch, queries, 1, hiddens)
        hidden = torch.tanh(queries + keys.unsqueeze(1))  # (batch, queries, keys, hiddens)
        scores = self.w_v(hidden).squeeze(-1)  # (batch, queries, keys)
        weights = masked_softmax(scores, mask=allowed)
        output = self.dropout(weights) @ values  # (batch, queries, value_size)
        return (output, weights) if need_weights else output


class MultiHeadAttention(nn.Module):
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

    Raises
    ------
    TypeError, ValueError
        Sizes below 1, heads that do not divide `num_hiddens`, a dropout that is no number from 0 to 1, or
        more than four arguments by position, as D2L 0.17 gives them: the message says how to write them.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(
        self, num_hiddens: int, num_heads: int, dropout: float = 0.0, bias: bool = False, *d2l_order: object,
        query_size: int | None = None, key_size: int | None = None, value_size: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_multi_head(num_hiddens, num_heads, dropout, bias, d2l_order)
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = projection("query_size", query_size, num_hiddens, bias)
        self.W_k = projection("key_size", key_size, num_hiddens, bias)
        self.W_v = projection("value_size", value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None = None,
        *, mask: Tensor | None = None, need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
        """Attend with every head, and join what they return.

        Parameters
        ----------
        queries, keys : Tensor, shapes (batch, queries, query_size), (batch, keys, key_size)
        values : Tensor, shape (batch, keys, value_size)
        valid_lens : Tensor of integers, shape (batch,) or (batch, queries), optional
            How many of the first keys may be attended to.
        mask : Tensor of booleans, broadcastable to (batch, heads, queries, keys), optional
            True where a query may attend.
        need_weights : bool
            Return the weights too.

        Returns
        -------
        output : Tensor, shape (batch, queries, num_hiddens)
            For a query that may attend to nothing it is the bias of W_o, or 0.
        weights : Tensor, shape (batch, heads, queries, keys), before dropout; only if asked for

        Raises
        ------
        TypeError, ValueError
            An argument of a wrong type or shape; the message names it.
        """
        check_attention(queries, keys, values, need_weights, self.W_q, self.W_k, self.W_v)
        shape = (queries.shape[0], self.num_heads, queries.shape[1], keys.shape[1])
        allowed = attention_mask(valid_lens, mask, shape, queries.device)
        keys, values = clean_padding(keys, values, allowed)
        return self.attend(queries, *self.project(keys, values), allowed, need_weights)

    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Project keys and values and split them among the heads.

        Parameters
        ----------
        keys, values : Tensor, shapes (batch, keys, key_size), (batch, keys, value_size)

        Returns
        -------
        keys, values : Tensor, shape (batch, heads, keys, head_dim) each
        """
        return split_heads(self.W_k(keys), self.num_heads), split_heads(self.W_v(values), self.num_heads)

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend to what `project` returned.

        Parameters
        ----------
        queries : Tensor, shape (batch, queries, query_size)
        keys, values : Tensor, shape (batch, heads, keys, head_dim) each
        allowed : Tensor of booleans, broadcastable to (batch, heads, queries, keys), or None
            True where a query may attend; None where all may.
        need_weights : bool
            Return the weights too.

        Returns
        -------
        output : Tensor, shape (batch, queries, num_hiddens)
        weights : Tensor, shape (batch, heads, queries, keys), before dropout; only if asked for

        Raises
        ------
        TypeError, ValueError
            As in `scaled_dot_product`.
        """
        queries = split_heads(self.W_q(queries), self.num_heads)  # (batch, heads, queries, head_dim)
        dropout = self.dropout.p if self.training else 0.0
        output, weights = scaled_dot_product(queries, keys, values, allowed, dropout, need_weights)
        output = self.W_o(join_heads(output))  # (batch, queries, hiddens)
        return output if weights is None else (output, weights)


def projection(name: str, size: int | None, num_hiddens: int, bias: bool) -> nn.Linear:
    """Make the projection of queries, keys or values; `size` features, or `num_hiddens` where None."""
    size = num_hiddens if size is None else size
    check_size(name, size)
    return nn.Linear(size, num_hiddens, bias=bias)
