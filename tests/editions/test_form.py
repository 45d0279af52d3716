# ruff: noqa: E501
"""Faults of a page's form, and numbers that nothing shows or a translation lost, are found and named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbformat import NotebookNode
from small_page import PAGE, page

from tools.course import ROOT, Course, cells
from tools.editions import form, numbers
from tools.editions.check import check
from tools.editions.sync import code_digest, tidy


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course of a home page and one chapter in the form."""
    for path in ROOT.glob("book/*/language.yml"):
        (tmp_path / "book" / path.parent.name).mkdir(parents=True)
        shutil.copy(path, tmp_path / "book" / path.parent.name)
    for name, text in {
        "_toc.yml": "root: book/en/index\nchapters: [{file: book/en/bread}]\n",
        "_config.yml": "package: ''\n",
        numbers.EXCEPTIONS: "stem\tcell\tnumber\treason\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    made = Course(tmp_path)
    write(made, "index", page("%%% text title\n# Baking\n\n[Bread](bread.ipynb)"))
    write(made, "bread", page())
    return made


def write(course: Course, stem: str, notebook: NotebookNode) -> None:
    tables = {key: cell.source for key, cell in cells(notebook).items()}
    notebook = tidy(notebook, course, stem)
    for key, cell in cells(notebook).items():
        cell.source = tables[key]
    notebook.metadata["executed"] = code_digest(notebook)
    course.write("en", stem, notebook)


def found(course: Course, text: str = PAGE) -> list[tuple[str, str]]:
    notebook = page(text)
    parts = (form.promises(course, "bread", notebook), form.faults(notebook))
    return [fault for part in (*parts, numbers.faults(course, "bread", notebook)) for fault in part]


def test_a_page_in_the_form_has_no_faults(course: Course) -> None:
    assert found(course) == []


FAULTS = {
    "a long title": ("# Bread", "# Bread and everything else there is", "title", "sidebar"),
    "no promise": ("You will bake one loaf and weigh it.\n\n", "", "title", "promise"),
    "no needs": ("**You need:**", "**Needed:**", "title", "You need"),
    "another time": ("**Time:** 5", "**Time:** 10", "title", "'**Time:** 5 minutes, and 20 more"),
    "other minutes": ("and 20 more", "and 15 more", "title", "and 20 more"),
    "too long to read": ("It loses water.", "It loses water. " * 1900, "title", "at most 40"),
    "no opening": ("%%% code opening hide-input picture\n1\n", "", "title", "after the title"),
    "no picture": ("hide-input picture", "hide-input", "opening", "picture"),
    "shown imports": ("imports hide-input", "imports", "imports", "hide-input"),
    "no seed": ("seed = 0\n%%% ", "%%% ", "imports", "seed = 0"),
    "no question": ("a loaf?", "a loaf", "question", "question"),
    "another import": ("print(math", "import os\nprint(math", "weigh-code", "move it to 'imports'"),
    "an import in a function": ("0.5\n%%% text ex", "def f():\n    import os\n%%% text ex", "solution-half", "imports"),
    "no bold caption": ("**A loaf.**", "A loaf.", "opening-caption", "bold"),
    "no caption": ("text opening-caption", "text opening-words", "opening", "opening-caption"),
    "a blurred picture": ("hide-input picture", "hide-input picture blurred", "opening", "retina"),
    "a shade": ("**A loaf.**", "**A dark loaf.**", "opening-caption", "'dark'"),
    "an odd guess": ("> **Predict first.**", "**Predict first.**", "predict-loss", "Predict"),
    "no next": ("**Next:**", "Then", "summary", "Next"),
    "two right": ("✗ No.\n\n</details>\n%%% text quiz-two", "✓ No.\n\n</details>\n%%% text quiz-two", "quiz-one", "exactly one"),
    "an answer without a mark": ("✗ No.\n\n</details>\n%%% text quiz-two", "No.\n\n</details>\n%%% text quiz-two", "quiz-one", "each answer"),
    "no stars": ("half (★, 5 minutes)", "half (5 minutes)", "exercise-half", "stars"),
    "no heading": ("## Exercises\n\n", "", "exercise-half", "## Exercises"),
    "no solution": ("text solution-salt-why", "text answer", "exercise-salt", "no solution"),
    "a solution in sight": ("solution-half hide-cell", "solution-half", "solution-half", "hide-cell"),
    "a stray solution": ("code solution-half", "code solution-third", "solution-third", "no exercise"),
    "an odd solution": ("<details><summary>Solution", "<details><summary>Answer", "solution-salt-why", "Solution"),
    "an assertion": ("print(math", "assert True\nprint(math", "weigh-code", "tagged claim"),
    "a claim in the text": ("code weigh-code printed", "code weigh-code claim printed", "weigh-code", "behind the cell 'checks'"),
    "no claim in the checks": ("weigh-check claim", "weigh-check", "weigh-check", "is tagged claim"),
    "a name read that two cells bind": ("print(math", "seed = 1\nprint(math", "weigh-check", "reads 'seed', which 2 cells"),
    "a table elsewhere": ("weigh-check-seeds", "weigh-code-seeds", "weigh-code-seeds", "right after"),
    "an empty table": ("| `root` | 0.69 | `>= 0.7` |", "", "weigh-check-seeds", "no row"),
    "other words over the checks": ("## Checks", "## Proofs", "checks", "## Checks"),
    "an odd tag": ("weigh-check claim", "weigh-check claim skip", "weigh-check", "'skip'"),
    "a wide tolerance": ("weigh-code printed", "weigh-code printed atol-0.9", "weigh-code", "at most atol-0.2"),
    "numbers of one model": ("weigh-code printed", "weigh-code printed one-model", "weigh-code", "for a figure"),
    "an id by an editor": ("weigh-code", "3f9ab2c1", "3f9ab2c1", "an id is words"),
    "an id by an editor, of letters": ("weigh-code", "af9ab2c1", "af9ab2c1", "an id is words"),
    "no references": ("%%% text references\n## References\n\n- A book.", "", "weigh-check-seeds", "'references'"),
    "exercises first": ("%%% text summary", "%%% text exercise-early\n### E (★, 5 minutes)\n%%% text summary", "references", "order"),
    "a turn without a stub": ("code attempt-cut", "code cut-attempt", "your-turn-cut", "attempt-cut"),
    "a turn without stars": ("turn: Cut (★, 5 minutes)", "turn: Cut", "your-turn-cut", "Your turn"),
    "a turn in the middle": ("%%% text weigh\n## Weighing", "%%% text weigh\nWeighing", "your-turn-cut", "ends its section"),
    "a turn that checks nothing": ("practice.cut.check(my_cut)", "my_cut(3)", "attempt-cut", "practice.cut.check(my_cut)"),
    "a turn that is done": ("code attempt-cut untouched", "code attempt-cut printed", "attempt-cut", "stub"),
    "a number of no seed": ("other seeds 0.69", "other seeds 0.68", "weigh-read", "0.68"),
    "a wrong number": ("is 0.707", "is 0.708", "weigh-read", "0.708"),
    "a wrong percentage": ("71 %", "72 %", "weigh-read", "72%"),
    "a number of elsewhere": ("Cut it.", "Cut 0.707 of it.", "exercise-half", "0.707"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_the_form_is_named(course: Course, kind: str) -> None:
    old, new, cell, said = FAULTS[kind]
    assert old in PAGE
    assert [what for key, what in found(course, PAGE.replace(old, new, 1)) if key == cell and said in what]


def test_a_solution_that_did_not_run_is_named(course: Course) -> None:
    notebook = page()
    cells(notebook, "code")["solution-half"].execution_count = None
    assert list(form.promises(course, "bread", notebook)) == [("solution-half", "has not run: run sync")]


@pytest.mark.parametrize("metadata", [{"jupyter": {"outputs_hidden": True}}, {"cellView": "form"}])
def test_only_a_tag_folds_a_cell(course: Course, metadata: dict[str, object]) -> None:
    notebook = page()
    cells(notebook, "code")["weigh-code"].metadata.update(metadata)
    assert [key for key, what in form.promises(course, "bread", notebook) if "folds" in what] == [
        "weigh-code"
    ]


def test_the_home_page_lists_every_chapter(course: Course) -> None:
    notebook = page("%%% text title\n# Baking")
    assert list(form.promises(course, "index", notebook)) == [
        ("title", "no cell of the page links to bread.ipynb")
    ]


def test_an_excepted_number_is_no_fault(course: Course) -> None:
    text = PAGE.replace("It loses water.", "It loses 0.3 of its water, as D2L 1.0 says.")
    assert found(course, text) == [
        ("question", "0.3 is in no output of its section, nor in book/numbers.tsv")
    ]
    (course.root / numbers.EXCEPTIONS).write_text("stem\tcell\tnumber\treason\nbread\tquestion\t0.3\tgiven\n")
    assert found(course, text) == []


def test_a_page_with_checks_is_held_to_the_form_and_another_is_not(course: Course) -> None:
    faulty = PAGE.replace("## References", "## Books").replace("**Next:**", "Next")

    def lines() -> list[str]:
        findings = check(course, "en", "bread")
        return sorted(f.line() for f in findings if "seeds" not in f.what and "sync" not in f.what)

    write(course, "bread", page(faulty))
    assert lines() == [
        "error: en bread#references: begins with '## References'",
        "error: en bread#summary: its last line begins with '**Next:**'",
    ]
    write(
        course, "bread", page(faulty.replace("text checks", "text proofs").replace("solution-half", "half"))
    )
    assert lines() == [
        "error: en bread#exercise-half: has no solution: solution-half (code), solution-half-why (words), or both"
    ]


def test_a_check_may_read_what_only_its_own_cell_or_one_other_binds(course: Course) -> None:
    """Names of functions, comprehensions and arguments are nobody else's."""
    text = PAGE.replace("print(math", "root = [seed for seed in (1, 2)]\nwidth = 3\nprint(math", 1)
    text = text.replace("assert root", "f = lambda width: width\nassert f(root)")
    assert [what for _, what in found(course, text) if "reads" in what] == []
    text = text.replace("root = math.sqrt(0.5)\n", "")
    assert [what for _, what in found(course, text) if "reads" in what] == []
    text = text.replace("%%% text summary", "%%% code again\nfor root in ():\n    pass\n%%% text summary")
    assert [key for key, what in found(course, text) if "reads 'root'" in what] == ["weigh-check"]


SPELLED: list[tuple[str, str, str, list[str]]] = [
    ("tr", "0.545 of it", "0,545'i", []),
    ("tr", ".545 of it", "0,545'i", []),
    ("tr", "0.545 of it", "0.545'i", ["0.545"]),
    ("tr", "40,000 of 70 %", "40.000, %70", []),
    ("vi", "40,000 numbers", "40 000 số", []),
    ("vi", "0.333 and 1.0", "0,333 và 1,0", []),
    ("vi", "40,000 numbers", "40.000 số", []),
    ("zh", "0.665 to 2", "從0.665降到2。", []),
    ("zh", "0.665 to 2", "從0.66降到3。", ["0.665", "2"]),
    ("zh", "`x = 0.5`, $0.3$, h1 and PyTorch 2.13", "沒有", []),
    ("vi", "three of them", "ba", []),
    ("tr", "64 units, 64 again", "64 birim", []),
    ("tr", "64 units, 64 again", "64 birim, yine 65", ["64"]),
]


@pytest.mark.parametrize(("language", "english", "text", "missing"), SPELLED)
def test_a_number_that_a_translation_lost_is_named(
    language: str, english: str, text: str, missing: list[str]
) -> None:
    found = list(numbers.lost(Course(), language, english, text))
    assert found == missing
