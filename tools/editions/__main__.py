"""Keep the languages of the course in step.

English (``book/en``) is the source of code, outputs, formulas and order; each language has its own prose.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.course import ROOT, Course, CourseError

from . import check, exchange, formatting, languages, lock, sync


def run_sync(course: Course, args: argparse.Namespace) -> int:
    changed = sync.sync(course, args.stems, args.drop, args.execute)
    print("\n".join(f"wrote {name}" for name in changed) or "everything is in step")
    return 0


def run_format(course: Course, args: argparse.Namespace) -> int:
    changed = formatting.format_pages(course, args.stems)
    print("\n".join(f"wrote {name}; sync it" for name in changed) or "everything is laid out")
    return 0


def run_check(course: Course, args: argparse.Namespace) -> int:
    findings = check.check(course, args.language, args.stem)
    for finding in findings:
        print(finding.line(args.release))
    errors = sum(finding.is_error(args.release) for finding in findings)
    print(f"{errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0


def run_stamp(course: Course, args: argparse.Namespace) -> int:
    if bool(args.cells) == args.all:
        raise CourseError("name the cells that were read, or say --all")
    with course.alone():
        stamped = lock.stamp(course, args.language, args.stem, args.cells or None)
    print(f"stamped {len(stamped)}: {' '.join(stamped)}" if stamped else "nothing to stamp")
    return 0


def run_diff(course: Course, args: argparse.Namespace) -> int:
    print(exchange.difference(course, args.language, args.stem, args.cell))
    return 0


def run_status(course: Course, args: argparse.Namespace) -> int:
    print(languages.status_table(course))
    return 0


def run_add(course: Course, args: argparse.Namespace) -> int:
    print("\n".join(languages.add(course, args.code, args.name, args.html, args.sphinx)))
    return 0


def run_export(course: Course, args: argparse.Namespace) -> int:
    path = args.file or exchange.default_path(course, args.language, args.stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(exchange.export(course, args.language, args.stem, args.todo), encoding="utf-8")
    print(f"write the translation in {path}, then: import {args.language} {args.stem}")
    return 0


def run_import(course: Course, args: argparse.Namespace) -> int:
    path = args.file or exchange.default_path(course, args.language, args.stem)
    with course.alone():
        changed = exchange.take_in(course, args.language, args.stem, path, args.stamp)
    print(f"{len(changed)} cells changed: {' '.join(changed)}" if changed else "no cell changed")
    return 0


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
    sub = command("format", run_format, "Lay out the code of English notebooks.")
    sub.add_argument("stems", nargs="*", metavar="STEM", help="only these chapters")
    sub = command("check", run_check, "Report drift; exit 1 on errors.")
    sub.add_argument("language", nargs="?", metavar="LANG")
    sub.add_argument("stem", nargs="?", metavar="STEM")
    sub.add_argument("--release", action="store_true", help="a stale cell is an error")
    sub = command(
        "stamp", run_stamp, "State that cells were read against today's English.", "LANGUAGE", "STEM"
    )
    sub.add_argument("cells", nargs="*", metavar="CELL")
    sub.add_argument("--all", action="store_true", help="every cell that is translated")
    command(
        "diff", run_diff, "What changed in English since a cell was translated.", "LANGUAGE", "STEM", "CELL"
    )
    sub = command("add", run_add, "Add a language.", "CODE", "NAME")
    sub.add_argument("--html", help="lang attribute, if not CODE")
    sub.add_argument("--sphinx", help="Sphinx's code, if not CODE")
    sub = command(
        "export", run_export, "Write a notebook as one Markdown file to translate.", "LANGUAGE", "STEM"
    )
    sub.add_argument("file", nargs="?", type=Path, metavar="FILE")
    sub.add_argument("--todo", action="store_true", help="only cells that are not fresh")
    sub = command("import", run_import, "Take the translation out of such a file.", "LANGUAGE", "STEM")
    sub.add_argument("file", nargs="?", type=Path, metavar="FILE")
    sub.add_argument(
        "--stamp", action="store_true", help="the changed cells were read against the English in the file"
    )
    return top


def main(arguments: list[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    course = Course(args.root)
    try:
        if getattr(args, "language", None) and args.language not in course.languages:
            raise CourseError(f"there is no language {args.language!r}: {', '.join(course.languages)}")
        return int(args.run(course, args))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
