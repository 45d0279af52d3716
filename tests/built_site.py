"""The site, built once for all tests that look at it."""

import os
import shutil
import time
from pathlib import Path

import pytest

from tools.site import ROOT, build, languages

PATIENCE = 300  # seconds that one test process waits for another to build


def build_or_wait(folder: Path) -> bool:
    """The first test process builds; the others wait until it has."""
    verdict = folder / "verdict"
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        deadline = time.monotonic() + PATIENCE
        while not verdict.exists():
            assert time.monotonic() < deadline, "the build in another test process did not end"
            time.sleep(0.2)
        return verdict.read_text() == "True"
    verdict.with_suffix(".new").write_text(str(build(list(languages()), folder / "html")))
    verdict.with_suffix(".new").rename(verdict)
    return verdict.read_text() == "True"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole site."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    base = tmp_path_factory.getbasetemp()
    folder = base.parent / f"site-{run}" if run else base / "site"
    assert build_or_wait(folder), (
        "the build has faults; they are in the captured output of the process that built"
    )
    return folder / "html"


def copy_of_book(folder: Path) -> Path:
    """A copy of the book's sources, to plant faults in."""
    return Path(shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("_*")))
