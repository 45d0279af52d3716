"""The comparison of notebook outputs (book/conftest.py) finds what changed and forgives the last digit."""

import runpy
import shutil
import subprocess
import sys

import matplotlib
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.course import ROOT

matplotlib.use("agg")
import matplotlib.pyplot as plt

CONFTEST = ROOT / "book" / "conftest.py"
DRAWN = runpy.run_path(str(CONFTEST.with_name("drawn.py")))


def cell(
    key: str, code: str, output: str | None, *tags: str, executed: bool = True, **outputs: str
) -> object:
    """Return a cell that holds ``output`` from an earlier run, which may not be what ``code`` prints."""
    stored = [new_output("stream", name="stdout", text=output)] if output is not None else []
    stored += [new_output("stream", name=name, text=text) for name, text in outputs.items()]
    made = new_code_cell(code, execution_count=1 if executed else None, outputs=stored)
    made["id"] = key
    made.metadata["tags"] = list(tags)
    return made


def figure(key: str, code: str, stored: str, *tags: str) -> object:
    """Return a cell that draws, and shows what another code drew; no code: what Jupyter says of a figure."""
    text = "<Figure size 640x480 with 1 Axes>"
    if stored:
        exec(stored, {"plt": plt})
        text = DRAWN["drawn"](plt.gcf())
        plt.close("all")
    made = cell(key, f"import matplotlib.pyplot as plt\n{code}\nplt.show()", None, *tags)
    made["outputs"] = [new_output("display_data", {"image/png": "aGk=", "text/plain": text})]
    return made


CURVE, BARS = "_ = plt.plot([1.0, 2.0, 3.0])", "_ = plt.bar([1, 2], [3.0, 4.0])"
WORD = f"{CURVE}; _ = plt.text(1, 2, '0.04')"
MATRIX = "_ = plt.imshow([[0.0, 0.5], [0.7, 1.0]])"
SAME = [
    figure("curve", CURVE, CURVE),
    figure("curve-nearly", CURVE.replace("2.0", "2.001"), CURVE),
    figure("curve-within-tag", CURVE.replace("2.0", "2.05"), CURVE, "atol-0.05"),
    figure("bars", BARS, BARS),
    figure("matrix", MATRIX, MATRIX),
    figure("one-model", MATRIX.replace("0.7", "0.1"), MATRIX, "one-model"),
    figure("minus-of-a-word", f"{CURVE}; _ = plt.text(1, 2, '\u22120.03')", WORD),
    figure("drawn-by-an-editor", CURVE, ""),
    cell("equal", "print('loss', 0.5)", "loss 0.5\n"),
    cell("last-digit", "print(0.5454, 12345.6)", "0.5455 12345.9\n"),
    cell("exponent", "print(1.2005e-05)", "1.2e-05\n"),
    cell("spaces", "print('[ 0.000, 1.]')", "[-0.000,  1.]\n"),
    cell("gpu", "print('tensor([1.]) cpu')", "tensor([1.], device='cuda:0') cuda:0\n"),
    cell("tolerant", "print(0.93)", "0.95\n", "atol-0.05"),
    cell("empty", "", None, executed=False),
]
CHANGED = [
    figure("another-curve", CURVE.replace("2.0", "2.3"), CURVE),
    figure("another-scale", CURVE, CURVE.replace("3.0", "3.5")),
    figure("another-bar", BARS, BARS.replace("3.0", "3.6")),
    figure("another-matrix", MATRIX, MATRIX.replace("0.7", "0.4")),
    figure("another-sign", WORD.replace("0.04", "\u22120.3"), WORD.replace("0.04", "0.3")),
    figure("another-title", f"{CURVE}; _ = plt.title('x')", CURVE),
    figure("one-curve-more", f"{CURVE}; {CURVE}", CURVE),
    figure("one-model-of-another-title", f"{MATRIX}; _ = plt.title('x')", MATRIX, "one-model"),
    figure("one-model-of-another-shape", MATRIX.replace(", [0.7, 1.0]", ""), MATRIX, "one-model"),
    cell("one-model-without-a-figure", "print(0.80)", "0.95\n", "one-model"),
    figure("beyond-the-tag", CURVE.replace("2.0", "2.3"), CURVE, "atol-0.05"),
    cell("word", "print('shape')", "shade\n"),
    cell("integer", "print(117000)", "117001\n"),
    cell("integer-beside-decimal", "print(0.5, 3)", "0.5 4\n"),
    cell("third-place", "print(0.545)", "0.548\n"),
    cell("sign", "print(-0.545)", "0.545\n"),
    cell("small", "print(1.2e-05)", "1.3e-05\n"),
    cell("boolean", "print(True)", "False\n"),
    cell("not-a-number", "print(float('nan'))", "0.5\n"),
    cell("decimal-for-integer", "print(2.0)", "2\n"),
    cell("one-more", "print(0.5, 0.5)", "0.5\n"),
    cell("beyond-tag", "print(0.80)", "0.95\n", "atol-0.05"),
    cell("gone", "pass", "0.5\n"),
    cell("warned", "import sys; print('careful', file=sys.stderr)", None),
    cell("silent", "print(1)", "1\n", stderr="careful\n"),
    cell("raises", "1 / 0", None),
    cell("never-executed", "print(1)", None, executed=False),
]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the outcome of each cell, by id, of one run in a process of its own."""
    folder = tmp_path_factory.mktemp("book")
    for path in map(CONFTEST.with_name, ("conftest.py", "startup.py", "drawn.py")):
        shutil.copy(path, folder)
    notebook = new_notebook(
        cells=[*SAME, *CHANGED], metadata={"kernelspec": {"name": "python3", "display_name": "P"}}
    )
    nbformat.write(notebook, folder / "planted.ipynb")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        str(folder),
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    rows = [
        line.split()[:2] for line in run.stdout.splitlines() if "planted.ipynb::" in line and "%]" not in line
    ]
    return {where.rsplit("::", 1)[1]: outcome for outcome, where in rows}


@pytest.mark.parametrize("key", [c["id"] for c in SAME])
def test_an_output_that_means_the_same_passes(verdicts: dict[str, str], key: str) -> None:
    assert verdicts[key] == "PASSED"


@pytest.mark.parametrize("key", [c["id"] for c in CHANGED])
def test_a_changed_output_fails(verdicts: dict[str, str], key: str) -> None:
    assert verdicts[key] == "FAILED"
