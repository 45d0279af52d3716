"""Imports between the tools run one way: course ← editions ← site ← release; the others stand beside."""

import ast
from pathlib import Path

import pytest

from tools.course import ROOT

MAY_IMPORT = {
    "cells": set(),
    "language": set(),
    "course": {"language"},
    "editions": {"cells", "course", "language"},
    "site": {"cells", "course", "editions", "language"},
    "release": {"cells", "course", "site"},
    "corpus": set(),
    "experiments": {"cells", "course", "corpus", "mha_course", "benchmarks"},
}
OURS = {*MAY_IMPORT, "mha_course", "tests", "benchmarks"}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT / "tools").parts[0].removesuffix(".py")


def imported(path: Path, source: str) -> set[str]:
    """The parts of the project that a module imports, at the top or inside a function."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            stem = [*above, *(node.module or "").split(".")]
            names = [[*filter(None, stem), alias.name] for alias in node.names]
        else:
            continue
        found |= {name[1] if name[0] == "tools" else name[0] for name in names}
    return found & OURS


MODULES = [
    path
    for path in sorted((ROOT / "tools").rglob("*.py"))
    if path.parent != ROOT / "tools" or path.stem in MAY_IMPORT
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "tools")))
def test_a_module_imports_only_what_lies_below(path: Path) -> None:
    source, part = path.read_text(encoding="utf-8"), part_of(path)
    assert imported(path, source) <= MAY_IMPORT[part] | {part}
    assert "sys.path" not in source


def test_the_package_and_the_notebooks_know_nothing_of_the_tools() -> None:
    for path in sorted((ROOT / "mha_course").glob("*.py")):
        assert not imported(path, path.read_text(encoding="utf-8")) - {"mha_course"}, path


@pytest.mark.parametrize(
    "line",
    [
        "from tools.site import build",
        "import tools.site.build",
        "from ..site.build import build",
        "from .. import site",
    ],
)
def test_an_import_upwards_is_seen(line: str) -> None:
    assert imported(ROOT / "tools/editions/sync.py", line) == {"site"}
