"""The turns of the chapter on Bahdanau attention."""

import torch
from torch import Tensor

from mha_course.practice.turn import numbers, turn


def joined(query: Tensor, enc_outputs: Tensor, embedded: Tensor, axis: int = -1) -> Tensor:
    """Return one step's input, with dot-product scores and the softmax over `axis`, right or wrong."""
    weights = (query.unsqueeze(1) @ enc_outputs.mT).softmax(axis)
    return torch.cat((weights @ enc_outputs, embedded), dim=-1)


@turn(
    (numbers(0, 2, 3, 5), numbers(1, 3, 4, 5), numbers(2, 3, 1, 6)),
    first_layer=lambda state, outputs, embedded: joined(state[0], outputs, embedded),
    exchanged=lambda state, outputs, embedded: joined(state[-1], outputs, embedded).roll(6, -1),
    plain_mean=lambda state, outputs, embedded: torch.cat((outputs.mean(1, True), embedded), -1),
    over_queries=lambda state, outputs, embedded: joined(state[-1], outputs, embedded, 1),
)
def step_input(hidden_state: Tensor, enc_outputs: Tensor, embedded: Tensor) -> Tensor:
    query = hidden_state[-1].unsqueeze(1)  # (batch, 1, num_hiddens)
    scores = query @ enc_outputs.transpose(1, 2)  # (batch, 1, source steps)
    context = torch.softmax(scores, dim=-1) @ enc_outputs  # (batch, 1, num_hiddens)
    return torch.cat((context, embedded), dim=-1)


def hits(weights: Tensor, gold: list[list[int]]) -> list[bool]:
    """Return for each aligned token True if its largest weight is at a gold position."""
    best = weights.argmax(dim=1).tolist()
    return [place in places for place, places in zip(best, gold, strict=True) if places]


@turn(
    (numbers(3, 6, 5).softmax(-1), [[2], [4, 1], [], [0, 3], [4], [1]]),
    every_token=lambda weights, gold: sum(hits(weights, gold)) / 6,
    first_only=lambda weights, gold: sum(hits(weights, [places[:1] for places in gold])) / 5,
    mass=lambda weights, gold: sum(row[places].sum() for row, places in zip(weights, gold, strict=True)) / 5,
    count=lambda weights, gold: sum(hits(weights, gold)),
)
def share_found(weights: Tensor, gold: list[list[int]]) -> float:
    best = weights.argmax(dim=1).tolist()  # (target steps,)
    found = [place in places for place, places in zip(best, gold, strict=True) if places]
    return sum(found) / len(found)
