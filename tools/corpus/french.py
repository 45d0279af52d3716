"""French: agreement, the adjective's place, elision, "de" after a negation.

Articles and auxiliaries are aligned with what they translate and with the word that they agree with; a word
whose form the next one decides (le or l', ce or cet), also with what that one translates.
"""

from itertools import pairwise

from tools.corpus.english import determiner, plural
from tools.corpus.grammar import Entry, Meaning, Slots, Word, lexicon, subject_words, words

VOWELS = "aeiouyéèêàâîôûh"
ELIDED = {"je": "j'", "ne": "n'", "de": "d'", "que": "qu'", "le": "l'", "la": "l'"}
BEFORE_VOWEL = {"ce": "cet", "ma": "mon", "ta": "ton", "sa": "son"}
BE = {"je": "suis", "tu": "es", "il": "est", "nous": "sommes", "ils": "sont"}
HAVE = {"je": "ai", "tu": "as", "il": "a", "nous": "avons", "ils": "ont"}
PLACES = {"on": "sur", "under": "sous"}


def subject(meaning: Meaning) -> Entry:
    return lexicon("subjects")[meaning.subject]


def adjective(meaning: Meaning, noun: Entry, attributive: bool) -> list[Word]:
    entry = lexicon("adjectives")[meaning.adjective]
    form = "fr_" + noun["fr_gender"] + ("p" if plural(meaning) else "")
    before_vowel = attributive and entry["fr_place"] == "before" and noun["fr"][0] in VOWELS
    if form == "fr_m" and before_vowel:
        form = "fr_vowel"
    return words(entry[form], "adj")


def irregular(adjective: str, noun: str) -> bool:
    """Return True if the adjective takes its form before a vowel: bel oiseau, vieil ordinateur."""
    entry, name = lexicon("adjectives")[adjective], lexicon("nouns")[noun]
    return entry["fr_vowel"] != entry["fr_m"] and name["fr_gender"] == "m" and name["fr"][0] in VOWELS


def article(meaning: Meaning, noun: Entry, follower: Word, feature: str) -> list[Word]:
    """Return the determiner's form before ``follower``, the word that comes next."""
    if feature == "none" and meaning.determiner == "a":
        return words("de", "det", "not")
    entry = lexicon("determiners")[determiner(meaning)]
    form = entry["fr_" + noun["fr_gender"]]
    deciding = {"noun"} if entry["fr_m"] != entry["fr_f"] else set()  # no gender decides "deux"
    if form in BEFORE_VOWEL:
        deciding |= follower.labels
        form = BEFORE_VOWEL[form] if follower.text[0] in VOWELS else form
    return words(form, "det", *deciding)


def object_(meaning: Meaning, feature: str) -> list[Word]:
    noun = lexicon("nouns")[meaning.noun]
    name = words(noun["fr_plural"] if plural(meaning) else noun["fr"], "noun")
    described = adjective(meaning, noun, attributive=True)
    before = lexicon("adjectives")[meaning.adjective]["fr_place"] == "before"
    rest = described + name if before else name + described
    return article(meaning, noun, rest[0], feature) + rest


def bare(meaning: Meaning, feature: str) -> list[Word]:
    noun = lexicon("nouns")[meaning.noun]
    return article(meaning, noun, Word(noun["fr"], frozenset({"noun"})), feature)


def mood(meaning: Meaning, feature: str) -> list[Word]:
    who = subject(meaning)
    several = meaning.subject in ("we", "they")
    return words(lexicon("moods")[meaning.mood]["fr_mp" if several else "fr_" + who["fr_gender"]], "mood")


def elide(sentence: list[Word]) -> list[Word]:
    """Turn ``je ai`` into ``j' ai``, and so on."""
    result = []
    for word, follower in pairwise(sentence):
        text, labels = word.text, word.labels
        if text in ELIDED:
            text = ELIDED[text] if follower.text[0] in VOWELS else text
            labels |= follower.labels
        result.append(Word(text, labels))
    return [*result, sentence[-1]]


SLOTS: Slots = {
    "SUBJ": lambda m, f: subject_words(subject(m), "fr"),
    "VERB": lambda m, f: words(lexicon("verbs")[m.verb]["fr_" + subject(m)["person"]], "verb"),
    "AUX": lambda m, f: words(HAVE[subject(m)["person"]], "verb", "tense", "subj"),
    "IS": lambda m, f: words(BE[subject(m)["person"]], "be", "subj"),
    "OBJ": object_,
    "DET": bare,
    "NOUN": lambda m, f: words(lexicon("nouns")[m.second if f else m.noun]["fr"], f or "noun"),
    "ADJ": lambda m, f: adjective(m, lexicon("nouns")[m.noun], attributive=False),
    "MOOD": mood,
    "PLACE": lambda m, f: words(PLACES[m.place], "place"),
}
