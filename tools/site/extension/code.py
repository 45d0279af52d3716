"""Mark where narrow screens may break a line of highlighted code, and where not."""

import re
from html import unescape

MAX_BRACKET = 24  # characters: a bracket of up to so many, without brackets in it, is not broken
MAX_LINE = 45  # characters: a phone puts the comment of a longer line below its code
TAG = re.compile("<[^>]*>")
PUNCTUATION = re.compile(r'<span class="p">([^<]{2,})</span>')
OPENING, CLOSING = (rf'<span class="p">[{signs}]</span>' for signs in (r"(\[{", r")\]}"))
INNERMOST = re.compile(f"{OPENING}(?:(?!{OPENING}|{CLOSING}).)*{CLOSING}")
SHAPE = re.compile(r"\([^()]*\)")  # in a comment
LONG_CALL = re.compile(rf'<span class="p">\(</span>(?!{CLOSING})')
COLOURLESS = re.compile(r'<span class="(?:bp|n|nn|o|p|vm|w)">([^<]*)</span>')
# Elements that neither have a colour nor keep a line together; names and operators of two characters do.
NEEDLESS = re.compile(r'<span class="(?:(?:bp|nn|p|vm|w)">([^<]*)|[no]">([^<&]|&\w+;))</span>')
BEGINNING = re.compile(r'^ +(?:<span class="n?[a-z]">[^< ]+</span>|\w+)')  # indentation, and the first name


def by_line(match: re.Match[str]) -> str:
    """Return the lines of highlighted code, each in an element with its indentation."""
    lines = match[2].replace("<span></span>", "").split("\n")
    return match[1] + "".join(map(line_element, lines)) + match[3]


def line_element(line: str) -> str:
    """Return the element of a line, which may be broken after the opening bracket of a long call."""
    text = shown(line)
    indent = len(text) - len(text.lstrip())
    line = PUNCTUATION.sub(lambda token: "".join(f'<span class="p">{sign}</span>' for sign in token[1]), line)
    line = INNERMOST.sub(kept_if_short, line)
    line = NEEDLESS.sub(r"\1\2", LONG_CALL.sub(r"\g<0><wbr>", line))
    if len(text) > MAX_LINE:  # a break after the indentation would leave an empty line
        line = BEGINNING.sub(r'<span class="kept">\g<0></span>', line)
    code, mark, comment = line.partition('<span class="c1">')
    line = code + mark + SHAPE.sub(kept_if_short, comment)
    style = f' style="--in:{indent}ch"' if indent else ""
    if len(text) > MAX_LINE and mark and code.strip():
        return f'<span class="line noted"{style}>{line.removesuffix("</span>")}\n</span></span>'
    return f'<span class="line"{style}>{line}\n</span>'


def kept_if_short(bracket: re.Match[str]) -> str:
    """Return a short bracket as one element that is not broken; inner ones only have colours."""
    if len(shown(bracket[0])) > MAX_BRACKET:
        return bracket[0]
    return '<span class="kept">' + COLOURLESS.sub(r"\1", bracket[0]) + "</span>"


def shown(line: str) -> str:
    """Return a line of highlighted code as a reader sees it."""
    return unescape(TAG.sub("", line))
