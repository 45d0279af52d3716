"""The package's reference: what readers use is named, described whole, and nothing else is on the page."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import mha_course
from tools.course import ROOT, Course
from tools.site.extension import api

MODULES = {
    module.name: importlib.import_module(f"mha_course.{module.name}")
    for module in pkgutil.iter_modules(mha_course.__path__)
    if not module.ispkg
}
PUBLIC = {
    f"{name}.{member}": getattr(module, member)
    for name, module in MODULES.items()
    for member in getattr(module, "__all__", ())
    if not isinstance(getattr(module, member), str)
}
METHODS = {
    f"{name}.{member}": function
    for name, entry in PUBLIC.items()
    if inspect.isclass(entry)
    for member, part in vars(entry).items()
    for function in [part.fget if isinstance(part, property) else getattr(part, "__func__", part)]
    if not member.startswith("_") and inspect.isfunction(function)
}
FIELDS = {name: entry._fields for name, entry in PUBLIC.items() if hasattr(entry, "_fields")}
DESCRIBED = {name: entry for name, entry in (PUBLIC | METHODS).items() if name not in FIELDS}
LINES = {name: api.module(api.PACKAGE / f"{name}.py", Course().words("en")) for name in MODULES}


def sections(text: str) -> dict[str, list[str]]:
    """Return the lines of each numpydoc section that are not indented: names with types, answers, errors."""
    _, *parts = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    bodies = (re.findall(r"^\S.*", body, flags=re.MULTILINE) for body in parts[1::2])
    return dict(zip(parts[::2], bodies, strict=True))


def names(lines: list[str]) -> list[str]:
    """Return the names of the lines of a section, in which several may share a type."""
    return [name.strip() for line in lines for name in line.partition(" : ")[0].split(",")]


def called(entry: Any) -> Callable[..., Any]:
    """Return the function whose arguments a caller gives."""
    return inspect.unwrap(vars(entry).get("__init__", object) if inspect.isclass(entry) else entry)


def arguments(function: Callable[..., Any]) -> list[str]:
    """Return the arguments that a caller may give."""
    if function is object:
        return []
    given = inspect.signature(function).parameters.values()
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [marks.get(one.kind, "") + one.name for one in given if one.name not in ("self", "cls")]


def lacking(entry: Any, text: str) -> list[str]:
    """Return what a description lacks, and what it has too much."""
    said, given = sections(text), arguments(called(entry))
    if "Parameters" not in said:  # then the first sentence says it all
        return [f"Parameters: {given}"] if len(given) > 1 and entry not in METHODS.values() else []
    faults = []
    if sorted(names(said["Parameters"])) != sorted(given):
        faults.append(f"Parameters: {names(said['Parameters'])} for {given}")
    answer = None if inspect.isclass(entry) else inspect.signature(entry).return_annotation
    expected = set() if answer in (None, "None") else {"Yields" if "Iterator" in str(answer) else "Returns"}
    if {"Returns", "Yields"} & set(said) != expected:
        faults.append(f"not {expected} alone")
    return faults


def untyped(text: str) -> list[str]:
    """Return arguments and fields without a type, unless they are as somewhere else."""
    parts = re.findall(r"^(?:Parameters|Attributes)\n-+\n((?:.+\n?)+)", text, flags=re.MULTILINE)
    items = [item for part in parts for item in re.findall(r"^\S.*(?:\n .*)*", part, flags=re.MULTILINE)]
    return [item for item in items if not re.match(r".+ : |\*|.+\n +As in ", item)]


@pytest.mark.parametrize("name", DESCRIBED)
def test_descriptions_say_arguments_and_answer(name: str) -> None:
    text = inspect.getdoc(DESCRIBED[name])
    assert text
    assert lacking(DESCRIBED[name], text) == []
    assert untyped(text) == []


@pytest.mark.parametrize("name", FIELDS)
def test_named_tuples_describe_every_field(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert sorted(names(sections(text)["Attributes"])) == sorted(FIELDS[name])
    assert untyped(text) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("clip : float", "clipping : float"),
        ("progress : bool\n    Print epoch and loss on stderr.\n", ""),
        ("Returns\n-------", "Notes\n-----"),
        ("seed : int", "seed"),
    ],
)
def test_a_description_that_lacks_something_is_seen(old: str, new: str) -> None:
    fit = PUBLIC["training.fit"]
    text = inspect.getdoc(fit) or ""
    assert old in text
    assert lacking(fit, text.replace(old, new)) or untyped(text.replace(old, new))


@pytest.mark.parametrize(("name", "module"), MODULES.items())
def test_public_names_are_those_of_the_module(name: str, module: ModuleType) -> None:
    for member in getattr(module, "__all__", ()):
        found = getattr(module, member)
        if isinstance(found, str):
            assert f"`{member}`" in (module.__doc__ or "")
        else:
            assert found.__module__ == module.__name__


@pytest.mark.parametrize("name", MODULES)
def test_the_page_shows_what_is_public(name: str) -> None:
    shown = "\n".join(LINES[name])
    heads = re.findall(r"^( *)\.\. py:(?:class|function|method|property):: (\w+)", shown, re.MULTILINE)
    assert {head for indent, head in heads if not indent} == {
        entry.partition(".")[2] for entry in PUBLIC if entry.startswith(f"{name}.")
    }
    assert sorted(head for indent, head in heads if indent) == sorted(
        entry.rpartition(".")[2] for entry in METHODS if entry.startswith(f"{name}.")
    )


@pytest.mark.parametrize(
    "head",
    [
        "class:: Pair(id, template, source, target, alignment)",
        "class:: MultiHeadAttention(num_hiddens, num_heads, dropout=0.0, bias=False, *, query_size=None, "
        "key_size=None, value_size=None)",
        "property:: attention_weights",
        "function:: masked_heads(model, heads)",
        "function:: show_heatmaps(matrices, xlabel='keys', ylabel='queries', titles=None, figsize=None, "
        "cmap='Blues')",
    ],
)
def test_signatures_are_what_a_caller_writes(head: str) -> None:
    assert any(line.strip() == f".. py:{head}" for lines in LINES.values() for line in lines)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("`X` or `fit`", "``X`` or :py:obj:`fit <mha_course.training.fit>`"),
        ("`DotProductAttention.forward`", ":py:obj:`DotProductAttention.forward <mha_course.attention."
         "DotProductAttention.forward>`"),
        ("a | b, *c and ``a | b``", r"a \| b, \*c and ``a | b``"),
        (":math:`|p|` of `k` and :math:`|r|`", ":math:`|p|` of ``k`` and :math:`|r|`"),
    ],
)  # fmt: skip
def test_marks_of_docstrings(written: str, shown: str) -> None:
    assert api.as_code(written) == shown


def test_sources_are_in_the_list_of_references() -> None:
    shown = "\n".join(line for lines in LINES.values() for line in lines)
    keys = re.findall(r"<references\.html#([\w-]+)>", shown)
    known = re.findall(r"^@\w+\{(.+),", (ROOT / "book/references.bib").read_text(encoding="utf-8"), re.M)
    assert len(set(keys)) >= 6
    assert set(keys) <= set(known)
