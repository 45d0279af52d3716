"""How much do the written-out formula and PyTorch's fused attention differ in memory and in time?

``python -m tools.experiments.fused`` computes both on random queries, keys and values of 8 heads of width 64,
on one thread of the CPU (about two minutes), and writes a row for each length and seed to
``mha_course/data/fused.tsv``. All measures are ratios, formula to fused: ``bytes`` of what is kept for the
backward pass; time of the ``forward`` pass alone, without gradients; time of a ``training`` step, forward and
backward. Ratios of time are medians over rounds in which each of the two runs once.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from benchmarks.measure import interleaved, ratio
from tools.experiments.runs import SEEDS, Row, write_table

LENGTHS = (256, 512, 1024, 2048)
HEADS, WIDTH = 8, 64
Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


def formula(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Compute attention step by step: all scores, all weights, then the means."""
    scores = queries @ keys.mT / WIDTH**0.5  # (batch, heads, queries, keys)
    return torch.matmul(scores.softmax(dim=-1), values)


def kept_bytes(attention: Attention, tensors: list[Tensor]) -> int:
    """Count the bytes that the forward pass keeps for the backward pass, each piece of memory once."""
    storages = {}

    def pack(tensor: Tensor) -> Tensor:
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        attention(*tensors)
    return sum(storage.nbytes() for storage in storages.values())


def times(attention: Attention, tensors: list[Tensor]) -> dict[str, Callable[[], object]]:
    """Return the two calls that are timed: a forward pass, and a training step."""

    def forward() -> None:
        with torch.no_grad():
            attention(*tensors)

    def training() -> None:
        torch.autograd.backward(attention(*tensors).sum())

    return {"forward": forward, "training": training}


def measure(length: int, seed: int, work: int = 5 * max(LENGTHS)) -> Row:
    """Measure one row of the table; short sequences get more rounds, since they take less time."""
    rounds = work // length
    torch.manual_seed(seed)
    tensors = [torch.randn(1, HEADS, length, WIDTH, requires_grad=True) for _ in range(3)]
    fused = F.scaled_dot_product_attention
    row = {
        "length": str(length),
        "seed": str(seed),
        "bytes": f"{kept_bytes(formula, tensors) / kept_bytes(fused, tensors):.2f}",
    }
    for name, call in times(formula, tensors).items():
        calls = {"formula": call, "fused": times(fused, tensors)[name]}
        rounds_of = interleaved(calls, torch.device("cpu"), seconds=0, least=rounds, most=rounds)
        row[name] = f"{ratio(rounds_of, 'formula', 'fused'):.2f}"
    return row


if __name__ == "__main__":
    torch.set_num_threads(1)
    write_table("fused", [measure(length, seed) for length in LENGTHS for seed in SEEDS])
