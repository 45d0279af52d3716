"""The experiment on QK-norm: its table holds every setting, and heads are normalized one by one."""

import pytest
import torch

from tools.experiments.qk_norm import NormalizedLinear, ObservedAttention, Setting, build


def test_each_head_has_the_root_mean_square_of_its_gain():
    layer = NormalizedLinear(8, 32)
    with torch.no_grad():
        layer.gain.fill_(3)
        heads = layer(100 * torch.randn(2, 5, 8)).unflatten(-1, (2, 16))
    torch.testing.assert_close(heads.square().mean(dim=-1).sqrt(), torch.full((2, 5, 2), 3.0))


@pytest.mark.parametrize("normalized", [True, False])
def test_only_normalized_scores_have_a_bound(normalized):
    model = build(Setting(normalized=normalized), 9)
    attention = model.blocks[0].attention
    attention.__class__ = ObservedAttention
    with torch.no_grad():
        attention.W_q.weight.mul_(1000)
        attention(torch.randn(4, 6, 64))
    assert (attention.largest <= 4 + 1e-4) == normalized  # the root of 16 features a head
