"""A release: versions and changelog, everything that readers get, a commit and a tag. Nothing is pushed."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from tools.course import Course, CourseError, write_atomically
from tools.site.archives import archive
from tools.site.build import build
from tools.site.pdf import print_editions

from .package import package

CHECKS = ([sys.executable, "-m", "tools.editions", "check", "--release"], ["make", "test"])
UNRELEASED = re.compile(r"^## \[Unreleased\]\n+(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
NONE_YET = "No version was released so far.\n\n"


def git(course: Course, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=course.root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def check_releasable(course: Course, version: str) -> None:
    """Raise if this version cannot be released from this tree."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise CourseError(f"VERSION is three numbers such as 1.2.0, got {version!r}")
    if dirty := git(course, "status", "--porcelain"):
        raise CourseError(f"the tree has changes that are not committed:\n{dirty}")
    if git(course, "tag", "--list", f"v{version}"):
        raise CourseError(f"version {version} was released: there is a tag v{version}")
    unreleased = UNRELEASED.search(course.text("CHANGELOG.md"))
    if not unreleased or not unreleased[1].replace(NONE_YET, "").strip():
        raise CourseError("CHANGELOG.md says nothing under [Unreleased]")


def with_version(course: Course, version: str, today: str) -> dict[str, str]:
    """Return the text that the files with the version shall have."""
    start = f"{course.package}/__init__.py"
    changelog = course.text("CHANGELOG.md").replace(NONE_YET, "")
    citation = re.sub(r"^date-released: .*\n", "", course.text("CITATION.cff"), flags=re.MULTILINE)
    project = re.sub(r"^urls = .*\n", "", course.text("pyproject.toml"), flags=re.MULTILINE)
    if url := course.repository.get("url"):
        project = project.replace("\n[project]\n", f'\n[project]\nurls = {{ Repository = "{url}" }}\n')
    return {
        start: re.sub(r'^__version__ = ".*"', f'__version__ = "{version}"', course.text(start), flags=re.M),
        "CHANGELOG.md": changelog.replace(
            "## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {today}\n"
        ),
        "CITATION.cff": re.sub(
            r"^version: .*\n", f"version: {version}\ndate-released: {today}\n", citation, flags=re.M
        ),
        "pyproject.toml": project,
    }


def build_all(course: Course, out: Path) -> list[Path]:
    """Build and try all that readers get, and return the paths."""
    made = list(package(course, out / "dist"))
    made += [archive(course, language, out / "archives") for language in course.languages]
    codes = list(course.languages)
    if not build(codes, out / "html", course):
        raise CourseError("the site has faults; they are listed above")
    made.append(Path(shutil.make_archive(str(out / "archives" / "site"), "zip", out / "html")))
    try:
        made += print_editions(out / "html", out / "pdf", codes, course.pages)
    except SystemExit as without:
        print(f"no PDFs: {without}", file=sys.stderr)
    return made


def release(
    course: Course,
    version: str,
    out: Path,
    checks: Sequence[Sequence[str]] = CHECKS,
    make: Callable[[Course, Path], list[Path]] = build_all,
) -> list[Path]:
    """Check, name the version, build, commit and tag. Where a step fails, the files are as before."""
    check_releasable(course, version)
    for command in checks:
        if subprocess.run(command, cwd=course.root, check=False).returncode:
            raise CourseError(f"{' '.join(command)} fails: nothing was released")
    files = with_version(course, version, date.today().isoformat())
    before = {name: course.text(name) for name in files}
    try:
        for name, text in files.items():
            write_atomically(course.root / name, text)
        made = make(course, out)
        git(course, "commit", "--quiet", "--message", f"Version {version}", "--", *files)
    except BaseException:
        for name, text in before.items():
            write_atomically(course.root / name, text)
        raise
    git(course, "tag", "--annotate", f"v{version}", "--message", f"Version {version}")
    return made
