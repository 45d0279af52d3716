"""The pruning benchmark compares two ways to compute one result, and a third that differs."""

import torch

from benchmarks import pruning

CPU = torch.device("cpu")


def test_masked_and_cut_heads_give_one_output_and_all_heads_another() -> None:
    outputs = {name: call() for name, call in pruning.calls_of(3, 5, 16, 4, CPU).items()}
    torch.testing.assert_close(outputs[pruning.MASKED], outputs[pruning.CUT])
    assert (outputs[pruning.ALL] - outputs[pruning.CUT]).abs().max() > 0.01


def test_a_row_has_the_shape_the_time_and_two_ratios() -> None:
    title, whole, masked, cut = pruning.row_of((2, 4, 16, 4), CPU, seconds=0.1)
    assert title == "2 × 4 × 16 × 4"
    assert min(float(whole) + 0.01, float(masked), float(cut)) > 0
