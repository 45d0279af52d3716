"""Vietnamese: classifiers, adjectives and determiners after the noun. Tokens are syllables."""

from tools.corpus.english import determiner
from tools.corpus.grammar import Meaning, Slots, Word, lexicon, subject_words, words

PLACES = {"on": "trên", "under": "dưới"}


def name(meaning: Meaning) -> list[Word]:
    """Return classifier and noun; the classifier alone makes it "the"."""
    noun = lexicon("nouns")[meaning.noun]
    labels = ("noun", "det") if meaning.determiner == "the" else ("noun",)
    return words(noun["vi_classifier"], *labels) + words(noun["vi"], "noun")


def after(meaning: Meaning) -> list[Word]:
    """Return the words that follow the noun: this, of mine, any."""
    if meaning.determiner == "own":
        return words("của mình", "det")
    return words(lexicon("determiners")[meaning.determiner]["vi_after"], "det")


def object_(meaning: Meaning, feature: str) -> list[Word]:
    adjective = words(lexicon("adjectives")[meaning.adjective]["vi"], "adj")
    # A denied "a" is "no … at all"; a denied "this" stays as it is.
    if feature == "none" and meaning.determiner == "a":
        return name(meaning) + adjective + words("nào", "det", "not")
    before = words(lexicon("determiners")[determiner(meaning)]["vi_before"], "det")
    return before + name(meaning) + adjective + after(meaning)


def predicate(meaning: Meaning, feature: str) -> list[Word]:
    adjective = words(lexicon("adjectives")[meaning.adjective]["vi"], "adj")
    # A colour is a noun phrase ("màu đỏ"), so it is denied with "không phải".
    if feature == "not" and adjective[0].text == "màu":
        return words("phải", "not", "is") + adjective
    return adjective


SLOTS: Slots = {
    "SUBJ": lambda m, f: subject_words(lexicon("subjects")[m.subject], "vi"),
    "VERB": lambda m, f: words(lexicon("verbs")[m.verb]["vi"], "verb"),
    "OBJ": object_,
    "THING": lambda m, f: name(m) + after(m),
    "ADJ": predicate,
    "NOUN": lambda m, f: words(lexicon("nouns")[m.second]["vi"], "second"),
    "PLACE": lambda m, f: words(PLACES[m.place], "place"),
    "MOOD": lambda m, f: words(lexicon("moods")[m.mood]["vi"], "mood"),
}
