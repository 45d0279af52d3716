"""The course's files. What else reads settings, languages, words, terms or notebooks asks here.

Reading a notebook validates it, writing is atomic.
"""

import csv
import json
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import nbformat
import yaml
from filelock import FileLock
from nbformat import NotebookNode
from nbformat.v4.rwbase import rejoin_lines
from nbformat.validator import iter_validate

from tools.language import REQUIRED, SETTINGS, Language, functions_of

CLAIMS = "tools/experiments/claims.tsv"
RUNNING = "book/running.tsv"
ROOT = Path(__file__).resolve().parents[1]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where there is one


class CourseError(Exception):
    """A fault that stops a command; its message names the file and says what to do."""


@cache
def parsed_yaml(path: str, text: str) -> dict[str, Any]:
    """Return the content of a settings file, parsed once; not to be changed."""
    try:
        return yaml.load(text, LOADER) or {}
    except yaml.YAMLError as error:
        raise CourseError(f"{path}: {error}") from None


@cache
def parsed_table(path: str, text: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a CSV file, each as long as the first, parsed once; not to be changed."""
    reader = csv.DictReader(text.splitlines())
    rows = []
    for row in reader:
        if None in row or None in row.values():
            wanted = ",".join(reader.fieldnames or ())
            raise CourseError(f"{path}: line {reader.line_num}: write {wanted}, with as many commas")
        rows.append(row)
    return tuple(rows)


@cache
def merged_terms(source: str, tables: tuple[tuple[str, str, str], ...]) -> tuple[dict[str, str], ...]:
    """Return the source's terms with every language's words. ``tables``: language, path, text of each."""
    merged = {}
    for code, path, text in tables:
        for row in parsed_table(path, text):
            if code == source:
                merged[row["term"]] = {code: row["term"]}
            elif row["term"] not in merged:
                raise CourseError(f"{path}: {row['term']!r} is no term of book/{source}/terms.csv")
            else:
                merged[row["term"]] |= {code: row["word"], f"{code}_accepted": row["accepted"]}
    return tuple(merged.values())


def write_atomically(path: Path, text: str) -> bool:
    """Replace the file in one step, so that an interruption leaves the old or the new; True if it changed."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return True


@dataclass(frozen=True)
class Course:
    """The course under ``root``; its first language is the source of all others."""

    root: Path = ROOT

    def locked(self) -> FileLock:
        """Return a lock for files that languages share, against other commands on this machine."""
        path = self.root / "_build" / "editions.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(path, is_singleton=True)

    def text(self, path: str) -> str:
        """Return the text of a file of the course; empty where there is none."""
        file = self.root / path
        return file.read_text(encoding="utf-8-sig") if file.exists() else ""  # Excel writes a byte order mark

    # --- settings ---------------------------------------------------------------------------------

    def parsed(self, path: str) -> dict[str, Any]:
        """Return a settings file's content; empty where the course has no such file."""
        return parsed_yaml(path, self.text(path))

    @cached_property
    def languages(self) -> dict[str, Language]:
        """Return the languages by code, the source first, the others in alphabetical order."""
        found = []
        for path in sorted((self.root / "book").glob("*/language.yml")):
            found.append(self.language(path.parent.name))
        if sum(language.source for language in found) != 1:
            raise CourseError("book: exactly one book/CODE/language.yml has to say `source: true`")
        return {language.code: language for language in sorted(found, key=lambda one: not one.source)}

    def language(self, code: str) -> Language:
        """Read the settings and rules of a language."""
        path, rules = f"book/{code}/language.yml", f"book/{code}/language.py"
        try:
            functions_of(rules, self.text(rules))
        except Exception as error:
            raise CourseError(f"{rules}: {error}") from None
        settings = self.parsed(path)
        if unknown := settings.keys() - SETTINGS:
            raise CourseError(f"{path}: there is no setting {min(unknown)!r}; tools/language.py lists them")
        if missing := REQUIRED - settings.keys():
            raise CourseError(f"{path}: the setting {min(missing)!r} is missing")
        return Language(code=code, **settings, rules=self.text(rules))

    @cached_property
    def source(self) -> str:
        return next(iter(self.languages))

    @property
    def translations(self) -> list[str]:
        return list(self.languages)[1:]

    def words(self, language: str) -> dict[str, str]:
        """Return the words of the interface; English where the language has none yet."""
        both = (self.parsed(f"book/{code}/words.yml") for code in (self.source, language))
        return {key: word for words in both for key, word in words.items()}

    @property
    def terms(self) -> tuple[dict[str, str], ...]:
        """Return a row a term, from ``book/CODE/terms.csv``: the word by CODE, others by CODE_accepted."""
        paths = ((code, f"book/{code}/terms.csv") for code in self.languages)
        return merged_terms(self.source, tuple((code, path, self.text(path)) for code, path in paths))

    @property
    def settings(self) -> dict[str, Any]:
        """Return the content of ``_config.yml``."""
        return self.parsed("_config.yml")

    @property
    def repository(self) -> dict[str, str]:
        """Return ``url`` and ``branch`` of where the project is published; the url is empty until it is."""
        return self.settings.get("repository") or {}

    @property
    def package(self) -> str:
        """Return the name of the package that the notebooks import, empty where they need none."""
        return self.settings.get("package") or ""

    @property
    def pages(self) -> list[str]:
        """Return every page in the order of the table of contents, the first one first."""
        contents = self.parsed("_toc.yml")
        files = [contents.get("root", ""), *(part["file"] for part in contents.get("chapters", []))]
        return [Path(file).name for file in files if file]

    @property
    def parts(self) -> dict[str, list[str]]:
        """Return the pages after the first one, by the part that `_config.yml` begins before them."""
        begins = {stem: name for name, stem in (self.settings.get("parts") or {}).items()}
        name, parts = "", {}
        for stem in self.pages[1:]:
            name = begins.get(stem, name)
            parts.setdefault(name, []).append(stem)
        return parts

    @property
    def chapter_numbers(self) -> dict[str, int]:
        """Return the number of each chapter; pages of the part `reference`, and of none, have no number."""
        chapters = (
            stem for part, stems in self.parts.items() if part not in ("", "reference") for stem in stems
        )
        return {stem: number for number, stem in enumerate(chapters, 1)}

    @property
    def claims(self) -> list[dict[str, str]]:
        """Return the measured claims: chapter, cell, claim, threshold, and a column for each seed."""
        return list(csv.DictReader(self.text(CLAIMS).splitlines(), delimiter="\t"))

    @property
    def running_times(self) -> list[dict[str, str]]:
        """Return running times in seconds of chapters (rows without a cell) and of their slowest cells."""
        return list(csv.DictReader(self.text(RUNNING).splitlines(), delimiter="\t"))

    def asked(self, language: str) -> dict[str, list[str]]:
        """Return for each passage, `stem#cell`, the other phrases that readers search it with."""
        path = f"book/{language}/asked.tsv"
        if not (self.root / path).exists():
            return {}
        rows = [line.split("\t") for line in self.text(path).splitlines()]
        return {address: phrases for address, *phrases in rows}

    @property
    def setup_code(self) -> str:
        """Return the cell that makes the package importable: from the folder beside or above the notebook.

        Without that folder and an installed package, it installs the package from the repository's address,
        or says what to do where there is no address.
        """
        if not self.package:
            return ""
        name, url = self.package, self.repository.get("url")
        install = f'%pip install --quiet "{name.replace("_", "-")} @ git+{url}"'
        explain = f"""raise ModuleNotFoundError(
        "This notebook needs the folder {name}: download the archive "
        "from the course's page, unzip it, and open the notebook in it."
    ) from None"""
        return f"""import sys
from pathlib import Path

here = Path.cwd()
found = [p for p in (here, *here.parents) if (p / "{name}").is_dir()]
sys.path[:0] = map(str, found)
try:
    import {name}
except ModuleNotFoundError:
    {install if url else explain}"""

    # --- notebooks --------------------------------------------------------------------------------

    def path(self, language: str, stem: str) -> Path:
        return self.root / "book" / language / f"{stem}.ipynb"

    def stems(self, language: str | None = None) -> list[str]:
        """Return a language's notebooks (by default the source's) in the order of the table of contents."""
        order = self.pages
        found = sorted(p.stem for p in (self.root / "book" / (language or self.source)).glob("[!.]*.ipynb"))
        return sorted(found, key=lambda stem: order.index(stem) if stem in order else len(order))

    def read(self, language: str, stem: str) -> NotebookNode:
        path = self.path(language, stem)
        try:
            notebook = parsed_notebook(path.read_text(encoding="utf-8"))
            if fault := next(iter_validate(notebook), None):
                raise fault
            if twice := [
                key for key, number in Counter(c["id"] for c in notebook.cells).items() if number > 1
            ]:
                raise ValueError(f"two cells have the id {twice[0]!r}")
        except FileNotFoundError:
            raise CourseError(f"{language} {stem}: there is no {path.relative_to(self.root)}") from None
        except (ValueError, LookupError, AttributeError, nbformat.ValidationError) as error:
            reason = str(error).splitlines()[0]
            raise CourseError(
                f"{language} {stem}: not a valid notebook ({reason}); mend it or take it from git"
            ) from None
        return notebook

    def write(self, language: str, stem: str, notebook: NotebookNode) -> bool:
        return write_atomically(self.path(language, stem), nbformat.writes(notebook, version=4) + "\n")


def parsed_notebook(text: str) -> NotebookNode:
    """Return a notebook as it stands, with each cell's lines joined; not validated."""
    return rejoin_lines(nbformat.from_dict(json.loads(text)))


def cells(notebook: NotebookNode, kind: str = "markdown") -> dict[str, NotebookNode]:
    """Return the notebook's cells of one kind, by id."""
    return {cell["id"]: cell for cell in notebook.cells if cell.cell_type == kind}
