"""The course's parallel corpus with gold word alignments, vocabularies and batches.

The corpus lies in the package, so nothing is downloaded. Its card is ``mha_course/data/README.md``. A wrong
argument raises a TypeError or a ValueError that names it.
"""

import codecs
import csv
import operator
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import NamedTuple, overload

import torch
from torch import Tensor

from mha_course.checks import check_choice, check_integer, check_sizes

__all__ = ("Batch", "Pair", "Vocabulary", "batches", "join_tokens", "load_corpus", "read_pairs")

TARGETS = ("fr", "tr", "vi", "zh")
SPLITS = ("train", "dev", "test", "phrases")
POOL = 8  # batches among which sentences are sorted by length


class Pair(NamedTuple):
    """One sentence in two languages, with the words that translate each other.

    Attributes
    ----------
    id : str
        Name of the row, the same for every target language.
    template : str
        Name of the grammar's template, or ``"phrase"``.
    source, target : tuple of str
        Tokens, without ``<bos>`` and ``<eos>``.
    alignment : tuple of tuple of int
        For each target token, the source positions (from 0) that it translates.
    """

    id: str
    template: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[tuple[int, ...], ...]


class Batch(NamedTuple):
    """Sentences of one training step, padded to the longest.

    Attributes
    ----------
    source, target : Tensor of int64, shape (batch, steps)
        Token ids. Each row ends with ``<eos>``, then padding.
    source_lens, target_lens : Tensor of int64, shape (batch,)
        Tokens in each row, ``<eos>`` included.
    """

    source: Tensor
    source_lens: Tensor
    target: Tensor
    target_lens: Tensor


class Vocabulary:
    """Tokens and their ids: four special tokens, then words, the most frequent first.

    `len(vocabulary)` is the number of tokens, and `token in vocabulary` tells whether `token` is one of them.
    `vocabulary[token]` is its id, `vocabulary[tokens]` the list of ids of a list of tokens; an unknown token
    has the id `unk`.

    Parameters
    ----------
    token_lists : iterable of sequences of str
        Sentences as tokens.
    min_freq : int
        A token that occurs less often is left out, and reads as ``<unk>``.

    Attributes
    ----------
    pad, bos, eos, unk : int
        Ids of ``<pad>``, ``<bos>``, ``<eos>`` and ``<unk>``: 0, 1, 2 and 3.
    special : tuple of str
        These four tokens.

    Examples
    --------
    >>> vocabulary = Vocabulary([["a", "rose", "is", "a", "rose"]], min_freq=2)
    >>> vocabulary[["a", "rose", "is"]], vocabulary.to_tokens([4, 5])
    ([4, 5, 3], ['a', 'rose'])
    """

    pad, bos, eos, unk = range(4)
    special = ("<pad>", "<bos>", "<eos>", "<unk>")

    def __init__(self, token_lists: Iterable[Sequence[str]], min_freq: int = 1) -> None:
        check_sizes(min_freq=min_freq, least=0)
        counts: Counter[str] = Counter()
        for tokens in token_lists:
            if isinstance(tokens, str):
                raise TypeError(f"token_lists must hold lists of tokens, got the string {tokens!r}")
            counts.update(tokens)
        # The word itself breaks ties, so that the order of the sentences does not matter.
        words = sorted(counts, key=lambda word: (-counts[word], word))
        kept = [word for word in words if counts[word] >= min_freq and word not in self.special]
        self._tokens = [*self.special, *kept]
        self._ids = {token: index for index, token in enumerate(self._tokens)}

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    @overload
    def __getitem__(self, tokens: str) -> int: ...

    @overload
    def __getitem__(self, tokens: list[str] | tuple[str, ...]) -> list[int]: ...

    def __getitem__(self, tokens: str | list[str] | tuple[str, ...]) -> int | list[int]:
        """Id of a token, or ids of a list of tokens; an unknown token gives ``unk``."""
        if isinstance(tokens, str):
            return self._ids.get(tokens, self.unk)
        if not isinstance(tokens, (list, tuple)) or not all(isinstance(token, str) for token in tokens):
            raise TypeError(f"tokens must be a string or a list of strings, got {tokens!r:.40}")
        return [self._ids.get(token, self.unk) for token in tokens]

    def to_tokens(self, ids: Iterable[int] | Tensor) -> list[str]:
        """Return the tokens that have these ids; a 1-D tensor of ids will do."""
        try:
            numbers = [operator.index(i) for i in ids]
        except TypeError as error:
            raise TypeError("ids must be a list or a 1-D tensor of integers") from error
        for number in numbers:
            if not 0 <= number < len(self):
                raise ValueError(f"ids must be from 0 to {len(self) - 1}, got {number}")
        return [self._tokens[number] for number in numbers]


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, str], ...]:
    text = resources.files("mha_course").joinpath("data", "corpus.tsv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def _alignment(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(i) for i in positions.split(",")) for positions in text.split())


def load_corpus(target: str = "fr", split: str = "train") -> list[Pair]:
    """Sentence pairs from English into one language.

    Parameters
    ----------
    target : {"fr", "tr", "vi", "zh"}
        French, Turkish, Vietnamese or Chinese (Traditional).
    split : {"train", "dev", "test", "phrases"}
        ``test`` holds pairs of adjective and noun that no sentence of ``train`` and ``dev`` has;
        ``phrases`` are everyday sentences written by hand, meant to be trained on with ``train``.

    Returns
    -------
    list of Pair

    Examples
    --------
    >>> pair = load_corpus("fr", "phrases")[0]
    >>> pair.source, pair.target, pair.alignment
    (('go', '.'), ('va', '!'), ((0,), (1,)))
    """
    check_choice("target", target, TARGETS)
    check_choice("split", split, SPLITS)
    return [
        Pair(
            row["id"],
            row["template"],
            tuple(row["en"].split()),
            tuple(row[target].split()),
            _alignment(row[f"{target}_align"]),
        )
        for row in _rows()
        if row["split"] == split
    ]


def join_tokens(tokens: Sequence[str], language: str) -> str:
    """The sentence that tokens stand for, as it is printed.

    Suffixes (``+um``) join the word before them, elided words (``l'``) the word after them,
    punctuation the word before it (French sets a space before ``?`` and ``!``), and Chinese has no spaces.

    Parameters
    ----------
    tokens : sequence of str
    language : {"en", "fr", "tr", "vi", "zh"}

    Returns
    -------
    str

    Examples
    --------
    >>> join_tokens(["j'", "ai", "perdu", "."], "fr")
    "j'ai perdu."
    """
    check_choice("language", language, ("en", *TARGETS))
    text = ("" if language == "zh" else " ").join(tokens)
    text = text.replace(" +", "").replace("' ", "'").replace(" .", ".").replace(" ,", ",")
    return text if language == "fr" else text.replace(" ?", "?").replace(" !", "!")


def read_pairs(
    path: str | Path, source: str = "en", target: str = "fr", *, max_pairs: int | None = None
) -> list[Pair]:
    """Sentence pairs of the reader's own, such as those of tatoeba.org: a tab-separated text file in UTF-8.

    Sentences are put into lower case and Unicode's composed form (NFC), and ``, . ! ?`` become tokens of
    their own. The pairs have their line numbers as ids and no alignment. Blank lines are skipped.

    Parameters
    ----------
    path : str or Path
        A file with two or three columns: source, target, and what is not used.
    source, target : str
        Codes of the languages; ``"tr"`` has lower-case letters of its own for I and İ.
    max_pairs : int, optional
        Read only so many, from the beginning.

    Returns
    -------
    list of Pair
    """
    check_sizes(max_pairs=max_pairs, least=0)
    lines = enumerate(Path(path).read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1)
    filled = ((number, line) for number, line in lines if line.strip())
    return [_pair(path, number, line, (source, target)) for number, line in islice(filled, max_pairs)]


def _pair(path: str | Path, number: int, line: bytes, languages: tuple[str, str]) -> Pair:
    place = f"{path}, line {number}"
    try:
        columns = line.decode("utf-8").split("\t")
    except UnicodeDecodeError:
        raise ValueError(f"{place}: not UTF-8") from None
    if b"\0" in line:
        raise ValueError(f"{place}: not text, since it holds a NUL character")
    if len(columns) not in (2, 3):
        raise ValueError(f"{place}: expected 2 or 3 columns, got {len(columns)}")
    source, target = map(_tokens, columns, languages)
    if not source or not target:
        raise ValueError(f"{place}: column {2 if source else 1} is empty")
    return Pair(str(number), "", source, target, ())


def _tokens(sentence: str, language: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFC", sentence)
    if language == "tr":
        text = text.replace("I", "ı").replace("İ", "i")
    return tuple(re.sub(r"([,.!?])", r" \1 ", text.lower()).split())


def _padded(token_lists: Sequence[Sequence[str]], vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
    """Ids of shape (batch, steps) with ``<eos>`` and padding, and lengths of shape (batch,)."""
    rows = [[*vocabulary[list(tokens)], vocabulary.eos] for tokens in token_lists]
    steps = max(len(row) for row in rows)
    padded = [row + [vocabulary.pad] * (steps - len(row)) for row in rows]
    return torch.tensor(padded), torch.tensor([len(row) for row in rows])


def batches(
    pairs: Sequence[Pair], source_vocabulary: Vocabulary, target_vocabulary: Vocabulary,
    batch_size: int = 64, *, seed: int | None = None,
) -> list[Batch]:  # fmt: skip
    """Padded batches, the same on every machine.

    Parameters
    ----------
    pairs : sequence of Pair
    source_vocabulary, target_vocabulary : Vocabulary
    batch_size : int
        Sentences in a batch; the last batch may be smaller.
    seed : int, optional
        With a seed, sentences of similar length share a batch, and the batches come in random order.
        Without one, the order of `pairs` is kept.

    Returns
    -------
    list of Batch
    """
    check_sizes(batch_size=batch_size)
    return [
        Batch(
            *_padded([pair.source for pair in chunk], source_vocabulary),
            *_padded([pair.target for pair in chunk], target_vocabulary),
        )
        for chunk in _chunks(pairs, batch_size, seed)
    ]


def _chunks(pairs: Sequence[Pair], batch_size: int, seed: int | None) -> list[list[Pair]]:
    """Pairs in groups of ``batch_size``."""
    if seed is None:
        return _cut(pairs, batch_size)
    check_integer("seed", seed)
    # Of Python's generator, only random() is promised to stay the same in later versions.
    draw = random.Random(seed).random
    shuffled = sorted(pairs, key=lambda pair: draw())
    # Sorting everything would fill a batch with one kind of sentence, and the model learns worse from that.
    pools = _cut(shuffled, POOL * batch_size)
    by_length = [sorted(pool, key=lambda pair: (len(pair.source), len(pair.target))) for pool in pools]
    chunks = [chunk for pool in by_length for chunk in _cut(pool, batch_size)]
    return sorted(chunks, key=lambda chunk: draw())


def _cut(pairs: Sequence[Pair], size: int) -> list[list[Pair]]:
    return [list(pairs[start : start + size]) for start in range(0, len(pairs), size)]
