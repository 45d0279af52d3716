"""What experiments share: a table in the package of every setting, and models that a seed decides."""

from dataclasses import asdict
from importlib import import_module
from typing import Any

import pytest
import torch

from mha_course.results import stored_results


def experiment(name: str) -> Any:
    return import_module(f"tools.experiments.{name}")


@pytest.mark.parametrize("name", ["bottleneck", "layouts", "lengths", "parts", "qk_norm"])
def test_the_table_holds_every_setting_once(name: str) -> None:
    rows = stored_results(name)
    settings = [asdict(setting) for setting in experiment(name).settings()]
    assert [{key: str(row[key]) for key in settings[0]} for row in rows] == [
        {key: str(value) for key, value in setting.items()} for setting in settings
    ]
    assert len({tuple(setting.values()) for setting in settings}) == len(settings)
    assert all(0 <= row.get("exact_match", 0) <= 1 for row in rows)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bottleneck", {"dropout": 0.3}),
        ("bottleneck", {"attention": "additive"}),
        ("layouts", {"attention": "none"}),
        ("layouts", {"direction": "both", "layers": 2}),
        ("parts", {"cell": "lstm"}),
        ("parts", {"attention": "dot"}),
        ("parts", {"attention": "bilinear"}),
    ],
)
def test_the_seed_decides_the_weights_and_the_model_runs(name: str, options: dict[str, Any]) -> None:
    setting = experiment(name).Setting(**options)
    model, twin = (experiment(name).build(setting, 12, 14) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    source, target = torch.ones(2, 5, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)
    assert model(source, target, torch.tensor([5, 3]))[0].shape == (2, 3, 14)
