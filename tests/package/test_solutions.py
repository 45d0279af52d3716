"""The solutions of the turns are right: each equals the same thing reached by another way.

A reader's answer is compared with the solution, so a mistake in a solution would call right answers wrong.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.distributions import Categorical

from mha_course.practice.turn import same
from mha_course.transformer import PositionalEncoding
from tests.package.test_practice import TURNS

sdpa = F.scaled_dot_product_attention


def additive_scores(queries, keys, W_q, W_k, w_v):
    return torch.stack([torch.stack([w_v @ torch.tanh(W_q @ q + W_k @ k) for k in keys]) for q in queries])


def share_found(weights, gold):
    aligned = [(row, places) for row, places in zip(weights, gold, strict=True) if places]
    return sum(max(row) == max(row[places]) for row, places in aligned) / len(aligned)


def prefix_matching(weights, tokens):
    found = []
    for query, row in enumerate(weights):
        behind = [key + 1 for key in range(query) if tokens[key] == tokens[query]]
        if behind:
            found.append(row[behind].sum())
    return torch.stack(found).mean()


def kept(probabilities, p):
    chosen, mass = torch.zeros(len(probabilities), dtype=torch.bool), 0.0
    while mass < p:
        best = int(probabilities.masked_fill(chosen, -1).argmax())
        chosen[best], mass = True, mass + probabilities[best].item()
    return chosen


def to_remove(scores, count):
    removed = torch.zeros(scores.shape, dtype=torch.bool)
    for place in sorted(
        ((m, h) for m in range(len(scores)) for h in range(scores.shape[1])), key=scores.__getitem__
    ):
        if removed.sum() < count and scores[place] < scores[place[0]].max():
            removed[place] = True
    return removed


def greedy(next_logits, bos, eos, max_steps):
    tokens = []
    while len(tokens) < max_steps and (best := next_logits([bos, *tokens]).topk(1).indices.item()) != eos:
        tokens.append(best)
    return tokens


def precision(prediction, reference, n):
    ours, theirs = (
        Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (prediction, reference)
    )
    return sum(min(ours[ngram], theirs[ngram]) for ngram in ours) / sum(ours.values())


def block(X, mha, ffn, ln):
    stream = X.clone()
    for part in (mha, ffn):
        stream += part(ln(stream))
    return stream


def sines_first(steps, d):
    P = PositionalEncoding(d, 0.0, steps)(torch.zeros(1, steps, d))[0]  # sines and cosines take turns
    return torch.cat((P[:, 0::2], P[:, 1::2]), dim=1)


def fading(keys, values, gamma):
    age = [gamma ** (len(keys) - 1 - i) for i in range(len(keys))]
    return sum(torch.outer(v, k) * g for k, v, g in zip(keys, values, age, strict=True))


OTHER_WAYS: dict[str, Callable[..., Any]] = {
    "attention_pooling.several_queries": lambda q, k, v, beta: sdpa(q, k, v, scale=beta),
    "attention_pooling.masked_mean": lambda values, lens: torch.stack(
        [v[:n].mean(0) for v, n in zip(values, lens, strict=True)]
    ),
    "bahdanau_attention.step_input": lambda state, outputs, embedded: torch.cat(
        (sdpa(state[-1][:, None], outputs, outputs, scale=1.0), embedded), -1
    ),
    "bahdanau_attention.share_found": share_found,
    "efficient_attention.cached_step": lambda q, k, v, K, V: (
        sdpa(q, torch.cat((K, k), 1), torch.cat((V, v), 1)),
        torch.cat((K, k), 1),
        torch.cat((V, v), 1),
    ),
    "efficient_attention.cache_bytes": lambda layers, heads, groups, width, tokens, size: (
        2 * torch.empty(layers, groups, tokens, width, device="meta").numel() * size
    ),
    "inside_language_models.prefix_matching": prefix_matching,
    "inside_language_models.normalized": lambda heads, gain: F.rms_norm(heads, gain.shape, gain, eps=1e-12),
    "language_models.perplexity": lambda logits, answers: F.cross_entropy(logits, answers).exp(),
    "language_models.kept": kept,
    "long_contexts.sink_mask": lambda n, window, sinks: torch.tensor(
        [[k <= q and (q - k < window or k < sinks) for k in range(n)] for q in range(n)]
    ),
    "long_contexts.fading": fading,
    "looking_at_heads.mean_entropy": lambda weights: Categorical(weights).entropy().mean(1),
    "looking_at_heads.contribution_sizes": lambda weights, values, W_o: torch.einsum(
        "hqk,hkd,hdm->hqkm", weights, values, W_o
    ).norm(dim=-1),
    "multi_head_attention.add_up": lambda heads, W_o: torch.einsum(
        "hqd,hdm->qm", heads, W_o.unflatten(0, (len(heads), -1))
    ),
    "multi_head_attention.split_heads": lambda X, h: torch.stack(X.chunk(h, dim=-1), dim=1),
    "one_attention_many_names.to_added": lambda hidden: torch.tensor(
        [[[[-math.inf if h else 0.0 for h in row]]] for row in hidden]
    ),
    "one_attention_many_names.causal_with_cache": lambda n, m: torch.ones(m, m, dtype=torch.bool).tril()[-n:],
    "pruning_heads.importance": lambda gradients: F.normalize(gradients.abs().mean(0), dim=0),
    "pruning_heads.to_remove": to_remove,
    "scoring_functions.scaled_scores": lambda Q, K: torch.einsum("bqd,bkd->bqk", Q, K) * Q.shape[-1] ** -0.5,
    "scoring_functions.additive_scores": additive_scores,
    "sequence_to_sequence.greedy": greedy,
    "sequence_to_sequence.precision": precision,
    "swapping_parts.query_of": lambda state: state[0][-1:].transpose(0, 1),
    "swapping_parts.chosen_score": lambda dev, test: max(
        zip(dev.mean(1), test.mean(1), strict=True), key=lambda pair: pair[0]
    )[1],
    "transformer.block": block,
    "transformer.sines_first": sines_first,
}


@pytest.mark.parametrize("name", TURNS)
def test_a_solution_is_what_another_way_gives(name):
    turn = TURNS[name]
    for case in turn.cases:
        assert same(turn.solution(*case), OTHER_WAYS[name](*case))
