"""Plant faults in the package, one at a time, and see the tests catch them (``make mutants``).

A fault is one small change in the body of a function, made from its syntax tree: a condition that always
holds, an argument left out, a call skipped. There is no list of faults to keep. Each is planted in a process
of its own, which exchanges the function's code in memory and runs the tests that reach the changed lines,
fastest first, until one fails. The command prints the faults that no test catches, and fails if they are more
than ``TOLERATED``, since some changes have no visible effect. Words on the command line choose the functions
whose name holds one of them: ``masking.`` or ``MultiHeadAttention``. ``--some N`` tries N at random of the
about 5,000 faults: 300 take some five minutes, all of them an hour and a half.
"""

import argparse
import ast
import gc
import os
import pickle
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

import mha_course

PACKAGE = Path(mha_course.__file__).parent
TESTS = Path(__file__).parent / "package"
WORKERS = 2
TOLERATED = 0.15  # share of the faults that no test catches

OPPOSITE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NOT_RUN = ("annotation", "exc", "type")  # fields: types, and the words of an error
Reached = dict[str, tuple[float, set[tuple[str, int]]]]  # of each test: its seconds, files and lines


@dataclass(frozen=True, eq=False)
class Fault:
    """A node of a module's syntax tree that becomes another."""

    module: ModuleType
    tree: ast.Module
    function: str
    begin: int
    """The line on which the function begins, with its decorators."""
    parent: ast.AST
    field: str
    index: int | None
    """The place in a field that is a list."""
    new: ast.AST

    @property
    def name(self) -> str:
        return f"{self.module.__name__.removeprefix('mha_course.')}.{self.function}"

    @property
    def old(self) -> Any:
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    @property
    def lines(self) -> set[tuple[str, int]]:
        place: Any = self.old if hasattr(self.old, "lineno") else self.parent
        return {(str(self.module.__file__), line) for line in range(place.lineno, place.end_lineno + 1)}

    def __str__(self) -> str:
        whole = f"in {ast.unparse(self.parent)}: " * isinstance(self.old, ast.operator | ast.cmpop)
        old, new = (type(n).__name__ if whole else ast.unparse(n) for n in (self.old, self.new))
        change = " ".join(f"{whole}{old} → {new}".split())
        return f"{self.name}, line {min(self.lines)[1]}: {change}"

    def plant(self) -> None:
        """Give the function, wherever it is referred to, its changed code."""
        if self.index is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.index] = self.new

        def is_this(code: CodeType) -> bool:
            place = code.co_filename, code.co_firstlineno, code.co_qualname
            return place == (self.module.__file__, self.begin, self.function)

        waiting = [compile(ast.fix_missing_locations(self.tree), str(self.module.__file__), "exec")]
        while not is_this(code := waiting.pop()):
            waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
        for function in gc.get_objects():
            if type(function) is FunctionType and is_this(function.__code__):
                function.__code__ = code


def variants(field: str, node: ast.AST, names: dict[str, object]) -> Iterator[ast.AST]:
    """Yield what a node may become; ``names`` are those of its module."""
    if field in ("test", "ifs"):
        yield from (ast.Constant(True), ast.Constant(False))
    match node:
        case ast.operator() | ast.cmpop() if type(node) in OPPOSITE:
            yield OPPOSITE[type(node)]()
        case ast.BoolOp(op=op, values=values):
            for one in values:
                rest = [value for value in values if value is not one]
                yield ast.BoolOp(op, rest) if len(rest) > 1 else rest[0]
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Slice(lower=lower, upper=upper):
            yield from [ast.Slice(None, upper)] * bool(lower) + [ast.Slice(lower, None)] * bool(upper)
        case ast.Call(func=function, args=given, keywords=keywords):
            for left_out in (keyword for keyword in keywords if keyword.arg != "strict"):
                yield ast.Call(function, given, [other for other in keywords if other is not left_out])
            for one, other in pairwise(given):
                swap = {one: other, other: one}
                if ast.dump(one) != ast.dump(other):
                    yield ast.Call(function, [swap.get(value, value) for value in given], keywords)
            owner = getattr(function, "value", None)  # in X.detach() it is X
            if owner is not None and not is_namespace(owner, names):
                yield owner
            elif given and not isinstance(given[0], ast.Starred):
                yield given[0]
        case ast.Expr(value=ast.Call()) | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.AugAssign() | ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()


def is_namespace(node: ast.AST, names: dict[str, object]) -> bool:
    """Say whether a node is a module or ``self``, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and (node.id == "self" or isinstance(names.get(node.id), ModuleType))


def changes(parent: ast.AST, names: dict[str, object]) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Yield parent, field, index and new node of every change below a node."""
    for field, value in ast.iter_fields(parent):
        if field in NOT_RUN:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and getattr(node, "arg", "") != "strict":  # of zip: a guard of ours
                yield from ((parent, field, index, new) for new in variants(field, node, names))
                yield from changes(node, names)


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions and methods of a module; what a function defines belongs to it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from functions(child, f"{prefix}{child.name}.")


def all_faults() -> Iterator[Fault]:
    """Yield the faults of all functions of the package's imported modules."""
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "mha_course" and module.__file__:
            tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
            for function, node in functions(tree):
                begin = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                for change in changes(ast.Module(node.body, []), vars(module)):
                    yield Fault(module, tree, function, begin, *change)


def reached(items: list[pytest.Item]) -> Reached | str:
    """Run tests; return how long each takes and which lines of the package it reaches, or which fails."""
    found: Reached = {}
    lines: set[tuple[str, int]] = set()

    def trace(frame: FrameType, *_: object) -> Any:
        path = frame.f_code.co_filename
        if not path.startswith(str(PACKAGE)):
            return None
        lines.add((path, frame.f_lineno))
        return trace

    for item, following in zip(items, [*items[1:], None], strict=False):
        lines, started = set(), time.perf_counter()
        sys.settrace(trace)
        reports = runtestprotocol(item, nextitem=following, log=False)
        sys.settrace(None)
        if any(report.failed for report in reports):
            return f"without a fault {item.nodeid} fails"
        found[item.nodeid] = time.perf_counter() - started, lines
    return found


def catch(fault: Fault, items: list[pytest.Item], seconds: float) -> str:
    """Plant a fault and return the first test that fails, or nothing."""

    def stop(*_: object) -> None:
        raise TimeoutError("the tests take far longer than without the fault")

    try:
        fault.plant()
    except ValueError:  # a function that no longer refers to a name around it
        return "cannot be planted"
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(60 + int(5 * seconds))
    for item, following in zip(items, [*items[1:], None], strict=False):
        if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
            return item.nodeid
    return ""


class Planting:
    """A plugin of pytest: once the tests are collected, it runs them without a fault, then with each."""

    def __init__(self, words: list[str], some: int | None, folder: Path) -> None:
        self.words, self.some, self.folder = words, some, folder
        self.caught: dict[Fault, str] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        tests = {item.nodeid: item for item in session.items}
        names = self.words or [""]
        faults = [fault for fault in all_faults() if any(name in fault.name for name in names)]
        faults = random.Random(0).sample(faults, min(len(faults), self.some or len(faults)))
        _, status = os.waitpid(self.in_child("lines", lambda: reached(session.items)), 0)
        lines = self.result("lines", status)
        if isinstance(lines, str):
            sys.exit(lines)
        print(f"{len(faults)} faults, {len(tests)} tests", flush=True)
        running: dict[int, Fault] = {}
        for fault in faults:
            if len(running) == WORKERS:
                self.wait(running)
            hit = sorted((seconds, name) for name, (seconds, found) in lines.items() if found & fault.lines)
            items, seconds = [tests[name] for _, name in hit], sum(seconds for seconds, _ in hit)
            running[self.in_child(f"{id(fault)}", partial(catch, fault, items, seconds))] = fault
        while running:
            self.wait(running)
        return True

    def in_child(self, name: str, work: Callable[[], object]) -> int:
        """Start a process that writes the result of some work into a file; return its number."""
        if pid := os.fork():
            return pid
        status = 1
        try:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            (self.folder / name).write_bytes(pickle.dumps(work()))
            status = 0
        finally:
            os._exit(status)

    def result(self, name: str, status: int) -> Any:
        if os.WIFSIGNALED(status):
            return "crashed"
        if status:
            sys.exit("a process that runs tests has failed by itself")
        return pickle.loads((self.folder / name).read_bytes())

    def wait(self, running: dict[int, Fault]) -> None:
        """Wait for a process and note what caught its fault."""
        pid, status = os.wait()
        fault = running.pop(pid)
        self.caught[fault] = self.result(f"{id(fault)}", status)
        if not self.caught[fault]:
            print(fault, flush=True)


def test_files(words: list[str]) -> list[str]:
    """Return the files of tests that import a module which words choose."""
    modules = [word.partition(".")[0] for word in words if word[0].islower()] or [""]
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.glob("test_*.py"))}
    return [
        str(path) for path, text in texts.items() if any(f"mha_course.{name}" in text for name in modules)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--some", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        planting = Planting(given.words, given.some, Path(folder))
        pytest.main(["-qq", "-s", "-p", "no:cacheprovider", *test_files(given.words)], [planting])
    planted = {fault: test for fault, test in planting.caught.items() if test != "cannot be planted"}
    if not planted:
        sys.exit("no fault was planted")
    by_tests = Counter(Path(test.partition("::")[0]).name for test in planted.values() if test)
    print("\ncaught by", ", ".join(f"{name} {number}" for name, number in by_tests.most_common()))
    modules = Counter(fault.module.__name__ for fault in planted)
    through = Counter(fault.module.__name__ for fault, test in planted.items() if not test)
    for name, number in sorted(modules.items()):
        print(f"{name:42} {number:5} faults, {through[name]:4} caught by no test")
    print(f"{len(planted)} faults, {through.total()} caught by no test")
    return int(through.total() > TOLERATED * len(planted))


if __name__ == "__main__":
    sys.exit(main())
