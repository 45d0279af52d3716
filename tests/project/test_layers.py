"""Imports run one way: the table in ARCHITECTURE.md says which, for every module and every code cell."""

from __future__ import annotations

import ast
import re

import pytest

from tools.course import ROOT, Course, cells

ROW = re.compile(r"^\| `([\w/.]+)` \| .* \| (.*) \|$", re.MULTILINE)
TABLE = dict(ROW.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")))
FOLDERS = sorted(TABLE, key=len, reverse=True)  # the innermost first
TOPS = {"mha_course", "tools", "book", "benchmarks", "examples", "tests"}
MODULES = sorted(path for top in TOPS for path in (ROOT / top).rglob("*.py"))


def name_of(folder: str) -> str:
    """Return how the table's column of imports names a folder."""
    return folder.rstrip("/").removesuffix(".py").removeprefix("tools/").removeprefix("site/")


def folder_of(module: str) -> str:
    """Return the row of the table that a module or package belongs to; empty if it is not ours."""
    place = module.replace(".", "/")
    owners = (
        folder for folder in FOLDERS if f"{place}/".startswith(folder.removesuffix(".py").rstrip("/") + "/")
    )
    return next(owners, "")


def allowed(folder: str) -> set[str]:
    """Return the names of the folders that a folder may import, and its own."""
    return set(re.findall(r"`([\w/]+)`", TABLE[folder])) | {name_of(folder)}


def imported(source: str, package: str) -> set[str]:
    """Return the folders that code imports, at the top or inside a function; `package`: where it stands."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            stem = ".".join([*above, *filter(None, [node.module])])
            modules = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= set(map(folder_of, modules))
    return {name_of(folder) for folder in found if folder}


def test_the_table_has_every_folder_with_code() -> None:
    places = {path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for path in MODULES}
    assert not [place for place in places - {"tools.__init__"} if not folder_of(place)]
    assert all((ROOT / folder).exists() for folder in TABLE)


def test_a_module_imports_what_the_table_allows() -> None:
    for path in MODULES:
        place = path.relative_to(ROOT).with_suffix("").parts
        folder = folder_of(".".join(place))
        if folder and place[0] != "tests":
            found = imported(path.read_text(encoding="utf-8"), ".".join(place[:-1]))
            assert found <= allowed(folder), path


def test_a_page_imports_the_package_only() -> None:
    for stem in Course().stems():
        for key, cell in cells(Course().read("en", stem), "code").items():
            source = re.sub(r"^(\s*)[%!].*$", r"\1pass", cell.source, flags=re.MULTILINE)
            assert imported(source, "book.en") <= allowed("book/"), (stem, key)


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
    assert imported(line, "tools.editions") == {"site"}


def test_a_folder_inside_another_is_a_folder_of_its_own() -> None:
    assert imported("from tools.site import live", "tools.site.extension") == {"live"}
    assert imported("from mha_course import practice", "book.en") == {"mha_course/practice"}
