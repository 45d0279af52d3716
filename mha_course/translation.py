"""Greedy translation, and the attention weights behind it.

The model is in evaluation mode meanwhile. A compiled model runs as if it were not compiled, since compiled
code may not keep the weights. A wrong argument raises a TypeError or a ValueError that names it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from mha_course.checks import check_sizes, check_type
from mha_course.corpus import Batch, Pair, Vocabulary, batches, tokenize
from mha_course.metrics import Tokens, tokens_of
from mha_course.seq2seq import AttentionDecoder, EncoderDecoder
from mha_course.training import device_of, evaluating, shift_right, to_device

__all__ = ("Translation", "forced_weights", "translate", "translate_all")


class Translation(NamedTuple):
    """What a model wrote, and where it looked.

    Attributes
    ----------
    tokens : list of str
        The target tokens, without ``<eos>``.
    weights : Tensor, shape (steps, source positions), or None
        One row for each of `tokens`; for a Transformer (layers, heads, steps, source positions). None where
        the decoder has no attention.
    source : list of str
        The tokens of the source positions, with ``<eos>`` at the end.
    """

    tokens: list[str]
    weights: Tensor | None
    source: list[str]


def translate(
    model: EncoderDecoder,
    tokens: Tokens,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    max_steps: int = 20,
    language: str = "en",
) -> Translation:
    """Translate one sentence, always taking the most probable token, until ``<eos>`` or `max_steps` tokens.

    Parameters
    ----------
    model : EncoderDecoder
    tokens : str or sequence of str
        A string is read by `tokenize`, as `read_pairs` reads a file, so ``"My car is old."`` will do. Tokens
        are taken as they are. A token that the source vocabulary does not have is read as ``<unk>``.
    source_vocabulary, target_vocabulary : Vocabulary
    max_steps : int
        The most tokens to write.
    language : str
        Code of the source's language, for `tokenize`.

    Returns
    -------
    Translation
    """
    return translate_all(
        model, [tokens], source_vocabulary, target_vocabulary, max_steps=max_steps, language=language
    )[0]


@torch.no_grad()
def translate_all(
    model: EncoderDecoder,
    sentences: Iterable[Tokens],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    max_steps: int = 20,
    batch_size: int = 256,
    language: str = "en",
) -> list[Translation]:
    """Translate sentences as `translate` does, many at a time.

    Parameters
    ----------
    model, source_vocabulary, target_vocabulary, max_steps, language
        As in `translate`.
    sentences : iterable of str or of sequences of str
    batch_size : int
        Sentences at a time.

    Returns
    -------
    list of Translation
    """
    check_sizes(max_steps=max_steps, batch_size=batch_size)
    if isinstance(sentences, str):
        raise TypeError("sentences must be a sequence of sentences, got a string; translate takes one")
    check_type("sentences", sentences, Iterable, "a sequence of sentences")
    rows = [Pair("", "", source_tokens(sentence, language), (), ()) for sentence in sentences]
    translations: list[Translation] = []
    with keeping_weights(model):
        for batch in batches(rows, source_vocabulary, target_vocabulary, batch_size):
            ids, weights = decode(model, batch, target_vocabulary, max_steps)
            for row, length in enumerate(batch.source_lens.tolist()):
                source = [*rows[len(translations)].source, "<eos>"]
                written = up_to(ids[row].tolist(), target_vocabulary.eos)
                seen = None if weights is None else weights[row, ..., : len(written), :length]
                translations.append(Translation(target_vocabulary.to_tokens(written), seen, source))
    return translations


def source_tokens(sentence: Tokens, language: str) -> tuple[str, ...]:
    """Return the tokens of a sentence; a string is read by `tokenize`."""
    return tokenize(sentence, language) if isinstance(sentence, str) else tuple(tokens_of(sentence))


def decode(
    model: EncoderDecoder, batch: Batch, target_vocabulary: Vocabulary, max_steps: int
) -> tuple[Tensor, Tensor | None]:
    """Decode step by step: tokens ``(batch, steps)``, weights ``(batch, ..., steps, source steps)``."""
    source, source_lens, _, _ = to_device(batch, device_of(model))
    state = model.decoder.init_state(model.encoder(source, source_lens), source_lens)
    token = source.new_full((len(source), 1), target_vocabulary.bos)  # (batch, 1)
    finished = torch.zeros_like(token, dtype=torch.bool)
    tokens, weights = [], []
    for _ in range(max_steps):
        logits, state = model.decoder(token, state)  # (batch, 1, vocab_size)
        token = logits.argmax(dim=-1)  # (batch, 1)
        tokens.append(token)
        if isinstance(model.decoder, AttentionDecoder):
            weights.append(model.decoder.attention_weights)  # (batch, ..., 1, source steps)
        finished |= token == target_vocabulary.eos
        if finished.all():
            break
    return torch.cat(tokens, dim=1), torch.cat(weights, dim=-2) if weights else None


@torch.no_grad()
def forced_weights(
    model: EncoderDecoder,
    pairs: Iterable[Pair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    batch_size: int = 256,
) -> list[Tensor]:
    """Return the attention weights of every pair while the gold target is fed.

    Parameters
    ----------
    model : EncoderDecoder
        With an `AttentionDecoder`.
    pairs : iterable of Pair
    source_vocabulary, target_vocabulary : Vocabulary
    batch_size : int
        Pairs at a time.

    Returns
    -------
    list of Tensor, shape (target tokens, source positions)
        ``<eos>`` is among the positions but not among the tokens, as `alignment_accuracy` expects. For a
        Transformer (layers, heads, target tokens, source positions).
    """
    decoder = getattr(model, "decoder", model)
    if not isinstance(decoder, AttentionDecoder):
        raise TypeError(f"model must have an AttentionDecoder, got {type(decoder).__name__}")
    result: list[Tensor] = []
    with keeping_weights(model):
        for batch in batches(pairs, source_vocabulary, target_vocabulary, batch_size):
            source, source_lens, target, target_lens = to_device(batch, device_of(model))
            model(source, shift_right(target, target_vocabulary.bos), source_lens)
            weights = decoder.attention_weights  # (batch, ..., target steps, source steps)
            sizes = zip(target_lens.tolist(), source_lens.tolist(), strict=True)
            result += [weights[row, ..., : steps - 1, :length] for row, (steps, length) in enumerate(sizes)]
    return result


@contextmanager
def keeping_weights(model: EncoderDecoder) -> Iterator[None]:
    """Evaluate a model inside a ``with`` block, not compiled, so that its decoder keeps the weights."""
    check_type("model", model, EncoderDecoder, "an EncoderDecoder")
    with evaluating(model), torch.compiler.set_stance("force_eager"):
        yield


def up_to(ids: list[int], end: int) -> list[int]:
    """Return `ids` before the first `end`."""
    return ids[: ids.index(end)] if end in ids else ids
