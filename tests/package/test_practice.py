# ruff: noqa: E501
"""Your turn: solutions pass, every wrong answer gets a hint of its own, and hints are in each language."""

import ast
import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from mha_course.practice.turn import HINTS, UNTOUCHED, Turn, hints, numbers, same, turn
from tools.course import ROOT, Course, cells
from tools.editions.lint import typographic_faults

LANGUAGES = list(Course().languages)
FOLDER = ROOT / "mha_course/practice"
MODULES = [path.stem for path in sorted(FOLDER.glob("[!_]*.py")) if path.stem != "turn"]
TURNS = {
    f"{name}.{key}": value
    for name in MODULES
    for key, value in vars(importlib.import_module(f"mha_course.practice.{name}")).items()
    if isinstance(value, Turn)
}
MISTAKES = [(name, mistake) for name, one in TURNS.items() for mistake in one.mistakes]
GENERAL = {"right", "error", "nothing", "changed", "shape", "count", "kind", "nan", "value", "number"}


@turn(
    (numbers(0, 2, 3), 2.0),
    not_doubled=lambda X, factor: X,
)
def double(X, factor):
    return X * factor


def said(capsys: pytest.CaptureFixture[str], one: Turn, attempt: Callable[..., Any], **options: Any) -> str:
    one.check(attempt, **options)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", TURNS)
def test_a_solution_passes_under_its_own_name(name, capsys):
    solution = TURNS[name].solution
    assert said(capsys, TURNS[name], solution) == "✓ Right.\n"
    assert solution.__name__ == name.partition(".")[2]


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_wrong_answer_gets_its_own_hint(name, mistake, capsys):
    printed = said(capsys, TURNS[name], TURNS[name].mistakes[mistake])
    assert printed == f"✗ {hints('en')[f'{name}.{mistake}']}\n"


def without_beta(queries, keys, values, beta):
    return torch.softmax(queries @ keys.T, dim=-1) @ values


def beta_on_the_output(queries, keys, values, beta):
    return torch.softmax(queries @ keys.T, dim=-1) @ (beta * values)


def least_probable_until_p(probabilities, p):
    order = probabilities.argsort()
    below = probabilities[order].cumsum(0) - probabilities[order]
    keep = torch.zeros(len(probabilities), dtype=torch.bool)
    keep[order[below < p]] = True
    return keep


def all_but_the_kept(probabilities, p):
    return ~TURNS["language_models.kept"].solution(probabilities, p)


WRITTEN_BY_READERS = {
    without_beta: "attention_pooling.several_queries.no_beta",
    beta_on_the_output: "attention_pooling.several_queries.late_beta",
    least_probable_until_p: "language_models.kept.lowest",
    all_but_the_kept: "language_models.kept.removed",
}


@pytest.mark.parametrize(("attempt", "key"), WRITTEN_BY_READERS.items())
def test_a_mistake_in_a_reader_s_own_words_gets_its_hint(attempt, key, capsys):
    assert said(capsys, TURNS[key.rpartition(".")[0]], attempt) == f"✗ {hints('en')[key]}\n"


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_knows_four_mistakes_that_no_solution_makes(name):
    one = TURNS[name]
    answers = [one._answers(answer) for answer in (one.solution, *one.mistakes.values())]
    assert len(answers) >= 5, "a solution and four mistakes"
    for i, answer in enumerate(answers):
        assert not any(same(answer, other) for other in answers[:i])


@pytest.mark.parametrize("name", TURNS)
def test_what_an_answer_depends_on_is_not_changed_by_it(name):
    one = TURNS[name]
    assert same(one._answers(one.solution), one._answers(one.solution))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_hint_is_in_every_language_in_its_own_signs(language):
    found = hints(language)
    assert set(found) == GENERAL | {f"{name}.{mistake}" for name, mistake in MISTAKES}
    avoid = Course().languages[language].avoid
    for key, text in found.items():
        read = re.sub(r"\{\d?\}", "0", text)
        assert not list(typographic_faults(Course(), language, read)), (key, text)
        assert not [word for word in avoid if re.search(word, text)], (key, text)
        assert text == text.strip() and len(text) <= 200, key
        assert len(re.findall("`[^`]+`", text)) == len(re.findall("`[^`]+`", hints("en")[key])), key
        assert len(re.findall(r"\{\d?\}", text)) == len(re.findall(r"\{\d?\}", hints("en")[key])), key


def attempts() -> dict[str, str]:
    """Return the code of each attempt on the pages, by module and turn."""
    course = Course()
    return {
        f"{stem}.{key.removeprefix('attempt-')}".replace("-", "_"): cell.source
        for stem in course.stems()
        for key, cell in cells(course.read(course.source, stem), "code").items()
        if key.startswith("attempt-")
    }


def test_every_turn_stands_on_the_page_of_its_module():
    assert set(attempts()) == set(TURNS)


@pytest.mark.parametrize(("name", "source"), attempts().items())
def test_a_stub_takes_what_its_solution_takes(name, source):
    (stub,) = (part for part in ast.parse(source).body if isinstance(part, ast.FunctionDef))
    (solution,) = ast.parse(inspect.getsource(TURNS[name].solution)).body
    assert isinstance(solution, ast.FunctionDef)
    for given, taken in zip(stub.args.args, solution.args.args, strict=True):
        assert given.arg == taken.arg
        if given.annotation and taken.annotation:
            assert ast.unparse(given.annotation).replace("torch.", "") == ast.unparse(taken.annotation)


def test_a_stub_prints_one_sign_and_leaves_the_random_numbers_alone(capsys):
    def stub(X, factor): ...

    def begun(X, factor):
        torch.rand(len(X))
        ...

    before = torch.random.get_rng_state()
    assert said(capsys, double, stub) == said(capsys, double, begun, language="zh") == f"{UNTOUCHED}\n"
    assert torch.equal(before, torch.random.get_rng_state())


def forgets_to_return(X, factor):
    X * factor


def changes(X, factor):
    X *= factor
    return X


def stops(X, factor):
    return X @ X


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (forgets_to_return, "✗ Your function returns nothing: end it with `return`."),
        (changes, "✗ Your function changes what it was given: make new tensors, since the caller still needs the old ones."),
        (lambda X, factor: X.T, "✗ The shape is (3, 2); it should be (2, 3)."),
        (lambda X, factor: (X, X), "✗ You return tuple; expected is Tensor."),
        (lambda X, factor: X > 0, "✗ You return torch.bool; expected is torch.float32."),
        (lambda X, factor: X * float("nan"), "✗ There is NaN in the result: look for a division of 0 by 0, or for a row whose scores are all −∞."),
        (lambda X, factor: X, "✗ hint of the mistake"),
    ],
)  # fmt: skip
def test_other_faults_are_named(attempt, expected, capsys, monkeypatch):
    monkeypatch.setitem(hints("en"), "test_practice.double.not_doubled", "hint of the mistake")
    assert said(capsys, double, attempt) == f"{expected}\n"


def test_the_largest_difference_is_shown_where_no_mistake_is_known(capsys):
    printed = said(capsys, double, lambda X, factor: X * 2 + torch.eye(2, 3) * torch.tensor([1.0, 5, 0]))
    expected = 2 * numbers(0, 2, 3)[1, 1]
    assert f"{expected + 5:.3g} in place of {expected:.3g} at index [1, 1]" in printed
    assert "✗ The result is 3; it should be 4." in said(capsys, turn((2,))(lambda n: 2 * n), lambda n: n + 1)


def test_a_mask_of_numbers_is_not_a_mask_of_booleans(capsys):
    mask = turn((numbers(0, 2, 3),))(lambda X: X > 0)
    printed = said(capsys, mask, lambda X: (X > 0).float())
    assert printed == "✗ You return torch.float32; expected is torch.bool.\n"


def test_a_mistake_is_named_only_where_it_explains_every_case(capsys, monkeypatch):
    @turn((1,), (3,), squared=lambda n: n**2)
    def twice(n):
        return 2 * n

    monkeypatch.setitem(hints("en"), "test_practice.twice.squared", "hint of the mistake")
    assert said(capsys, twice, lambda n: n**2) == "✗ hint of the mistake\n"
    assert said(capsys, twice, lambda n: n**3) == "✗ The result is 1; it should be 2.\n"


def test_an_error_is_one_line_with_the_line_of_code_that_it_came_from(capsys):
    printed = said(capsys, double, stops)
    assert printed.startswith("✗ Your function stopped: RuntimeError: ") and "mat1 and mat2" in printed
    assert printed.endswith("   ← return X @ X\n")
    assert printed.count("\n") == 1
    assert "← " not in said(capsys, double, lambda X: X)


def test_an_error_in_a_reader_s_helper_shows_the_line_of_the_helper(capsys):
    def calls(X, factor):
        return stops(X, factor)

    assert said(capsys, double, calls).endswith("   ← return X @ X\n")


def test_answers_of_several_parts_are_compared_one_by_one(capsys):
    pair = turn((3,))(lambda n: (n, torch.ones(n)))
    assert "✓" in said(capsys, pair, lambda n: [n, torch.ones(n)])
    assert "You return 3 values; 2 are expected." in said(capsys, pair, lambda n: (n, 1, 2))
    assert "The shape is (1, 3); it should be (3,)." in said(capsys, pair, lambda n: (n, torch.ones(1, n)))


def test_the_language_is_the_argument_s_else_the_environment_s_else_the_folder_s(
    capsys, monkeypatch, tmp_path
):
    def language() -> str:
        printed = said(capsys, double, double.solution).split()[1]
        return {"Right.": "en", "Doğru.": "tr", "Đúng": "vi", "正確。": "zh"}[printed]

    monkeypatch.delenv("MHA_COURSE_LANGUAGE", raising=False)
    for folder in ("elsewhere", "vi"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert language() == "en"
    monkeypatch.chdir(tmp_path / "vi")
    assert language() == "vi"
    monkeypatch.setenv("MHA_COURSE_LANGUAGE", "zh")
    assert language() == "zh"
    assert said(capsys, double, double.solution, language="tr") == "✓ Doğru.\n"
    with pytest.raises(ValueError, match=r"^language must be one of en, tr, vi, zh, got 'fr'$"):
        double.check(double.solution, language="fr")


def test_a_language_without_a_hint_shows_it_in_english(capsys, monkeypatch):
    monkeypatch.delitem(hints("tr"), "shape")
    assert "The shape is" in said(capsys, double, lambda X, factor: X.T, language="tr")


def test_a_solution_is_shown_without_its_turn(capsys):
    for one in TURNS.values():
        one.show_solution()
        printed = capsys.readouterr().out
        assert printed.startswith(f"def {one.solution.__name__}(") and "lambda" not in printed


def test_hints_are_tables_of_two_columns_sorted_as_the_english_ones():
    keys = {
        file.name: [line.split("\t")[0] for line in file.read_text("utf-8").splitlines()]
        for file in HINTS.iterdir()
    }
    assert all(found == keys["hints_en.tsv"] for found in keys.values())
