"""The script behind the table of swapped parts, and the table that lies in the package."""

from dataclasses import asdict

import pytest
import torch

from mha_course.attention import DotProductAttention
from mha_course.results import stored_results
from tools.experiments.parts import BilinearAttention, Setting, build, settings


def test_every_setting_is_trained_once_a_seed():
    chosen = list(settings())
    assert len(chosen) == len(set(chosen)) == 5 * 6 * 3


def test_the_table_in_the_package_is_of_these_settings():
    rows = stored_results("parts")
    names = list(asdict(Setting()))
    assert [tuple(row[name] for name in names) for row in rows] == [
        tuple(asdict(setting).values()) for setting in settings()
    ]
    assert all(0 <= row["exact_match"] <= 1 for row in rows)


def test_the_bilinear_score_is_the_dot_product_with_mapped_keys():
    bilinear, queries, keys = BilinearAttention(4), torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mapped = keys @ bilinear.W.weight.T  # (batch, keys, features)
    _, weights = bilinear(queries, keys, keys, need_weights=True)
    _, expected = DotProductAttention()(queries, mapped, keys, need_weights=True)
    torch.testing.assert_close(weights, expected)


@pytest.mark.parametrize(
    "setting", [Setting("lstm"), Setting(attention="dot"), Setting(attention="bilinear")]
)
def test_the_seed_decides_the_weights_and_the_model_runs(setting):
    model, twin = build(setting, 12, 14), build(setting, 12, 14)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    source, target = torch.ones(2, 5, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)
    assert model(source, target, torch.tensor([5, 3]))[0].shape == (2, 3, 14)


def test_only_the_bilinear_score_adds_a_square_matrix_to_the_dot_product():
    dot, bilinear = (build(Setting(attention=name), 12, 14) for name in ("dot", "bilinear"))
    sizes = [sum(parameter.numel() for parameter in model.parameters()) for model in (dot, bilinear)]
    assert sizes[1] - sizes[0] == 64 * 64
