"""The decoder-only Transformer: rotary positions, cache, sampling, and layers as GPT-2 and Llama have them."""

# ruff: noqa: E501 - the table of errors has one line a row

import copy
import math
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import pytest
import torch
from operators import Operators
from test_transformer import copy_block
from tolerance import assert_close
from torch import nn
from torch._dynamo.testing import CompileCounter
from transformers import DynamicCache, GPT2Config, LlamaConfig, Qwen3Config
from transformers.generation.logits_process import (
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention

from mha_course import language_model
from mha_course.attention import split_heads
from mha_course.convert import from_gpt2, from_llama, halves_from_pairs
from mha_course.corpus import Pair, Vocabulary, batches
from mha_course.language_model import (
    LanguageModel,
    LanguageModelBlock,
    RotaryAttention,
    StaticCache,
    fit_language_model,
    generate,
    next_token_probabilities,
    rotary,
    rotary_angles,
)
from mha_course.masking import causal_mask

VOCAB, HIDDENS, HEADS, LAYERS = 11, 24, 4, 2
STEPS = 7
SDPA = nn.functional.scaled_dot_product_attention


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def make(dtype=torch.float64, **options):
    torch.manual_seed(0)
    return LanguageModel(VOCAB, HIDDENS, 20, HEADS, LAYERS, **options).to(dtype).eval()


def tokens(batch=3, steps=STEPS):
    return torch.randint(0, VOCAB, (batch, steps), generator=torch.Generator().manual_seed(1))


def normal(*shape):
    return torch.randn(shape, dtype=torch.float64)


def randomized(module):
    """In float64, in evaluation mode, with biases that are not 0."""
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.4)
    return module


# ---- rotary positions ----


def turned_pairs(X, base=10000.0):
    """Turn features as the paper does: 2j and 2j + 1 are a complex number, multiplied by a rotation."""
    steps, d = X.shape[-2:]
    angles = torch.arange(steps).double()[:, None] / base ** (torch.arange(0, d, 2).double() / d)
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(torch.view_as_complex(X.unflatten(-1, (-1, 2))) * turns).flatten(-2)


def test_rotary_by_hand():
    # Features 0 and 2 are turned by i, features 1 and 3 by i / 100.
    X = torch.tensor([[1.0, 0.0, 0.0, 1.0]] * 3)
    for i, row in enumerate(rotary(X)):
        expected = [math.cos(i), -math.sin(i / 100), math.sin(i), math.cos(i / 100)]
        assert_close(row, torch.tensor(expected))


@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_rotary_of_halves_is_rotary_of_pairs_with_the_features_reordered(base):
    X = normal(2, 3, STEPS, 8)
    order = halves_from_pairs(torch.arange(8.0), 1).long()
    assert_close(rotary(X[..., order], base=base), turned_pairs(X, base)[..., order])


def test_scores_after_rotary_depend_on_the_distance_only():
    query, key = normal(8).expand(30, 8), normal(8).expand(30, 8)
    scores = rotary(query) @ rotary(key).T  # (queries, keys)
    for distance in range(-20, 20):
        diagonal = scores.diagonal(distance)
        assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert scores[0].std() > 0.1
    far = rotary(query, 100_000) @ rotary(key, 100_000).T
    assert_close(far, scores, gradient=True)


def test_rotary_keeps_lengths_and_starts_at_the_offset():
    X = normal(2, 3, STEPS, 8)
    assert_close(rotary(X).norm(dim=-1), X.norm(dim=-1))
    assert torch.equal(rotary(X)[..., 3:, :], rotary(X[..., 3:, :], offset=3))
    assert torch.equal(rotary(X)[..., 0, :], X[..., 0, :])
    assert rotary(X[..., :0, :]).shape == (2, 3, 0, 8)
    assert rotary(X.half()).dtype == torch.float16
    far = rotary(X.half(), 3001).double()  # half precision has no odd number above 2048
    assert_close(far, rotary(X.half().double(), 3001), dtype=torch.float16)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_rotary_is_precise_at_far_positions(dtype):
    place = 1_000_003
    turned = rotary(torch.tensor([[1.0, 1.0, 0.0, 0.0]], dtype=dtype), place)
    angles = [place, place / 100]
    expected = [*(math.cos(angle) for angle in angles), *(math.sin(angle) for angle in angles)]
    assert_close(turned[0], torch.tensor(expected, dtype=torch.float64), dtype=dtype, gradient=True)


def test_angles_that_are_given_are_those_of_the_offset():
    X = normal(2, 3, STEPS, 8)
    angles = rotary_angles(torch.arange(5, 5 + STEPS), 8, 300.0, X.dtype)
    assert_close(rotary(X, angles=angles), rotary(X, 5, 300.0))
    assert rotary(X.half(), angles=angles).dtype == torch.float16


# ---- the attention layer, beside those of GPT-2 and Llama ----


def llama(groups=HEADS, bias=False, **options):
    config = LlamaConfig(
        hidden_size=HIDDENS, num_attention_heads=HEADS, num_key_value_heads=groups, attention_bias=bias,
        attn_implementation="sdpa", **options,
    )  # fmt: skip
    layer = randomized(LlamaAttention(config, layer_idx=0))
    theirs = LlamaRotaryEmbedding(config)

    def turn(X, positions):
        """Their cosines and sines, which they compute in float32, in float64."""
        d = layer.head_dim
        speeds = config.rope_parameters["rope_theta"] ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        angles = (positions[..., None] * speeds).repeat(1, 1, 2)
        for exact, rounded in zip((angles.cos(), angles.sin()), theirs(X, positions), strict=True):
            assert_close(rounded, exact, dtype=torch.float32)
        return angles.cos(), angles.sin()

    def call(X, cache=None, offset=0):
        positions = torch.arange(offset, offset + X.shape[1])[None]
        mask = None
        if cache is not None:
            total = offset + X.shape[1]
            mask = causal_mask(total)[offset:].expand(len(X), 1, -1, -1)
        return layer(X, turn(X, positions), mask, past_key_values=cache)[0]

    return layer, call


def gradients(output, X, *layers):
    return torch.autograd.grad(output.square().sum(), [X, *(weight for layer in layers for weight in layer)])


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("bias", [False, True])
def test_llama_s_attention_is_rotary_attention(groups, bias):
    layer, call = llama(groups, bias, rope_parameters={"rope_type": "default", "rope_theta": 300.0})
    ours, X = from_llama(layer), normal(2, STEPS, HIDDENS).requires_grad_()
    assert from_llama(llama(attention_dropout=0.25)[0]).dropout.p == 0.25
    assert (ours.num_groups, ours.base, ours.training) == (groups, 300.0, False)
    output, _, _ = ours(X)
    expected = call(X)
    assert_close(output, expected)
    theirs = [getattr(layer, name).weight for name in ("q_proj", "k_proj", "v_proj", "o_proj")]
    weights = [getattr(ours, name).weight for name in ("W_q", "W_k", "W_v", "W_o")]
    for one, other in zip(gradients(output, X, weights), gradients(expected, X, theirs), strict=True):
        assert_close(one, other, gradient=True)


def test_llama_s_cache_is_our_cache():
    layer, call = llama(groups=2)
    ours, X = from_llama(layer), normal(2, STEPS, HIDDENS)
    theirs, cache, start = DynamicCache(), None, 0
    for steps in (3, 1, 2, 1):
        part = X[:, start : start + steps]
        output, cache, _ = ours(part, cache)
        assert_close(output, call(part, theirs, start))
        start += steps
        assert_close(cache[0], theirs.layers[0].keys)
        assert_close(cache[1], theirs.layers[0].values)


def test_weights_of_neighbouring_pairs_give_the_same_scores_after_conversion():
    ours = randomized(RotaryAttention(HIDDENS, HEADS, 2, bias=True))
    X, given = normal(2, STEPS, HIDDENS), copy.deepcopy(ours)
    with torch.no_grad():
        queries = turned_pairs(split_heads(given.W_q(X), HEADS))
        keys = turned_pairs(split_heads(given.W_k(X), 2)).repeat_interleave(HEADS // 2, dim=1)
        for layer, heads in ((ours.W_q, HEADS), (ours.W_k, 2)):
            layer.weight.copy_(halves_from_pairs(layer.weight, heads))
            layer.bias.copy_(halves_from_pairs(layer.bias, heads))
    scores = queries @ keys.mT / math.sqrt(HIDDENS // HEADS)  # (batch, heads, queries, keys)
    expected = scores.masked_fill(~causal_mask(STEPS), -torch.inf).softmax(dim=-1)
    assert_close(ours(X, need_weights=True)[2], expected)
    assert not torch.allclose(given(X, need_weights=True)[2], expected, atol=1e-3)


def gpt2():
    config = GPT2Config(n_embd=HIDDENS, n_head=HEADS, attn_pdrop=0.25, attn_implementation="sdpa")
    return randomized(GPT2Attention(config, layer_idx=0))


def test_gpt2_s_attention_is_multi_head_attention_with_a_causal_mask():
    layer, X = gpt2(), normal(2, STEPS, HIDDENS).requires_grad_()
    ours = from_gpt2(layer)
    assert (ours.dropout.p, ours.training) == (0.25, False)
    output, expected = ours(X, X, X, mask=causal_mask(STEPS)), layer(X)[0]
    assert_close(output, expected)
    (ours_X, *ours_gradients) = gradients(
        output, X, [ours.W_q.weight, ours.W_k.weight, ours.W_v.weight, ours.W_o.weight]
    )
    their_X, attention, projection = gradients(expected, X, [layer.c_attn.weight, layer.c_proj.weight])
    assert_close(ours_X, their_X, gradient=True)
    for one, other in zip(ours_gradients, (*attention.T.chunk(3), projection.T), strict=True):
        assert_close(one, other, gradient=True)


def test_gpt2_s_cache_is_what_project_returns():
    layer, X = gpt2(), normal(2, STEPS, HIDDENS)
    ours, theirs = from_gpt2(layer), DynamicCache()
    layer(X[:, :-1].contiguous(), past_key_values=theirs)
    last = layer(X[:, -1:].contiguous(), past_key_values=theirs)[0]
    keys, values = ours.project(X, X)
    assert_close(keys, theirs.layers[0].keys)
    assert_close(values, theirs.layers[0].values)
    assert_close(ours.attend(X[:, -1:], keys, values, None, False)[0], last)


@pytest.mark.parametrize(
    ("scaling", "kind"), [(None, None), ({"rope_type": "default"}, None), ({"type": "yarn"}, "yarn")]
)
def test_llama_of_transformers_4_has_its_base_in_the_config(scaling, kind):
    layer, _ = llama(groups=2)
    expected, config = from_llama(layer), layer.config.to_dict()
    del config["rope_parameters"]
    layer.config = SimpleNamespace(**config | {"rope_theta": 300.0, "rope_scaling": scaling})
    if kind:
        with pytest.raises(ValueError, match=f"module must have rope_type 'default', got '{kind}'"):
            from_llama(layer)
    else:
        ours = from_llama(layer)
        assert (ours.base, ours.num_groups) == (300.0, 2)
        assert torch.equal(ours.W_q.weight, expected.W_q.weight)


@pytest.mark.parametrize("convert", [from_gpt2, from_llama])
def test_a_class_built_on_theirs_is_converted_too(convert):
    layer = gpt2() if convert is from_gpt2 else llama()[0]
    expected = convert(layer).state_dict()
    layer.__class__ = type("Own", (type(layer),), {})
    for name, weight in convert(layer).state_dict().items():
        assert torch.equal(weight, expected[name])


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_both_paths_give_the_same_output(groups):
    layer, X = randomized(RotaryAttention(HIDDENS, HEADS, groups)), normal(2, STEPS, HIDDENS)
    fused, (keys, values), no_weights = layer(X)
    plain, _, weights = layer(X, need_weights=True)
    assert no_weights is None
    assert_close(plain, fused)
    assert keys.shape == values.shape == (2, groups, STEPS, HIDDENS // HEADS)
    assert weights.shape == (2, HEADS, STEPS, STEPS)
    assert_close(weights.sum(-1), torch.ones(2, HEADS, STEPS, dtype=torch.float64))
    assert weights.masked_select(~causal_mask(STEPS)).eq(0).all()
    _, cache, _ = layer(X[:, :4])
    for part in ([4], [4, 5]):
        output, _, cached_weights = layer(X[:, part], cache, need_weights=True)
        assert_close(output, layer(X[:, part], cache)[0])
        assert_close(cached_weights, weights[:, :, part, : part[-1] + 1])


def test_dropout_hides_weights_in_training_only():
    layer, X = randomized(RotaryAttention(HIDDENS, HEADS, dropout=1.0)), normal(2, STEPS, HIDDENS)
    _, _, weights = layer(X, need_weights=True)
    assert layer(X)[0].any()
    for need_weights in (False, True):
        output, _, dropped = layer.train()(X, need_weights=need_weights)
        assert output.eq(0).all()
        assert dropped is None or torch.equal(dropped, weights)


# ---- the model ----


def test_without_rotary_the_model_is_torch_s_encoder_with_a_causal_mask():
    ours = make()
    with torch.no_grad():
        for name, parameter in ours.named_parameters():
            if "norm" in name:
                parameter.normal_()
    layer = nn.TransformerEncoderLayer(HIDDENS, HEADS, 20, 0.0, batch_first=True, norm_first=True)
    theirs = nn.TransformerEncoder(layer, LAYERS, ours.norm, enable_nested_tensor=False).double()
    for block, copied in zip(ours.blocks, theirs.layers, strict=True):
        copy_block(copied, block)
    expected = ours.dense(theirs(ours.embedding(tokens()), mask=~causal_mask(STEPS)))
    assert not torch.allclose(ours(tokens())[0], expected, atol=1e-3)
    with mock.patch.object(language_model, "rotary", lambda X, offset, base, angles: X):
        assert_close(ours(tokens())[0], expected)


def test_angles_are_computed_once_a_pass_and_no_mask_is_built_in_training():
    model, text = make().train(), tokens()
    with mock.patch.object(language_model, "rotary_angles", wraps=rotary_angles) as angles:
        with Operators() as seen:
            model(text)[0].sum().backward()
        assert angles.call_count == 1
    assert seen.count("sin") == seen.count("cos") == 1
    assert seen.count("tril") == seen.count("where") == 0
    assert not seen.booleans


def test_fused_attention_of_a_whole_text_is_told_that_it_is_causal():
    model, text = make(num_groups=2), tokens()
    with mock.patch.object(nn.functional, "scaled_dot_product_attention", wraps=SDPA) as attend:
        _, cache = model(text[:, :4])
        assert [call.args[5] for call in attend.call_args_list] == [True] * LAYERS
        assert all(call.args[3] is None for call in attend.call_args_list)
        attend.reset_mock()
        model(text[:, 4:5], cache)  # one step may see everything
        assert all(call.args[3] is None and not call.args[5] for call in attend.call_args_list)


def test_blocks_of_different_bases_are_refused_since_they_share_their_angles():
    model = make()
    model.blocks[1].attention.base = 300.0
    with pytest.raises(ValueError, match=r"attention must have one base, got \[300.0, 10000.0\]"):
        model(tokens())
    model.blocks[0].attention.base = 300.0
    changed, _ = model(tokens())
    assert not torch.allclose(changed, make()(tokens())[0], atol=1e-4)


def test_the_order_of_earlier_tokens_matters_with_one_layer():
    torch.manual_seed(0)
    model = LanguageModel(VOCAB, HIDDENS, 20, HEADS, num_layers=1).double()
    given = tokens()
    other = torch.cat((given[:, :-1].flip(1), given[:, -1:]), dim=1)
    assert not torch.allclose(model(given)[0][:, -1], model(other)[0][:, -1], atol=1e-4)


def test_dropout_stands_at_every_place():
    model = make(dropout=1.0).train()
    logits, _ = model(tokens())
    assert_close(logits, model.dense(model.norm(torch.zeros_like(logits[..., :1]).expand(-1, -1, HIDDENS))))
    model.dropout.p = 0.0  # the blocks add nothing
    assert_close(model(tokens())[0], model.dense(model.norm(model.embedding(tokens()))))
    for block in model.blocks:
        block.dropout.p = 0.0
    attention = [block.attention for block in model.blocks]
    assert {layer.dropout.p for layer in attention} == {1.0}


@pytest.mark.parametrize(("batch", "steps"), [(0, 5), (2, 0), (1, 1)])
def test_sizes_of_zero_and_one(batch, steps):
    logits, cache = make()(tokens(batch, steps))
    assert logits.shape == (batch, steps, VOCAB)
    assert make()(tokens(batch, 1), cache)[0].isfinite().all()


# ---- the next token ----


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("top_k", [None, 1, 4, 50])
@pytest.mark.parametrize("top_p", [None, 0.05, 0.6, 0.99])
def test_probabilities_are_those_of_transformers(temperature, top_k, top_p):
    logits = 2 * normal(5, 9)
    scores = TemperatureLogitsWarper(temperature)(None, logits)
    if top_k is not None:
        scores = TopKLogitsWarper(top_k)(None, scores)
    if top_p is not None:
        scores = TopPLogitsWarper(top_p)(None, scores)
    assert_close(next_token_probabilities(logits, temperature, top_k, top_p), scores.softmax(dim=-1))


def test_extreme_settings():
    logits = torch.tensor([[0.1, 2.0, 2.0, -torch.inf], [30.0, -30.0, 0.0, 1e4]])
    best = torch.tensor([[0.0, 1, 0, 0], [0, 0, 0, 1]])
    for options in ({"temperature": 0}, {"top_k": 1}, {"top_p": 0.0}):
        assert torch.equal(next_token_probabilities(logits, **options), best)
    assert_close(next_token_probabilities(logits, 1e-36)[1], best[1])  # 1e4 / 1e-36 overflows
    for options in ({"top_p": 1.0}, {"top_k": 4}, {"top_k": 9}):
        assert_close(next_token_probabilities(logits, **options), logits.softmax(dim=-1))
    assert_close(next_token_probabilities(logits[1], 1e30), torch.full((4,), 0.25))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("options", [{}, {"top_p": 0.9}, {"top_k": 40_000}, {"temperature": 0}])
def test_probabilities_of_half_precision_are_those_of_float32(dtype, options):
    logits = torch.zeros(50_000, dtype=dtype)
    probabilities = next_token_probabilities(logits, **options)
    assert torch.equal(probabilities, next_token_probabilities(logits.float(), **options))
    assert probabilities.double().sum().item() == pytest.approx(1, abs=1e-5)
    if "top_p" in options:
        assert abs(probabilities.count_nonzero() - 45_000) <= 50


# ---- writing ----


def test_greedy_text_is_what_recomputing_gives():
    model, text = make(), tokens(steps=3)
    expected = text
    for _ in range(6):
        logits, _ = model(expected)
        expected = torch.cat((expected, logits[:, -1:].argmax(dim=-1)), dim=1)
    assert torch.equal(generate(model, text, 6, temperature=0), expected)
    assert torch.equal(generate(model, text, 0), text)


@pytest.mark.parametrize("options", [{}, {"num_groups": 2}, {"num_groups": 1, "dropout": 0.5}])
@pytest.mark.parametrize("prompt", [1, 5])
@pytest.mark.parametrize("writing", [{"temperature": 0}, {"temperature": 1.3, "top_k": 7, "stop": 3}])
def test_a_static_cache_changes_no_token(options, prompt, writing):
    model = make(**options)
    texts = [
        generate(
            model, tokens(20, prompt), 30, static_cache=static,
            generator=torch.Generator().manual_seed(2), **writing,
        )
        for static in (False, True)
    ]  # fmt: skip
    assert torch.equal(*texts)
    assert texts[0].shape[1] > prompt + 10
    assert torch.equal(generate(model, tokens(), 0, static_cache=True), tokens())


@pytest.mark.parametrize("num_groups", [None, 2])
def test_a_static_cache_gives_the_logits_of_the_whole_text(num_groups):
    model, given = make(num_groups=num_groups), tokens()
    with torch.no_grad():
        whole, last = model(given)
        read, cache, logits = StaticCache(model, given[:, :3], STEPS - 3), None, []
        for part in given.split([3] + [1] * (STEPS - 3), dim=1):
            step, cache = read(part, cache)
            logits.append(step)
    assert_close(torch.cat(logits, dim=1), whole)
    for pairs, expected_pairs in zip(cache, last, strict=True):
        for part, expected in zip(pairs, expected_pairs, strict=True):
            assert_close(part, expected)


def test_a_static_cache_writes_with_a_model_that_only_has_other_parts():
    """What a class of one's own adds may be read still, as long as it computes in the same way."""
    given = make()
    expected = generate(given, tokens(), 5, temperature=0)
    given.__class__ = type("Own", (LanguageModel,), {"note": 3})
    assert torch.equal(generate(given, tokens(), 5, temperature=0, static_cache=True), expected)


def test_a_static_cache_stays_where_it_is_and_one_step_is_one_graph():
    torch._dynamo.reset()
    model, given = make(num_groups=2), tokens()
    with torch.no_grad():
        read = StaticCache(model, given[:, :3], 4)
        _, cache = read(given[:, :3], None)
        addresses = [part.data_ptr() for pair in cache for part in pair]
        expected = read(given[:, 3:4], cache)[0]
        compiled = torch.compile(read.read_one, fullgraph=True, backend="aot_eager")
        assert_close(compiled(given[:, 3:4], torch.tensor([3])), expected)
        with Operators() as seen:
            read(given[:, 4:5], cache)
    assert addresses == [part.data_ptr() for pair in read.cache for part in pair]
    assert all(seen.count(name) == 0 for name in ("cat", "tril", "sin", "cos"))


def test_texts_of_many_lengths_are_compiled_a_few_times_only():
    """After eight times PyTorch would give up, with an error: on a GPU one step must be one graph."""
    torch._dynamo.reset()
    counter = CompileCounter()
    for length in range(1, 12):
        model, prompt = make(), tokens(1 + length % 2, length)
        with torch.no_grad():
            read = StaticCache(model, prompt, 5 + length)
            _, cache = read(prompt, None)
            for part in (part for pair in cache for part in pair):
                torch._dynamo.mark_static_address(part)  # as on a GPU
            read.step = torch.compile(read.read_one, fullgraph=True, backend=counter)
            for position in range(2):
                read(prompt[:, :1] + position, cache)
    assert 0 < counter.frame_count <= 6


def test_a_static_cache_on_a_cpu_loads_no_compiler():
    """It would take longer than to write a short text."""
    code = """if True:
        import sys, torch
        from mha_course.language_model import LanguageModel, generate
        generate(LanguageModel(5), torch.tensor([[1]]), 2, static_cache=True)
        assert "torch._dynamo" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_static_cache_on_a_gpu_writes_what_the_cpu_writes():
    model, prompt = make(torch.float32), tokens()
    expected = generate(model, prompt, 20, temperature=0)
    text = generate(model.cuda(), prompt.cuda(), 20, temperature=0, static_cache=True)
    assert torch.equal(text.cpu(), expected)


def test_the_prompt_is_read_once_and_then_one_token_at_a_time():
    model, read = make(), []
    model.embedding.register_forward_pre_hook(lambda layer, inputs: read.append(inputs[0].shape[1]))
    generate(model, tokens(steps=5), 4)
    assert read == [5, 1, 1, 1]


def test_tokens_are_drawn_with_the_probabilities():
    model, options = make(), {"temperature": 2.0, "top_k": 6, "top_p": 0.6}
    prompt = tokens(1, 4)
    expected = next_token_probabilities(model(prompt)[0][0, -1], **options)
    assert 1 < expected.count_nonzero() < 6  # so both are needed
    drawn = generate(
        model, prompt.expand(20000, -1), 1, generator=torch.Generator().manual_seed(0), **options
    )
    shares = drawn[:, -1].bincount(minlength=VOCAB) / 20000
    assert (shares - expected).abs().max() < 0.015  # four standard deviations
    assert shares[expected == 0].eq(0).all()


def test_a_text_that_has_ended_is_filled_and_the_others_go_on():
    model, prompt = make(), tokens(60, 2)
    draw = torch.Generator().manual_seed(0)
    text = generate(model, prompt, 30, stop=2, generator=draw)
    assert text.shape[1] <= 32
    lengths = set()
    for row in text[:, 2:].tolist():
        assert 2 in row or len(row) == 30
        end = row.index(2) if 2 in row else len(row)
        assert set(row[end:]) <= {2}
        lengths.add(end)
    assert len(lengths) > 5
    assert max(lengths) in (text.shape[1] - 3, 30)
    text = generate(model, prompt[:3], 1000, stop=2, generator=draw)  # all end long before
    assert text[:, -1].eq(2).all()
    assert text[:, -2].ne(2).any()


def test_a_stop_in_the_prompt_ends_nothing():
    model, prompt = make(), torch.tensor([[2, 5], [5, 2]])
    options = {"stop": 2, "temperature": 0}
    for row in prompt:
        alone = generate(model, row[None], 4, temperature=0)[0, 2:].tolist()
        ended = alone[: alone.index(2) + 1] if 2 in alone else alone
        assert generate(model, row[None], 4, **options)[0, 2:].tolist() == ended
        assert ended[0] != 2


def test_the_generator_decides():
    model = make()
    texts = [
        generate(model, tokens(), 8, generator=torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    ]
    assert torch.equal(texts[0], texts[1])
    assert not torch.equal(texts[0], texts[2])


def test_a_model_that_was_compiled_in_place_writes_the_same():
    model, given = make(), tokens()
    expected = generate(model, given, 5, temperature=0)
    model.compile(backend="eager")
    assert torch.equal(generate(model, given, 5, temperature=0), expected)


# ---- training ----

SENTENCES = [("a", "b", "c"), ("b",), ("c", "c", "a", "b"), ("a", "c")]
WORDS = Vocabulary(SENTENCES)


def small(dropout=0.0):
    torch.manual_seed(0)
    return LanguageModel(len(WORDS), 12, 16, 2, 1, dropout).double()


def test_training_is_adam_with_clipped_gradients_and_another_order_each_epoch():
    ours, theirs = small(), small()
    with torch.no_grad():
        for model in (ours, theirs):
            model.dense.weight.mul_(20)  # gradients longer than 1
    optimizer = torch.optim.Adam(theirs.parameters())
    pairs = [Pair("", "", (), sentence, ()) for sentence in SENTENCES]
    rates, norms, means = [0.04, 0.03, 0.02, 0.01], [], []
    for epoch in range(2):
        losses = []
        for batch in batches(pairs, WORDS, WORDS, 3, seed=5 * 2 + epoch):
            found = []
            for row, length in zip(batch.target, batch.target_lens, strict=True):
                fed = torch.cat((torch.tensor([WORDS.bos]), row[: length - 1]))
                logits, _ = theirs(fed[None])
                found.append(nn.functional.cross_entropy(logits[0], row[:length], reduction="none"))
            optimizer.zero_grad()
            torch.cat(found).mean().backward()
            norms.append(nn.utils.clip_grad_norm_(theirs.parameters(), 1.0))
            optimizer.param_groups[0]["lr"] = rates[len(norms) - 1]
            optimizer.step()
            losses += torch.cat(found).tolist()
        means.append(sum(losses) / len(losses))
    assert max(norms) > 2
    options = {"epochs": 2, "batch_size": 3, "learning_rate": 0.04, "seed": 5}
    assert fit_language_model(ours, SENTENCES, WORDS, **options) == pytest.approx(means)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert_close(one, other, gradient=True)


def test_training_learns_and_repeats():
    histories = []
    for seed in (0, 0, 1):
        model = small(dropout=0.1)
        torch.manual_seed(5)
        options = {"epochs": 40, "batch_size": 2, "learning_rate": 0.02}
        histories.append(fit_language_model(model, SENTENCES, WORDS, seed=seed, **options))
    assert histories[0] == histories[1] != histories[2]
    assert histories[0][-1] < 1.0 < 1.6 < histories[0][0]


def test_a_loss_that_is_not_finite_stops_training():
    model = small()
    model.dense.bias.data[0] = math.nan
    with pytest.raises(FloatingPointError, match="the loss of epoch 1 is nan"):
        fit_language_model(model, SENTENCES, WORDS, epochs=3)


# ---- errors ----

X, IDS = torch.ones(2, 3, 12), torch.zeros(2, 3, dtype=torch.int64)


def model():
    return LanguageModel(5, 12, 8, 3, 1)


def other_attention():
    changed = model()
    changed.blocks[0].attention.__class__ = type("Own", (RotaryAttention,), {})
    return changed


def other_forward(in_blocks=False):
    changed = model()
    module = changed.blocks[0] if in_blocks else changed
    module.__class__ = type("Own", (type(module),), {"forward": lambda self, X, *given: (X, None)})
    return changed


def scaled():
    return llama(rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0})[0]


# fmt: off
REFUSED = [
    (lambda: rotary(torch.ones(2, 3)), ValueError, "the last axis of X must be divisible by pair = 2, got 3"),
    (lambda: rotary(torch.ones(4)), ValueError, "X must have the shape (..., steps, d), got (4,)"),
    (lambda: rotary(torch.ones(2, 4), base=0.5), ValueError, "base must lie between 1 and inf, got 0.5"),
    (lambda: rotary(torch.ones(2, 4), None), TypeError, "offset must be an integer, got None"),
    (lambda: rotary(IDS), TypeError, "X must hold floating-point numbers, got torch.int64"),
    (lambda: rotary(torch.ones(2, 4), -1), ValueError, "offset must be at least 0, got -1"),
    (lambda: RotaryAttention(12, 5), ValueError, "num_hiddens must be divisible by num_heads = 5, got 12"),
    (lambda: RotaryAttention(12, 4), ValueError, "num_hiddens / num_heads must be divisible by pair = 2, got 3"),
    (lambda: RotaryAttention(12, 3, 2), ValueError, "num_heads must be divisible by num_groups = 2, got 3"),
    (lambda: RotaryAttention(12, 3, 0), ValueError, "num_groups must be at least 1, got 0"),
    (lambda: RotaryAttention(12, 3, dropout=2), ValueError, "dropout must lie between 0 and 1, got 2"),
    (lambda: RotaryAttention(12, 3, bias=1), TypeError, "bias must be True or False, got int"),
    (lambda: RotaryAttention(12, 3, base=0), ValueError, "base must lie between 1 and inf, got 0"),
    (lambda: RotaryAttention(12, 3)(X[..., :4]), ValueError, "X must have the shape (batch, steps, num_hiddens = 12), got (2, 3, 4)"),
    (lambda: LanguageModel(0), ValueError, "vocab_size must be at least 1, got 0"),
    (lambda: LanguageModel(5, num_layers=0), ValueError, "num_layers must be at least 1, got 0"),
    (lambda: LanguageModel(5, ffn_hiddens=0), ValueError, "ffn_hiddens must be at least 1, got 0"),
    (lambda: model()(IDS + 5), ValueError, "tokens must lie from 0 to 4, got 5"),
    (lambda: model()(IDS.float()), TypeError, "tokens must hold integers, got torch.float32"),
    (lambda: model()(IDS, []), ValueError, "cache must have one pair for each of 1 blocks, got 0"),
    (lambda: model()(IDS, 5), TypeError, "cache must be None or a list, got int"),
    (lambda: model()(IDS, [X]), TypeError, "cache must be None or (keys, values), got Tensor"),
    (lambda: RotaryAttention(12, 3)(X, (torch.ones(1, 3, 2, 4),) * 2), ValueError, "the keys of cache must have the shape (batch = 2, groups = 3, steps, head_dim = 4), got (1, 3, 2, 4)"),
    (lambda: RotaryAttention(12, 3, 1)(X, (torch.ones(2, 3, 2, 4),) * 2), ValueError, "the keys of cache must have the shape (batch = 2, groups = 1, steps, head_dim = 4), got (2, 3, 2, 4)"),
    (lambda: RotaryAttention(12, 3)(X, (torch.ones(2, 3, 2, 4), torch.ones(2, 3, 1, 4))), ValueError, "the values of cache must have the shape (batch = 2, groups = 3, steps = 2, head_dim = 4), got (2, 3, 1, 4)"),
    (lambda: LanguageModel(5, dropout="a"), TypeError, "dropout must be a number, got 'a'"),
    (lambda: LanguageModelBlock(-12, 8, 3), ValueError, "num_hiddens must be at least 1, got -12"),
    (lambda: next_token_probabilities(IDS), TypeError, "logits must hold floating-point numbers, got torch.int64"),
    (lambda: next_token_probabilities(X, -1), ValueError, "temperature must lie between 0 and 3.4028234663852886e+38, got -1"),
    (lambda: next_token_probabilities(X, math.inf), ValueError, "temperature must lie between 0 and 3.4028234663852886e+38, got inf"),
    (lambda: next_token_probabilities(X, 1e-50), ValueError, "temperature must be 0 or at least 1.2e-38, got 1e-50"),
    (lambda: next_token_probabilities(X, top_k=0), ValueError, "top_k must be at least 1, got 0"),
    (lambda: next_token_probabilities(X, top_p=1.5), ValueError, "top_p must lie between 0 and 1, got 1.5"),
    (lambda: generate(nn.Linear(1, 1), IDS), TypeError, "model must be a LanguageModel, got Linear"),
    (lambda: generate(model(), IDS[:, :0]), ValueError, "tokens must hold at least one step, got (2, 0)"),
    (lambda: generate(model(), IDS, -1), ValueError, "max_steps must be at least 0, got -1"),
    (lambda: generate(model(), IDS, stop=-1), ValueError, "stop must be at least 0, got -1"),
    (lambda: generate(model(), IDS, static_cache=1), TypeError, "static_cache must be True or False, got int"),
    (lambda: generate(other_attention(), IDS, static_cache=True), TypeError, "static_cache needs blocks with RotaryAttention, got Own"),
    (lambda: generate(other_forward(), IDS, static_cache=True), TypeError, "static_cache needs the forward of LanguageModel, got Own, which has its own"),
    (lambda: generate(other_forward(in_blocks=True), IDS, static_cache=True), TypeError, "static_cache needs the forward of LanguageModelBlock, got Own, which has its own"),
    (lambda: rotary_angles(torch.arange(2), 5, 100.0, torch.float32), ValueError, "d must be divisible by pair = 2, got 5"),
    (lambda: rotary_angles(torch.arange(2), 4, 0.0, torch.float32), ValueError, "base must lie between 1 and inf, got 0.0"),
    (lambda: generate(model(), IDS, stop=5), ValueError, "stop must lie between 0 and 4, got 5"),
    (lambda: fit_language_model(small(), ["a b", "c"], WORDS), TypeError, "sentences must hold sequences of tokens, got the string 'a b'"),
    (lambda: fit_language_model(small(), None, WORDS), TypeError, "sentences must be a sequence of sequences of tokens, got NoneType"),
    (lambda: fit_language_model(small(), SENTENCES, ["a"]), TypeError, "vocabulary must be a Vocabulary, got list"),
    (lambda: fit_language_model(nn.Linear(1, 1), SENTENCES, WORDS), TypeError, "model must be a LanguageModel, got Linear"),
    (lambda: fit_language_model(small(), SENTENCES, WORDS, epochs=-1), ValueError, "epochs must be at least 0, got -1"),
    (lambda: fit_language_model(small(), SENTENCES, WORDS, learning_rate=-1), ValueError, "learning_rate must lie between 0 and"),
    (lambda: fit_language_model(small(), [], WORDS), ValueError, "sentences must hold at least one sentence, got none"),
    (lambda: fit_language_model(small(), SENTENCES, WORDS, seed=0.5), TypeError, "seed must be an integer, got 0.5"),
    (lambda: from_gpt2(nn.Linear(1, 1)), TypeError, "module must be GPT-2's attention, got Linear"),
    (lambda: from_gpt2(GPT2Attention(GPT2Config(n_embd=12, n_head=3), is_cross_attention=True)), ValueError, "module must be a self-attention, got a cross-attention"),
    (lambda: from_gpt2(GPT2Attention(GPT2Config(n_embd=12, n_head=3, scale_attn_weights=False))), ValueError, "module must divide its scores by the root of head_dim alone"),
    (lambda: from_gpt2(GPT2Attention(GPT2Config(n_embd=12, n_head=3, scale_attn_by_inverse_layer_idx=True), layer_idx=1)), ValueError, "module must divide its scores by the root of head_dim alone"),
    (lambda: from_llama(Qwen3Attention(Qwen3Config(hidden_size=12, num_attention_heads=3, head_dim=4), layer_idx=0)), TypeError, "module must be Llama's attention, got Qwen3Attention"),
    (lambda: from_llama(nn.Linear(1, 1)), TypeError, "module must be Llama's attention, got Linear"),
    (lambda: from_llama(llama(head_dim=8)[0]), ValueError, "module must have heads of 24 / 4 features, got 8"),
    (lambda: from_llama(scaled()), ValueError, "module must have rope_type 'default', got 'linear'"),
    (lambda: halves_from_pairs(torch.ones(6, 2), 4), ValueError, "the first axis of weight must be divisible by num_heads = 4, got 6"),
    (lambda: halves_from_pairs(torch.ones(6, 2), 2), ValueError, "the width of a head must be divisible by pair = 2, got 3"),
    (lambda: halves_from_pairs(IDS, 1), TypeError, "weight must hold floating-point numbers, got torch.int64"),
]
# fmt: on


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_is_wrong_is_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
