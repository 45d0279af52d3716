"""Timing in interleaved rounds, peak memory, tables and pictures."""

import argparse
import csv
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import torch

OURS = "mha_course"
COLOURS = ("#0072B2", "#56B4E9", "#009E73", "#000000", "#999999", "#D55E00", "#CC79A7", "#E69F00")
FOLDER = Path(__file__).resolve().parents[1] / "_build" / "bench"
FOLDER.mkdir(parents=True, exist_ok=True)


class Row(NamedTuple):
    """One measured number.

    `ratio` is the median of its rounds' times, each divided by that of `mha_course` in the same round; half
    of these quotients lie in `spread`, such as "0.97–1.02".
    """

    table: str
    size: str
    name: str
    value: str
    unit: str
    ratio: str = ""
    spread: str = ""


class Report:
    """The tables of one benchmark, printed and written as they are measured."""

    def __init__(self, benchmark: str, device: torch.device) -> None:
        self.benchmark, self.device, self.rows = benchmark, device, list[Row]()
        print(self.heading(), flush=True)

    def heading(self) -> str:
        return f"# {self.benchmark}: {describe(self.device)}"

    def add_times(
        self, table: str, size: object, times: Mapping[str, Sequence[float]], *, tokens: int | None = None,
        reference: str = OURS,
    ) -> None:  # fmt: skip
        """Add the median of each call: milliseconds, or where it writes so many `tokens`, tokens a second."""
        for name, seconds in times.items():
            median = statistics.median(seconds)
            value, unit = (median * 1e3, "ms") if tokens is None else (tokens / median, "tokens/s")
            relative = relative_times(times, name, reference) if reference in times else ("", "")
            self.add(table, size, name, value, unit, *relative)

    def add(
        self, table: str, size: object, name: str, value: float, unit: str, ratio: str = "", spread: str = ""
    ) -> None:
        digits = f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
        self.rows.append(Row(table, str(size), name, digits, unit, ratio, spread))
        self.write()

    def table(self, title: str) -> str:
        """Return a table of names and sizes: values, and in brackets ratios to `mha_course` and spreads."""
        rows = [row for row in self.rows if row.table == title]
        sizes, names = dict.fromkeys(row.size for row in rows), dict.fromkeys(row.name for row in rows)
        cells = {(row.name, row.size): cell_of(row) for row in rows}
        lines = [[name, *(cells.get((name, size), "") for size in sizes)] for name in names]
        return markdown((f"{title}, {rows[0].unit}", *sizes), lines)

    def lines(self, title: str) -> dict[str, list[float]]:
        """Return the values of a table by name, for a picture."""
        result: dict[str, list[float]] = {}
        for row in self.rows:
            if row.table == title:
                result.setdefault(row.name, []).append(float(row.value))
        return result

    def show(self, title: str) -> None:
        progress()
        print(f"\n{self.table(title)}", flush=True)

    def write(self) -> None:
        """Write the tables for readers, and the rows for ``python -m benchmarks.store``."""
        titles = dict.fromkeys(row.table for row in self.rows)
        text = "\n\n".join([self.heading(), *(self.table(title) for title in titles)])
        (FOLDER / f"{self.benchmark}.md").write_text(text + "\n", encoding="utf-8")
        version, device = describe(self.device).split(", ", 1)
        run = {
            "benchmark": self.benchmark,
            "device": device,
            "torch": version.removeprefix("torch "),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
        }
        with (FOLDER / f"{self.benchmark}.tsv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            writer.writerow([*Row._fields, *run])
            writer.writerows([*row, *run.values()] for row in self.rows)


def options(description: str) -> argparse.ArgumentParser:
    """Return a parser of what every benchmark may be told."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each comparison, about")
    parser.add_argument("--cpu", action="store_true", help="even where there is a GPU")
    return parser


def prepare(arguments: argparse.Namespace) -> torch.device:
    """Set the number of threads and return the device to measure on."""
    torch.set_num_threads(arguments.threads)
    return torch.device("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")


def synchronize(device: torch.device) -> None:
    """Wait until a GPU has done what it was asked for."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def interleaved(
    calls: Mapping[str, Callable[[], object]],
    device: torch.device,
    *,
    seconds: float = 10.0,
    least: int = 5,
    most: int = 60,
    title: str = "",
) -> dict[str, list[float]]:
    """Return each call's seconds a round. In every round each call runs once, in an order drawn anew.

    What else the machine does then falls on all alike, so that ratios within a round can be trusted more than
    times. One round before the first is not counted.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    names, draw, start = list(calls), random.Random(0), time.perf_counter()
    for done in range(-1, most):
        draw.shuffle(names)
        for name in names:
            synchronize(device)
            begin = time.perf_counter()
            calls[name]()
            synchronize(device)
            if done >= 0:
                times[name].append(time.perf_counter() - begin)
        progress(f"{title}  round {done + 1}")
        if done + 1 >= least and time.perf_counter() - start > seconds:
            break
    progress()
    return times


def ratio(times: Mapping[str, Sequence[float]], name: str, reference: str) -> float:
    """Return the median of the rounds' ratios of one call's time to another's."""
    return statistics.median(a / b for a, b in zip(times[name], times[reference], strict=True))


def relative_times(times: Mapping[str, Sequence[float]], name: str, reference: str) -> tuple[str, str]:
    """Return the ratio of one call's time to another's, and its spread; none of a call to itself."""
    median = f"{ratio(times, name, reference):.2f}"
    if name == reference:
        return median, ""
    quotients = [a / b for a, b in zip(times[name], times[reference], strict=True)]
    low, _, high = statistics.quantiles(quotients, n=4, method="inclusive")
    return median, f"{low:.2f}–{high:.2f}"


def cell_of(row: Row) -> str:
    """Return a value as a table shows it, such as "12.3 (1.05, 1.01–1.08)"."""
    relative = ", ".join(filter(None, (row.ratio, row.spread)))
    return f"{row.value} ({relative})" if relative else row.value


def progress(text: str = "") -> None:
    """Show what is being done on stderr, over what was shown before; nothing erases it."""
    print(f"\r{text:<78}", end="" if text else "\r", file=sys.stderr, flush=True)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


class Panel(NamedTuple):
    """A panel of a picture: a line for each name, both axes logarithmic."""

    title: str
    xlabel: str
    xs: Sequence[int]
    lines: Mapping[str, Sequence[float]]


def picture(panels: Sequence[Panel], title: str, path: Path) -> None:
    """Draw the panels side by side; they show the same names."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    figure, axes = plt.subplots(1, len(panels), figsize=(3.5 * len(panels), 4.2), layout="constrained")
    for ax, panel in zip(axes, panels, strict=True):
        for (name, values), colour in zip(panel.lines.items(), COLOURS, strict=False):
            ax.loglog(panel.xs, values, "o-", color=colour, label=name, ms=4)
        ax.set_xticks(panel.xs, [str(x) for x in panel.xs])
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(panel.xlabel)
        ax.set_title(panel.title, fontsize=10)
        ax.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def product_rate(device: torch.device, dtype: torch.dtype) -> float:
    """Return the floating-point operations a second of a large matrix product."""
    size = 8192 if device.type == "cuda" else 1024
    left, right = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    times = interleaved({"product": lambda: left @ right}, device, seconds=1, most=20)
    return 2 * size**3 / statistics.median(times["product"])


def copy_rate(device: torch.device) -> float:
    """Return the bytes a second that a large copy reads and writes."""
    source = torch.ones(2**30 if device.type == "cuda" else 2**26, device=device)
    target = torch.empty_like(source)
    times = interleaved({"copy": lambda: target.copy_(source)}, device, seconds=1, most=20)
    return 2 * source.nbytes / statistics.median(times["copy"])


def megabytes_of(call: Callable[[], object], device: torch.device) -> float:
    """Return the largest rise of the memory in use while `call` runs, in MB (10⁶ bytes).

    On a GPU by its allocator; on Linux by the system's high-water mark; elsewhere NaN.
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        call()
        return (torch.cuda.max_memory_allocated(device) - before) / 1e6
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark falls to what is in use
    except OSError:
        return float("nan")
    before = status("VmRSS")
    call()
    return (status("VmHWM") - before) * 1024 / 1e6


def status(field: str) -> int:
    """Return a field of Linux's account of this process, in KiB."""
    found = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def in_subprocess(module: str, *arguments: str) -> list[float]:
    """Run ``python -m module arguments`` and return the JSON list on its last line.

    The C library is told to give freed memory back at once, so that what is in use can be read off.
    """
    root = Path(__file__).resolve().parents[1]
    given_back = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=root, env=os.environ | given_back, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} failed:\n{done.stderr}")
    values: list[float] = json.loads(done.stdout.splitlines()[-1])
    return values


def describe(device: torch.device) -> str:
    """Name what is measured on."""
    if device.type == "cuda":
        return f"torch {torch.__version__}, {torch.cuda.get_device_name(device)}"
    return f"torch {torch.__version__}, CPU{processor()}, threads: {torch.get_num_threads()}"


def processor() -> str:
    """Return a blank and the processor's name, where Linux tells it."""
    try:
        found = re.search(r"^model name\s*:(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        return ""
    return found[1].rstrip() if found else ""
