"""The README's table of chapters and languages tells the truth."""

from __future__ import annotations

import re

from tools.translations import ROOT, Course, page_state

README = (ROOT / "README.md").read_text(encoding="utf-8")


def table() -> list[str]:
    """Return the table's lines as they ought to be: ✓ where every passage is in the language."""
    course = Course(ROOT)
    codes = list(course.languages)
    names = [course.languages[code].name for code in codes]
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(codes) + 1) + "|"]
    for stem in course.stems():
        heading = course.read(course.source, stem).cells[0].source.splitlines()[0]
        title = heading.removeprefix("# ").split(":")[0]
        marks = []
        for code in codes:
            whole = code == course.source or not page_state(code, stem, course).untranslated
            marks.append(f"[{'✓' if whole else course.source}](book/{code}/{stem}.ipynb)")
        lines.append(f"| {title} | " + " | ".join(marks) + " |")
    return lines


def test_the_table_lists_every_page_and_says_which_are_translated() -> None:
    between = README.split("<!-- chapters: begin -->\n")[1].split("<!-- chapters: end -->")[0]
    shown = between.strip().splitlines()
    assert shown[: len(table())] == table()


def test_every_file_that_the_readme_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 10
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert not missing
