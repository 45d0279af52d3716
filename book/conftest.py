"""How ``pytest --nbval book`` compares outputs.

Words and integers are compared exactly, decimals by value. The last printed
digit of a decimal may differ between machines, so decimals agree within one
unit of the third place (``1.2e-05`` forms within one in a thousand). The cell
tag ``atol-0.1`` widens this for one cell. Spaces do not count, and a tensor on
a GPU prints as one on the CPU.

A picture is compared by what ``drawn.py`` says that it draws, as shares of its
axes. On a page with such a tag, which trains, these agree within a tenth. A
picture of single weights of one trained network is another one on another
processor, as with another seed: with the tag ``one-model`` only its words,
axes and shapes are compared.
"""

import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import IPyNbCell

CELL_TIMEOUT = 300  # seconds
TRAINED_TOLERANCE = 0.1  # of figures on a page that trains
ONE_MODEL = "one-model"
FIGURE_TEXTS = ("Figure of ", "<Figure size ")  # with and without drawn.py
MINUS = "\u2212"  # matplotlib's minus sign, which float() does not read
DECIMAL = re.compile(
    r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+"
)

# One thread: sums add up in the same order everywhere.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:2")
# Every kernel runs this before its first cell.
os.environ["PYTHONSTARTUP"] = str(Path(__file__).parent / "startup.py")


class Output(str):
    """The text of an output: equal words and close decimals are equal."""

    atol = 1.1e-3

    def __eq__(self, other: object) -> bool:
        if self.startswith(FIGURE_TEXTS) != str(other).startswith(
            FIGURE_TEXTS
        ):
            return False
        if self.startswith("<Figure") or str(other).startswith("<Figure"):
            return True  # one of them was not drawn by sync or a test
        ours, theirs = (
            [" ".join(part.split()) for part in DECIMAL.split(str(text))]
            for text in (self, other)
        )
        return ours == theirs and all(
            map(self.close, DECIMAL.findall(self), DECIMAL.findall(str(other)))
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def close(self, one: str, other: str) -> bool:
        if "e" in one.lower() and self.atol == Output.atol:
            return math.isclose(float(one), float(other), rel_tol=1e-3)
        rel_tol = self.atol if self.startswith(FIGURE_TEXTS) else 1e-4
        return math.isclose(
            float(one), float(other), rel_tol=rel_tol, abs_tol=self.atol
        )


def without_device(text: str) -> str:
    return re.sub(
        r"\bcuda(:\d+)?\b", "cpu", re.sub(r", device='cuda:\d+'", "", text)
    )


def tolerances(cell: Any) -> list[float]:
    tags = cell.metadata.get("tags", [])
    return [
        float(t.removeprefix("atol-")) for t in tags if t.startswith("atol-")
    ]


class Cell(IPyNbCell):
    """A code cell whose test is named by the cell's id."""

    def __init__(self, *, name: str, cell: Any, **others: Any) -> None:
        super().__init__(name=cell.get("id", name), cell=cell, **others)

    def runtest(self) -> None:
        """Fail without stored outputs: nbval would compare nothing."""
        if self.cell.source.strip() and self.cell.execution_count is None:
            self.raise_cell_error(
                "The committed notebook was never executed: run `make sync`."
            )
        super().runtest()

    def sanitize(self, value: Any) -> Any:
        """Return a text that is compared by value."""
        value = super().sanitize(value)
        if not isinstance(value, str):
            return value
        output = Output(without_device(value).replace(MINUS, "-"))
        widest = tolerances(self.cell)
        trains = any(map(tolerances, self.parent.nb.cells))
        if output.startswith(FIGURE_TEXTS) and trains and not widest:
            one_model = ONE_MODEL in self.cell.metadata.get("tags", [])
            widest = [math.inf if one_model else TRAINED_TOLERANCE]
        output.atol = max(widest, default=Output.atol)
        return output


IPyNbCell.from_parent = Cell.from_parent  # nbval names its class


def pytest_configure(config: pytest.Config) -> None:
    if config.option.nbval_cell_timeout == 2000:  # nbval's default
        config.option.nbval_cell_timeout = CELL_TIMEOUT
