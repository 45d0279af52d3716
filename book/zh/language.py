"""Chinese rules that no pattern can say; `tools/language.py` calls them."""


def faults(text):
    """Yield the Simplified characters of a text."""
    if found := sorted(set(filter(is_simplified, text))):
        yield f"has Simplified characters: {''.join(found)}"


def is_simplified(character):
    """Return whether only mainland China's basic set has the character."""
    only = has("gb2312", character) and not has("big5", character)
    return character > "\u2e7f" and only


def has(encoding, character):
    """Return whether an encoding has the character."""
    try:
        return bool(character.encode(encoding))
    except UnicodeEncodeError:
        return False
