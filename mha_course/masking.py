"""Length masks, boolean masks, and a masked softmax.

A mask is boolean, True where a query may attend, as in `F.scaled_dot_product_attention`. Lengths are integers
from 0 to the number of keys; their range is checked on a CPU only, and not while compiling. Under
``torch.vmap``, where nothing can be checked by its value, give a mask. A wrong argument raises a TypeError or
a ValueError that names it.
"""

import torch
from torch import Tensor

from mha_course.checks import (
    check_integers,
    check_mask,
    check_range,
    check_scores_lens,
    check_sizes,
    check_tensor,
)

__all__ = (
    "at_least_float32", "attention_mask", "causal_mask", "clean_padding", "length_mask", "masked_softmax",
    "resolve_causal",
)  # fmt: skip


def length_mask(valid_lens: Tensor, max_len: int) -> Tensor:
    """Turn lengths of any shape (...) into a mask (..., max_len): True at the first positions.

    Parameters
    ----------
    valid_lens : Tensor of integers
    max_len : int

    Returns
    -------
    Tensor of booleans

    Examples
    --------
    >>> length_mask(torch.tensor([1, 3]), 3)
    tensor([[ True, False, False],
            [ True,  True,  True]])
    """
    check_integers("valid_lens", valid_lens)
    check_sizes(max_len=max_len, least=0)
    check_range("valid_lens", valid_lens, max_len)
    return torch.arange(max_len, device=valid_lens.device) < valid_lens.unsqueeze(-1)  # (..., max_len)


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """Let each of `n` positions attend to itself and to those before it.

    Parameters
    ----------
    n : int
    device : torch.device or str, optional

    Returns
    -------
    Tensor of booleans, shape (queries, keys) = (n, n)

    Examples
    --------
    >>> causal_mask(2)
    tensor([[ True, False],
            [ True,  True]])
    """
    check_sizes(n=n, least=0)
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def join_causal(
    allowed: Tensor | None, num_queries: int, num_keys: int, device: torch.device | None = None
) -> Tensor | None:
    """Restrict a mask so that no query attends to a later position.

    The queries are at the last positions: the last query may attend to every key (bottom right corner).

    Parameters
    ----------
    allowed : Tensor of booleans, broadcastable to (..., queries, keys), or None
    num_queries, num_keys : int
        At most as many queries as keys.
    device : torch.device, optional

    Returns
    -------
    Tensor of booleans, broadcastable to (..., queries, keys), or None where all is allowed

    Examples
    --------
    >>> join_causal(None, 2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    if num_queries == 1:  # it is the last position, which may attend to all
        return allowed
    causal = causal_mask(num_keys, device)[num_keys - num_queries :]  # (queries, keys)
    return causal if allowed is None else allowed & causal


def at_least_float32(X: Tensor) -> Tensor:
    """Return floating-point numbers in float32, or in float64 if that is their type."""
    return X.to(torch.promote_types(X.dtype, torch.float32))


def resolve_causal(
    allowed: Tensor | None, is_causal: bool, queries: Tensor, keys: Tensor, need_weights: bool
) -> tuple[Tensor | None, bool]:
    """Return the mask and the flag `is_causal` to give to `F.scaled_dot_product_attention`.

    That function can apply the causal mask itself, in half the time, if there is no other mask and as many
    queries as keys, since it aligns the first positions. In all other cases the mask holds causality.

    Parameters
    ----------
    allowed : Tensor of booleans, broadcastable to (..., queries, keys), or None
    is_causal : bool
        No query may attend to a later position. The queries are at the last positions, so the last query may
        attend to every key (bottom right corners).
    queries, keys : Tensor, shapes (..., queries, d), (..., keys, d)
    need_weights : bool
        The weights are wanted, so PyTorch's function is not called.

    Returns
    -------
    allowed : Tensor of booleans, or None
    is_causal : bool
    """
    num_queries, num_keys = queries.shape[-2], keys.shape[-2]
    if is_causal and allowed is None and num_queries == num_keys and not need_weights:
        return None, True
    if is_causal:
        allowed = join_causal(allowed, num_queries, num_keys, keys.device)
    return allowed, False


def attention_mask(
    valid_lens: Tensor | None, mask: Tensor | None, shape: tuple[int, ...], is_causal: bool = False
) -> Tensor | None:
    """Join lengths, mask and causality into one mask for scores of a shape.

    Without lengths and mask the result is None, even if `is_causal`: the flag alone is enough then.

    Parameters
    ----------
    valid_lens : Tensor of integers, shape (batch,) or (batch, queries), or None
    mask : Tensor of booleans, broadcastable to `shape`, or None
    shape : tuple of int
        (batch, queries, keys) or (batch, heads, queries, keys).
    is_causal : bool
        No query may attend to a later position; see `join_causal`.

    Returns
    -------
    Tensor of booleans with as many axes as `shape` and broadcastable to it, or None
    """
    if mask is not None:
        check_mask(mask, shape)
        mask = mask.reshape((1,) * (len(shape) - mask.dim()) + tuple(mask.shape))
    if valid_lens is not None:
        check_scores_lens(valid_lens, shape)
        within = length_mask(valid_lens, shape[-1])  # (batch, keys) or (batch, queries, keys)
        if valid_lens.dim() == 1:
            within = within.unsqueeze(1)  # (batch, 1, keys)
        if len(shape) == 4:
            within = within.unsqueeze(1)  # (batch, 1, 1 or queries, keys)
        mask = within if mask is None else within & mask
    if is_causal and mask is not None:
        mask = join_causal(mask, shape[-2], shape[-1], mask.device)
    return mask


def clean_padding(keys: Tensor, values: Tensor, allowed: Tensor | None) -> tuple[Tensor, Tensor]:
    """Zero the keys and values that no query may attend to; the tensors given are left as they are.

    A weight of 0 does not hide a NaN, since 0 · NaN is NaN; and padding that went through a projection
    would reach the gradient of its weights.

    Parameters
    ----------
    keys, values : Tensor, shapes (batch, keys, key_size), (batch, keys, value_size)
    allowed : Tensor of booleans, shape (batch, queries, keys) or (batch, heads, queries, keys), or None
        From `attention_mask`; axes may be 1.

    Returns
    -------
    keys, values : Tensor, of the same shapes
    """
    if allowed is None:
        return keys, values
    attended = allowed.flatten(1, -2).any(1).unsqueeze(-1)  # (batch, keys, 1)
    clean_keys = keys.where(attended, 0)
    return clean_keys, clean_keys if values is keys else values.where(attended, 0)


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """Return the softmax over the keys that a query may attend to; all other weights are exactly 0.

    Rows of the result sum to 1. A row that may attend to nothing is 0 and has no gradient.

    Parameters
    ----------
    scores : Tensor, shape (batch, queries, keys) or (batch, heads, queries, keys)
    valid_lens : Tensor of integers, shape (batch,) or (batch, queries), optional
        How many of the first keys may be attended to.
    mask : Tensor of booleans, broadcastable to the scores, optional
        True where a query may attend.

    Returns
    -------
    Tensor like `scores`

    Examples
    --------
    >>> masked_softmax(torch.zeros(2, 1, 4), torch.tensor([2, 0]))
    tensor([[[0.5000, 0.5000, 0.0000, 0.0000]],
    <BLANKLINE>
            [[0.0000, 0.0000, 0.0000, 0.0000]]])
    """
    check_tensor("scores", scores)
    allowed = attention_mask(valid_lens, mask, tuple(scores.shape))
    if allowed is None:
        return scores.softmax(-1)
    lowest = torch.finfo(scores.dtype).min  # finite, since a softmax of −∞ alone is NaN
    return scores.where(allowed, lowest).softmax(-1).where(allowed, 0)
