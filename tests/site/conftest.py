"""What tests of the site share: the site, built once, a server and a browser."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from browsing import CHROMIUM, FLAGS, MISSING
from playwright.sync_api import Browser, sync_playwright

from tools.course import ROOT

PATIENCE = 300  # seconds that one test process waits for another to build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the whole site. The first test process builds it; the others wait."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    base = tmp_path_factory.getbasetemp()
    folder = base.parent / f"site-{run}" if run else base / "site"
    verdict = folder / "verdict"
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        deadline = time.monotonic() + PATIENCE
        while not verdict.exists():
            assert time.monotonic() < deadline, "the build in another test process did not end"
            time.sleep(0.2)
    else:
        path = os.pathsep.join(map(str, (without_other_packages(folder / "absent"), ROOT)))
        command = [sys.executable, "-m", "tools.site", "build", "--out", str(folder / "html")]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=False)
        verdict.with_suffix(".new").write_text(str(done.returncode))
        verdict.with_suffix(".new").rename(verdict)
    said = "the build has faults; they are in the captured output of the process that built"
    assert verdict.read_text() == "0", said
    return folder / "html"


def without_other_packages(folder: Path) -> Path:
    """Fill a folder with modules that refuse to be imported: all that are not in the site's own lock."""
    lock = (ROOT / "requirements-book.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))
    folder.mkdir()
    for module, packages in packages_distributions().items():
        if not locked & {re.sub(r"[-_.]+", "-", name).lower() for name in packages}:
            (folder / f"{module}.py").write_text("raise ImportError('the site is built without this')")
    assert (folder / "torch.py").exists()
    return folder


class Quiet(SimpleHTTPRequestHandler):
    """Serves without a log."""

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Yield the site behind a sub-path of a server on this machine."""
    (site.parent / "served").mkdir(exist_ok=True)
    link = site.parent / "served" / "course"
    if not link.exists():
        link.symlink_to(site, target_is_directory=True)
    handler = partial(Quiet, directory=str(site.parent / "served"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/course"
    server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Yield one Chromium for the tests of a file; without it they are skipped."""
    if MISSING:
        pytest.skip(f"to test in a browser, install {', '.join(MISSING)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Yield the browser; what a test opens in it is closed after the test."""
    yield chromium
    for context in chromium.contexts:
        context.close()
