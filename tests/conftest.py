"""What all tests share: one thread, patience, and the site, built once for those that look at it."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
        from tools.course import Course
        from tools.site.build import build

        verdict.with_suffix(".new").write_text(str(build(list(Course().languages), folder / "html")))
        verdict.with_suffix(".new").rename(verdict)
    said = "the build has faults; they are in the captured output of the process that built"
    assert verdict.read_text() == "True", said
    return folder / "html"
