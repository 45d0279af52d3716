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
from typing import NamedTuple, Self, overload

import torch
from torch import Tensor

from mha_course.checks import check_choice, check_integer, check_sizes, check_type

__all__ = (
    "Batch", "Pair", "Vocabulary", "batches", "join_tokens", "load_corpus", "read_pairs", "tokenize",
)  # fmt: skip

TARGETS = ("fr", "tr", "vi", "zh")
SPLITS = ("train", "dev", "test", "phrases")
DOTTED_AND_DOTLESS_I = ("tr", "tur", "az", "aze")  # languages whose small letters of İ and I are i and ı
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),  # begins like that of UTF-16
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
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
    has the id `unk`. For a sentence as it is printed, ask for ``vocabulary[tokenize("My car is old.")]``.

    A model is of use only with the ids that it was trained with, so save the vocabulary with it:
    ``torch.save(vocabulary, path)`` and ``torch.load(path)``, or as plain text ``vocabulary.tokens``, of
    which `from_tokens` makes the same vocabulary.

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
    tokens : list of str
        All tokens in the order of their ids.

    Examples
    --------
    >>> vocabulary = Vocabulary([["a", "rose", "is", "a", "rose"]], min_freq=2)
    >>> vocabulary[["a", "rose", "is"]], vocabulary.to_tokens([4, 5])
    ([4, 5, 3], ['a', 'rose'])
    >>> vocabulary.tokens
    ['<pad>', '<bos>', '<eos>', '<unk>', 'a', 'rose']
    >>> Vocabulary.from_tokens(vocabulary.tokens)["rose"]
    5
    """

    pad, bos, eos, unk = range(4)
    special = ("<pad>", "<bos>", "<eos>", "<unk>")

    def __init__(self, token_lists: Iterable[Sequence[str]], min_freq: int = 1) -> None:
        check_sizes(min_freq=min_freq, least=0)
        check_type("token_lists", token_lists, Iterable, "an iterable of lists of tokens")
        counts: Counter[str] = Counter()
        for tokens in token_lists:
            counts.update(sentence_of("token_lists must hold lists of tokens", tokens))
        # The word itself breaks ties, so that the order of the sentences does not matter.
        words = sorted(counts, key=lambda word: (-counts[word], word))
        kept = [word for word in words if counts[word] >= min_freq and word not in self.special]
        self._number([*self.special, *kept])

    def _number(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._ids = {token: index for index, token in enumerate(tokens)}

    @classmethod
    def from_tokens(cls, tokens: Iterable[str]) -> Self:
        """Make a vocabulary of the tokens of another, in the order of their ids.

        Parameters
        ----------
        tokens : iterable of str
            As `tokens` of the other: the four special tokens first, and no token twice.

        Returns
        -------
        Vocabulary
        """
        tokens = sentence_of("tokens must be a list of tokens", tokens)
        if tuple(tokens[: len(cls.special)]) != cls.special:
            raise ValueError(f"tokens must begin with {', '.join(cls.special)}, got {tokens[:4]}")
        if len(set(tokens)) < len(tokens):
            twice, _ = Counter(tokens).most_common(1)[0]
            raise ValueError(f"tokens must differ, got {twice!r} more than once")
        vocabulary = cls([])
        vocabulary._number(tokens)
        return vocabulary

    @property
    def tokens(self) -> list[str]:
        """Return all tokens in the order of their ids."""
        return list(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    @overload
    def __getitem__(self, tokens: str) -> int: ...

    @overload
    def __getitem__(self, tokens: list[str] | tuple[str, ...]) -> list[int]: ...

    def __getitem__(self, tokens: str | list[str] | tuple[str, ...]) -> int | list[int]:
        """Return the id of a token, or the ids of a list of tokens; an unknown token gives ``unk``."""
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


# So that torch.load, which by default makes objects of known classes only, makes vocabularies too.
torch.serialization.add_safe_globals([Vocabulary])


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, str], ...]:
    text = resources.files("mha_course").joinpath("data", "corpus.tsv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def _alignment(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(i) for i in positions.split(",")) for positions in text.split())


def load_corpus(target: str = "fr", split: str = "train") -> list[Pair]:
    """Load sentence pairs from English into one language.

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
    """Join tokens into the sentence as it is printed.

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


def tokenize(sentence: str, language: str = "en") -> tuple[str, ...]:
    """Split a sentence, as it is printed, into the tokens that a model is trained on.

    It is put into lower case and Unicode's composed form (NFC), a typographic apostrophe becomes a straight
    one, ``, . ! ?`` and their Chinese forms become tokens of their own, and white space separates tokens.
    Chinese words must therefore have spaces between them.

    Parameters
    ----------
    sentence : str
    language : str
        The language's code. Turkish and Azerbaijani, ``"tr"`` and ``"az"``, have ı and i as the small letters
        of I and İ.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> tokenize("My car is old.")
    ('my', 'car', 'is', 'old', '.')
    """
    check_type("sentence", sentence, str, "a string")
    code = language_code("language", language)
    text = unicodedata.normalize("NFC", sentence).replace("’", "'")
    if code in DOTTED_AND_DOTLESS_I:
        text = text.replace("I", "ı").replace("İ", "i")
    return tuple(re.sub(r"([,.!?，。！？])", r" \1 ", text.lower()).split())


def language_code(name: str, language: str) -> str:
    """Return the language of a code such as ``tr``, ``TR`` or ``tr-TR``; raise where it is none."""
    code = re.fullmatch(r"([a-z]{2,3})([-_]\w+)*", language.lower()) if isinstance(language, str) else None
    if code is None:
        raise ValueError(f"{name} must be a code such as 'en' or 'tr', got {language!r:.40}")
    return code[1]


def read_pairs(
    path: str | Path, source: str = "en", target: str = "fr", *, max_pairs: int | None = None
) -> list[Pair]:
    """Read sentence pairs of your own, such as those of tatoeba.org, from a text file with tabs.

    Sentences are split into tokens by `tokenize`. The pairs have their line numbers as ids and no alignment.
    Blank lines are skipped. Line ends may be those of any system, and quotation marks belong to the sentence.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8, or in UTF-16 or UTF-32 with a byte order mark. Its columns are source, target and, if
        it has three, something that is not used; or, as in Tatoeba's own files, four: number, source, number,
        target.
    source, target : str
        Codes of the languages, as in `tokenize`.
    max_pairs : int, optional
        Read only so many, from the beginning.

    Returns
    -------
    list of Pair

    Raises
    ------
    ValueError
        With the file and the line that cannot be read.
    """
    check_sizes(max_pairs=max_pairs, least=0)
    languages = language_code("source", source), language_code("target", target)
    content = Path(path).read_bytes()
    # A byte order mark may also stand where two files were joined.
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if content.startswith(mark)), "UTF-8")
    text = content.decode(encoding, errors="replace").replace("\ufeff", "")
    # Not splitlines, which would also split at characters inside a sentence, such as U+2028.
    lines = enumerate(re.split("\r\n|\r|\n", text), start=1)
    filled = ((number, line) for number, line in lines if line.strip())
    return [
        _pair(f"{path}, line {number}", number, line, encoding, languages)
        for number, line in islice(filled, max_pairs)
    ]


def _pair(place: str, number: int, line: str, encoding: str, languages: tuple[str, str]) -> Pair:
    if "\ufffd" in line:  # decoding replaces invalid bytes by it
        raise ValueError(f"{place}: not {encoding}")
    if "\0" in line:
        raise ValueError(f"{place}: not text, since it holds a NUL character")
    source, target = map(tokenize, _sentences(place, line.split("\t")), languages)
    if not source or not target:
        raise ValueError(f"{place}: the {'target' if source else 'source'} is empty")
    return Pair(str(number), "", source, target, ())


def _sentences(place: str, columns: list[str]) -> tuple[str, str]:
    """Return the source and the target among the columns of a line."""
    are_numbers = [column.strip().isdecimal() for column in columns]
    if len(columns) == 4 and are_numbers[0] and are_numbers[2]:
        return columns[1], columns[3]
    if len(columns) == 3 and are_numbers[0] and re.fullmatch("[a-z]{3}", columns[1]):
        raise ValueError(f"{place}: expected a pair of sentences, got a number, a language and one sentence")
    if len(columns) not in (2, 3):
        raise ValueError(
            f"{place}: expected 2 or 3 columns with tabs between them, or Tatoeba's 4, got {len(columns)}"
        )
    return columns[0], columns[1]


def _padded(token_lists: Sequence[Sequence[str]], vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
    """Return ids (batch, steps) with ``<eos>`` and padding, and lengths (batch,)."""
    rows = [[*vocabulary[list(tokens)], vocabulary.eos] for tokens in token_lists]
    steps = max(len(row) for row in rows)
    padded = [row + [vocabulary.pad] * (steps - len(row)) for row in rows]
    return torch.tensor(padded), torch.tensor([len(row) for row in rows])


def batches(
    pairs: Iterable[Pair], source_vocabulary: Vocabulary, target_vocabulary: Vocabulary,
    batch_size: int = 64, *, seed: int | None = None,
) -> list[Batch]:  # fmt: skip
    """Make padded batches, the same on every machine.

    Parameters
    ----------
    pairs : iterable of Pair
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
    check_type("source_vocabulary", source_vocabulary, Vocabulary, "a Vocabulary")
    check_type("target_vocabulary", target_vocabulary, Vocabulary, "a Vocabulary")
    return [
        Batch(
            *_padded([pair.source for pair in chunk], source_vocabulary),
            *_padded([pair.target for pair in chunk], target_vocabulary),
        )
        for chunk in _chunks(as_pairs(pairs), batch_size, seed)
    ]


def _chunks(pairs: Sequence[Pair], batch_size: int, seed: int | None) -> list[list[Pair]]:
    """Return the pairs in groups of ``batch_size``."""
    if seed is None:
        return _cut(pairs, batch_size)
    check_integer("seed", seed)
    # Of Python's generator, only random() is promised to stay the same in later versions.
    draw = random.Random(operator.index(seed)).random
    shuffled = sorted(pairs, key=lambda pair: draw())
    # Sorting all pairs would fill a batch with one kind of sentence, from which a model learns worse.
    pools = _cut(shuffled, POOL * batch_size)
    by_length = [sorted(pool, key=lambda pair: (len(pair.source), len(pair.target))) for pool in pools]
    chunks = [chunk for pool in by_length for chunk in _cut(pool, batch_size)]
    return sorted(chunks, key=lambda chunk: draw())


def _cut(pairs: Sequence[Pair], size: int) -> list[list[Pair]]:
    return [list(pairs[start : start + size]) for start in range(0, len(pairs), size)]


def as_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    """Return pairs as a list; raise where something else is among them."""
    check_type("pairs", pairs, Iterable, "an iterable of Pair")
    pairs = list(pairs)
    for pair in pairs:
        check_type("each of pairs", pair, Pair, "a Pair, as load_corpus and read_pairs return")
        sentence_of("each pair's source must be a tuple of tokens", pair.source)
        sentence_of("each pair's target must be a tuple of tokens", pair.target)
    return pairs


def sentence_of(rule: str, tokens: Iterable[str]) -> list[str]:
    """Return a sentence's tokens; raise, with the rule, where they are something else.

    A string would be read as its letters, and a Pair as a sentence of five tokens.
    """
    if isinstance(tokens, Pair):
        raise TypeError(f"{rule}, got a Pair: take its source or its target")
    if isinstance(tokens, str):
        raise TypeError(f"{rule}, got the string {tokens!r:.40}")
    sentence = list(tokens) if isinstance(tokens, Iterable) else [None]
    if not all(isinstance(token, str) for token in sentence):
        raise TypeError(f"{rule}, got {tokens!r:.40}")
    return sentence
