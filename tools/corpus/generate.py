"""Rows of the corpus: which sentences, in which split, with which alignment."""

import hashlib
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from tools.corpus import chinese, english, french, turkish, vietnamese
from tools.corpus.grammar import FOLDER, Meaning, Word, align, fill, lexicon, table, templates

OUTPUT = Path(__file__).parents[2] / "mha_course" / "data" / "corpus.tsv"
SPLIT_SIZES = {"train": 3000, "dev": 200, "test": 300}
HELD_OUT = 0.2
PRONOUNS = ("i", "you", "he", "she", "we", "they")
OTHERS = ("you", "he", "she", "they", "my mother", "my father", "the teacher")
TARGETS = {"fr": french, "tr": turkish, "vi": vietnamese, "zh": chinese}


# How sentences are written: tag of the language, space between words, marks without a space before them.
WRITING = {
    "fr": {"lang": "fr", "space": " ", "close": "."},
    "tr": {"lang": "tr", "space": " ", "close": ".?!"},
    "vi": {"lang": "vi", "space": " ", "close": ".?!"},
    "zh": {"lang": "zh-Hant", "space": "", "close": ".?!"},
}


def shuffle_key(text: str) -> str:
    """Return a number drawn by ``text`` alone: sorting by it shuffles, the same on every machine."""
    return hashlib.sha256(text.encode()).hexdigest()


def combinations() -> list[tuple[str, str]]:
    """Return adjectives and nouns that go together."""
    kinds = lexicon("kinds")
    return [
        (adjective, name)
        for name, noun in lexicon("nouns").items()
        for adjective in kinds[noun["kind"]]["adjectives"].split()
    ]


def held_out() -> set[tuple[str, str]]:
    """Return the pairs of adjective and noun that only the test split has.

    Pairs that need a form of their own in French (bel oiseau) are not among them: that form could not be
    known from other pairs.
    """
    pairs = combinations()
    regular = [pair for pair in pairs if not french.irregular(*pair)]
    return set(
        sorted(regular, key=lambda pair: shuffle_key("pair " + " ".join(pair)))[
            : round(HELD_OUT * len(pairs))
        ]
    )


def subjects(block: dict[str, Any]) -> tuple[str, ...]:
    groups = {"all": tuple(lexicon("subjects")), "pronouns": PRONOUNS, "others": OTHERS, "": ("",)}
    return groups[block.get("subjects", "")]


def meanings(name: str) -> Iterator[Meaning]:
    """Yield every sentence that a template allows."""
    block = templates()[name]
    moods = tuple(lexicon("moods")) if "MOOD" in block["en"] else ("",)
    pairs = combinations() if "determiners" in block else [("", "")]
    pairs = [pair for pair in pairs if allowed(block, *pair)]
    slots = [block.get(key, [""]) for key in ("verbs", "determiners", "places", "seconds")]
    for subject, (verb, determiner, place, second), mood, (adjective, noun) in product(
        subjects(block), product(*slots), moods, pairs
    ):
        # "He likes his hat": whose? Languages differ in what they leave open, so nobody likes what is theirs.
        if determiner != english.OWN.get(subject):
            yield Meaning(name, subject, verb, determiner, adjective, noun, place, second, mood)


def allowed(block: dict[str, Any], adjective: str, noun: str) -> bool:
    """Return True if a template may combine this adjective and noun."""
    if noun and "kinds" in block and lexicon("nouns")[noun]["kind"] not in block["kinds"]:
        return False
    if noun and "nouns" in block and noun not in block["nouns"]:
        return False
    return "adjectives" not in block or adjective in block["adjectives"]


def english_text(meaning: Meaning) -> str:
    sentence = fill(templates()[meaning.template]["en"], meaning, english.SLOTS)
    return " ".join(word.text for word in sentence)


def quotas(size: int, names: list[str]) -> dict[str, int]:
    """Share ``size`` rows among templates by their weights; the largest remainders round up."""
    weights = {name: templates()[name]["rows"] for name in names}
    exact = {name: size * weight / sum(weights.values()) for name, weight in weights.items()}
    order = sorted(names, key=lambda name: exact[name] % 1, reverse=True)
    missing = size - sum(int(share) for share in exact.values())
    return {name: int(exact[name]) + (order.index(name) < missing) for name in names}


@cache
def select() -> dict[str, list[Meaning]]:
    """Return the meanings of each split, drawn by lot from all that the templates allow."""
    unseen = held_out()
    used = {phrase["en"] for phrase in phrases()}
    chosen: dict[str, list[Meaning]] = {split: [] for split in SPLIT_SIZES}
    pools = {name: sorted(meanings(name), key=lambda m: shuffle_key(english_text(m))) for name in templates()}
    for split, size in SPLIT_SIZES.items():
        names = [name for name in pools if split != "test" or "determiners" in templates()[name]]
        for name, quota in quotas(size, names).items():
            wanted = [m for m in pools[name] if ((m.adjective, m.noun) in unseen) == (split == "test")]
            fresh = [m for m in wanted if english_text(m) not in used][:quota]
            used |= {english_text(m) for m in fresh}
            chosen[split] += fresh
        chosen[split].sort(key=lambda m: shuffle_key("order " + english_text(m)))
    return chosen


def phrases() -> list[dict[str, str]]:
    """Return the sentences written by hand, as patterns: one line each in ``phrases.tsv``."""
    return table(FOLDER / "phrases.tsv")


def columns(source: list[Word], targets: dict[str, list[Word]]) -> list[str]:
    """Return the English, then each translation with its alignment."""
    row = [" ".join(word.text for word in source)]
    for sentence in targets.values():
        row.append(" ".join(word.text for word in sentence))
        row.append(" ".join(",".join(map(str, positions)) for positions in align(source, sentence)))
    return row


def corpus_rows() -> Iterator[list[str]]:
    """Yield the rows of the corpus without their ids."""
    for split, chosen in select().items():
        for meaning in chosen:
            block = templates()[meaning.template]
            source = fill(block["en"], meaning, english.SLOTS)
            targets = {name: sentence_of(module, block[name], meaning) for name, module in TARGETS.items()}
            yield [split, meaning.template, *columns(source, targets)]
    for phrase in phrases():
        source = fill(phrase["en"], Meaning("phrase"), {})
        targets = {name: fill(phrase[name], Meaning("phrase"), {}) for name in TARGETS}
        yield ["phrases", "phrase", *columns(source, targets)]


def sentence_of(grammar: Any, pattern: str, meaning: Meaning) -> list[Word]:
    """Return the sentence of a meaning in one language; in French, with elision."""
    sentence = fill(pattern, meaning, grammar.SLOTS)
    return french.elide(sentence) if grammar is french else sentence


def corpus_text() -> str:
    """Return the whole TSV file."""
    columns = [column for name in TARGETS for column in (name, f"{name}_align")]
    header = "\t".join(["id", "split", "template", "en", *columns])
    rows = ["\t".join([f"{number:04}", *row]) for number, row in enumerate(corpus_rows())]
    return "\n".join([header, *rows, ""])
