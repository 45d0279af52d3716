"""English: the source of every row."""

from tools.corpus.grammar import Meaning, Slots, Word, lexicon, subject_words, words

VOWELS = "aeiou"
THIRD = ("he", "she", "my mother", "my father", "the teacher")
OWN = {"i": "my", "you": "your", "he": "his", "she": "her", "we": "our", "they": "their"}
OWN |= {"my mother": "her", "my father": "his", "the teacher": "his"}


def determiner(meaning: Meaning) -> str:
    """Return the determiner, with "own" read as the subject's possessive."""
    return OWN[meaning.subject] if meaning.determiner == "own" else meaning.determiner


def plural(meaning: Meaning) -> bool:
    return meaning.determiner in ("two", "three")


def subject(meaning: Meaning) -> list[Word]:
    # A verb that agrees with "my mother" agrees with "mother".
    found = subject_words(lexicon("subjects")[meaning.subject], "en_words")
    return [*found[:-1], Word(found[-1].text, found[-1].labels | {"subj"})]


def object_(meaning: Meaning, feature: str) -> list[Word]:
    entry = lexicon("nouns")[meaning.noun]
    article = determiner(meaning)
    if article == "a" and meaning.adjective[0] in VOWELS:
        article = "an"
    noun = entry["en_plural"] if plural(meaning) else meaning.noun
    return words(article, "det") + words(meaning.adjective, "adj") + words(noun, "noun")


def verb(meaning: Meaning, feature: str) -> list[Word]:
    entry = lexicon("verbs")[meaning.verb]
    past = {"buy": "bought", "see": "saw", "find": "found"}
    if feature == "base":
        form = meaning.verb
    elif meaning.verb in past:
        form = past[meaning.verb]
    else:
        form = entry["en_third"] if meaning.subject in THIRD else meaning.verb
    return words(form, "verb")


def be(meaning: Meaning, feature: str) -> list[Word]:
    """Return subject and "be": one word in "he's", three in "my mother is"."""
    form = lexicon("subjects")[meaning.subject]["en_be"]
    return words(form, "subj", "be") if form else subject(meaning) + words("is", "be")


SLOTS: Slots = {
    "SUBJ": lambda m, f: subject(m),
    "VERB": verb,
    "DO": lambda m, f: words("does" if m.subject in THIRD else "do", "question"),
    "DONT": lambda m, f: words("doesn't" if m.subject in THIRD else "don't", "not"),
    "OBJ": object_,
    "DET": lambda m, f: words(m.determiner, "det"),
    "ADJ": lambda m, f: words(m.adjective, "adj"),
    "NOUN": lambda m, f: words(m.second, "second") if f == "second" else words(m.noun, "noun"),
    "IS": lambda m, f: words("are" if plural(m) else "is", "is"),
    "BE": be,
    "MOOD": lambda m, f: words(m.mood, "mood"),
    "PLACE": lambda m, f: words(m.place, "place"),
}
