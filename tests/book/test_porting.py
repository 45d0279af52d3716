"""The functions of the chapter on porting compute what other libraries and the package compute."""

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from page_code import COURSE, names_of
from tolerance import assert_close
from transformers import GPT2Config, GPT2Model
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

from mha_course import convert
from mha_course.attention import MultiHeadAttention, join_heads, split_heads
from mha_course.convert import halves_from_pairs
from mha_course.language_model import rotary
from mha_course.masking import causal_mask, length_mask
from tools.course import cells

STEM = "one-attention-many-names"
HIDDENS, HEADS = 12, 3


@pytest.fixture(autouse=True)
def double() -> Any:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


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
