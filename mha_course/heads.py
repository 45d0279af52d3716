"""Measure how much each attention head matters, and prune those that do not.

A wrong argument raises a TypeError or a ValueError that names it: a model without multi-head attention, heads
that it does not have, no batch, a score that is no number, a loss that is no scalar or does not depend on the
heads.

Compiled code ignores hooks that are added after compilation. A compiled model therefore runs uncompiled
inside the ``with`` blocks of this module and in the functions that use them.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mha_course.attention import MultiHeadAttention
from mha_course.checks import argument_check, check_number, check_type

__all__ = (
    "Head",
    "all_heads",
    "attentions",
    "count_flops",
    "count_parameters",
    "gated_heads",
    "gradient_importance",
    "leave_one_out",
    "masked_heads",
    "prune_heads",
    "watched_heads",
)

Model = TypeVar("Model", bound=nn.Module)
T = TypeVar("T")


class Head(NamedTuple):
    """One head of a model.

    Attributes
    ----------
    module : str
        Name of its `MultiHeadAttention` in the model, as in ``named_modules``; ``""`` for the model itself.
    number : int
        Its number there, from 0.
    """

    module: str
    number: int


Importance = dict[Head, float]


def attentions(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """Return every `MultiHeadAttention` in a model by its name, as in ``named_modules``."""
    check_type("model", model, nn.Module, "a PyTorch module")
    named = {name: module for name, module in model.named_modules() if isinstance(module, MultiHeadAttention)}
    if not named:
        raise ValueError(f"model must have a MultiHeadAttention, got {type(model).__name__} without one")
    return named


def all_heads(model: nn.Module) -> list[Head]:
    """Return every head of a model, in the order of its modules."""
    return [Head(name, i) for name, module in attentions(model).items() for i in range(module.num_heads)]


@contextmanager
def gated_heads(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Multiply every head's output by a gate inside a ``with`` block.

    Parameters
    ----------
    model : nn.Module

    Yields
    ------
    dict of str to Tensor, shape (heads,)
        The gates of each attention module by its name, all 1, with gradients. Writing into them counts.

    References
    ----------
    Michel et al. (2019), section 2.3.
    """
    gates: dict[str, Tensor] = {}
    with ExitStack() as hooks:
        hooks.enter_context(torch.compiler.set_stance("force_eager"))
        for name, module in attentions(model).items():
            weight = module.W_o.weight
            dtype = torch.promote_types(weight.dtype, torch.float32)  # sums over a batch overflow in float16
            gates[name] = torch.ones(module.num_heads, dtype=dtype, device=weight.device, requires_grad=True)
            hook = module.W_o.register_forward_pre_hook(partial(_multiply, gates[name]))
            hooks.callback(hook.remove)
        yield gates


def _multiply(gate: Tensor, layer: nn.Module, inputs: tuple[Tensor]) -> Tensor:
    """Multiply each head's part of a layer's input by the head's gate."""
    batch, queries, hiddens = inputs[0].shape
    by_head = inputs[0].reshape(batch, queries, len(gate), hiddens // len(gate))
    return (by_head * gate.unsqueeze(-1)).flatten(2).to(inputs[0].dtype)  # (batch, queries, hiddens)


@contextmanager
def masked_heads(model: Model, heads: Iterable[Head]) -> Iterator[Model]:
    """Silence some heads inside a ``with`` block. They are still computed, so this saves no time.

    Parameters
    ----------
    model : nn.Module
    heads : iterable of Head

    Yields
    ------
    model : nn.Module, the one given

    References
    ----------
    Michel et al. (2019), section 2.3.
    """
    numbers = by_module(model, heads)
    with gated_heads(model) as gates:
        with torch.no_grad():
            for name, removed in numbers.items():
                gates[name][removed] = 0
        yield model


@contextmanager
def watched_heads(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Record the attention weights of every head inside a ``with`` block.

    Parameters
    ----------
    model : nn.Module

    Yields
    ------
    dict of str to Tensor, shape (batch, heads, queries, keys)
        The detached weights of its last call, for each attention module that was called, by its name.
    """
    weights: dict[str, Tensor] = {}
    with ExitStack() as patches:
        patches.enter_context(torch.compiler.set_stance("force_eager"))
        for name, module in attentions(model).items():
            watch = partial(_watch, module.attend, weights, name)
            patches.enter_context(patch.object(module, "attend", watch))
        yield weights


def _watch(
    attend: Callable[..., Any], kept: dict[str, Tensor], name: str,
    queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None, need_weights: bool,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    output, weights = attend(queries, keys, values, allowed, need_weights=True, is_causal=is_causal)
    kept[name] = weights.detach()
    return output, weights if need_weights else None


def leave_one_out(model: nn.Module, score: Callable[[], float], without: Iterable[Head] = ()) -> Importance:
    """Measure each head by how much worse a model scores without it.

    Parameters
    ----------
    model : nn.Module
    score : callable
        Called without arguments, scores the model as it is and returns a number; more is better.
    without : iterable of Head
        Heads that are masked all the time, as a greedy search needs it; they are not measured.

    Returns
    -------
    dict of Head to float
        Score with the head minus score without it, in the score's unit.

    References
    ----------
    Michel et al. (2019), section 3.1.
    """
    check_callable("score", score)
    check_type("without", without, Iterable, "an iterable of heads")
    without = list(without)
    whole = _score_without(model, score, without)
    measured = [head for head in all_heads(model) if head not in without]
    return {head: whole - _score_without(model, score, [*without, head]) for head in measured}


def _score_without(model: nn.Module, score: Callable[[], float], heads: list[Head]) -> float:
    with masked_heads(model, heads):
        value: Any = score()
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    check_number("what score returns", value)
    return float(value)  # a difference of half-precision numbers would lose digits


def gradient_importance(model: nn.Module, loss: Callable[[T], Tensor], batches: Iterable[T]) -> Importance:
    r"""Measure each head by how much a small change of its gate would change the loss.

    Parameters
    ----------
    model : nn.Module
        Its parameters' gradients are left as they are.
    loss : callable
        Called with a batch, returns its loss, a scalar Tensor.
    batches : iterable
        At least one; the smaller they are, the less do changes of different sign cancel.

    Returns
    -------
    dict of Head to float
        The mean over the batches of :math:`|\partial\,\text{loss} / \partial\,\text{gate}|`.

    References
    ----------
    Michel et al. (2019), equation 1.
    """
    check_callable("loss", loss)
    check_type("batches", batches, Iterable, "an iterable of batches")
    batches = list(batches)
    if not batches:
        raise ValueError("batches must hold at least one batch, got none")
    with torch.enable_grad(), gated_heads(model) as gates:
        totals = {name: torch.zeros_like(gate) for name, gate in gates.items()}
        for batch in batches:
            value = loss(batch)
            if not isinstance(value, Tensor) or value.dim() or not value.requires_grad:
                raise ValueError("loss must return a scalar tensor that depends on the heads")
            gradients = torch.autograd.grad(value, list(gates.values()), materialize_grads=True)
            for name, gradient in zip(gates, gradients, strict=True):
                totals[name] += gradient.abs()
    return {head: float(totals[head.module][head.number]) / len(batches) for head in all_heads(model)}


def prune_heads(model: Model, heads: Iterable[Head]) -> Model:
    """Return a copy of a model without some heads, whose weights are cut out.

    It computes what `masked_heads` gives, with fewer parameters and operations. To load the weights of a
    pruned model, prune a new model in the same way, and then call ``load_state_dict`` on what comes back.

    Parameters
    ----------
    model : nn.Module
        It stays as it is. Its attention layers must have plain weights: take weight normalization,
        `torch.nn.utils.prune` and other parametrizations off first.
    heads : iterable of Head
        At least one head must stay in each attention module.

    Returns
    -------
    nn.Module
        The copy, of the same class.

    Examples
    --------
    >>> whole = MultiHeadAttention(num_hiddens=12, num_heads=3)
    >>> half = prune_heads(whole, [Head("", 0), Head("", 2)])
    >>> count_parameters(whole), count_parameters(half)
    (576, 192)
    """
    numbers = by_module(model, heads)
    check_plain(model)
    pruned = copy.deepcopy(model)
    for name, module in attentions(pruned).items():
        kept = [i for i in range(module.num_heads) if i not in numbers[name]]
        if not kept:
            raise ValueError(f"heads must leave one in each module, got all {module.num_heads} of {name!r}")
        _slice_heads(module, kept)
    return pruned


@argument_check
def check_plain(model: nn.Module) -> None:
    """Raise unless all projections are linear layers whose weights are parameters."""
    for name, module in attentions(model).items():
        for layer in ("W_q", "W_k", "W_v", "W_o"):
            linear = getattr(module, layer)
            names = {parameter for parameter, _ in linear.named_parameters()}
            if not isinstance(linear, nn.Linear) or not {"weight"} <= names <= {"weight", "bias"}:
                place = f"{name}.{layer}" if name else layer
                given = f"{type(linear).__name__} with {', '.join(sorted(names)) or 'no parameters'}"
                raise ValueError(
                    f"model must have linear layers with plain weights, got {given} as {place!r}: "
                    "take weight normalization and other parametrizations off first"
                )


@argument_check
def check_callable(name: str, function: object) -> None:
    """Raise unless `function` can be called."""
    if not callable(function):
        raise TypeError(f"{name} must be callable, got {type(function).__name__}")


def _slice_heads(module: MultiHeadAttention, kept: list[int]) -> None:
    """Keep only these heads: their rows of W_q, W_k and W_v, and their columns of W_o."""
    for layer in (module.W_q, module.W_k, module.W_v):
        layer.weight = _take(layer.weight, 0, module.num_heads, kept)
        if layer.bias is not None:
            layer.bias = _take(layer.bias, 0, module.num_heads, kept)
        layer.out_features = layer.weight.shape[0]
    module.W_o.weight = _take(module.W_o.weight, 1, module.num_heads, kept)
    module.W_o.in_features = module.W_o.weight.shape[1]
    module.num_heads = len(kept)


def _take(parameter: Tensor, axis: int, num_heads: int, kept: list[int]) -> nn.Parameter:
    parts = parameter.detach().chunk(num_heads, axis)
    return nn.Parameter(torch.cat([parts[i] for i in kept], axis), parameter.requires_grad)


def by_module(model: nn.Module, heads: Iterable[Head]) -> dict[str, list[int]]:
    """Return the numbers of the heads in each module; raise where the model lacks one."""
    known = all_heads(model)
    check_type("heads", heads, Iterable, "an iterable of heads")
    numbers: dict[str, list[int]] = {head.module: [] for head in known}
    for head in heads:
        if head not in known or isinstance(head[1], bool):
            raise ValueError(f"heads must be some of those that all_heads(model) returns, got {head!r}")
        numbers[head[0]].append(int(head[1]))
    return numbers


def count_parameters(model: nn.Module) -> int:
    """Return the number of parameters of a model."""
    check_type("model", model, nn.Module, "a PyTorch module")
    return sum(parameter.numel() for parameter in model.parameters())


def count_flops(function: Callable[..., Any], *arguments: Any, **options: Any) -> int:
    """Return the floating-point operations of all matrix products in one call.

    Parameters
    ----------
    function : callable
    *arguments, **options
        What it is called with.

    Returns
    -------
    int
        A multiplication and an addition count as two.
    """
    check_callable("function", function)
    # Only the plain kernel, not compiled, is made of products that can be counted on every device.
    eager = torch.compiler.set_stance("force_eager")
    with eager, FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        function(*arguments, **options)
    return int(counter.get_total_flops())
