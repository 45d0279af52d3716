"""Keep what the benchmarks measured on a GPU, as the table ``mha_course/data/gpu.tsv`` that pages read.

README shows a part of it, between the marks ``<!-- gpu: begin -->`` and ``<!-- gpu: end -->``.

``python -m benchmarks.store`` takes the rows of ``_build/bench`` that were measured on a GPU. Each row names
the benchmark, the card, torch's version and the day; a benchmark that was not run again keeps its old rows.
"""

import csv
import re
from pathlib import Path

from benchmarks.measure import FOLDER, OURS, markdown

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "mha_course" / "data" / "gpu.tsv"
IN_README = (
    ("attention, no mask, forward + backward", "4 × 4096 × 1024 × 16, bfloat16"),
    ("attention, causal, forward + backward", "4 × 4096 × 1024 × 16, bfloat16"),
    ("translator, training step", "16 × 512/512 × 512 × 8 × 6, bfloat16"),
    ("language model, training step", "16 × 1024 × 768 × 12 × 6, bfloat16"),
    ("writing", "1 × 128 × 768 × 12 × 12, bfloat16"),
)
NOT_SHOWN = ("matrix products", "mha_course, weights", "nn.MHA, weights", "Annotated Transformer")
Rows = list[dict[str, str]]


def read(path: Path) -> Rows:
    """Return the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def merged(old: Rows, new: Rows) -> Rows:
    """Replace the rows of every benchmark that was run on a GPU again."""
    measured = [row for row in new if not row["device"].startswith("CPU")]
    again = {row["benchmark"] for row in measured}
    return [row for row in old if row["benchmark"] not in again] + measured


def part_for_readme(rows: Rows) -> str:
    """Return a table of some comparisons: our time or speed, and the others' time as a multiple of ours."""
    shown = []
    for table, size in IN_README:
        chosen = {row["name"]: row for row in rows if (row["table"], row["size"]) == (table, size)}
        ours = chosen.pop(OURS)
        others = (
            f"{name} {row['ratio']}" for name, row in chosen.items() if row["ratio"] and name not in NOT_SHOWN
        )
        shown.append((f"{table}, {size}", f"{ours['value']} {ours['unit']}", " · ".join(others)))
    first = rows[0]
    where = f"{first['device']}, PyTorch {first['torch']}, {first['date']}"
    return markdown((where, f"`{OURS}`", "the others' time, as a multiple of ours"), shown)


def with_part(readme: str, rows: Rows) -> str:
    """Return README with the table of these rows between its marks."""
    marks = r"(?<=<!-- gpu: begin -->\n).*?(?=\n<!-- gpu: end -->)"
    return re.sub(marks, lambda _: part_for_readme(rows), readme, flags=re.DOTALL)


def main() -> None:
    old = read(STORED) if STORED.exists() else []
    new = [row for path in sorted(FOLDER.glob("*.tsv")) for row in read(path)]
    rows = merged(old, new)
    if not rows:
        raise SystemExit(f"nothing in {FOLDER} was measured on a GPU")
    with STORED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    path = ROOT / "README.md"
    path.write_text(with_part(path.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print(f"{len(rows)} rows in {STORED}, a part of them in README.md")


if __name__ == "__main__":
    main()
