"""Keep digests of the pictures that ``sync`` drew, so that ``check`` notices a replaced one.

``book/pictures.lock`` has one line for each code cell that shows a picture::

    attention-pooling opening 3f9ab2c10a1b

Page, cell id, digest of the pictures in its outputs and of the drawing of it that the site shows. Every
language shows the same.
"""

from collections.abc import Iterator

from nbformat import NotebookNode

from tools.course import Course, cells

from . import drawings, records

PATH, COLUMNS = "book/pictures.lock", "page cell digest"


def digests(course: Course, stem: str, notebook: NotebookNode) -> dict[str, str]:
    """Return the digest of the pictures and the drawing of each cell that shows a picture."""
    pictures = {
        key: [
            "".join(str(content).split())
            for output in cell.get("outputs", [])
            for kind, content in sorted(output.get("data", {}).items())
            if kind.startswith("image/")
        ]
        for key, cell in cells(notebook, "code").items()
    }
    return {
        key: records.digest("\n".join([*contents, course.text(drawings.path(stem, key))]))
        for key, contents in pictures.items()
        if contents
    }


def record(course: Course, stem: str, notebook: NotebookNode, drawn: bool) -> bool:
    """Record the page's pictures: all that were ``drawn`` just now, else those that have no line yet."""
    before = records.read(course, PATH, COLUMNS)
    rows = {names: row for names, row in before.items() if names[0] != stem and names[0] in course.stems()}
    for key, digest in digests(course, stem, notebook).items():
        rows[stem, key] = (digest,) if drawn else before.get((stem, key), (digest,))
    return records.write(course, PATH, dict(sorted(rows.items())))


def faults(course: Course, stem: str, notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield cells whose pictures are not those that sync drew."""
    rows = records.read(course, PATH, COLUMNS)
    for key, digest in digests(course, stem, notebook).items():
        if (stem, key) not in rows:
            yield key, f"its picture has no line in {PATH}: run sync"
        elif rows[stem, key] != (digest,):
            which = f"its picture or {drawings.path(stem, key)}"
            yield key, f"{which} is not the one that sync drew: run sync --execute {stem}"
