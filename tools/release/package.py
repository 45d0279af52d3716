"""Build the package, and try it as readers get it: in a new environment, from an empty folder."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tools.course import Course, CourseError

# Tests that read no file of the course, and what they import.
TESTS = (
    "tolerance.py", "operators.py", "package/test_masking.py", "package/test_attention.py",
    "package/test_models.py",
)  # fmt: skip
ASSERT_INSTALLED = """
import sys, {package}
from pathlib import Path
assert Path({package}.__file__).is_relative_to(sys.prefix), {package}.__file__
"""


def run(command: list[str | Path], folder: Path, what: str) -> None:
    """Run a command; where it fails, what it printed is in the error."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"{what} fails:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def build(course: Course, out: Path) -> tuple[Path, Path]:
    """Build the source archive anew in ``out`` and the wheel of it, and return wheel and archive."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", out, course.root], out, "the build")
    (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, source


def lacking(course: Course, wheel: Path, source: Path) -> list[str]:
    """Return the files of the package, and the licences, that wheel or source archive lack."""
    listed = subprocess.run(
        ["git", "ls-files", course.package], cwd=course.root, capture_output=True, text=True, check=True
    )
    files = listed.stdout.split()
    licences = sorted(path.name for path in course.root.glob("LICENSE*"))
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(source) as archive:
        in_source = {name.partition("/")[2] for name in archive.getnames()}
    info = next(name for name in in_wheel if name.endswith("/METADATA")).removesuffix("METADATA")
    wanted_in_wheel = {*files, *(f"{info}licenses/{name}" for name in licences)}
    wanted_in_source = {*files, *licences, "README.md", "pyproject.toml"}
    return [
        *(f"{wheel.name} lacks {name}" for name in sorted(wanted_in_wheel - in_wheel)),
        *(f"{source.name} lacks {name}" for name in sorted(wanted_in_source - in_source)),
    ]


def environment(course: Course, folder: Path) -> Path:
    """Return the Python of a new environment that sees what is installed here, without the course."""
    venv.create(folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    linked = folder / "linked"  # what is installed here, without the course
    linked.mkdir()
    for site in dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")):
        for path in Path(site).iterdir():
            if course.package not in path.name:
                (linked / path.name).symlink_to(path)
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site_packages = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    (Path(site_packages) / "linked.pth").write_text(f"{linked}\n", encoding="utf-8")
    return python


def examples(course: Course) -> list[str]:
    """Return the README's code blocks in Python."""
    return re.findall(r"^```python\n(.*?)^```", course.text("README.md"), re.MULTILINE | re.DOTALL)


def try_out(course: Course, archive: Path, tests: Iterable[str] = ()) -> None:
    """Install a wheel or a source archive in a new environment and use it from an empty folder."""
    with tempfile.TemporaryDirectory() as name:
        empty = Path(name) / "empty"
        empty.mkdir()
        python = environment(course, Path(name) / "environment")
        # Without an index nothing can be fetched: what the package needs must be what is installed here.
        install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", archive]
        run(install, empty, f"the installation of {archive.name}")
        run(
            [python, "-c", ASSERT_INSTALLED.format(package=course.package)],
            empty,
            "the import of what was installed",
        )
        for example in examples(course):
            run([python, "-c", example], empty, "the README's example")
        for test in tests:
            shutil.copy(course.root / "tests" / test, empty)
        if tests:
            run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", empty], empty, "the tests")


def package(course: Course, out: Path) -> tuple[Path, Path]:
    """Build and try both; the error names what is wrong."""
    wheel, source = build(course, out)
    if missing := lacking(course, wheel, source):
        raise CourseError("\n".join(missing))
    try_out(course, source)
    try_out(course, wheel, TESTS)
    return wheel, source
