"""Loss over padding, clipping, teacher forcing, repeatability, and that a model learns."""

import io
import math
import os
import random
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy
import pytest
import torch
from torch import nn

import mha_course
from mha_course.corpus import Pair, Vocabulary, batches
from mha_course.metrics import exact_match
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import (
    CHECKPOINT_PARTS,
    fit,
    masked_loss,
    seed_everything,
    shift_right,
    training_step,
    try_gpu,
)
from mha_course.translation import translate_all


def reversal(count=40, seed=0):
    """Return pairs whose target is the source, reversed and in capitals."""
    draw = random.Random(seed)
    sources = [tuple(draw.choice("abcde") for _ in range(draw.randint(1, 4))) for _ in range(count)]
    return [
        Pair(str(i), "reversal", source, tuple(token.upper() for token in reversed(source)),
             tuple((position,) for position in reversed(range(len(source)))))
        for i, source in enumerate(sources)
    ]  # fmt: skip


PAIRS = reversal()
SOURCE, TARGET = Vocabulary(p.source for p in PAIRS), Vocabulary(p.target for p in PAIRS)


def small_model(seed=0, dropout=0.0, decoder=Seq2SeqAttentionDecoder):
    seed_everything(seed)
    encoder = Seq2SeqEncoder(len(SOURCE), 16, 16, 1, dropout, bidirectional=True)
    return EncoderDecoder(encoder, decoder(len(TARGET), 16, 16, 1, dropout))


def train(model, **options):
    return fit(model, PAIRS, SOURCE, TARGET, **{"epochs": 3, "batch_size": 8, "progress": False, **options})


# ---- loss


def test_loss_is_the_mean_over_valid_tokens_counted_by_hand():
    probabilities = torch.tensor([[[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9], [0.6, 0.4]]])
    labels, lens = torch.tensor([[0, 1, 1], [1, 0, 0]]), torch.tensor([2, 1])
    expected = -(math.log(0.5) + math.log(0.1) + math.log(0.7)) / 3
    assert masked_loss(probabilities.log(), labels, lens).item() == pytest.approx(expected, abs=1e-6)


def test_loss_without_padding_is_cross_entropy():
    torch.manual_seed(0)
    logits, labels = torch.randn(3, 4, 5).double(), torch.randint(5, (3, 4))
    expected = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(masked_loss(logits, labels, torch.full((3,), 4)), expected)


@pytest.mark.parametrize("filler", [0.0, 1e30, float("inf"), float("-inf"), float("nan")])
def test_what_stands_at_pads_reaches_neither_loss_nor_gradient(filler):
    torch.manual_seed(0)
    labels, lens = torch.randint(5, (3, 4)), torch.tensor([2, 4, 0])
    valid = torch.arange(4) < lens[:, None]
    clean = torch.randn(3, 4, 5).double().requires_grad_()
    expected = masked_loss(clean, labels, lens)
    expected.backward()
    dirty = clean.detach().masked_fill(~valid[..., None], filler).requires_grad_()
    loss = masked_loss(dirty, labels.masked_fill(~valid, -7), lens)
    loss.backward()
    assert torch.equal(loss, expected) and torch.equal(dirty.grad, clean.grad)
    assert not dirty.grad[~valid].any() and dirty.grad[valid].any()


@pytest.mark.parametrize("shape", [(3, 4, 5), (0, 4, 5), (3, 0, 5)])
def test_a_batch_of_nothing_but_padding_costs_nothing_and_has_a_gradient_of_zero(shape):
    logits = torch.full(shape, float("nan")).requires_grad_()
    lens = torch.zeros(shape[0], dtype=torch.int64)
    loss = masked_loss(logits, torch.zeros(shape[:2], dtype=torch.int64), lens)
    loss.backward()
    assert loss.item() == 0 and not logits.grad.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_loss_of_many_tokens_is_summed_in_float32_or_better(dtype):
    logits = torch.zeros(512, 30, 100, dtype=dtype).requires_grad_()
    loss = masked_loss(logits, torch.zeros(512, 30, dtype=torch.int64), torch.full((512,), 30))
    assert loss.item() == pytest.approx(math.log(100), rel=1e-6)
    assert loss.dtype == torch.promote_types(dtype, torch.float32)
    loss.backward()
    assert logits.grad.dtype == dtype and logits.grad.isfinite().all()


# ---- one step


def test_teacher_forcing_feeds_bos_and_all_but_the_last_token():
    target = torch.tensor([[5, 6, 2], [7, 2, 0]])
    assert shift_right(target, 1).tolist() == [[1, 5, 6], [1, 7, 2]]
    assert target.tolist() == [[5, 6, 2], [7, 2, 0]]


def test_gradients_are_clipped_to_the_given_length():
    """With plain gradient descent at rate 1 the parameters move by the clipped gradient."""
    batch = batches(PAIRS, SOURCE, TARGET, 8)[0]
    for clip in (1e-3, 1e9):
        model = small_model()
        before = torch.cat([p.detach().flatten().clone() for p in model.parameters()])
        training_step(model, torch.optim.SGD(model.parameters(), lr=1.0), batch, TARGET.bos, clip)
        moved = (torch.cat([p.detach().flatten() for p in model.parameters()]) - before).norm().item()
        assert moved == pytest.approx(1e-3, rel=1e-2) if clip == 1e-3 else moved > 0.1


def test_fit_takes_adams_steps():
    """Against Adam written out, with one batch an epoch and gradients too short to be clipped."""
    model, other, losses = small_model(), small_model(), []
    for p in model.parameters():
        p.grad = torch.ones_like(p)  # left by a step before
    history = train(model, epochs=3, batch_size=len(PAIRS), learning_rate=0.01, clip=1e9)
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in other.parameters()]
    for step in (1, 2, 3):
        (source, source_lens, target, target_lens) = batches(PAIRS, SOURCE, TARGET, len(PAIRS))[0]
        logits, _ = other(source, shift_right(target, TARGET.bos), source_lens)
        loss = masked_loss(logits, target, target_lens)
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, list(other.parameters()))
        with torch.no_grad():
            for p, g, (m, v) in zip(other.parameters(), gradients, moments, strict=True):
                m.mul_(0.9).add_(0.1 * g)
                v.mul_(0.999).add_(0.001 * g * g)
                p -= 0.01 * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
    assert history == pytest.approx(losses, rel=1e-4)
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=0, atol=1e-4)


def test_a_step_keeps_no_graph():
    model, batch = small_model(), batches(PAIRS, SOURCE, TARGET, 8)[0]
    loss = training_step(model, torch.optim.SGD(model.parameters(), lr=0.1), batch, TARGET.bos, 1.0)
    assert not loss.requires_grad


# ---- fit


@pytest.mark.parametrize("decoder", [Seq2SeqDecoder, Seq2SeqAttentionDecoder])
def test_a_model_learns_what_it_is_shown(decoder):
    model = small_model(decoder=decoder)
    history = train(model, epochs=30, learning_rate=0.02)
    assert len(history) == 30 and history[-1] < 0.3 * history[0]
    written = translate_all(model, [p.source for p in PAIRS], SOURCE, TARGET)
    assert exact_match([t.tokens for t in written], [p.target for p in PAIRS]) >= 0.9


def test_the_loss_of_an_epoch_weighs_every_token_alike():
    """At learning rate 0 the mean over batches must be the mean over all tokens, whatever the batch size."""
    losses = [train(small_model(), epochs=1, learning_rate=0.0, batch_size=size)[0] for size in (1, 7, 40)]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_same_seed_gives_the_same_bits(dropout):
    models = [small_model(3, dropout) for _ in range(2)]
    seed_everything(3)
    first = train(models[0], seed=5)
    seed_everything(3)
    assert train(models[1], seed=5) == first
    pairs = zip(models[0].parameters(), models[1].parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_epochs_differ_in_their_batches_and_seeds_share_no_epoch():
    orders = set()
    for seed in (0, 1, 2):
        seen = []
        model = small_model()
        model.encoder.register_forward_pre_hook(lambda _, given, seen=seen: seen.append(given[0].tolist()))
        train(model, seed=seed, epochs=3, batch_size=7)
        per_epoch = len(seen) // 3
        assert sorted(map(len, seen[:per_epoch])) == [5, 7, 7, 7, 7, 7]
        orders |= {str(seen[e * per_epoch : (e + 1) * per_epoch]) for e in range(3)}
    assert len(orders) == 9


def test_no_epoch_changes_nothing():
    model = small_model()
    before = [p.detach().clone() for p in model.parameters()]
    assert train(model, epochs=0) == []
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), before, strict=True))


def test_progress_goes_to_stderr_and_only_when_asked_for(capfd):
    train(small_model(), epochs=1)
    assert capfd.readouterr() == ("", "")
    train(small_model(), epochs=2, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "2/2" in err


# What a process does that is killed while it writes what it learned in its third epoch.
KILLED = """
import os, signal, sys
from test_training import small_model, train

def replace(*arguments, whole=os.replace, calls=[]):
    calls.append(arguments)
    os.kill(os.getpid(), signal.SIGKILL) if len(calls) == 3 else whole(*arguments)

os.replace = replace
train(small_model(dropout=0.3), epochs=5, checkpoint=sys.argv[1])
"""


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    """Dropout is on: the random numbers go on where they were."""
    whole = small_model(dropout=0.3)
    expected = train(whole, epochs=5)
    path = tmp_path / "run.pt"
    folders = os.pathsep.join(map(str, (Path(__file__).parent, Path(mha_course.__file__).parents[1])))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, path], env={**os.environ, "PYTHONPATH": folders}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(torch.load(path)["history"]) == 2
    torch.manual_seed(99)
    resumed = small_model(seed=7, dropout=0.3)
    assert train(resumed, epochs=5, checkpoint=path) == expected
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), resumed.parameters(), strict=True))
    assert train(small_model(), epochs=5, checkpoint=str(path)) == expected  # nothing is left to do


def test_a_checkpoint_of_other_settings_or_in_no_folder_is_refused(tmp_path):
    path = tmp_path / "run.pt"
    train(small_model(), epochs=1, checkpoint=path)
    before = path.read_bytes()
    others = [{"epochs": 2}, {"learning_rate": 0.1}, {"seed": 1}, {"batch_size": 4}, {"clip": 0.5}]
    for other in others:
        with pytest.raises(ValueError, match="checkpoint must be of the same settings"):
            train(small_model(), checkpoint=path, **{"epochs": 1, **other})
    with pytest.raises(ValueError, match="checkpoint must be of the same settings"):
        options = {"epochs": 1, "batch_size": 8, "progress": False}
        fit(small_model(), PAIRS[1:], SOURCE, TARGET, checkpoint=path, **options)
    with pytest.raises(ValueError, match="folder that exists"):
        train(small_model(), checkpoint=tmp_path / "none" / "run.pt")
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["run.pt"]


def saved(content):
    """Return the bytes that torch.save writes."""
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


class Code:
    """What a pickle can do to those who load it."""

    def __reduce__(self):
        return exec, ("raise SystemExit",)


MODEL = small_model()
SETTINGS = {"epochs": 1, "learning_rate": 0.005, "batch_size": 8, "clip": 1.0, "seed": 0, "pairs": len(PAIRS)}
EMPTY = {name: {} for name in CHECKPOINT_PARTS}
WHOLE = EMPTY | {"model": MODEL.state_dict(), "settings": SETTINGS}
OPTIMIZER = torch.optim.Adam(MODEL.parameters()).state_dict()
NO_CHECKPOINTS = {
    "folder": None,
    "empty": b"",
    "text": b"epoch 1 loss 3.2\n",
    "NULs": bytes(100),
    "code": saved(WHOLE | {"history": Code()}),
    "cut off": saved(WHOLE)[:-30],
    "model": saved(MODEL),
    "tensor": saved(torch.ones(2)),
    "weights": saved(MODEL.state_dict()),
    "empty parts": saved(EMPTY),
    "weights of no tensors": saved(WHOLE | {"model": {"a": 1}}),
    "no optimizer": saved(WHOLE),
    "random state of another kind": saved(WHOLE | {"optimizer": OPTIMIZER, "random": torch.ones(2)}),
}


@pytest.mark.parametrize("content", NO_CHECKPOINTS.values(), ids=NO_CHECKPOINTS)
def test_a_file_that_is_no_checkpoint_is_refused_by_its_name(content, tmp_path):
    path, model = tmp_path / "run.pt", small_model()
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with (
        warnings.catch_warnings(),
        pytest.raises(ValueError, match=r"checkpoint must be .*run\.pt") as caught,
    ):
        warnings.simplefilter("error")
        train(model, epochs=1, checkpoint=path)
    assert type(caught.value) is ValueError and "\n" not in str(caught.value)
    assert content is None or path.read_bytes() == content


@pytest.mark.parametrize("other", ["wider", "without attention"])
def test_a_checkpoint_of_another_model_is_refused_and_changes_nothing(other, tmp_path):
    path, model = tmp_path / "run.pt", small_model()
    train(model, epochs=1, checkpoint=path)
    encoder = Seq2SeqEncoder(len(SOURCE), 16, 16, 1, bidirectional=True)
    decoders = {"wider": Seq2SeqAttentionDecoder(len(TARGET), 18, 16, 1)}
    model = EncoderDecoder(encoder, decoders.get(other, Seq2SeqDecoder(len(TARGET), 16, 16, 1)))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with pytest.raises(ValueError, match=r"must be of the same model, with decoder\.\S+ of shape .*run\.pt"):
        train(model, epochs=1, checkpoint=path)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize(("saved", "here"), [(3, 1), (1, 3), (0, 2), (2, 2)])
def test_a_checkpoint_of_another_number_of_gpus_is_read(saved, here, tmp_path, monkeypatch):
    path, states, set_states = tmp_path / "run.pt", [torch.full((16,), i) for i in range(saved)], {}
    expected = train(small_model(), epochs=1, checkpoint=path)
    content = torch.load(path) | {"random_gpu": states}
    torch.save(content, path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: here)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: set_states.update({device: state}))
    assert train(small_model(), epochs=1, checkpoint=path) == expected
    assert sorted(set_states) == list(range(min(saved, here)))
    assert all(torch.equal(state, states[device]) for device, state in set_states.items())


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one_and_no_part(tmp_path, monkeypatch):
    path, save = tmp_path / "run.pt", torch.save

    def full(state, file):
        if len(state["history"]) < 2:
            return save(state, file)
        file.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match="No space left"):
        train(small_model(), epochs=3, checkpoint=path)
    assert len(torch.load(path)["history"]) == 1 and [file.name for file in tmp_path.iterdir()] == ["run.pt"]


def test_a_checkpoint_holds_the_models_weights(tmp_path):
    model, other = small_model(), small_model(seed=1)
    train(model, epochs=1, checkpoint=tmp_path / "run.pt")
    other.load_state_dict(torch.load(tmp_path / "run.pt")["model"])
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def test_settings_may_be_numpys_numbers(tmp_path):
    options = {"epochs": numpy.int64(2), "batch_size": numpy.int32(8), "seed": numpy.uint8(1)}
    options |= {"learning_rate": numpy.float64(0.01), "clip": numpy.float32(1.0)}
    expected = train(small_model(), epochs=2, batch_size=8, seed=1, learning_rate=0.01)
    for _ in range(2):  # the second time from the checkpoint
        assert train(small_model(), checkpoint=tmp_path / "run.pt", **options) == expected


@pytest.mark.parametrize("bad", ["loss", "weights"])
def test_what_is_not_finite_stops_training_before_the_checkpoint_is_written(bad, tmp_path):
    """The weights may break in an epoch's last step, after its loss was computed."""
    path, model, steps = tmp_path / "run.pt", small_model(), []

    def break_model(module, *_):
        steps.append(1)
        if len(steps) == 12:  # of 5 steps an epoch
            module.decoder.dense.bias.data[0] = math.nan

    def break_gradient(gradient):
        return gradient * math.nan if len(steps) == 15 else gradient

    model.register_forward_pre_hook(break_model if bad == "loss" else lambda *_: steps.append(1))
    if bad == "weights":
        model.decoder.dense.bias.register_hook(break_gradient)
    with pytest.raises(FloatingPointError, match=r"epoch 3.*learning_rate") as caught:
        train(model, epochs=5, checkpoint=path)
    assert ("the loss of epoch 3 is nan" if bad == "loss" else "the weights") in str(caught.value)
    state = torch.load(path)
    assert len(state["history"]) == 2 and all(weight.isfinite().all() for weight in state["model"].values())


def test_pairs_may_come_from_a_generator():
    options = {"epochs": 2, "batch_size": 8, "progress": False}
    assert fit(small_model(), iter(PAIRS), SOURCE, TARGET, **options) == train(small_model(), epochs=2)


# ---- seeds and devices


def test_seed_everything_repeats_python_and_torch():
    draws = []
    for seed in (7, 7, numpy.int64(7), numpy.uint8(7)):
        seed_everything(seed)
        draws.append((random.random(), torch.rand(3).tolist(), torch.randperm(5).tolist()))
    assert draws == [draws[0]] * 4
    seed_everything(8)
    assert random.random() != draws[0][0]


def test_seed_everything_asks_gpus_for_exact_and_repeatable_products(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = False, True
    seed_everything(0)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:2"
    assert not torch.backends.cuda.matmul.allow_tf32 and not torch.backends.cudnn.allow_tf32
    assert torch.backends.cudnn.deterministic and not torch.backends.cudnn.benchmark


def test_try_gpu_takes_a_gpu_where_there_is_one():
    assert try_gpu().type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_trains_like_the_cpu_and_repeats_its_bits():
    cpu, gpus = small_model(), [small_model() for _ in range(2)]
    expected = train(cpu)
    histories = [train(gpu, device=try_gpu()) for gpu in gpus]
    assert histories[0] == histories[1]
    assert all(torch.equal(a, b) for a, b in zip(gpus[0].parameters(), gpus[1].parameters(), strict=True))
    assert histories[0] == pytest.approx(expected, rel=1e-3)
