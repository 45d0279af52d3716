"""A course of two chapters in four languages, which tests change."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode

from tools.course import Course, cells
from tools.editions.__main__ import main
from tools.editions.check import check

ENGLISH = {
    "title": "# Masks\n\nA **mask** hides padding from every query, `mask`: $m_{ij} \\in \\{0, 1\\}$.",
    "why": "Without it the weights on padding are not zero. See [result](#result), [sums](sums.ipynb#title).",
    "result": "## Result\n\nThe two learning rates are *equal*.",
    "formula": "$$a = b$$",
}
TURKISH = {
    "title": "# Maskeler\n\n**Maske** dolguyu sorgulardan gizler, `mask`: $m_{ij} \\in \\{0, 1\\}$.",
    "why": "Onsuz dolgunun ağırlıkları sıfır olmaz. [Sonuç](#result), [toplam](sums.ipynb#title): bakın.",
    "result": "## Sonuç\n\nİki öğrenme oranı *eşittir*.",
    "formula": "$$a = b$$",
}
VIETNAMESE = {"result": "## Kết quả\n\nHai tốc độ học *bằng nhau*."}
CHINESE = {
    "title": "# 遮罩\n\n**遮罩**對每個查詢隱藏填充：`mask` 各有一列，$m_{ij} \\in \\{0, 1\\}$。",
    "why": "沒有它，填充的權重就不是零。見[結果](#result)與[總和](sums.ipynb#title)。",
    "result": "## 結果\n\n兩個學習率*相等*。",
    "formula": "$$a = b$$",
}


def named(cell: NotebookNode, key: str) -> NotebookNode:
    cell["id"] = key
    return cell


def cells_update(notebook: NotebookNode, texts: dict[str, str]) -> None:
    for key, cell in cells(notebook).items():
        cell.source = texts[key]


def rewrite(
    course: Course, language: str, change: Callable[[NotebookNode], object], stem: str = "masks"
) -> None:
    notebook = course.read(language, stem)
    change(notebook)
    course.write(language, stem, notebook)


def run(course: Course, command: str) -> int:
    """Run a command of the tools; return its exit status."""
    return main(["--root", str(course.root), *shlex.split(command)])


def errors(course: Course, release: bool = False) -> list[str]:
    return [finding.line(release) for finding in check(course) if finding.is_error(release)]


def snapshot(course: Course) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(course.root.rglob("*")) if path.is_file()}


def cell_of(notebook: NotebookNode, key: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell["id"] == key)


def replace(key: str, old: str, new: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        cell = cell_of(notebook, key)
        assert old in cell.source
        cell.source = cell.source.replace(old, new)

    return change


def git(course: Course, *arguments: str) -> None:
    author = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    command = ["git", "-C", str(course.root), *author, *arguments]
    subprocess.run(command, capture_output=True, check=True)


def start_history(course: Course) -> None:
    """Make the course a repository with one commit."""
    git(course, "init", "--quiet", "--initial-branch", "main")
    commit(course, "First")


def commit(course: Course, message: str) -> None:
    git(course, "add", "--all")
    git(course, "commit", "--quiet", "--message", message)


def remove(key: str) -> Callable[[NotebookNode], None]:
    return lambda notebook: notebook.cells.remove(cell_of(notebook, key))


def mangle(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
