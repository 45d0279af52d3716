"""What README, CONTRIBUTING and docs point to exists; the commands they name exist with their options."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.course import ROOT, Course, cells
from tools.editions.__main__ import main
from tools.editions.__main__ import parser as editions
from tools.experiments.claims import EXPERIMENTS

GUIDES = ["CONTRIBUTING.md", "docs/authoring.md", "docs/translating.md"]
PAGES = ["README.md", *GUIDES, "book/en/teaching.ipynb", "book/en/translations.ipynb"]
FENCE = re.compile(r"```(?:bash|bat)\n(.*?)```", re.DOTALL)
OTHERS = (
    r"(alias t=|git |pip |pip3 |apt-get |py -m venv |python3 -m venv |set "
    r"|\.venv[/\\]\w+[/\\](pip|jupyter|python -m pytest) )"
)
MODULE = re.compile(r"^(?:\.venv[/\\](?:bin|Scripts)[/\\])?python3? -m ([\w.]+) ?(.*)$")


def text_of(name: str) -> str:
    if name.endswith(".ipynb"):
        return "\n\n".join(cell.source for cell in cells(Course().read("en", Path(name).stem)).values())
    return (ROOT / name).read_text(encoding="utf-8")


def commands(name: str) -> list[str]:
    """Return every line of a block of commands, and every command between backquotes."""
    text = text_of(name)
    lines = [line for block in FENCE.findall(text) for line in block.splitlines()]
    inline = re.findall(
        r"`((?:t|make|\.venv/bin/\S+) [^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    )
    return [line.split(" #")[0].strip() for line in lines + inline if line.strip()]


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", *GUIDES])
def test_every_file_that_is_linked_to_exists(name: str) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text_of(name), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", text)
    assert not [link for link in links if "://" not in link and not ((ROOT / name).parent / link).exists()]


def test_contributing_is_read_in_one_go() -> None:
    assert len(text_of("CONTRIBUTING.md").splitlines()) <= 100


@pytest.mark.parametrize(("name", "line"), [(name, line) for name in PAGES for line in commands(name)])
def test_a_command_exists_with_its_options(name: str, line: str) -> None:
    targets = re.findall(r"^([a-z]+):", text_of("Makefile"), re.MULTILINE)
    if line.startswith("make"):
        words = line.split()[1:]
        assert all(word in targets or re.fullmatch("[A-Z]+=.*", word) for word in words), line
        return
    match = MODULE.match(line)
    if line == ".venv/bin/python -m tools.editions":  # what `t` stands for
        return
    if line.startswith("t ") or (match and match[1] == "tools.editions"):
        accepts(editions(), match[2] if match else line.removeprefix("t "))
    elif match and match[1] == "tools.experiments.claims":
        assert set(match[2].split()) <= {"STEM", *EXPERIMENTS}
    elif match and match[1].startswith("benchmarks."):
        assert (ROOT / f"{match[1].replace('.', '/')}.py").exists(), line
    elif match and match[1].startswith("tools."):
        place = match[1].replace(".", "/")
        if (ROOT / f"{place}.py").exists():
            assert "--" not in match[2] or f'"{match[2].split()[-1]}"' in text_of(f"{place}.py"), line
            return
        source = text_of(f"{place}/__main__.py")
        assert not match[2] or f'"{match[2].split()[0]}"' in source, line
    else:
        assert re.match(OTHERS, line), f"{line}: what is it?"


def accepts(parser: argparse.ArgumentParser, line: str) -> None:
    try:
        parser.parse_args(shlex.split(line.replace("…", "")))
    except SystemExit as stopped:
        assert stopped.code == 0, line  # --help


# What the blocks of the guides show is run, each block in a copy of the book of its own.
BLOCKS = [
    [line.split(" #")[0].strip().removeprefix("t ") for line in block.splitlines()]
    for name in GUIDES
    for block in FENCE.findall(text_of(name))
    if block.startswith("t ")
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the book in a repository of its own, with a comma set in English and not committed."""
    root = tmp_path_factory.mktemp("course")
    kept = ["README.md", "_config.yml", "_toc.yml", "book", "mha_course", "tools/experiments/claims.tsv"]
    for name in kept:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    shutil.rmtree(root / "book/eo", ignore_errors=True)
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "First"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    course = Course(root)
    notebook = course.read("en", "multi-head-attention")
    cells(notebook)["question"].source += " That is all."
    course.write("en", "multi-head-attention", notebook)
    return root


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0])
def test_the_examples_of_the_guides_run(template: Path, tmp_path: Path, block: list[str]) -> None:
    root = Path(shutil.copytree(template, tmp_path / "course"))
    for line in block:
        assert main(["--root", str(root), *shlex.split(line)]) == 0, line
