"""The script behind the table of swapped parts, and the table that lies in the package."""

import torch

from mha_course.attention import DotProductAttention
from tools.experiments.parts import BilinearAttention, Setting, build


def test_the_bilinear_score_is_the_dot_product_with_mapped_keys():
    bilinear, queries, keys = BilinearAttention(4), torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mapped = keys @ bilinear.W.weight.T  # (batch, keys, features)
    _, weights = bilinear(queries, keys, keys, need_weights=True)
    _, expected = DotProductAttention()(queries, mapped, keys, need_weights=True)
    torch.testing.assert_close(weights, expected)


def test_only_the_bilinear_score_adds_a_square_matrix_to_the_dot_product():
    dot, bilinear = (build(Setting(attention=name), 12, 14) for name in ("dot", "bilinear"))
    sizes = [sum(parameter.numel() for parameter in model.parameters()) for model in (dot, bilinear)]
    assert sizes[1] - sizes[0] == 64 * 64
