"""Checks of arguments: a wrong one raises in one line that names it, what was given and what is allowed.

We check only inputs that would fail silently or with an unhelpful PyTorch error. What PyTorch reports clearly
itself is left to it: types and devices that differ, numbers of layers, indices of classes.
"""

import math
from collections.abc import Callable, Collection
from numbers import Integral, Real
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

F = TypeVar("F", bound=Callable[..., None])


def argument_check(function: F) -> F:
    """Mark a check of arguments: pages that show the package's source leave out statements that call it."""
    return function


@argument_check
def check_type(name: str, value: object, kind: type | tuple[type, ...], allowed: str) -> None:
    """Raise unless `value` is an instance of `kind`; `allowed` describes the kind in the message."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {allowed}, got {type(value).__name__}")


@argument_check
def check_flag(name: str, flag: object) -> None:
    """Raise unless `flag` is True or False."""
    check_type(name, flag, bool, "True or False")


@argument_check
def check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    """Raise unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


@argument_check
def check_integer(name: str, number: object) -> None:
    """Raise unless `number` is an integer, Python's or NumPy's."""
    if isinstance(number, bool) or not isinstance(number, (Integral, torch.SymInt)):
        raise TypeError(f"{name} must be an integer, got {number!r}")


@argument_check
def check_sizes(*, least: int = 1, **sizes: int | None) -> None:
    """Raise unless all sizes, which are given by their names, are integers of at least `least`, or None."""
    for name, size in sizes.items():
        if size is not None:
            check_integer(name, size)
            if size < least:
                raise ValueError(f"{name} must be at least {least}, got {size}")


@argument_check
def check_number(name: str, number: Any, low: float = -math.inf, high: float = math.inf) -> None:
    """Raise unless `number` is a real number from `low` to `high`."""
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{name} must be a number, got {number!r:.40}")
    if not low <= float(number) <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, got {number}")


@argument_check
def check_dropout(dropout: float) -> None:
    """Raise unless `dropout` is a probability."""
    check_number("dropout", dropout, 0, 1)


@argument_check
def check_divisible(name: str, size: int, **divisor: int) -> None:
    """Raise unless another number, given by its name, is at least 1 and divides `size`."""
    check_sizes(**divisor)
    for other, number in divisor.items():
        if size % number:
            raise ValueError(f"{name} must be divisible by {other} = {number}, got {size}")


@argument_check
def check_tensor(name: str, tensor: Tensor, **axes: int | None) -> None:
    """Raise unless `tensor` holds floating-point numbers and has these axes, of these sizes; None is any."""
    check_type(name, tensor, Tensor, "a tensor")
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}")
    check_axes(name, tensor, axes)


@argument_check
def check_integers(name: str, tensor: Tensor, **axes: int | None) -> None:
    """Raise unless `tensor` holds integers and has these axes, of these sizes; None is any."""
    check_type(name, tensor, Tensor, "a tensor of integers")
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got {tensor.dtype}")
    check_axes(name, tensor, axes)


@argument_check
def check_axes(name: str, tensor: Tensor, axes: dict[str, int | None]) -> None:
    """Raise unless `tensor` has these axes; where none are given it may have any."""
    sizes = zip(axes.values(), tensor.shape, strict=False)
    fits = tensor.dim() == len(axes) and all(size is None or size == given for size, given in sizes)
    if axes and not fits:
        wanted = ", ".join(axis if size is None else f"{axis} = {size}" for axis, size in axes.items())
        raise ValueError(f"{name} must have the shape ({wanted}), got {tuple(tensor.shape)}")


@argument_check
def check_range(name: str, numbers: Tensor, most: int) -> None:
    """Raise unless integers lie from 0 to `most`.

    The values are read on a CPU only, since on a GPU that would wait for all queued work, and not while
    compiling.
    """
    if torch.compiler.is_compiling() or not numbers.is_cpu or not numbers.numel():
        return
    low, high = (int(number) for number in numbers.aminmax())
    if low < 0 or high > most:
        raise ValueError(f"{name} must lie from 0 to {most}, got {low if low < 0 else high}")


@argument_check
def check_lens(name: str, lens: Tensor, batch: int, most: int) -> None:
    """Raise unless `lens` are integers ``(batch,)`` from 0 to `most`."""
    check_integers(name, lens, batch=batch)
    check_range(name, lens, most)


@argument_check
def check_tokens(name: str, tokens: Tensor, vocab_size: int, least: int = 0) -> None:
    """Raise unless `tokens` are ids ``(batch, steps)`` below `vocab_size`, of at least so many steps."""
    check_integers(name, tokens, batch=None, steps=None)
    check_range(name, tokens, vocab_size - 1)
    if tokens.shape[1] < least:
        raise ValueError(f"{name} must hold at least one step, got {tuple(tokens.shape)}")


@argument_check
def check_scores_lens(valid_lens: Tensor, shape: tuple[int, ...]) -> None:
    """Raise unless there is one length for each batch row of scores of this shape, or for each query."""
    check_integers("valid_lens", valid_lens)
    if len(shape) not in (3, 4):
        raise ValueError(f"scores must have 3 or 4 axes where valid_lens are given, got {shape}")
    rows, queries = shape[:1], (shape[0], shape[-2])
    if tuple(valid_lens.shape) not in (rows, queries):
        allowed = f"(batch,) = {rows} or (batch, queries) = {queries}"
        raise ValueError(f"valid_lens must have the shape {allowed}, got {tuple(valid_lens.shape)}")


@argument_check
def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """Raise unless `mask` is boolean and can be broadcast, in one way only, to scores of this shape."""
    check_type("mask", mask, Tensor, "a boolean tensor")
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True: may attend), got {mask.dtype}")
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(size not in (1, whole) for size, whole in sizes):
        raise ValueError(f"mask must be broadcastable to {tuple(shape)}, got {tuple(mask.shape)}")
    if len(shape) == 4 and mask.dim() == 3 and mask.shape[0] != 1:
        hint = "mask[:, None] for one mask a batch row, mask[None] for one a head"
        raise ValueError(f"mask must have 2 or 4 axes, got {tuple(mask.shape)}: write {hint}")


@argument_check
def check_attention(
    attention: nn.Module, queries: Tensor, keys: Tensor, values: Tensor, need_weights: bool, is_causal: bool
) -> None:
    """Raise unless queries, keys and values fit each other and the layers W_q, W_k and W_v that there are."""
    check_flag("need_weights", need_weights)
    check_flag("is_causal", is_causal)
    layers = (getattr(attention, name, None) for name in ("W_q", "W_k", "W_v"))
    query_size, key_size, value_size = (getattr(layer, "in_features", None) for layer in layers)
    check_tensor("queries", queries, batch=None, queries=None, features=query_size)
    batch, _, size = queries.shape
    check_tensor("keys", keys, batch=batch, keys=None, features=size if key_size is None else key_size)
    check_tensor("values", values, batch=batch, keys=keys.shape[1], features=value_size)
    if not queries.device == keys.device == values.device:
        devices = f"{queries.device}, {keys.device} and {values.device}"
        raise ValueError(f"queries, keys and values must be on one device, got {devices}")
    if is_causal and queries.shape[1] > keys.shape[1]:
        counts = f"{keys.shape[1]}, got {queries.shape[1]}"
        raise ValueError(f"queries must be at most as many as the keys where is_causal, {counts}")


@argument_check
def check_enc_outputs(enc_outputs: object, rnn: nn.Module) -> None:
    """Raise unless this is what an encoder with the decoder's kind of cell returns."""
    if not isinstance(enc_outputs, (tuple, list)) or len(enc_outputs) != 2:
        raise TypeError(f"enc_outputs must be (outputs, hidden_state), got {type(enc_outputs).__name__}")
    if isinstance(enc_outputs[1], Tensor) == isinstance(rnn, nn.LSTM):
        raise ValueError("cell must be the same in encoder and decoder, got one of each")


@argument_check
def check_positions(name: str, offset: int, steps: int, max_len: int) -> None:
    """Raise unless `steps` positions from `offset` on are among the first `max_len`."""
    check_sizes(offset=offset, least=0)
    if offset + steps > max_len:
        raise ValueError(f"{name} must end within max_len = {max_len} positions, got {offset + steps}")
