"""Highlighted code for narrow screens: where a line that is too long may go on in the next."""

import re
from collections.abc import Iterator
from html import unescape

KEPT = 38  # signs that stand in one line of a phone's code, which breaks nothing shorter in brackets
SIGN = re.compile(r'(<span class="(?P<kind>\w*)">)?(?P<text>[^<]+)(?(1)</span>)')
NAMED = re.compile(r"n\w*|kc|s\w*|m\w*")  # names, strings, numbers: a bracket may follow at once
LINE = 45  # signs; a comment that ends behind them stands below its code on a phone


def by_line(match: re.Match[str]) -> str:
    """The lines of highlighted code, each in an element of its own that knows its indentation."""
    written, open_brackets = match[1], 0
    for line in match[2].replace("<span></span>", "").split("\n"):
        signs = []
        for found in SIGN.finditer(line):
            kind, text = found["kind"] or "", found["text"]
            signs += [(kind, sign) for sign in (text if kind == "p" else [text])]
        written += line_element(signs, open_brackets > 0)
        marks = [text for kind, text in signs if kind == "p"]
        open_brackets += sum(mark in "([{" for mark in marks) - sum(mark in ")]}" for mark in marks)
    return written + match[3]


def line_element(signs: list[tuple[str, str]], in_bracket: bool) -> str:
    """A line of code, in which calls, lists and arguments stay whole where a phone's line has room for them.

    Behind the opening bracket of a wider one, a narrow screen may go on in the next line.
    """
    widths = [len(unescape(text)) for _, text in signs]
    indent = widths[0] if signs and signs[0][1].isspace() else 0
    room = max(KEPT - indent, 4)
    shapes = re.compile(rf"\([^()]{{,{room - 4}}}\)")  # in a comment; its # and brackets take four signs
    kept: dict[int, int] = {}  # from the first sign of what stays whole to the last
    for start, end in sorted(enclosed(signs, in_bracket), key=lambda pair: pair[0] - pair[1]):
        apart = all(end < first or last < start for first, last in kept.items())
        breaks = any(" " in text or text == "(" for _, text in signs[start : end + 1])
        if apart and breaks and sum(widths[start : end + 1]) <= room:
            kept[start] = end
    wide = unbroken(signs, room)
    written, last = "", -1
    for index, (kind, text) in enumerate(signs):
        chained = text == "." and (
            signs[index - 1][1] in ")]" or index in wide
        )  # calls, items or parts in a chain
        if chained and index > last:
            written += "<wbr>"
        if index in wide and len(text) >= room:
            text = text.replace("_", "_<wbr>")
        if index in kept:
            written, last = written + '<span class="kept">', kept[index]
        if kind == "c1":
            text = shapes.sub(r'<span class="kept">\g<0></span>', text)
        written += f'<span class="{kind}">{text}</span>' if kind else text
        if index == last:
            written += "</span>"
        elif index > last and text == "(" and signs[index + 1 : index + 2] != [("p", ")")]:
            written += "<wbr>"
    style = f' style="--in:{indent}ch"' if indent else ""
    is_noted = len(signs) > 2 and signs[-1][0] == "c1" and sum(widths) > LINE
    if is_noted:
        return f'<span class="line noted"{style}>{written.removesuffix("</span>")}\n</span></span>'
    return f'<span class="line"{style}>{written}\n</span>'


def unbroken(signs: list[tuple[str, str]], room: int) -> set[int]:
    """The names and operators of what has no space in it and is wider than a phone's line."""
    found: set[int] = set()
    run: list[int] = []
    for index, (_, text) in enumerate([*signs, ("", " ")]):
        if " " not in text:
            run.append(index)
        else:
            if sum(len(unescape(signs[part][1])) for part in run) > room:
                found.update(part for part in run if signs[part][0][:1] in ("n", "o"))
            run = []
    return found


def enclosed(signs: list[tuple[str, str]], in_bracket: bool) -> Iterator[tuple[int, int]]:
    """The first and the last sign of each call or other bracket in a line, and of each of their parts."""
    first = 1 if signs and signs[0][1].isspace() else 0
    # Of each open bracket: where its call begins, and where its present part begins.
    around = [[first, first]] if in_bracket else []
    quoted = field = -1  # where an f-string begins, and what it fills in
    begin = first  # of the name, call or bracket that the next sign may go on with
    for index, (kind, text) in enumerate(signs):
        if kind == "p" and text in "([{":
            around.append([begin, index + 1])
            begin = index + 1
        elif kind == "p" and text in ")]}" and around:
            begin, part = around.pop()
            yield from [(begin, index), (part, index - 1)]
        elif kind == "p" and text == "," and around:
            yield around[-1][1], index - 1
            around[-1][1] = begin = index + 2
        elif kind == "sa":
            quoted = index
        elif (kind, text) == ("si", "{"):
            field = index
        elif (kind, text) == ("si", "}"):
            yield field, index
            field = -1
        elif kind.startswith("s"):
            if -1 < quoted < index - 1 and field < 0 and text.endswith(("'", '"')):
                yield quoted, index
            elif text.startswith(("'", '"')):
                yield index, index
        elif not (NAMED.fullmatch(kind) or text == "."):
            begin = index + 1
    if in_bracket and len(around) == 1:
        yield around[0][1], len(signs) - 1
