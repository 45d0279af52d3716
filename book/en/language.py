"""English rules that no pattern can say; `tools/language.py` calls them."""

import re
from collections import Counter

OFTEN = 3  # times in the book


def forms(term):
    """Return a pattern of the term in singular and plural."""
    is_y = term.endswith("y")
    stem = re.escape(term[:-1] if is_y else term)
    endings = "y|ies" if is_y else "|s|es"
    # A pattern that begins with letters is found fast, so they come first.
    return rf"{stem}(?<![\w-]{stem})(?:{endings})(?![\w-])"


def spelling(texts):
    """Yield words that occur once and, with two letters exchanged, often."""
    words = {
        name: re.findall(r"[a-z]{3,}", text.lower())
        for name, text in texts.items()
    }
    times = Counter(word for found in words.values() for word in found)
    for name, found in words.items():
        for word in found:
            if times[word] == 1:
                for other in exchanged(word):
                    if times[other] >= OFTEN:
                        yield name, f"says {word!r}; is {other!r} meant?"


def exchanged(word):
    """Yield what the word becomes when two neighbours change places."""
    for i in range(len(word) - 1):
        other = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        if other != word:
            yield other
