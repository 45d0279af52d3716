"""What pages write or compute themselves equals the package and autograd."""

import math
from typing import Any

import pytest
import torch
from tolerance import assert_close
from torch import nn

from mha_course.attention import AdditiveAttention, DotProductAttention
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


def test_three_scores_by_hand_equal_the_code() -> None:
    names = names_of("scoring-functions", "dot-product-by-hand", "bilinear-by-hand", "additive-by-hand")
    query, keys, swapped, W = (names[name] for name in ("query", "keys", "swapped", "W"))
    assert (keys @ query).tolist() == (query @ W @ swapped.T).tolist() == [3, 2, 1]
    assert (swapped @ query).tolist() == [1, 2, 3]
    sums = torch.tensor([[3.5, 0.5], [2.5, 1.5], [1.5, 2.5]])  # query plus the key put back in order
    assert_close(names["hidden"], sums.tanh())
    assert (names["hidden"] @ names["w_v"] - torch.tensor([0.536, 0.081, -0.081])).abs().max() <= 0.0005


def page_scores() -> tuple[Any, nn.Module, nn.Module]:
    """Return the three scores that the page on scoring functions writes, for queries of 4 and keys of 6."""
    names = names_of("scoring-functions", "map-additive", "map-scores-code")
    return names["dot"], names["Bilinear"](4, 6).double(), names["Additive"](4, 6, 5).double()


def test_scores_of_the_page_equal_the_package() -> None:
    dot, bilinear, additive = page_scores()
    queries, keys = torch.randn(2, 3, 4).double(), torch.randn(2, 7, 6).double()
    _, weights = DotProductAttention()(queries, keys[..., :4], keys, need_weights=True)
    assert_close(dot(queries, keys[..., :4]).softmax(-1), weights)
    _, weights = DotProductAttention()(queries @ bilinear.W * math.sqrt(6), keys, keys, need_weights=True)
    assert_close(bilinear(queries, keys).softmax(-1), weights)
    attention = AdditiveAttention(5, query_size=4, key_size=6).double()
    attention.load_state_dict(additive.state_dict())
    assert_close(additive(queries, keys).softmax(-1), attention(queries, keys, keys, need_weights=True)[1])


def test_scores_change_their_sign_as_the_solution_says() -> None:
    _, bilinear, additive = page_scores()
    queries, keys = torch.randn(2, 3, 4).double(), torch.randn(2, 7, 6).double()
    assert_close(additive(-queries, -keys), -additive(queries, keys))
    assert_close(bilinear(-queries, keys), -bilinear(queries, keys))
    additive.W_q = nn.Linear(4, 5).double()
    with pytest.raises(AssertionError):
        assert_close(additive(-queries, -keys), -additive(queries, keys))


@pytest.mark.parametrize("beta", [1, 1 / 32])
def test_gradient_of_two_keys_equals_autograd(beta: float) -> None:
    query, keys = torch.randn(1024).double().requires_grad_(), torch.randn(2, 1024).double() / 8
    values = torch.tensor([1.0, 0.0]).double()
    weights = torch.softmax(beta * keys @ query, dim=0)
    (gradient,) = torch.autograd.grad(weights @ values, query)
    assert_close(gradient, beta * weights[0] * (1 - weights[0]) * (keys[0] - keys[1]), gradient=True)
