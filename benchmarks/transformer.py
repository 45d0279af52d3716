"""A training step of the Transformer that translates, beside `nn.Transformer`.

``python -m benchmarks.transformer [--threads 2] [--seconds 5] [--cpu]`` prints a table and writes it into
``_build/bench``. A step is forward, masked loss, backward, clipping and Adam. Both models hold the same
weights and give the same logits, which is checked. On a GPU they compute in bfloat16 (autocast). Times are
medians over interleaved rounds, in brackets the median of the rounds' ratios to `mha_course`,
and between which half of them lie.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from benchmarks import measure
from benchmarks.language_model import autocast
from benchmarks.measure import OURS, Report
from benchmarks.references import TorchTranslator
from mha_course.corpus import Batch
from mha_course.training import training_step
from mha_course.transformer import Transformer

VOCAB, BOS, TORCH, STEP = 200, 1, "nn.Transformer", "translator, training step"


class Size(NamedTuple):
    """Size of a model and its batch."""

    batch: int
    source_steps: int
    target_steps: int
    num_hiddens: int
    num_heads: int
    num_layers: int
    dtype: str = "float32"

    def __str__(self) -> str:
        width, steps = f"{self.num_hiddens} × {self.num_heads}", f"{self.source_steps}/{self.target_steps}"
        return f"{self.batch} × {steps} × {width} × {self.num_layers}, {self.dtype}"


SIZES = {
    "cpu": (Size(64, 10, 10, 64, 4, 2), Size(32, 64, 64, 256, 8, 3)),
    "cuda": (Size(64, 64, 64, 512, 8, 6, "bfloat16"), Size(16, 512, 512, 512, 8, 6, "bfloat16")),
}


def models(size: Size) -> dict[str, nn.Module]:
    """Return both models, with one set of weights."""
    torch.manual_seed(0)
    width = size.num_hiddens
    ours = Transformer(VOCAB, VOCAB, width, 4 * width, size.num_heads, size.num_layers)
    return {OURS: ours, TORCH: TorchTranslator(ours)}


def batch_of(size: Size, device: torch.device) -> Batch:
    """Return random sentences, from half their steps long to all."""
    draw = torch.Generator().manual_seed(0)

    def part(steps: int) -> tuple[Tensor, Tensor]:
        lens = torch.randint(steps // 2, steps + 1, (size.batch,), generator=draw)
        tokens = torch.randint(4, VOCAB, (size.batch, steps), generator=draw)
        return tokens.to(device), lens.to(device)

    return Batch(*part(size.source_steps), *part(size.target_steps))


def step_of(model: nn.Module, size: Size, batch: Batch) -> Callable[[], Tensor]:
    """Return one training step, to be called again and again."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def step() -> Tensor:
        with autocast(size, batch.source.device):
            return training_step(model, optimizer, batch, BOS, 1.0)

    return step


@torch.no_grad()
def check_equal(size: Size) -> None:
    """Raise unless both models give the same logits, in float32 on the CPU."""
    batch = batch_of(size._replace(batch=2), torch.device("cpu"))
    ours, theirs = (
        model(batch.source, batch.target, batch.source_lens)[0] for model in models(size).values()
    )
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)


def add_step(report: Report, size: Size, seconds: float) -> None:
    """Add the times of both models."""
    check_equal(size)
    batch = batch_of(size, report.device)
    calls = {name: step_of(model.to(report.device), size, batch) for name, model in models(size).items()}
    times = measure.interleaved(calls, report.device, seconds=seconds, most=200, title=str(size))
    report.add_times(STEP, size, times)


def main() -> None:
    arguments = measure.options(__doc__).parse_args()
    report = Report("transformer", measure.prepare(arguments))
    for size in SIZES[report.device.type]:
        add_step(report, size, arguments.seconds)
    report.show(STEP)


if __name__ == "__main__":
    main()
