"""What all tests share: one thread, patience, and the site, built once for those that look at it."""

import os
import re
import subprocess
import sys
import time
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tools.course import ROOT

# Sums add up in the same order everywhere, and workers do not crowd each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A busy machine is slow; that is no fault of what Hypothesis tries.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
PATIENCE = 300  # seconds that one test process waits for another to build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole site. The first test process builds it; the others wait."""
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
