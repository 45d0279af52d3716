"""Builds the site: one edition for each language, a page that picks one, and what they share."""

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
    """Lay out an edition's sources: its own pages, English where it has none. What did not change stays."""
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
    """Write a file unless it says the same already, so that Sphinx reads only what changed."""
    if not target.exists() or target.read_bytes() != content:
        target.write_bytes(content)


def build_edition(course: Course, out: Path, page: str | None, language: str) -> bool:
    """Build one edition; warnings are errors. It needs its own process: Sphinx's catalogues are global.

    Chapters' titles, notices and links stand in all pages, so all are written, although only those that
    changed are read. Where `page` names one, no other is written.
    """
    from jupyter_book.sphinx import build_sphinx

    # Pages that were read have their pictures beside them already: so what was read is kept for each place.
    work = out.parent / "work" / out.name / language
    if not (out / language).exists():
        shutil.rmtree(work / "doctrees", ignore_errors=True)
    source = stage(course, language, work)
    alone = page is not None and (out / language / f"{page}.html").exists()
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
        force_all=not alone,
        filenames=[str(path) for path in source.glob(f"{page}.*")] if alone else None,
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if status != 0:
        # else the next build would not read the faulty pages again
        shutil.rmtree(work / "doctrees", ignore_errors=True)
        return False
    for name in LEFTOVERS:
        path = out / language / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if course.repository.get("url"):  # where a notebook finds its package
        notebooks = out / language / "notebooks"
        notebooks.mkdir(exist_ok=True)
        for notebook in source.glob("*.ipynb"):
            write_changed(notebooks / notebook.name, notebook.read_bytes())
    else:
        archive(course, language, out / language)
    return True


def build(codes: list[str], out: Path = OUT, course: Course | None = None, page: str | None = None) -> bool:
    """Build editions side by side, then what they share. True if all is well."""
    course = course or Course()
    out.mkdir(parents=True, exist_ok=True)
    known = {*course.languages, SHARED}
    for stray in out.iterdir():  # what `jupyter-book build .` left would mix in
        if stray.name not in known:
            shutil.rmtree(stray) if stray.is_dir() else stray.unlink()
    workers = min(len(codes), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
        results = pool.map(partial(build_edition, course, out, page), codes)
        done = dict(zip(codes, results, strict=True))
    shutil.copytree(THEME / "static", out / SHARED, dirs_exist_ok=True)
    (out / SHARED / SHEET).write_text(style_sheet(course), encoding="utf-8")
    there = [code for code in course.languages if (out / code / "index.html").exists()]
    if there:
        write_root(out, course, there)
    if address := course.settings["html"]["baseurl"]:
        write_sitemap(out, course, address, there)
    for code in (code for code, is_built in done.items() if not is_built):
        print(f"The edition {code!r} has faults; they are listed above.", file=sys.stderr)
    return all(done.values())
