"""Make copies for students: the course without its solutions and checks."""

import re
import shutil
from pathlib import Path

from tools.cells import for_students
from tools.course import Course, CourseError
from tools.site.archives import archive
from tools.site.build import build

LINK = re.compile(
    r"(?P<open>\s*[(（])?\[(?P<words>[^\]]*)\]\((?:(?P<stem>[\w-]+)\.ipynb)?#(?P<cell>[\w-]+)\)(?P<close>[)）])?"
)
COPIED = ("_config.yml", "_toc.yml", "LICENSE", "LICENSE-PROSE")


def without_solutions(course: Course, folder: Path) -> Course:
    """Return a copy of the course whose notebooks lack solutions and checks, and links to them."""
    shutil.rmtree(folder, ignore_errors=True)
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("book", course.package):
        shutil.copytree(course.root / name, folder / name, ignore=hidden)
    for name in COPIED:
        shutil.copy(course.root / name, folder)
    copy = Course(folder)
    removed = {address for stem in course.stems() for address in removed_cells(course, stem)}
    for language in copy.languages:
        for stem in copy.stems(language):
            notebook = copy.read(language, stem)
            notebook.cells = for_students(notebook.cells)
            for cell in notebook.cells:
                if cell.cell_type == "markdown":
                    cell.source = without_links(cell.source, stem, removed)
            copy.write(language, stem, notebook)
        asked = course.text(f"book/{language}/asked.tsv").splitlines(keepends=True)
        kept = "".join(line for line in asked if line.partition("\t")[0] not in removed)
        (folder / "book" / language / "asked.tsv").write_text(kept, encoding="utf-8")
    return copy


def removed_cells(course: Course, stem: str) -> set[str]:
    """Return the addresses of the cells of a page that students do not get."""
    cells = course.read(course.source, stem).cells
    return {f"{stem}#{cell['id']}" for cell in cells} - {
        f"{stem}#{cell['id']}" for cell in for_students(cells)
    }


def without_links(text: str, stem: str, removed: set[str]) -> str:
    """Return a passage without links to removed cells; their words stay, unless they are in brackets."""

    def unlinked(match: re.Match[str]) -> str:
        if f"{match['stem'] or stem}#{match['cell']}" not in removed:
            return match[0]
        before, after = match["open"] or "", match["close"] or ""
        return "" if before and after else f"{before}{match['words']}{after}"

    return LINK.sub(unlinked, text)


def student(course: Course, out: Path) -> list[Path]:
    """Make the site and one archive an edition, without solutions and checks."""
    copy = without_solutions(course, out / "source")
    if not build(list(copy.languages), out / "html", copy):
        raise CourseError("the site without solutions has faults; they are listed above")
    archives = [archive(copy, language, out / "archives") for language in copy.languages]
    return [out / "html" / "index.html", *archives]
