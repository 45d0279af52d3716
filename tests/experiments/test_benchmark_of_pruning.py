"""The pruning benchmark compares two ways to compute one result, and a third that differs."""

from pathlib import Path

import pytest
import torch

from benchmarks import pruning
from benchmarks.measure import Report

CPU = torch.device("cpu")


def test_masked_and_cut_heads_give_one_output_and_all_heads_another() -> None:
    outputs = {name: call() for name, call in pruning.calls_of(3, 5, 16, 4, CPU).items()}
    torch.testing.assert_close(outputs[pruning.MASKED], outputs[pruning.CUT])
    assert (outputs[pruning.ALL] - outputs[pruning.CUT]).abs().max() > 0.01


def test_all_heads_are_what_the_others_are_compared_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.measure.FOLDER", tmp_path)
    report = Report("pruning", CPU)
    pruning.add_times(report, (2, 4, 16, 4), seconds=0)
    assert {row.size for row in report.rows} == {"2 × 4 × 16 × 4"}
    ratios = {row.name: float(row.ratio) for row in report.rows}
    assert ratios.pop(pruning.ALL) == 1
    assert list(ratios) == [pruning.MASKED, pruning.CUT]
