"""Build the site: one edition for each language, a page that picks one, and what they share."""

import os
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import yaml

from tools.course import ROOT, Course

from .archives import archive
from .extension import THEME
from .extension.pages import SHEET, style_sheet
from .front import write_root, write_sitemap

OUT = ROOT / "_build" / "html"
SHARED = "_shared"
LEFTOVERS = ("_static", "_sources", "objects.inv", "search.html", "searchindex.js", "genindex.html")


def stage(course: Course, language: str, work: Path) -> Path:
    """Lay out an edition's sources, English where it has no page; unchanged files are not written anew."""
    source = work / "source"
    source.mkdir(parents=True, exist_ok=True)
    root, *chapters = course.pages
    toc = {"format": "jb-book", "root": root, "chapters": [{"file": stem} for stem in chapters]}
    write_changed(source / "_toc.yml", yaml.safe_dump(toc).encode())
    wanted = {"_toc.yml"}
    for stem in course.pages:
        folders = (course.root / "book" / code for code in (language, course.source))
        found = next((path for folder in folders for path in folder.glob(f"{stem}.[im]*")), None)
        if found is None:
            raise FileNotFoundError(f"_toc.yml lists {stem}, but book/{course.source} has no such page")
        wanted.add(found.name)
        write_changed(source / found.name, found.read_bytes())
    for stale in set(os.listdir(source)) - wanted:
        (source / stale).unlink()
    return source


def write_changed(target: Path, content: bytes) -> None:
    """Write a file unless it has this content already, so that Sphinx reads only what changed."""
    if not target.exists() or target.read_bytes() != content:
        target.write_bytes(content)


def build_edition(course: Course, out: Path, page: str | None, language: str) -> bool:
    """Build one edition, with warnings as errors, and return True if there were none.

    It needs a process of its own, since Sphinx's catalogues are global. Only pages that changed are read, but
    all are written, because each has titles of and links to others; with `page`, only that one is written.
    """
    from jupyter_book.sphinx import build_sphinx

    # Reading a page writes its pictures into `out`, so what was read is kept for each `out`.
    work = out.parent / "work" / out.name / language
    if not (out / language).exists():
        shutil.rmtree(work / "doctrees", ignore_errors=True)
    source = stage(course, language, work)
    writes_one = page is not None and (out / language / f"{page}.html").exists()
    status = build_sphinx(
        source,
        out / language,
        noconfig=True,
        path_config=course.root / "_config.yml",
        doctreedir=work / "doctrees",
        confoverrides={
            "language": course.languages[language].sphinx,
            "course_root": str(course.root),
            "course_language": language,
            "course_assets": f"../{SHARED}/",
            "external_toc_path": str(source / "_toc.yml"),
            "exclude_patterns": [],
            "latex_individualpages": False,
        },
        force_all=not writes_one,
        filenames=[str(path) for path in source.glob(f"{page}.*")] if writes_one else None,
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if status != 0:
        # The next build has to read the faulty pages again.
        shutil.rmtree(work / "doctrees", ignore_errors=True)
        return False
    for name in LEFTOVERS:
        path = out / language / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    add_downloads(course, language, source, out / language)
    return True


def add_downloads(course: Course, language: str, source: Path, edition: Path) -> None:
    """Put notebooks beside the pages, or an archive with the package if they could not find it online."""
    if not course.repository.get("url"):
        archive(course, language, edition)
        return
    notebooks = edition / "notebooks"
    notebooks.mkdir(exist_ok=True)
    for notebook in source.glob("*.ipynb"):
        write_changed(notebooks / notebook.name, notebook.read_bytes())


def build(codes: list[str], out: Path = OUT, course: Course | None = None, page: str | None = None) -> bool:
    """Build editions in parallel, then what they share; return True if no edition has faults."""
    course = course or Course()
    out.mkdir(parents=True, exist_ok=True)
    known = {*course.languages, SHARED}
    for stray in out.iterdir():  # such as what `jupyter-book build .` writes
        if stray.name not in known:
            shutil.rmtree(stray) if stray.is_dir() else stray.unlink()
    workers = min(len(codes), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
        results = list(pool.map(partial(build_edition, course, out, page), codes))
    shutil.copytree(THEME / "static", out / SHARED, dirs_exist_ok=True)
    (out / SHARED / SHEET).write_text(style_sheet(course), encoding="utf-8")
    built = [code for code in course.languages if (out / code / "index.html").exists()]
    if built:
        write_root(out, course, built)
    if address := course.settings["html"]["baseurl"]:
        write_sitemap(out, course, address, built)
    for code, is_clean in zip(codes, results, strict=True):
        if not is_clean:
            print(f"The edition {code!r} has faults; they are listed above.", file=sys.stderr)
    return all(results)
