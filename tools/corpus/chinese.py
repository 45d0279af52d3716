"""Chinese in Traditional characters, as in Taiwan: measure words, 的, 了. Tokens are words."""

from tools.corpus.english import determiner
from tools.corpus.grammar import Meaning, Slots, Word, lexicon, subject_words, words

PLACES = {"on": "上面", "under": "下面"}


def object_(meaning: Meaning, feature: str) -> list[Word]:
    noun = lexicon("nouns")[meaning.noun]
    adjective = lexicon("adjectives")[meaning.adjective]["zh"].split()
    # 的 binds the adjective to the noun.
    described = words(adjective[0], "adj") + words("".join(adjective[1:]), "adj", "noun")
    described += words(noun["zh"], "noun")
    article = words(lexicon("determiners")[determiner(meaning)]["zh"], "det")
    if not article or (feature == "none" and meaning.determiner == "a"):
        return described
    return article + words(noun["zh_measure"], "noun") + described


def thing(meaning: Meaning, feature: str) -> list[Word]:
    """Return a noun without adjective: 這 頂 帽子, 我 的 帽子."""
    noun = lexicon("nouns")[meaning.noun]
    article = words(lexicon("determiners")[meaning.determiner]["zh"], "det")
    link = words(noun["zh_measure"], "noun") if meaning.determiner == "this" else words("的", "det")
    return article[:1] + link + words(noun["zh"], "noun")


def predicate(meaning: Meaning, feature: str) -> list[Word]:
    """Return 是 紅色 的, 很 大; with feature "not" (or after 非常) without 很."""
    found = lexicon("adjectives")[meaning.adjective]["zh_predicate"].split()
    kept = [word for word in found if not (word == "很" and feature == "not")]
    # Which of 是 … 的 and 很 stands for "is", the adjective decides.
    return [part for word in kept for part in words(word, "adj", *(("is",) if word in "是很的" else ()))]


SLOTS: Slots = {
    "SUBJ": lambda m, f: subject_words(lexicon("subjects")[m.subject], "zh"),
    "VERB": lambda m, f: words(lexicon("verbs")[m.verb]["zh"], "verb"),
    "OBJ": object_,
    "THING": thing,
    "ADJ": predicate,
    "NOUN": lambda m, f: words(lexicon("nouns")[m.second]["zh"], "second"),
    "PLACE": lambda m, f: words(PLACES[m.place], "place"),
    "MOOD": lambda m, f: words(lexicon("moods")[m.mood]["zh"], "mood"),
}
