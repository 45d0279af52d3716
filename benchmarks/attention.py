"""Multi-head self-attention: time and peak memory beside PyTorch's, D2L's and the Annotated Transformer's.

``python -m benchmarks.attention [--threads 2] [--seconds 10] [--cpu]`` prints tables and writes them and a
picture into ``_build/bench``: without a mask, with lengths, and causal. All modules hold the same weights and
give the same output, which is checked. FlexAttention is among them on a GPU; elsewhere it cannot train.
Times are medians over interleaved rounds; ratios are medians of the rounds' ratios. "nn.MHA" is
``nn.MultiheadAttention`` with ``need_weights=False``. All at dropout 0, float32, in training mode.
"Matrix products" are those that the formula consists of, and nothing else: what no class can go below
that computes them one after another; SDPA goes block by block. They are timed after the rounds, since they
hold much memory.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks import measure
from benchmarks.measure import FOLDER, describe, markdown
from mha_course.attention import MultiHeadAttention
from mha_course.convert import to_annotated, to_d2l, to_torch
from mha_course.masking import causal_mask, length_mask

REFERENCE = "nn.MHA"
REFERENCES = (REFERENCE, "nn.MHA, weights", "D2L 1.0.3")
PRODUCTS = "matrix products"
SHAPES = ((64, 10, 32, 4), (32, 64, 256, 8), (8, 512, 512, 8), (1, 2048, 512, 8), (1, 4096, 512, 8))
LENGTHS = (256, 512, 1024, 2048, 4096)
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

    def __str__(self) -> str:
        return " × ".join(map(str, self))


def course(ours: MultiHeadAttention, case: Case) -> Attend:
    return lambda x: ours(x, x, x, case.lens, is_causal=case.is_causal)


def course_with_weights(ours: MultiHeadAttention, case: Case) -> Attend:
    return lambda x: ours(x, x, x, case.lens, is_causal=case.is_causal, need_weights=True)[0]


def plain(ours: MultiHeadAttention, case: Case) -> Attend:
    from benchmarks.references import PlainAttention

    module = PlainAttention(ours.W_o.in_features, ours.num_heads).to(ours.W_o.weight.device)
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
    to_d2l(ours, module)
    return lambda x: module(x, x, x, lens_of_queries(x, case))


def annotated(ours: MultiHeadAttention, case: Case) -> Attend:
    from benchmarks.references import AnnotatedAttention

    module = to_annotated(ours, AnnotatedAttention(ours.num_heads, ours.W_o.in_features))
    return lambda x: module(x, x, x, square_mask(x, case))


def flex(ours: MultiHeadAttention, case: Case) -> Attend:
    from benchmarks.references import FlexAttention

    module = FlexAttention(ours.W_o.in_features, ours.num_heads).to(ours.W_o.weight.device)
    module.load_state_dict(ours.state_dict())
    return lambda x: module(x, case.lens, case.is_causal)


CONTENDERS: dict[str, Callable[[MultiHeadAttention, Case], Attend]] = {
    "mha_course": course,
    "mha_course, weights": course_with_weights,
    "bare SDPA": plain,
    REFERENCE: torch_module,
    "nn.MHA, weights": torch_module_with_weights,
    "D2L 1.0.3": d2l_class,
    "Annotated Transformer": annotated,
}
if torch.cuda.is_available():  # on a CPU it has no backward pass
    CONTENDERS["FlexAttention"] = flex
KINDS = ("no mask", "lengths", "causal")
COLOURS = ("#0072B2", "#56B4E9", "#009E73", "#000000", "#999999", "#D55E00", "#CC79A7", "#E69F00")


def key_mask(x: Tensor, lens: Tensor | None) -> Tensor | None:
    """Return the mask (batch, 1, 1, keys), True where a key counts."""
    return None if lens is None else length_mask(lens, x.shape[1])[:, None, None]


def square_mask(x: Tensor, case: Case) -> Tensor | None:
    """Return the mask (batch or 1, queries or 1, keys), True where a query may attend."""
    if case.is_causal:
        return causal_mask(x.shape[1], x.device)[None]
    return None if case.lens is None else length_mask(case.lens, x.shape[1])[:, None]


def lens_of_queries(x: Tensor, case: Case) -> Tensor | None:
    """Return lengths, of each query where it is causal: D2L's way to say it."""
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
    """Return input, module and case, drawn on the CPU. Lengths lie between half and whole."""
    torch.manual_seed(0)
    x = torch.randn(shape.batch, shape.length, shape.width)
    ours = MultiHeadAttention(shape.width, shape.heads, bias=True)
    lens = torch.randint(shape.length // 2, shape.length + 1, (shape.batch,))
    case = Case(lens.to(device) if kind == "lengths" else None, kind == "causal")
    return x.to(device), ours.to(device), case


def check_equal(attends: dict[str, Attend], x: Tensor, lens: Tensor | None) -> None:
    """Raise unless all give one output, where they were asked for one."""
    valid = length_mask(lens if lens is not None else x.new_full((len(x),), x.shape[1]).long(), x.shape[1])
    with torch.no_grad():
        expected = attends[REFERENCE](x)[valid]
        for name, attend in attends.items():
            torch.testing.assert_close(attend(x)[valid], expected, rtol=0, atol=1e-4, msg=name)


def forward(attend: Attend, x: Tensor) -> Passes:
    def run() -> None:
        with torch.no_grad():
            attend(x)

    return run


def training_step(attend: Attend, x: Tensor) -> Passes:
    """Forward and backward, with gradients of the input as in the middle of a network."""
    x = x.clone().requires_grad_()
    return lambda: attend(x).sum().backward()


def products(shape: Shape, backward: bool, device: torch.device) -> Passes:
    """Compute the formula's matrix products, with those of their gradients if `backward`; no new memory."""
    batch, length, width, heads = shape
    x, weight = torch.randn(batch * length, width, device=device), torch.randn(width, width, device=device)
    parts = torch.randn(batch * heads, length, width // heads, device=device)
    scores = parts @ parts.mT
    pairs = [(x, weight)] * 4 + [(parts, parts.mT), (scores, parts)]
    if backward:  # each product A @ B has two more: gradient @ B.mT and A.mT @ gradient
        pairs += [(x, weight.mT), (x.mT, x)] * 4
        pairs += [(scores, parts), (scores.mT, parts), (parts, parts.mT), (scores.mT, parts)]
    tasks = [(left, right, (*left.shape[:-1], right.shape[-1])) for left, right in pairs]
    outputs = {sizes: torch.empty(sizes, device=device) for _, _, sizes in tasks}

    def run() -> None:
        for left, right, sizes in tasks:
            torch.matmul(left, right, out=outputs[sizes])

    return run


def compare(shape: Shape, kind: str, device: torch.device, seconds: float) -> dict[str, list[float]]:
    """Return for each contender milliseconds and ratios to the references: forward, then both passes."""
    x, ours, case = problem(shape, kind, device)
    attends = {name: build(ours, case) for name, build in CONTENDERS.items()}
    check_equal(attends, x, case.lens)
    rows: dict[str, list[float]] = {name: [] for name in (*attends, PRODUCTS)}
    for passes in (forward, training_step):
        calls = {name: passes(attend, x) for name, attend in attends.items()}
        times = measure.interleaved(calls, device, seconds=seconds, title=f"{shape}  {passes.__name__}")
        rounds = len(times[REFERENCE])
        times |= measure.interleaved(
            {PRODUCTS: products(shape, passes is training_step, device)}, device,
            least=rounds, most=rounds, title=f"{shape}  {PRODUCTS}",
        )  # fmt: skip
        for name, row in rows.items():
            ratios = [measure.ratio(times, name, reference) for reference in REFERENCES]
            row += [statistics.median(times[name]) * 1e3, *ratios]
    return rows


def tables_of_times(kind: str, device: torch.device, seconds: float) -> list[str]:
    """Return a table for each shape, and one of each contender's mean and largest ratios."""
    quotients = [f"/ {name}" for name in REFERENCES]
    header = ("", "forward ms", *quotients, "forward + backward ms", *quotients)
    ratios: dict[str, list[list[float]]] = {name: [] for name in (*CONTENDERS, PRODUCTS)}
    parts = []
    for shape in (Shape(*sizes) for sizes in SHAPES):
        rows = compare(shape, kind, device, seconds)
        for name, row in rows.items():
            ratios[name].append(row[-len(REFERENCES) :])
        table = markdown(header, [[name, *(f"{value:.2f}" for value in row)] for name, row in rows.items()])
        parts.append(f"{shape}, {kind}\n\n{table}")
        print(f"\n{parts[-1]}", flush=True)
    means = []
    for name, by_shape in ratios.items():
        columns = zip(*by_shape, strict=True)
        means.append([name, *(f"{statistics.geometric_mean(c):.2f} ({max(c):.2f})" for c in columns)])
    parts.append(markdown(("forward + backward: geometric mean (largest)", *quotients), means))
    print(f"\n{parts[-1]}", flush=True)
    return parts


def peaks(name: str, kind: str, device: torch.device) -> list[float]:
    """Return the peak megabytes of one training step of 1 × length × 512 × 8, for each length."""
    result = []
    for length in (64, *LENGTHS):  # the first loads what is loaded once
        x, ours, case = problem(Shape(1, length, 512, 8), kind, device)
        result.append(measure.megabytes_of(training_step(CONTENDERS[name](ours, case), x), device))
    return result[1:]


def all_peaks(kind: str, options: list[str]) -> dict[str, list[float]]:
    """Return each contender's peaks, each measured in a process of its own."""
    result = {}
    for name in CONTENDERS:
        measure.progress(f"peak memory, {name}")
        chosen = [*options, "--peaks", name, "--kind", kind]
        result[name] = measure.in_subprocess("benchmarks.attention", *chosen)
    measure.progress()
    return result


def step_times(device: torch.device, seconds: float) -> dict[str, list[float]]:
    """Return each contender's median milliseconds of one training step of 1 × length × 512 × 8."""
    result: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for length in LENGTHS:
        x, ours, case = problem(Shape(1, length, 512, 8), "no mask", device)
        calls = {name: training_step(build(ours, case), x) for name, build in CONTENDERS.items()}
        title = f"picture, length {length}"
        times = measure.interleaved(calls, device, seconds=seconds, least=3, title=title)
        for name, values in times.items():
            result[name].append(statistics.median(values) * 1e3)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each shape and pass, about")
    parser.add_argument("--cpu", action="store_true", help="even where there is a GPU")
    parser.add_argument("--peaks", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=KINDS, default="no mask", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = torch.device("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")
    if arguments.peaks:
        print(json.dumps(peaks(arguments.peaks, arguments.kind, device)))
        return
    parts = [f"# Attention: {describe(device)}"]
    print(parts[0], flush=True)
    for kind in KINDS:
        parts += tables_of_times(kind, device, arguments.seconds)
    options = ["--threads", str(arguments.threads), *(["--cpu"] if arguments.cpu else [])]
    for kind in reversed(KINDS):  # the last is drawn
        memory = all_peaks(kind, options)
        rows = [[name, *(f"{value:.0f}" for value in values)] for name, values in memory.items()]
        title = f"peak MB of a training step, {kind}"
        parts.append(markdown((title, *map(str, LENGTHS)), rows))
        print(f"\n{parts[-1]}", flush=True)
    panels = {"milliseconds": step_times(device, arguments.seconds), "peak MB": memory}
    title = f"one training step, 1 × length × 512 × 8\n{describe(device)}"
    measure.picture(panels, LENGTHS, COLOURS, "length", title, FOLDER / "attention.png")
    (FOLDER / "attention.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"\nwritten: {FOLDER / 'attention.md'} and attention.png beside it")


if __name__ == "__main__":
    main()
