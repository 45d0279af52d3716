"""The three attention classes: hand values, parity with PyTorch, and every edge and bad input."""

import math
import warnings
import weakref
from unittest import mock

import pytest
import torch
from operators import Operators
from tolerance import TOLERANCES, assert_close
from torch import nn

from mha_course.attention import (
    AdditiveAttention,
    DotProductAttention,
    MultiHeadAttention,
    join_heads,
    split_heads,
    transpose_output,
    transpose_qkv,
)
from mha_course.masking import causal_mask, length_mask

HIDDENS, HEADS = 12, 3
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")),
]
LENS = torch.tensor([4, 2])


def make(name, dropout=0.0, sizes=None):
    """Return a module by its name; `sizes` are the features of queries, keys and values."""
    torch.manual_seed(0)
    query_size, key_size, value_size = sizes or (HIDDENS,) * 3
    if name == "dot":
        return DotProductAttention(dropout)
    if name == "additive":
        return AdditiveAttention(HIDDENS, dropout, query_size=query_size, key_size=key_size)
    return MultiHeadAttention(
        HIDDENS,
        HEADS,
        dropout,
        name == "bias",
        query_size=query_size,
        key_size=key_size,
        value_size=value_size,
    )


def inputs(sizes=(HIDDENS,) * 3, batch=2, num_queries=3, num_keys=5, dtype=torch.float32):
    torch.manual_seed(1)
    shapes = zip((num_queries, num_keys, num_keys), sizes, strict=True)
    return [torch.randn(batch, number, size, dtype=dtype) for number, size in shapes]


def probe(output):
    """Return a sum that weighs every number of the output differently, so that every gradient counts."""
    return (
        output
        * torch.linspace(-1, 1, output.numel(), dtype=output.dtype, device=output.device).view_as(output)
    ).sum()


every_class = pytest.mark.parametrize("name", ["dot", "additive", "plain", "bias"])
both_paths = pytest.mark.parametrize("need_weights", [False, True])


def output_of(result):
    return result[0] if isinstance(result, tuple) else result


# ---- by hand ----


def test_dot_product_by_hand():
    queries = torch.tensor([[[math.sqrt(2), 0.0]]], dtype=torch.float64)
    keys = torch.tensor([[[1.0, 5.0], [0.0, -7.0]]], dtype=torch.float64)  # scores 1 and 0
    values = torch.tensor([[[10.0], [20.0]]], dtype=torch.float64)
    first = math.e / (1 + math.e)
    output, weights = DotProductAttention()(queries, keys, values, need_weights=True)
    assert_close(weights, torch.tensor([[[first, 1 - first]]], dtype=torch.float64))
    assert_close(output, torch.tensor([[[10 * first + 20 * (1 - first)]]], dtype=torch.float64))
    assert_close(DotProductAttention()(queries, keys, values), output)


def test_additive_formula_against_a_loop():
    attention = make("additive", sizes=(4, 6, 5)).double()
    queries, keys, values = inputs((4, 6, 5), dtype=torch.float64)
    output, weights = attention(queries, keys, values, LENS, need_weights=True)
    for b in range(2):
        for q in range(3):
            scores = torch.stack(
                [
                    attention.w_v.weight[0]
                    @ torch.tanh(attention.W_q.weight @ queries[b, q] + attention.W_k.weight @ key)
                    for key in keys[b, : LENS[b]]
                ]
            )
            expected = scores.exp() / scores.exp().sum()
            assert_close(weights[b, q, : LENS[b]], expected)
            assert_close(output[b, q], expected @ values[b, : LENS[b]])


# ---- splitting and joining heads ----


def test_transpose_qkv_by_hand():
    X = torch.arange(2 * 3 * 4.0).view(2, 3, 4)
    folded = transpose_qkv(X, 2)
    assert folded.shape == (4, 3, 2)
    for batch in range(2):
        for head in range(2):
            assert torch.equal(folded[batch * 2 + head], X[batch, :, 2 * head : 2 * head + 2])
    assert torch.equal(split_heads(X, 2).flatten(0, 1), folded)


@pytest.mark.parametrize("num_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("batch", [0, 1, 2])
def test_transpose_output_undoes_transpose_qkv(num_heads, batch):
    X = torch.randn(batch, 5, 12).transpose(0, 1).contiguous().transpose(0, 1)  # not contiguous
    assert torch.equal(transpose_output(transpose_qkv(X, num_heads), num_heads), X)
    assert torch.equal(join_heads(split_heads(X, num_heads)), X)


# ---- parity ----


def torch_attention(ours, queries, keys, values, **masks):
    """Return PyTorch's function with our weights, which its gradients reach, too."""
    layers = {"q": ours.W_q, "k": ours.W_k, "v": ours.W_v}
    output, weights = nn.functional.multi_head_attention_forward(
        *(X.transpose(0, 1) for X in (queries, keys, values)), HIDDENS, HEADS, None,
        torch.cat([layer.bias for layer in layers.values()]), None, None, False, 0.0,
        ours.W_o.weight, ours.W_o.bias, use_separate_proj_weight=True, average_attn_weights=False,
        **{f"{name}_proj_weight": layer.weight for name, layer in layers.items()}, **masks,
    )  # fmt: skip
    return output.transpose(0, 1), weights


@both_paths
@pytest.mark.parametrize("masking", ["none", "lengths", "mask", "causal and lengths"])
@pytest.mark.parametrize("sizes", [(HIDDENS, HIDDENS, HIDDENS), (HIDDENS, 7, 5)])
def test_equals_torch_s_multi_head_attention_by_value_and_gradient(sizes, masking, need_weights):
    ours = make("bias", sizes=sizes).double()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.normal_()  # biases of their own, too
    num_keys = 3 if masking.startswith("causal") else 5
    given = [X.requires_grad_() for X in inputs(sizes, num_keys=num_keys, dtype=torch.float64)]
    mask = torch.rand(3, 5) > 0.4
    mask[:, 0] = True
    lens = torch.tensor([3, 2])
    our_arguments, their_arguments = {
        "none": ({}, {}),
        "lengths": ({"valid_lens": lens}, {"key_padding_mask": ~length_mask(lens, num_keys)}),
        "mask": ({"mask": mask}, {"attn_mask": ~mask}),
        "causal and lengths": (
            {"valid_lens": lens, "mask": causal_mask(3)},
            {"key_padding_mask": ~length_mask(lens, 3), "attn_mask": ~causal_mask(3)},
        ),
    }[masking]
    output = ours(*given, **our_arguments, need_weights=need_weights)
    expected, expected_weights = torch_attention(ours, *given, **their_arguments)
    if need_weights:
        output, weights = output
        assert_close(weights, expected_weights)
    assert_close(output, expected)
    tensors = [*given, *ours.parameters()]
    gradients = (torch.autograd.grad(probe(X), tensors) for X in (output, expected))
    for our, their in zip(*gradients, strict=True):
        assert_close(our, their, gradient=True)


@every_class
@pytest.mark.parametrize("dtype", list(TOLERANCES))
def test_two_paths_give_one_result(name, dtype):
    """Values and gradients with and without weights, and against the same in float64."""
    results = []
    for need_weights, kind in ((False, dtype), (True, dtype), (False, torch.float64)):
        attention = make(name).to(kind)
        given = [X.to(dtype).to(kind).requires_grad_() for X in inputs()]
        if kind != dtype:
            attention.load_state_dict({key: value.to(dtype) for key, value in attention.state_dict().items()})
        output = output_of(attention(*given, torch.tensor([0, 3]), need_weights=need_weights))
        probe(output).backward()
        parameters = [parameter.grad for parameter in attention.parameters()]
        results.append((output, [X.grad for X in given] + parameters))
    for output, gradients in results[:2]:
        assert output.dtype == dtype
        assert_close(output, results[2][0], dtype=dtype)
        for gradient, expected in zip(gradients, results[2][1], strict=True):
            assert_close(gradient, expected, gradient=True, dtype=dtype)


# ---- projecting once ----


@every_class
def test_attend_to_projected_keys_equals_forward(name):
    attention = make(name, sizes=(HIDDENS, HIDDENS, HIDDENS))
    queries, keys, values = inputs()
    whole, whole_weights = attention(queries, keys, values, need_weights=True)
    projected = attention.project(keys, values)
    for step in range(queries.shape[1]):
        output, weights = attention.attend(queries[:, step : step + 1], *projected, None, True)
        assert_close(output, whole[:, step : step + 1])
        assert_close(weights, whole_weights[..., step : step + 1, :])
        without, nothing = attention.attend(queries[:, step : step + 1], *projected, None, False)
        assert_close(without, output)
        assert nothing is None


@pytest.mark.parametrize("given", ["query_size", "key_size", "value_size"])
def test_a_size_that_is_not_given_is_num_hiddens(given):
    def features(attention):
        return {name: getattr(attention, name).in_features for name in expected}

    expected = {"W_q": HIDDENS, "W_k": HIDDENS, "W_v": HIDDENS, f"W_{given[0]}": 5}
    assert features(MultiHeadAttention(HIDDENS, HEADS, **{given: 5})) == expected
    if given != "value_size":
        del expected["W_v"]
        assert features(AdditiveAttention(HIDDENS, **{given: 5})) == expected


# ---- padding ----


@every_class
@both_paths
@pytest.mark.parametrize("device", DEVICES)
def test_a_query_without_keys_gets_zero_and_finite_gradients(name, need_weights, device):
    attention = make(name).to(device)
    given = [X.to(device).requires_grad_() for X in inputs()]
    output = output_of(attention(*given, torch.tensor([0, 2], device=device), need_weights=need_weights))
    expected = attention.W_o.bias if name == "bias" else torch.zeros((), device=device)
    assert torch.equal(output[0], expected.expand_as(output[0]))
    probe(output).backward()
    for tensor in (*given, *attention.parameters()):
        assert tensor.grad.isfinite().all()
    assert all(X.grad[0].eq(0).all() for X in given)


@every_class
@both_paths
def test_a_query_that_is_not_a_number_shows(name, need_weights):
    queries, keys, values = inputs()
    queries[0, 1] = math.nan
    output = output_of(make(name)(queries, keys, values, LENS, need_weights=need_weights))
    assert output[0, 1].isnan().all()
    assert output[0, [0, 2]].isfinite().all() and output[1].isfinite().all()


@every_class
@both_paths
def test_a_value_that_counts_and_is_not_a_number_shows(name, need_weights):
    queries, keys, values = inputs()
    values[0, 1] = math.nan
    output = output_of(make(name)(queries, keys, values, LENS, need_weights=need_weights))
    assert output[0].isnan().any()
    assert output[1].isfinite().all()


@every_class
def test_what_was_given_stays_as_it_was(name):
    given = [*inputs(), torch.tensor([0, 2])]
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    copies = [X.clone() for X in (*given, mask)]
    for need_weights in (False, True):
        make(name)(*given, mask=mask, need_weights=need_weights)
    for X, copied in zip((*given, mask), copies, strict=True):
        assert torch.equal(X, copied)


# ---- edges ----


@every_class
@both_paths
@pytest.mark.parametrize(
    ("batch", "num_queries", "num_keys"), [(0, 3, 5), (2, 0, 5), (2, 3, 0), (1, 1, 1), (0, 0, 0), (2, 1, 5)]
)
def test_sizes_of_zero_and_one(name, need_weights, batch, num_queries, num_keys):
    attention = make(name)
    given = [X.requires_grad_() for X in inputs(batch=batch, num_queries=num_queries, num_keys=num_keys)]
    for lens in (None, torch.zeros(batch, dtype=torch.int64), torch.full((batch, num_queries), num_keys)):
        result = attention(*given, lens, need_weights=need_weights)
        output = output_of(result)
        assert output.shape == (batch, num_queries, HIDDENS)
        assert output.isfinite().all()
        if need_weights:
            middle = () if name in ("dot", "additive") else (HEADS,)
            assert result[1].shape == (batch, *middle, num_queries, num_keys)
        if num_keys == 0:
            nothing = attention.W_o.bias if name == "bias" else torch.zeros(())
            assert torch.equal(output, nothing.expand_as(output))
        probe(output).backward()
        assert all(parameter.grad.isfinite().all() for parameter in attention.parameters())


@every_class
@both_paths
def test_inputs_that_are_not_contiguous(name, need_weights):
    attention = make(name)
    given = inputs()
    strided = [X.transpose(0, 1).contiguous().transpose(0, 1) for X in given]
    spread = [torch.stack((X, X), -1)[..., 0] for X in given]
    for other in (strided, spread):
        assert not other[1].is_contiguous()
        expected = output_of(attention(*given, LENS, need_weights=need_weights))
        assert_close(output_of(attention(*other, LENS, need_weights=need_weights)), expected)


@both_paths
def test_scores_are_scaled_before_they_can_overflow(need_weights):
    """4 · 150 · 150 = 90,000 is beyond float16, half of it, the score, is not."""
    queries = torch.full((1, 1, 4), 150.0, dtype=torch.float16)
    keys = torch.tensor([150.0, 149.0]).half()[None, :, None].expand(1, 2, 4)
    values = torch.tensor([[[1.0], [2.0]]], dtype=torch.float16)
    output = output_of(DotProductAttention()(queries, keys, values, need_weights=need_weights))
    assert output.item() == 1.0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["dot", "plain"])
def test_scores_beyond_half_precision_count(name, dtype):
    """64 · 100 · 100 / 8 = 80,000 is beyond float16."""
    X = torch.full((1, 3, 64), 100.0, dtype=dtype)
    attention = DotProductAttention() if name == "dot" else MultiHeadAttention(64, 1).to(dtype)
    for layer in attention.children():
        if isinstance(layer, nn.Linear):
            nn.init.eye_(layer.weight)
    output, weights = attention(X, X, X, need_weights=True)
    assert output.dtype == weights.dtype == dtype
    assert_close(weights, torch.full_like(weights, 1 / 3))
    assert_close(output, attention(X, X, X))


@every_class
def test_returned_weights_have_the_gradient_of_the_formula(name):
    attention = make(name).double()
    queries, keys, values = (X.requires_grad_() for X in inputs(dtype=torch.float64))

    def weights_of(queries, keys):
        return attention(queries, keys, values, LENS, need_weights=True)[1]

    assert torch.autograd.gradcheck(weights_of, (queries, keys), fast_mode=True)
    probe(weights_of(queries, keys)).backward()
    assert queries.grad.abs().max() > 0 and keys.grad.abs().max() > 0


@both_paths
def test_scores_beyond_any_finite_fill_count(need_weights):
    queries, keys = (
        torch.full((1, 1, 1), 1e5),
        torch.tensor([[[-2e4], [-2e4], [0.0]]]),
    )  # scores -2e9, -2e9, 0
    values, lens = torch.tensor([[[1.0], [3.0], [100.0]]]), torch.tensor([2])
    assert (
        output_of(DotProductAttention()(queries, keys, values, lens, need_weights=need_weights)).item() == 2.0
    )


@every_class
def test_masks_of_every_broadcastable_shape(name):
    attention, given = make(name), inputs()
    axes = [(5,), (3, 5), (1, 3, 5)]
    axes += (
        [(2, 3, 5), (2, 1, 5)] if name in ("dot", "additive") else [(2, 1, 3, 5), (2, 3, 3, 5), (1, 3, 1, 5)]
    )
    whole = (2, 3, 5) if name in ("dot", "additive") else (2, HEADS, 3, 5)
    for shape in axes:
        mask = torch.rand(shape) > 0.3
        output, weights = attention(*given, mask=mask, need_weights=True)
        full = mask.expand(whole)
        assert torch.equal(weights > 0, full)
        assert_close(attention(*given, mask=mask), output)
        assert_close(attention(*given, mask=full), output)


# ---- causal ----


def causal_by_loop(num_queries, num_keys):
    """Compute a causal mask by a loop; the last query is at the last key's position."""
    rows = range(num_keys - num_queries, num_keys)
    allowed = [[key <= row for key in range(num_keys)] for row in rows]
    return torch.tensor(allowed, dtype=torch.bool).reshape(num_queries, num_keys)


@every_class
@both_paths
@pytest.mark.parametrize(("num_queries", "num_keys"), [(5, 5), (3, 5), (1, 5), (1, 1), (0, 5), (0, 0)])
@pytest.mark.parametrize("others", ["alone", "lengths", "lengths of queries", "mask"])
def test_causal_is_the_mask_of_the_last_positions(name, need_weights, num_queries, num_keys, others):
    attention = make(name).double()
    given = inputs(num_queries=num_queries, num_keys=num_keys, dtype=torch.float64)
    mask = torch.rand(num_queries, num_keys) > 0.4
    lens = torch.randint(0, num_keys + 1, (2, num_queries))
    causal = causal_by_loop(num_queries, num_keys)
    options, joined = {
        "alone": ({}, {"mask": causal}),
        "lengths": ({"valid_lens": lens.sum(1).clamp(max=num_keys)},) * 2,
        "lengths of queries": ({"valid_lens": lens},) * 2,
        "mask": ({"mask": mask}, {"mask": mask & causal}),
    }[others]
    results = []
    for arguments in (options | {"is_causal": True}, {"mask": causal} | joined):
        own = [X.clone().requires_grad_() for X in given]
        attention.zero_grad()
        result = attention(*own, **arguments, need_weights=need_weights)
        probe(output_of(result)).backward()
        gradients = [X.grad for X in own] + [parameter.grad for parameter in attention.parameters()]
        results.append([output_of(result), *(result[1:] if need_weights else ()), *gradients])
    for told, masked in zip(*results, strict=True):
        assert_close(told, masked, gradient=True)


@every_class
@both_paths
def test_a_causal_query_sees_nothing_later_not_even_what_lengths_of_others_allow(name, need_weights):
    """Lengths let only the first query see the last keys, and it must not: so nobody sees them."""
    X = inputs(num_queries=3, num_keys=3)[0]
    spoilt = X.clone()
    spoilt[:, 1:] = math.nan
    lens = torch.tensor([[3, 1, 1]] * 2)
    expected, output = (
        output_of(make(name)(X, keys, keys, lens, is_causal=True, need_weights=need_weights))
        for keys in (X, spoilt)
    )
    assert torch.equal(output, expected)


@pytest.mark.parametrize(
    ("num_queries", "options", "told"),
    [
        (5, {}, True),
        (3, {}, False),
        (1, {}, False),
        (5, {"valid_lens": LENS}, False),
        (5, {"mask": True}, False),
    ],
)
@pytest.mark.parametrize("name", ["dot", "plain"])
def test_the_fused_kernel_draws_the_triangle_where_it_can(name, num_queries, options, told):
    if "mask" in options:
        options = {"mask": torch.ones(5, 5, dtype=torch.bool)}
    sdpa = nn.functional.scaled_dot_product_attention
    with (
        mock.patch.object(nn.functional, "scaled_dot_product_attention", wraps=sdpa) as fused,
        Operators() as seen,
    ):
        make(name)(*inputs(num_queries=num_queries), **options, is_causal=True)
    _, _, _, mask, _, is_causal = fused.call_args.args
    assert is_causal == told
    assert (mask is None) == (told or num_queries == 1)
    assert bool(seen.count("tril")) == (mask is not None)


# ---- dropout ----


@every_class
@both_paths
def test_dropout_keeps_the_mean_and_drops_its_share(name, need_weights):
    """With the identity as values, the output of one head shows the weights after dropout."""
    number = 4000
    torch.manual_seed(0)
    attention = {"dot": DotProductAttention(0.25), "additive": AdditiveAttention(4, 0.25)}.get(
        name, MultiHeadAttention(4, 1, 0.25)
    )
    for layer in ("W_v", "W_o"):
        if hasattr(attention, layer):
            nn.init.eye_(getattr(attention, layer).weight)
    queries, keys = torch.zeros(number, 1, 4), torch.zeros(number, 4, 4)
    values = torch.eye(4).expand(number, 4, 4)
    result = attention(queries, keys, values, need_weights=need_weights)
    output = output_of(result)
    dropped = output.eq(0).double().mean().item()
    assert abs(dropped - 0.25) < 0.02  # four standard deviations are .014
    assert torch.allclose(output[output != 0], torch.tensor(1 / 3))  # 1/4 over .75
    assert abs(output.mean().item() - 0.25) < 0.01
    if need_weights:  # weights are those before dropout
        assert_close(result[1], torch.full_like(result[1], 0.25))


@every_class
@both_paths
def test_dropout_of_one_drops_all(name, need_weights):
    output = output_of(make(name, dropout=1.0)(*inputs(), need_weights=need_weights))
    expected = make(name).W_o.bias if name == "bias" else torch.zeros(())
    assert torch.equal(output, expected.expand_as(output))


# ---- modules in PyTorch's world ----


@every_class
def test_nothing_is_kept_on_the_module(name):
    attention = make(name)
    given = [X.requires_grad_() for X in inputs()]
    output, weights = attention(*given, LENS, need_weights=True)
    before = set(vars(attention)) | {key for key, _ in attention.named_buffers()}
    references = weakref.ref(output), weakref.ref(weights)
    del output, weights
    assert all(reference() is None for reference in references)
    assert before == set(vars(make(name)))


def test_names_of_the_parameters_are_those_of_the_chapters():
    names = {f"{layer}.{part}" for layer in ("W_q", "W_k", "W_v", "W_o") for part in ("weight", "bias")}
    assert set(make("bias").state_dict()) == names
    assert set(make("plain").state_dict()) == {name for name in names if name.endswith("weight")}
    assert set(make("additive").state_dict()) == {"W_q.weight", "W_k.weight", "w_v.weight"}
    assert make("dot").state_dict() == {}


@every_class
@both_paths
def test_vmap_goes_with_masks(name, need_weights):
    attention = make(name)
    given = [torch.stack((X, -X, 2 * X)) for X in inputs()]
    mask = torch.rand(3, 2, *(() if name in ("dot", "additive") else (1,)), 3, 5) > 0.4

    def run(queries, keys, values, mask):
        return output_of(attention(queries, keys, values, mask=mask, need_weights=need_weights))

    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="There is a performance drop"
        )  # PyTorch's own, for its CPU kernel
        output = torch.vmap(run)(*given, mask)
    for row in range(3):
        assert_close(output[row], run(*(X[row] for X in given), mask[row]))
    with pytest.raises(RuntimeError, match="vmap"):
        torch.vmap(attention)(*given, LENS.repeat(3, 1))
