"""Build, serve, print and measure the site."""

import argparse
import sys
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.course import Course, CourseError

from .build import OUT, build


def run_build(course: Course, options: argparse.Namespace) -> int:
    """Build every edition, or one; the exit status is 1 where something is wrong."""
    if options.page and options.page not in course.pages:
        print(f"There is no page {options.page!r}; the pages are {', '.join(course.pages)}.", file=sys.stderr)
        return 1
    for code in options.codes:
        course.words(code)  # a fault of the file is said here, not from within Sphinx
    started, out = time.monotonic(), options.out.resolve()
    if not build(options.codes, out, page=options.page):
        return 1
    start = Path(options.lang or "") / f"{options.page or 'index'}.html"
    print(f"Built in {time.monotonic() - started:.0f} s. Look at {out / start}")
    print("or serve it: make serve")
    return 0


def run_serve(course: Course, options: argparse.Namespace) -> int:
    """Serve the site on this machine until interrupted."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(options.out))
    with ThreadingHTTPServer(("127.0.0.1", options.port), handler) as server:
        print(f"http://localhost:{options.port}/ (stop with Ctrl+C)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def run_pdf(course: Course, options: argparse.Namespace) -> int:
    """Print one PDF an edition."""
    from .pdf import link, print_editions

    out = options.out.resolve()
    printed = print_editions(out, out.parent / "pdf", options.codes, course.pages)
    link(out, printed)
    print(*printed, sep="\n")
    return 0


def run_card(course: Course, options: argparse.Namespace) -> int:
    """Photograph the home page's short walk, for other sites."""
    from .card import write_card

    for code in options.codes:
        print(write_card(options.out.resolve() / code))
    return 0


def run_lighthouse(course: Course, options: argparse.Namespace) -> int:
    """Print the table of Lighthouse's scores."""
    from .lighthouse import measure

    return measure(options.out.resolve(), options.codes)


def main() -> int:
    """Run a command."""
    course = Course()
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, help_text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help_text, description=help_text)
        sub.set_defaults(run=run)
        sub.add_argument("--lang", choices=list(course.languages), help="this edition only")
        sub.add_argument("--out", type=Path, default=OUT, help="the folder of the site")
        return sub

    building = command("build", run_build, "Build every edition, or one.")
    building.add_argument("--page", metavar="STEM", help="write this page only, once the edition is built")
    command("serve", run_serve, "Serve what was built.").add_argument("--port", type=int, default=8000)
    command("pdf", run_pdf, "Print what was built, one PDF an edition (needs Chromium).")
    command("card", run_card, "Store the share card of each edition that was built (needs Chromium).")
    command("lighthouse", run_lighthouse, "Measure two pages of each edition (needs Node and Chromium).")
    options = parser.parse_args()
    options.codes = [options.lang] if options.lang else list(course.languages)
    return int(options.run(course, options))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CourseError as fault:
        sys.exit(f"error: {fault}")
