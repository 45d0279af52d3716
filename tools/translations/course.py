"""The course's files: its languages, notebooks and settings. Reading validates, writing is atomic."""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
import yaml
from filelock import FileLock
from nbformat import NotebookNode
from nbformat.v4.rwbase import rejoin_lines
from nbformat.validator import iter_validate

ROOT = Path(__file__).resolve().parents[2]


class CourseError(Exception):
    """Something that stops a command, in words that name the file and say what to do."""


@dataclass(frozen=True)
class Language:
    """One row of ``book/languages.yml``, which explains the fields."""

    code: str
    name: str
    html: str
    sphinx: str
    words: dict[str, str] = field(default_factory=dict)
    avoid: dict[str, str] = field(default_factory=dict)


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

    def alone(self) -> FileLock:
        """For the time of a ``with``: no other command on this machine writes what languages share."""
        path = self.root / "_build" / "editions.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(path, is_singleton=True)

    @cached_property
    def languages(self) -> dict[str, Language]:
        rows = yaml.safe_load((self.root / "book/languages.yml").read_text(encoding="utf-8"))
        return {code: Language(code=code, **row) for code, row in rows.items()}

    @cached_property
    def source(self) -> str:
        return next(iter(self.languages))

    @property
    def translations(self) -> list[str]:
        return list(self.languages)[1:]

    def path(self, language: str, stem: str) -> Path:
        return self.root / "book" / language / f"{stem}.ipynb"

    def stems(self, language: str | None = None) -> list[str]:
        """The notebooks of a language (the source by default), in the order of the table of contents."""
        contents = self.root / "_toc.yml"
        order = (
            re.findall(r"book/\w+/([\w-]+)", contents.read_text(encoding="utf-8"))
            if contents.exists()
            else []
        )
        found = sorted(p.stem for p in (self.root / "book" / (language or self.source)).glob("[!.]*.ipynb"))
        return sorted(found, key=lambda stem: order.index(stem) if stem in order else len(order))

    def read(self, language: str, stem: str) -> NotebookNode:
        path = self.path(language, stem)
        try:
            notebook = nbformat.from_dict(json.loads(path.read_text(encoding="utf-8")))
            if fault := next(iter_validate(notebook), None):
                raise fault
            notebook = rejoin_lines(notebook)
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

    @cached_property
    def claims(self) -> list[dict[str, str]]:
        """What was measured of every claim: chapter, cell, claim, threshold, and a column for each seed."""
        path = self.root / "tools/experiments/claims.tsv"
        return list(csv.DictReader(path.open(encoding="utf-8"), delimiter="\t")) if path.exists() else []

    @property
    def setup_code(self) -> str:
        """The cell that installs the package where it is missing, from the repository's address if set."""
        config = self.root / "_config.yml"
        settings: dict[str, Any] = (
            yaml.safe_load(config.read_text(encoding="utf-8")) if config.exists() else {}
        )
        url = (settings.get("repository") or {}).get("url")
        what = f'"mha-course @ git+{url}"' if url else "../.."
        return f"try:\n    import mha_course\nexcept ModuleNotFoundError:\n    %pip install --quiet {what}"


def cells(notebook: NotebookNode, kind: str = "markdown") -> dict[str, NotebookNode]:
    """The notebook's cells of one kind, by id."""
    return {cell["id"]: cell for cell in notebook.cells if cell.cell_type == kind}
