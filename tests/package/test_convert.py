"""Weights carried over give the same numbers, in every direction."""

from functools import partial

import pytest
import torch
from tolerance import assert_close
from torch import nn
from transformers import GPT2Config, LlamaConfig
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention
from transformers.models.llama.modeling_llama import LlamaAttention

from benchmarks.references import AnnotatedAttention, EagerAttention, d2l
from mha_course.attention import AdditiveAttention, DotProductAttention, MultiHeadAttention
from mha_course.convert import (
    from_annotated,
    from_d2l,
    from_gpt2,
    from_llama,
    from_torch,
    to_annotated,
    to_d2l,
    to_torch,
)
from mha_course.masking import length_mask

HIDDENS, HEADS = 12, 3
LENS = torch.tensor([4, 2])
SIZES = [(HIDDENS, HIDDENS, HIDDENS), (HIDDENS, 7, 5)]
ODD_SIZES = [(HIDDENS, HIDDENS, HIDDENS), (4, 7, 5)]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def inputs(sizes):
    shapes = zip((3, 5, 5), sizes, strict=True)
    return [torch.randn(2, number, size, dtype=torch.float64) for number, size in shapes]


def ours(sizes, bias, dropout=0.25):
    size = {"query_size": sizes[0], "key_size": sizes[1], "value_size": sizes[2]}
    return randomized(MultiHeadAttention(HIDDENS, HEADS, dropout, bias, **size))


def randomized(module):
    """In float64, in evaluation mode, with biases that are not 0."""
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module


def assert_same_weights(one, other):
    assert set(one.state_dict()) == set(other.state_dict())
    for name, weight in one.state_dict().items():
        assert torch.equal(weight, other.state_dict()[name]), name


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("bias", [False, True])
def test_to_torch_and_back(sizes, bias):
    attention, given = ours(sizes, bias), inputs(sizes)
    theirs = to_torch(attention)
    expected, expected_weights = attention(*given, LENS, need_weights=True)
    output, weights = theirs(*given, key_padding_mask=~length_mask(LENS, 5), average_attn_weights=False)
    assert_close(output, expected)
    assert_close(weights, expected_weights)
    assert theirs.dropout == 0.25
    assert not theirs.training
    assert_same_weights(from_torch(theirs), attention)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_from_torch(sizes, bias, batch_first):
    theirs = randomized(
        nn.MultiheadAttention(
            HIDDENS, HEADS, 0.25, bias, kdim=sizes[1], vdim=sizes[2], batch_first=batch_first
        )
    )
    given = inputs(sizes)
    attention = from_torch(theirs)
    theirs_given = given if batch_first else [X.transpose(0, 1) for X in given]
    expected, expected_weights = theirs(
        *theirs_given, key_padding_mask=~length_mask(LENS, 5), average_attn_weights=False
    )
    output, weights = attention(*given, LENS, need_weights=True)
    assert_close(output, expected if batch_first else expected.transpose(0, 1))
    assert_close(weights, expected_weights)
    assert attention.dropout.p == 0.25
    assert not attention.training


def convertible():
    """Return each conversion with a module to convert."""
    sizes, ways = SIZES[0], []
    theirs = nn.MultiheadAttention(HIDDENS, HEADS)
    ways += [(to_torch, ours(sizes, True)), (from_torch, theirs)]
    ways += [(from_d2l, EagerAttention(*sizes, HIDDENS, HEADS, 0.25))]
    ways += [(partial(to_d2l, module=EagerAttention(*sizes, HIDDENS, HEADS, 0.5)), ours(sizes, False))]
    ways += [(from_annotated, AnnotatedAttention(HEADS, HIDDENS, 0.25))]
    ways += [(partial(to_annotated, module=AnnotatedAttention(HEADS, HIDDENS)), ours(sizes, True))]
    ways += [(from_gpt2, GPT2Attention(GPT2Config(n_embd=HIDDENS, n_head=HEADS)))]
    config = LlamaConfig(hidden_size=HIDDENS, num_attention_heads=HEADS, num_key_value_heads=1)
    ways += [(from_llama, LlamaAttention(config, layer_idx=0))]
    return ways


@pytest.mark.parametrize(("convert", "given"), convertible())
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_nothing_is_shared_and_type_and_mode_are_carried_over(convert, given, training, dtype):
    converted = convert(given.to(dtype).train(training))
    assert converted.training == training
    assert {parameter.dtype for parameter in converted.parameters()} == {dtype}
    before = {name: weight.clone() for name, weight in converted.state_dict().items()}
    with torch.no_grad():
        for parameter in given.parameters():
            parameter.add_(1)
    for name, weight in converted.state_dict().items():
        assert torch.equal(weight, before[name]), name


@pytest.mark.parametrize("sizes", ODD_SIZES)
@pytest.mark.parametrize("bias", [False, True])
def test_d2l_1_0_multi_head_in_both_directions(sizes, bias):
    given = inputs(sizes)
    theirs = d2l.MultiHeadAttention(HIDDENS, HEADS, 0.25, bias=bias)
    theirs(*(X.float() for X in given), LENS)  # lazy layers take their sizes
    theirs = randomized(theirs)
    attention = from_d2l(theirs)
    expected = theirs(*given, LENS)
    output, weights = attention(*given, LENS, need_weights=True)
    assert_close(output, expected)
    assert_close(weights.flatten(0, 1), theirs.attention.attention_weights)
    assert attention.dropout.p == 0.25

    attention = ours(sizes, bias)
    for warm in (False, True):  # lazy layers, and layers that have met a batch
        target = d2l.MultiHeadAttention(HIDDENS, HEADS, 0.5, bias=bias)
        if warm:
            target(*(X.float() for X in given), LENS)
        target = to_d2l(attention, target)
        assert_close(target(*given, LENS), attention(*given, LENS))
        assert target.attention.dropout.p == 0.25
        assert_same_weights(from_d2l(target), attention)


@pytest.mark.parametrize("bias", [False, True])
def test_d2l_0_17_multi_head_in_both_directions(bias):
    theirs = randomized(EagerAttention(7, 4, 5, HIDDENS, HEADS, 0.25, bias))
    attention = from_d2l(theirs)
    assert_same_weights(attention, theirs)
    assert (attention.W_q.in_features, attention.W_k.in_features, attention.W_v.in_features) == (4, 7, 5)
    assert attention.num_heads == HEADS
    target = to_d2l(ours((4, 7, 5), bias), EagerAttention(7, 4, 5, HIDDENS, HEADS, 0.5, bias))
    assert_same_weights(target, ours_again := from_d2l(target))
    assert ours_again.dropout.p == target.attention.dropout.p == 0.25


def test_d2l_single_head_classes_in_both_directions():
    queries, keys, values = inputs((4, 7, 5))
    theirs = d2l.AdditiveAttention(8, 0.25)
    theirs(queries.float(), keys.float(), values.float(), LENS)
    theirs = randomized(theirs)
    attention = from_d2l(theirs)
    assert isinstance(attention, AdditiveAttention)
    assert_close(attention(queries, keys, values, LENS), theirs(queries, keys, values, LENS))
    back = to_d2l(attention, d2l.AdditiveAttention(8, 0.5))
    assert_close(back(queries, keys, values, LENS), theirs(queries, keys, values, LENS))
    assert back.dropout.p == 0.25

    attention = from_d2l(d2l.DotProductAttention(0.25).eval())
    assert isinstance(attention, DotProductAttention)
    queries = torch.randn(2, 3, 7, dtype=torch.float64)
    expected = d2l.DotProductAttention(0.25).eval()(queries, keys, values, LENS)
    assert_close(attention(queries, keys, values, LENS), expected)
    assert to_d2l(attention, d2l.DotProductAttention(0.5)).dropout.p == 0.25


def test_annotated_transformer_in_both_directions():
    given = inputs(SIZES[0])
    mask = length_mask(LENS, 5)[:, None]
    theirs = randomized(AnnotatedAttention(HEADS, HIDDENS, 0.25))
    attention = from_annotated(theirs)
    assert_close(attention(*given, LENS), theirs(*given, mask))
    assert attention.dropout.p == 0.25
    attention = ours(SIZES[0], bias=True)
    target = to_annotated(attention, AnnotatedAttention(HEADS, HIDDENS, 0.5))
    assert_close(target(*given, mask), attention(*given, LENS))
    assert target.dropout.p == 0.25
    assert_same_weights(from_annotated(target), attention)
