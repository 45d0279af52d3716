"""Resolve conflicts of a git merge in what tools make, and report the others."""

import re
import subprocess

from tools.cells import is_made
from tools.course import Course, CourseError, write_atomically

HUNK = re.compile(
    r"^<<<<<<< [^\n]*\n(.*?)(?:^\|{7} [^\n]*\n.*?)?^=======\n(.*?)^>>>>>>> [^\n]*\n", re.MULTILINE | re.DOTALL
)
# What sync makes of a file whose other lines people write, by the end of its name.
MADE_LINES = {
    ".lock": re.compile(".*"),
    ".ipynb": re.compile(r'\s*"execut(ed|ion_count)": .*'),
    "README.md": re.compile(r"\| .* \|"),
    "references.md": re.compile("- <a id=.*|"),
}


def resolve(course: Course) -> tuple[list[str], list[str]]:
    """Take our side of each conflict that ``sync`` makes good; return the files settled and the places left.

    A line of a lock that was taken from the wrong side is an error of ``check`` until its cell is stamped.
    """
    command = ["git", "-C", str(course.root), "diff", "--name-only", "--relative", "--diff-filter=U"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode:
        raise CourseError(f"git: {listed.stderr.strip()}")
    mended, left = [], []
    for name in listed.stdout.splitlines():
        text = course.text(name)
        now = HUNK.sub(lambda hunk, name=name: without_marks(course, name, hunk), text)
        write_atomically(course.root / name, now)
        left += [f"{name}{place(now, hunk.start())}" for hunk in HUNK.finditer(now)]
        if not HUNK.search(now):
            mended.append(name)
    return mended, left


def without_marks(course: Course, name: str, hunk: re.Match[str]) -> str:
    """Return our side, where both sides are made by tools; else the conflict as it stands."""
    lines = f"{hunk[1]}{hunk[2]}".splitlines()
    if name.endswith(".ipynb") and not any(re.match(r'\s*"(cell_type|id)":', line) for line in lines):
        before = hunk.string[: hunk.start()]
        key = re.findall(r'"id": "([\w-]+)"', before)[-1:]
        kind = re.findall(r'"cell_type": "(\w+)"', before)[-1:]
        foreign = not name.startswith(f"book/{course.source}/")
        if (key and is_made(key[0])) or (foreign and kind == ["code"]):
            return hunk[1]
    made = next((form for end, form in MADE_LINES.items() if name.endswith(end)), re.compile("(?!)"))
    return hunk[1] if all(map(made.fullmatch, lines)) else hunk[0]


def place(text: str, position: int) -> str:
    """Return the cell of a notebook, or the line of another file, in which a conflict stands."""
    keys = re.findall(r'^   "id": "([\w-]+)"', text[:position], re.MULTILINE)
    return f"#{keys[-1]}" if keys else f", line {text.count(chr(10), 0, position) + 1}"
