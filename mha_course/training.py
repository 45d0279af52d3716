"""Training with teacher forcing, a loss that skips padding, and clipped gradients.

A wrong argument raises a TypeError or a ValueError that names it; a label outside the vocabulary, PyTorch's
IndexError; a loss that is not finite, a FloatingPointError.
"""

import math
import operator
import os
import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.checks import (
    argument_check,
    check_integer,
    check_integers,
    check_lens,
    check_number,
    check_sizes,
    check_tensor,
    check_type,
)  # fmt: skip
from mha_course.corpus import Batch, Pair, Vocabulary, as_pairs, batches
from mha_course.masking import length_mask

__all__ = ("fit", "masked_loss", "seed_everything", "shift_right", "try_gpu")

NO_LABEL = torch.iinfo(torch.int64).min
CHECKPOINT_PARTS = {"model", "optimizer", "settings", "history", "random", "random_gpu"}


def seed_everything(seed: int) -> None:
    """Seed Python and PyTorch, and choose the GPU settings under which results repeat.

    Draw random numbers on the CPU and move them: a GPU's generator gives others.

    Parameters
    ----------
    seed : int
    """
    check_integer("seed", seed)
    seed = operator.index(seed)  # Python's generator refuses NumPy's integers
    random.seed(seed)
    torch.manual_seed(seed)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:2")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def try_gpu() -> torch.device:
    """Return the first CUDA GPU, or the CPU where there is none.

    Apple's GPU is never returned, since some operations differ there; name it yourself to try it:
    ``fit(..., device="mps")``.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def masked_loss(logits: Tensor, labels: Tensor, lens: Tensor) -> Tensor:
    """Return the mean cross-entropy of the valid tokens; padding reaches neither loss nor gradient.

    Parameters
    ----------
    logits : Tensor, shape (batch, steps, vocab_size)
        What they hold after the valid length does not matter, even NaN.
    labels : Tensor of integers, shape (batch, steps)
    lens : Tensor of integers, shape (batch,)
        How many labels of each row count.

    Returns
    -------
    Tensor
        A scalar in nats a token; 0 where no label counts. It is computed and returned in float32, or in
        float64 for logits in float64, since a sum in half precision overflows.

    Examples
    --------
    >>> logits, labels = torch.zeros(1, 3, 4), torch.tensor([[2, 1, 0]])
    >>> masked_loss(logits, labels, torch.tensor([2]))  # log 4
    tensor(1.3863)
    """
    check_tensor("logits", logits, batch=None, steps=None, vocab_size=None)
    batch, steps, _ = logits.shape
    check_integers("labels", labels, batch=batch, steps=steps)
    check_lens("lens", lens, batch, steps)
    counts = length_mask(lens, steps)  # (batch, steps)
    scores = logits[counts].to(torch.promote_types(logits.dtype, torch.float32))  # (tokens, vocab_size)
    # By default PyTorch silently skips the label -100.
    total = F.cross_entropy(scores, labels[counts].long(), reduction="sum", ignore_index=NO_LABEL)
    return total / counts.sum().clamp(min=1)


def shift_right(target: Tensor, bos: int) -> Tensor:
    """Return the decoder's input for teacher forcing: ``<bos>``, then all but the last target token.

    Parameters
    ----------
    target : Tensor of integers, shape (batch, steps)
        At least one step.
    bos : int
        The id of ``<bos>``.

    Returns
    -------
    Tensor of integers, shape (batch, steps)

    Examples
    --------
    >>> shift_right(torch.tensor([[5, 6, 2]]), bos=1)
    tensor([[1, 5, 6]])
    """
    first = target.new_full((target.shape[0], 1), bos)
    return torch.cat((first, target[:, :-1]), dim=1)  # (batch, steps)


def training_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch, bos: int, clip: float
) -> Tensor:
    """Take one step of gradient descent, and return the loss before it."""
    source, source_lens, target, target_lens = batch
    logits, _ = model(source, shift_right(target, bos), source_lens)  # (batch, steps, vocab_size)
    loss = masked_loss(logits, target, target_lens)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.detach()


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    settings: dict[str, float],
    history: list[float],
) -> None:
    """Write the state of training; after an interruption the file is the old one or the new one, whole."""
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "settings": settings,
        "history": history,
        "random": torch.get_rng_state(),
        "random_gpu": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, settings: dict[str, float]
) -> list[float]:
    """Restore the state in the file and return the losses so far; none where there is no file yet."""
    if not path.parent.is_dir():
        raise ValueError(f"checkpoint must lie in a folder that exists, got {str(path)!r}")
    if not path.exists():
        return []
    state = read_checkpoint(path)
    if state["settings"] != settings:
        raise ValueError(
            f"checkpoint must be of the same settings, {settings}, got {state['settings']} in {str(path)!r}"
        )
    check_weights(path, state["model"], model)
    try:
        optimizer.load_state_dict(state["optimizer"])
        model.load_state_dict(state["model"])
        torch.set_rng_state(state["random"])
        if torch.cuda.is_available():
            # The file may come from a machine with more GPUs, or with fewer.
            for device, gpu in zip(range(torch.cuda.device_count()), state["random_gpu"], strict=False):
                torch.cuda.set_rng_state(gpu, device)
        return [float(loss) for loss in state["history"]]
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(wrong_checkpoint(path)) from error


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read the file; raise unless it is one that `save_checkpoint` wrote."""
    if not path.is_file():
        raise ValueError(wrong_checkpoint(path))
    with path.open("rb") as file:
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # its type depends on the file's bytes
            raise ValueError(wrong_checkpoint(path)) from error
    if not isinstance(state, dict) or not state.keys() >= CHECKPOINT_PARTS:
        raise ValueError(wrong_checkpoint(path))
    return state


def wrong_checkpoint(path: Path) -> str:
    """Return the message about a file that is not a checkpoint."""
    return f"checkpoint must be a file that fit(checkpoint=...) wrote, or a new one; got {str(path)!r}"


@argument_check
def check_weights(path: Path, weights: object, model: nn.Module) -> None:
    """Raise unless a checkpoint's weights have the names and shapes of the model's."""
    if not isinstance(weights, dict) or not all(isinstance(weight, Tensor) for weight in weights.values()):
        raise ValueError(wrong_checkpoint(path))
    saved = {name: tuple(weight.shape) for name, weight in weights.items()}
    own = {name: tuple(weight.shape) for name, weight in model.state_dict().items()}
    if saved != own:
        name = min(name for name in saved.keys() | own.keys() if saved.get(name) != own.get(name))
        raise ValueError(
            f"checkpoint must be of the same model, with {name} of shape {own.get(name)}, "
            f"got {saved.get(name)} in {str(path)!r}"
        )


@argument_check
def check_finite(loss: float, model: nn.Module, epoch: int) -> None:
    """Raise unless the mean loss of an epoch and the weights after it are finite."""
    if not math.isfinite(loss):
        what = f"the loss of epoch {epoch} is {loss}"
    elif not all(bool(parameter.isfinite().all()) for parameter in model.parameters()):
        what = f"the weights are not finite after epoch {epoch}"
    else:
        return
    raise FloatingPointError(f"{what}: try a smaller learning_rate, or float32 if the model is in float16")


@contextmanager
def restored_modes(model: nn.Module) -> Iterator[None]:
    """Restore the mode of each of a model's modules, training or evaluation, after a ``with`` block."""
    modes = {module: module.training for module in model.modules()}
    try:
        yield
    finally:
        for module, is_training in modes.items():
            module.training = is_training


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode inside a ``with`` block, then restore the mode of each module."""
    with restored_modes(model):
        model.eval()
        yield


def device_of(model: nn.Module) -> torch.device:
    """Return the device that a model's parameters are on; raise where it has none."""
    for parameter in model.parameters():
        return parameter.device
    raise ValueError(f"model must have parameters, got {type(model).__name__} without any")


def fit(
    model: nn.Module,
    pairs: Iterable[Pair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    epochs: int = 25,
    learning_rate: float = 0.005,
    batch_size: int = 64,
    clip: float = 1.0,
    seed: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
) -> list[float]:
    """Train `model` with Adam.

    A loss or a weight that is not finite stops training with a FloatingPointError that names the epoch; the
    checkpoint is still that of the epoch before. The usual causes are a learning rate that is too large, and
    float16, in which Adam's small numbers are 0.

    Parameters
    ----------
    model : nn.Module
        Called as ``model(source, target_input, source_lens)``; returns ``(logits, state)``. A model in
        evaluation mode is put into training mode; in a model in training mode, parts in evaluation mode stay
        so. Afterwards each module has the mode that it had.
    pairs : iterable of Pair
        As `load_corpus` returns.
    source_vocabulary, target_vocabulary : Vocabulary
    epochs : int
        Passes over the pairs.
    learning_rate : float
        Adam's step size.
    batch_size : int
        Pairs in a step.
    clip : float
        Greatest L2 norm of all gradients together; above it all are scaled down by one factor.
    seed : int
        Of the batches' order. The same seed and the same initial weights give the same bits.
    device : torch.device or str, optional
        Where to train; by default where the model is.
    progress : bool
        Print epoch and loss on stderr.
    checkpoint : str or path, optional
        A file that is written after every epoch. Where it exists, training goes on from it, to the same bits
        as without an interruption; it must be of the same settings and as many pairs. The model's weights in
        it are ``torch.load(path)["model"]``, for ``model.load_state_dict``. It does not hold the
        vocabularies: `Vocabulary` says how to save them.

    Returns
    -------
    list of float
        The mean loss of each epoch, in nats a token.
    """
    check_type("model", model, nn.Module, "a PyTorch module")
    check_sizes(epochs=epochs, least=0)
    check_number("learning_rate", learning_rate, 0, sys.float_info.max)
    check_number("clip", clip, sys.float_info.min)
    check_integer("seed", seed)
    check_sizes(batch_size=batch_size)
    # Plain numbers: torch.load refuses NumPy's in a checkpoint, and their integers may overflow.
    learning_rate, clip = float(learning_rate), float(clip)
    epochs, batch_size, seed = (operator.index(number) for number in (epochs, batch_size, seed))
    pairs = as_pairs(pairs)
    if not pairs:
        raise ValueError("pairs must hold at least one pair, got none")
    if device is not None:
        model.to(device)
    device = device_of(model)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ValueError("model must have a parameter to train, got all of them frozen")
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    settings = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size}
    settings |= {"clip": clip, "seed": seed, "pairs": len(pairs)}
    history: list[float] = []
    if checkpoint is not None:
        history = load_checkpoint(Path(checkpoint), model, optimizer, settings)
    with restored_modes(model):
        if not model.training:
            model.train()
        for epoch in range(len(history), epochs):
            total, count = torch.zeros((), device=device), 0
            order = seed * epochs + epoch
            for batch in batches(pairs, source_vocabulary, target_vocabulary, batch_size, seed=order):
                tokens = int(batch.target_lens.sum())
                loss = training_step(model, optimizer, to_device(batch, device), target_vocabulary.bos, clip)
                total, count = total + loss * tokens, count + tokens
            history.append(float(total) / count)
            if progress:
                end = "\r" if epoch + 1 < epochs else "\n"  # the next epoch is written over it
                print(f"epoch {epoch + 1}/{epochs}  loss {history[-1]:.3f} ", end=end, file=sys.stderr)
            check_finite(history[-1], model, epoch + 1)
            if checkpoint is not None:
                save_checkpoint(Path(checkpoint), model, optimizer, settings, history)
    return history


def to_device(batch: Batch, device: torch.device) -> Batch:
    """Move the four tensors of a batch."""
    return Batch(*(part.to(device) for part in batch))
