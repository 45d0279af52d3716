"""The classes and functions that a chapter ends with are the package's: equal as code, docstrings aside."""

import ast
import importlib
import inspect
import pkgutil
import re

import pytest

import mha_course
from tools.course import Course, cells

COURSE = Course()


def code(source: str) -> str:
    """The syntax tree as text, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree, indent=1)


def in_package(name: str) -> object:
    for module in pkgutil.iter_modules(mha_course.__path__):
        found = getattr(importlib.import_module(f"mha_course.{module.name}"), name, None)
        if getattr(found, "__module__", None) == f"mha_course.{module.name}":
            return found
    raise LookupError(f"mha_course has no {name}")


FINISHED = [
    (stem, key)
    for stem in COURSE.stems()
    for key in cells(COURSE.read("en", stem), "code")
    if re.match("class-[A-Z]|function-", key)
]


@pytest.mark.parametrize(("stem", "key"), FINISHED)
def test_what_a_chapter_finishes_is_the_packages(stem: str, key: str) -> None:
    name = key.partition("-")[2].replace("-", "_")
    shown = cells(COURSE.read("en", stem), "code")[key].source
    assert code(shown) == code(inspect.getsource(in_package(name)))


def test_chapters_finish_classes() -> None:
    finished = {key.removeprefix("class-") for _, key in FINISHED}
    assert {"MultiHeadAttention", "AdditiveAttention", "DotProductAttention"} <= finished


def test_the_comparison_sees_a_changed_line() -> None:
    source = inspect.getsource(in_package("DotProductAttention"))
    assert code(source) == code(source.replace('"""', '"""Other words. ', 1))
    assert code(source) != code(source.replace("dropout", "drop"))
