"""Build what readers get: the package, an archive an edition, a copy for students, a release."""

import argparse
import sys
from pathlib import Path

from tools.course import Course, CourseError

from . import archives, package


def run_package(course: Course, options: argparse.Namespace) -> int:
    """Build wheel and source archive, and try both from an empty folder."""
    for path in package.package(course, options.out / "dist"):
        print(path)
    return 0


def run_archives(course: Course, options: argparse.Namespace) -> int:
    """Write one archive an edition."""
    wheel, _ = package.build(course, options.out / "dist")
    for language in course.languages:
        print(archives.archive(course, language, wheel, options.out / "archives"))
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run in (run_package, run_archives):
        name = run.__name__.removeprefix("run_")
        command = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        command.set_defaults(run=run)
    parser.add_argument("--out", type=Path, default=Course().root / "_build", help="where to write")
    options = parser.parse_args(arguments)
    try:
        return int(options.run(Course(), options))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
