"""The cost of half of the heads: computed, masked and cut out.

``python -m benchmarks.pruning [--threads 2] [--seconds 10] [--cpu]`` prints a table and writes it into
``_build/bench``. Masked and cut out give the same output, which is checked. Times are medians over
interleaved rounds of forward passes, ratios medians of ratios within a round.
"""

import argparse
import statistics
from collections.abc import Callable

import torch

from benchmarks import measure
from benchmarks.measure import FOLDER, describe, markdown
from mha_course.attention import MultiHeadAttention
from mha_course.heads import Head, masked_heads, prune_heads

# batch, length, width, heads
SHAPES = ((64, 10, 64, 4), (32, 64, 256, 8), (8, 512, 512, 8))
ALL, MASKED, CUT = "all heads", "half masked", "half cut out"


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


def row_of(shape: tuple[int, int, int, int], device: torch.device, seconds: float) -> list[str]:
    """Return a table row: shape, milliseconds of all heads, and what the others take of it."""
    calls = calls_of(*shape, device)
    torch.testing.assert_close(calls[MASKED](), calls[CUT](), rtol=0, atol=1e-5)
    title = " × ".join(map(str, shape))
    times = measure.interleaved(calls, device, seconds=seconds, most=200, title=title)
    whole = f"{statistics.median(times[ALL]) * 1e3:.2f}"
    return [title, whole, *(f"{measure.ratio(times, name, ALL):.2f}" for name in (MASKED, CUT))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each shape, about")
    parser.add_argument("--cpu", action="store_true", help="even where there is a GPU")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = torch.device("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")
    with torch.no_grad():
        rows = [row_of(shape, device, arguments.seconds) for shape in SHAPES]
    header = ("batch × length × width × heads", f"{ALL}, ms", f"{MASKED}, of it", f"{CUT}, of it")
    table = f"# Pruning: {describe(device)}\n\n{markdown(header, rows)}"
    print(table)
    (FOLDER / "pruning.md").write_text(table + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
