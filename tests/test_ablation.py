"""The script behind the ablation table, and the table that lies in the package."""

import csv
from dataclasses import asdict

import pytest
import torch

from mha_course.corpus import Pair
from tools.experiments.ablation import (
    TABLE,
    Scores,
    as_row,
    build,
    mean_shift,
    nearest_shift,
    parts,
    write_table,
)


@pytest.mark.parametrize(
    ("peak", "gold", "shift"), [(3, (3,), 0), (4, (3,), 1), (0, (2,), -2), (4, (1, 5), -1), (5, (0, 3), 2)]
)
def test_shift_is_signed_and_counts_from_the_nearest_gold_position(peak, gold, shift):
    assert nearest_shift(peak, gold) == shift


def test_mean_shift_skips_tokens_without_a_gold_position():
    pair = Pair("1", "t", ("a", "b", "c"), ("x", "y", "z"), ((0,), (), (1,)))
    weights = torch.eye(4)[[2, 0, 1]]  # peaks at 2, 0, 1
    assert mean_shift([weights], [pair]) == 1.0


def test_the_table_in_the_package_holds_every_setting_once_and_shares():
    settings = list(parts())
    assert len(settings) == len(set(settings)) == 3 * 3 * 3
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    names = list(asdict(settings[0]))
    in_table = [tuple(row[name] for name in names) for row in rows]
    assert in_table == [tuple(str(value) for value in asdict(setting).values()) for setting in settings]
    for row in rows:
        assert all(0 <= float(row[name]) <= 1 for name in ("dev_exact_match", "exact_match", "alignment"))


def test_the_table_is_written_whole(tmp_path):
    path, scores = tmp_path / "table.tsv", Scores(1, 0.5, 0.25, -0.1)
    write_table(path, [as_row(next(parts()), scores)])
    assert [item.name for item in tmp_path.iterdir()] == ["table.tsv"]
    with path.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    assert (row["alignment"], row["shift"]) == ("0.250", "-0.100")


@pytest.mark.parametrize("setting", list(parts())[::9])
def test_every_kind_of_model_runs_and_the_seed_decides_its_weights(setting):
    model, twin = build(setting, 12, 14), build(setting, 12, 14)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    logits, _ = model(
        torch.ones(2, 5, dtype=torch.long), torch.ones(2, 3, dtype=torch.long), torch.tensor([5, 3])
    )
    assert logits.shape == (2, 3, 14)
