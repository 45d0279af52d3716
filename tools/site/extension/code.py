"""Highlighted code for narrow screens: where a line that is too long may go on in the next."""

import re
from html import unescape

BRACKET = 24  # signs of a bracket without others in it that stays in one line
LINE = 45  # signs; a comment that ends behind them stands below its code on a phone
TAG = re.compile("<[^>]*>")
PUNCTUATION = re.compile(r'<span class="p">([^<]{2,})</span>')
OPENING, CLOSING = (rf'<span class="p">[{signs}]</span>' for signs in (r"(\[{", r")\]}"))
INNERMOST = re.compile(f"{OPENING}(?:(?!{OPENING}|{CLOSING}).)*{CLOSING}")
SHAPE = re.compile(r"\([^()]*\)")  # in a comment
LONG_CALL = re.compile(rf'<span class="p">\(</span>(?!{CLOSING})')
COLOURLESS = re.compile(r'<span class="(?:bp|n|nn|o|p|vm|w)">([^<]*)</span>')
# Names, and signs of two characters, stay elements: no line is broken in them.
NEEDLESS = re.compile(r'<span class="(?:(?:bp|nn|p|vm|w)">([^<]*)|[no]">([^<&]|&\w+;))</span>')


def by_line(match: re.Match[str]) -> str:
    """Return the lines of highlighted code, each in an element of its own that knows its indentation."""
    lines = match[2].replace("<span></span>", "").split("\n")
    return match[1] + "".join(map(line_element, lines)) + match[3]


def line_element(line: str) -> str:
    """Return a line that may go on after the opening bracket of a long call."""
    text = shown(line)
    indent = len(text) - len(text.lstrip())
    line = PUNCTUATION.sub(lambda token: "".join(f'<span class="p">{sign}</span>' for sign in token[1]), line)
    line = INNERMOST.sub(kept_if_short, line)
    line = NEEDLESS.sub(r"\1\2", LONG_CALL.sub(r"\g<0><wbr>", line))
    code, mark, comment = line.partition('<span class="c1">')
    line = code + mark + SHAPE.sub(kept_if_short, comment)
    style = f' style="--in:{indent}ch"' if indent else ""
    if len(text) > LINE and mark and code.strip():
        return f'<span class="line noted"{style}>{line.removesuffix("</span>")}\n</span></span>'
    return f'<span class="line"{style}>{line}\n</span>'


def kept_if_short(bracket: re.Match[str]) -> str:
    """Return a short bracket as one element, with others in it for colours alone."""
    if len(shown(bracket[0])) > BRACKET:
        return bracket[0]
    return '<span class="kept">' + COLOURLESS.sub(r"\1", bracket[0]) + "</span>"


def shown(line: str) -> str:
    """Return a line of highlighted code as a reader sees it."""
    return unescape(TAG.sub("", line))
