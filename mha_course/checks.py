"""Checks of arguments: a wrong one raises in one line that names it, what was given and what is allowed."""

from collections.abc import Collection
from numbers import Real

import torch
from torch import Tensor, nn

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_integer(name: str, number: object) -> None:
    """Raise unless `number` is an integer."""
    if isinstance(number, bool) or not isinstance(number, (int, torch.SymInt)):
        raise TypeError(f"{name} must be an integer, got {number!r}")


def check_size(name: str, size: object, least: int = 1) -> None:
    """Raise unless `size` is an integer of at least `least`."""
    check_integer(name, size)
    if size < least:  # type: ignore[operator]
        raise ValueError(f"{name} must be at least {least}, got {size}")


def check_number(name: str, number: object) -> None:
    """Raise unless `number` is a real number."""
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{name} must be a number, got {number!r:.40}")


def check_dropout(dropout: float) -> None:
    """Raise unless `dropout` is a probability."""
    check_number("dropout", dropout)
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout must lie between 0 and 1, got {dropout}")


def check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    """Raise unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def check_flag(name: str, flag: object) -> None:
    """Raise unless `flag` is True or False."""
    if not isinstance(flag, bool):
        raise TypeError(f"{name} must be True or False, got {flag!r}")


def check_heads(num_hiddens: object, num_heads: object) -> None:
    """Raise unless `num_hiddens` features can be split among `num_heads` heads."""
    check_size("num_hiddens", num_hiddens)
    check_size("num_heads", num_heads)
    if num_hiddens % num_heads:  # type: ignore[operator]
        raise ValueError(f"num_heads must divide num_hiddens, got {num_heads} for {num_hiddens}")


def check_multi_head(
    num_hiddens: object, num_heads: object, dropout: float, bias: object, d2l_order: tuple[object, ...]
) -> None:
    """Raise unless the arguments of `MultiHeadAttention` fit; recognise the order of D2L 0.17."""
    if d2l_order:
        raise TypeError(
            "MultiHeadAttention takes (num_hiddens, num_heads, dropout, bias) by position; D2L 0.17's order "
            "(key_size, query_size, value_size, num_hiddens, num_heads, dropout) is written "
            "MultiHeadAttention(num_hiddens, num_heads, dropout, query_size=…, key_size=…, value_size=…)"
        )
    check_heads(num_hiddens, num_heads)
    check_dropout(dropout)
    check_flag("bias", bias)


def check_device(device: torch.device | str | None) -> None:
    """Raise unless tensors can be made on `device`."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device must be one that this machine has, got {device!r}") from error


def check_module(name: str, module: object) -> None:
    """Raise unless `module` is a module of PyTorch."""
    if not isinstance(module, nn.Module):
        raise TypeError(f"{name} must be a PyTorch module, got {type(module).__name__}")


def check_tensor(name: str, tensor: object, axes: tuple[str, ...] | None = None) -> None:
    """Raise unless `tensor` holds floating-point numbers and, where given, has these axes."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}")
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}")
    if axes is not None and tensor.dim() != len(axes):
        raise ValueError(f"{name} must have the shape ({', '.join(axes)}), got {tuple(tensor.shape)}")


def check_attention(
    queries: Tensor, keys: Tensor, values: Tensor, need_weights: object, *layers: nn.Linear
) -> None:
    """Raise unless queries, keys and values fit each other and the layers that project them.

    Parameters
    ----------
    queries, keys, values : Tensor
        Shapes (batch, queries, query_size), (batch, keys, key_size), (batch, keys, value_size).
    need_weights : bool
    *layers : nn.Linear
        Projections of queries, keys and values, in this order. Without any, keys are compared with queries.
    """
    check_flag("need_weights", need_weights)
    inputs = {"queries": queries, "keys": keys, "values": values}
    for name, tensor in inputs.items():
        check_tensor(name, tensor, ("batch", "queries" if tensor is queries else "keys", "features"))
        if tensor.shape[0] != queries.shape[0]:
            sizes = f"{queries.shape[0]}, got {tensor.shape[0]}"
            raise ValueError(f"{name} must have the batch size of queries, {sizes}")
        _check_like(name, tensor, queries, "queries")
    if values.shape[1] != keys.shape[1]:
        raise ValueError(f"values must be as many as keys, {keys.shape[1]}, got {values.shape[1]}")
    if not layers and keys.shape[-1] != queries.shape[-1]:
        raise ValueError(f"keys must have {queries.shape[-1]} features like queries, got {keys.shape[-1]}")
    for (name, tensor), layer in zip(inputs.items(), layers, strict=False):
        if tensor.shape[-1] != layer.in_features:
            raise ValueError(f"{name} must have {layer.in_features} features, got {tensor.shape[-1]}")
        _check_like(name, tensor, layer.weight, "the parameters")


def _check_like(name: str, tensor: Tensor, other: Tensor, other_name: str) -> None:
    if tensor.device != other.device:
        raise ValueError(f"{name} must be on {other.device} like {other_name}, got {tensor.device}")
    if tensor.dtype != other.dtype:
        # Autocast brings all floating-point types but float64 to one.
        autocast = torch.is_autocast_enabled(tensor.device.type)
        if not autocast or torch.float64 in (tensor.dtype, other.dtype):
            raise TypeError(f"{name} must be {other.dtype} like {other_name}, got {tensor.dtype}")


def check_integers(
    name: str, tensor: object, shapes: dict[str, tuple[int, ...]] | None = None, device: object = None
) -> None:
    """Raise unless `tensor` holds integers and has, where given, one of these shapes and this device."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor of integers, got {type(tensor).__name__}")
    if tensor.dtype not in INTEGERS:
        raise TypeError(f"{name} must hold integers, got {tensor.dtype}")
    if shapes is not None and tuple(tensor.shape) not in shapes.values():
        allowed = " or ".join(f"{axes} = {sizes}" for axes, sizes in shapes.items())
        raise ValueError(f"{name} must have the shape {allowed}, got {tuple(tensor.shape)}")
    if device is not None and tensor.device != device:
        raise ValueError(f"{name} must be on {device} like the rest, got {tensor.device}")


def check_range(name: str, numbers: Tensor, most: int) -> None:
    """Raise unless integers lie from 0 to `most`. They are not read while compiling."""
    if torch.compiler.is_compiling() or not numbers.numel():
        return
    try:
        low, high = (int(number) for number in numbers.aminmax())
    except RuntimeError as error:
        raise TypeError(f"{name} must hold values that can be read; under vmap give a mask") from error
    if low < 0 or high > most:
        raise ValueError(f"{name} must lie from 0 to {most}, got {low if low < 0 else high}")


def check_mask(mask: object, shape: tuple[int, ...], device: torch.device) -> None:
    """Raise unless `mask` is boolean and can be broadcast to scores of this shape."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"mask must be a boolean tensor, got {type(mask).__name__}")
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True: may attend), got {mask.dtype}")
    if mask.device != device:
        raise ValueError(f"mask must be on {device} like the scores, got {mask.device}")
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(size not in (1, whole) for size, whole in sizes):
        raise ValueError(f"mask must be broadcastable to {tuple(shape)}, got {tuple(mask.shape)}")
    if len(shape) == 4 and mask.dim() == 3 and mask.shape[0] != 1:
        raise ValueError(
            f"mask must have 2 or 4 axes, got {tuple(mask.shape)}: "
            "write mask[:, None] for one mask a batch row, mask[None] for one a head"
        )
