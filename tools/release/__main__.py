"""Build what readers get: the package, an archive an edition, a copy for students, a release."""

import argparse
import sys
from pathlib import Path

from tools.course import Course, CourseError
from tools.site.archives import archive

from . import package, release, student


def run_package(course: Course, options: argparse.Namespace) -> int:
    """Build wheel and source archive, and try both from an empty folder."""
    for path in package.package(course, options.out / "dist"):
        print(path)
    return 0


def run_archives(course: Course, options: argparse.Namespace) -> int:
    """Write one archive an edition."""
    for language in course.languages:
        print(archive(course, language, options.out / "archives"))
    return 0


def run_student(course: Course, options: argparse.Namespace) -> int:
    """Build the site and one archive an edition without solutions."""
    for path in student.student(course, options.out / "student"):
        print(path)
    return 0


def run_release(course: Course, options: argparse.Namespace) -> int:
    """Check everything, name the version, build all that readers get, commit and tag."""
    for path in release.release(course, options.version, options.out):
        print(path)
    print(f"Look at them, then publish: git push --follow-tags (or take back: git tag -d v{options.version})")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run a command."""
    course = Course()
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--out", type=Path, default=course.root / "_build", help="where to write")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run in (run_package, run_archives, run_student, run_release):
        name = run.__name__.removeprefix("run_")
        command = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        command.set_defaults(run=run)
    command.add_argument("version", metavar="VERSION")
    options = parser.parse_args(arguments)
    options.out = options.out.resolve()
    try:
        return int(options.run(course, options))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
