"""Build the site: one edition for each language, a page that picks one, and what they share.

python -m tools.site build [--lang tr] [--page STEM] [--out FOLDER]
python -m tools.site serve [--port 8000]
python -m tools.site pdf [--lang tr]
python -m tools.site pages      (writes book/<lang>/references.md and its like)
"""

import argparse
import os
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from course_site.languages import languages, source_language  # noqa: E402
from course_site.references import pages, write_pages  # noqa: E402
from course_site.root import write_root, write_sitemap  # noqa: E402

OUT = ROOT / "_build" / "html"
SHARED = "_shared"
LEFTOVERS = ("_static", "_sources", "objects.inv", "search.html", "searchindex.js", "genindex.html")


def stems() -> list[str]:
    """The pages of every edition, in the order of `_toc.yml`."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"], *(chapter["file"] for chapter in toc.get("chapters", []))]
    return [Path(file).name for file in files]


def stage(book: Path, language: str, work: Path) -> Path:
    """Lay out an edition's sources: its own pages, English where it has none. What did not change stays."""
    source = work / "source"
    source.mkdir(parents=True, exist_ok=True)
    generated = pages(language, book)
    root, *chapters = stems()
    toc = {"format": "jb-book", "root": root, "chapters": [{"file": stem} for stem in chapters]}
    generated["_toc.yml"] = yaml.safe_dump(toc)
    for name, text in generated.items():
        write_changed(source / name, text.encode())
    wanted = set(generated)
    for stem in stems():
        if f"{stem}.md" in generated:
            continue
        candidates = [book / code / f"{stem}.ipynb" for code in (language, source_language())]
        page = next((path for path in candidates if path.exists()), None)
        if page is None:
            raise FileNotFoundError(f"_toc.yml lists {stem}, but book/{source_language()} has no such page")
        wanted.add(page.name)
        write_changed(source / page.name, page.read_bytes())
    for stale in set(os.listdir(source)) - wanted:
        (source / stale).unlink()
    return source


def write_changed(target: Path, content: bytes) -> None:
    """Write a file unless it says the same already, so that Sphinx reads only what changed."""
    if not target.exists() or target.read_bytes() != content:
        target.write_bytes(content)


def build_edition(
    book: Path, out: Path, settings: dict[str, object], page: str | None, language: str
) -> bool:
    """Build one edition; warnings are errors. It needs its own process: Sphinx's catalogues are global.

    Chapters' titles, notices and links stand in all pages, so all are written, although only those that
    changed are read. Where `page` names one, no other is written.
    """
    from jupyter_book.sphinx import build_sphinx

    work = out.parent / "work" / language
    source = stage(book, language, work)
    alone = page is not None and (out / language / f"{page}.html").exists()
    status = build_sphinx(
        source,
        out / language,
        noconfig=True,
        path_config=ROOT / "_config.yml",
        doctreedir=work / "doctrees",
        confoverrides={
            "language": languages()[language]["sphinx"],
            "course_language": language,
            "course_assets": f"../{SHARED}/",
            "external_toc_path": str(source / "_toc.yml"),
            "exclude_patterns": [],
            "latex_individualpages": False,
            **settings,
        },
        force_all=not alone,
        filenames=[str(path) for path in source.glob(f"{page}.*")] if alone else None,
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if status != 0:
        shutil.rmtree(
            work / "doctrees", ignore_errors=True
        )  # else the next build would not read the faulty pages again
        return False
    for name in LEFTOVERS:
        path = out / language / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    notebooks = out / language / "notebooks"
    notebooks.mkdir(exist_ok=True)
    for notebook in source.glob("*.ipynb"):
        write_changed(notebooks / notebook.name, notebook.read_bytes())
    return True


def build(
    codes: list[str], out: Path = OUT, book: Path = ROOT / "book", page: str | None = None, **settings: object
) -> bool:
    """Build editions side by side, then what they share. True if all is well."""
    out.mkdir(parents=True, exist_ok=True)
    known = {*languages(), SHARED}
    for stray in out.iterdir():  # what `jupyter-book build .` left would mix in
        if stray.name not in known:
            shutil.rmtree(stray) if stray.is_dir() else stray.unlink()
    workers = min(len(codes), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
        done = dict(
            zip(codes, pool.map(partial(build_edition, book, out, settings, page), codes), strict=True)
        )
    shutil.copytree(ROOT / "book" / "_static", out / SHARED, dirs_exist_ok=True)
    there = [code for code in languages() if (out / code / "index.html").exists()]
    write_root(out, there)
    configuration = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    if address := settings.get("html_baseurl") or configuration["html"]["baseurl"]:
        write_sitemap(out, str(address), there, stems())
    for code in (code for code, well in done.items() if not well):
        print(f"The edition {code!r} has faults; they are listed above.", file=sys.stderr)
    return all(done.values())


def serve(out: Path, port: int) -> None:
    """Serve the site on this machine until interrupted."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(out))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://localhost:{port}/ (stop with Ctrl+C)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.site", description="Build, serve and print the site."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="build every edition, or one")
    building.add_argument("--lang", choices=list(languages()))
    building.add_argument("--page", metavar="STEM", help="show this page's address when done")
    serving = commands.add_parser("serve", help="serve what was built")
    serving.add_argument("--port", type=int, default=8000)
    commands.add_parser(
        "pages", help="write the pages that are not notebooks: references, package, translations"
    )
    printing = commands.add_parser("pdf", help="print what was built, one PDF an edition (needs Chromium)")
    printing.add_argument("--lang", choices=list(languages()))
    for command in (building, serving, printing):
        command.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


def main() -> int:
    """Run a command; the exit status is 1 where something is wrong."""
    options = arguments()
    if options.command == "serve":
        serve(options.out, options.port)
        return 0
    if options.command == "pdf":
        from tools.pdf import print_editions

        codes = [options.lang] if options.lang else list(languages())
        for path in print_editions(
            options.out.resolve(), options.out.resolve().parent / "pdf", codes, stems()
        ):
            print(path)
        return 0
    if options.command == "pages":
        for path in write_pages():
            print(path.relative_to(ROOT))
        return 0
    if options.page and options.page not in stems():
        print(f"There is no page {options.page!r}; the pages are {', '.join(stems())}.", file=sys.stderr)
        return 1
    started = time.monotonic()
    codes = [options.lang] if options.lang else list(languages())
    if not build(codes, options.out.resolve(), page=options.page):
        return 1
    start = Path(options.lang or "") / f"{options.page or 'index'}.html"
    print(f"Built in {time.monotonic() - started:.0f} s. Look at {options.out.resolve() / start}")
    print("or serve it: make serve")
    return 0


if __name__ == "__main__":
    sys.exit(main())
