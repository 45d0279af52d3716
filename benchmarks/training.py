"""A training step of the Bahdanau model beside D2L's, and what its parts cost against the source's length.

``python -m benchmarks.training [--threads 2] [--seconds 20] [--cpu]`` prints tables and writes them and a
picture into ``_build/bench``. A step is forward, masked loss, backward, clipping and Adam; D2L's model takes
D2L's Adam, the course's model the Adam of `fit`. Both hold the same weights and give the same logits where
there is no padding, which is checked. Times are medians over interleaved rounds, ratios medians of ratios
within a round.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from benchmarks import measure
from benchmarks.measure import FOLDER, describe, markdown
from mha_course.attention import DotProductAttention
from mha_course.corpus import Batch
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import training_step

VOCAB, BOS, TARGET_STEPS, D2L = 200, 1, 9, "D2L 1.0.3"
LENGTHS = (8, 16, 32, 64, 128)
COLOURS = ("#0072B2", "#009E73", "#56B4E9", "#CC79A7", "#999999", "#D55E00")


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


def against_d2l(size: Size, padded: bool, device: torch.device, seconds: float) -> list[str]:
    """Return a table row: size, both models' milliseconds, and their ratio."""
    check_equal(size)
    batch = batch_of(size, padded)
    calls = {name: step_of(name, size, batch, device) for name in ("GRU, additive", D2L)}
    times = measure.interleaved(calls, device, seconds=seconds, most=200, title=str(size))
    milliseconds = [f"{statistics.median(times[name]) * 1e3:.1f}" for name in calls]
    ratio = measure.ratio(times, "GRU, additive", D2L)
    return [f"{size}{', padded' if padded else ''}", *milliseconds, f"{ratio:.2f}"]


def times_by_length(device: torch.device, seconds: float) -> dict[str, list[float]]:
    """Return each model's median milliseconds of a training step, for each length of the source."""
    result: dict[str, list[float]] = {name: [] for name in MODELS}
    for length in LENGTHS:
        size = Size(64, 64, 1, length)
        calls = {name: step_of(name, size, batch_of(size, padded=False), device) for name in MODELS}
        times = measure.interleaved(calls, device, seconds=seconds / 2, title=f"source of {length} steps")
        for name, values in times.items():
            result[name].append(statistics.median(values) * 1e3)
    return result


def peaks(name: str, device: torch.device) -> list[float]:
    """Return a model's peak megabytes of one training step, for each length of the source."""
    result = []
    for length in (4, *LENGTHS):  # the first loads what is loaded once
        size = Size(64, 64, 1, length)
        result.append(measure.megabytes_of(step_of(name, size, batch_of(size, padded=False), device), device))
    return result[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each comparison, about")
    parser.add_argument("--cpu", action="store_true", help="even where there is a GPU")
    parser.add_argument("--peaks", choices=MODELS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = torch.device("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")
    if arguments.peaks:
        print(json.dumps(peaks(arguments.peaks, device)))
        return
    parts = [f"# Training: {describe(device)}"]
    sizes = (Size(128, 256, 2, 9), Size(64, 64, 1, 9))
    rows = [
        against_d2l(size, padded, device, arguments.seconds) for size in sizes for padded in (False, True)
    ]
    parts.append(markdown(("training step", "mha_course ms", "D2L ms", "ratio"), rows))
    print("\n\n".join(parts), flush=True)
    times, memory = times_by_length(device, arguments.seconds), {}
    options = ["--threads", str(arguments.threads), *(["--cpu"] if arguments.cpu else [])]
    for name in MODELS:
        measure.progress(f"peak memory, {name}")
        memory[name] = measure.in_subprocess("benchmarks.training", *options, "--peaks", name)
    measure.progress()
    for unit, values in (("ms of a training step", times), ("peak MB", memory)):
        cells = [[name, *(f"{value:.1f}" for value in series)] for name, series in values.items()]
        parts.append(markdown((f"{unit}, source steps", *map(str, LENGTHS)), cells))
        print(f"\n{parts[-1]}", flush=True)
    title = f"one training step, batch 64, 64 wide, 1 layer, 9 target steps\n{describe(device)}"
    panels = {"milliseconds": times, "peak MB": memory}
    measure.picture(panels, LENGTHS, COLOURS, "source steps", title, FOLDER / "training.png")
    (FOLDER / "training.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"\nwritten: {FOLDER / 'training.md'} and training.png beside it")


if __name__ == "__main__":
    main()
