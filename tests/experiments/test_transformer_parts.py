"""The script that trains the Transformer without its parts, and the tables that lie in the package."""

import csv

import pytest
import torch
from torch import nn

from mha_course.corpus import Pair
from tools.experiments.runs import DATA
from tools.experiments.transformer_parts import (
    MODELS,
    PAGE_MODEL,
    PAGE_RATE,
    REMOVALS,
    Setting,
    build,
    settings,
    wrong,
)

SOURCE, LENS, TARGET = torch.tensor([[4, 5, 6, 7]]), torch.tensor([4]), torch.tensor([[1, 8, 9]])


def model_without(name):
    return build(Setting(name, PAGE_RATE, 0), 12, 14).eval()


@torch.no_grad()
def logits(model, source=SOURCE):
    return model(source, TARGET, LENS)[0]


@pytest.mark.parametrize("name", list(REMOVALS)[1:])
def test_every_removal_changes_the_scores_and_no_first_weight(name):
    whole, part = model_without(PAGE_MODEL), model_without(name)
    assert not torch.allclose(logits(whole), logits(part))
    kept = dict(whole.named_parameters())
    assert all(torch.equal(weight, kept[key]) for key, weight in part.named_parameters())


@pytest.mark.parametrize("name", MODELS)
def test_one_token_at_a_time_gives_what_the_whole_target_gives(name):
    model = model_without(name)
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(SOURCE, LENS), LENS)
        steps = []
        for token in TARGET.split(1, dim=1):
            step, state = model.decoder(token, state)
            steps.append(step)
    assert torch.allclose(torch.cat(steps, dim=1), logits(model), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "sees_order"), [(PAGE_MODEL, True), ("- P (encoder)", False), ("- P", False)]
)
def test_without_positions_the_order_of_the_source_does_not_matter(name, sees_order):
    model = model_without(name)
    assert torch.allclose(logits(model), logits(model, SOURCE.flip(1)), atol=1e-6) != sees_order


@torch.no_grad()
@pytest.mark.parametrize(("name", "direct_way"), [(PAGE_MODEL, True), ("- residual", False)])
def test_only_a_residual_connection_brings_the_input_past_parts_that_give_nothing(name, direct_way):
    model = model_without(name)
    X = torch.randn(1, 4, 64)
    for block in (*model.encoder.blocks, *model.decoder.blocks):
        for weights in block.ffn.parameters():
            weights.zero_()
    encoder_block, decoder_block = model.encoder.blocks[0], model.decoder.blocks[0]
    nothing = decoder_block.self_attention.project(X[:, :0], X[:, :0])
    memory = decoder_block.cross_attention.project(X, X)
    assert bool(encoder_block(X).any()) == direct_way
    assert bool(decoder_block(X, nothing, memory, None, False)[0].any()) == direct_way


def test_what_is_taken_away_is_gone():
    assert not any(isinstance(part, nn.LayerNorm) for part in model_without("- LN").modules())
    blocks = model_without("- FFN").encoder.blocks
    assert not blocks[0].ffn(torch.randn(1, 4, 64)).any()


def test_mistakes_are_the_translations_that_differ():
    pairs = [Pair("1", "t", ("a",), ("x", "y"), ()), Pair("2", "t", ("b",), ("z",), ())]
    found = list(wrong(pairs, [["x", "y"], ["z", "z"]], 2))
    assert found == [{"seed": "2", "source": "b", "target": "z", "translation": "z z"}]


def test_the_tables_in_the_package_hold_every_setting_and_its_mistakes():
    parts, mistakes = (
        list(csv.DictReader((DATA / f"transformer_{name}.tsv").open(encoding="utf-8"), delimiter="\t"))
        for name in ("parts", "mistakes")
    )
    in_table = [Setting(row["model"], float(row["learning_rate"]), int(row["seed"])) for row in parts]
    assert in_table == list(settings())
    for row, setting in zip(parts, settings(), strict=True):
        if (setting.model, setting.learning_rate) == (PAGE_MODEL, PAGE_RATE):
            share = 1 - sum(wrong["seed"] == row["seed"] for wrong in mistakes) / 300
            assert float(row["exact_match"]) == pytest.approx(share, abs=5e-4)
