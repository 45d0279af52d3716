"""``book/figures/STEM/CELL.svg``: each figure as a drawing, for the site of every language.

``book/drawn.py`` draws it while ``sync`` executes a page. Here it becomes a part that can stand in a page
beside others: its ids are its own, and it names no font.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from nbformat import NotebookNode

from tools.course import Course, CourseError, cells, write_atomically

FOLDER = "book/figures"
SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
GROUP = f"{SVG}g"
BOXES = (GROUP, f"{SVG}defs", f"{SVG}style")  # which say nothing where nothing is in them
PIXELS = 100 / 72  # of a point: the size in which a notebook shows its pictures
NUMBER = re.compile(r"-?\d+\.\d+")
ElementTree.register_namespace("", SVG.strip("{}"))


def path(stem: str, key: str) -> str:
    """Return where the drawing of a cell lies."""
    return f"{FOLDER}/{stem}/{key}.svg"


def write(course: Course, stem: str, notebook: NotebookNode) -> None:
    """Move the drawings that an execution left in the page's outputs into files; old ones go."""
    written = set()
    for key, cell in cells(notebook, "code").items():
        for output in cell.outputs:
            if drawing := output.get("metadata", {}).get("image/png", {}).pop("drawing", ""):
                if key in written:
                    where = f"{course.source} {stem}#{key}"
                    raise CourseError(f"{where}: draws two figures, and has one caption: give each a cell")
                written.add(key)
                write_atomically(course.root / path(stem, key), part_of_page(drawing, f"{stem}-{key}"))
    for old in (course.root / FOLDER).glob("*/*.svg"):
        page = old.parent.name
        if page not in course.stems() or (page == stem and old.stem not in written):
            old.unlink()


def part_of_page(drawing: str, name: str) -> str:
    """Return what matplotlib drew, in a form for a page that has other drawings, too."""
    meant = set(re.findall(r'#([^")]+)', drawing))
    (root,) = tidied(ElementTree.fromstring(drawing), name, meant)
    *_, width, height = map(float, root.attrib["viewBox"].split())
    root.attrib["width"], root.attrib["height"] = f"{PIXELS * width:.0f}", f"{PIXELS * height:.0f}"
    root.attrib["stroke-linejoin"] = "round"
    return ElementTree.tostring(root, encoding="unicode").replace("><", ">\n<") + "\n"


def tidied(node: ElementTree.Element, name: str, meant: set[str]) -> Iterator[ElementTree.Element]:
    """Yield the element without what says nothing; of a group without attributes, its parts."""
    parts = [part for child in node for part in tidied(child, name, meant)]
    attributes = dict(tidied_attributes(node, name, meant))
    if node.tag == GROUP and not attributes:
        yield from parts
    elif (parts or node.tag not in BOXES) and not unseen(attributes):
        node[:], node.attrib, node.tail = parts, attributes, None
        node.text = (node.text or "").strip() or None
        yield node


def unseen(attributes: dict[str, str]) -> bool:
    """Return whether a path is neither filled nor drawn along, as a transparent background."""
    return attributes.get("fill") == "none" and "stroke" not in attributes


def tidied_attributes(node: ElementTree.Element, name: str, meant: set[str]) -> Iterator[tuple[str, str]]:
    """Yield its attributes, each declaration of a style as one; ids only where something refers to them."""
    for attribute, value in node.items():
        if attribute == "style":
            declarations = (part.split(":", 1) for part in value.split(";"))
            own = {of.strip(): short(what, name) for of, what in declarations}
            own.pop("font-family", None)
            yield from own.items()
        elif attribute == "id":
            if value in meant:
                yield "id", f"{name}-{value}"
            elif value == "tokens":
                yield "class", value
        elif attribute == HREF:
            yield "href", f"#{name}-{value[1:]}" if value[0] == "#" else "".join(value.split())
        elif attribute != "version" and not value.startswith("rotate(-0 "):
            yield attribute, short(value, name)


def short(value: str, name: str) -> str:
    """Return a value on one line, with numbers of five digits and references to ids as they are now."""
    value = " ".join(value.split()).replace("url(#", f"url(#{name}-")
    return NUMBER.sub(lambda number: f"{float(number[0]):.5g}", value)
