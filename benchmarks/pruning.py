"""The cost of half of the heads: computed, masked and cut out.

``python -m benchmarks.pruning [--threads 2] [--seconds 5] [--cpu]`` prints a table and writes it into
``_build/bench``. Masked and cut out give the same output, which is checked. Times are medians over
interleaved rounds of forward passes, in brackets the median of the rounds' ratios to all heads, and between
which half of them lie.
"""

from collections.abc import Callable

import torch

from benchmarks import measure
from benchmarks.measure import Report
from mha_course.attention import MultiHeadAttention
from mha_course.heads import Head, masked_heads, prune_heads

# batch, length, width, heads
SHAPES = ((64, 10, 64, 4), (32, 64, 256, 8), (8, 512, 512, 8))
ALL, MASKED, CUT = "all heads", "half masked", "half cut out"
FORWARD = "pruning, forward"


def calls_of(
    batch: int, length: int, width: int, heads: int, device: torch.device
) -> dict[str, Callable[[], torch.Tensor]]:
    """Return self-attention with all heads, with half of them masked, and with that half cut out."""
    torch.manual_seed(0)
    whole = MultiHeadAttention(width, heads).to(device).eval()
    x = torch.randn(batch, length, width).to(device)
    removed = [Head("", number) for number in range(heads // 2)]
    cut = prune_heads(whole, removed)

    def masked() -> torch.Tensor:
        with masked_heads(whole, removed):
            return whole(x, x, x)

    return {ALL: lambda: whole(x, x, x), MASKED: masked, CUT: lambda: cut(x, x, x)}


def add_times(report: Report, shape: tuple[int, int, int, int], seconds: float) -> None:
    """Add the times of all three."""
    calls = calls_of(*shape, report.device)
    torch.testing.assert_close(calls[MASKED](), calls[CUT](), rtol=0, atol=1e-5)
    size = " × ".join(map(str, shape))
    times = measure.interleaved(calls, report.device, seconds=seconds, most=200, title=size)
    report.add_times(FORWARD, size, times, reference=ALL)


@torch.no_grad()
def main() -> None:
    arguments = measure.options(__doc__).parse_args()
    report = Report("pruning", measure.prepare(arguments))
    for shape in SHAPES:
        add_times(report, shape, arguments.seconds)
    report.show(FORWARD)


if __name__ == "__main__":
    main()
