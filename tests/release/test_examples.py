"""The examples run as they say."""

import os
import re
import subprocess
import sys

import pytest

from mha_course.corpus import Vocabulary, load_corpus
from mha_course.training import fit, seed_everything
from mha_course.transformer import Transformer
from tools.course import ROOT


def test_two_processes_reach_the_losses_of_one_and_report_once() -> None:
    """The last of 193 sentences is a batch alone: the second process has no share of it."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    options = ["--epochs=3", "--pairs=193", "--dropout=0"]
    run = subprocess.run(
        [*launch, str(ROOT / "examples/distributed.py"), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    losses = re.findall(r"^epoch \d/3  loss (.+)$", run.stdout, re.MULTILINE)

    pairs = load_corpus("fr", "train")[:193]
    vocabularies = Vocabulary(pair.source for pair in pairs), Vocabulary(pair.target for pair in pairs)
    seed_everything(0)
    model = Transformer(*map(len, vocabularies))
    expected = fit(model, pairs, *vocabularies, epochs=3, learning_rate=0.003, progress=False)
    assert expected[2] < 0.9 * expected[0]
    assert list(map(float, losses)) == pytest.approx(expected, rel=1e-3)
