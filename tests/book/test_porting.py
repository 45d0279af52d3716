"""What the chapter on porting says of other libraries: their layers compute alike, and their masks do not."""

import math
import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from page_code import COURSE, names_of
from tolerance import assert_close
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right
from transformers import GPT2Config, GPT2Model
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

from benchmarks.references import AnnotatedAttention, d2l
from mha_course import convert
from mha_course.attention import MultiHeadAttention, join_heads, split_heads
from mha_course.convert import halves_from_pairs
from mha_course.language_model import rotary
from mha_course.masking import causal_mask, length_mask
from tools.course import cells

STEM = "one-attention-many-names"
HIDDENS, HEADS, SIZE = 12, 3, 4
LENS = torch.tensor([3, 6])


@pytest.fixture(autouse=True)
def double() -> Any:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


# ---- six versions of the layer, in every direction


def d2l_017(width: int, heads: int) -> nn.Module:
    """D2L's class with the layers that version 0.17 builds, which are not lazy."""
    layer = d2l.MultiHeadAttention(width, heads, 0, True)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        setattr(layer, name, nn.Linear(width, width))
    return layer


def d2l_1_0() -> nn.Module:
    layer = d2l.MultiHeadAttention(HIDDENS, HEADS, 0, True)
    layer(*inputs(), LENS)  # lazy layers take their sizes
    return layer


def inputs() -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(2, n, HIDDENS, generator=generator) for n in (4, 6, 6)]


def call(layer: Any) -> Tensor:
    queries, keys, values = inputs()
    mask = length_mask(LENS, 6)
    if isinstance(layer, nn.MultiheadAttention):
        return layer(queries, keys, values, key_padding_mask=~mask)[0]
    if isinstance(layer, AnnotatedAttention):
        return layer(queries, keys, values, mask[:, None])
    if isinstance(layer, nn.ModuleDict):  # linear layers around the function
        projected = (layer[name](x) for name, x in zip(("W_q", "W_k", "W_v"), inputs(), strict=True))
        heads = [split_heads(x, HEADS) for x in projected]
        return layer["W_o"](join_heads(F.scaled_dot_product_attention(*heads, attn_mask=mask[:, None, None])))
    return layer(queries, keys, values, LENS)


def ours() -> MultiHeadAttention:
    return MultiHeadAttention(HIDDENS, HEADS, bias=True)


def load(source: nn.Module, target: nn.Module) -> nn.Module:
    target.load_state_dict(source.state_dict())
    return target


def linears() -> nn.ModuleDict:
    return nn.ModuleDict({name: nn.Linear(HIDDENS, HIDDENS) for name in ("W_q", "W_k", "W_v", "W_o")})


WAYS: dict[str, Any] = {
    "mha_course": (ours, lambda layer: load(layer, ours()), load),
    "d2l 1.0": (d2l_1_0, convert.from_d2l, convert.to_d2l),
    "d2l 0.17": (lambda: d2l_017(HIDDENS, HEADS), convert.from_d2l, convert.to_d2l),
    "annotated": (lambda: AnnotatedAttention(HEADS, HIDDENS), convert.from_annotated, convert.to_annotated),
    "torch mha": (
        lambda: nn.MultiheadAttention(HIDDENS, HEADS, batch_first=True),
        convert.from_torch,
        lambda layer, _: convert.to_torch(layer),
    ),
    "torch sdpa": (linears, lambda layer: load(layer, ours()), load),
}


@pytest.mark.parametrize("target", WAYS)
@pytest.mark.parametrize("source", WAYS)
def test_six_versions_compute_alike_in_every_direction(source: str, target: str) -> None:
    (make, read, _), (make_target, _, write) = WAYS[source], WAYS[target]
    original, fresh = make(), make_target()
    with torch.no_grad():
        for parameter in original.parameters():
            parameter.uniform_(-0.5, 0.5)  # no bias is 0
        expected = call(original)
        assert not torch.allclose(call(fresh), expected, atol=1e-2)
        assert_close(call(write(read(original), fresh)), expected)


# ---- masks: the output is the row of weights


def one_head() -> dict[str, Any]:
    """Layers of one head whose projections change nothing, and what they are asked."""
    plain, eye = MultiHeadAttention(SIZE, 1, bias=True), torch.eye(SIZE)
    with torch.no_grad():
        for name, parameter in plain.named_parameters():
            parameter.copy_(eye if name.endswith("weight") else torch.zeros(SIZE))
    return {
        "ours": plain.eval(),
        "annotated": convert.to_annotated(plain, AnnotatedAttention(1, SIZE)),
        "d2l": convert.to_d2l(plain, d2l_017(SIZE, 1)),
        "torch": convert.to_torch(plain),
        "qkv": (torch.randn(1, 1, SIZE), torch.randn(1, SIZE, SIZE), eye[None]),
    }


def test_true_attends_for_us_and_sdpa_and_hides_in_both_masks_of_pytorch_s_class() -> None:
    layers = one_head()
    qkv, first = layers["qkv"], torch.tensor([[True, False, False, False]])
    assert layers["ours"](*qkv, mask=first)[0, 0, 0] == 1
    assert layers["annotated"](*qkv, first[None])[0, 0, 0] == 1
    assert F.scaled_dot_product_attention(*qkv, first)[0, 0, 0] == 1
    assert layers["torch"](*qkv, attn_mask=first)[0][0, 0, 0] == 0
    assert layers["torch"](*qkv, key_padding_mask=first)[0][0, 0, 0] == 0


def test_a_mask_of_ones_and_zeros_multiplies_the_odds_by_e() -> None:
    qkv, added = one_head()["qkv"], torch.tensor([[1.0, 0, 0, 0]])
    before, after = (F.scaled_dot_product_attention(*qkv, mask)[0, 0, 0].item() for mask in (None, added))
    assert after / (1 - after) == pytest.approx(math.e * before / (1 - before))


@pytest.mark.parametrize("num_queries", [1, 2, 4])
def test_is_causal_begins_in_the_upper_left_corner_and_causal_lower_right_does_not(num_queries: int) -> None:
    queries = torch.randn(1, num_queries, SIZE)
    keys, values = torch.randn(1, SIZE, SIZE), torch.eye(SIZE)[None]
    upper = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)[0]
    lower = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=causal_lower_right(num_queries, SIZE)
    )[0]
    assert torch.equal(upper > 0, causal_mask(SIZE)[:num_queries])
    assert torch.equal(lower > 0, causal_mask(SIZE)[-num_queries:])


def test_a_query_without_keys_gets_an_average_nan_or_zero() -> None:
    layers = one_head()
    qkv, nothing = layers["qkv"], torch.zeros(1, SIZE, dtype=torch.bool)
    average, zero = torch.full((SIZE,), 1 / SIZE), torch.zeros(SIZE)
    with torch.no_grad():
        for layer in ("d2l", "ours"):
            row = layers[layer](*qkv, torch.tensor([0]))[0, 0]
            assert torch.equal(row, average if layer == "d2l" else zero), layer
        assert torch.equal(layers["annotated"](*qkv, nothing[None])[0, 0], average)
        assert torch.equal(F.scaled_dot_product_attention(*qkv, nothing)[0, 0], zero)
        for need_weights in (True, False):
            row = layers["torch"](*qkv, attn_mask=~nothing, need_weights=need_weights)[0][0, 0]
            assert row.isnan().all() if need_weights else torch.equal(row, zero)


@pytest.mark.parametrize("training", [True, False])
def test_the_fast_path_of_pytorch_s_class_returns_nan_where_training_returns_zero(training: bool) -> None:
    X, hidden = torch.randn(1, SIZE, SIZE), torch.ones(1, SIZE, dtype=torch.bool)
    layer = nn.MultiheadAttention(SIZE, 2, batch_first=True).train(training)  # the path needs even heads
    with torch.no_grad():
        output = layer(X, X, X, key_padding_mask=hidden, need_weights=False)[0]
    assert torch.equal(output, torch.zeros_like(X)) if training else output.isnan().all()


def test_a_fill_that_is_not_low_enough_gives_all_weight_to_hidden_keys() -> None:
    layers = one_head()
    _, keys, values = layers["qkv"]
    queries = -5e9 * keys[:, :1] / keys[:, :1].square().sum()  # the score of key 0 is -2.5e9
    asked, first = (queries, keys, values), torch.tensor([[True, False, False, False]])
    assert layers["d2l"](*asked, torch.tensor([1]))[0, 0, 0] == 0
    assert layers["annotated"](*asked, first[None])[0, 0, 0] == 0
    assert F.scaled_dot_product_attention(*asked, first)[0, 0, 0] == 1
    assert layers["ours"](*asked, torch.tensor([1]))[0, 0, 0] == 1


# ---- the page's own functions


GIVEN = {
    "F": F, "MultiHeadAttention": MultiHeadAttention, "split_heads": split_heads,
    "join_heads": join_heads, "length_mask": length_mask, "causal_mask": causal_mask, "rotary": rotary,
}  # fmt: skip


def test_gpt2_of_the_page_is_gpt2_of_transformers_and_its_port_is_that_of_the_package() -> None:
    keys = "inputs-code", "gpt2-code", "transpose-code", "solution-gpt2"
    names = names_of(STEM, *keys, given=GIVEN)
    config = GPT2Config(n_embd=HIDDENS, n_head=HEADS, attn_implementation="sdpa")
    theirs, X = GPT2Attention(config, layer_idx=0).eval(), torch.randn(2, 5, HIDDENS)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_()
    file = theirs.state_dict()
    assert set(names["file"]) == set(file)
    expected = theirs(X)[0]
    assert_close(names["gpt2_attention"](file, X), expected)
    ported = names["port_gpt2"](file, transpose=True)
    assert_close(ported(X, X, X, mask=causal_mask(5)), expected)
    for name, tensor in names["to_gpt2"](ported).items():
        assert torch.equal(tensor, file[name]), name


def test_pairs_of_the_page_are_those_that_the_package_reorders() -> None:
    keys = "inputs-code", "pairing-rotary", "pairing-code", "solution-pairs"
    names = names_of(STEM, *keys, given=GIVEN)
    W = torch.randn(32, 32)
    assert torch.equal(names["reorder"](W), halves_from_pairs(W, 4))
    X = torch.randn(6, 8)
    turned = names["rotary_neighbours"](X)
    assert_close(halves_from_pairs(turned.T, 1).T, rotary(halves_from_pairs(X.T, 1).T))


def test_the_lines_for_a_real_model_run_with_a_random_one(tmp_path: Any, capsys: Any) -> None:
    GPT2Model(GPT2Config(n_layer=1, n_head=12, n_embd=768, vocab_size=8)).save_pretrained(tmp_path)
    text = cells(COURSE.read("en", STEM), "markdown")["convert"].source
    lines = re.search(r"```python\n(.+?)```", text, re.DOTALL)
    assert lines
    names = names_of(STEM, "inputs-code", given=GIVEN | {"convert": convert})
    exec(lines[1].replace("openai-community/gpt2", str(tmp_path)), names)
    assert capsys.readouterr().out.endswith("0.000000\n")
