"""Cells that show the package: its source as it stands, without what a learner need not read."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools.cells import SHOWN_SOURCE, with_roles
from tools.course import Course, CourseError
from tools.editions.package import WIDTH, argument_checks, definition, short, shown_sources, unknown_names

COURSE = Course()


def kept(source: str) -> str:
    return short(dedent(source).strip(), frozenset({"check_size", "check_x"}))


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('def f(x):\n    """Say."""\n\n    return x', "def f(x):\n    return x"),
        ("def f(x):\n    check_size(x)\n    checks.check_size(x)\n    return x", "def f(x):\n    return x"),
        ("def f(x):\n    if x:\n        check_size(x)\n    return x", "def f(x):\n    return x"),
        ("def f(x):\n    y = check_size(x)\n    return y", "def f(x):\n    y = check_size(x)\n    return y"),
        ("def f(x):\n    check_other(x)", "def f(x):\n    check_other(x)"),
        ('class C(D):\n    """Say."""', "class C(D):\n    pass"),
        ("def f(x):\n    if x:\n        x()\n    else:\n        check_x(x)",
         "def f(x):\n    if x:\n        x()\n    else:\n        pass"),
        ("def f(x):\n    return x  # (batch, n)", "def f(x):\n    return x  # (batch, n)"),
        ("def f(x):\n    # because\n    return x  # why", "def f(x):\n    return x"),
        ('def f(x):\n    return "# not a comment"', 'def f(x):\n    return "# not a comment"'),
        ("def f(x, y,\n):  # fmt: skip\n    return x", "def f(x, y):\n    return x"),
        ("@decorated\ndef f(x):\n    return x", "@decorated\ndef f(x):\n    return x"),
    ],
)  # fmt: skip
def test_docstrings_checks_and_words_are_left_out(source: str, wanted: str) -> None:
    assert kept(source) == wanted


def test_a_class_keeps_its_methods_but_not_the_signatures_for_type_checkers() -> None:
    source = """
    class C(D):
        @overload
        def f(self, x: int) -> int: ...

        @typing.overload
        def f(self, x: str) -> str: ...

        def f(self, x):
            '''Say.'''
            return x

        def g(self):
            '''Say.'''
    """
    wanted = "class C(D):\n    def f(self, x):\n        return x\n\n    def g(self):\n        pass"
    assert kept(source) == wanted


def test_a_shape_that_does_not_fit_stands_above_its_line() -> None:
    statement = "result = first_function(queries, keys) + second_function(queries, values)"
    assert kept(f"def f():\n    {statement}  # (batch, n)").splitlines()[1:] == [
        "    # (batch, n)",
        f"    {statement}",
    ]


def test_a_definition_is_found_with_its_decorators_and_only_at_the_top() -> None:
    module = "x = 1\n@a\n@b\ndef f():\n    def g():\n        pass\nclass C:\n    def h(self):\n        pass\n"
    assert (definition(module, "f") or "").startswith("@a\n@b\ndef f():")
    assert definition(module, "g") is definition(module, "h") is definition(module, "x") is None


def test_a_module_says_itself_which_functions_are_checks() -> None:
    module = (
        "@argument_check\ndef one(x): ...\n@checks.argument_check\ndef two(x): ...\ndef check_three(x): ..."
    )
    assert argument_checks(module) == {"one", "two"}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "book/en").mkdir(parents=True)
    settings = "{name: English, html: en, sphinx: en, source: true}\n"
    (tmp_path / "book/en/language.yml").write_text(settings, encoding="utf-8")
    (tmp_path / "_config.yml").write_text("package: tiny\n")
    (tmp_path / "tiny/part").mkdir(parents=True)
    (tmp_path / "tiny/one.py").write_text("def twice(x):\n    return 2 * x\n\n\ndef both():\n    pass\n")
    (tmp_path / "tiny/part/two.py").write_text("class Pair:\n    size = 2\n\n\ndef both():\n    pass\n")
    return Course(tmp_path)


def page(*keys: str) -> object:
    made = [new_code_cell("") for _ in keys]
    for key, cell in zip(keys, made, strict=True):
        cell["id"] = key
    return new_notebook(cells=made)


def test_a_cell_is_filled_from_whichever_module_has_the_name(course: Course) -> None:
    assert shown_sources(course, "page", page("class-Pair", "function-twice", "class-imports", "twice")) == {
        "class-Pair": "class Pair:\n    size = 2",
        "function-twice": "def twice(x):\n    return 2 * x",
    }


@pytest.mark.parametrize(
    ("key", "said"), [("class-None", "no None"), ("function-both", "more than one both")]
)
def test_a_name_that_is_not_there_once_is_refused(course: Course, key: str, said: str) -> None:
    with pytest.raises(CourseError, match=f"page#{key}: tiny has {said}"):
        shown_sources(course, "page", page(key))


@pytest.mark.parametrize(
    ("imported", "missing"), [("from x import Base", ["Number"]), ("import x", ["Base", "Number"])]
)
def test_a_name_that_no_cell_imports_is_found(imported: str, missing: list[str]) -> None:
    notebook = page("imports", "class-Pair", "after")
    first, pair, after = notebook.cells
    first.source = f"%config something\n{imported}"
    pair.source = "class Pair(Base):\n    def f(self, n: Number) -> int:\n        return len([m for m in n])"
    after.source = "Number = unheard"
    assert list(unknown_names(notebook)) == [("class-Pair", name) for name in missing]


SHOWING = [
    (stem, key) for stem in COURSE.stems() for key in with_roles(COURSE.read("en", stem).cells, *SHOWN_SOURCE)
]


def test_the_chapters_show_the_classes_that_they_build() -> None:
    shown = {key for _, key in SHOWING}
    assert {"class-MultiHeadAttention", "class-AdditiveAttention", "function-masked-softmax"} <= shown


@pytest.mark.parametrize(("stem", "key"), SHOWING)
def test_what_is_shown_fits_the_column_and_says_nothing_in_words(stem: str, key: str) -> None:
    source = shown_sources(COURSE, stem, COURSE.read("en", stem))[key]
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    assert not [node for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)]
    modules = [path.read_text(encoding="utf-8") for path in (COURSE.root / COURSE.package).rglob("*.py")]
    checks = frozenset().union(*map(argument_checks, modules))
    statements = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    called = {ast.unparse(call.func) for call in statements if isinstance(call, ast.Call)}
    assert not checks & {name.rpartition(".")[2] for name in called}
    assert not [line for line in source.splitlines() if len(line) > WIDTH and '"' not in line]
