"""Does normalizing queries and keys (QK-norm) make a high learning rate harmless? Three seeds.

``python -m tools.experiments.qk_norm [--workers N]`` trains 27 small language models on the corpus's English
sentences, 400 steps each (about 4 minutes on one core), and writes ``mha_course/data/qk_norm.tsv`` with one
row for each.

``normalized`` says whether queries and keys are divided by their root mean square, head by head, before they
are turned, as in Qwen3. ``guarded`` says whether gradients are clipped at an L2 norm of 1 and the learning
rate falls along a line to 0. ``largest_score`` is the largest absolute score of a query and a key in the
development sentences, and ``dev_loss`` their loss, in nats a token.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count, islice

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.corpus import Batch, Pair, batches
from mha_course.language_model import LanguageModel, RotaryAttention
from mha_course.training import masked_loss, seed_everything, shift_right
from tools.experiments.language_models import sentences, vocabulary
from tools.experiments.runs import SEEDS, Row, columns_of, measure_all, write_table

STEPS, BATCH_SIZE, HEAD_SIZE = 400, 64, 16
LEARNING_RATES = (0.01, 0.1, 0.3)

words = cache(vocabulary)  # the vocabulary is made once


@dataclass(frozen=True)
class Setting:
    """One model to train."""

    normalized: bool = False
    guarded: bool = False
    learning_rate: float = 0.01
    seed: int = 0


def settings() -> Iterator[Setting]:
    """Yield the plain models, then those with QK-norm, then plain ones with clipping and decay."""
    for normalized, guarded in ((False, False), (True, False), (False, True)):
        for learning_rate in LEARNING_RATES:
            for seed in SEEDS:
                yield Setting(normalized, guarded, learning_rate, seed)


class NormalizedLinear(nn.Linear):
    """A projection whose heads are divided by their root mean square and multiplied by a learned gain."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features, bias=False)
        self.gain = nn.Parameter(torch.ones(HEAD_SIZE))

    def forward(self, X: Tensor) -> Tensor:
        heads = super().forward(X).unflatten(-1, (-1, HEAD_SIZE))  # (batch, steps, heads, head_dim)
        return F.rms_norm(heads, (HEAD_SIZE,), self.gain).flatten(-2)


class ObservedAttention(RotaryAttention):
    """Attention that remembers the largest absolute score of all calls."""

    largest = 0.0

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        scores = (queries @ keys.mT).tril() / queries.shape[-1] ** 0.5  # (batch, heads, steps, steps)
        self.largest = max(self.largest, scores.abs().max().item())
        return super().attend(queries, keys, values, need_weights)


def build(setting: Setting, vocab_size: int) -> LanguageModel:
    """Return the untrained model."""
    seed_everything(setting.seed)
    model = LanguageModel(vocab_size)
    for block in model.blocks:
        if setting.normalized:
            sizes = block.attention.W_q.in_features, block.attention.W_q.out_features
            block.attention.W_q, block.attention.W_k = NormalizedLinear(*sizes), NormalizedLinear(*sizes)
    return model


def batch_loss(model: LanguageModel, batch: Batch) -> Tensor:
    logits, _ = model(shift_right(batch.target, words().bos))  # (batch, steps, vocab_size)
    return masked_loss(logits, batch.target, batch.target_lens)


def train(model: LanguageModel, setting: Setting) -> None:
    """Train with Adam at a constant rate; a guarded model with clipping and a rate that falls to 0."""
    pairs = [Pair("", "", (), sentence, ()) for sentence in sentences("train", "phrases")]
    endless = (
        batch
        for epoch in count()
        for batch in batches(pairs, words(), words(), BATCH_SIZE, seed=1000 * setting.seed + epoch)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0 if setting.guarded else 1.0, STEPS)
    for batch in islice(endless, STEPS):
        loss = batch_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if setting.guarded:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def held_out(model: LanguageModel) -> tuple[float, float]:
    """Return the largest score and the loss a token, both of the development sentences."""
    total, tokens = 0.0, 0
    pairs = [Pair("", "", (), sentence, ()) for sentence in sentences("dev")]
    for block in model.blocks:
        block.attention.__class__ = ObservedAttention
    for batch in batches(pairs, words(), words(), BATCH_SIZE, seed=0):
        number = int(batch.target_lens.sum())
        total, tokens = total + batch_loss(model.eval(), batch).item() * number, tokens + number
    return max(block.attention.largest for block in model.blocks), total / tokens


def measure(setting: Setting) -> Row:
    """Train one model and return its row."""
    model = build(setting, len(words()))
    train(model, setting)
    largest, loss = held_out(model)
    return columns_of(setting) | {"largest_score": f"{largest:.3g}", "dev_loss": f"{loss:.3f}"}


if __name__ == "__main__":
    write_table("qk_norm", measure_all(measure, settings()))
