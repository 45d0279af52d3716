"""Which keys a query may attend to: lengths, masks, and a softmax that knows them.

A mask is boolean, True where a query may attend, as in `F.scaled_dot_product_attention`.
"""

import torch
from torch import Tensor

from mha_course.checks import check_flag, check_integers, check_mask, check_range, check_size, check_tensor

__all__ = ("attention_mask", "causal_mask", "clean_padding", "length_mask", "masked_softmax")


def length_mask(valid_lens: Tensor, max_len: int) -> Tensor:
    """Turn lengths into a mask: True at the first `valid_lens` of `max_len` positions.

    Parameters
    ----------
    valid_lens : Tensor of integers, any shape (...)
        Numbers of valid positions, from 0 to `max_len`. Their values are not checked while compiling, and
        cannot be under `vmap`, which goes with masks.
    max_len : int
        Number of positions.

    Returns
    -------
    Tensor of booleans, shape (..., max_len)

    Raises
    ------
    TypeError, ValueError
        Lengths that are no integers, below 0 or above `max_len`.
    """
    check_integers("valid_lens", valid_lens)
    check_size("max_len", max_len, least=0)
    check_range("valid_lens", valid_lens, max_len)
    return torch.arange(max_len, device=valid_lens.device) < valid_lens.unsqueeze(-1)  # (..., max_len)


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """Let each of `n` positions attend to itself and to those before it.

    Parameters
    ----------
    n : int
        Number of positions.
    device : torch.device or str, optional
        Where to make the mask; the CPU by default.

    Returns
    -------
    Tensor of booleans, shape (n, n): (queries, keys)

    Raises
    ------
    TypeError, ValueError
        An `n` that is no integer of at least 0.
    """
    check_size("n", n, least=0)
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def attention_mask(
    valid_lens: Tensor | None, mask: Tensor | None, shape: tuple[int, ...], device: torch.device
) -> Tensor | None:
    """Join lengths and mask into one mask for scores of a shape.

    Parameters
    ----------
    valid_lens : Tensor of integers, shape (batch,) or (batch, queries), optional
        How many of the first keys may be attended to.
    mask : Tensor of booleans, broadcastable to `shape`, optional
        True where a query may attend.
    shape : tuple of int
        (batch, queries, keys) or (batch, heads, queries, keys).
    device : torch.device
        Where the scores are.

    Returns
    -------
    Tensor of booleans with as many axes as `shape` and broadcastable to it, or None where all is allowed

    Raises
    ------
    TypeError, ValueError
        Lengths or a mask of another type, shape or device, or lengths above the number of keys.
    """
    if mask is not None:
        check_mask(mask, shape, device)
        mask = mask.reshape((1,) * (len(shape) - mask.dim()) + tuple(mask.shape))
    if valid_lens is None:
        return mask
    if len(shape) not in (3, 4):
        raise ValueError(f"scores must have 3 or 4 axes where valid_lens are given, got {tuple(shape)}")
    shapes = {"(batch,)": shape[:1], "(batch, queries)": (shape[0], shape[-2])}
    check_integers("valid_lens", valid_lens, shapes, device)
    within = length_mask(valid_lens, shape[-1])  # (batch, keys) or (batch, queries, keys)
    if valid_lens.dim() == 1:
        within = within.unsqueeze(1)  # (batch, 1, keys)
    if len(shape) == 4:
        within = within.unsqueeze(1)  # (batch, 1, 1 or queries, keys)
    return within if mask is None else within & mask


def clean_padding(keys: Tensor, values: Tensor, allowed: Tensor | None) -> tuple[Tensor, Tensor]:
    """Zero the keys and values that no query may attend to.

    A weight of 0 does not hide a NaN, since 0 · NaN is NaN; and padding that went through a projection
    would reach the gradient of its weights.

    Parameters
    ----------
    keys, values : Tensor, shapes (batch, keys, key_size), (batch, keys, value_size)
    allowed : Tensor of booleans or None
        From `attention_mask`: (batch, queries, keys) or (batch, heads, queries, keys); axes may be 1.

    Returns
    -------
    keys, values : Tensor, of the same shapes; what was given is left as it is
    """
    if allowed is None:
        return keys, values
    attended = allowed.flatten(1, -2).any(1).unsqueeze(-1)  # (batch, keys, 1)
    return keys.where(attended, 0), values.where(attended, 0)


def masked_softmax(
    scores: Tensor, valid_lens: Tensor | None = None, mask: Tensor | None = None, *, inplace: bool = False
) -> Tensor:
    """Softmax over the keys that a query may attend to; all other weights are exactly 0.

    A row that may attend to nothing gets weights of 0, and no gradient.

    Parameters
    ----------
    scores : Tensor, shape (batch, queries, keys) or (batch, heads, queries, keys)
    valid_lens : Tensor of integers, shape (batch,) or (batch, queries), optional
        How many of the first keys may be attended to.
    mask : Tensor of booleans, broadcastable to the scores, optional
        True where a query may attend.
    inplace : bool
        Allow to write into `scores`, which then must be finite and not a leaf that needs a gradient. On a CPU
        this saves a copy of them.

    Returns
    -------
    Tensor like `scores`; rows sum to 1, or to 0 where nothing is allowed

    Raises
    ------
    TypeError, ValueError
        Scores that are no floating-point numbers; lengths or a mask as in `attention_mask`; `inplace` that is
        neither True nor False.
    """
    check_tensor("scores", scores)
    check_flag("inplace", inplace)
    allowed = attention_mask(valid_lens, mask, tuple(scores.shape), scores.device)
    if allowed is None:
        return scores.softmax(-1)
    nothing = ~allowed.any(-1, keepdim=True)  # rows that may attend to nothing
    # Where no row is empty, −∞ can be added: no copy of the scores, and nothing to do on the way back.
    if inplace and not any_true(nothing):
        return scores.add_(torch.where(allowed, 0.0, float("-inf"))).softmax(-1)
    # −∞ for what is not allowed, but 0 in rows of nothing else: a softmax of −∞ alone is NaN.
    fill = torch.zeros_like(nothing, dtype=scores.dtype).masked_fill(~nothing, float("-inf"))
    return torch.where(allowed, scores, fill).softmax(-1).masked_fill(nothing, 0.0)


def any_true(flags: Tensor) -> bool:
    """Whether any is True, or might be: on a GPU, while compiling or tracing, and under vmap none is read."""
    tracing = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    try:
        return torch.compiler.is_compiling() or tracing or not flags.is_cpu or bool(flags.any())
    except RuntimeError:  # under vmap
        return True
