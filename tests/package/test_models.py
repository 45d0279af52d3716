"""What holds for every model: copies, precision, dropout, graphs, modes, and step by step equals whole."""

import copy
import io
import pickle
import warnings
from functools import partial
from itertools import product
from typing import NamedTuple

import pytest
import torch
from tolerance import assert_close
from torch import nn
from torch.utils._pytree import tree_leaves

from mha_course.attention import AdditiveAttention, DotProductAttention, MultiHeadAttention
from mha_course.corpus import Pair, Vocabulary
from mha_course.language_model import LanguageModel, fit_language_model, generate
from mha_course.seq2seq import (
    AttentionDecoder,
    EncoderDecoder,
    Seq2SeqAttentionDecoder,
    Seq2SeqDecoder,
    Seq2SeqEncoder,
)
from mha_course.training import fit
from mha_course.transformer import Transformer
from mha_course.translation import forced_weights, translate

HIDDENS = 12
WORDS = Vocabulary([["a", "b", "c", "d", "e"]])
SIZE = len(WORDS)


def recurrent(decoder, cell, dropout=0.0):
    encoder = Seq2SeqEncoder(SIZE, 8, HIDDENS, 2, dropout, bidirectional=True, cell=cell)
    return EncoderDecoder(encoder, decoder(SIZE, 8, HIDDENS, 2, dropout, cell=cell))


def normal(batch, *sizes):
    return [torch.randn(batch, size, HIDDENS) for size in sizes]


def ids(batch, *steps):
    return [torch.randint(SIZE, (batch, number)) for number in steps]


class Kind(NamedTuple):
    """How a model of a kind is made, by its dropout, and what it is called with, by the size of the batch."""

    make: object
    given: object
    options: dict | None = None


LENS = torch.tensor([3, 4, 0, 1, 2])
TWO_AXES = torch.tensor([[0, 4, 1], [2, 3, 4], [0, 0, 0], [1, 2, 1], [4, 4, 4]])
ATTENTION = {
    "dot product": Kind(DotProductAttention, lambda n: normal(n, 3, 4, 4)),
    "dot product with weights": Kind(
        DotProductAttention, lambda n: [*normal(n, 3, 4, 4), LENS[:n]], {"need_weights": True}
    ),
    "additive": Kind(partial(AdditiveAttention, HIDDENS), lambda n: [*normal(n, 3, 4, 4), TWO_AXES[:n]]),
    "multi-head": Kind(
        lambda dropout=0.0: MultiHeadAttention(HIDDENS, 3, dropout, bias=True),
        lambda n: [*normal(n, 3, 4, 4), LENS[:n]],
    ),
}
TRANSFORMERS = {
    "Transformer": Kind(
        lambda dropout=0.0: Transformer(SIZE, SIZE, HIDDENS, 16, 3, 2, dropout),
        lambda n: [*ids(n, 4, 3), LENS[:n]],
    ),
    "language model": Kind(
        lambda dropout=0.0: LanguageModel(SIZE, HIDDENS, 16, 3, 2, dropout), lambda n: ids(n, 4)
    ),
}
RECURRENT = {
    name: Kind(partial(recurrent, decoder, cell), lambda n: [*ids(n, 4, 3), LENS[:n]])
    for name, decoder, cell in (
        ("GRU", Seq2SeqDecoder, "gru"),
        ("LSTM", Seq2SeqDecoder, "lstm"),
        ("GRU with attention", Seq2SeqAttentionDecoder, "gru"),
        ("LSTM with attention", Seq2SeqAttentionDecoder, "lstm"),
    )
}
MODELS = TRANSFORMERS | RECURRENT
KINDS = ATTENTION | MODELS
every_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind, dropout=0.0, dtype=torch.float32):
    torch.manual_seed(0)
    return KINDS[kind].make(dropout=dropout).to(dtype).eval()


def inputs(kind, batch=3, dtype=torch.float32):
    torch.manual_seed(1)
    return [X.to(dtype) if X.is_floating_point() else X for X in KINDS[kind].given(batch)]


def output(kind, model, given):
    """Return the output or the logits alone."""
    result = model(*given, **(KINDS[kind].options or {}))
    return result[0] if isinstance(result, tuple) else result


# ---- modules as users handle them


@every_kind
def test_copies_and_pickles_after_a_step(kind):
    model, given, file = make(kind), inputs(kind), io.BytesIO()
    expected = output(kind, model, given)
    if expected.requires_grad:
        expected.sum().backward()
    torch.save(model.state_dict(), file)
    file.seek(0)
    restored = KINDS[kind].make().eval()
    restored.load_state_dict(torch.load(file))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), restored):
        assert torch.equal(output(kind, other, given), expected)
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters()}


@every_kind
def test_what_was_given_stays_as_it_was(kind):
    model, given = make(kind), inputs(kind)
    before = copy.deepcopy(given)
    result = output(kind, model, given)
    if result.requires_grad:
        result.sum().backward()
    assert all(map(torch.equal, given, before))


@every_kind
def test_dropout_acts_in_training_only(kind):
    model, given = make(kind, dropout=0.5), inputs(kind)
    assert_close(output(kind, model, given), output(kind, make(kind), given))
    model.train()
    assert not torch.allclose(output(kind, model, given), output(kind, model, given))


@every_kind
def test_autocast_gives_nearly_the_same(kind):
    model, given = make(kind), inputs(kind)
    expected = output(kind, model, given)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        if kind in ATTENTION:  # types may be mixed
            given[1] = given[1].bfloat16()
        result = output(kind, model, given)
    assert_close(result, expected, gradient=True, dtype=torch.bfloat16)
    if result.requires_grad:
        result.float().sum().backward()
        assert all(parameter.grad.dtype == torch.float32 for parameter in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", MODELS)  # attention in half precision: test_attention.py
def test_half_precision_gives_nearly_the_same_and_finite_gradients(kind, dtype):
    model = make(kind, dtype=dtype)
    expected = output(kind, copy.deepcopy(model).double(), inputs(kind))
    result = output(kind, model, inputs(kind))
    assert result.dtype == dtype
    assert_close(result, expected, gradient=True)
    result.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("kind", ATTENTION | TRANSFORMERS)
def test_compiles_as_one_graph(kind):
    torch._dynamo.reset()
    model, given = make(kind), inputs(kind)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    assert_close(output(kind, compiled, given), output(kind, model, given))


class WithOptions(nn.Module):
    """A model of a kind with its options fixed, since torch.export takes a module."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.model = kind, make(kind)

    def forward(self, *given):
        return output(self.kind, self.model, given)


@pytest.mark.parametrize(
    ("kind", "strict"),
    [*product(ATTENTION | TRANSFORMERS, [False]), *product([*ATTENTION, "Transformer"], [True])],
)
def test_exports_with_the_batch_left_open(kind, strict):
    """Of attention, the number of keys too."""
    model, given = WithOptions(kind), inputs(kind)
    batch, number = torch.export.Dim("batch"), torch.export.Dim("number")
    shapes = [{0: batch} for _ in given]
    if kind in ATTENTION:
        shapes[1:3] = [{0: batch, 1: number}] * 2
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="(?s).*(assigned during export|side effects)")
        program = torch.export.export(model, tuple(given), dynamic_shapes=(tuple(shapes),), strict=strict)
    other = inputs(kind, batch=5)
    if kind in ATTENTION:
        other[1:3] = normal(5, 7, 7)
    assert_close(program.module()(*other), model(*other))


# ---- step by step equals whole


def read(model, tokens, state):
    """Read the next tokens: logits, and weights where there are; and the state after them."""
    logits, state = model(tokens, state)
    return [logits, *([model.attention_weights] if isinstance(model, AttentionDecoder) else [])], state


def writer(kind, dtype=torch.float64):
    """Return the module that reads a model's target, and its first state."""
    model = make(kind, dtype=dtype)
    if kind == "language model":
        return model, None
    source, _, lens = inputs(kind)
    return model.decoder, model.decoder.init_state(model.encoder(source, lens), lens)


def target(steps=7):
    return torch.randint(SIZE, (3, steps), generator=torch.Generator().manual_seed(2))


PARTS = [*product(MODELS, ([1] * 7, [3, 4], [6, 1])), *product(TRANSFORMERS, ([2, 0, 5],))]


@pytest.mark.parametrize(("kind", "parts"), PARTS)
def test_step_by_step_equals_whole(kind, parts):
    """In logits, weights and what is kept."""
    model, start = writer(kind)
    whole, last = read(model, target(), start)
    results, state = [], start
    for part in target().split(parts, dim=1):
        result, state = read(model, part, state)
        results.append(result)
    for steps, expected in zip(zip(*results, strict=True), whole, strict=True):
        assert_close(torch.cat(steps, dim=-2), expected)
    for kept, expected in zip(tree_leaves(state), tree_leaves(last), strict=True):
        assert_close(kept, expected, dtype=torch.float64)


@pytest.mark.parametrize("kind", MODELS)
def test_gradients_go_through_what_is_kept(kind):
    found = []
    for parts in ([7], [4, 3]):
        model, state = writer(kind)
        for part in target().split(parts, dim=1):
            (logits, *_), state = read(model, part, state)
        logits[:, -1].sum().backward()
        found.append(model.embedding.weight.grad)
    assert_close(found[1], found[0], gradient=True)


@pytest.mark.parametrize("kind", MODELS)
def test_a_state_may_be_continued_twice(kind):
    model, start = writer(kind)
    _, state = read(model, target()[:, :3], start)
    first, _ = read(model, target()[:, 3:4], state)
    read(model, target()[:, 5:], state)
    again, _ = read(model, target()[:, 3:4], state)
    assert all(map(torch.equal, first, again))


@pytest.mark.parametrize("kind", MODELS)
def test_a_later_token_changes_no_earlier_output(kind):
    model, start = writer(kind)
    (before, *_), _ = read(model, target(), start)
    for step in range(1, 7):
        changed = target()
        changed[:, step] = (changed[:, step] + 1) % SIZE
        (after, *_), _ = read(model, changed, start)
        assert torch.equal(after[:, :step], before[:, :step])
        assert not torch.allclose(after[:, step], before[:, step])


# ---- modes

PAIRS = [Pair("0", "t", ("a", "b"), ("c",), ((0,),))]
TRAINING = {
    "fit": ("GRU with attention", lambda model: fit(model, PAIRS, WORDS, WORDS, epochs=1, progress=False)),
    "fit_language_model": (
        "language model", lambda model: fit_language_model(model, [["a", "b"]], WORDS, epochs=1)
    ),
}  # fmt: skip
EVALUATING = {
    "translate": ("GRU with attention", lambda model: translate(model, "a", WORDS, WORDS)),
    "forced_weights": ("GRU with attention", lambda model: forced_weights(model, PAIRS, WORDS, WORDS)),
    "generate": ("language model", lambda model: generate(model, target(), 2)),
    "generate with a static cache": (
        "language model", lambda model: generate(model, target(), 2, static_cache=True)
    ),
}  # fmt: skip


def modes(model):
    return [module.training for module in model.modules()]


@pytest.mark.parametrize("name", TRAINING | EVALUATING)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("raises", [True, False])
def test_every_modules_mode_is_restored(name, training, raises):
    """Training leaves frozen parts as they are, unless the whole model is in evaluation mode."""
    kind, call = (TRAINING | EVALUATING)[name]
    model, seen = make(kind, dropout=0.5).train(training), []
    written = getattr(model, "decoder", model)
    written.embedding.train(not training)
    written.dense.train(not training)
    before = modes(model)

    def look(*_):
        seen.append(modes(model))
        if raises:
            raise RuntimeError("broken")

    written.dense.register_forward_pre_hook(look)
    if raises:
        with pytest.raises(RuntimeError, match="broken"):
            call(model)
    else:
        call(model)
    assert modes(model) == before
    meanwhile = [name in TRAINING] * len(before)
    if name in TRAINING and training:
        meanwhile = before
    assert seen and all(found == meanwhile for found in seen)
