"""Scores of translations, and of attention weights against gold alignments.

A wrong argument raises a TypeError or a ValueError that names it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence, Sized

import torch
from torch import Tensor

from mha_course.checks import argument_check, check_sizes, check_tensor, check_type

__all__ = ("alignment_accuracy", "bleu", "corpus_bleu", "exact_match", "ruler_weights")

Tokens = str | Sequence[str]


def tokens_of(sentence: Tokens, name: str = "a sentence") -> list[str]:
    """Return a sentence's tokens; a string is split at white space."""
    check_type(name, sentence, Sequence, "a string or a sequence of tokens")
    return sentence.split() if isinstance(sentence, str) else list(sentence)


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the runs of `n` tokens."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu(prediction: Tokens, reference: Tokens, k: int = 2) -> float:
    r"""Return the BLEU of one sentence, with runs of up to `k` tokens.

    It is :math:`\exp(\min(0, 1 - |r| / |p|)) \prod_{n=1}^{k} p_n^{1/2^n}` for a prediction of :math:`|p|`
    tokens and a reference of :math:`|r|`, where :math:`p_n` is the share of the prediction's runs of n tokens
    that the reference has too. n stops at the prediction's length, so that a prediction equal to its
    reference scores 1 however short; an empty prediction scores 0.

    Parameters
    ----------
    prediction, reference : str or sequence of str
        Tokens; a string is split at white space, so that ``"calm."`` is one token: `corpus.tokenize` splits a
        sentence as it is printed. The reference must not be empty.
    k : int
        The longest run that counts, at least 1.

    Returns
    -------
    float
        From 0 to 1.

    References
    ----------
    Papineni et al. (2002); the weights 1/2ⁿ are those of D2L, where Papineni has 1/k.

    Examples
    --------
    >>> bleu("il est calme .", "il est calme ."), round(bleu("il est grand .", "il est calme ."), 3)
    (1.0, 0.658)
    """
    check_sizes(k=k)
    predicted, expected = tokens_of(prediction, "prediction"), tokens_of(reference, "reference")
    if not expected:
        raise ValueError("reference must hold at least one token, got none")
    if not predicted:
        return 0.0
    score = math.exp(min(0.0, 1 - len(expected) / len(predicted)))
    for n in range(1, min(k, len(predicted)) + 1):
        matches = (ngrams(predicted, n) & ngrams(expected, n)).total()
        score *= (matches / (len(predicted) - n + 1)) ** (0.5**n)
    return score


def corpus_bleu(predictions: Sequence[Tokens], references: Sequence[Tokens], max_n: int = 4) -> float:
    r"""Return the BLEU of a set of translations, as papers report it (but from 0 to 1).

    It is :math:`\exp(\min(0, 1 - |r| / |p|))\,(p_1 p_2 \cdots p_N)^{1/N}`. The precision :math:`p_n` is the
    share of the predictions' n-grams that their reference has too, each counted at most as often as there.
    The n-grams, and the tokens :math:`|p|` and :math:`|r|`, are counted over all sentences together.

    Parameters
    ----------
    predictions, references : sequence of sentences
        As many of one as of the other, each a string, split at white space, or a sequence of tokens.
    max_n : int
        N, the length of the longest n-grams, at least 1.

    Returns
    -------
    float
        From 0 to 1; 0 where one of the precisions is 0 (nothing is smoothed).

    References
    ----------
    Papineni et al. (2002)

    Examples
    --------
    >>> round(corpus_bleu(["il est calme ."], ["il est très calme ."], max_n=2), 3)
    0.636
    """
    check_pairs("predictions", predictions, "references", references)
    check_sizes(max_n=max_n)
    both = [(tokens_of(p), tokens_of(r)) for p, r in zip(predictions, references, strict=True)]
    logarithms = []
    for n in range(1, max_n + 1):
        counts = [(ngrams(predicted, n), ngrams(expected, n)) for predicted, expected in both]
        matches = sum((ours & theirs).total() for ours, theirs in counts)
        if matches == 0:
            return 0.0
        logarithms.append(math.log(matches / sum(ours.total() for ours, _ in counts)))
    predicted_length, reference_length = (sum(map(len, tokens)) for tokens in zip(*both, strict=True))
    brevity_penalty = math.exp(min(0.0, 1 - reference_length / predicted_length))
    return brevity_penalty * math.exp(sum(logarithms) / max_n)


def exact_match(predictions: Sequence[Tokens], references: Sequence[Tokens]) -> float:
    """Return the share of predictions that equal their reference token by token.

    Parameters
    ----------
    predictions, references : sequence of sentences
        As many of one as of the other, each a string, split at white space, or a sequence of tokens.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> exact_match(["va !", "il est grand ."], ["va !", "il est calme ."])
    0.5
    """
    check_pairs("predictions", predictions, "references", references)
    matches = (tokens_of(p) == tokens_of(r) for p, r in zip(predictions, references, strict=True))
    return sum(matches) / len(references)


def alignment_accuracy(weights: Sequence[Tensor], alignments: Sequence[Sequence[Sequence[int]]]) -> float:
    """Return the share of gold-aligned target tokens whose weights peak at a gold source position.

    Parameters
    ----------
    weights : sequence of Tensor, shape (steps, source positions)
        One for each sentence, as `forced_weights` returns, with one row for each target token. Columns after
        the source's tokens (``<eos>``) may be there; a peak in them is a miss.
    alignments : sequence of alignments, as `Pair.alignment`
        For each sentence and target token the gold source positions, counted from 0; none where the token
        has no counterpart, and then it does not count.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    >>> alignment_accuracy([weights], [[[0], [1]]])
    0.5
    """
    check_pairs("weights", weights, "alignments", alignments)
    hits = []
    for index, (matrix, alignment) in enumerate(zip(weights, alignments, strict=True)):
        check_tensor(f"weights[{index}]", matrix, steps=None, positions=None)
        if matrix.isnan().any():
            raise ValueError(f"weights[{index}] must be numbers, got NaN")
        check_alignment(f"alignments[{index}]", alignment, *matrix.shape)
        peaks = matrix.argmax(dim=-1).tolist() if len(alignment) else []
        hits += [peak in gold for peak, gold in zip(peaks, alignment, strict=True) if gold]
    if not hits:
        raise ValueError("alignments must hold at least one gold position, got none")
    return sum(hits) / len(hits)


def ruler_weights(steps: int, positions: int) -> Tensor:
    """Return position-only baseline weights: step t looks at position t, scaled to the source's length.

    They are the baseline of `alignment_accuracy`: a model that scores no higher may look at positions alone.

    Parameters
    ----------
    steps : int
        Target tokens, at least 1.
    positions : int
        Source tokens, at least 1.

    Returns
    -------
    Tensor, shape (steps, positions)
        Row t is 1 at t (positions - 1) / (steps - 1), rounded, a half to the even neighbour, and 0 elsewhere.

    Examples
    --------
    >>> ruler_weights(2, 3)
    tensor([[1., 0., 0.],
            [0., 0., 1.]])
    """
    check_sizes(steps=steps, positions=positions)
    peaks = [round(step * (positions - 1) / max(1, steps - 1)) for step in range(steps)]
    return torch.eye(positions)[peaks]


@argument_check
def check_alignment(name: str, alignment: Sequence[Sequence[int]], steps: int, positions: int) -> None:
    """Raise unless there is an entry for each target token, with positions that the source has."""
    check_type(name, alignment, Sized, "a sequence of sequences of positions")
    if len(alignment) != steps:
        raise ValueError(f"{name} must have one entry for each target token, {steps}, got {len(alignment)}")
    for gold in alignment:
        check_type(f"each entry of {name}", gold, Iterable, "a sequence of positions")
    for position in (position for gold in alignment for position in gold):
        if not 0 <= position < positions:
            raise ValueError(f"{name} must hold source positions from 0 to {positions - 1}, got {position}")


@argument_check
def check_pairs(name: str, items: Sequence[object], other_name: str, others: Sequence[object]) -> None:
    """Raise unless two sequences are sequences of one length, at least 1."""
    if isinstance(items, str) or isinstance(others, str):
        raise TypeError(f"{name} and {other_name} must be sequences of sentences, got a string")
    check_type(name, items, Sized, "a sequence")
    check_type(other_name, others, Sized, "a sequence")
    if len(items) != len(others):
        raise ValueError(f"{name} and {other_name} must be as many, got {len(items)} and {len(others)}")
    if not len(items):
        raise ValueError(f"{name} must hold at least one sentence, got none")
