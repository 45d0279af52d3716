"""Training with teacher forcing, a loss that skips padding, and clipped gradients.

A wrong argument raises a TypeError or a ValueError that names it; a label that is no class, PyTorch's
IndexError.
"""

import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.checks import (
    check_integer,
    check_integers,
    check_lens,
    check_number,
    check_sizes,
    check_tensor,
    check_type,
)  # fmt: skip
from mha_course.corpus import Batch, Pair, Vocabulary, batches
from mha_course.masking import length_mask

__all__ = ("fit", "masked_loss", "seed_everything", "shift_right", "try_gpu")

NO_LABEL = torch.iinfo(torch.int64).min


def seed_everything(seed: int) -> None:
    """Seed Python and PyTorch, and choose the GPU settings under which results repeat.

    Draw random numbers on the CPU and move them: a GPU's generator gives others.

    Parameters
    ----------
    seed : int
    """
    check_integer("seed", seed)
    random.seed(seed)
    torch.manual_seed(seed)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:2")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def try_gpu() -> torch.device:
    """Return the first GPU, or the CPU where there is none."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def masked_loss(logits: Tensor, labels: Tensor, lens: Tensor) -> Tensor:
    """Mean cross-entropy of the valid tokens; padding reaches neither loss nor gradient.

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
        A scalar in nats a token; 0 where no label counts.

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
    # Without NO_LABEL a label of -100 would be skipped in silence.
    total = F.cross_entropy(logits[counts], labels[counts].long(), reduction="sum", ignore_index=NO_LABEL)
    return total / counts.sum().clamp(min=1)


def shift_right(target: Tensor, bos: int) -> Tensor:
    """Return the decoder's input for teacher forcing: ``<bos>``, then all but the last target token.

    Parameters
    ----------
    target : Tensor of integers, shape (batch, steps)
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
    """Write what training goes on from; an interruption leaves the old file or the new one."""
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "settings": settings,
        "history": history,
        "random": torch.get_rng_state(),
        "random_gpu": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, settings: dict[str, float]
) -> list[float]:
    """Go back to what the file holds and return the losses so far; none where there is no file yet."""
    if not path.parent.is_dir():
        raise ValueError(f"checkpoint must lie in a folder that exists, got {str(path)!r}")
    if not path.exists():
        return []
    state = torch.load(path, map_location="cpu", weights_only=True)
    if state["settings"] != settings:
        raise ValueError(f"checkpoint must be of the same settings, {settings}, got {state['settings']}")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    if torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["random_gpu"])
    history: list[float] = state["history"]
    return history


def fit(
    model: nn.Module,
    pairs: Sequence[Pair],
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

    Parameters
    ----------
    model : nn.Module
        Called as ``model(source, target_input, source_lens)``; returns ``(logits, state)``.
    pairs : sequence of Pair
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
        as without an interruption; it must be of the same settings and as many pairs.

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
    if not pairs:
        raise ValueError("pairs must hold at least one pair, got none")
    if device is not None:
        model.to(device)
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    settings = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "clip": clip}
    settings |= {"seed": seed, "pairs": len(pairs)}
    history: list[float] = []
    if checkpoint is not None:
        history = load_checkpoint(Path(checkpoint), model, optimizer, settings)
    was_training = model.training
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
        if checkpoint is not None:
            save_checkpoint(Path(checkpoint), model, optimizer, settings, history)
    model.train(was_training)
    return history


def to_device(batch: Batch, device: torch.device) -> Batch:
    """Move the four tensors of a batch."""
    return Batch(*(part.to(device) for part in batch))
