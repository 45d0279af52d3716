"""What holds the project together: pinned packages, one version, files for those who look after it."""

import ast
import math
import re
import shutil
import subprocess
import tomllib

import pytest
import yaml

import mha_course
from tests.mutants import changes
from tools.course import ROOT


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pins(name: str) -> set[str]:
    """Return every ``name==version`` that begins a line."""
    return set(re.findall(r"^[\w.-]+==[\w.]+", text(name), re.MULTILINE))


def test_the_locks_are_of_the_requirements() -> None:
    of_the_book, others = pins("requirements-book.txt"), pins("requirements.txt")
    (torch,) = (pin for pin in others if pin.startswith("torch=="))
    assert "-r requirements-book.txt\n" in text("requirements.txt")
    assert of_the_book <= pins("requirements-book.lock"), "run make lock"
    assert pins("requirements-book.lock") | others - {torch} <= pins("requirements.lock"), "run make lock"


@pytest.mark.parametrize(("name", "least"), [("requirements.lock", 180), ("requirements-book.lock", 90)])
def test_every_locked_package_has_a_hash_and_none_names_where_it_came_from(name: str, least: int) -> None:
    entries = re.split(r"\n(?=\w)", text(name))[1:]
    assert len(entries) > least
    assert not [entry for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)]
    assert not re.search(r"://|--index|--find-links| @ ", text(name))


def test_the_version_stands_everywhere_the_same() -> None:
    assert yaml.safe_load(text("CITATION.cff"))["version"] == mha_course.__version__
    headings = re.findall(r"^## \[(.+?)\]", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1:2] in ([], [mha_course.__version__])


def test_linters_check_for_the_oldest_python_that_is_promised() -> None:
    settings = tomllib.loads(text("pyproject.toml"))
    oldest = settings["project"]["requires-python"].removeprefix(">=")
    assert settings["tool"]["mypy"]["python_version"] == oldest
    assert settings["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")


YAML = [
    ".pre-commit-config.yaml",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.yml")),
]


@pytest.mark.parametrize("name", YAML)
def test_what_the_hooks_and_workflows_run_is_there(name: str) -> None:
    """Make's targets, modules and files that a workflow or a hook names."""
    assert yaml.safe_load(text(name))
    targets = set(re.findall(r"^([a-z][\w-]*):", text("Makefile"), re.MULTILINE))
    named = re.findall(r"\bmake ([a-z][\w-]*)", text(name))
    named += re.findall(r"[a-z]+", "".join(re.findall(r"command: \[(.*)\]", text(name))))
    assert set(named) <= targets
    for module in re.findall(r"-m (tools\.[\w.]+)", text(name)):
        assert list(ROOT.glob(f"{module.replace('.', '/')}*")), module
    for path in re.findall(r"(?:bash|uses:) (\.[\w./-]+)", text(name)):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    "name", [".binder/postBuild", ".devcontainer/set-up", ".github/actions/set-up/action.yml"]
)
def test_every_set_up_takes_the_pinned_torch(name: str) -> None:
    """They read the pin with grep, so it has to stand on a line of its own."""
    assert "grep '^torch==' requirements.txt" in text(name)
    assert len(re.findall(r"^torch==[\d.]+$", text("requirements.txt"), re.MULTILINE)) == 1


def test_faults_of_the_package_are_made_from_its_code() -> None:
    code = ast.parse("if X < 1 and bias:\n    return math.dist(X, Y, p=True).detach()[2:]")
    assert [ast.unparse(new) for *_, new in changes(code, {"math": math})] == [
        "True", "False", "bias", "X < 1", "", "2",
        "math.dist(X, Y, p=True)", "math.dist(X, Y)", "math.dist(Y, X, p=True)", "X", "False", ":", "3",
    ]  # fmt: skip


@pytest.mark.skipif(not shutil.which("make"), reason="make")
def test_the_quick_check_passes_a_page_without_code() -> None:
    rule = ["make", "--always-make", "_build/passed/translations"]
    done = subprocess.run(rule, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "no tests ran" in done.stdout, done.stdout + done.stderr


def test_digests_do_not_depend_on_the_line_ends_of_the_system() -> None:
    """Git for Windows gives a file the bytes of the repository where it is binary or its lines end in LF."""
    command = ["git", "ls-files", "--eol"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    other = [line for line in listed if re.search(r"^i/(crlf|mixed)", line)]
    other += [line for line in listed if not re.search(r"attr/(-text|text=auto eol=lf)\s", line)]
    assert len(listed) > 300 and not other
