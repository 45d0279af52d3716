"""Carry weights over to and from other implementations of attention.

What is converted has the same numbers, dropout, type, device and mode (training or evaluation), and shares no
memory with what it came from. The inputs stay as each class takes them: `nn.MultiheadAttention` with
``batch_first=False`` wants the steps first, and its masks are True where a query may NOT attend. What has no
counterpart raises a TypeError or a ValueError that says so: ``add_bias_kv``, ``add_zero_attn``, sizes, heads
or biases that differ, pruned heads, lazy layers that have not met a batch, other classes.

Of GPT-2 and Llama, as the library `transformers` has them, only the attention layers are read. Their causal
mask is the caller's for `MultiHeadAttention` and inside `RotaryAttention`.
"""

from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from mha_course.attention import AdditiveAttention, DotProductAttention, MultiHeadAttention
from mha_course.checks import argument_check, check_divisible, check_tensor, check_type
from mha_course.language_model import RotaryAttention

__all__ = (
    "from_annotated", "from_d2l", "from_gpt2", "from_llama", "from_torch", "halves_from_pairs",
    "to_annotated", "to_d2l", "to_torch",
)  # fmt: skip

Attention = MultiHeadAttention | AdditiveAttention | DotProductAttention
Target = TypeVar("Target", bound=nn.Module)
Weights = dict[str, Tensor]
LAYERS = ("W_q", "W_k", "W_v", "W_o")
SIZES = {"query_size": "W_q", "key_size": "W_k", "value_size": "W_v"}


def from_torch(module: nn.MultiheadAttention) -> MultiHeadAttention:
    """Convert `nn.MultiheadAttention`, with ``kdim`` and ``vdim`` equal or not, with biases or without.

    Parameters
    ----------
    module : nn.MultiheadAttention

    Returns
    -------
    MultiHeadAttention
    """
    check_type("module", module, nn.MultiheadAttention, "nn.MultiheadAttention")
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError("module must be without add_bias_kv and add_zero_attn, got one that has them")
    has_bias = module.in_proj_bias is not None
    sizes = {"key_size": module.kdim, "value_size": module.vdim}
    attention = MultiHeadAttention(module.embed_dim, module.num_heads, module.dropout, has_bias, **sizes)
    return fill(attention, torch_weights(module), module)


def to_torch(attention: MultiHeadAttention) -> nn.MultiheadAttention:
    """Convert to `nn.MultiheadAttention` with ``batch_first=True``.

    Parameters
    ----------
    attention : MultiHeadAttention

    Returns
    -------
    nn.MultiheadAttention

    Examples
    --------
    >>> ours, X = MultiHeadAttention(12, 3, bias=True), torch.randn(2, 4, 12)
    >>> theirs = to_torch(ours)
    >>> torch.allclose(theirs(X, X, X)[0], ours(X, X, X), atol=1e-6)
    True
    """
    check_ours(attention)
    check_square("nn.MultiheadAttention", ["query_size"], attention)
    has_bias = attention.W_o.bias is not None
    sizes = {"kdim": attention.W_k.in_features, "vdim": attention.W_v.in_features}
    width, heads, dropout = attention.W_o.out_features, attention.num_heads, attention.dropout.p
    module = nn.MultiheadAttention(width, heads, dropout, has_bias, batch_first=True, **sizes)
    module.to(attention.W_o.weight)  # its type and device
    with torch.no_grad():
        for name, weight in torch_weights(module).items():
            weight.copy_(attention.get_parameter(name))
    return module.train(attention.training)


def from_d2l(module: nn.Module) -> Attention:
    """Convert D2L's `MultiHeadAttention`, `AdditiveAttention` or `DotProductAttention`, of 0.17 or 1.0.

    Parameters
    ----------
    module : nn.Module

    Returns
    -------
    The class of the same name here
    """
    check_type("module", module, nn.Module, "a PyTorch module")
    if any(isinstance(parameter, nn.parameter.UninitializedParameter) for parameter in module.parameters()):
        raise ValueError("module must have met a batch: its lazy layers have no weights yet")
    layers: Any = module
    attention: Attention
    projections = {size: getattr(module, name, None) for size, name in SIZES.items()}
    sizes = {
        size: layer.weight.shape[1] for size, layer in projections.items() if isinstance(layer, nn.Linear)
    }
    if all(hasattr(module, name) for name in (*LAYERS, "num_heads", "attention")):
        dropout, has_bias = layers.attention.dropout.p, layers.W_o.bias is not None
        attention = MultiHeadAttention(layers.W_o.out_features, layers.num_heads, dropout, has_bias, **sizes)
    elif all(hasattr(module, name) for name in ("W_q", "W_k", "w_v", "dropout")):
        attention = AdditiveAttention(layers.w_v.weight.shape[1], layers.dropout.p, **sizes)
    elif hasattr(module, "dropout") and not list(module.parameters()):
        attention = DotProductAttention(layers.dropout.p)
    else:
        raise TypeError(f"module must be one of D2L's attention classes, got {type(module).__name__}")
    return fill(attention, module.state_dict(), module)


def to_d2l(attention: Attention, module: nn.Module) -> nn.Module:
    """Write weights into a module of D2L's class of the same name, 0.17 or 1.0.

    Parameters
    ----------
    attention : MultiHeadAttention, AdditiveAttention or DotProductAttention
        What to read.
    module : nn.Module
        What to write to; its lazy layers need not have met a batch.

    Returns
    -------
    module : nn.Module, the one given
    """
    check_ours(attention, (MultiHeadAttention, AdditiveAttention, DotProductAttention))
    check_type("module", module, nn.Module, "a PyTorch module")
    heads = getattr(attention, "num_heads", None)
    if heads != getattr(module, "num_heads", None):
        raise ValueError(f"module must have num_heads {heads}, got {getattr(module, 'num_heads', None)}")
    dropout: Any = getattr(getattr(module, "attention", module), "dropout", None)
    if not isinstance(dropout, nn.Dropout):
        raise TypeError(f"module must be one of D2L's attention classes, got {type(module).__name__}")
    fill(module, attention.state_dict(), attention)
    dropout.p = attention.dropout.p
    return module


def from_annotated(module: nn.Module) -> MultiHeadAttention:
    """Convert the Annotated Transformer's `MultiHeadedAttention`: heads ``h`` and four ``linears``.

    Parameters
    ----------
    module : nn.Module

    Returns
    -------
    MultiHeadAttention
    """
    weights = annotated_layers(module).state_dict()
    layers: Any = module
    output = layers.linears[-1]
    attention = MultiHeadAttention(output.out_features, layers.h, layers.dropout.p, output.bias is not None)
    return fill(attention, weights, module)


def to_annotated(attention: MultiHeadAttention, module: nn.Module) -> nn.Module:
    """Write weights into a module of the Annotated Transformer's class `MultiHeadedAttention`.

    Parameters
    ----------
    attention : MultiHeadAttention
        What to read.
    module : nn.Module
        What to write to.

    Returns
    -------
    module : nn.Module, the one given
    """
    check_ours(attention)
    layers = annotated_layers(module)
    check_square("the Annotated Transformer's class", list(SIZES), attention)
    target: Any = module
    if target.h != attention.num_heads:
        raise ValueError(f"module must have h = {attention.num_heads} heads, got {target.h}")
    fill(layers, attention.state_dict(), attention)
    target.dropout.p = attention.dropout.p
    return module.train(attention.training)


def from_gpt2(module: nn.Module) -> MultiHeadAttention:
    """Convert the self-attention of GPT-2 in `transformers`, to be called with a `causal_mask`.

    Its ``c_attn`` holds the projections of queries, keys and values side by side, and stores them, as
    ``c_proj``, with the inputs first.

    Parameters
    ----------
    module : nn.Module
        A ``GPT2Attention`` whose scores are scaled as usual.

    Returns
    -------
    MultiHeadAttention
    """
    check_class(module, "GPT2Attention", "GPT-2's attention")
    layers: Any = module
    if layers.is_cross_attention:
        raise ValueError("module must be a self-attention, got a cross-attention")
    if layers.scale_attn_by_inverse_layer_idx or not layers.scale_attn_weights:
        raise ValueError("module must divide its scores by the root of head_dim alone")
    weights = named("weight", *layers.c_attn.weight.T.chunk(3), layers.c_proj.weight.T)
    weights |= named("bias", *layers.c_attn.bias.chunk(3), layers.c_proj.bias)
    attention = MultiHeadAttention(
        len(layers.c_proj.bias), layers.num_heads, layers.attn_dropout.p, bias=True
    )
    return fill(attention, weights, module)


def from_llama(module: nn.Module) -> RotaryAttention:
    """Convert the attention of Llama in `transformers`: ``q_proj``, ``k_proj``, ``v_proj`` and ``o_proj``.

    Parameters
    ----------
    module : nn.Module
        A ``LlamaAttention`` whose heads are as wide as `RotaryAttention` makes them and whose angles are not
        scaled.

    Returns
    -------
    RotaryAttention
    """
    names = ("q_proj", "k_proj", "v_proj", "o_proj")
    check_class(module, "LlamaAttention", "Llama's attention")
    layers: Any = module
    config, rope = layers.config, rope_of(layers.config)
    width, heads = config.hidden_size, config.num_attention_heads
    if layers.head_dim * heads != width:
        raise ValueError(f"module must have heads of {width} / {heads} features, got {layers.head_dim}")
    if rope["rope_type"] != "default":
        raise ValueError(f"module must have rope_type 'default', got {rope['rope_type']!r}")
    groups, has_bias = config.num_key_value_heads, layers.q_proj.bias is not None
    attention = RotaryAttention(
        width, heads, groups, layers.attention_dropout, has_bias, base=rope["rope_theta"]
    )
    weights = named("weight", *(getattr(layers, name).weight for name in names))
    if has_bias:
        weights |= named("bias", *(getattr(layers, name).bias for name in names))
    return fill(attention, weights, module)


def rope_of(config: Any) -> dict[str, Any]:
    """Return type and base of a Llama's rotary positions, as transformers 5 or 4 names them."""
    if hasattr(config, "rope_parameters"):
        parameters: dict[str, Any] = config.rope_parameters
        return parameters
    scaling = config.rope_scaling or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    return {"rope_type": kind, "rope_theta": config.rope_theta}


def halves_from_pairs(weight: Tensor, num_heads: int) -> Tensor:
    """Reorder the rows of W_q or W_k of a model whose rotary positions turn neighbouring features.

    `rotary` turns the features j and j + d/2 of a head; the paper and Meta's own Llama files turn 2j and
    2j + 1. Scores do not depend on the order of the features, so the rows are moved instead.

    Parameters
    ----------
    weight : Tensor, shape (num_heads · d, …)
        A weight or a bias.
    num_heads : int
        Heads of W_q; of W_k the groups.

    Returns
    -------
    Tensor, shape as `weight`

    Examples
    --------
    >>> halves_from_pairs(torch.tensor([0.0, 1.0, 2.0, 3.0]), num_heads=1)
    tensor([0., 2., 1., 3.])
    """
    check_tensor("weight", weight)
    check_divisible("the first axis of weight", len(weight), num_heads=num_heads)
    check_divisible("the width of a head", len(weight) // num_heads, pair=2)
    by_pair = weight.reshape(num_heads, len(weight) // num_heads // 2, 2, *weight.shape[1:])
    return by_pair.transpose(1, 2).reshape(weight.shape)  # first features of all pairs, then second ones


def fill(target: Target, weights: Weights, source: nn.Module) -> Target:
    """Copy weights into `target`, and give it the source's type, device and mode."""
    expected = target.state_dict()
    if set(weights) != set(expected):
        odd = ", ".join(sorted(set(weights) ^ set(expected)))
        raise ValueError(f"module must have the same layers and biases, got {odd} on one side only")
    for name, weight in weights.items():
        lazy = isinstance(expected[name], nn.parameter.UninitializedParameter)
        if not lazy and expected[name].shape != weight.shape:
            shapes = f"{tuple(weight.shape)}, got {tuple(expected[name].shape)}"
            raise ValueError(f"module must have {name} of shape {shapes}")
    for weight in weights.values():
        target.to(device=weight.device, dtype=weight.dtype)
    target.load_state_dict(weights)
    return target.train(source.training)


def torch_weights(module: nn.MultiheadAttention) -> Weights:
    """Return the weights and biases of `nn.MultiheadAttention` by our names, as views of its parameters."""
    if module._qkv_same_embed_dim:
        projections = module.in_proj_weight.chunk(3)
    else:
        projections = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    weights = named("weight", *projections, module.out_proj.weight)
    if module.in_proj_bias is not None:
        weights |= named("bias", *module.in_proj_bias.chunk(3), module.out_proj.bias)
    return weights


def named(kind: str, *tensors: Tensor) -> Weights:
    """Name the weights or the biases of our four layers as a state dict does."""
    return {f"{layer}.{kind}": tensor for layer, tensor in zip(LAYERS, tensors, strict=True)}


def annotated_layers(module: nn.Module) -> nn.ModuleDict:
    """Return the layers of the Annotated Transformer's class by our names; raise for another class."""
    linears = getattr(module, "linears", ())
    if len(linears) != 4 or not all(hasattr(module, name) for name in ("h", "dropout")):
        raise TypeError(f"module must have h, dropout and four linears, got {type(module).__name__}")
    return nn.ModuleDict(dict(zip(LAYERS, linears, strict=True)))


@argument_check
def check_class(module: nn.Module, name: str, allowed: str) -> None:
    """Raise unless the module's class or one of its bases has this name.

    Another class may have the same layers and compute something else.
    """
    if name not in [kind.__name__ for kind in type(module).__mro__]:
        raise TypeError(f"module must be {allowed}, got {type(module).__name__}")


@argument_check
def check_ours(attention: object, allowed: tuple[type, ...] = (MultiHeadAttention,)) -> None:
    """Raise unless `attention` is of one of these classes."""
    names = " or ".join(kind.__name__ for kind in allowed)
    check_type("attention", attention, allowed, f"{names} of this package")


@argument_check
def check_square(target: str, names: list[str], attention: MultiHeadAttention) -> None:
    """Raise unless these sizes, and the width of all heads together, are those of the output."""
    num_hiddens = attention.W_o.out_features
    sizes = {name: getattr(attention, SIZES[name]).in_features for name in names}
    for name, size in (sizes | {"the width of all heads": attention.W_o.in_features}).items():
        if size != num_hiddens:
            raise ValueError(f"attention must have {name} {num_hiddens} for {target}, got {size}")
