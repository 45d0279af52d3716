"""The Transformer: positions, parity, padding, and training and translating like any encoder and decoder."""

import math
from unittest import mock

import pytest
import torch
from operators import Operators
from tolerance import assert_close
from torch import nn

from mha_course import transformer
from mha_course.corpus import Vocabulary, load_corpus
from mha_course.heads import Head, prune_heads, watched_heads
from mha_course.masking import clean_padding
from mha_course.metrics import exact_match
from mha_course.training import fit, masked_loss, seed_everything
from mha_course.transformer import (
    PositionalEncoding,
    Transformer,
    TransformerDecoderBlock,
    TransformerEncoderBlock,
)
from mha_course.translation import forced_weights, translate, translate_all

VOCAB, HIDDENS, HEADS, LAYERS = 11, 12, 3, 2


def make(dropout=0.0, dtype=torch.float64):
    torch.manual_seed(0)
    return Transformer(VOCAB, VOCAB + 1, HIDDENS, 20, HEADS, LAYERS, dropout).to(dtype).eval()


def tokens(batch=3, steps=6, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, VOCAB, (batch, steps), generator=generator)


LENS = torch.tensor([6, 2, 0])


# ---- positions ----


def test_positional_encoding_by_hand():
    encoding = PositionalEncoding(4).double()
    encoding.P = PositionalEncoding(4).P.double()
    output = encoding(torch.zeros(1, 3, 4, dtype=torch.float64))
    for i in range(3):
        expected = [math.sin(i), math.cos(i), math.sin(i / 100), math.cos(i / 100)]
        assert_close(output[0, i], torch.tensor(expected, dtype=torch.float64), dtype=torch.float32)
    expected = [f(999 / 10000 ** (2 * j / 6)) for j in range(3) for f in (math.sin, math.cos)]
    assert_close(PositionalEncoding(6).P[999], torch.tensor(expected))


@pytest.mark.parametrize("num_hiddens", [1, 3, 4])
def test_positional_encoding_of_any_width(num_hiddens):
    output = PositionalEncoding(num_hiddens)(torch.zeros(2, 5, num_hiddens))
    assert output.shape == (2, 5, num_hiddens)
    assert_close(output[0, :, 0], torch.arange(5.0).sin())


def test_positional_encoding_starts_at_the_offset():
    encoding, X = PositionalEncoding(6), torch.randn(2, 7, 6)
    assert torch.equal(encoding(X)[:, 3:], encoding(X[:, 3:], offset=3))
    assert encoding(X[:, :0]).shape == (2, 0, 6)


def test_positional_encoding_is_no_parameter():
    assert list(PositionalEncoding(6).state_dict()) == []
    dropped = PositionalEncoding(6, dropout=1.0)
    assert dropped(torch.ones(1, 2, 6)).eq(0).all()
    assert torch.equal(dropped.eval()(torch.ones(1, 2, 6)), PositionalEncoding(6)(torch.ones(1, 2, 6)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_module_made_on_the_meta_device_computes_what_it_was_loaded_with(dtype):
    model = make(dtype=dtype)
    for assign in (False, True):
        with torch.device("meta"):
            empty = make(dtype=dtype)
        empty.to_empty(device="cpu")
        for buffer in empty.buffers():
            assert buffer.abs().max() <= 1  # not what lay there
        empty.load_state_dict(model.state_dict(), assign=assign)
        expected, _ = model(tokens(), tokens(steps=4), LENS)
        assert torch.equal(empty(tokens(), tokens(steps=4), LENS)[0], expected)


def test_more_positions_are_asked_for_by_max_len():
    model = Transformer(VOCAB, VOCAB, HIDDENS, 20, HEADS, 1, max_len=1200)
    assert model(tokens(1, 1100), tokens(1, 1200))[0].shape == (1, 1200, VOCAB)


# ---- parity ----


def copy_attention(theirs, ours):
    with torch.no_grad():
        layers = (ours.W_q, ours.W_k, ours.W_v)
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.load_state_dict(ours.W_o.state_dict())


def copy_block(theirs, ours):
    """Write our block's weights into PyTorch's."""
    ours_layers, theirs_layers = dict(ours.named_children()), dict(theirs.named_children())
    names = {"attention": "self_attn", "self_attention": "self_attn", "cross_attention": "multihead_attn"}
    for name, layer in ours_layers.items():
        if name in names:
            copy_attention(theirs_layers[names[name]], layer)
        elif name.startswith("norm"):
            theirs_layers[name.replace("_", "")].load_state_dict(layer.state_dict())
    theirs.linear1.load_state_dict(ours.ffn[0].state_dict())
    theirs.linear2.load_state_dict(ours.ffn[2].state_dict())


def test_the_whole_model_equals_torch():
    ours = make()
    with torch.no_grad():
        for name, parameter in ours.named_parameters():
            if "norm" in name:
                parameter.normal_()
    options = {"batch_first": True, "norm_first": True, "dtype": torch.float64}
    theirs = nn.Transformer(HIDDENS, HEADS, LAYERS, LAYERS, 20, 0.0, **options)
    for our, their in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for block, layer in zip(our.blocks, their.layers, strict=True):
            copy_block(layer, block)
        their.norm.load_state_dict(our.norm.state_dict())
    source, target, lens = tokens(), tokens(steps=4, seed=2), torch.tensor([6, 2, 4])
    padding = torch.arange(6) >= lens[:, None]
    expected = ours.decoder.dense(
        theirs(
            ours.encoder.positions(ours.encoder.embedding(source)),
            ours.decoder.positions(ours.decoder.embedding(target)),
            tgt_mask=torch.ones(4, 4, dtype=torch.bool).triu(1),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
    )
    assert_close(ours(source, target, lens)[0], expected)


# ---- padding, what is stored ----


def test_logits_and_weights_have_their_shapes():
    model = make()
    logits, state = model(tokens(), tokens(steps=4), LENS)
    assert logits.shape == (3, 4, VOCAB + 1)
    weights = model.decoder.attention_weights
    assert weights.shape == (3, LAYERS, HEADS, 4, 6)
    assert not weights.requires_grad
    assert_close(weights[:2].sum(-1), torch.ones(2, LAYERS, HEADS, 4, dtype=torch.float64))
    assert weights[1, ..., 2:].eq(0).all()
    assert weights[2].eq(0).all()
    assert all(part.shape == (3, HEADS, 4, HIDDENS // HEADS) for pair in state.cache for part in pair)


def test_gradients_are_those_of_finite_differences():
    decoder, target = make().decoder, tokens(1, 3)
    enc_outputs = torch.randn(1, 2, HIDDENS, dtype=torch.float64, requires_grad=True)

    def logits(enc_outputs):
        return decoder(target, decoder.init_state(enc_outputs))[0]

    assert torch.autograd.gradcheck(logits, enc_outputs, fast_mode=True)


def test_padding_of_the_source_changes_nothing():
    model, target = make(), tokens(steps=4)
    lens = torch.tensor([6, 2, 4])
    before, _ = model(tokens(), target, lens)
    other = tokens()
    other[1, 2:], other[2, 4:] = 7, 5
    after, _ = model(other, target, lens)
    assert torch.equal(after, before)
    longer, _ = model(torch.cat((tokens(), tokens(steps=3)), dim=1), target, lens)
    assert_close(longer, before)
    alone, _ = model(tokens()[1:2, :2], target[1:2])
    assert_close(alone, before[1:2])


def test_what_an_encoder_leaves_in_padding_never_matters():
    decoder, target = make().decoder, tokens(steps=4)
    enc_outputs = torch.randn(3, 6, HIDDENS, dtype=torch.float64)
    lens = torch.tensor([6, 2, 0])
    results = []
    for content in (0.0, math.nan):
        given = enc_outputs.clone()
        given[1, 2:], given[2] = content, content
        given.requires_grad_()
        decoder.zero_grad()
        logits, _ = decoder(target, decoder.init_state(given, lens))
        logits.square().sum().backward()
        results.append([logits, given.grad, *(parameter.grad for parameter in decoder.parameters())])
    for clean, spoilt in zip(*results, strict=True):
        assert clean.isfinite().all()
        assert torch.equal(clean, spoilt)


def kept_by_the_graph(model):
    """Return the largest number of elements of a tensor that one training step keeps for its way back."""
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(lambda X: sizes.append(X.numel()) or X, lambda X: X):
        logits, _ = model(tokens(1, 40), tokens(1, 41, seed=2))
    logits.sum().backward()
    return max(sizes)


def test_a_training_step_stores_no_weights_unless_heads_are_watched():
    model = make().train()
    weights = HEADS * 40 * 40
    assert kept_by_the_graph(model) < weights
    with pytest.raises(RuntimeError, match="only after a forward pass that keeps them"):
        _ = model.decoder.attention_weights
    with watched_heads(model) as watched:
        assert kept_by_the_graph(model) >= weights
    assert watched["decoder.blocks.0.cross_attention"].shape == (1, HEADS, 41, 40)
    assert kept_by_the_graph(model) < weights
    model.eval()(tokens(), tokens())
    assert model.decoder.attention_weights.shape == (3, LAYERS, HEADS, 6, 6)
    model.train()(tokens(), tokens())
    with pytest.raises(RuntimeError, match="only after"):  # not those of another pass
        _ = model.decoder.attention_weights


def test_masks_and_clean_padding_are_made_once_a_pass_and_none_is_causal():
    model, lens = make().train(), torch.tensor([6, 2, 4])
    attend = nn.functional.scaled_dot_product_attention
    with (
        mock.patch.object(nn.functional, "scaled_dot_product_attention", wraps=attend) as fused,
        mock.patch.object(transformer, "clean_padding", wraps=clean_padding) as cleaned,
        Operators() as seen,
    ):
        model(tokens(), tokens(steps=4), lens)
    assert seen.count("tril") == 0
    assert cleaned.call_count == 2  # the source before the encoder, and what the encoder made of it
    assert seen.count("lt") == 2  # the source's lengths become a mask as often
    assert [call.args[5] for call in fused.call_args_list] == [False] * LAYERS + [True, False] * LAYERS
    encoder, decoder = fused.call_args_list[:LAYERS], fused.call_args_list[LAYERS:]
    assert len({id(call.args[3]) for call in encoder}) == 1 and encoder[0].args[3] is not None
    assert all(call.args[3] is None for call in decoder[::2])


@pytest.mark.parametrize("content", [math.nan, math.inf])
def test_what_the_embedding_of_padding_holds_never_matters(content):
    lens, target = torch.tensor([6, 2, 4]), tokens(steps=4)
    source = tokens().clamp(max=VOCAB - 2)
    source[1, 2:], source[2, 4:] = VOCAB - 1, VOCAB - 1
    results = []
    for value in (0.0, content):
        model = make()
        with torch.no_grad():
            model.encoder.embedding.weight[VOCAB - 1] = value
        logits, _ = model(source, target, lens)
        logits.square().sum().backward()
        results.append([logits, *(parameter.grad for parameter in model.parameters())])
    for clean, spoilt in zip(*results, strict=True):
        assert torch.equal(clean, spoilt)


@pytest.mark.parametrize(("batch", "steps", "target_steps"), [(0, 5, 4), (2, 0, 4), (2, 5, 0), (1, 1, 1)])
def test_sizes_of_zero_and_one(batch, steps, target_steps):
    model = make()
    for lens in (None, torch.zeros(batch, dtype=torch.int64)):
        logits, _ = model(tokens(batch, steps), tokens(batch, target_steps), lens)
        assert logits.shape == (batch, target_steps, VOCAB + 1)
        assert logits.isfinite().all()


def test_every_place_of_dropout_drops():
    """With a share of 1 nothing is added to a block's input."""
    X = torch.randn(2, 4, HIDDENS)
    encoder_block = TransformerEncoderBlock(HIDDENS, 20, HEADS, 1.0)
    assert torch.equal(encoder_block(X), X)
    decoder_block = TransformerDecoderBlock(HIDDENS, 20, HEADS, 1.0)
    cache = decoder_block.self_attention.project(X[:, :0], X[:, :0])
    memory = decoder_block.cross_attention.project(X, X)
    assert torch.equal(decoder_block(X, cache, memory, None, need_weights=False)[0], X)
    model = make(dropout=0.25)
    assert {module.p for module in model.modules() if isinstance(module, nn.Dropout)} == {0.25}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_equals_cpu():
    model = make()
    expected, _ = model(tokens(), tokens(steps=4), LENS)
    logits, _ = model.cuda()(tokens().cuda(), tokens(steps=4).cuda(), LENS.cuda())
    assert_close(logits, expected)


# ---- like any encoder and decoder ----


@pytest.fixture(scope="module")
def trained():
    """Return a model that knows some sentences by heart."""
    pairs = load_corpus()[:60]
    source, target = (Vocabulary([pair[i] for pair in pairs]) for i in (2, 3))
    seed_everything(0)
    model = Transformer(len(source), len(target), num_hiddens=32, ffn_hiddens=64, num_heads=4, num_layers=2)
    history = fit(model, pairs, source, target, epochs=40, batch_size=20, progress=False)
    return model, pairs, source, target, history


def test_learns_and_translates(trained):
    model, pairs, source, target, history = trained
    assert history[-1] < 0.1 * history[0]
    translations = translate_all(model, [pair.source for pair in pairs], source, target)
    assert (
        exact_match([translation.tokens for translation in translations], [pair.target for pair in pairs])
        >= 0.9
    )
    one = translate(model, pairs[0].source, source, target)
    assert one.tokens == translations[0].tokens
    assert one.weights.shape == (2, 4, len(one.tokens), len(pairs[0].source) + 1)
    for weights, pair in zip(forced_weights(model, pairs[:3], source, target), pairs, strict=False):
        assert weights.shape == (2, 4, len(pair.target), len(pair.source) + 1)


def test_translates_with_pruned_heads(trained):
    model, pairs, source, target, _ = trained
    pruned = prune_heads(
        model, [Head("decoder.blocks.0.cross_attention", 1), Head("encoder.blocks.1.attention", 0)]
    )
    one = translate(pruned, pairs[0].source, source, target)
    assert one.weights.shape[:2] == (2, 4)
    assert one.weights[0, 3].eq(0).all()
    assert one.weights[0, 2].ne(0).any() and one.weights[1, 3].ne(0).any()


def test_padding_of_the_target_reaches_no_gradient():
    gradients = []
    for padding in (0, 5):
        model = make()
        target = tokens(steps=4)
        target[1, 2:] = padding
        logits, _ = model(tokens(), target, torch.tensor([6, 2, 3]))
        masked_loss(logits, tokens(steps=4), torch.tensor([4, 2, 4])).backward()
        gradients.append(
            [parameter.grad for name, parameter in model.named_parameters() if "embedding" not in name]
        )
    for one, other in zip(*gradients, strict=True):
        assert torch.equal(one, other)
