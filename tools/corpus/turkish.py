"""Turkish: word order, suffixes as tokens of their own (``+um``), vowel harmony.

Pronouns are left out where the verb's ending says who acts, as speakers do.
"""

from tools.corpus.english import determiner
from tools.corpus.grammar import Entry, Meaning, Slots, Word, lexicon, subject_words, words

VOWELS = "aıoueiöü"
FRONT = "eiöü"
ROUND = "ouöü"
PLACES = {"on": "üstünde", "under": "altında"}
PRESENT = {"je": "+um", "tu": "+sun", "il": "", "nous": "+uz", "ils": "+lar"}
# Written with A and I for the vowels that harmony picks.
PAST = {"je": "+m", "tu": "+n", "il": "", "nous": "+k", "ils": "+lAr"}
COPULA = {"je": "+Im", "tu": "+sIn", "il": "", "nous": "+Iz", "ils": "+lAr"}
OWNED_AFTER_VOWEL = {"je": "+m", "tu": "+n", "il": "+sI", "nous": "+mIz", "ils": "+lArI"}
OWNED_AFTER_CONSONANT = {"je": "+Im", "tu": "+In", "il": "+I", "nous": "+ImIz", "ils": "+lArI"}
OWNERS = {"my": "je", "your": "tu", "his": "il", "her": "il", "our": "nous", "their": "ils"}


def harmonised(suffix: str, stem: str) -> str:
    """Return ``suffix`` with its A and I as the vowel before asks: kedi +yI → +yi, kuş +A → +a."""
    last = [letter for letter in stem if letter in VOWELS][-1]
    spelt = ""
    for letter in suffix:
        if letter == "A":
            letter = "e" if last in FRONT else "a"
        elif letter == "I":
            letter = {(0, 0): "ı", (0, 1): "i", (1, 0): "u", (1, 1): "ü"}[last in ROUND, last in FRONT]
        spelt += letter
        last = letter if letter in VOWELS else last
    return spelt


def person(meaning: Meaning) -> str:
    return lexicon("subjects")[meaning.subject]["person"]


def ends_in_vowel(stem: str) -> bool:
    return stem[-1] in VOWELS


def copula(meaning: Meaning, stem: str) -> list[Word]:
    """Return the ending of "am, are" after an adjective: yorgun +um, mutlu +yum."""
    suffix = COPULA[person(meaning)]
    if suffix.startswith("+I") and ends_in_vowel(stem):
        suffix = suffix.replace("+I", "+yI")
    return words(harmonised(suffix, stem), "subj", "be")


def owned(noun: Entry, owner: str) -> list[str]:
    """Return stem and possessive ending: kitab +ım, kedi +si."""
    if ends_in_vowel(noun["tr"]):
        return [noun["tr"], harmonised(OWNED_AFTER_VOWEL[owner], noun["tr"])]
    stem = noun["tr"] if owner == "ils" else noun["tr_soft"]
    return [stem, harmonised(OWNED_AFTER_CONSONANT[owner], stem)]


def case_ending(case: str, noun: Entry, owner: str) -> str:
    """Return the ending of accusative or dative, with the consonant that keeps two vowels apart."""
    vowel = {"acc": "I", "dat": "A"}[case]
    if owner in ("il", "ils"):
        return f"+n{vowel}"
    return f"+y{vowel}" if not owner and ends_in_vowel(noun["tr"]) else f"+{vowel}"


def inflected(meaning: Meaning, case: str) -> list[Word]:
    """Return the noun with its possessive and case endings."""
    noun = lexicon("nouns")[meaning.noun]
    name = determiner(meaning)
    owner = OWNERS.get(name, "")
    if case == "have":
        # "onların kedisi", since "kedileri" would be several cats.
        owner = "il" if meaning.subject == "they" else person(meaning)
    marked = case == "dat" or (case == "acc" and name not in ("a", "two", "three"))
    parts = owned(noun, owner) if owner else [noun["tr_soft"] if marked else noun["tr"]]
    result = words(parts[0], "noun")
    if owner:
        result += words(parts[1], "subj" if case == "have" else "det")
    if marked:
        result += words(harmonised(case_ending(case, noun, owner), "".join(parts)), "noun", "det")
    return result


def object_(meaning: Meaning, feature: str) -> list[Word]:
    name = determiner(meaning)
    if meaning.determiner == "own":
        plain = ""  # "onun" would make it another person's
    elif name == "your" and meaning.subject:
        plain = "senin"  # without it, "annem kitabını beğeniyor" could speak of her own book
    else:
        plain = lexicon("determiners")[name]["tr"]
    article = words(plain, "det")
    adjective = words(lexicon("adjectives")[meaning.adjective]["tr"], "adj")
    before = adjective + article if name == "a" else article + adjective
    return before + inflected(meaning, feature)


def verb(meaning: Meaning, feature: str) -> list[Word]:
    entry = lexicon("verbs")[meaning.verb]
    stem, *suffixes = entry["tr_not" if feature == "not" else "tr"].split()
    if entry["tense"] == "have":
        return words(stem, "verb", "not") if feature == "not" else words(stem, "verb")
    result = words(stem, "verb")
    if feature == "not":
        result += words(suffixes.pop(0), "not")
    result += words(" ".join(suffixes), "verb", "tense")
    said = "".join(word.text for word in result)
    ending = words(harmonised((PAST if entry["tense"] == "past" else PRESENT)[person(meaning)], said), "subj")
    if feature != "question":
        return result + ending
    # The person's ending follows the question word in the present (istiyor musun), not in the past
    # (aldın mı).
    late = entry["tense"] == "present" and meaning.subject != "they"
    before = said if late else said + "".join(word.text for word in ending)
    asks = words(harmonised("mI", before), "question", "?")
    return result + asks + ending if late else result + ending + asks


def who(meaning: Meaning, feature: str) -> list[Word]:
    """Return the subject, where it is a noun; "o" for he and she where nothing else would be left."""
    if feature == "full" and meaning.subject in ("he", "she"):
        return words("o", "subj")
    return subject_words(lexicon("subjects")[meaning.subject], "tr")


def owner(meaning: Meaning, feature: str) -> list[Word]:
    """Return the possessor, in the genitive."""
    if meaning.subject in ("he", "she", "they"):
        return words("onların" if meaning.subject == "they" else "onun", "subj")
    name = who(meaning, "")
    stem = "".join(word.text for word in name)
    return name + words(harmonised("+In", stem), "verb") if name else []


def ground(meaning: Meaning) -> list[Word]:
    stem = lexicon("nouns")[meaning.second]["tr"]
    return words(stem, "second") + words(harmonised("+nIn", stem), "place")


def thing(meaning: Meaning, feature: str) -> list[Word]:
    return words(lexicon("determiners")[meaning.determiner]["tr"], "det") + inflected(meaning, "")


def mood(meaning: Meaning, feature: str) -> list[Word]:
    adjective = lexicon("moods")[meaning.mood]["tr"]
    if feature == "not":
        ending = copula(meaning, "değil")
        # Where no ending says "is", "değil" says it: is not → değil, I'm not → değil +im.
        denial = words("değil", "not") if ending else words("değil", "not", "be")
        return words(adjective, "mood") + denial + ending
    return words(adjective, "mood") + copula(meaning, adjective)


SLOTS: Slots = {
    "WHO": who,
    "OWNER": owner,
    "VERB": verb,
    "OBJ": object_,
    "THING": thing,
    "ADJ": lambda m, f: words(lexicon("adjectives")[m.adjective]["tr"], "adj"),
    "NOUN": lambda m, f: ground(m),
    "PLACE": lambda m, f: words(PLACES[m.place], "place"),
    "MOOD": mood,
}
