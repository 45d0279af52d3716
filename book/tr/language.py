"""Turkish rules that no pattern can say; `tools/language.py` calls them."""

import re
from collections import Counter

LETTERS = re.compile("[ışğçöü]")
PLAIN = str.maketrans("ışğçöü", "isgcou")
SOFTENED = ("kğ", "pb", "çc", "td")


def fold(text):
    """Return the text in lower case, with i for ı."""
    return text.replace("İ", "i").lower().replace("ı", "i")


def forms(term):
    """Return a pattern of the term, each of its words with any suffixes."""
    between = r"\w*['’]?\w*\s(?:bir\s)?"  # "geçitli bir yinelemeli birim"
    return between.join(map(stem, term.split())) + r"\w*"


def stem(word):
    """Return a pattern of the word without its possessive ending.

    The last consonant may be softened (kitap, kitabı), the last vowel may
    fall (şekil, şekli).
    """
    bare = re.sub(r"(?<=\w{3})(?:s[iuü]|[iuü])$", "", word)
    end = bare[-1]
    last = next((f"[{two}]" for two in SOFTENED if end in two), re.escape(end))
    falling = "?" if re.search(r"[^aeioöuü][iuü]\w$", bare) else ""
    return rf"(?:\b|(?<=-)){re.escape(bare[:-1])}{falling}{last}"


def spelling(texts):
    """Yield words that occur once, and elsewhere with ı, ş, ğ, ç, ö or ü."""
    words = {
        name: re.findall(r"(?<![\w'])[^\W\d_]{4,}", lower(text))
        for name, text in texts.items()
    }
    times = Counter(word for found in words.values() for word in found)
    spelled = {}
    for word in times:
        spelled.setdefault(word.translate(PLAIN), []).append(word)
    for name, found in words.items():
        for word in found:
            own = len(LETTERS.findall(word))
            others = [
                other
                for other in spelled[word.translate(PLAIN)]
                if len(LETTERS.findall(other)) > own
            ]
            if times[word] == 1 and others:
                other = others[0]
                yield name, f"says {word!r}; elsewhere the book says {other!r}"


def lower(text):
    """Return the text in lower case, where I is ı."""
    return text.replace("İ", "i").replace("I", "ı").lower()
