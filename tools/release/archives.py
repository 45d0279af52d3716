"""One archive an edition: notebooks, the package as a wheel beside them, how to start in its language."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tools.course import Course

EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's first day: the same files make the same archive


def contents(course: Course, language: str, wheel: Path) -> dict[str, bytes]:
    """Name and bytes of every file of an edition's archive."""
    words = course.words(language)
    start = f"# {words['site']}\n\n{words['start'].replace('{wheel}', wheel.name)}"
    folder = course.root / "book" / language
    notebooks = [folder / f"{stem}.ipynb" for stem in course.stems(language)]
    others = [folder / "references.md", *sorted(course.root.glob("LICENSE*")), wheel]
    return {"README.md": start.encode()} | {path.name: path.read_bytes() for path in notebooks + others}


def archive(course: Course, language: str, wheel: Path, out: Path) -> Path:
    """Write an edition's archive into ``out``; all its files lie in one folder."""
    html = course.languages[language].html
    folder = f"{course.package.replace('_', '-')}-{wheel.name.split('-')[1]}-{html}"
    path = out / f"{folder}.zip"
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents(course, language, wheel).items():
            file.writestr(zipfile.ZipInfo(f"{folder}/{name}", EPOCH), content, zipfile.ZIP_DEFLATED)
    return path
