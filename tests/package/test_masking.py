"""Lengths, masks and the masked softmax."""

import math

import pytest
import torch
from tolerance import assert_close

from mha_course.masking import attention_mask, causal_mask, clean_padding, length_mask, masked_softmax


def test_length_mask_by_hand():
    expected = torch.tensor([[False, False, False], [True, False, False], [True, True, True]])
    assert torch.equal(length_mask(torch.tensor([0, 1, 3]), 3), expected)


def test_length_mask_adds_an_axis_to_any_shape():
    mask = length_mask(torch.tensor([[1, 2], [0, 3]]), 3)
    assert mask.shape == (2, 2, 3)
    assert torch.equal(mask.sum(-1), torch.tensor([[1, 2], [0, 3]]))
    assert length_mask(torch.tensor(2), 3).tolist() == [True, True, False]
    assert length_mask(torch.zeros(0, dtype=torch.int64), 3).shape == (0, 3)
    assert length_mask(torch.zeros(2, dtype=torch.int64), 0).shape == (2, 0)
    assert length_mask(torch.ones(2, dtype=torch.int64, device="meta"), 3).device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
def test_length_mask_takes_every_integer_type(dtype):
    assert length_mask(torch.tensor([1, 127], dtype=dtype), 127).sum(-1).tolist() == [1, 127]


def test_causal_mask_by_hand():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(0).shape == (0, 0)
    assert causal_mask(2, device="meta").device.type == "meta"


def test_masked_softmax_by_hand():
    # With equal scores two keys share one half each, three one third.
    weights = masked_softmax(torch.zeros(2, 1, 4, dtype=torch.float64), torch.tensor([2, 3]))
    assert_close(
        weights, torch.tensor([[[1 / 2, 1 / 2, 0, 0]], [[1 / 3, 1 / 3, 1 / 3, 0]]], dtype=torch.float64)
    )
    # exp(0) and exp(1) share by 1 / (1 + e).
    weights = masked_softmax(torch.tensor([[[0.0, 1.0, 5.0]]]).double(), torch.tensor([2]))
    small = 1 / (1 + math.e)
    assert_close(weights, torch.tensor([[[small, 1 - small, 0.0]]], dtype=torch.float64))


def test_masked_softmax_without_mask_is_softmax():
    scores = torch.randn(2, 3, 4)
    assert torch.equal(masked_softmax(scores), scores.softmax(-1))


def test_two_dimensional_lengths_mask_row_by_row():
    lens = torch.tensor([[1, 3], [0, 2]])
    weights = masked_softmax(torch.zeros(2, 2, 3), lens)
    expected = [[[1, 0, 0], [1 / 3] * 3], [[0, 0, 0], [1 / 2, 1 / 2, 0]]]
    assert_close(weights, torch.tensor(expected))


def test_lengths_hold_for_every_head():
    lens = torch.tensor([[1, 3], [0, 2]])
    flat = masked_softmax(torch.zeros(2, 2, 3), lens)
    weights = masked_softmax(torch.zeros(2, 5, 2, 3), lens)
    assert torch.equal(weights, flat.unsqueeze(1).expand(2, 5, 2, 3))
    weights = masked_softmax(torch.zeros(2, 5, 2, 3), torch.tensor([1, 2]))
    assert torch.equal(weights[1], torch.tensor([0.5, 0.5, 0.0]).expand(5, 2, 3))


def test_lengths_and_mask_are_joined():
    weights = masked_softmax(torch.zeros(1, 3, 3), torch.tensor([2]), causal_mask(3))
    assert_close(weights, torch.tensor([[[1.0, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]]))


def test_a_row_without_keys_has_no_weights_and_no_gradient():
    scores = torch.randn(2, 1, 3, requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([0, 2]))
    assert torch.equal(weights[0], torch.zeros(1, 3))
    (weights * torch.randn(2, 1, 3)).sum().backward()
    assert torch.equal(scores.grad[0], torch.zeros(1, 3))
    assert scores.grad[1, 0, :2].abs().min() > 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_no_step_on_the_way_back_is_not_a_number(dtype):
    scores = torch.randn(2, 1, 3, dtype=dtype, requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly():
        masked_softmax(scores, torch.tensor([0, 2])).square().sum().backward()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_stands_in_masked_scores_never_matters(bad):
    scores = torch.randn(2, 2, 4, dtype=torch.float64)
    spoilt = scores.clone()
    spoilt[0, :, 2:] = bad
    spoilt[1] = bad
    gradients = []
    for given in (scores, spoilt):
        given.requires_grad_()
        weights = masked_softmax(given, torch.tensor([2, 0]))
        (weights * torch.arange(4.0).double()).sum().backward()
        gradients.append(given.grad)
    assert torch.equal(masked_softmax(scores, torch.tensor([2, 0])), weights)
    assert torch.equal(*gradients)


@pytest.mark.parametrize("score", [-2e6, -2e9, -1e38, 2e9])
def test_large_scores_that_are_valid_count(score):
    # A fill of -1e6 or -1e9 would let the padding win here.
    weights = masked_softmax(torch.tensor([[[score, score, 0.0]]]), torch.tensor([2]))
    assert weights.tolist() == [[[0.5, 0.5, 0.0]]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_masked_softmax_in_lower_precision(dtype):
    scores = torch.randn(2, 3, 5, dtype=torch.float64)
    lens = torch.tensor([[1, 2, 0], [5, 4, 3]])
    assert_close(masked_softmax(scores.to(dtype), lens), masked_softmax(scores, lens), dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_many_weights_of_half_precision_sum_to_1(dtype):
    weights = masked_softmax(torch.zeros(1, 1, 2**14 + 8, dtype=dtype), torch.tensor([2**14]))
    assert weights.dtype == dtype
    assert weights.double().sum().item() == 1


def test_masked_softmax_leaves_what_it_was_given():
    scores, lens, mask = torch.randn(2, 3, 3), torch.tensor([2, 0]), causal_mask(3)
    copies = scores.clone(), lens.clone(), mask.clone()
    masked_softmax(scores, lens, mask)
    for given, copy in zip((scores, lens, mask), copies, strict=True):
        assert torch.equal(given, copy)


@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3), (2, 2, 0), (1, 1, 1)])
def test_masked_softmax_of_nothing_and_of_one(shape):
    lens = torch.zeros(shape[0], dtype=torch.int64)
    weights = masked_softmax(torch.randn(shape), lens)
    assert torch.equal(weights, torch.zeros(shape))
    assert masked_softmax(torch.randn(shape), mask=torch.ones(shape, dtype=torch.bool)).shape == shape


def test_attention_mask_of_nothing_is_none():
    assert attention_mask(None, None, (2, 3, 4)) is None


@pytest.mark.parametrize("shape", [(4,), (3, 4), (1, 3, 4), (2, 1, 1, 4), (2, 5, 3, 4), (1, 1, 3, 1)])
def test_attention_mask_gets_all_axes(shape):
    mask = torch.rand(shape) > 0.5
    allowed = attention_mask(None, mask, (2, 5, 3, 4))
    assert allowed.dim() == 4
    assert torch.equal(allowed.expand(2, 5, 3, 4), mask.expand(2, 5, 3, 4))


def test_clean_padding_zeroes_only_what_nobody_attends_to():
    keys, values = torch.ones(2, 3, 2), torch.ones(2, 3, 4)
    allowed = torch.tensor([[[1, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 0]]]).bool()
    clean_keys, clean_values = clean_padding(keys, values, allowed)
    for clean in (clean_keys, clean_values):
        assert clean[0, :2].eq(1).all()
        assert clean[0, 2].eq(0).all()
        assert clean[1].eq(0).all()
    assert keys.eq(1).all() and values.eq(1).all()
    clean_heads, _ = clean_padding(keys, values, allowed.unsqueeze(1))
    assert torch.equal(clean_heads, clean_keys)


def test_what_is_keys_and_values_at_once_is_cleaned_once():
    allowed = torch.tensor([[[True, False]]])
    for X in (torch.ones(1, 2, 3), torch.ones(1, 2, 3).requires_grad_()):
        clean_keys, clean_values = clean_padding(X, X, allowed)
        assert clean_keys is clean_values
    (clean_keys + 2 * clean_values).sum().backward()
    assert torch.equal(X.grad, torch.tensor([[[3.0], [0.0]]]).expand(1, 2, 3))


def test_clean_padding_without_mask_gives_back_the_same_tensors():
    keys, values = torch.ones(2, 3, 2), torch.ones(2, 3, 4)
    assert clean_padding(keys, values, None) == (keys, values)
