"""The script that prunes models in many ways, its tables in the package, and what the page writes."""

import copy
from itertools import product

import pytest
import torch
from page_code import names_of
from tolerance import assert_close

from mha_course import heads
from mha_course.attention import MultiHeadAttention
from mha_course.heads import Head, all_heads, attentions
from mha_course.parameters import stored_parameters
from mha_course.results import stored_results
from mha_course.transformer import Transformer
from tools.course import Course
from tools.experiments import pruning
from tools.experiments.pruning import (
    COUNTS,
    DATA_DRAWS,
    HALF,
    KINDS,
    MORE_EPOCHS,
    RANDOM_DRAWS,
    TUNED,
    greedy,
    least,
    normalized,
)
from tools.experiments.runs import SEEDS

WAYS = ("greedy", "leave_one_out", "gradient", "gradient_l2", "reversed")
IMPORTANCE = {Head("a", 0): 3.0, Head("a", 1): 4.0, Head("b", 0): 10.0, Head("b", 1): 0.0}


def test_the_least_important_heads_go_and_every_module_keeps_one():
    assert least(IMPORTANCE, 1) == [Head("b", 1)]
    assert least(IMPORTANCE, 4) == [Head("b", 1), Head("a", 0)]


def test_normalized_importances_have_length_one_in_every_module_and_the_same_order():
    found = normalized(IMPORTANCE)
    assert list(found.values()) == pytest.approx([0.6, 0.8, 1, 0])


def test_greedy_measures_again_after_each_head(monkeypatch):
    """Heads 0 and 1 stand in for each other: either may go, but then the other one is needed."""

    def importance(model, score, without):
        rest = [head for head in all_heads(model) if head not in without]
        return {head: 5.0 if without and head.number < 2 else float(head.number) for head in rest}

    monkeypatch.setattr(pruning, "leave_one_out", importance)
    chosen = greedy(MultiHeadAttention(num_hiddens=4, num_heads=4), float, 2)
    assert chosen == [Head("", 0), Head("", 2)]


def test_the_table_of_choices_holds_every_choice_for_every_seed():
    rows = stored_results("pruning")
    found = {(row["choice"], row["removed"], row["draw"], row["trained"], row["seed"]) for row in rows}
    wanted = {("none", 0, 0, epochs, seed) for epochs in (0, MORE_EPOCHS) for seed in SEEDS}
    wanted |= {(way, count, 0, 0, seed) for way, count, seed in product(WAYS, COUNTS, SEEDS)}
    wanted |= {
        ("random", count, draw, 0, seed) for count, draw, seed in product(COUNTS, range(RANDOM_DRAWS), SEEDS)
    }
    wanted |= {(way, HALF, 0, MORE_EPOCHS, seed) for way, seed in product(TUNED, SEEDS)}
    assert found == wanted
    assert len(rows) == len(wanted)
    assert all(0 <= row["exact_match"] <= 1 for row in rows)


def test_the_table_of_data_crosses_the_two_kinds():
    rows = stored_results("pruning_data")
    names = ("seed", "draw", "chosen_on", "tested_on")
    assert [tuple(row[name] for name in names) for row in rows] == list(
        product(SEEDS, range(DATA_DRAWS), KINDS, KINDS)
    )


def test_only_slicing_saves_parameters_and_operations():
    for row in stored_results("pruning_costs"):
        saved = row["heads"] == "sliced"
        assert (row["parameters"] < 1) == saved
        assert (row["flops"] < 1) == saved


def test_measures_search_and_slicing_of_the_page_equal_the_package():
    torch.manual_seed(0)
    model = Transformer(9, 9).double().eval()
    sentences = [torch.randint(9, (1, 5)) for _ in range(3)]

    def loss_of(sentence):
        return model(sentence, sentence)[0].square().mean()

    def dev_loss():
        return sum(loss_of(sentence) for sentence in sentences).item()

    removed = [Head("encoder.blocks.0.attention", 1), Head("decoder.blocks.1.cross_attention", 3)]
    given = {"model": model, "loss_of": loss_of, "dev_loss": dev_loss, "removed": removed, "copy": copy}
    given |= {"labels": dict.fromkeys(attentions(model), ""), "batches": lambda *_, batch_size: sentences}
    given |= {"dev_pairs": None, "vocabularies": ()}
    given |= {name: getattr(heads, name) for name in heads.__all__}
    cells = "leave-one-out-code", "gradient-code", "prune-greedy-code", "slicing-code"
    page = names_of("pruning-heads", *cells, given=given)

    def score():
        return -dev_loss()

    assert page["rises"](removed) == pytest.approx(heads.leave_one_out(model, score, without=removed))
    expected = heads.gradient_importance(model, loss_of, sentences)
    assert page["by_gradient"] == pytest.approx(expected, rel=1e-5)  # the page adds up in float32
    assert page["greedy"](4) == greedy(model, score, 4)
    whole = heads.prune_heads(model, removed)(sentences[0], sentences[0])[0]
    assert_close(page["sliced"](sentences[0], sentences[0])[0], whole)


def test_two_heads_by_hand_equal_the_code(capsys):
    names_of("pruning-heads", "gates-by-hand")
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    numbers = [[cell.strip() for cell in row if cell.strip()] for row in rows[1:]]
    assert numbers == [["5", "[15.0, 3.0]", "[6.0, 2.0]"], ["4", "[9.0, 1.0]", "[0.0, 0.0]"]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stored_transformer_translates_as_its_chapter_says(seed):
    untrained = pruning.Experiment(seed, pruning.load(), epochs=0)
    untrained.model.load_state_dict(stored_parameters("transformer-fr", seed))
    (chapter,) = (row[f"seed {seed}"] for row in Course().claims if row["claim"] == "held_out_exact_match")
    found = untrained.match_without([], untrained.data.test)
    assert found == pytest.approx(float(chapter), abs=0.01)  # it is stored in half precision
