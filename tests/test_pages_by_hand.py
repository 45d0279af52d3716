"""What pages write or compute themselves equals the package and autograd."""

import math
from typing import Any

import pytest
import torch
from tolerance import assert_close
from torch import nn

from mha_course.attention import DotProductAttention
from mha_course.masking import causal_mask, masked_softmax
from tools.course import Course, cells

COURSE = Course()


def names_of(stem: str, *keys: str) -> dict[str, Any]:
    """Return the names that cells of an English page bind, run one after the other."""
    code = cells(COURSE.read("en", stem), "code")
    names: dict[str, Any] = {"math": math, "torch": torch, "nn": nn, "Tensor": torch.Tensor}
    for key in keys:
        exec(code[key].source, names)
    return names


@pytest.mark.parametrize("mask", [causal_mask(5), torch.ones(5, 5, dtype=torch.bool)])
def test_self_attention_of_the_page_equals_the_package(mask: torch.Tensor) -> None:
    self_attention = names_of("attention-pooling", "self-attention-code")["self_attention"]
    X, W = torch.randn(5, 8, dtype=torch.float64), torch.randn(3, 8, 4, dtype=torch.float64)
    output, weights = self_attention(X, *W, mask)
    queries, keys, values = ((X @ matrix)[None] for matrix in W)
    expected = DotProductAttention()(queries, keys, values, mask=mask, need_weights=True)
    assert_close(output, expected[0][0])
    assert_close(weights, expected[1][0])


def test_mask_of_the_page_equals_the_package() -> None:
    names = names_of("attention-pooling", "mask-code", "mask-too-late", "mask-infinity-code")
    assert_close(names["filled"].softmax(-1), masked_softmax(names["scores"], names["valid_lens"]))


def test_pooling_by_hand_equals_the_code() -> None:
    names = names_of("attention-pooling", "by-hand-scores")
    powers = [math.exp(score) for score in (3, 2, 1)]
    assert_close(names["weights"], torch.tensor(powers) / sum(powers))
    assert_close(names["weights"], names["scores"].softmax(0))
    assert (names["output"] - torch.tensor([7.55, 3.35])).abs().max() <= 0.005


def test_gradient_by_hand_equals_autograd() -> None:
    names = names_of("attention-pooling", "by-hand-scores", "gradient-autograd")
    weights = (names["keys"] @ names["query"]).softmax(0)
    pulled = weights * (names["values"][:, 0] - weights @ names["values"][:, 0])
    assert_close(names["by_scores"], pulled, gradient=True)
    assert (names["by_scores"] - torch.tensor([1.63, -1.85, 0.22])).abs().max() <= 0.005
    assert (names["by_query"] - torch.tensor([1.41, -1.41])).abs().max() <= 0.005
