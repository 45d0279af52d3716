"""Timing in interleaved rounds of one process; peak memory in a process of its own."""

import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parents[1] / "_build" / "bench"
FOLDER.mkdir(parents=True, exist_ok=True)


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


def progress(text: str = "") -> None:
    """Show what is being done on stderr, over what was shown before; nothing erases it."""
    print(f"\r{text:<78}", end="" if text else "\r", file=sys.stderr, flush=True)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def picture(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    lengths: Sequence[int],
    colours: Sequence[str],
    xlabel: str,
    title: str,
    path: Path,
) -> None:
    """Draw a panel for each unit, in it a line for each name, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    figure, axes = plt.subplots(1, len(panels), figsize=(7, 4.2), layout="constrained")
    for ax, (unit, lines) in zip(axes, panels.items(), strict=True):
        for (name, values), colour in zip(lines.items(), colours, strict=True):
            ax.loglog(lengths, values, "o-", color=colour, label=name, ms=4)
        ax.set_xticks(lengths, [str(length) for length in lengths])
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(xlabel)
        ax.set_title(unit, fontsize=10)
        ax.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def megabytes_of(call: Callable[[], object], device: torch.device) -> float:
    """Return by how many MB (10⁶ bytes) the memory in use rises at most while `call` runs.

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
    return f"torch {torch.__version__}, CPU, threads: {torch.get_num_threads()}"
