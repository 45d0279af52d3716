"""Figures with their words in the reader's language.

Code, and so its figures, is the same in every language; `sync` keeps a drawing of each, whose words are text.
"""

import re
from html import escape, unescape

PREFIX = "figure."  # of what these words are called in words.yml
DECIMAL = re.compile(r"(?<!\w)\d+\.\d+")  # not in a name, such as C1.2
PHRASE = re.compile(r"[a-z]+(?: [a-z]+)*")
HAN = re.compile(r"[\u4e00-\u9fff]+")
LABEL = re.compile(r'(<g class="tokens">\s*)?<text ([^>]*)>([^<]*)</text>')
UPWARDS = re.compile(r'(?<=text-anchor="middle" )x="([\d.]+)" (.*)transform="rotate\(-90 [^"]*\)"')
SIZE = re.compile(r'font-size="([\d.]+)px"')
MIDDLE = 0.36  # of a letter's size: from the line that it stands on to its middle


def translated(label: str, words: dict[str, str], decimal: str) -> str:
    """Return a label in the language; names stay."""
    label = DECIMAL.sub(lambda found: found[0].replace(".", decimal), label)
    whole = words.get(PREFIX + label)  # of a label with digits, too
    return whole or PHRASE.sub(lambda found: words.get(PREFIX + found[0], found[0]), label)


def lettered(drawing: str, words: dict[str, str], decimal: str, lang: str) -> str:
    """Return a drawing with labels and decimals as the language writes them; tokens along a matrix stay."""

    def written(found: re.Match[str]) -> str:
        tokens, attributes, text = found[1] or "", found[2], unescape(found[3])
        label = translated(text, {} if tokens else words, decimal)
        if label != text and HAN.fullmatch(label):
            attributes = UPWARDS.sub(downwards, attributes)
        return f"{tokens}<text {attributes}>{escape(label, quote=False)}</text>"

    head = f'<svg class="drawing" lang="{lang}" font-family="sans-serif" '
    return LABEL.sub(written, drawing.replace("<svg ", head, 1))


def downwards(place: re.Match[str]) -> str:
    """Return the attributes of a label along an upright axis, with its characters one below the other."""
    size = float(SIZE.search(place.string)[1])
    return f'x="{float(place[1]) - MIDDLE * size:.5g}" {place[2]}writing-mode="vertical-rl"'
