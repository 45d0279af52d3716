"""The corpus is what its card says; the loader, the vocabulary and the batches keep everything."""

import codecs
import copy
import hashlib
import json
import pickle
import re
import unicodedata
from itertools import chain, pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mha_course import corpus
from mha_course.corpus import (
    SPLITS,
    TARGETS,
    Pair,
    Vocabulary,
    batches,
    join_tokens,
    load_corpus,
    read_pairs,
    tokenize,
)
from tools.corpus.english import SLOTS
from tools.corpus.generate import OUTPUT, corpus_text, select
from tools.corpus.grammar import Meaning, fill, lexicon, table, templates

NOUNS = lexicon("nouns")
ADJECTIVES = lexicon("adjectives")
ENGLISH_NOUNS = {form: name for name, noun in NOUNS.items() for form in (name, noun["en_plural"])}
EVERYTHING = {target: [pair for split in SPLITS for pair in load_corpus(target, split)] for target in TARGETS}
GRAMMAR = {target: [pair for pair in EVERYTHING[target] if pair.template != "phrase"] for target in TARGETS}
ONE_VOCABULARY = Vocabulary([pair.source for pair in EVERYTHING["fr"]])


def combination(pair: Pair) -> tuple[str, str] | None:
    """Return a sentence's adjective and its noun: the next one, or in "this hat is red" the one before."""
    for place, word in enumerate(pair.source):
        if word in ADJECTIVES:
            after = [ENGLISH_NOUNS[w] for w in pair.source[place + 1 : place + 2] if w in ENGLISH_NOUNS]
            before = [ENGLISH_NOUNS[w] for w in pair.source[:place] if w in ENGLISH_NOUNS]
            return word, (after or before)[0]
    return None


# --- the file


def test_the_file_is_what_the_generator_writes_byte_for_byte() -> None:
    assert OUTPUT.read_bytes() == corpus_text().encode("utf-8")


@pytest.mark.parametrize("target", TARGETS)
def test_splits_have_their_sizes(target: str) -> None:
    assert [len(load_corpus(target, split)) for split in SPLITS] == [3000, 200, 300, 100]


def test_lines_are_nfc_without_stray_white_space() -> None:
    for line in OUTPUT.read_text(encoding="utf-8").removesuffix("\n").split("\n"):
        assert unicodedata.is_normalized("NFC", line)
        cells = line.split("\t")
        assert len(cells) == 12
        assert all(cell == " ".join(cell.split()) and cell for cell in cells)


def test_every_language_tells_the_same_rows() -> None:
    rows = {tuple((pair.id, pair.template, pair.source) for pair in EVERYTHING[t]) for t in TARGETS}
    assert len(rows) == 1


def test_the_card_counts_right() -> None:
    card = (OUTPUT.parent / "README.md").read_text(encoding="utf-8")
    assert f"({len(templates())} templates)" in card
    assert "3,600 short English sentences" in card
    for split, number in zip(SPLITS, ("3,000", "200", "300", "100"), strict=True):
        assert f"| `{split}` | {number} |" in card


# --- no leak


def test_no_english_sentence_occurs_twice() -> None:
    sentences = [pair.source for pair in EVERYTHING["fr"]]
    assert len(set(sentences)) == len(sentences) == 3600


def test_held_out_combinations_are_never_trained() -> None:
    seen = {combination(pair) for split in ("train", "dev", "phrases") for pair in load_corpus("fr", split)}
    unseen = {combination(pair) for pair in load_corpus("fr", "test")}
    assert None not in unseen
    assert not seen & unseen
    possible = {
        (adjective, name)
        for name, noun in NOUNS.items()
        for adjective in lexicon("kinds")[noun["kind"]]["adjectives"].split()
    }
    assert seen | unseen <= possible | {None}
    assert len(unseen) / len(possible) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("target", TARGETS)
def test_every_word_of_dev_and_test_is_trained(target: str) -> None:
    trained = load_corpus(target, "train")
    for side in ("source", "target"):
        known = Vocabulary(getattr(pair, side) for pair in trained)
        for split in ("dev", "test"):
            assert all(word in known for pair in load_corpus(target, split) for word in getattr(pair, side))


def test_the_readers_phrases_are_there() -> None:
    printed = {
        join_tokens(pair.source, "en"): join_tokens(pair.target, "fr")
        for pair in load_corpus("fr", "phrases")
    }
    assert printed["go."] == "va !"
    assert printed["i lost."] == "j'ai perdu."
    assert printed["he's calm."] == "il est calme."
    assert printed["i'm home."] == "je suis chez moi."


def test_every_caller_gets_a_list_of_its_own() -> None:
    load_corpus("fr", "phrases").clear()
    assert load_corpus("fr", "phrases")


# --- alignments


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_token_is_aligned_within_the_sentence(target: str) -> None:
    for pair in EVERYTHING[target]:
        assert len(pair.alignment) == len(pair.target)
        for positions in pair.alignment:
            assert positions and list(positions) == sorted(set(positions))
            assert positions[0] >= 0 and positions[-1] < len(pair.source)


@pytest.mark.parametrize("target", TARGETS)
def test_content_words_are_aligned_with_nothing_else(target: str) -> None:
    forms = {form: name for name in NOUNS for form in translations(name, target)}
    shared = {form for name in NOUNS for form in translations(name, target) if forms[form] != name}
    links = {"的", *(noun["zh_measure"] for noun in NOUNS.values())}
    links |= {noun["vi_classifier"] for noun in NOUNS.values()}
    for pair in GRAMMAR[target]:
        for word, gold in zip(pair.target, pair.alignment, strict=True):
            if word in forms and word not in shared | links:
                assert [ENGLISH_NOUNS.get(pair.source[place]) for place in gold] == [forms[word]], pair


@pytest.mark.parametrize("target", TARGETS)
def test_every_content_word_is_aligned(target: str) -> None:
    verbs = {form for verb in lexicon("verbs").values() for form in (verb["en"], verb["en_third"])}
    verbs |= {"bought", "saw", "found", "looking", "for", "give", "look"}
    others = {"not", "very", "today", "two", "three", "this", "here", "where", "on", "under", "much", "me"}
    content = {*ENGLISH_NOUNS, *ADJECTIVES, *lexicon("moods"), *verbs, *others, "mother", "father", "teacher"}
    for pair in GRAMMAR[target]:
        aligned = {position for positions in pair.alignment for position in positions}
        assert all(place in aligned for place, word in enumerate(pair.source) if word in content), pair


@pytest.mark.parametrize("target", TARGETS)
def test_adjective_and_noun_are_aligned_with_their_translations(target: str) -> None:
    for pair in GRAMMAR[target]:
        for place, word in enumerate(pair.source):
            if word in ADJECTIVES or word in ENGLISH_NOUNS:
                forms = translations(word, target)
                found = [w for w, gold in zip(pair.target, pair.alignment, strict=True) if place in gold]
                assert any(form in found for form in forms), (pair, word)


def translations(english: str, target: str) -> set[str]:
    entry = ADJECTIVES[english] if english in ADJECTIVES else NOUNS[ENGLISH_NOUNS[english]]
    columns = [column for column in entry if column.split("_")[0] == target]
    return {word for column in columns for word in entry[column].split()}


def test_templates_name_only_labels_that_their_english_has() -> None:
    for meaning in chain.from_iterable(select().values()):
        block = templates()[meaning.template]
        known = set().union(*(word.labels for word in fill(block["en"], meaning, SLOTS)))
        for target in TARGETS:
            for item in block[target].split():
                _, mark, labels = item.partition("@")
                assert not mark or set(labels.split(",")) <= known, (meaning.template, target, item)


def test_a_slot_that_no_grammar_has_is_named() -> None:
    with pytest.raises(ValueError, match="want: there is no slot 'SUBJX' in 'SUBJX go'"):
        fill("SUBJX go", Meaning("want", subject="i"), SLOTS)


def test_phrases_name_only_english_words_that_they_have() -> None:
    for phrase in table(OUTPUT.parents[2] / "tools" / "corpus" / "phrases.tsv"):
        for target in TARGETS:
            for item in phrase[target].split():
                word, _, labels = item.partition("@")
                assert set((labels or word).split(",")) <= set(phrase["en"].split()), (phrase["en"], item)


# --- grammar, checked on the finished sentences


FRENCH_VOWELS = tuple("aeiouyéèêàâîôûh")


def french() -> list[Pair]:
    return EVERYTHING["fr"]


def test_french_elides_before_vowels_and_only_there() -> None:
    full = {"je", "ne", "de", "que", "le", "la", "te", "me"}
    for pair in french():
        for word, follower in zip(pair.target, pair.target[1:], strict=False):
            assert not (word in full and follower.startswith(FRENCH_VOWELS)), pair.target
            assert word[-1] != "'" or follower.startswith(FRENCH_VOWELS), pair.target
            # "deux vieux ordinateurs" is right.
            full_form = word in ("beau", "vieux", "ce", "ma", "ta", "sa") and not follower.endswith("s")
            assert not (full_form and follower.startswith(FRENCH_VOWELS)), pair.target
            assert word not in ("bel", "vieil", "cet") or follower.startswith(FRENCH_VOWELS)


def test_french_has_de_and_not_un_after_a_negation() -> None:
    negated = [pair for pair in french() if "pas" in pair.target]
    assert len(negated) > 300
    for pair in negated:
        assert not {"un", "une", "des"} & set(pair.target), pair.target
        assert {"ne", "n'"} & set(pair.target) or pair.template == "phrase"


def test_french_articles_and_adjectives_agree_with_the_noun() -> None:
    genders = {noun["fr"]: (noun["fr_gender"], "") for noun in NOUNS.values()}
    genders |= {noun["fr_plural"]: (noun["fr_gender"], "p") for noun in NOUNS.values()}
    articles = {"m": {"un", "le", "ce", "cet"}, "f": {"une", "la", "cette", "ma", "ta", "sa"}}
    checked = 0
    for pair in GRAMMAR["fr"]:
        found = combination(pair)
        if found is None:
            continue
        adjective, name = found
        noun = next(w for w in pair.target if w in (NOUNS[name]["fr"], NOUNS[name]["fr_plural"]))
        gender, number = genders[noun]
        entry = ADJECTIVES[adjective]
        right = {entry[f"fr_{gender}{number}"]} | ({entry["fr_vowel"]} if gender + number == "m" else set())
        wrong = {entry[f"fr_{form}"] for form in ("m", "f", "mp", "fp", "vowel")} - right
        assert right & set(pair.target), pair.target
        assert not wrong & set(pair.target), pair.target
        # The nearest article before the noun is its own.
        before = list(pair.target[: pair.target.index(noun)])[-2:]
        assert not articles["f" if gender == "m" else "m"] & set(before), pair.target
        checked += 1
    assert checked > 3000


def test_french_determiners_are_aligned_with_what_decides_their_form() -> None:
    checked = {"numeral": 0, "before": 0}
    for pair in GRAMMAR["fr"]:
        words = list(zip(pair.target, pair.alignment, strict=True))
        for (word, gold), (_, following) in pairwise(words):
            if word in ("deux", "trois"):
                assert [pair.source[i] for i in gold] == [{"deux": "two", "trois": "three"}[word]], pair
                checked["numeral"] += 1
            if word in ("ce", "cet", "ma", "ta", "sa", "le", "la", "l'"):
                assert set(following) <= set(gold), pair
                checked["before"] += 1
    assert min(checked.values()) > 500


def test_chinese_很_is_aligned_with_the_adjective() -> None:
    checked = 0
    for pair in EVERYTHING["zh"]:
        words = list(zip(pair.target, pair.alignment, strict=True))
        for (word, gold), (_, following) in pairwise(words):
            if word == "很":
                assert set(following) <= set(gold), pair
                checked += 1
    assert checked > 100


def test_turkish_says_your_twice_only_of_another_persons_doings() -> None:
    own = [pair for pair in GRAMMAR["tr"] if pair.source[0] == "you're" and "your" in pair.source]
    assert own and not any("senin" in pair.target for pair in own)


TURKISH_VOWELS = "aıoueiöü"


def turkish_words() -> set[tuple[str, ...]]:
    """Return every word with its suffixes: ("kitab", "+ım")."""
    found = set()
    for pair in EVERYTHING["tr"]:
        for word in " ".join(pair.target).replace(" +", "+").split():
            stem, *suffixes = word.split("+")
            found.add((stem, *suffixes))
    return found


def test_turkish_suffixes_are_in_harmony() -> None:
    invariant = {"yor"}
    checked = 0
    # vakit loses its i, and its suffixes keep to it: vaktim.
    for stem, *suffixes in turkish_words() - {("vakt", "im")}:
        said = stem
        for suffix in suffixes:
            last = [letter for letter in said if letter in TURKISH_VOWELS][-1]
            first = next((letter for letter in suffix if letter in TURKISH_VOWELS), None)
            if first and suffix not in invariant:
                assert (last in "eiöü") == (first in "eiöü"), (stem, suffixes)
                if first in "ıiuü":
                    assert (last in "ouöü") == (first in "uü"), (stem, suffixes)
                checked += 1
            said += suffix
    assert checked > 150


def test_turkish_never_sets_two_vowels_side_by_side_nor_leaves_k_hard() -> None:
    hard = {noun["tr"] for noun in NOUNS.values() if noun["tr"] != noun["tr_soft"]}
    assert hard == {"köpek", "kitap", "gömlek", "çiçek"}
    for stem, *suffixes in turkish_words():
        for before, after in zip([stem, *suffixes], suffixes, strict=False):
            assert not (before[-1] in TURKISH_VOWELS and after[0] in TURKISH_VOWELS), (stem, suffixes)
        if stem in hard and suffixes:
            assert suffixes[0][0] not in TURKISH_VOWELS, (stem, suffixes)


def test_turkish_marks_a_definite_object() -> None:
    for pair in GRAMMAR["tr"]:
        transitive = pair.template.split("-")[0] in ("want", "like", "past", "search", "give")
        if transitive and "this" in pair.source:
            assert any(re.fullmatch(r"\+[yn]?[ıiuü]", word) for word in pair.target), pair.target
        if transitive and {"a", "an", "two", "three"} & set(pair.source):
            assert not any(re.fullmatch(r"\+[yn]?[ıiuü]", word) for word in pair.target), pair.target


def test_vietnamese_counts_with_the_nouns_classifier() -> None:
    classifiers = {noun["vi"].split()[0]: noun["vi_classifier"] for noun in NOUNS.values()}
    assert len(classifiers) < len(NOUNS)  # xe hơi and xe đạp begin alike and share chiếc
    numbers = ("một", "hai", "ba")
    checked = 0
    for pair in GRAMMAR["vi"]:
        for number, classifier, noun in zip(pair.target, pair.target[1:], pair.target[2:], strict=False):
            if number in numbers:
                assert classifiers[noun] == classifier, pair.target
                checked += 1
    assert checked > 800


def test_vietnamese_denies_without_very_and_colours_with_phải() -> None:
    for pair in EVERYTHING["vi"]:
        text = " ".join(pair.target)
        assert "không rất" not in text
        assert "không màu" not in text
        assert text.count("này") <= 1


def test_vietnamese_denies_a_noun_with_nào() -> None:
    denied = [p for p in GRAMMAR["vi"] if p.target[-1] != "?" and "không" in p.target and "a" in p.source]
    assert len(denied) > 300
    for pair in denied:
        assert "một" not in pair.target and pair.target[-2] == "nào", pair.target


def test_chinese_counts_with_the_nouns_measure_word() -> None:
    measures = {noun["zh"]: noun["zh_measure"] for noun in NOUNS.values()}
    checked = 0
    for pair in GRAMMAR["zh"]:
        found = combination(pair)
        for place, word in enumerate(pair.target):
            if word in ("一", "兩", "三", "這", "那"):
                noun = next(w for w in pair.target[place:] if w in measures)
                assert pair.target[place + 1] == measures[noun], pair.target
                checked += 1
        assert "二" not in pair.target
        assert found is None or "很" not in pair.target or "不" not in pair.target
    assert checked > 2000


def test_chinese_is_traditional() -> None:
    for pair in EVERYTHING["zh"]:
        # Big5 is Taiwan's character set: simplified characters are not in it.
        "".join(pair.target).encode("big5")


# --- tokens and sentences


@pytest.mark.parametrize(
    ("language", "tokens", "sentence"),
    [
        ("en", "do you want a red hat ?", "do you want a red hat?"),
        ("fr", "est-ce qu' il n' a pas de vélo ?", "est-ce qu'il n'a pas de vélo ?"),
        ("tr", "siyah kedi +m +i arı +yor mu +sun ?", "siyah kedimi arıyor musun?"),
        ("vi", "bạn có khỏe không ?", "bạn có khỏe không?"),
        ("zh", "我 有 一 隻 貓 。", "我有一隻貓。"),
    ],
)
def test_tokens_join_to_the_printed_sentence(language: str, tokens: str, sentence: str) -> None:
    assert join_tokens(tokens.split(), language) == sentence


@pytest.mark.parametrize("target", TARGETS)
def test_every_row_joins_without_losing_a_letter(target: str) -> None:
    for pair in EVERYTHING[target]:
        printed = join_tokens(pair.target, target)
        assert printed.replace(" ", "") == "".join(pair.target).replace("+", "")
        assert not re.search(r" [.+,]|' |  |^ | $", printed), printed


# --- loader, vocabulary, batches


def test_vocabulary_begins_with_the_special_tokens() -> None:
    vocabulary = Vocabulary([["b", "a", "b"], ["c"]])
    assert [vocabulary.pad, vocabulary.bos, vocabulary.eos, vocabulary.unk] == [0, 1, 2, 3]
    assert vocabulary.to_tokens(range(len(vocabulary))) == ["<pad>", "<bos>", "<eos>", "<unk>", "b", "a", "c"]
    assert (vocabulary["b"], vocabulary["zebra"]) == (4, 3)
    assert vocabulary[["c", "zebra", "<eos>"]] == [6, 3, 2]
    assert "zebra" not in vocabulary
    assert Vocabulary([["<eos>", "a", "<eos>"]]).to_tokens([4]) == ["a"]
    assert len(Vocabulary([["<eos>", "a", "<eos>"]])) == 5


def test_vocabulary_does_not_depend_on_the_order_of_sentences() -> None:
    sentences = [pair.source for pair in load_corpus("fr", "dev")]
    first, second = Vocabulary(sentences), Vocabulary(reversed(sentences))
    assert first.to_tokens(range(len(first))) == second.to_tokens(range(len(second)))


@given(st.lists(st.text(alphabet="abcdef", min_size=1, max_size=3), max_size=20))
def test_known_tokens_survive_ids(tokens: list[str]) -> None:
    vocabulary = Vocabulary([tokens])
    assert vocabulary.to_tokens(vocabulary[tokens]) == tokens
    assert vocabulary.to_tokens(torch.tensor(vocabulary[tokens], dtype=torch.int64)) == tokens


@pytest.mark.parametrize("save", ["torch", "tokens", "pickle", "json", "copy"])
def test_a_vocabulary_is_restored_with_the_same_ids(save: str, tmp_path: Path) -> None:
    """By torch.load as it is by default, which refuses objects that it does not know."""
    vocabulary, path = Vocabulary([["b", "a", "b", "é"]]), tmp_path / "vocabulary"
    if save == "torch":
        torch.save({"weights": torch.ones(1), "vocabulary": vocabulary}, path)
        restored = torch.load(path, weights_only=True)["vocabulary"]
    elif save == "tokens":
        torch.save(vocabulary.tokens, path)
        restored = Vocabulary.from_tokens(torch.load(path, weights_only=True))
    elif save == "pickle":
        restored = pickle.loads(pickle.dumps(vocabulary))
    elif save == "json":
        restored = Vocabulary.from_tokens(json.loads(json.dumps(vocabulary.tokens)))
    else:
        restored = copy.deepcopy(vocabulary)
    assert restored.tokens == vocabulary.tokens == vocabulary.to_tokens(range(len(vocabulary)))
    assert restored["b"] == vocabulary["b"] == 4 and restored["zzz"] == restored.unk
    assert isinstance(restored, Vocabulary) and "a" in restored and len(restored) == 7


def test_a_vocabularys_list_of_tokens_is_the_callers() -> None:
    vocabulary = Vocabulary([["a"]])
    vocabulary.tokens.clear()
    assert len(vocabulary) == 5 and vocabulary.tokens[4] == "a"
    tokens = vocabulary.tokens
    restored = Vocabulary.from_tokens(tokens)
    tokens.append("b")
    assert restored.tokens == vocabulary.tokens


def test_sentences_may_come_from_generators() -> None:
    sentences = [["a", "b"], ["b"]]
    made = Vocabulary((token for token in sentence) for sentence in sentences)
    assert made.tokens == Vocabulary(sentences).tokens
    pairs = load_corpus("fr", "phrases")[:9]
    for seed in (None, 3):
        given, expected = (
            batches(some, ONE_VOCABULARY, ONE_VOCABULARY, 4, seed=seed) for some in (iter(pairs), pairs)
        )
        assert all(torch.equal(a.source, b.source) for a, b in zip(given, expected, strict=True))


def test_a_batch_ends_rows_with_eos_and_pads_after() -> None:
    pairs = [
        Pair("1", "", ("a", "b"), ("x",), ((0,),)),
        Pair("2", "", ("a",), ("x", "y", "x"), ((0,), (0,), (0,))),
    ]
    source, target = Vocabulary([["a", "b"]]), Vocabulary([["x", "y"]])
    (batch,) = batches(pairs, source, target)
    assert batch.source.tolist() == [[4, 5, 2], [4, 2, 0]]
    assert batch.source_lens.tolist() == [3, 2]
    assert batch.target.tolist() == [[4, 2, 0, 0], [4, 5, 4, 2]]
    assert batch.target_lens.tolist() == [2, 4]
    assert batch.source.dtype == batch.target_lens.dtype == torch.int64


def told(found: list[corpus.Batch]) -> list[tuple[int, ...]]:
    """Return the rows of all batches, without padding."""
    return [
        tuple(row[:length])
        for batch in found
        for row, length in zip(batch.source.tolist(), batch.source_lens.tolist(), strict=True)
    ]


def test_without_a_seed_batches_keep_the_order() -> None:
    pairs = load_corpus("fr", "dev")
    found = told(batches(pairs, ONE_VOCABULARY, ONE_VOCABULARY, 7))
    assert found == [(*ONE_VOCABULARY[pair.source], 2) for pair in pairs]


@settings(max_examples=20)
@given(st.integers(1, 300), st.integers(0, 5))
def test_with_a_seed_every_pair_comes_once(batch_size: int, seed: int) -> None:
    pairs = load_corpus("fr", "dev")
    found = batches(pairs, ONE_VOCABULARY, ONE_VOCABULARY, batch_size, seed=seed)
    assert sorted(told(found)) == sorted((*ONE_VOCABULARY[pair.source], 2) for pair in pairs)
    assert all(len(batch.source) <= batch_size for batch in found)
    assert sum(len(batch.source) < batch_size for batch in found) <= 1


def test_a_seed_puts_similar_lengths_together_and_another_seed_mixes_anew() -> None:
    pairs = load_corpus("fr", "train")
    kept = batches(pairs, ONE_VOCABULARY, ONE_VOCABULARY)
    sorted_ = batches(pairs, ONE_VOCABULARY, ONE_VOCABULARY, seed=0)
    assert padding(sorted_) < 0.3 * padding(kept)
    assert told(sorted_) == told(batches(pairs, ONE_VOCABULARY, ONE_VOCABULARY, seed=0))
    assert told(sorted_) != told(batches(pairs, ONE_VOCABULARY, ONE_VOCABULARY, seed=1))


def padding(found: list[corpus.Batch]) -> int:
    return sum(int((batch.source == 0).sum() + (batch.target == 0).sum()) for batch in found)


def test_batches_are_the_same_on_every_machine() -> None:
    pairs = [Pair(str(i), "", ("a",) * (i % 5 + 1), ("b",) * (i % 3 + 1), ()) for i in range(200)]
    ids = Vocabulary([["a", "b"]])
    ordered = [len(batch.source[0]) for batch in batches(pairs, ids, ids, 8, seed=3)]
    order = corpus._chunks(pairs, 8, 3)
    digest = hashlib.sha256(" ".join(pair.id for chunk in order for pair in chunk).encode()).hexdigest()
    assert (ordered, digest[:16]) == EXPECTED_ORDER


EXPECTED_ORDER = (
    [3, 4, 5, 4, 3, 5, 4, 5, 2, 6, 6, 3, 2, 3, 6, 5, 4, 6, 3, 5, 6, 2, 5, 6, 3],
    "96948efc9ce3e059",
)


def test_no_pairs_make_no_batches() -> None:
    assert batches([], ONE_VOCABULARY, ONE_VOCABULARY) == []
    assert batches([], ONE_VOCABULARY, ONE_VOCABULARY, seed=0) == []


# --- sentences of the reader's own

TEXT = "Go.\tVa !\nHi!\tSalut\u202f!\tCC-BY 2.0\n\nI lost.\tJ'ai perdu.\r\n"
READ = [
    (("go", "."), ("va", "!")),
    (("hi", "!"), ("salut", "!")),
    (("i", "lost", "."), ("j'ai", "perdu", ".")),
]


def written(folder: Path, content: bytes | str) -> Path:
    path = folder / "pairs.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "marked utf-16-be"])
def test_files_of_every_system_are_read_alike(encoding: str, end: str, tmp_path: Path) -> None:
    """Line ends, byte order marks and encodings, with empty lines at the end."""
    text = (TEXT + "\n \n\n").replace("\r\n", "\n").replace("\n", end)
    content = (("\ufeff" + text) if "marked" in encoding else text).encode(encoding.removeprefix("marked "))
    pairs = read_pairs(written(tmp_path, content))
    assert [(pair.source, pair.target) for pair in pairs] == READ
    assert [(pair.id, pair.alignment) for pair in pairs] == [("1", ()), ("2", ()), ("4", ())]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_line_ends_end_a_line(mark: str, tmp_path: Path) -> None:
    """Python's splitlines would split these lines in two."""
    (pair,) = read_pairs(written(tmp_path, f"a{mark}b\tc {mark}d\n"))
    assert (pair.source, pair.target) == (("a", "b"), ("c", "d"))


def test_joined_files_keep_no_byte_order_mark_inside(tmp_path: Path) -> None:
    first, second = "go\tva\n".encode("utf-8-sig"), "run\tcours\n".encode("utf-8-sig")
    assert [pair.source for pair in read_pairs(written(tmp_path, first + second))] == [("go",), ("run",)]


def test_tatoebas_four_columns_are_read(tmp_path: Path) -> None:
    (pair,) = read_pairs(written(tmp_path, "1276\tLet's go.\t77\tAllons-y !\n"))
    assert (pair.source, pair.target) == (("let's", "go", "."), ("allons-y", "!"))


def test_reading_may_stop_early_before_a_bad_line(tmp_path: Path) -> None:
    assert len(read_pairs(written(tmp_path, TEXT + "bad"), max_pairs=2)) == 2
    pairs = read_pairs(written(tmp_path, "\n\ngo\tva\n\nrun\tcours\nbad"), max_pairs=2)
    assert [pair.id for pair in pairs] == ["3", "5"]
    assert read_pairs(written(tmp_path, ""), max_pairs=0) == []


def test_capitals_become_the_small_letters_of_their_language(tmp_path: Path) -> None:
    line = "Istanbul\tI\u0307zmir Isparta İZMİR IĞDIR"  # I and a dot above it are one letter
    (english,) = read_pairs(written(tmp_path, line), "tr", "en")
    (turkish,) = read_pairs(written(tmp_path, line), "en", "tr")
    assert english.source == ("ıstanbul",) and turkish.source == ("istanbul",)
    assert turkish.target == ("izmir", "ısparta", "izmir", "ığdır")
    (french,) = read_pairs(written(tmp_path, "A\tÇA E\u0301tait"))
    assert french.target == ("ça", "était")


@pytest.mark.parametrize("language", ["tr", "TR", "tr-TR", "tr_TR", "tur", "az", "AZE", "az-Latn-AZ"])
def test_a_language_is_known_by_every_code_it_has(language: str, tmp_path: Path) -> None:
    assert tokenize("IĞDIR İzmir", language) == ("ığdır", "izmir")
    (pair,) = read_pairs(written(tmp_path, "go\tIĞDIR"), target=language)
    assert pair.target == ("ığdır",)


@pytest.mark.parametrize("language", ["Turkish", "türkçe", "", "t", "tr TR", None, 3])
def test_what_is_no_code_of_a_language_is_refused(language: object, tmp_path: Path) -> None:
    path, rule = written(tmp_path, TEXT), "must be a code such as 'en' or 'tr', got "
    with pytest.raises(ValueError, match=f"language {rule}"):
        tokenize("a", language)
    with pytest.raises(ValueError, match=f"source {rule}"):
        read_pairs(path, language)
    with pytest.raises(ValueError, match=f"target {rule}"):
        read_pairs(path, "en", language)


def test_a_sentence_is_split_as_a_file_is_read(tmp_path: Path) -> None:
    sentences = [
        "My car is old.",
        "I’m home, Tom!",
        "IT'S  3.5?",
        "Va\u202f! ",
        "我 累 了。",
        "E\u0301te\u0301",
    ]
    pairs = read_pairs(written(tmp_path, "".join(f"{sentence}\tx\n" for sentence in sentences)))
    assert [tokenize(sentence) for sentence in sentences] == [pair.source for pair in pairs]
    assert tokenize(sentences[0]) == ("my", "car", "is", "old", ".")
    assert tokenize(sentences[1]) == ("i'm", "home", ",", "tom", "!")
    assert tokenize(sentences[4]) == ("我", "累", "了", "。")
    assert all(tokenize(" ".join(pair.source)) == pair.source for pair in pairs)


def test_the_corpus_reads_as_it_is_printed() -> None:
    """Whoever types a sentence of the corpus gets the tokens that a model was trained on."""
    for pair in EVERYTHING["fr"]:
        printed = join_tokens(pair.source, "en")
        assert tokenize(printed[0].upper() + printed[1:]) == pair.source


@pytest.mark.parametrize("target", TARGETS)
def test_sentences_of_the_corpus_in_a_file_are_read_as_the_corpus_has_them(
    target: str, tmp_path: Path
) -> None:
    sentences = [(pair.source, pair.target) for pair in EVERYTHING[target]]
    lines = (f"{' '.join(source)}\t{' '.join(translation)}" for source, translation in sentences)
    pairs = read_pairs(written(tmp_path, "\n".join(lines)), target=target)
    assert [(pair.source, pair.target) for pair in pairs] == sentences


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Go.\tVa !\nHi!\n", "pairs.txt, line 2: expected 2 or 3 columns with tabs between them, .*got 1"),
        ("Go.\tVa !\rHi!\r", "pairs.txt, line 2: expected 2 or 3 columns with tabs between them, .*got 1"),
        ("a\tb\tc\td\n", "line 1: expected 2 or 3 columns with tabs between them, or Tatoeba's 4, got 4"),
        ("1\tb\tc\td\n", "line 1: expected 2 or 3 columns with tabs between them, or Tatoeba's 4, got 4"),
        ("1\ta\t2\tb\n1276\teng\tGo.\n", "line 2: expected a pair of sentences, got a number, a language"),
        ("a\tb\n\n \tb\n", "line 3: the source is empty"),
        ("a\t \n", "line 1: the target is empty"),
        ("1\ta\t2\t\n", "line 1: the target is empty"),
        ("a\tb\nc\tgâteau\n".encode("latin-1"), "line 2: not UTF-8"),
        ("a\tb\nc\td\n".encode("utf-16")[:-1], "line 2: not UTF-16|line 3: not UTF-16"),
        (
            codecs.BOM_UTF16_LE + "a\tb\nc\t\ud800\n".encode("utf-16-le", "surrogatepass"),
            "line 2: not UTF-16",
        ),
        ("a\tb\n".encode("utf-16-le"), "line 1: not text, since it holds a NUL character"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00\xe3", "line 1: not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(content: bytes | str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_pairs(written(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_negative_number_of_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_pairs(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="max_pairs must be at least 0, got -1"):
        read_pairs(written(tmp_path, TEXT), max_pairs=-1)
