"""The committed book: its languages are in step, its notebooks fit for every place they are read in."""

import re

import pytest
from nbconvert import ScriptExporter

from tools.course import Course, cells
from tools.editions.check import check, check_lock
from tools.editions.markup import skeleton

COURSE = Course()
PAGES = [(language, stem) for language in COURSE.languages for stem in COURSE.stems()]


@pytest.mark.parametrize(("language", "stem"), PAGES)
def test_a_page_has_drifted_nowhere(language: str, stem: str) -> None:
    found = [finding.line() for finding in check(COURSE, language, stem) if finding.is_error()]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("language", COURSE.translations)
def test_a_language_has_the_english_chapters_and_no_others(language: str) -> None:
    assert COURSE.stems(language) == COURSE.stems()
    assert list(check_lock(COURSE, language)) == []


@pytest.mark.parametrize(("language", "stem"), PAGES)
def test_code_and_outputs_equal_english(language: str, stem: str) -> None:
    """The promise itself, without the tool that keeps it."""
    ours, theirs = COURSE.read(language, stem), COURSE.read("en", stem)
    assert [(c["id"], c.cell_type, c.metadata) for c in ours.cells] == [
        (c["id"], c.cell_type, c.metadata) for c in theirs.cells
    ]
    assert cells(ours, "code") == cells(theirs, "code")
    assert ours.metadata == theirs.metadata


@pytest.mark.parametrize("stem", COURSE.stems())
def test_every_cell_is_compared_and_nothing_switches_it_off(stem: str) -> None:
    for key, cell in cells(COURSE.read("en", stem), "code").items():
        tags = cell.metadata.get("tags", [])
        assert not [tag for tag in tags if tag.startswith(("nbval", "raises"))], key
        assert not re.search(r"#\s*(NBVAL|PYTEST_VALIDATE)", cell.source), key
        assert cell.execution_count is not None or not cell.source.strip(), key


@pytest.mark.parametrize("stem", COURSE.stems())
def test_words_stay_out_of_code(stem: str) -> None:
    """Comments carry shapes, so that a code cell needs no translation."""
    for key, cell in cells(COURSE.read("en", stem), "code").items():
        for comment in re.findall(r"^(?:[^\"'\n]|\"[^\"\n]*\"|'[^'\n]*')*?#(.*)$", cell.source, re.MULTILINE):
            assert re.fullmatch(r"[\s(].*[)\]]\s*|\s*| fmt: (skip|off|on)", comment), (
                f"{stem}#{key}: {comment.strip()}"
            )


@pytest.mark.parametrize("stem", COURSE.stems())
def test_code_starts_with_the_cell_that_installs_the_package(stem: str) -> None:
    code = list(cells(COURSE.read("en", stem), "code").items())
    assert not code or (code[0][0] == "setup" and code[0][1].source == COURSE.setup_code)


@pytest.mark.parametrize("stem", COURSE.stems())
def test_a_page_converts_to_a_python_script(stem: str) -> None:
    """As by `jupyter nbconvert --to script`, which reads the file's extension from the metadata."""
    code, resources = ScriptExporter().from_notebook_node(COURSE.read("en", stem))
    assert resources["output_extension"] == ".py"
    assert all(cell.source in code for cell in cells(COURSE.read("en", stem), "code").values())


@pytest.mark.parametrize("stem", COURSE.stems())
def test_pictures_come_from_code_and_have_captions(stem: str) -> None:
    """Files beside a notebook do not show in Colab; the caption is also the picture's alternative text."""
    notebook = COURSE.read("en", stem)
    texts = cells(notebook)
    assert not [key for key, cell in texts.items() for kind, _ in skeleton(cell.source) if kind == "image"]
    for key, cell in cells(notebook, "code").items():
        shown = {mime for output in cell.outputs for mime in output.get("data", {})}
        if shown & {"image/png", "image/svg+xml"}:
            following = notebook.cells[notebook.cells.index(cell) + 1]
            assert following["id"] == f"{key}-caption", f"{stem}#{key}: the next cell is not its caption"
