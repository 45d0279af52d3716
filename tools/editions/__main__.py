"""Keep the languages of the course in step.

English (``book/en``) is the source of code, outputs, formulas and order; each language has its own prose.
"""

import argparse
import gc
import sys
from pathlib import Path

from tools.course import ROOT, Course, CourseError

from . import check, exchange, executed, history, languages, lock, merging, moving, sync


def run_sync(course: Course, args: argparse.Namespace) -> int:
    changed = sync.sync(course, args.stems, args.drop, args.execute)
    print("\n".join(f"wrote {name}" for name in changed) or "everything is in step")
    if old := executed.outdated(course, args.stems or course.stems()):
        print(
            f"these pages were executed with another state of {course.package}, so their outputs may be old;"
        )
        print(f"execute them again: sync --execute {' '.join(old)}")
    return 0


def run_check(course: Course, args: argparse.Namespace) -> int:
    findings = check.check(course, args.language, args.stem)
    for finding in findings:
        print(finding.line(args.release))
    errors = sum(finding.is_error(args.release) for finding in findings)
    print(f"{errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0


def run_stamp(course: Course, args: argparse.Namespace) -> int:
    first, *others = args.what
    if args.trivial:
        if args.all or not others:
            raise CourseError("say: stamp --trivial STEM CELL …")
        with course.locked():
            print("\n".join(history.stamp_trivial(course, first, others)))
        return 0
    if not others or bool(others[1:]) == args.all:
        raise CourseError("say: stamp LANG STEM CELL …, or stamp LANG STEM --all")
    check_language(course, first)
    stem, ids = others[0], others[1:]
    with course.locked():
        stale = [key for key in lock.page_state(first, stem, course).stale if args.all or key in ids]
        changes = [(key, history.difference(course, first, stem, key)) for key in stale]
        stamped = lock.stamp(course, first, stem, ids or None)
    for key, change in changes:
        if "[-" in change or "{+" in change:
            print(f"{course.source} {stem}#{key}: {history.changed_lines(change)}")
    print(f"stamped {len(stamped)}: {' '.join(stamped)}" if stamped else "nothing to stamp")
    return 0


def run_diff(course: Course, args: argparse.Namespace) -> int:
    print(history.difference(course, args.language, args.stem, args.cell))
    return 0


def run_move(course: Course, args: argparse.Namespace) -> int:
    with course.locked():
        changed = moving.move(course, args.stem, args.cells, args.to_stem, args.after)
    print("\n".join(f"wrote {name}" for name in changed) + "\nnow: sync")
    return 0


def run_status(course: Course, args: argparse.Namespace) -> int:
    print(languages.status_table(course))
    return 0


def run_resolve(course: Course, args: argparse.Namespace) -> int:
    resolved, left = merging.resolve(course)
    print("\n".join(f"resolved {name}" for name in resolved) or "no file was resolved")
    print("\n".join(f"choose by hand: {place}" for place in left) or "now: sync, git add, git commit")
    return 1 if left else 0


def run_add(course: Course, args: argparse.Namespace) -> int:
    print("\n".join(languages.add(course, args.code, args.name, args.html, args.sphinx)))
    return 0


def run_export(course: Course, args: argparse.Namespace) -> int:
    path = args.file or exchange.default_path(course, args.language, args.stem)
    exchange.write_export(course, args.language, args.stem, path, args.todo, args.force)
    what = "change the page" if args.language == course.source else "write the translation"
    print(f"{what} in {exchange.path_in(course, path)}, then: import {args.language} {args.stem}")
    return 0


def run_import(course: Course, args: argparse.Namespace) -> int:
    path = args.file or exchange.default_path(course, args.language, args.stem)
    with course.locked():
        changed = exchange.take_in(course, args.language, args.stem, path, args.stamp)
    for warning in exchange.warnings(course, args.language, args.stem, changed):
        print(warning)
    print(f"{len(changed)} cells changed: {' '.join(changed)}" if changed else "no cell changed")
    return 0


def check_language(course: Course, language: str) -> None:
    """Raise unless the course has the language."""
    if language not in course.languages:
        raise CourseError(f"there is no language {language!r}: {', '.join(course.languages)}")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m tools.editions", description=__doc__)
    top.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, help_text: str, *positional: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help_text, description=help_text)
        sub.set_defaults(run=run)
        for argument in positional:
            sub.add_argument(argument.lower(), metavar=argument)
        return sub

    command("status", run_status, "Table of fresh, stale and untranslated cells by chapter and language.")
    sub = command(
        "sync", run_sync, "Execute English notebooks whose code changed; carry code and outputs over."
    )
    sub.add_argument("stems", nargs="*", metavar="STEM", help="only these chapters")
    sub.add_argument("--execute", action="store_true", help="execute even what has not changed")
    sub.add_argument("--drop", nargs="+", default=[], metavar="STEM#CELL", help="translated cells to give up")
    sub = command("check", run_check, "Report drift; exit 1 on errors.")
    sub.add_argument("language", nargs="?", metavar="LANG")
    sub.add_argument("stem", nargs="?", metavar="STEM")
    sub.add_argument("--release", action="store_true", help="a stale cell is an error")
    sub = command("stamp", run_stamp, "State that cells were compared with today's English.")
    sub.usage = "%(prog)s LANGUAGE STEM CELL … | LANGUAGE STEM --all | --trivial STEM CELL …"
    sub.add_argument(
        "what", nargs="+", metavar="WORD", help="language, page and cells; with --trivial: page and cells"
    )
    sub.add_argument("--all", action="store_true", help="every cell that is translated")
    sub.add_argument(
        "--trivial",
        action="store_true",
        help="the last edit of these English cells changed no meaning: their translations stay fresh",
    )
    command(
        "diff", run_diff, "What changed in English since a cell was translated.", "LANGUAGE", "STEM", "CELL"
    )
    sub = command("move", run_move, "Move cells to another page, in every language.", "STEM")
    sub.add_argument("cells", nargs="+", metavar="CELL")
    sub.add_argument("to_stem", metavar="TO_STEM")
    sub.add_argument("--after", metavar="CELL", help="the cell of TO_STEM to stand behind; else its end")
    command("resolve", run_resolve, "After a git merge: settle the conflicts in what tools make.")
    sub = command("add", run_add, "Add a language.", "CODE", "NAME")
    sub.add_argument("--html", help="lang attribute, if not CODE")
    sub.add_argument("--sphinx", help="Sphinx's code, if not CODE")
    sub = command(
        "export", run_export, "Write a notebook as one Markdown file to translate.", "LANGUAGE", "STEM"
    )
    sub.add_argument("file", nargs="?", type=Path, metavar="FILE")
    sub.add_argument("--todo", action="store_true", help="only cells that are not fresh")
    sub.add_argument("--force", action="store_true", help="overwrite a file with work that was not imported")
    sub = command("import", run_import, "Take the translation out of such a file.", "LANGUAGE", "STEM")
    sub.add_argument("file", nargs="?", type=Path, metavar="FILE")
    sub.add_argument(
        "--stamp", action="store_true", help="the changed cells were read against the English in the file"
    )
    return top


def main(arguments: list[str] | None = None) -> int:
    top = parser()
    args, rest = top.parse_known_args(arguments)
    if len(rest) == 1 and not rest[0].startswith("-") and "file" in args and not args.file:
        args.file = Path(rest.pop())  # Python 3.11 does not take FILE behind an option
    if rest:
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    course = Course(args.root)
    try:
        if getattr(args, "language", None):
            check_language(course, args.language)
        return int(args.run(course, args))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    gc.disable()  # a command needs what it reads to its end: collecting garbage took a seventh of the check
    sys.exit(main())
