"""The experiments of the chapter on sequence to sequence, and their stored tables."""

import csv
from dataclasses import asdict, replace

import pytest
import torch

from mha_course.corpus import Pair, load_corpus
from tools.experiments import lengths
from tools.experiments.bottleneck import (
    ATTENTIONS,
    Setting,
    build,
    english_of,
    mistakes,
    noun_and_adjective,
    settings,
)
from tools.experiments.runs import DATA

SPLITS = ("train", "dev", "test")


def table(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def pair(source: str, target: str, alignment: tuple[tuple[int, ...], ...]) -> Pair:
    return Pair("7", "is", tuple(source.split()), tuple(target.split()), alignment)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("give me two new hats .", ("hat", "new")),
        ("two old scarves are here .", ("scarf", "old")),
        ("your hat is not red .", ("hat", "red")),
        ("the white cat is on the table .", ("cat", "white")),
        ("they are very sad .", None),
    ],
)
def test_noun_and_adjective_are_found_before_the_noun_and_after_the_verb(sentence, found):
    assert noun_and_adjective(sentence.split()) == found


def test_no_pair_of_the_test_split_is_in_training_and_every_pair_of_dev_is():
    train, dev, test = (
        {noun_and_adjective(pair.source) for pair in load_corpus("fr", name)} - {None} for name in SPLITS
    )
    assert not test & train
    assert dev <= train
    assert (len(train), len(test)) == (142, 35)


def test_pairs_in_wrong_translations_are_known_more_often_than_with_one_word_exchanged_at_random():
    trained = {noun_and_adjective(pair.source) for pair in load_corpus("fr", "train")} - {None}
    nouns, adjectives = map(set, zip(*trained, strict=True))
    rows = [
        row
        for row in table("bottleneck_mistakes")
        if row["kept"] in ("noun", "adjective") and row["instead"] != "none"
    ]
    written = sum(row["trained"] == "1" for row in rows) / len(rows)
    at_random = []
    for row in rows:
        noun, adjective = noun_and_adjective(row["source"].split())
        with_noun = [(noun, other) for other in adjectives - {adjective}]
        with_adjective = [(other, adjective) for other in nouns - {noun}]
        exchanged = with_noun if row["kept"] == "noun" else with_adjective
        at_random.append(sum(pair in trained for pair in exchanged) / len(exchanged))
    assert written == pytest.approx(0.98, abs=0.01)
    assert sum(at_random) / len(at_random) == pytest.approx(0.8, abs=0.02)


def test_every_sentence_of_the_test_split_has_a_pair():
    assert all(noun_and_adjective(pair.source) for pair in load_corpus("fr", "test"))


def test_test_sentences_are_no_longer_than_the_others():
    longest = {name: max(len(pair.source) for pair in load_corpus("fr", name)) for name in ("train", "test")}
    assert longest["test"] <= longest["train"]


def test_english_words_are_counted_where_nothing_else_is_aligned():
    hats = pair("two hats", "deux chapeaux", ((0,), (1,)))
    other = pair("a hat", "le chapeaux", ((0, 1), (0, 1)))
    assert english_of([hats, other]) == {"deux": "two", "chapeaux": "hat"}


def test_a_mistake_is_told_by_what_is_kept_and_what_stands_instead():
    train = [
        pair("red hat .", "chapeau rouge .", ((1,), (0,), (2,))),
        pair("new cat .", "chat neuf .", ((1,), (0,), (2,))),
    ]
    test = [pair("new hat .", "chapeau neuf .", ((1,), (0,), (2,)))]

    def found(written: str) -> list[tuple[str, str, str]]:
        rows = mistakes(test, [written.split()], train)
        return [(row["kept"], row["instead"], row["trained"]) for row in rows]

    assert found("chapeau neuf .") == []
    assert found("chapeau rouge .") == [("noun", "hat red", "1")]
    assert found("chat rouge .") == [("none", "cat red", "0")]
    assert found("chat chapeau neuf .") == [("noun adjective", "none", "0")]


def test_the_table_of_mistakes_is_of_the_usual_models():
    rows, wrong = table("bottleneck"), table("bottleneck_mistakes")
    size = len(load_corpus("fr", "test"))
    for seed in "012":
        base = {name: str(value) for name, value in asdict(Setting(seed=int(seed))).items()}
        (row,) = (row for row in rows if base.items() <= row.items())
        count = sum(one["seed"] == seed for one in wrong)
        assert float(row["exact_match"]) == pytest.approx(1 - count / size, abs=6e-4)


def test_both_decoders_are_tried_with_the_same_settings():
    tried = {
        kind: [replace(one, attention="none") for one in settings() if one.attention == kind]
        for kind in ATTENTIONS
    }
    assert tried["none"] == tried["additive"]


def test_a_setting_has_its_dropout_in_encoder_and_decoder():
    model = build(Setting(dropout=0.3), 12, 14)
    assert model.encoder.dropout.p == model.decoder.dropout.p == 0.3


def test_a_reversed_encoder_reads_the_last_word_first():
    words = torch.arange(6).view(2, 3)
    assert lengths.encoder_input(words, lengths.Setting()).tolist() == words.tolist()
    assert lengths.encoder_input(words, lengths.Setting(order="reversed")).tolist() == [[2, 1, 0], [5, 4, 3]]


def test_a_model_that_copies_has_all_words_right():
    class Copier:
        """Its encoder hands the words over, and its decoder writes them in turn."""

        encoder = staticmethod(lambda words: words)
        decoder = None

    class Writer:
        init_state = staticmethod(lambda words: (words, 0))

        def __call__(self, token, state):
            words, step = state
            return torch.nn.functional.one_hot(words[:, [step]], lengths.WORDS).float(), (words, step + 1)

    model = Copier()
    model.decoder = Writer()
    assert lengths.words_right(model, lengths.Setting(), 5) == 1
    assert lengths.words_right(model, lengths.Setting(order="reversed"), 5) < 0.5
