"""Keep what the benchmarks measured: on a GPU in ``mha_course/data``, for pages, on a CPU beside this file.

README shows a part of both, between marks such as ``<!-- gpu: begin -->`` and ``<!-- gpu: end -->``.

``python -m benchmarks.store`` takes the rows of ``_build/bench``. Each row names the benchmark, the device,
torch's version and the day; a benchmark that was not run again keeps its old rows.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import FOLDER, OURS, markdown

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
STORED = {"gpu": ROOT / "mha_course" / "data" / "gpu.tsv", "cpu": ROOT / "benchmarks" / "cpu.tsv"}
IN_README = {
    "gpu": (
        ("attention, no mask, forward + backward", "4 × 4096 × 1024 × 16, bfloat16"),
        ("attention, causal, forward + backward", "4 × 4096 × 1024 × 16, bfloat16"),
        ("translator, training step", "16 × 512/512 × 512 × 8 × 6, bfloat16"),
        ("language model, training step", "16 × 1024 × 768 × 12 × 6, bfloat16"),
        ("writing", "1 × 128 × 768 × 12 × 12, bfloat16"),
    ),
    "cpu": (
        ("attention, no mask, forward + backward", "8 × 512 × 512 × 8, float32"),
        ("attention, causal, forward + backward", "8 × 512 × 512 × 8, float32"),
        ("translator, training step", "32 × 64/64 × 256 × 8 × 3, float32"),
        ("language model, training step", "8 × 256 × 256 × 8 × 4, float32"),
        ("writing", "1 × 128 × 256 × 8 × 4, float32"),
    ),
}
NOT_SHOWN = ("matrix products", "mha_course, weights", "nn.MHA, weights", "Annotated Transformer")
Rows = list[dict[str, str]]


def read(path: Path) -> Rows:
    """Return the rows of a table; none where there is no such file yet."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write(path: Path, rows: Rows) -> None:
    """Write a table; a row that lacks a column of another has nothing there."""
    columns = dict.fromkeys(column for row in rows for column in row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), restval="", delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def merged(old: Rows, new: Rows) -> Rows:
    """Replace the rows of every benchmark that was run again."""
    again = {row["benchmark"] for row in new}
    return [row for row in old if row["benchmark"] not in again] + new


def measured_on(kind: str, rows: Rows) -> Rows:
    """Return the rows of a CPU or of a GPU."""
    return [row for row in rows if row["device"].startswith("CPU") == (kind == "cpu")]


def part_for_readme(rows: Rows, shown: Sequence[tuple[str, str]]) -> str:
    """Return a table of some comparisons: our time or speed, and the others' time as a multiple of ours."""
    lines = []
    for table, size in shown:
        chosen = {row["name"]: row for row in rows if (row["table"], row["size"]) == (table, size)}
        ours = chosen.pop(OURS)
        others = (
            f"{name} {row['ratio']}" for name, row in chosen.items() if row["ratio"] and name not in NOT_SHOWN
        )
        lines.append((f"{table}, {size}", f"{ours['value']} {ours['unit']}", " · ".join(others)))
    first = rows[0]
    where = f"{first['device']}, PyTorch {first['torch']}, {first['date']}"
    return markdown((where, f"`{OURS}`", "the others' time, as a multiple of ours"), lines)


def with_part(readme: str, kind: str, rows: Rows) -> str:
    """Return README with the table of these rows between the marks of a CPU or a GPU."""
    marks = rf"(?<=<!-- {kind}: begin -->\n).*?(?=<!-- {kind}: end -->)"
    part = part_for_readme(rows, IN_README[kind])
    return re.sub(marks, lambda _: f"{part}\n", readme, flags=re.DOTALL)


def main() -> None:
    new = [row for path in sorted(FOLDER.glob("*.tsv")) for row in read(path)]
    if not new:
        raise SystemExit(f"nothing was measured in {FOLDER}")
    for kind, path in STORED.items():
        if measured := measured_on(kind, new):
            rows = merged(read(path), measured)
            README.write_text(with_part(README.read_text(encoding="utf-8"), kind, rows), encoding="utf-8")
            write(path, rows)
            print(f"{len(rows)} rows in {path}, a part of them in {README.name}")


if __name__ == "__main__":
    main()
