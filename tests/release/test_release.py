"""What readers get: archives that start in an empty folder, copies without solutions, a release or none."""

import json
import posixpath
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from markdown_it import MarkdownIt

from tools.cells import for_students
from tools.course import Course, CourseError, cells
from tools.editions.check import broken_links
from tools.release.package import build, environment, lacking, run, try_out
from tools.release.release import release
from tools.release.student import without_links, without_solutions
from tools.site.archives import archive

COURSE = Course()
GREEN, RED = ([sys.executable, "-c", "pass"],), ([sys.executable, "-c", "raise SystemExit(1)"],)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheel and the source archive."""
    return build(COURSE, tmp_path_factory.mktemp("built") / "dist")


def without(wheel: Path, what: str, folder: Path) -> Path:
    """Return a copy of the wheel that lacks the files whose name has `what` in it."""
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            if what not in name:
                new.writestr(name, old.read(name))
    return copy


# ---- the package


def test_wheel_and_source_have_every_file_and_licence(built: tuple[Path, Path]) -> None:
    assert lacking(COURSE, *built) == []


@pytest.mark.parametrize("what", ["LICENSE-PROSE", "data/corpus.tsv", "py.typed"])
def test_a_file_that_is_lost_is_named(built: tuple[Path, Path], tmp_path: Path, what: str) -> None:
    wheel = without(built[0], what, tmp_path)
    (said,) = lacking(COURSE, wheel, built[1])
    assert said.endswith(what)


def test_a_wheel_without_a_module_is_not_saved_by_the_checkout(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    try_out(COURSE, built[0])
    with pytest.raises(CourseError, match=r"No module named 'mha_course\.masking'"):
        try_out(COURSE, without(built[0], "masking.py", tmp_path))


# ---- archives


def files_of(path: Path) -> dict[str, bytes]:
    """Return the content of each file of an archive, all of which lie in one folder."""
    with zipfile.ZipFile(path) as file:
        return {name.removeprefix(f"{path.stem}/"): file.read(name) for name in file.namelist()}


@pytest.mark.parametrize("language", COURSE.languages)
def test_an_archive_has_notebooks_package_and_how_to_start(tmp_path: Path, language: str) -> None:
    path = archive(COURSE, language, tmp_path)
    found = files_of(path)
    for stem in COURSE.stems(language):
        assert found[f"{language}/{stem}.ipynb"] == COURSE.path(language, stem).read_bytes()
    listed = ["git", "ls-files", COURSE.package]
    package = subprocess.run(listed, cwd=COURSE.root, capture_output=True, text=True, check=True)
    assert set(package.stdout.split()) == {name for name in found if name.startswith(f"{COURSE.package}/")}
    start = found["README.md"].decode()
    assert f"jupyter lab {language}/index.ipynb\n" in start
    assert start.startswith(f"# {COURSE.words(language)['site']}\n")
    first = path.read_bytes()
    assert archive(COURSE, language, tmp_path).read_bytes() == first


def targets(name: str, content: bytes) -> Iterator[str]:
    """Yield the targets of links and images in the Markdown of an archive's file."""
    text = content.decode()
    cells_of = (
        json.loads(text)["cells"] if name.endswith(".ipynb") else [{"cell_type": "markdown", "source": text}]
    )
    for cell in cells_of:
        if cell["cell_type"] == "markdown":
            for token in MarkdownIt("commonmark").enable("table").parse("".join(cell["source"])):
                for part in token.children or ():
                    yield from (str(part.attrs[key]) for key in ("href", "src") if key in part.attrs)


@pytest.mark.parametrize("language", ["en", "vi"])  # the check compares the links of all
def test_every_link_of_an_archive_leads_into_it(tmp_path: Path, language: str) -> None:
    found = files_of(archive(COURSE, language, tmp_path))
    links = {
        (name, posixpath.normpath(f"{posixpath.dirname(name)}/{target.partition('#')[0]}"))
        for name, content in found.items()
        if name.endswith((".ipynb", ".md"))
        for target in targets(name, content)
        if not urlsplit(target).scheme and not target.startswith("#")
    }
    assert (f"{language}/index.ipynb", f"{language}/teaching.ipynb") in links and len(links) > 100
    assert [link for link in sorted(links) if link[1] not in found] == []


def test_a_notebook_of_an_unpacked_archive_runs_and_one_alone_says_what_it_lacks(tmp_path: Path) -> None:
    """In a new environment that has all but the course."""
    path = archive(COURSE, "vi", tmp_path)
    shutil.unpack_archive(path, tmp_path)
    python = environment(COURSE, tmp_path / "environment")
    execute = [python, "-m", "nbconvert", "--to=notebook", "--execute", "notation.ipynb"]
    run(execute, tmp_path / path.stem / "vi", "the notebook")
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(tmp_path / path.stem / "vi" / "notation.ipynb", alone)
    with pytest.raises(CourseError, match="This notebook needs the folder mha_course: download"):
        run(execute, alone, "the notebook")


# ---- copies for students


def test_links_to_what_students_do_not_get_are_taken_out() -> None:
    gone = {"here#recall-check", "there#sum-check"}
    text = "A ([check](#recall-check)), b（[檢查](there.ipynb#sum-check)）, [c](#recall-check), ([d](#d))."
    assert without_links(text, "here", gone) == "A, b, c, ([d](#d))."
    assert without_links(text, "elsewhere", set()) == text


def test_a_copy_for_students_lacks_solutions_and_checks_and_nothing_else(tmp_path: Path) -> None:
    copy = without_solutions(COURSE, tmp_path / "copy")
    left_out = 0
    for language in COURSE.languages:
        for stem in COURSE.stems(language):
            whole, rest = COURSE.read(language, stem), copy.read(language, stem)
            kept = for_students(whole.cells)
            assert [cell["id"] for cell in kept] == [cell["id"] for cell in rest.cells]
            left_out += len(whole.cells) - len(kept)
    assert left_out > 100
    for stem in copy.stems():
        for key, cell in cells(copy.read("en", stem)).items():
            assert not list(broken_links(copy, stem, cell.source)), f"{stem}#{key}"


# ---- a release


@pytest.fixture
def project(tmp_path: Path) -> Course:
    """Return a committed project with what a release touches."""
    root = tmp_path / "project"
    (root / "mha_course").mkdir(parents=True)
    (root / "mha_course/__init__.py").write_text('__version__ = "1.0.0"\n')
    (root / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A chapter.\n")
    for name in ("CITATION.cff", "pyproject.toml"):
        (root / name).write_text((COURSE.root / name).read_text(encoding="utf-8"), encoding="utf-8")
    (root / "_config.yml").write_text(
        'package: mha_course\nrepository: {url: "https://example.org/course"}\n'
    )
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Start"]):
        git(root, *words)
    return Course(root)


def git(root: Path, *words: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", *author, *words], cwd=root, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(autouse=True)
def _author(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")


def make(course: Course, out: Path) -> list[Path]:
    return [out / course.text("mha_course/__init__.py").split('"')[1]]


def test_a_release_names_the_version_everywhere_and_is_tagged(project: Course) -> None:
    assert release(project, "1.2.0", Path("out"), GREEN, make) == [Path("out/1.2.0")]
    assert git(project.root, "status", "--porcelain") == ""
    assert git(project.root, "tag").split() == ["v1.2.0"]
    assert git(project.root, "show", "--stat", "--format=%s", "v1.2.0^{commit}").startswith("Version 1.2.0")
    said = project.text("CHANGELOG.md")
    assert re.search(
        r"## \[Unreleased\]\n\n## \[1\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- A chapter", said
    )
    assert re.search(r"^version: 1\.2\.0\ndate-released: \d{4}-", project.text("CITATION.cff"), re.MULTILINE)
    assert '[project]\nurls = { Repository = "https://example.org/course" }\n' in project.text(
        "pyproject.toml"
    )


def test_what_cannot_be_released_is_refused(project: Course) -> None:
    release(project, "1.2.0", Path("out"), GREEN, make)
    for version, said in (("1.2", "three numbers"), ("1.2.0", "was released"), ("1.3.0", "nothing under")):
        with pytest.raises(CourseError, match=said):
            release(project, version, Path("out"), GREEN, make)
    (project.root / "note").write_text("")
    with pytest.raises(CourseError, match=r"not committed:\n.* note"):
        release(project, "1.3.0", Path("out"), GREEN, make)


def broken(course: Course, out: Path) -> list[Path]:
    raise CourseError("the site has faults")


@pytest.mark.parametrize(("checks", "make", "said"), [(RED, make, "fails"), (GREEN, broken, "has faults")])
def test_a_red_check_or_build_leaves_everything_as_it_was(project: Course, checks, make, said) -> None:
    with pytest.raises(CourseError, match=said):
        release(project, "1.2.0", Path("out"), checks, make)
    assert git(project.root, "status", "--porcelain") == git(project.root, "tag") == ""
    assert len(git(project.root, "log", "--oneline").splitlines()) == 1
