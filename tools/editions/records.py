"""The format of the course's lock files: names and digests, a blank line between two lines.

The blank lines are there for git: it merges two branches that change neighbouring lines only where an
unchanged line stands between them.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache

from tools.course import Course, CourseError, write_atomically

NOTHING = "-"  # in place of a digest
Rows = dict[tuple[str, ...], tuple[str, ...]]  # names to digests


def digest(text: str) -> str:
    """Return twelve hexadecimal digits that change with the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read(course: Course, path: str, columns: str) -> Rows:
    """Return the digests of each line by its names; ``columns`` is such as "page cell digest"."""
    return dict(parsed(path, course.text(path), columns))


@cache
def parsed(path: str, text: str, columns: str) -> Rows:
    """Parse a file once; not to be changed."""
    kinds = columns.split()
    names = len(kinds) - kinds.count("digest")
    line_form = re.compile(
        " ".join("(?:-|[0-9a-f]{12})" if kind == "digest" else r"[\w-]+" for kind in kinds)
    )
    rows: Rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = tuple(line.split(" "))
        if not line:
            continue
        if not line_form.fullmatch(line) or words[:names] in rows:
            what = "stands twice" if words[:names] in rows else f"is not '{columns}'"
            raise CourseError(f"{path}: line {number} {what}: {line!r}; mend it or take it from git")
        rows[words[:names]] = words[names:]
    return rows


def write(course: Course, path: str, rows: Mapping[tuple[str, ...], tuple[str, ...]]) -> bool:
    """Write the lines by page, alphabetically, else in the order of the mapping; True if the file changed."""
    lines = [f"{' '.join((*names, *rows[names]))}\n" for names in sorted(rows, key=lambda names: names[0])]
    text = "\n".join(lines)
    return text != course.text(path) and write_atomically(course.root / path, text)
