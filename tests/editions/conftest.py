"""A course of two chapters, for all tests that do not make one of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from two_chapters import CHINESE, ENGLISH, TURKISH, cells_update, named, rewrite

from tools.course import ROOT, Course
from tools.editions.lock import stamp
from tools.editions.sync import sync


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course of two chapters, executed once; ``masks`` is translated into Turkish and Chinese."""
    root = tmp_path_factory.mktemp("template")
    for code in ("en", "tr", "vi", "zh"):
        (root / "book" / code).mkdir(parents=True)
        for path in [*(ROOT / "book" / code).glob("language.*"), ROOT / "book" / code / "terms.csv"]:
            shutil.copy(path, root / "book" / code)
    (root / "_config.yml").write_text("package: json\n", encoding="utf-8")
    course = Course(root)
    code = [
        named(new_code_cell("pass"), "setup"),
        named(new_code_cell("print(1 + 1)"), "add"),
        named(new_code_cell("0.5", metadata={"tags": ["hide-cell"]}), "solution-half"),
    ]
    markdown = [named(new_markdown_cell(text), key) for key, text in ENGLISH.items()]
    course.write(
        "en", "masks", new_notebook(cells=[markdown[0], *code[:2], *markdown[1:3], code[2], markdown[3]])
    )
    course.write("en", "sums", new_notebook(cells=[named(new_markdown_cell("# Sums"), "title"), code[0]]))
    sync(course)
    for language, texts in {"tr": TURKISH, "zh": CHINESE}.items():
        rewrite(course, language, lambda nb, texts=texts: cells_update(nb, texts))
        stamp(course, language, "masks", list(texts))
    return root


@pytest.fixture
def course(template: Path, tmp_path: Path) -> Course:
    shutil.copytree(template, tmp_path / "course")
    return Course(tmp_path / "course")
