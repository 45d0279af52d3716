"""Resolve conflicts of a git merge in what tools make, and report the others."""

import re
import subprocess

from tools.cells import is_generated
from tools.course import Course, CourseError, write_atomically

HUNK = re.compile(
    r"^<<<<<<< [^\n]*\n(.*?)(?:^\|{7} [^\n]*\n.*?)?^=======\n(.*?)^>>>>>>> [^\n]*\n", re.MULTILINE | re.DOTALL
)
# Lines that sync generates in files whose other lines people write, by the end of the file's name.
GENERATED_LINES = {
    ".lock": re.compile(".*"),
    ".ipynb": re.compile(r'\s*"execut(ed|ion_count)": .*'),
    "README.md": re.compile(r"\| .* \|"),
    "references.md": re.compile("- <a id=.*|"),
}


def resolve(course: Course) -> tuple[list[str], list[str]]:
    """Take our side of each conflict in generated content, and return the files resolved and the places left.

    ``sync`` writes that content anew. A line of a lock that was taken from the wrong side is an error of
    ``check`` until its cell is stamped.
    """
    command = ["git", "-C", str(course.root), "diff", "--name-only", "--relative", "--diff-filter=U"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode:
        raise CourseError(f"git: {listed.stderr.strip()}")
    resolved, left = [], []
    for name in listed.stdout.splitlines():
        text = course.text(name)
        text = HUNK.sub(lambda hunk, name=name: resolution(course, name, hunk), text)
        write_atomically(course.root / name, text)
        conflicts = list(HUNK.finditer(text))
        left += [f"{name}{place(text, hunk.start())}" for hunk in conflicts]
        if not conflicts:
            resolved.append(name)
    return resolved, left


def resolution(course: Course, name: str, hunk: re.Match[str]) -> str:
    """Return our side of a conflict if tools generate both sides, else the conflict as it is."""
    lines = f"{hunk[1]}{hunk[2]}".splitlines()
    if name.endswith(".ipynb") and not any(re.match(r'\s*"(cell_type|id)":', line) for line in lines):
        before = hunk.string[: hunk.start()]
        key = re.findall(r'"id": "([\w-]+)"', before)[-1:]
        kind = re.findall(r'"cell_type": "(\w+)"', before)[-1:]
        is_translation = not name.startswith(f"book/{course.source}/")
        if (key and is_generated(key[0])) or (is_translation and kind == ["code"]):
            return hunk[1]
    nothing = re.compile("(?!)")
    generated = next((lines for end, lines in GENERATED_LINES.items() if name.endswith(end)), nothing)
    return hunk[1] if all(map(generated.fullmatch, lines)) else hunk[0]


def place(text: str, position: int) -> str:
    """Return the cell of a notebook, or the line of another file, in which a conflict stands."""
    keys = re.findall(r'^   "id": "([\w-]+)"', text[:position], re.MULTILINE)
    return f"#{keys[-1]}" if keys else f", line {text.count(chr(10), 0, position) + 1}"
