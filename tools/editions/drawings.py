"""``book/figures/STEM/CELL.svg``: each figure as a drawing, for the site of every language.

``book/drawn.py`` draws it while ``sync`` executes a page. Here its ids get a prefix and its font names go, so
that it fits into a page with other drawings.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from nbformat import NotebookNode

from tools.course import Course, CourseError, cells, write_atomically

FOLDER = "book/figures"
SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
GROUP = f"{SVG}g"
CONTAINERS = (GROUP, f"{SVG}defs", f"{SVG}style")  # without children they can be left out
PIXELS_A_POINT = 100 / 72  # the size in which a notebook shows its pictures
NUMBER = re.compile(r"-?\d+\.\d+")
ElementTree.register_namespace("", SVG.strip("{}"))


def path(stem: str, key: str) -> str:
    """Return the path of a cell's drawing."""
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
                write_atomically(course.root / path(stem, key), embeddable(drawing, f"{stem}-{key}"))
    for old in (course.root / FOLDER).glob("*/*.svg"):
        page = old.parent.name
        if page not in course.stems() or (page == stem and old.stem not in written):
            old.unlink()


def embeddable(drawing: str, prefix: str) -> str:
    """Return an SVG of matplotlib for a page with other drawings; its ids begin with the prefix."""
    referenced = set(re.findall(r'#([^")]+)', drawing))
    (root,) = cleaned(ElementTree.fromstring(drawing), prefix, referenced)
    *_, width, height = map(float, root.attrib["viewBox"].split())
    root.attrib["width"], root.attrib["height"] = (
        f"{PIXELS_A_POINT * width:.0f}",
        f"{PIXELS_A_POINT * height:.0f}",
    )
    root.attrib["stroke-linejoin"] = "round"
    return ElementTree.tostring(root, encoding="unicode").replace("><", ">\n<") + "\n"


def cleaned(node: ElementTree.Element, prefix: str, referenced: set[str]) -> Iterator[ElementTree.Element]:
    """Yield the element without empty containers and invisible paths, or a bare group's children."""
    children = [kept for child in node for kept in cleaned(child, prefix, referenced)]
    attributes = dict(cleaned_attributes(node, prefix, referenced))
    if node.tag == GROUP and not attributes:
        yield from children
    elif (children or node.tag not in CONTAINERS) and not is_invisible(attributes):
        node[:], node.attrib, node.tail = children, attributes, None
        node.text = (node.text or "").strip() or None
        yield node


def is_invisible(attributes: dict[str, str]) -> bool:
    """Return True for a path with neither fill nor stroke, such as a transparent background."""
    return attributes.get("fill") == "none" and "stroke" not in attributes


def cleaned_attributes(
    node: ElementTree.Element, prefix: str, referenced: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield the attributes, each declaration of a style as one, and an id only if something refers to it."""
    for attribute, value in node.items():
        if attribute == "style":
            pairs = (declaration.split(":", 1) for declaration in value.split(";"))
            declarations = {name.strip(): rewritten(text, prefix) for name, text in pairs}
            declarations.pop("font-family", None)
            yield from declarations.items()
        elif attribute == "id":
            if value in referenced:
                yield "id", f"{prefix}-{value}"
            elif value == "tokens":
                yield "class", value
        elif attribute == HREF:
            yield "href", f"#{prefix}-{value[1:]}" if value[0] == "#" else "".join(value.split())
        elif attribute != "version" and not value.startswith("rotate(-0 "):
            yield attribute, rewritten(value, prefix)


def rewritten(value: str, prefix: str) -> str:
    """Return a value on one line, with numbers of five digits and the prefix in references to ids."""
    value = " ".join(value.split()).replace("url(#", f"url(#{prefix}-")
    return NUMBER.sub(lambda number: f"{float(number[0]):.5g}", value)
