"""The code of the book's pages, to be run by tests."""

import math
from typing import Any

import torch
from torch import nn

from tools.course import Course, cells

COURSE = Course()


def names_of(stem: str, *keys: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the names that cells of an English page bind, run one after the other."""
    code = cells(COURSE.read("en", stem), "code")
    names: dict[str, Any] = {"math": math, "torch": torch, "nn": nn, "Tensor": torch.Tensor}
    names |= given or {}
    for key in keys:
        exec(code[key].source, names)
    return names
