"""A fifth language end to end: accented English is added, translated and built; the course has an address."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from browsing import CHAPTER
from bs4 import BeautifulSoup, Comment
from PIL import Image
from test_search import found

from tools.cells import is_generated
from tools.course import ROOT, Course, cells
from tools.editions.check import check
from tools.editions.lock import page_state, stamp
from tools.editions.markup import skeleton

CODE = "qaa"  # reserved for private use: no real language will ever have it
ACCENTS = str.maketrans("aeiouyAEIOUY", "áéíóúýÁÉÍÓÚÝ")
# Code, formulas, link targets, HTML tags and the places of numbers are not words.
KEPT = re.compile(
    r"(```.*?```|``.*?``|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|\]\([^)]*\)|<[^>]*>|\{\w+\})", re.DOTALL
)
# What stands in English in every edition: names, code and what was published in English.
NAMES = "English|Python|PyTorch|Colab|GitHub|Jupyter|JupyterLab|Esperanto|MIT|CC|BY"


# What is special about it: marks, signs, a rule that is a pattern, one that needs code, an ending of words.
SETTINGS = """
decimal: ','
quotes: „“‚‘
wrong: {'!!': one exclamation mark is enough}
search: {ending: ejojn$}
"""
RULES = """
def faults(text):
    if "zyzzyva" in text:
        yield "has an insect in it"
"""
STYLE = ":lang(eo) { line-height: 1.9; }"


def accented(text: str) -> str:
    """Return the text in the new language: vowels with accents, decimals with a comma."""
    parts = KEPT.split(text)
    return "".join(
        part if i % 2 else re.sub(r"(?<=\d)\.(?=\d)", ",", part.translate(ACCENTS))
        for i, part in enumerate(parts)
    )


def run(root: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a copy of the project with Esperanto added: every text of ours translated, by accents."""
    root = tmp_path_factory.mktemp("project") / "course"
    shutil.copytree(
        ROOT / "book", root / "book", ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    )
    for folder in ("tools", "mha_course"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "_toc.yml", "pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, root / name)
    run(root, "tools.editions", "add", CODE, "Esperanto", "--html", "eo", "--sphinx", "eo")
    folder = root / "book" / CODE
    with (folder / "language.yml").open("a", encoding="utf-8") as file:
        file.write(SETTINGS)
    (folder / "language.py").write_text(RULES, encoding="utf-8")
    (folder / "style.css").write_text(STYLE, encoding="utf-8")
    words = folder / "words.yml"
    said = {key: accented(word) for key, word in yaml.safe_load(words.read_text(encoding="utf-8")).items()}
    words.write_text(yaml.safe_dump(said, allow_unicode=True), encoding="utf-8")
    made = Course(root)
    for stem in made.stems():
        notebook = made.read(CODE, stem)
        for key, cell in cells(notebook).items():
            cell.source = cell.source if is_generated(key) else accented(cell.source)
        made.write(CODE, stem, notebook)
        stamp(made, CODE, stem)
    run(root, "tools.editions", "sync")  # the translated titles reach the teachers' table
    return made


def test_it_is_in_step_with_english(course: Course) -> None:
    assert [finding.line() for finding in check(course, CODE) if finding.is_error()] == []
    for stem in course.stems():
        assert page_state(CODE, stem, course).untranslated == ()


def test_nothing_outside_of_its_folder_changed(course: Course) -> None:
    shared = [
        *(ROOT / "book").glob("*.*"),
        *(ROOT / "mha_course").rglob("*.py"),
        *(ROOT / "tools").rglob("*.*"),
    ]
    own = [path for code in Course().languages for path in (ROOT / "book" / code).glob("[!.]*.*")]
    for path in sorted({*shared, *own}):
        if path.is_file() and "__pycache__" not in path.parts:
            assert (course.root / path.relative_to(ROOT)).read_bytes() == path.read_bytes(), path


def test_the_check_has_its_rules(course: Course) -> None:
    path = course.path(CODE, "faq")
    before = path.read_bytes()
    notebook = course.read(CODE, "faq")
    notebook.cells[0].source += " A zyzzyva!!"
    course.write(CODE, "faq", notebook)
    said = [finding.line() for finding in check(course, CODE, "faq")]
    path.write_bytes(before)
    assert [line for line in said if "has an insect in it" in line]
    assert [line for line in said if "one exclamation mark is enough" in line]


REPOSITORY, BASE = "https://github.com/someone/course", "https://example.org/course/"


@pytest.fixture(scope="module")
def site(course: Course) -> Path:
    """Return the edition of a course with addresses and a share picture of the walk."""
    config = course.root / "_config.yml"
    text = config.read_text(encoding="utf-8")
    for name, address in (("url", REPOSITORY), ("baseurl", BASE)):
        assert text.count(f'  {name}: ""') == 1
        text = text.replace(f'  {name}: ""', f"  {name}: {address}")
    config.write_text(text, encoding="utf-8")
    pictures = course.root / "tools/site/theme/static"
    shutil.copy(pictures / "walk-en.png", pictures / f"walk-{CODE}.png")
    run(course.root, "tools.site", "build", "--lang", CODE)
    return course.root / "_build/html" / CODE


def soup_of(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def test_where_addresses_are_set_a_page_points_to_them(course: Course, site: Path) -> None:
    soup = soup_of(site / f"{CHAPTER}.html")
    address = f"{BASE}{CODE}/{CHAPTER}.html"
    assert soup.find("link", rel="canonical")["href"] == address
    button = soup.select_one('.actions a[href*="colab"]')["href"]
    in_colab = "https://colab.research.google.com/github/someone/course"
    assert button == f"{in_colab}/blob/main/book/{CODE}/{CHAPTER}.ipynb"
    assert soup.select_one(f'footer a[href*="/issues/new?title={CODE}%2F{CHAPTER}"]')
    assert f"  url = {{{BASE}}}," in soup.select_one("footer pre").text
    notebook = site / soup.select_one(".actions a[download]")["href"]
    assert notebook.read_bytes() == course.path(CODE, CHAPTER).read_bytes()
    alternatives = {link["hreflang"]: link["href"] for link in soup.find_all("link", rel="alternate")}
    assert alternatives["zh-Hant"] == f"{BASE}zh/{CHAPTER}.html"
    assert alternatives["x-default"] == f"{BASE}en/{CHAPTER}.html"
    assert address in (site.parent / "sitemap.xml").read_text()


def test_where_addresses_are_set_other_sites_have_a_picture_of_a_page(site: Path) -> None:
    """A plot, a drawing, which other sites cannot show, and two pages with the walk."""
    shared = {
        "attention-pooling": f"{CODE}/_images/share-attention-pooling.png",
        "scoring-functions": "_shared/preview.png",
        "index": f"_shared/walk-{CODE}.png",
        "transformer": f"_shared/walk-{CODE}.png",
    }
    for stem, picture in shared.items():
        head = soup_of(site / f"{stem}.html").head
        assert head.find("meta", property="og:image")["content"] == BASE + picture
        assert head.find("meta", attrs={"name": "twitter:card"})["content"] == "summary_large_image"
        assert Image.open(site.parent / picture).size == (1200, 630)


def english_words(page: Path) -> set[str]:
    """Return the words without an accent that a page's reader sees or hears, except names and code."""
    soup = soup_of(page)
    for element in soup(["script", "style", "pre", "code", "svg", "math", "noscript", "template"]):
        element.decompose()
    for element in soup.select(".katex, .math, .output, .cell_output, [lang=en]"):
        element.decompose()
    texts = [text for text in soup.find_all(string=True) if not isinstance(text, Comment)]
    attributes = ("title", "aria-label", "placeholder", "alt", "content", "data-text")
    for element in soup.find_all(True):
        if element.name != "meta" or element.get("name") == "description":
            texts += [str(element[name]) for name in attributes if element.has_attr(name)]
    words = re.findall(r"(?<!\\)\b[A-Za-z]{3,}(?![\w.])", " ".join(texts))
    return {word for word in words if re.search("[aeiou]", word) and not re.fullmatch(NAMES, word)}


IN_ENGLISH = {"api", "glossary", "references"}  # names in the code, terms with their English, papers


@pytest.mark.parametrize("stem", [stem for stem in Course().pages if stem not in IN_ENGLISH])
def test_no_word_of_its_interface_is_english(course: Course, site: Path, stem: str) -> None:
    """Words that are inline code on the page may stand in its outline, where they are plain text.

    The page for teachers shows the pictures of all pages, with their words.
    """
    stems = course.stems() if stem == "teaching" else [stem] if stem in course.stems() else []
    texts = [text for one in stems for text in cells(course.read(CODE, one)).values()]
    code = " ".join(what for cell in texts for kind, what in skeleton(cell.source) if kind == "code")
    assert english_words(site / f"{stem}.html") - set(re.findall(r"[A-Za-z]+", code)) == set()


def test_the_page_says_its_language(site: Path) -> None:
    soup = soup_of(site / "index.html")
    assert soup.html is not None and soup.html["lang"] == "eo"


def test_the_page_has_its_marks_signs_and_looks(site: Path) -> None:
    text = (site / "attention-pooling.html").read_text(encoding="utf-8")
    soup = BeautifulSoup(text, "html.parser")
    said = "".join(paragraph.get_text() for paragraph in soup.select("article p"))
    assert re.search("„[^“”]+“", said)
    assert re.search(r"\d\{,\}\d", text) and not re.search(r"<mn>\d*\.\d", text)
    assert STYLE in (site.parent / "_shared/course.css").read_text(encoding="utf-8")
    facts = json.loads(soup.select_one(".live")["data-language"])
    assert (facts["decimal"], facts["thousands"], facts["locale"]) == (",", ".", "eo")


def test_the_search_knows_its_ending(site: Path) -> None:
    stem, inflected, other = found(site.parent, CODE, ["mask", "maskejojn", "maskejojm"])
    assert stem and stem == inflected and stem != other


LANGUAGES = [language for code, language in Course().languages.items() if code in Course().translations]
NAMES_OF_LANGUAGES = {name for one in LANGUAGES for name in (one.code, one.html, one.sphinx)}
TOOLS = [  # the corpus is about languages, and the experiments read it
    path
    for path in sorted((ROOT / "tools").rglob("*.*"))
    if path.suffix in (".py", ".js", ".css", ".html", ".toml", ".txt")
    and not {"corpus", "experiments", "models"} & {*path.relative_to(ROOT / "tools").parts}
]


def named_languages(path: Path) -> set[str]:
    """Return the languages that a file of the tools names in its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
        return {node.value for node in nodes if node.value in NAMES_OF_LANGUAGES}
    codes = "|".join(map(re.escape, NAMES_OF_LANGUAGES))
    text = re.sub(r'(?:element|querySelector(?:All)?)\(\s*"tr"', "", text)  # the row of a table
    return set(re.findall(rf"[\"'](?:{codes})[\"']|\b(?:{codes}): |:lang\(", text))


def test_the_tools_name_no_language() -> None:
    assert {path: names for path in TOOLS if (names := named_languages(path))} == {}
