"""The script behind the table of fused attention, and the table that lies in the package."""

import torch
import torch.nn.functional as F

from mha_course.results import stored_results
from tools.experiments.fused import HEADS, LENGTHS, WIDTH, formula, kept_bytes, measure
from tools.experiments.runs import SEEDS

INPUTS = [torch.randn(1, HEADS, 256, WIDTH, requires_grad=True) for _ in range(3)]


def test_both_compute_the_same():
    torch.testing.assert_close(formula(*INPUTS), F.scaled_dot_product_attention(*INPUTS), rtol=0, atol=1e-5)


def test_bytes_count_each_piece_of_memory_once():
    assert kept_bytes(lambda x, y, z: x * x + x * x[:, :1], INPUTS) == INPUTS[0].nbytes
    weights = HEADS * 256 * 256 * 4
    assert weights < kept_bytes(formula, INPUTS) < 2 * weights + 4 * INPUTS[0].nbytes


def test_a_row_holds_ratios_of_formula_to_fused():
    row = measure(256, seed=0, work=2 * 256)
    assert (row["length"], row["seed"], float(row["bytes"]) > 1) == ("256", "0", True)
    assert min(float(row[name]) for name in ("forward", "training")) > 0


def test_the_table_in_the_package_is_of_these_settings():
    rows = stored_results("fused")
    assert [(row["length"], row["seed"]) for row in rows] == [(n, seed) for n in LENGTHS for seed in SEEDS]
    assert all(row["bytes"] > 1 for row in rows)
