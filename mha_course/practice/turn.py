"""A turn: compare a reader's function with a solution, and name the likely mistake in the reader's language.

To add a turn to a chapter, write its solution into the chapter's module, with `turn` above it, and a hint for
each of its mistakes into ``hints/hints_LANGUAGE.tsv``, under ``MODULE.TURN.MISTAKE``.
"""

import ast
import copy
import inspect
import os
import textwrap
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

__all__ = ("UNTOUCHED", "Turn", "numbers", "turn")

Answer = Callable[..., Any]
UNTOUCHED = "…"  # what a stub that returns nothing prints, the same in every language
HINTS = resources.files("mha_course.practice") / "hints"
LANGUAGE = "MHA_COURSE_LANGUAGE"  # the variable of the environment that chooses a language
TOLERANCE = 1e-4


def numbers(seed: int, *shape: int) -> Tensor:
    """Return normal random numbers of a shape, without a change of PyTorch's own random state."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def turn(*cases: tuple[Any, ...], **mistakes: Answer) -> Callable[[Answer], "Turn"]:
    """Make a turn of its solution, which stands below: ``@turn((X, 3), transposed=lambda X, n: ...)``."""
    return lambda solution: Turn(solution, cases, mistakes)


@dataclass(frozen=True)
class Turn:
    """A function for the reader to write.

    Attributes
    ----------
    solution : callable
    cases : sequence of tuple
        The arguments of each call: tensors, numbers, lists. Sizes that differ make mixed axes visible.
    mistakes : dict of str to callable
        Wrong answers by the key of their hint. A reader's function that returns the same made this mistake.
    """

    solution: Answer
    cases: Sequence[tuple[Any, ...]]
    mistakes: dict[str, Answer]

    def check(self, attempt: Answer, language: str | None = None) -> None:
        """Print whether `attempt` does what the solution does, or what its mistake is likely to be.

        Parameters
        ----------
        attempt : callable
            Called with the arguments that the page names. A stub that returns None prints only ``…``.
        language : str, optional
            Such as ``"tr"``; otherwise the variable MHA_COURSE_LANGUAGE of the environment says it, or the
            folder that the notebook lies in. English otherwise.
        """
        with torch.random.fork_rng(devices=[]):
            print(self._judged(attempt, chosen_language(language)))

    def show_solution(self) -> None:
        """Print the code of the solution."""
        source = inspect.getsource(self.solution)  # the lines of `turn` stand above
        print(source[source.index("\ndef ") + 1 :].strip())

    def _judged(self, attempt: Answer, language: str) -> str:
        results = []
        for case in self.cases:
            given = copy.deepcopy(case)
            try:
                results.append(attempt(*given))
            except Exception as error:
                return f"✗ {hint('error', language)} {described(error, attempt)}"
            if not same(given, case):
                return f"✗ {hint('changed', language)}"
        if all(result is None or result is ... for result in results):
            return UNTOUCHED if is_stub(attempt) else f"✗ {hint('nothing', language)}"
        expected = self._answers(self.solution)
        if same(results, expected):
            return f"✓ {hint('right', language)}"
        module = self.solution.__module__.rpartition(".")[2]
        for mistake, answer in self.mistakes.items():
            if same(results, self._answers(answer)):
                return f"✗ {hint(f'{module}.{self.solution.__name__}.{mistake}', language)}"
        pairs = zip(results, expected, strict=True)
        return f"✗ {difference(*next(pair for pair in pairs if not same(*pair)), language)}"

    def _answers(self, answer: Answer) -> list[Any]:
        return [answer(*copy.deepcopy(case)) for case in self.cases]


def is_stub(attempt: Answer) -> bool:
    """Return True if a function still has a line ``...``, or if its source cannot be read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(attempt)))
    except (OSError, TypeError, SyntaxError):
        return True
    lines = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return any(isinstance(line, ast.Constant) and line.value is ... for line in lines)


def same(one: Any, other: Any) -> bool:
    """Return True if two answers are equal, up to a tolerance, with the same shapes and NaNs."""
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if not (is_number(one) and is_number(other)):
        return not isinstance(one, Tensor) and not isinstance(other, Tensor) and bool(one == other)
    one, other = torch.as_tensor(one).detach().cpu(), torch.as_tensor(other).detach().cpu()
    if one.shape != other.shape or (one.dtype == torch.bool) != (other.dtype == torch.bool):
        return False
    return torch.allclose(one.double(), other.double(), TOLERANCE, TOLERANCE, equal_nan=True)


def is_number(value: Any) -> bool:
    """Return True for a tensor or a number."""
    return isinstance(value, (Tensor, bool, int, float))


def difference(result: Any, expected: Any, language: str) -> str:
    """Say how an answer differs from the expected one, where no known mistake explains it."""
    if isinstance(expected, (tuple, list)) and isinstance(result, (tuple, list)):
        if len(result) == len(expected):
            pairs = zip(result, expected, strict=True)
            return difference(*next(pair for pair in pairs if not same(*pair)), language)
        return hint("count", language).format(len(result), len(expected))
    if not (is_number(result) and is_number(expected)):
        return hint("kind", language).format(type(result).__name__, type(expected).__name__)
    result, expected = torch.as_tensor(result).detach().cpu(), torch.as_tensor(expected).detach().cpu()
    if result.shape != expected.shape:
        return hint("shape", language).format(tuple(result.shape), tuple(expected.shape))
    if (result.dtype == torch.bool) != (expected.dtype == torch.bool):
        return hint("kind", language).format(result.dtype, expected.dtype)
    if result.isnan().any() and not expected.isnan().any():
        return hint("nan", language)
    gaps = (result.double() - expected.double()).abs().masked_fill(result == expected, 0)
    place = tuple(int(i) for i in torch.unravel_index(gaps.argmax(), gaps.shape))
    numbers = [f"{one[place].item():.3g}" for one in (result, expected)]
    return hint("value" if place else "number", language).format(*numbers, list(place))


def described(error: Exception, attempt: Answer) -> str:
    """Return an error as one line, with the line of the reader's code that it came from."""
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    code = getattr(inspect.unwrap(attempt), "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.line for frame in frames if code and frame.filename == code.co_filename and frame.line]
    return f"{text}   ← {lines[-1]}" if lines else text


def chosen_language(language: str | None = None) -> str:
    """Return the language of the hints: an argument, the environment, the notebook's folder, or English."""
    names = (file.name for file in HINTS.iterdir() if file.name.endswith(".tsv"))
    known = sorted(name.removeprefix("hints_").removesuffix(".tsv") for name in names)
    wanted = language or os.environ.get(LANGUAGE)
    if wanted and wanted not in known:
        raise ValueError(f"language must be one of {', '.join(known)}, got {wanted!r}")
    folder = Path.cwd().name
    return wanted or (folder if folder in known else "en")


@cache
def hints(language: str) -> dict[str, str]:
    """Return the hints of a language by their keys."""
    lines = (HINTS / f"hints_{language}.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def hint(key: str, language: str) -> str:
    """Return a hint, in English where the language has none yet."""
    return hints(language).get(key) or hints("en")[key]
