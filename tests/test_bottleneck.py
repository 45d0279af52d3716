"""The experiment behind the tables of the context vector's width and of mistakes, and these tables."""

import csv
from dataclasses import asdict

import pytest
import torch

from mha_course.corpus import Pair, load_corpus
from tools.experiments.bottleneck import (
    DATA,
    Setting,
    build,
    described,
    english_of,
    mistakes,
    settings,
    write_table,
)


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
    assert described(sentence.split()) == found


def test_no_pair_of_the_test_split_is_in_training():
    trained = {described(pair.source) for pair in load_corpus("fr", "train")}
    held_out = {described(pair.source) for pair in load_corpus("fr", "test")}
    assert None not in held_out
    assert not held_out & trained


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


def test_tables_hold_every_setting_and_the_mistakes_of_the_base_models():
    rows, wrong = table("bottleneck"), table("bottleneck_mistakes")
    names = list(asdict(Setting()))
    expected = [tuple(str(value) for value in asdict(setting).values()) for setting in settings()]
    assert [tuple(row[name] for name in names) for row in rows] == expected
    size = len(load_corpus("fr", "test"))
    for seed in "012":
        base = {name: str(value) for name, value in asdict(Setting(seed=int(seed))).items()}
        (row,) = (row for row in rows if base.items() <= row.items())
        count = sum(one["seed"] == seed for one in wrong)
        assert float(row["exact_match"]) == pytest.approx(1 - count / size, abs=6e-4)


@pytest.mark.parametrize("setting", [Setting(), Setting(direction="both"), Setting(attention="additive")])
def test_the_seed_decides_the_first_weights(setting):
    model, twin = build(setting, 12, 14), build(setting, 12, 14)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    assert model.encoder.rnn.bidirectional == (setting.direction == "both")


def test_a_table_is_read_as_it_was_written(tmp_path):
    write_table(tmp_path / "table.tsv", [{"a": "1", "b": "x y"}, {"a": "2", "b": "z"}])
    assert (tmp_path / "table.tsv").read_text(encoding="utf-8") == "a\tb\n1\tx y\n2\tz\n"
