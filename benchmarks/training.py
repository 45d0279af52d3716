"""A training step of the Bahdanau model beside D2L's, and what its parts cost against the source's length.

``python -m benchmarks.training [--threads 2] [--seconds 5] [--cpu]`` prints tables and writes them and a
picture into ``_build/bench``. A step is forward, masked loss, backward, clipping and Adam; D2L's model takes
D2L's Adam, the course's model the Adam of `fit`. Both hold the same weights and give the same logits where
there is no padding, which is checked. Times are medians over interleaved rounds, in brackets the median of
the rounds' ratios to `mha_course`, against the length to "GRU, additive", and between which half of them lie.
"""

import argparse
import json
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from benchmarks import measure
from benchmarks.measure import FOLDER, OURS, Panel, Report, describe
from mha_course.attention import DotProductAttention
from mha_course.corpus import Batch
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import training_step

STEP, BY_LENGTH = "Bahdanau, training step", "Bahdanau, training step by source steps"
PEAK = "Bahdanau, peak memory by source steps"
VOCAB, BOS, TARGET_STEPS, D2L = 200, 1, 9, "D2L 1.0.3"
LENGTHS = (8, 16, 32, 64, 128)


class Size(NamedTuple):
    """Size of a model and its batch; embedding as wide as the hidden state."""

    batch: int
    num_hiddens: int
    num_layers: int
    source_steps: int

    def __str__(self) -> str:
        width, layers = f"{self.num_hiddens} wide", f"{self.num_layers} layer{'s' * (self.num_layers > 1)}"
        return f"batch {self.batch}, {width}, {layers}, {self.source_steps} steps"


def course_model(size: Size, cell: str = "gru", attention: str = "additive") -> EncoderDecoder:
    """Return the course's model, one-way as D2L's, with one of its parts swapped."""
    sizes = (VOCAB, size.num_hiddens, size.num_hiddens, size.num_layers)
    torch.manual_seed(0)
    encoder = Seq2SeqEncoder(*sizes, cell=cell)
    if attention == "none":
        return EncoderDecoder(encoder, Seq2SeqDecoder(*sizes, cell=cell))
    scores = DotProductAttention(0.0) if attention == "dot product" else None
    return EncoderDecoder(encoder, Seq2SeqAttentionDecoder(*sizes, attention=scores, cell=cell))


def d2l_model(size: Size) -> nn.Module:
    """Return D2L's model with the weights of the course's."""
    from benchmarks.references import D2LEncoderDecoder

    model = D2LEncoderDecoder(VOCAB, size.num_hiddens, size.num_hiddens, size.num_layers)
    weights = course_model(size).state_dict()
    model.load_state_dict({name.replace("encoder.rnn", "encoder.rnn.rnn"): weights[name] for name in weights})
    return model


MODELS: dict[str, Callable[[Size], nn.Module]] = {
    "GRU, additive": lambda size: course_model(size),
    "GRU, dot product": lambda size: course_model(size, attention="dot product"),
    "LSTM, additive": lambda size: course_model(size, "lstm"),
    "LSTM, dot product": lambda size: course_model(size, "lstm", "dot product"),
    "GRU, no attention": lambda size: course_model(size, attention="none"),
    D2L: d2l_model,
}


def batch_of(size: Size, padded: bool) -> Batch:
    """Return random sentences, from half their steps long to all where `padded`."""
    draw = torch.Generator().manual_seed(0)

    def part(steps: int) -> tuple[Tensor, Tensor]:
        lens = torch.randint(steps // 2 if padded else steps, steps + 1, (size.batch,), generator=draw)
        return torch.randint(4, VOCAB, (size.batch, steps), generator=draw), lens

    return Batch(*part(size.source_steps), *part(TARGET_STEPS))


def step_of(name: str, size: Size, batch: Batch, device: torch.device) -> Callable[[], object]:
    """Return one training step of a model, to be called again and again."""
    model = MODELS[name](size).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=None if name == D2L else True)
    on_device = Batch(*(part.to(device) for part in batch))
    return lambda: training_step(model, optimizer, on_device, BOS, 1.0)


def check_equal(size: Size) -> None:
    """Raise unless the course's model and D2L's give the same logits where nothing is padded."""
    batch = batch_of(size, padded=False)
    arguments = (batch.source, batch.target, batch.source_lens)
    with torch.no_grad():
        ours, theirs = (MODELS[name](size)(*arguments)[0] for name in ("GRU, additive", D2L))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


def add_comparison(report: Report, size: Size, padded: bool, seconds: float) -> None:
    """Add the times of both models."""
    check_equal(size)
    batch = batch_of(size, padded)
    calls = {
        OURS: step_of("GRU, additive", size, batch, report.device),
        D2L: step_of(D2L, size, batch, report.device),
    }
    times = measure.interleaved(calls, report.device, seconds=seconds, most=200, title=str(size))
    report.add_times(STEP, f"{size}{', padded' if padded else ''}", times)


def add_lengths(report: Report, seconds: float) -> None:
    """Add each model's time of a training step, for each length of the source."""
    for length in LENGTHS:
        size = Size(64, 64, 1, length)
        batch = batch_of(size, padded=False)
        calls = {name: step_of(name, size, batch, report.device) for name in MODELS}
        title = f"source of {length} steps"
        times = measure.interleaved(calls, report.device, seconds=seconds / 2, title=title)
        report.add_times(BY_LENGTH, length, times, reference="GRU, additive")


def peaks(name: str, device: torch.device) -> list[float]:
    """Return a model's peak megabytes of one training step, for each length of the source."""
    result = []
    for length in (4, *LENGTHS):  # the first loads what is loaded once
        size = Size(64, 64, 1, length)
        result.append(measure.megabytes_of(step_of(name, size, batch_of(size, padded=False), device), device))
    return result[1:]


def add_peaks(report: Report, options: list[str]) -> None:
    """Add each model's peak memory, measured in a process of its own."""
    for name in MODELS:
        measure.progress(f"peak memory, {name}")
        values = measure.in_subprocess("benchmarks.training", *options, "--peaks", name)
        for length, value in zip(LENGTHS, values, strict=True):
            report.add(PEAK, length, name, value, "MB")


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--peaks", choices=MODELS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    device = measure.prepare(arguments)
    if arguments.peaks:
        print(json.dumps(peaks(arguments.peaks, device)))
        return
    report = Report("training", device)
    for size in (Size(128, 256, 2, 9), Size(64, 64, 1, 9)):
        for padded in (False, True):
            add_comparison(report, size, padded, arguments.seconds)
    report.show(STEP)
    add_lengths(report, arguments.seconds)
    report.show(BY_LENGTH)
    add_peaks(report, ["--threads", str(arguments.threads), *(["--cpu"] if arguments.cpu else [])])
    report.show(PEAK)
    panels = [
        Panel("milliseconds", "source steps", LENGTHS, report.lines(BY_LENGTH)),
        Panel("peak MB", "source steps", LENGTHS, report.lines(PEAK)),
    ]
    title = f"one training step, batch 64, 64 wide, 1 layer, 9 target steps\n{describe(device)}"
    measure.picture(panels, title, FOLDER / "training.png")


if __name__ == "__main__":
    main()
