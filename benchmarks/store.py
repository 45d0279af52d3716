"""Keep what the benchmarks measured on a GPU, as the table ``mha_course/data/gpu.tsv`` that pages read.

``python -m benchmarks.store`` takes the rows of ``_build/bench`` that were measured on a GPU. Each row names
the benchmark, the card, torch's version and the day; a benchmark that was not run again keeps its old rows.
"""

import csv
from pathlib import Path

from benchmarks.measure import FOLDER

STORED = Path(__file__).resolve().parents[1] / "mha_course" / "data" / "gpu.tsv"
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
    print(f"{len(rows)} rows in {STORED}")


if __name__ == "__main__":
    main()
