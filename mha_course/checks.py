"""Checks of arguments: a wrong one raises in one line that names it, what was given and what is allowed."""

from collections.abc import Collection, Sequence
from numbers import Real

import torch
from torch import Tensor, nn

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_type(name: str, value: object, kind: type | tuple[type, ...], allowed: str) -> None:
    """Raise unless `value` is of this kind, which `allowed` says in words."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {allowed}, got {type(value).__name__}")


def check_integer(name: str, number: object) -> None:
    """Raise unless `number` is an integer."""
    if isinstance(number, bool) or not isinstance(number, (int, torch.SymInt)):
        raise TypeError(f"{name} must be an integer, got {number!r}")


def check_size(name: str, size: int, least: int = 1) -> None:
    """Raise unless `size` is an integer of at least `least`."""
    check_integer(name, size)
    if size < least:
        raise ValueError(f"{name} must be at least {least}, got {size}")


def check_counts(**sizes: int) -> None:
    """Raise unless all arguments, which are given by their names, are integers of at least 1."""
    for name, size in sizes.items():
        check_size(name, size)


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
    check_type(name, flag, bool, "True or False")


def check_sizes(vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float) -> None:
    """Raise unless the arguments that recurrent encoders and decoders share are sizes and a probability."""
    check_counts(vocab_size=vocab_size, embed_size=embed_size, num_hiddens=num_hiddens, num_layers=num_layers)
    check_dropout(dropout)


def check_multi_head(num_hiddens: int, num_heads: int, dropout: float, bias: bool, d2l_order: object) -> None:
    """Raise unless the arguments of `MultiHeadAttention` fit; recognise the order of D2L 0.17."""
    if d2l_order:
        arguments = "num_hiddens, num_heads, dropout, bias, query_size=…, key_size=…, value_size=…"
        raise TypeError(f"instead of D2L 0.17's order write MultiHeadAttention({arguments})")
    check_counts(num_hiddens=num_hiddens, num_heads=num_heads)
    if num_hiddens % num_heads:
        raise ValueError(f"num_heads must divide num_hiddens, got {num_heads} for {num_hiddens}")
    check_dropout(dropout)
    check_flag("bias", bias)


def check_module(name: str, module: object) -> None:
    """Raise unless `module` is a module of PyTorch."""
    check_type(name, module, nn.Module, "a PyTorch module")


def check_fit(
    model: object, pairs: Sequence[object], epochs: int, learning_rate: float, clip: float, seed: int,
    device: torch.device | str | None,
) -> None:
    """Raise unless there is something to train and the numbers are in their ranges."""
    check_module("model", model)
    if not pairs:
        raise ValueError("pairs must hold at least one pair, got none")
    check_size("epochs", epochs, least=0)
    check_number("learning_rate", learning_rate)
    if not 0 <= learning_rate < float("inf"):
        raise ValueError(f"learning_rate must be a finite number of at least 0, got {learning_rate}")
    check_number("clip", clip)
    if not clip > 0:
        raise ValueError(f"clip must be above 0, got {clip}")
    check_integer("seed", seed)
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device must be one that this machine has, got {device!r}") from error


def check_tensor(name: str, tensor: Tensor, axes: tuple[str, ...] | None = None) -> None:
    """Raise unless `tensor` holds floating-point numbers and, where given, has these axes."""
    check_type(name, tensor, Tensor, "a tensor")
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}")
    if axes is not None and tensor.dim() != len(axes):
        raise ValueError(f"{name} must have the shape ({', '.join(axes)}), got {tuple(tensor.shape)}")


def check_split(X: Tensor, axes: tuple[str, ...], axis: int, num_heads: int) -> None:
    """Raise unless `X` has these axes and `num_heads` divides one of them."""
    check_tensor("X", X, axes)
    check_size("num_heads", num_heads)
    if X.shape[axis] % num_heads:
        raise ValueError(f"num_heads must divide {axes[axis]}, got {num_heads} for {X.shape[axis]}")


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
            raise ValueError(f"{name} must have the batch size of queries, {len(queries)}, got {len(tensor)}")
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
    name: str, tensor: Tensor, shapes: dict[str, tuple[int, ...]] | None = None, device: object = None
) -> None:
    """Raise unless `tensor` holds integers and has, where given, one of these shapes and this device."""
    check_type(name, tensor, Tensor, "a tensor of integers")
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


def check_tokens(name: str, tokens: Tensor, vocab_size: int) -> None:
    """Raise unless `tokens` are integers ``(batch, steps)`` below `vocab_size`.

    The range is read on a CPU only, since on a GPU the look would stop the queue at every call.
    """
    check_integers(name, tokens)
    if tokens.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be int64 or int32, got {tokens.dtype}")
    if tokens.dim() != 2:
        raise ValueError(f"{name} must have the shape (batch, steps), got {tuple(tokens.shape)}")
    if tokens.is_cpu:
        check_range(name, tokens, vocab_size - 1)


def check_lens(name: str, lens: Tensor, batch: int, steps: int, device: torch.device) -> None:
    """Raise unless `lens` are integers ``(batch,)`` in 0..`steps`, on the device of what they count."""
    check_integers(name, lens, {"(batch,)": (batch,)}, device)
    check_range(name, lens, steps)


def check_mask(mask: Tensor, shape: tuple[int, ...], device: torch.device) -> None:
    """Raise unless `mask` is boolean and can be broadcast to scores of this shape."""
    check_type("mask", mask, Tensor, "a boolean tensor")
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True: may attend), got {mask.dtype}")
    if mask.device != device:
        raise ValueError(f"mask must be on {device} like the scores, got {mask.device}")
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(size not in (1, whole) for size, whole in sizes):
        raise ValueError(f"mask must be broadcastable to {tuple(shape)}, got {tuple(mask.shape)}")
    if len(shape) == 4 and mask.dim() == 3 and mask.shape[0] != 1:
        hint = "mask[:, None] for one mask a batch row, mask[None] for one a head"
        raise ValueError(f"mask must have 2 or 4 axes, got {tuple(mask.shape)}: write {hint}")
