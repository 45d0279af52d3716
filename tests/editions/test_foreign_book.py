"""The editions' tools on another project's book: its languages, its folder, its package, no attention."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from two_chapters import run

from tools.course import Course, cells
from tools.editions.lock import page_state

GERMAN = {
    "title": "# Brot\n\nAus `flour` und Wasser wird **Teig**: $w = 0.7 f$.",
    "water": "Wie viel Wasser? Siehe [Öfen](ovens.ipynb#title).",
}
DUTCH = {
    "title": "# Brood\n\nVan `flour` en water maakt men **deeg**: $w = 0.7 f$.",
    "water": "Hoeveel water? Zie [ovens](ovens.ipynb#title).",
}
BIBLIOGRAPHY = "@book{david-1977, author={Elizabeth David}, title={Bread}, year={1977}}\n"
WORDS = """
references_title: Quellen
references_about: Gelesen.
references_and: " und "
references_comma: ", "
references_others: " u. a."
"""
SOURCE = '''
"""Baking."""


def argument_check(function):
    return function


@argument_check
def check_flour(flour):
    if flour < 0:
        raise ValueError("flour")


def water(flour):
    """Grams of water for so much flour."""
    check_flour(flour)
    return 0.7 * flour
'''


def notebook(markdown: dict[str, str], **code: str) -> object:
    made = [(key, new_markdown_cell(text)) for key, text in markdown.items()]
    made[1:1] = [(key.replace("_", "-"), new_code_cell(source)) for key, source in code.items()]
    for key, cell in made:
        cell["id"] = key
    return new_notebook(cells=[cell for _, cell in made])


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a German book on bread with a new Dutch edition, after one sync."""
    root = tmp_path_factory.mktemp("bread")
    (root / "bakery").mkdir()
    (root / "bakery/dough.py").write_text(SOURCE)
    (root / "bakery/__init__.py").write_text("")
    for name, text in {
        "_toc.yml": "root: book/de/bread\nchapters: [{file: book/de/ovens}, {file: book/de/references}]\n",
        "_config.yml": "package: bakery",
        "README.md": "# Brot\n\n<!-- chapters: begin -->\n\n\n✓\n<!-- chapters: end -->\n",
        "book/de/language.yml": "{name: Deutsch, html: de, sphinx: de, source: true}",
        "book/nl/language.yml": "{name: Nederlands, html: nl, sphinx: nl, avoid: {beslag: deeg}}",
        "book/de/terms.csv": "term,notes\nTeig,\n",
        "book/nl/terms.csv": "term,word,accepted,notes\nTeig,deeg,,\n",
        "book/references.bib": BIBLIOGRAPHY,
        "book/de/words.yml": WORDS,
        "book/nl/words.yml": "references_title: Bronnen\nreferences_about: Gelezen.\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    course = Course(root)
    shown = {"path": "import sys\nsys.path.insert(0, '../..')", "setup": "", "function_water": ""}
    course.write("de", "bread", notebook(GERMAN, **shown, result="print(water(100))"))
    course.write("de", "ovens", notebook({"title": "# Öfen"}))
    assert run(course, "sync") == 0
    return root


@pytest.fixture
def course(template: Path, tmp_path: Path) -> Course:
    return Course(Path(shutil.copytree(template, tmp_path / "bread")))


@pytest.fixture(scope="session")
def translated_template(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the book with its first page in Dutch, as a translator brings it back."""
    course = Course(Path(shutil.copytree(template, tmp_path_factory.mktemp("translated") / "bread")))
    assert run(course, "export nl bread") == 0
    path = course.root / "translations/nl/bread.md"
    text = path.read_text(encoding="utf-8")
    for key, dutch in DUTCH.items():
        before, after = text.split(f"{GERMAN[key]}\n", 1)
        text = f"{before}{GERMAN[key]}\n{after.replace('%%% nl', f'%%% nl{chr(10)}{dutch}', 1)}"
    path.write_text(text, encoding="utf-8")
    assert run(course, "import nl bread --stamp") == 0
    assert run(course, "sync") == 0
    return course.root


@pytest.fixture
def translated(translated_template: Path, tmp_path: Path) -> Course:
    return Course(Path(shutil.copytree(translated_template, tmp_path / "translated")))


def test_sync_executes_it_and_makes_the_other_edition(course: Course) -> None:
    code = cells(course.read("nl", "bread"), "code")
    assert code["result"].outputs[0].text == "70.0\n"
    assert code["function-water"].source == "def water(flour):\n    return 0.7 * flour"
    assert "\ntry:\n    import bakery\n" in code["setup"].source
    assert "bakery" not in (course.root / "book/nl/ovens.ipynb").read_text(encoding="utf-8")
    assert run(course, "check --release") == 0


def test_it_is_translated_stamped_and_counted(translated: Course, capsys: pytest.CaptureFixture) -> None:
    assert page_state("nl", "bread", translated) == (("title", "water"), (), ())
    assert run(translated, "check") == 0
    capsys.readouterr()
    assert run(translated, "status") == 0
    shown = capsys.readouterr().out.splitlines()[1:]
    assert list(map(str.split, shown)) == [["bread", "2/0/0"], ["ovens", "0/0/1"], ["all", "2/0/1"]]


def test_a_changed_function_is_shown_anew(course: Course, capsys: pytest.CaptureFixture) -> None:
    path = course.root / "bakery/dough.py"
    path.write_text(SOURCE.replace("0.7", "0.75"))
    assert run(course, "check") == 1
    assert "error: de bread: derived cells" in capsys.readouterr().out
    assert run(course, "sync") == 0
    assert cells(course.read("nl", "bread"), "code")["result"].outputs[0].text == "75.0\n"
    assert run(course, "check") == 0


def test_pages_and_the_readmes_table_are_written(
    course: Course, translated: Course, capsys: pytest.CaptureFixture
) -> None:
    assert translated.text("book/nl/references.md") == (
        '# Bronnen\n\nGelezen.\n\n- <a id="david-1977"></a>Elizabeth David (1977). Bread.\n'
    )
    assert "| Brot | [✓](book/de/bread.ipynb) |\n" in course.text("README.md")
    assert "| Brot | [✓](book/de/bread.ipynb) | [✓](book/nl/bread.ipynb) |" in translated.text("README.md")
    (translated.root / "book/de/references.md").write_text("# Quellen\n")
    assert run(translated, "check") == 1
    assert "error: book/de/references.md: is not as sync writes it" in capsys.readouterr().out


def test_a_book_needs_neither_glossary_nor_words_nor_contents(course: Course) -> None:
    for name in ("_toc.yml", "_config.yml", "README.md", "book/references.bib"):
        (course.root / name).unlink()
    for path in course.root.glob("book/*/terms.csv"):
        path.unlink()
    assert run(course, "add da Dansk") == 0
    added = Course(course.root)
    assert run(added, "check") == 0
    assert page_state("da", "bread", added).untranslated == tuple(GERMAN)
    assert added.words("da")["references_title"] == "Quellen"
