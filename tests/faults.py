"""Plant faults in a copy of the course, one at a time, and print what notices each (``make faults``).

Faults of the book's text and cells are planted in up to three places; `t check` of the page must find each. Other files
are changed once, and the tests named beside them must fail. A fault that nothing notices makes the command fail, unless
its row says that nothing can. Words on the command line choose the faults whose row holds one of them. Faults in the
package are the business of ``tests.mutants``.
"""

# ruff: noqa: E501 - the tables have one line a fault

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode
from nbformat.v4 import new_output

from tools.course import ROOT, Course, cells
from tools.editions.check import check
from tools.editions.lock import page_state, stamp

PLACES = 3  # in how many cells a fault of the text is planted
LEFT_OUT = (".git", ".venv", "_build", "node_modules", "__pycache__", ".*_cache", ".hypothesis")
PAGES = (  # in the form
    "multi-head-attention",
    "attention-pooling",
    "scoring-functions",
    "bahdanau-attention",
    "transformer",
    "efficient-attention",
    "looking-at-heads",
)
LIMIT = 600  # seconds

HAN = "[\u4e00-\u9fff]"
OTHER = {
    "tr": "Mỗi truy vấn được so sánh với mọi khóa.",
    "vi": "Her sorgu bütün anahtarlarla karşılaştırılır.",
    "zh": "Her sorgu bütün anahtarlarla karşılaştırılır.",
}


BY_READING = "only a reader can"
BY_CONTENTS = "seen where it has code, a formula, a link, a number or a term; else only a reader can"


class TextFault(NamedTuple):
    """A change of a cell's text; `change` returns None if the fault cannot be planted there."""

    languages: str
    what: str
    change: Callable[[str], str | None]
    unseen: str = ""
    """Why nothing can notice it; empty where something has to."""
    stamped: bool = True


class PageFault(NamedTuple):
    """A change of a notebook, in all languages if `everywhere`; `change` returns False if it cannot be planted."""

    languages: str
    what: str
    change: Callable[[NotebookNode], bool]
    everywhere: bool = False
    unseen: str = ""


class FileFault(NamedTuple):
    """A pattern of a file to replace, and the tests that must fail if `t check` finds nothing."""

    path: str
    what: str
    pattern: str
    new: str
    tests: str = ""
    unseen: str = ""


def sub(pattern: str, new: str) -> Callable[[str], str | None]:
    """Replace the first match; None if the text stays the same."""
    return lambda text: changed if (changed := re.sub(pattern, new, text, count=1)) != text else None


def exchange(pattern: str) -> Callable[[str], str | None]:
    """Exchange the first two matches in one paragraph that differ."""

    def change(text: str) -> str | None:
        for line in text.splitlines():
            matches = list(re.finditer(pattern, line))
            others = [match for match in matches[1:] if match[0] != matches[0][0]]
            if others and "|" not in line:
                first, second = matches[0], others[0]
                between = line[first.end() : second.start()]
                new = line[: first.start()] + second[0] + between + first[0] + line[second.end() :]
                return text.replace(line, new, 1)
        return None

    return change


def without_line(pattern: str) -> Callable[[str], str | None]:
    """Delete the last line that begins so, if there are at least two."""

    def change(text: str) -> str | None:
        lines = text.splitlines()
        found = [i for i, line in enumerate(lines) if re.match(pattern, line)]
        return "\n".join(lines[: found[-1]] + lines[found[-1] + 1 :]) if len(found) > 1 else None

    return change


def without_sentence(text: str) -> str | None:
    """Delete the second of three sentences or more, if it is plain text."""
    for line in text.splitlines():
        parts = re.split(r"(?<=[.。])(?:\s+|(?=[\u4e00-\u9fff]))", line)
        if len(parts) > 2 and len(parts[1]) > 12 and not re.search(r"[`$\d*\[]", parts[1]):
            return text.replace(parts[1], "", 1).replace("  ", " ")
    return None


def plain_word(text: str) -> str | None:
    """Write a Turkish word without its special letters."""
    word = re.search(r"\b(yazılır|değildir|ağırlıklar|çarpımı|gösterir|yalnızca|aynı|bağlam)\b", text)
    if not word:
        return None
    plain = word[0].translate(str.maketrans("ışğçöü", "isgcou"))
    return text.replace(word[0], plain, 1)


# fmt: off
TEXT_FAULTS = [
    # ---- what a translation loses, exchanges or adds ----
    TextFault("tr vi zh", "an edit that nobody stamped", lambda t: f"{t} ", stamped=False),
    TextFault("tr vi zh", "a list item lost", without_line(r"- "), BY_CONTENTS),
    TextFault("tr vi zh", "a row of a table lost", without_line(r"\| ")),
    TextFault("tr vi zh", "a sentence lost", without_sentence, BY_CONTENTS),
    TextFault("tr vi zh", "a heading lost", sub(r"^#+ ", "")),
    TextFault("tr vi zh", "a passage no longer bold", sub(r"\*\*([^*]+)\*\*", r"\1"), "emphasis is the translator's own"),
    TextFault("tr vi zh", "a number changed", sub(r"\b\d\d\b(?![.,%\d])", "97")),
    TextFault("tr vi zh", "a decimal changed", sub(r"(?<=[ (])(0?[.,]\d)\d\b", r"\g<1>1")),
    TextFault("tr vi zh", "a formula changed", sub(r"\$([^$]+)\$", r"$\1^2$")),
    TextFault("tr vi zh", "a formula lost", sub(r" \$[^$]+\$", ""), "seen where the cell has it once"),
    TextFault("tr vi zh", "two formulas of a paragraph exchanged", exchange(r"(?<!\$)\$[^$]+\$(?!\$)"), BY_READING),
    TextFault("tr vi zh", "two code words of a paragraph exchanged", exchange(r"`[^`]+`"), BY_READING),
    TextFault("tr vi zh", "two links of a paragraph exchanged", exchange(r"(?<=\])\([^)]+\)"), BY_READING),
    TextFault("tr vi zh", "code changed", sub(r"`([a-z_]+)`", r"`\1s`")),
    TextFault("tr vi zh", "a link to elsewhere", sub(r"\]\(([a-z-]+)\.ipynb", "](index.ipynb")),
    TextFault("tr vi zh", "a sentence of another language", lambda t: None),  # set below for each language
    TextFault("tr vi", "a sentence in Chinese", lambda t: f"{t} 每個查詢與每個鍵比較。"),
    TextFault("tr vi zh", "a sentence in English", lambda t: f"{t} Each query is compared with all of the keys."),
    TextFault("tr vi zh", "three English words", lambda t: f"{t} (…) of the key."),
    TextFault("tr vi zh", "emphasis with a space inside", sub(r"\*\*([^*]+)\*\*", r"** \1 **")),
    TextFault("tr vi zh", "a directive that only the site reads", lambda t: f"{t}\n\n:::{{note}}\nx\n:::"),
    TextFault("tr", "the agreed term replaced", sub("(?i)anahtar", "tuş")),
    TextFault("vi", "the agreed term replaced", sub("khóa", "phím")),
    TextFault("zh", "the agreed term replaced", sub("查詢", "查找")),
    TextFault("tr", "a negation lost", sub("değildir", "dir"), BY_READING),
    TextFault("vi", "a negation lost", sub(" không ", " "), BY_READING),
    TextFault("zh", "a negation lost", sub("不是", "是"), BY_READING),
    # ---- typography ----
    TextFault("tr vi zh", "a zero-width space", sub(r"(?<=\w)(?=\w)", "\u200b")),
    TextFault("tr vi zh", "a no-break space", sub(r"(?<=\w) (?=\w)", "\u00a0")),
    TextFault("vi", "letters and marks apart (NFD)", lambda t: unicodedata.normalize("NFD", t)),
    TextFault("vi", "new tone marks", sub("khóa", "khoá")),
    TextFault("vi tr", "curly quotation marks", sub(r'"([^"]+)"', "“\\1”")),
    TextFault("vi", "the decimal point of English", sub(r"\b0,(\d)", r"0.\1")),
    TextFault("tr", "the decimal point of English", sub(r"\b0,(\d)", r"0.\1")),
    TextFault("tr", "letters without dots and tails", plain_word),
    TextFault("tr", "a suffix without an apostrophe after code", sub(r"`'", "`")),
    TextFault("tr", "a suffix without an apostrophe after a formula", sub(r"\$'", "$")),
    TextFault("zh", "a half-width comma", sub(f"({HAN})，({HAN})", r"\1,\2")),
    TextFault("zh", "a half-width full stop", sub(f"({HAN})。({HAN})", r"\1.\2")),
    TextFault("zh", "a half-width colon", sub(f"({HAN})：", r"\1:")),
    TextFault("zh", "half-width brackets", sub(f"（({HAN}+)）", r"(\1)")),
    TextFault("zh", "straight quotation marks", sub(f"({HAN}{HAN})(?={HAN})", r'"\1"')),
    TextFault("zh", "a space before a full-width sign", sub("，", " ，")),
    TextFault("zh", "no space beside code", sub(f" (`[^`]+`) ({HAN})", r" \1\2")),
    TextFault("zh", "a space between characters", sub(f"({HAN})({HAN})", r"\1 \2")),
    TextFault("zh", "a word of the mainland", sub("資料|記憶體|網路|程式碼|傳回|呼叫|陣列", "數據")),
    TextFault("zh", "後 as 后", sub("後", "后")),
    TextFault("zh", "裡 as 里", sub("裡", "里")),
    TextFault("zh", "a Simplified character", sub("個|這|為", "这")),
    # ---- English ----
    TextFault("en", "a decimal changed", sub(r"(?<=[ (])(0?\.\d)\d\b(?![.\d])", r"\g<1>1")),
    TextFault("tr vi zh en", "a wrong year in a citation", sub(r"\b(?:19|20)\d\d(?=[^\]\[]*\]\(references)", "1999")),
    TextFault("en", "a link to no page", sub(r"\]\(([a-z-]+)\.ipynb", r"](\1s.ipynb")),
    TextFault("en", "a link to no cell", sub(r"\.ipynb#([a-z-]+)\)", r".ipynb#\1-x)")),
    TextFault("en", "letters exchanged", sub(r"\bthe\b", "teh")),
    TextFault("en", "a word twice", sub(r"\bthe\b", "the the")),
    TextFault("en", "curly quotation marks", sub(r'"([^"]+)"', "“\\1”")),
    TextFault("en", "a number of a step by hand changed", sub(r"= (\d)\.(\d)(\d\d)\b", r"= \1.\3\2"), "a step by hand is shown by no output"),
    TextFault("en", "a whole number in words changed", sub(r"\bthree\b", "four"), BY_READING),
]
# fmt: on


def of_code(wanted: Callable[[NotebookNode], bool], change: Callable[[NotebookNode], object]) -> Callable:
    """Change the first code cell that is wanted."""

    def planted(notebook: NotebookNode) -> bool:
        found = [cell for cell in cells(notebook, "code").values() if wanted(cell)]
        if found:
            change(found[0])
        return bool(found)

    return planted


def tagged(name: str) -> Callable[[NotebookNode], bool]:
    return lambda cell: name in cell.metadata.get("tags", [])


def ordinary(cell: NotebookNode) -> bool:
    return not cell.metadata.get("tags") and cell["id"] != "setup" and bool(cell.source.strip())


def pictures(notebook: NotebookNode, kind: str = "image/png") -> list[NotebookNode]:
    return [o for c in cells(notebook, "code").values() for o in c.outputs if kind in o.get("data", {})]


def other_picture(notebook: NotebookNode) -> bool:
    for output in pictures(notebook)[:1]:
        output.data["image/png"] = (
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        )
    return bool(pictures(notebook))


def exchanged_pictures(notebook: NotebookNode) -> bool:
    found = pictures(notebook)
    if len(found) > 1:
        found[0].data, found[1].data = found[1].data, found[0].data
    return len(found) > 1


def other_diagram(notebook: NotebookNode) -> bool:
    found = pictures(notebook, "image/svg+xml")
    for output in found[:1]:
        output.data["image/svg+xml"] = output.data["image/svg+xml"].replace("</text>", "!</text>", 1)
    return bool(found)


def without(prefix: str, kind: str | None = None) -> Callable[[NotebookNode], bool]:
    """Delete the first cell whose id begins so, and what belongs to it."""

    def change(notebook: NotebookNode) -> bool:
        found = [
            c["id"] for c in notebook.cells if c["id"].startswith(prefix) and kind in (None, c.cell_type)
        ]
        notebook.cells = [c for c in notebook.cells if not found or not c["id"].startswith(found[0])]
        return bool(found)

    return change


def swapped(notebook: NotebookNode) -> bool:
    """Exchange two long texts that have the same contents and form."""
    from tools.editions.markup import plain, skeleton

    texts = [c for c in cells(notebook).values() if len(plain(c.source)) > 60 and c["id"] != "title"]
    for one in texts:
        for other in texts:
            if one is not other and skeleton(one.source) == skeleton(other.source):
                one.source, other.source = other.source, one.source
                return True
    return False


def rename(key: str) -> Callable[[NotebookNode], object]:
    return lambda cell: cell.update(id=key)


def tag(*names: str) -> Callable[[NotebookNode], object]:
    return lambda cell: cell.metadata.update(tags=list(names))


# fmt: off
PAGE_FAULTS = [
    PageFault("tr vi zh", "two cells' texts exchanged", swapped, unseen=BY_CONTENTS),
    PageFault("en", "a picture replaced", other_picture, everywhere=True),
    PageFault("tr", "a picture replaced in one language", other_picture),
    PageFault("en", "two pictures exchanged", exchanged_pictures, everywhere=True),
    PageFault("en", "a diagram changed", other_diagram, everywhere=True),
    PageFault("en", "an exercise without a solution", without("solution-"), everywhere=True),
    PageFault("en", "a solution that did not run", of_code(tagged("hide-cell"), lambda c: c.update(execution_count=None)), everywhere=True),
    PageFault("en", "a solution in sight", of_code(tagged("hide-cell"), lambda c: c.update(metadata=NotebookNode())), everywhere=True),
    PageFault("en", "a tolerance of 1000", of_code(ordinary, tag("atol-1000")), everywhere=True),
    PageFault("en", "a tolerance of 0.9", of_code(ordinary, tag("atol-0.9")), everywhere=True),
    PageFault("en", "a tag that means nothing", of_code(ordinary, tag("remove-cell")), everywhere=True),
    PageFault("en", "a tag that skips the comparison", of_code(ordinary, tag("nbval-skip")), everywhere=True),
    PageFault("en", "an ordinary cell's code hidden", of_code(ordinary, lambda c: c.metadata.update(jupyter=NotebookNode(source_hidden=True))), everywhere=True),
    PageFault("en", "an ordinary cell's outputs hidden", of_code(ordinary, lambda c: c.metadata.update(jupyter=NotebookNode(outputs_hidden=True))), everywhere=True),
    PageFault("en", "an id by an editor", of_code(ordinary, rename("a1b2c3d4")), everywhere=True),
    PageFault("en", "an id changed", lambda nb: bool([c.update(id=f"{c['id']}-x") for c in nb.cells if c["id"] == "summary"])),
    PageFault("tr", "an id changed in one language", of_code(ordinary, rename("another-id"))),
    PageFault("en", "code changed and not run", of_code(ordinary, lambda c: c.update(source=f"{c.source}\n1"))),
    PageFault("tr", "code changed in one language", of_code(ordinary, lambda c: c.update(source=f"{c.source}\n1"))),
    PageFault("tr", "an output changed in one language", of_code(lambda c: bool(c.outputs), lambda c: c.update(outputs=[]))),
    PageFault("tr", "a cell lost in one language", without("question")),
    PageFault("tr", "cells in another order", lambda nb: bool([nb.cells.insert(1, nb.cells.pop(5))])),
    PageFault("en", "an output with an error in it", of_code(ordinary, lambda c: c.update(outputs=[new_output("error", ename="E", evalue="", traceback=[])])), everywhere=True),
    PageFault("en", "an output with a warning in it", of_code(ordinary, lambda c: c.outputs.append(new_output("stream", name="stderr", text="careful"))), everywhere=True),
    PageFault("en", "metadata of an editor", of_code(ordinary, lambda c: c.metadata.update(collapsed=True)), everywhere=True),
    PageFault("en", "a caption lost", without("opening-caption"), everywhere=True),
    PageFault("en", "the quiz with two right answers", lambda nb: bool([c.update(source=c.source.replace("✗", "✓")) for c in nb.cells if c["id"].startswith("quiz-")])),
    PageFault("en", "the question lost", without("question"), everywhere=True),
    PageFault("en", "another import", of_code(ordinary, lambda c: c.update(source=f"import os\n{c.source}"))),
    PageFault("en", "code not laid out", of_code(ordinary, lambda c: c.update(source=f"{c.source}  ;x=1")), unseen="`ruff format --check` notices"),
]

FILE_FAULTS = [
    FileFault("book/en/index.ipynb", "the home page without a chapter", r"\(transformer\.ipynb", "(notation.ipynb"),
    FileFault("_toc.yml", "a chapter out of the contents", r" +- file: book/en/transformer\n", "", "tests/site/test_site.py::test_every_page_is_in_every_edition"),
    FileFault("book/tr/words.yml", "{n} lost from a notice", r"(?m)^(stale: .*)\{n\}", r"\1"),
    FileFault("book/zh/words.yml", "a word of the interface lost", r"(?m)^search: .*\n", "", "tests/site/test_site.py -k has_every_word"),
    FileFault("book/tr/words.yml", "next and previous exchanged", r"(?m)^previous: (.*)\nnext: (.*)", r"previous: \2\nnext: \1", unseen=BY_READING),
    FileFault("book/tr/terms.csv", "a term emptied", r"(?m)^query,[^,]*,", "query,,", "tests/book/test_faq_and_glossary.py"),
    FileFault("book/vi/terms.csv", "a shifted column", r"(?m)^query,", "query,,"),
    FileFault("book/tr/translation.lock", "a line of the lock edited by hand", r"(?m)^(transformer \S+) \S+ (\S+)$", r"\1 000000000000 \2"),
    FileFault("book/tr/translation.lock", "a line of the lock lost", r"(?m)^transformer \S+ \S+ \S+\n\n", ""),
    FileFault("book/pictures.lock", "a line of the pictures edited by hand", r"(?m)^(\S+ \S+) \S+$", r"\1 000000000000"),
    FileFault("book/en/references.md", "a list that is made, edited by hand", r"19\d\d", "1901"),
    FileFault("book/references.bib", "a year changed in the bibliography", r"2017", "2018"),
    FileFault("book/references.bib", "a work that nobody cites", r"\A", "@article{nobody-1900,\n  author = {Nobody, A.},\n  title = {Nothing},\n  year = {1900},\n}\n\n"),
    FileFault("README.md", "a link to no file", r"\]\(CONTRIBUTING\.md\)", "](CONTRIBUTE.md)", "tests/project/test_readme.py"),
    FileFault("README.md", "the table of chapters edited", r"\(book/tr/transformer", "(book/tr/transformers"),
    FileFault("CONTRIBUTING.md", "a command that is not there", r"\bt stamp ", "t stampt ", "tests/project/test_readme.py"),
    FileFault("CITATION.cff", "another version", r"(?m)^version: .*", "version: 9.9.9", "tests/project/test_project.py"),
    FileFault("requirements.txt", "the pin of torch removed", r"(?m)^torch==\S+", "torch", "tests/project/test_project.py"),
    FileFault("tools/experiments/claims.tsv", "a bound loosened in the table only", r"(>= 0\.)8", r"\g<1>1", "tests/experiments/test_claims.py -k 'table_has'"),
    FileFault("tools/experiments/claims.tsv", "a measured value that misses its bound", r"(?m)(>= 0\.\d+\t)[\d.]+", r"\g<1>0.001", "tests/experiments/test_claims.py -k 'tabled_number'"),
    FileFault("mha_course/data/corpus.tsv", "a sentence of the corpus changed", r"\bhat\b", "cap", "tests/package/test_corpus.py -k 'byte_for_byte'"),
    FileFault("mha_course/data/README.md", "a count of the card changed", r"\b\d{3,}\b", "123456", "tests/package/test_corpus.py -k card"),
    FileFault("mha_course/masking.py", "a class shown on a page changed", r"softmax\(-1\)", "softmax(dim=-1)"),
    FileFault("tools/site/theme/static/course.css", "every formula invisible", r"\Z", "\n.katex { visibility: hidden; }\n", "tests/site/test_browser.py -k 'is_seen and en/multi'"),
    FileFault("tools/site/theme/static/course.css", "formulas in the colour of the paper", r"\Z", "\n.katex { color: var(--back); }\n", "tests/site/test_browser.py -k 'is_seen and en/multi'"),
    FileFault("tools/site/theme/static/course.css", "paragraphs that fade to nothing", r"\Z", "\narticle p { opacity: 0; }\n", "tests/site/test_browser.py -k 'is_seen and en/multi'"),
    FileFault("tools/site/theme/static/course.css", "code too small to read", r"\Z", "\narticle pre { font-size: 4px; }\n", "tests/site/test_browser.py -k 'is_seen and en/multi'"),
    FileFault("tools/site/theme/static/course.css", "figures of no size", r"\Z", "\narticle .enlarge > * { width: 2px; height: 2px; }\n", "tests/site/test_browser.py -k 'is_seen and en/multi'"),
    FileFault("mha_course/attention.py", "an import from above", r"\A", "import tools\n", "tests/project/test_layers.py"),
    FileFault("book/en/multi-head-attention.ipynb", "words in a comment of code", r"# \(batch", "# the words (batch", "tests/book/test_book.py -k 'words_stay_out and multi'"),
    FileFault("book/en/notation.ipynb", "a printed output changed", r"(?<=\\n\"\n)|(tensor|torch)\b(?=[^\"]*\\n\",?\n *\]\n)", "X", "", unseen="the notebooks' own run notices, which this command leaves to nbval"),
]
# fmt: on


class Copy:
    """A copy of the course whose changes can be taken back."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        self.root, self.clean = folder, folder.with_name("clean")
        shutil.copytree(folder, self.clean, symlinks=True)
        self.before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        measures = "tests/node_modules"  # of the browser tests
        (folder / measures).symlink_to(ROOT / measures)

    def restore(self) -> None:
        for path, content in self.before.items():
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)

    @property
    def course(self) -> Course:
        return Course(self.root)


class Result(NamedTuple):
    what: str
    planted: int
    noticed: list[str]
    unseen: str


def found(copy: Copy, known: Known, language: str | None, stem: str | None) -> str:
    """Return the first new finding: on the page, then on the same page of other languages."""
    course = copy.course
    others = [code for code in course.languages if code != language] if language == course.source else []
    for code in [language, *others]:
        for finding in check(course, code, stem):
            if finding.line() not in known[code, stem]:
                return finding.line()
    return ""


class Known(dict[tuple[str | None, str | None], set[str]]):
    """What check says of the copy without a fault."""

    def __init__(self, copy: Copy) -> None:
        self.copy = copy

    def __missing__(self, place: tuple[str | None, str | None]) -> set[str]:
        self[place] = {finding.line() for finding in check(Course(self.copy.clean), *place)}
        return self[place]


def try_text(copy: Copy, known: Known, fault: TextFault) -> Iterator[Result]:
    for language in fault.languages.split():
        change, noticed, planted = fault.change, [], 0
        if "another language" in fault.what:
            change = lambda text, more=OTHER[language]: f"{text} {more}"  # noqa: E731
        for stem in PAGES:
            if planted == PLACES:
                break
            course = copy.course
            fresh = page_state(language, stem, course).fresh
            texts = cells(course.read(language, stem))
            keys = [
                k for k in fresh if k not in ("title", "references") and (change(texts[k].source) or "") != ""
            ]
            if not keys:
                continue
            key, planted = random.Random(f"{fault.what} {stem}").choice(keys), planted + 1
            notebook = course.read(language, stem)
            cells(notebook)[key].source = change(texts[key].source)
            course.write(language, stem, notebook)
            if fault.stamped and language != course.source:
                stamp(course, language, stem, [key])
            if line := found(copy, known, language, stem):
                noticed.append(line)
            copy.restore()
        yield Result(f"{language}: {fault.what}", planted, noticed, fault.unseen)


def try_page(copy: Copy, known: Known, fault: PageFault) -> Iterator[Result]:
    for language in fault.languages.split():
        noticed, planted = [], 0
        for stem in PAGES:
            course = copy.course
            languages = list(course.languages) if fault.everywhere else [language]
            notebooks = {code: course.read(code, stem) for code in languages}
            if planted == PLACES or not all(map(fault.change, notebooks.values())):
                continue
            planted += 1
            for code, notebook in notebooks.items():
                course.write(code, stem, notebook)
            if "texts" in fault.what:
                stamp(course, language, stem)
            if line := found(copy, known, language, stem):
                noticed.append(line)
            copy.restore()
        yield Result(f"{language}: {fault.what}", planted, noticed, fault.unseen)


def try_file(copy: Copy, known: Known, fault: FileFault) -> Iterator[Result]:
    path = copy.root / fault.path
    text = path.read_text(encoding="utf-8")
    changed = re.sub(fault.pattern, fault.new, text, count=1)
    noticed: list[str] = []
    if changed != text:
        path.write_text(changed, encoding="utf-8")
        line = found(copy, known, None, None)
        noticed = [line or failed(copy, fault.tests)]
        copy.restore()
    yield Result(f"{fault.path}: {fault.what}", int(changed != text), [n for n in noticed if n], fault.unseen)


def failed(copy: Copy, tests: str) -> str:
    """Return the first of the tests that fails in the copy, if any."""
    if not tests:
        return ""
    path, *options = re.findall(r"'[^']*'|\S+", tests)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", path]
    command += [option.strip("'") for option in options]
    environment = os.environ | {"PYTHONPATH": str(copy.root), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=copy.root, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    match = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return f"tests: {match[1]}" if match else ""


def by(lines: list[str]) -> str:
    kinds = {"tests" if line.startswith("tests") else line.partition(":")[0] for line in lines}
    return "+".join(sorted(kinds)).replace("error", "check").replace("warning", "check (warning)")


def main(words: list[str]) -> int:
    started, through, rows = time.monotonic(), [], 0
    with tempfile.TemporaryDirectory() as name:
        copy = Copy(Path(name) / "course")
        known = Known(copy)
        for kind, faults in ((try_text, TEXT_FAULTS), (try_page, PAGE_FAULTS), (try_file, FILE_FAULTS)):
            for fault in faults:
                if words and not any(word in str(fault[:2]) for word in words):
                    continue
                for what, planted, noticed, unseen in kind(copy, known, fault):
                    rows += 1
                    verdict = f"{len(noticed)} of {planted}  {by(noticed)}"
                    if unseen:
                        verdict += f"  ({unseen})"
                    elif len(noticed) < planted or not planted:
                        through.append(what)
                        verdict += "  NOT NOTICED" if planted else "  NO PLACE FOR IT"
                    print(f"{what:62} {verdict}", flush=True)
    print(f"{rows} faults, {len(through)} not always noticed, {time.monotonic() - started:.0f} s")
    return 1 if through else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
