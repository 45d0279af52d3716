"""Multi-head self-attention: time and peak memory beside PyTorch's, D2L's and the Annotated Transformer's.

``python -m benchmarks.attention [--threads 2] [--seconds 5] [--cpu]`` prints tables and writes them and a
picture into ``_build/bench``: without a mask, with lengths, causal, and 4,096 tokens with very different
lengths, where only those are compared that store no weights. All modules hold the same weights and give the
same output, which is checked. FlexAttention is among them on a GPU; on a CPU it cannot train, and is there
only for very different lengths.
Times are medians over interleaved rounds, in brackets the median of the rounds' ratios to `mha_course`,
and between which half of them lie.
"nn.MHA" is ``nn.MultiheadAttention`` with ``need_weights=False``. All at dropout 0, in training mode.
"Matrix products" are those of the formula and nothing else: a limit for every class that computes them
one after another (SDPA goes by blocks). They are timed after the rounds, since they need much memory.
"""

import argparse
import json
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks import measure
from benchmarks.measure import FOLDER, OURS, Panel, Report, describe
from mha_course.attention import MultiHeadAttention
from mha_course.convert import to_annotated, to_d2l, to_torch
from mha_course.masking import causal_mask, length_mask

PRODUCTS, FLEX = "matrix products", "FlexAttention"
Attend = Callable[[Tensor], Tensor]
Passes = Callable[[], object]


class Case(NamedTuple):
    """Which keys a query may attend to."""

    lens: Tensor | None = None
    is_causal: bool = False


class Shape(NamedTuple):
    """Size of one problem."""

    batch: int
    length: int
    width: int
    heads: int
    dtype: str = "float32"

    def __str__(self) -> str:
        return f"{' × '.join(map(str, self[:4]))}, {self.dtype}"


SHAPES = {
    "cpu": (
        Shape(64, 10, 32, 4), Shape(32, 64, 256, 8), Shape(8, 512, 512, 8), Shape(1, 2048, 512, 8),
    ),
    "cuda": (
        Shape(64, 64, 256, 8), Shape(16, 1024, 1024, 16, "bfloat16"), Shape(4, 4096, 1024, 16, "bfloat16"),
    ),
}  # fmt: skip
LONGEST = {"cpu": Shape(4, 4096, 128, 2), "cuda": Shape(4, 4096, 1024, 16, "bfloat16")}
PICTURE_SHAPE = {
    "cpu": Shape(1, 512, 512, 8),
    "cuda": Shape(4, 1024, 1024, 16, "bfloat16"),
}  # one axis is varied
LENGTHS = {"cpu": (256, 512, 1024, 2048), "cuda": (256, 512, 1024, 2048, 4096)}
BATCHES = {"cpu": (1, 4, 16), "cuda": (1, 4, 16, 64)}
CLOSE = {"float32": 1e-4, "bfloat16": 2e-2}


def course(ours: MultiHeadAttention, case: Case) -> Attend:
    return lambda x: ours(x, x, x, case.lens, is_causal=case.is_causal)


def course_with_weights(ours: MultiHeadAttention, case: Case) -> Attend:
    return lambda x: ours(x, x, x, case.lens, is_causal=case.is_causal, need_weights=True)[0]


def plain(ours: MultiHeadAttention, case: Case) -> Attend:
    from benchmarks.references import PlainAttention

    module = PlainAttention(ours.W_o.in_features, ours.num_heads).to(ours.W_o.weight)
    module.load_state_dict(ours.state_dict())
    return lambda x: module(x, key_mask(x, case.lens), case.is_causal)


def torch_module(ours: MultiHeadAttention, case: Case) -> Attend:
    module = to_torch(ours)
    options = {"need_weights": False, "is_causal": case.is_causal}
    return lambda x: module(x, x, x, padding(x, case.lens), attn_mask=later(x, case), **options)[0]


def torch_module_with_weights(ours: MultiHeadAttention, case: Case) -> Attend:
    module = to_torch(ours)
    options = {"need_weights": True, "average_attn_weights": False}
    return lambda x: module(x, x, x, padding(x, case.lens), attn_mask=later(x, case), **options)[0]


def d2l_class(ours: MultiHeadAttention, case: Case) -> Attend:
    from benchmarks.references import d2l

    module = d2l.MultiHeadAttention(ours.W_o.in_features, ours.num_heads, 0.0, bias=True)
    to_d2l(ours, module).to(ours.W_o.weight)
    return lambda x: module(x, x, x, lens_of_queries(x, case))


def annotated(ours: MultiHeadAttention, case: Case) -> Attend:
    from benchmarks.references import AnnotatedAttention

    module = to_annotated(ours, AnnotatedAttention(ours.num_heads, ours.W_o.in_features)).to(ours.W_o.weight)
    return lambda x: module(x, x, x, square_mask(x, case))


def flex(ours: MultiHeadAttention, case: Case) -> Attend:
    from benchmarks.references import FlexAttention

    module = FlexAttention(ours.W_o.in_features, ours.num_heads).to(ours.W_o.weight)
    module.load_state_dict(ours.state_dict())
    return lambda x: module(x, case.lens, case.is_causal)


CONTENDERS: dict[str, Callable[[MultiHeadAttention, Case], Attend]] = {
    OURS: course,
    f"{OURS}, weights": course_with_weights,
    "bare SDPA": plain,
    "nn.MHA": torch_module,
    "nn.MHA, weights": torch_module_with_weights,
    "D2L 1.0.3": d2l_class,
    "Annotated Transformer": annotated,
    FLEX: flex,
}
HAS_COMPILER = shutil.which("g++") is not None
STORING_NO_WEIGHTS = (OURS, "bare SDPA", "nn.MHA", FLEX)
KINDS = ("no mask", "lengths", "causal")
DIFFERENT = "very different lengths"


def contenders(kind: str, device: torch.device, backward: bool = False) -> list[str]:
    """Return who takes part. On a CPU FlexAttention has no backward pass, and its compiler takes a minute."""
    names = STORING_NO_WEIGHTS if kind == DIFFERENT else CONTENDERS
    with_flex = device.type == "cuda" or (HAS_COMPILER and kind == DIFFERENT and not backward)
    return [name for name in names if name != FLEX or with_flex]


def key_mask(x: Tensor, lens: Tensor | None) -> Tensor | None:
    """Return the mask (batch, 1, 1, keys), True where a key counts."""
    return None if lens is None else length_mask(lens, x.shape[1])[:, None, None]


def square_mask(x: Tensor, case: Case) -> Tensor | None:
    """Return the mask (batch or 1, queries or 1, keys), True where a query may attend."""
    if case.is_causal:
        return causal_mask(x.shape[1], x.device)[None]
    return None if case.lens is None else length_mask(case.lens, x.shape[1])[:, None]


def lens_of_queries(x: Tensor, case: Case) -> Tensor | None:
    """Return lengths as D2L takes them: one for each query if it is causal."""
    if case.is_causal:
        return torch.arange(1, x.shape[1] + 1, device=x.device).expand(len(x), -1)
    return case.lens


def later(x: Tensor, case: Case) -> Tensor | None:
    """Return the mask that `nn.MultiheadAttention` wants: True where a key is later than the query."""
    return ~causal_mask(x.shape[1], x.device) if case.is_causal else None


def padding(x: Tensor, lens: Tensor | None) -> Tensor | None:
    """Return the mask that `nn.MultiheadAttention` wants: True where there is padding."""
    return None if lens is None else ~length_mask(lens, x.shape[1])


def problem(shape: Shape, kind: str, device: torch.device) -> tuple[Tensor, MultiHeadAttention, Case]:
    """Return input, module and case, drawn on the CPU.

    Lengths lie between half and whole; very different ones go from a sixteenth to the whole in equal steps.
    """
    dtype = getattr(torch, shape.dtype)
    torch.manual_seed(0)
    x = torch.randn(shape.batch, shape.length, shape.width)
    ours = MultiHeadAttention(shape.width, shape.heads, bias=True)
    lens = torch.randint(shape.length // 2, shape.length + 1, (shape.batch,))
    if kind == DIFFERENT:
        lens = torch.linspace(shape.length // 16, shape.length, shape.batch).long()
    case = Case(lens.to(device) if kind in ("lengths", DIFFERENT) else None, kind == "causal")
    return x.to(device, dtype), ours.to(device, dtype), case


def check_equal(attends: dict[str, Attend], x: Tensor, lens: Tensor | None, close: float = 1e-4) -> None:
    """Raise unless all give one output, up to a share of its norm, where they were asked for one."""
    valid = length_mask(lens if lens is not None else x.new_full((len(x),), x.shape[1]).long(), x.shape[1])
    with torch.no_grad():
        expected = attends[OURS](x)[valid].float()
        for name, attend in attends.items():
            gap = (attend(x)[valid].float() - expected).norm() / expected.norm()
            assert gap < close, f"{name} differs by {gap:.1e}"


def forward(attend: Attend, x: Tensor) -> Passes:
    def run() -> None:
        with torch.no_grad():
            attend(x)

    return run


def training_step(attend: Attend, x: Tensor) -> Passes:
    """Return a call of forward and backward pass, with gradients of the input as inside a network."""
    x = x.clone().requires_grad_()
    return lambda: attend(x).sum().backward()


def products(shape: Shape, backward: bool, device: torch.device) -> Passes:
    """Compute the formula's matrix products, with those of their gradients if `backward`; no new memory."""
    batch, length, width, heads, dtype = shape
    options: dict[str, Any] = {"device": device, "dtype": getattr(torch, dtype)}
    x, weight = torch.randn(batch * length, width, **options), torch.randn(width, width, **options)
    parts = torch.randn(batch * heads, length, width // heads, **options)
    scores = parts @ parts.mT
    pairs = [(x, weight)] * 4 + [(parts, parts.mT), (scores, parts)]
    if backward:  # each product A @ B has two more: gradient @ B.mT and A.mT @ gradient
        pairs += [(x, weight.mT), (x.mT, x)] * 4
        pairs += [(scores, parts), (scores.mT, parts), (parts, parts.mT), (scores.mT, parts)]
    tasks = [(left, right, (*left.shape[:-1], right.shape[-1])) for left, right in pairs]
    outputs = {sizes: torch.empty(sizes, **options) for _, _, sizes in tasks}

    def run() -> None:
        for left, right, sizes in tasks:
            torch.matmul(left, right, out=outputs[sizes])

    return run


def compare(report: Report, kind: str, shape: Shape, seconds: float) -> None:
    """Add the times of a forward pass, and of forward and backward pass."""
    device = report.device
    x, ours, case = problem(shape, kind, device)
    attends = {name: CONTENDERS[name](ours, case) for name in contenders(kind, device)}
    check_equal(attends, x, case.lens, CLOSE[shape.dtype])
    for title, passes in (("forward", forward), ("forward + backward", training_step)):
        names = contenders(kind, device, backward=passes is training_step)
        calls = {name: passes(attends[name], x) for name in names}
        times = measure.interleaved(calls, device, seconds=seconds, title=f"{kind}, {shape}, {title}")
        rounds = len(times[OURS])
        times |= measure.interleaved(
            {PRODUCTS: products(shape, passes is training_step, device)}, device,
            least=rounds, most=rounds, title=f"{shape}, {PRODUCTS}",
        )  # fmt: skip
        report.add_times(f"attention, {kind}, {title}", shape, times)


def add_limits(report: Report) -> None:
    """Add what the device can do at most."""
    for dtype in ("float32", "bfloat16") if report.device.type == "cuda" else ("float32",):
        rate = measure.product_rate(report.device, getattr(torch, dtype))
        report.add("limits, matrix product", dtype, "limit", rate / 1e12, "TFLOP/s")
    report.add("limits, copy", "float32", "limit", measure.copy_rate(report.device) / 1e9, "GB/s")
    report.show("limits, matrix product")
    report.show("limits, copy")


def varied(device: torch.device, axis: str) -> list[Shape]:
    """Return the shapes of a picture, which differ in one axis."""
    values = (LENGTHS if axis == "length" else BATCHES)[device.type]
    return [PICTURE_SHAPE[device.type]._replace(**{axis: n}) for n in values]


def add_varied(report: Report, axis: str, seconds: float) -> None:
    """Add the times of training steps, without a mask, for several lengths or batches."""
    for shape in varied(report.device, axis):
        x, ours, case = problem(shape, "no mask", report.device)
        names = contenders("no mask", report.device, backward=True)
        calls = {name: training_step(CONTENDERS[name](ours, case), x) for name in names}
        times = measure.interleaved(calls, report.device, seconds=seconds, least=3, title=f"picture, {shape}")
        report.add_times(f"attention by {axis}", getattr(shape, axis), times)


def peaks(name: str, kind: str, device: torch.device) -> list[float]:
    """Return the peak megabytes of one training step, for each length."""
    result = []
    shapes = varied(device, "length")
    for shape in (shapes[0], *shapes):  # the first loads what is loaded once
        x, ours, case = problem(shape, kind, device)
        result.append(measure.megabytes_of(training_step(CONTENDERS[name](ours, case), x), device))
    return result[1:]


def add_peaks(report: Report, kind: str, options: list[str]) -> None:
    """Add each contender's peaks: on a CPU measured in a process for each."""
    for name in contenders(kind, report.device, backward=True):
        measure.progress(f"peak memory, {kind}, {name}")
        if report.device.type == "cuda":
            values = peaks(name, kind, report.device)
        else:
            chosen = [*options, "--peaks", name, "--kind", kind]
            values = measure.in_subprocess("benchmarks.attention", *chosen)
        for length, value in zip(LENGTHS[report.device.type], values, strict=True):
            report.add(f"attention, {kind}, peak memory", length, name, value, "MB")
    measure.progress()


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--peaks", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=KINDS, default="no mask", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    device = measure.prepare(arguments)
    if arguments.peaks:
        print(json.dumps(peaks(arguments.peaks, arguments.kind, device)))
        return
    report = Report("attention", device)
    add_limits(report)
    for kind in KINDS:
        for shape in SHAPES[device.type]:
            compare(report, kind, shape, arguments.seconds)
        report.show(f"attention, {kind}, forward")
        report.show(f"attention, {kind}, forward + backward")
    compare(report, DIFFERENT, LONGEST[device.type], arguments.seconds)
    report.show(f"attention, {DIFFERENT}, forward")
    report.show(f"attention, {DIFFERENT}, forward + backward")
    for axis in ("length", "batch"):
        add_varied(report, axis, arguments.seconds)
    options = ["--threads", str(arguments.threads), *(["--cpu"] if arguments.cpu else [])]
    for kind in KINDS if device.type == "cuda" else KINDS[:1]:  # on a CPU each peak takes a process
        add_peaks(report, kind, options)
        report.show(f"attention, {kind}, peak memory")
    draw(report)


def draw(report: Report) -> None:
    """Draw time against length and batch, and memory against length."""
    shape = PICTURE_SHAPE[report.device.type]
    lengths, batches = LENGTHS[report.device.type], BATCHES[report.device.type]
    memory = report.lines("attention, no mask, peak memory")
    panels = [
        Panel(f"ms, batch {shape.batch}", "length", lengths, report.lines("attention by length")),
        Panel(f"ms, length {shape.length}", "batch", batches, report.lines("attention by batch")),
        Panel(f"peak MB, batch {shape.batch}", "length", lengths, memory),
    ]
    sizes = f"width {shape.width}, {shape.heads} heads, {shape.dtype}"
    title = f"one training step, {sizes}\n{describe(report.device)}"
    measure.picture(panels, title, FOLDER / "attention.png")


if __name__ == "__main__":
    main()
