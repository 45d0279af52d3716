"""The committed book: its notebooks fit wherever they are read."""

import re
from itertools import pairwise

import pytest
from nbconvert import ScriptExporter

from tools.cells import caption_id
from tools.course import Course, cells
from tools.editions.form import has_picture
from tools.editions.markup import skeleton

COURSE = Course()


@pytest.mark.parametrize("stem", COURSE.stems())
def test_words_stay_out_of_code(stem: str) -> None:
    """Comments carry shapes, so that a code cell needs no translation."""
    for key, cell in cells(COURSE.read("en", stem), "code").items():
        for comment in re.findall(r"^(?:[^\"'\n]|\"[^\"\n]*\"|'[^'\n]*')*?#(.*)$", cell.source, re.MULTILINE):
            assert re.fullmatch(r"[\s(].*[)\]]\s*|\s*| fmt: (skip|off|on)", comment), (
                f"{stem}#{key}: {comment.strip()}"
            )


def test_a_page_converts_to_a_python_script() -> None:
    """As by `jupyter nbconvert --to script`, which reads the file's extension from the metadata."""
    page = COURSE.read("en", "multi-head-attention")
    code, resources = ScriptExporter().from_notebook_node(page)
    assert resources["output_extension"] == ".py"
    assert all(cell.source in code for cell in cells(page, "code").values())


@pytest.mark.parametrize("stem", COURSE.stems())
def test_pictures_come_from_code_and_have_captions(stem: str) -> None:
    """Files beside a notebook do not show in Colab; the caption is also the picture's alternative text."""
    notebook = COURSE.read("en", stem)
    texts = cells(notebook).values()
    assert not [what for cell in texts for kind, what in skeleton(cell.source) if kind == "image"]
    for cell, following in pairwise(notebook.cells):
        if has_picture(cell):
            assert following["id"] == caption_id(cell["id"])
