"""Chinese rules that no pattern can say; `tools/language.py` calls them."""


def faults(text):
    """Yield the Simplified characters of a text."""
    if found := sorted(filter(is_simplified, set(text))):
        yield f"has Simplified characters: {''.join(found)}"


def is_simplified(character):
    """Return whether only mainland China's basic set has the character."""
    is_han = character > "\u2e7f"
    return is_han and has("gb2312", character) and not has("big5", character)


def has(encoding, character):
    """Return whether an encoding has the character."""
    try:
        return bool(character.encode(encoding))
    except UnicodeEncodeError:
        return False
