"""Encoders and decoders: padding never counts, attention is that of the formulas."""

import weakref

import pytest
import torch
from tolerance import assert_close

from mha_course.attention import DotProductAttention
from mha_course.seq2seq import (
    AttentionDecoder,
    Decoder,
    Encoder,
    EncoderDecoder,
    Seq2SeqAttentionDecoder,
    Seq2SeqDecoder,
    Seq2SeqEncoder,
)

VOCAB, EMBED, HIDDENS = 10, 8, 16
CELLS = ("gru", "lstm")
DECODERS = (Seq2SeqDecoder, Seq2SeqAttentionDecoder)


def encoder(layers=2, **options):
    torch.manual_seed(0)
    return Seq2SeqEncoder(VOCAB, EMBED, HIDDENS, layers, **options).double().eval()


def decoder(kind=Seq2SeqAttentionDecoder, layers=2, **options):
    torch.manual_seed(1)
    return kind(VOCAB, EMBED, HIDDENS, layers, **options).double().eval()


def tokens(batch=4, steps=7, seed=2):
    return torch.randint(VOCAB, (batch, steps), generator=torch.Generator().manual_seed(seed))


def parts(hidden_state):
    """Return a GRU's state as a tuple of one, an LSTM's as it is."""
    return (hidden_state,) if isinstance(hidden_state, torch.Tensor) else hidden_state


# ---- encoder


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
def test_padded_batch_equals_each_sentence_alone(cell, bidirectional, layers):
    network, source = encoder(layers, cell=cell, bidirectional=bidirectional), tokens()
    lens = torch.tensor([7, 3, 1, 5])
    outputs, hidden_state = network(source, lens)
    for row, length in enumerate(lens.tolist()):
        alone, alone_state = network(source[row : row + 1, :length])
        assert_close(outputs[row, :length], alone[0])
        assert not outputs[row, length:].any()
        for part, alone_part in zip(parts(hidden_state), parts(alone_state), strict=True):
            assert_close(part[:, row], alone_part[:, 0])


def test_outputs_have_all_steps_even_where_every_sentence_is_shorter():
    outputs, _ = encoder()(tokens(), torch.tensor([2, 5, 4, 1]))
    assert outputs.shape == (4, 7, HIDDENS)
    assert not outputs[:, 5:].any()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_empty_sentence_is_read_as_zeros_and_moves_no_other(cell, bidirectional):
    network, source = encoder(cell=cell, bidirectional=bidirectional), tokens(3)
    outputs, hidden_state = network(source, torch.tensor([0, 4, 7]))
    assert not outputs[0].any()
    assert not any(part[:, 0].any() for part in parts(hidden_state))
    expected, expected_state = network(source[1:], torch.tensor([4, 7]))
    assert_close(outputs[1:], expected)
    for part, expected_part in zip(parts(hidden_state), parts(expected_state), strict=True):
        assert_close(part[:, 1:], expected_part)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("shape", [(0, 7), (3, 0), (0, 0)])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_batch_or_sentence_of_size_zero(cell, shape, bidirectional):
    network = encoder(cell=cell, bidirectional=bidirectional)
    lens = torch.zeros(shape[0], dtype=torch.int64)
    for given in (lens, None):
        outputs, hidden_state = network(torch.zeros(shape, dtype=torch.int64), given)
        assert outputs.shape == (*shape, HIDDENS)
        assert all(part.shape == (2, shape[0], HIDDENS) for part in parts(hidden_state))
        assert not any(part.any() for part in parts(hidden_state))


def test_no_gradient_reaches_the_embedding_of_padding():
    network = encoder(bidirectional=True)
    source, lens = torch.tensor([[1, 2, 9, 9], [3, 4, 5, 9], [9, 9, 9, 9]]), torch.tensor([2, 3, 0])
    outputs, hidden_state = network(source, lens)
    (outputs.sum() + hidden_state.sum()).backward()
    gradient = network.embedding.weight.grad
    assert not gradient[9].any()
    assert all(gradient[token].any() for token in (1, 2, 3, 4, 5))


def test_bidirectional_state_joins_each_layers_two_directions():
    network, source = encoder(bidirectional=True), tokens()
    outputs, hidden_state = network(source)
    half = HIDDENS // 2
    assert_close(hidden_state[-1][:, :half], outputs[:, -1, :half])
    assert_close(hidden_state[-1][:, half:], outputs[:, 0, half:])


# ---- decoders


def test_the_attention_decoder_against_a_loop_written_out():
    """Query, keys, context and input of every step, by the formulas, one sentence and one layer."""
    network, target, lens = decoder(layers=1), tokens(1, 5, seed=4), torch.tensor([4])
    annotations, hidden_state = encoder(1)(tokens(1), lens)
    logits, _ = network(target, network.init_state((annotations, hidden_state), lens))
    s, h, attention = hidden_state[0, 0], annotations[0, :4], network.attention
    for step in range(5):
        projected = torch.tanh(attention.W_q.weight @ s + h @ attention.W_k.weight.T)
        weights = torch.softmax(projected @ attention.w_v.weight[0], dim=0)
        context = sum(weights[i] * h[i] for i in range(4))
        x = torch.cat((context, network.embedding.weight[target[0, step]]))
        w, u = network.rnn.weight_ih_l0 @ x + network.rnn.bias_ih_l0, network.rnn.weight_hh_l0 @ s
        (wr, wz, wn), (ur, uz, un) = w.chunk(3), (u + network.rnn.bias_hh_l0).chunk(3)
        r, z = torch.sigmoid(wr + ur), torch.sigmoid(wz + uz)
        s = (1 - z) * torch.tanh(wn + r * un) + z * s
        assert_close(network.attention_weights[0, step, :4], weights)
        assert_close(logits[0, step], network.dense.weight @ s + network.dense.bias)
    assert not network.attention_weights[0, :, 4:].any()


@pytest.mark.parametrize("cell", CELLS)
def test_the_query_is_the_last_layers_output_of_the_step_before(cell):
    """Of an LSTM h, which is its output, and not c."""
    network, source = decoder(cell=cell), encoder(cell=cell)(tokens())
    annotations, _ = source
    _, after = network(tokens(steps=1), network.init_state(source))
    network(tokens(steps=1), after)
    query = parts(after[1])[0][-1].unsqueeze(1)
    _, expected = network.attention(query, annotations, annotations, need_weights=True)
    assert_close(network.attention_weights, expected)


@pytest.mark.parametrize("attention", [None, DotProductAttention(0.0)])
@pytest.mark.parametrize("cell", CELLS)
def test_weights_sum_to_one_over_the_source_and_are_zero_on_padding(attention, cell):
    network, lens = decoder(cell=cell, attention=attention), torch.tensor([7, 3, 1, 0])
    network(tokens(), network.init_state(encoder(cell=cell)(tokens(), lens), lens))
    weights = network.attention_weights
    assert weights.shape == (4, 7, 7)
    assert_close(weights.sum(-1), torch.tensor([1.0, 1, 1, 0], dtype=torch.float64)[:, None].expand(4, 7))
    for row, length in enumerate(lens.tolist()):
        assert not weights[row, :, length:].any()


@pytest.mark.parametrize("kind", DECODERS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_of_the_source_changes_no_logit(kind, bidirectional):
    model = EncoderDecoder(encoder(bidirectional=bidirectional), decoder(kind))
    lens = torch.tensor([2, 7, 4, 1])
    longer = torch.cat((tokens(), torch.full((4, 6), 9)), dim=1)
    expected, _ = model(tokens(), tokens(seed=3), lens)
    logits, _ = model(longer, tokens(seed=3), lens)
    assert_close(logits, expected)


def test_nan_in_the_padding_of_foreign_encoder_outputs_reaches_neither_logits_nor_gradients():
    network, lens = decoder(), torch.tensor([2, 7, 4, 1])
    outputs, hidden_state = encoder()(tokens(), lens)
    clean, _ = network(tokens(), network.init_state((outputs, hidden_state), lens))
    dirty_outputs = outputs.masked_fill(torch.arange(7)[None, :, None] >= lens[:, None, None], float("nan"))
    logits, _ = network(tokens(), network.init_state((dirty_outputs, hidden_state), lens))
    assert_close(logits, clean)
    logits.sum().backward()
    assert all(p.grad.isfinite().all() for p in network.parameters())


def test_initial_state_zero_cuts_the_way_around_attention():
    network, lens = decoder(initial_state="zero"), torch.tensor([7, 3, 1, 5])
    outputs, hidden_state = encoder()(tokens(), lens)
    state = network.init_state((outputs, hidden_state), lens)
    assert not state[1].any()
    assert decoder().init_state((outputs, hidden_state), lens)[1].any()
    lstm = decoder(cell="lstm", initial_state="zero").init_state(encoder(cell="lstm")(tokens(), lens), lens)
    assert not any(part.any() for part in lstm[1])


def test_the_plain_decoder_reads_the_context_at_every_step():
    network = decoder(Seq2SeqDecoder)
    state = network.init_state(encoder()(tokens()))
    before, _ = network(tokens(), state)
    after, _ = network(tokens(), [state[0] + 1, state[1]])
    assert ((before - after).abs().amax(-1) > 1e-6).all()


def test_the_context_of_the_plain_decoder_is_the_last_valid_state():
    lens = torch.tensor([7, 3, 1, 5])
    outputs, hidden_state = encoder()(tokens(), lens)
    context, _ = decoder(Seq2SeqDecoder).init_state((outputs, hidden_state), lens)
    assert_close(context, outputs[torch.arange(4), lens - 1])


def test_keys_are_projected_once_a_call():
    network, calls = decoder(), []
    network.attention.W_k.register_forward_hook(lambda *_: calls.append(1))
    network(tokens(), network.init_state(encoder()(tokens())))
    assert len(calls) == 1


@pytest.mark.parametrize("kind", DECODERS)
@pytest.mark.parametrize("cell", CELLS)
def test_batch_of_size_zero_through_the_whole_model(kind, cell):
    model = EncoderDecoder(encoder(cell=cell), decoder(kind, cell=cell))
    none = torch.zeros(0, 7, dtype=torch.int64)
    logits, _ = model(none, none, torch.zeros(0, dtype=torch.int64))
    assert logits.shape == (0, 7, VOCAB)


@pytest.mark.parametrize("kind", DECODERS)
def test_a_source_of_no_token_leaves_the_decoder_a_language_model(kind):
    model = EncoderDecoder(encoder(), decoder(kind))
    logits, _ = model(torch.zeros(3, 0, dtype=torch.int64), tokens(3), torch.zeros(3, dtype=torch.int64))
    assert logits.shape == (3, 7, VOCAB) and logits.isfinite().all()


# ---- modules as users handle them


@pytest.mark.parametrize("cell", CELLS)
def test_one_layer_takes_no_dropout_inside_the_recurrent_layer(cell, recwarn):
    network = Seq2SeqEncoder(VOCAB, EMBED, HIDDENS, 1, dropout=0.5, cell=cell)
    assert network.rnn.dropout == 0
    assert Seq2SeqEncoder(VOCAB, EMBED, HIDDENS, 2, dropout=0.5, cell=cell).rnn.dropout == 0.5
    Seq2SeqAttentionDecoder(VOCAB, EMBED, HIDDENS, 1, dropout=0.5, cell=cell)
    Seq2SeqDecoder(VOCAB, EMBED, HIDDENS, 1, dropout=0.5, cell=cell)
    assert not recwarn.list


@pytest.mark.parametrize("kind", DECODERS)
def test_every_place_of_dropout_drops(kind):
    """With a share of 1 no token passes; of two layers the second reads nothing."""
    source, target, other = tokens(), tokens(seed=3), tokens(seed=4)
    dropped = encoder(1, dropout=1.0).train()
    assert torch.equal(dropped(source)[0], dropped(other)[0])
    network = decoder(kind, 1, dropout=1.0).train()
    state = network.init_state(encoder(1)(source))
    assert torch.equal(network(target, state)[0], network(other, state)[0])
    assert encoder(dropout=0.5).rnn.dropout == decoder(kind, dropout=0.5).rnn.dropout == 0.5
    if kind is Seq2SeqAttentionDecoder:
        assert network.attention.dropout.p == 1.0
        assert decoder(attention=DotProductAttention(0.2), dropout=1.0).attention.dropout.p == 0.2


@pytest.mark.parametrize("kind", DECODERS)
def test_the_encoder_learns_through_all_that_the_decoder_reads(kind):
    """Keys, values, context and first state, against finite differences."""
    network, lens = decoder(kind), torch.tensor([3, 2])
    shapes = ((2, 3, HIDDENS), (2, 2, HIDDENS))
    encoded = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]

    def logits(*enc_outputs):
        return network(tokens(2, 2, seed=3), network.init_state(enc_outputs, lens))[0]

    assert torch.autograd.gradcheck(logits, encoded, atol=1e-7, rtol=1e-5)


class Saved:
    """A tensor that a graph keeps for its backward pass, in a form that can be watched."""

    def __init__(self, tensor):
        self.tensor = tensor


def test_no_graph_is_kept_alive_after_a_forward_pass():
    model, watched = EncoderDecoder(encoder(), decoder()), []

    def pack(tensor):
        saved = Saved(tensor.detach())
        watched.append(weakref.ref(saved))
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor):
        logits, state = model(tokens(), tokens())
    assert not model.decoder.attention_weights.requires_grad
    assert any(saved() is not None for saved in watched)
    del logits, state
    assert all(saved() is None for saved in watched)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8])
def test_any_integer_type_of_lengths_serves(dtype):
    model, lens = EncoderDecoder(encoder(), decoder()), torch.tensor([7, 3, 1, 5])
    assert_close(model(tokens(), tokens(), lens.to(dtype))[0], model(tokens(), tokens(), lens)[0])


@pytest.mark.parametrize("interface", [Encoder(), Decoder(), AttentionDecoder()])
def test_interfaces_do_nothing_by_themselves(interface):
    with pytest.raises(NotImplementedError):
        interface(None, None)
    if isinstance(interface, Decoder):
        with pytest.raises(NotImplementedError):
            interface.init_state(None)
    if isinstance(interface, AttentionDecoder):
        with pytest.raises(RuntimeError, match="attention_weights are known only after a forward pass"):
            _ = interface.attention_weights
