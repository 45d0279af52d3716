"""Figures with their words in the reader's language.

Code, and so its figures, is the same in every language; `sync` keeps a drawing of each, whose words are text.
"""

import re
from html import escape, unescape

from tools.language import Language

PREFIX = "figure."  # of what these words are called in words.yml
NUMBER = re.compile(r"(?<!\w)(?:\d{1,3}(?:,\d{3})+|\d+\.\d+)")  # not in a name, such as C1.2
PHRASE = re.compile(r"[a-z]+(?: [a-z]+)*")
HAN = re.compile(r"[\u4e00-\u9fff]+")
LABEL = re.compile(r'(<g class="tokens">\s*)?<text ([^>]*)>([^<]*)</text>')
UPWARDS = re.compile(r'(?<=text-anchor="middle" )x="([\d.]+)" (.*)transform="rotate\(-90 [^"]*\)"')
SIZE = re.compile(r'font-size="([\d.]+)px"')
MIDDLE = 0.36  # of a letter's size: from the line that it stands on to its middle


def translated(label: str, words: dict[str, str], language: Language) -> str:
    """Return a label in the language; names stay."""
    signs = {".": language.decimal, ",": language.thousands_sign}
    label = NUMBER.sub(lambda found: re.sub("[.,]", lambda sign: signs[sign[0]], found[0]), label)
    whole = words.get(PREFIX + label)  # of a label with digits, too
    return whole or PHRASE.sub(lambda found: words.get(PREFIX + found[0], found[0]), label)


def lettered(drawing: str, words: dict[str, str], language: Language) -> str:
    """Return a drawing with labels and numbers as the language writes them.

    Tokens stay: the labels along a matrix that have no blank.
    """

    def written(found: re.Match[str]) -> str:
        tokens, attributes, text = found[1] or "", found[2], unescape(found[3])
        is_token = tokens and " " not in text
        label = translated(text, {} if is_token else words, language)
        if label != text and HAN.fullmatch(label):
            attributes = UPWARDS.sub(downwards, attributes)
        return f"{tokens}<text {attributes}>{escape(label, quote=False)}</text>"

    return LABEL.sub(written, drawing)


def downwards(place: re.Match[str]) -> str:
    """Return the attributes of a label along an upright axis, with its characters one below the other."""
    size = float(SIZE.search(place.string)[1])
    return f'x="{float(place[1]) - MIDDLE * size:.5g}" {place[2]}writing-mode="vertical-rl"'
