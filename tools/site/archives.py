"""One archive an edition: notebooks, the package beside them, how to start in its language."""

import re
import zipfile
from pathlib import Path

from tools.course import Course

EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's first day: the same files make the same archive
VERSION = re.compile(r'^__version__ = "(.*)"', re.MULTILINE)


def archive_name(course: Course, language: str) -> str:
    """Return the name of an edition's archive, which is also that of the folder in it."""
    version = VERSION.search(course.text(f"{course.package}/__init__.py"))
    parts = [course.package.replace("_", "-"), version and version[1], course.languages[language].html]
    return "-".join(filter(None, parts))


def contents(course: Course, language: str) -> dict[str, bytes]:
    """Return name and bytes of every file of an edition's archive."""
    words = course.words(language)
    start = f"# {words['site']}\n\n{words['start'].replace('{folder}', language)}"
    notebooks = [course.path(language, stem) for stem in course.stems(language)]
    references = course.root / "book" / language / "references.md"
    # The folder of the notebooks is named after the language, so that the package's hints are in it.
    files = {f"{language}/{path.name}": path for path in (*notebooks, references)}
    files |= {path.name: path for path in course.root.glob("LICENSE*")}
    for path in (course.root / course.package).rglob("*") if course.package else ():
        name = path.relative_to(course.root)
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in name.parts):
            files[name.as_posix()] = path
    existing = {name: path.read_bytes() for name, path in sorted(files.items()) if path.exists()}
    return {"README.md": start.encode(), **existing}


def archive(course: Course, language: str, out: Path) -> Path:
    """Write an edition's archive into `out`; all its files lie in one folder."""
    folder = archive_name(course, language)
    path = out / f"{folder}.zip"
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents(course, language).items():
            file.writestr(zipfile.ZipInfo(f"{folder}/{name}", EPOCH), content, zipfile.ZIP_DEFLATED)
    return path
