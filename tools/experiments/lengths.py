"""How many random words does one context vector hold, however it is trained? Three seeds.

``python -m tools.experiments.lengths [--workers N]`` trains 24 small models without attention (about ten
minutes on one core) on the first task of the chapter on sequence to sequence: copy 4 to 20 random words. It
writes ``mha_course/data/lengths.tsv`` with one row a model. The first three rows have the settings of the
page, and the others differ from them in one thing. The last columns are the share of words that are right, in
sentences of so many words.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from mha_course.seq2seq import EncoderDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import seed_everything, shift_right
from tools.experiments.runs import SEEDS, Row, columns_of, measure_all, write_table

WORDS, BOS = 20, 20
SHORTEST, LONGEST = 4, 20
LENGTHS = (4, 8, 12, 16, 20)
SENTENCES = 500  # that each length is measured on


@dataclass(frozen=True)
class Setting:
    """One model to train; the defaults are the page's."""

    num_hiddens: int = 64
    direction: str = "one"
    order: str = "forward"
    learning_rate: float = 0.01
    steps: int = 700
    seed: int = 0


CHANGES: tuple[dict[str, int | float | str], ...] = (
    {},
    {"num_hiddens": 192},
    {"direction": "both"},
    {"order": "reversed"},
    {"learning_rate": 0.0025},
    {"learning_rate": 0.005},
    {"learning_rate": 0.02},
    {"steps": 2800},
)


def settings() -> Iterator[Setting]:
    """Yield the page's setting, then those that differ from it in one thing."""
    for change in CHANGES:
        for seed in SEEDS:
            yield replace(Setting(seed=seed), **change)  # type: ignore[arg-type]


def draw(length: int, count: int) -> Tensor:
    """Return random sentences: ids of words, (count, length)."""
    return torch.randint(WORDS, (count, length))


def encoder_input(words: Tensor, setting: Setting) -> Tensor:
    return words.flip(1) if setting.order == "reversed" else words


def train(model: EncoderDecoder, setting: Setting) -> None:
    """Train with a learning rate that rises for 50 steps and then falls to 0."""
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1 - step / setting.steps)
    )
    for _ in range(setting.steps):
        words = draw(random.randint(SHORTEST, LONGEST), 64)
        logits, _ = model(encoder_input(words, setting), shift_right(words, BOS))
        loss = cross_entropy(logits.transpose(1, 2), words)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def words_right(model: EncoderDecoder, setting: Setting, length: int) -> float:
    """Return the share of words right when the model writes on its own."""
    words = draw(length, SENTENCES)
    state = model.decoder.init_state(model.encoder(encoder_input(words, setting)))
    token, written = torch.full((SENTENCES, 1), BOS), []
    for _ in range(length):
        logits, state = model.decoder(token, state)
        token = logits.argmax(dim=-1)  # (sentences, 1)
        written.append(token)
    return float((torch.cat(written, dim=1) == words).float().mean())


def measure(setting: Setting) -> Row:
    """Train one model and return its row."""
    seed_everything(setting.seed)
    bidirectional = setting.direction == "both"
    sizes = WORDS + 1, setting.num_hiddens, setting.num_hiddens, 1
    model = EncoderDecoder(Seq2SeqEncoder(*sizes, bidirectional=bidirectional), Seq2SeqDecoder(*sizes))
    train(model, setting)
    shares = {f"words_{length}": f"{words_right(model, setting, length):.3f}" for length in LENGTHS}
    return columns_of(setting) | shares


if __name__ == "__main__":
    write_table("lengths", measure_all(measure, settings()))
