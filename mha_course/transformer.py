"""A small encoder-decoder Transformer with a key-value cache.

It trains and translates like any `EncoderDecoder`. Features are normalized before each part of a block, not
after, so that it trains without warming up the learning rate (Xiong et al., 2020). A wrong argument raises a
TypeError or a ValueError that names it; PyTorch itself reports states and layers of different sizes.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.attention import MultiHeadAttention
from mha_course.checks import check_dropout, check_positions, check_sizes, check_tensor, check_tokens
from mha_course.masking import attention_mask, clean_padding
from mha_course.seq2seq import AttentionDecoder, Encoder, EncoderDecoder

__all__ = (
    "PositionalEncoding", "Transformer", "TransformerDecoder", "TransformerDecoderBlock",
    "TransformerEncoder", "TransformerEncoderBlock", "TransformerState",
)  # fmt: skip

Projected = tuple[Tensor, Tensor]  # keys and values, (batch, heads, steps, head_dim) each


class PositionalEncoding(nn.Module):
    r"""Add sines and cosines of the position to the features.

    Feature 2j of position i gets :math:`\sin(i / 10000^{2j/d})`, feature 2j + 1 the cosine.

    Parameters
    ----------
    num_hiddens : int
        Number of features d.
    dropout : float
        Dropout of the sum, from 0 to 1.
    max_len : int
        Number of positions.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

    Examples
    --------
    >>> PositionalEncoding(4)(torch.zeros(1, 2, 4))
    tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
             [0.8415, 0.5403, 0.0100, 0.9999]]])
    """

    P: Tensor

    def __init__(self, num_hiddens: int, dropout: float = 0.0, max_len: int = 1000) -> None:
        super().__init__()
        check_sizes(num_hiddens=num_hiddens, max_len=max_len)
        check_dropout(dropout)
        self.dropout = nn.Dropout(dropout)
        P = torch.empty(max_len, num_hiddens)
        self.register_buffer("P", P, persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Compute the encodings of all positions."""
        max_len, num_hiddens = self.P.shape
        positions = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)  # (max_len, 1)
        evens = torch.arange(0, num_hiddens, 2, dtype=torch.float64)
        angles = positions / 10000 ** (evens / num_hiddens)  # (max_len, hiddens / 2)
        P = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)  # (max_len, hiddens)
        self.P.copy_(P[:, :num_hiddens].to(torch.get_default_dtype()))

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Compute the encodings when the module leaves the meta device: no state dict holds them."""
        was_meta = self.P.is_meta
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if was_meta and not self.P.is_meta:
            self.reset_parameters()
        return self

    def forward(self, X: Tensor, offset: int = 0) -> Tensor:
        """Add the encodings of positions `offset`, `offset` + 1, … to the steps of `X`.

        Parameters
        ----------
        X : Tensor, shape (batch, steps, num_hiddens)
        offset : int
            Position of the first step.

        Returns
        -------
        Tensor, shape (batch, steps, num_hiddens)
        """
        check_tensor("X", X, batch=None, steps=None, num_hiddens=self.P.shape[1])
        check_positions("X", offset, X.shape[1], len(self.P))
        encoded: Tensor = self.dropout(X + self.P[offset : offset + X.shape[1]])  # (batch, steps, hiddens)
        return encoded


class TransformerEncoderBlock(nn.Module):
    """Self-attention and a feed-forward network, each normalized before and added to its input.

    Parameters
    ----------
    num_hiddens, ffn_hiddens, num_heads : int
        Features of the block, features inside the feed-forward network, heads.
    dropout : float
        Dropout of the attention weights and of what is added, from 0 to 1.

    References
    ----------
    Vaswani et al. (2017), section 3.1; normalized before: Xiong et al. (2020), figure 1b.
    """

    def __init__(self, num_hiddens: int, ffn_hiddens: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(num_hiddens)
        self.attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias=True)
        self.norm_2 = nn.LayerNorm(num_hiddens)
        self.ffn = feed_forward(num_hiddens, ffn_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Let the steps of a sentence attend to each other.

        Parameters
        ----------
        X : Tensor, shape (batch, steps, num_hiddens)
            Must be finite, in the padding too.
        allowed : Tensor of booleans, broadcastable to (batch, heads, steps, steps), optional
            True where a step may attend, as `attention_mask` returns it.

        Returns
        -------
        Tensor, shape (batch, steps, num_hiddens)
        """
        Y = self.norm_1(X)
        attended, _ = self.attention.attend(Y, *self.attention.project(Y, Y), allowed, need_weights=False)
        X = X + self.dropout(attended)
        out: Tensor = X + self.dropout(self.ffn(self.norm_2(X)))  # (batch, steps, hiddens)
        return out


class TransformerDecoderBlock(nn.Module):
    """Causal self-attention, attention over the source, and a feed-forward network.

    Parameters
    ----------
    num_hiddens, ffn_hiddens, num_heads, dropout
        As in `TransformerEncoderBlock`.

    References
    ----------
    Vaswani et al. (2017), section 3.1; normalized before: Xiong et al. (2020), figure 1b.
    """

    def __init__(self, num_hiddens: int, ffn_hiddens: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(num_hiddens)
        self.self_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias=True)
        self.norm_2 = nn.LayerNorm(num_hiddens)
        self.cross_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias=True)
        self.norm_3 = nn.LayerNorm(num_hiddens)
        self.ffn = feed_forward(num_hiddens, ffn_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, X: Tensor, cache: Projected, memory: Projected, allowed: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Projected, Tensor | None]:
        """Read the next steps of the target.

        Parameters
        ----------
        X : Tensor, shape (batch, steps, num_hiddens)
        cache : tuple of Tensor
            Self-attention's keys and values of the steps before, (batch, heads, steps before, head_dim) each.
        memory : tuple of Tensor
            Keys and values of the source, (batch, heads, source steps, head_dim) each.
        allowed : Tensor of booleans, broadcastable to (batch, heads, steps, source steps), or None
        need_weights : bool

        Returns
        -------
        X : Tensor, shape (batch, steps, num_hiddens)
        cache : tuple of Tensor
            `cache` with the keys and values of these steps at its end.
        weights : Tensor, shape (batch, heads, steps, source steps), or None
        """
        Y = self.norm_1(X)
        keys, values = self.self_attention.project(Y, Y)
        keys, values = torch.cat((cache[0], keys), dim=2), torch.cat((cache[1], values), dim=2)
        # A step sees itself and all before it, those in the cache included.
        attended, _ = self.self_attention.attend(Y, keys, values, None, need_weights=False, is_causal=True)
        X = X + self.dropout(attended)
        attended, weights = self.cross_attention.attend(self.norm_2(X), *memory, allowed, need_weights)
        X = X + self.dropout(attended)
        X = X + self.dropout(self.ffn(self.norm_3(X)))  # (batch, steps, hiddens)
        return X, (keys, values), weights


class TransformerEncoder(Encoder):
    """Embedding, positional encoding and `num_layers` encoder blocks.

    Parameters
    ----------
    vocab_size, num_hiddens, ffn_hiddens, num_heads, num_layers : int
        Token types, features, features inside the feed-forward networks, heads, blocks.
    dropout : float
        Dropout of the sum of embedding and position and inside the blocks, from 0 to 1.
    max_len : int
        Number of positions that a sentence may have.

    References
    ----------
    Vaswani et al. (2017), figure 1; normalized before: Xiong et al. (2020), figure 1b.
    """

    def __init__(
        self, vocab_size: int, num_hiddens: int, ffn_hiddens: int, num_heads: int, num_layers: int,
        dropout: float = 0.0, max_len: int = 1000,
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(vocab_size=vocab_size, num_hiddens=num_hiddens, num_layers=num_layers)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.positions = PositionalEncoding(num_hiddens, dropout, max_len)
        sizes = (num_hiddens, ffn_hiddens, num_heads, dropout)
        self.blocks = nn.ModuleList(TransformerEncoderBlock(*sizes) for _ in range(num_layers))
        self.norm = nn.LayerNorm(num_hiddens)

    def forward(self, source: Tensor, source_valid_lens: Tensor | None = None) -> Tensor:
        """Encode: (batch, steps) becomes (batch, steps, num_hiddens)."""
        check_tokens("source", source, self.embedding.num_embeddings)
        check_positions("source", 0, source.shape[1], len(self.positions.P))
        X = self.positions(self.embedding(source))  # (batch, steps, hiddens)
        batch, steps = source.shape
        allowed = attention_mask(source_valid_lens, None, (batch, 1, 1, steps))
        X, _ = clean_padding(X, X, allowed)
        for block in self.blocks:
            X = block(X, allowed)
        normalized: Tensor = self.norm(X)  # (batch, steps, hiddens)
        return normalized


class TransformerState(NamedTuple):
    """State of the decoder: keys and values of the source and of the earlier steps.

    Attributes
    ----------
    memory, cache : list of tuple of Tensor
        Keys and values of the source and of the steps before, one pair a layer,
        (batch, heads, source steps or steps before, head_dim) each.
    allowed : Tensor of booleans, shape (batch, 1, 1, source steps), or None
        True where a source position counts.
    """

    memory: list[Projected]
    cache: list[Projected]
    allowed: Tensor | None


class TransformerDecoder(AttentionDecoder):
    """Embedding, positional encoding, `num_layers` decoder blocks and a layer that scores the vocabulary.

    Keys and values of the source are projected once a sentence, in `init_state`, those of the target once a
    step. They may be kept, since no step sees a later one: what is computed does not change any more.

    `attention_weights` has the shape (batch, layers, heads, target steps, source steps). Heads that were
    pruned away count as the last ones of their layer and have weights of 0. The weights are kept in
    evaluation only, since to store them slows training down, and not while compiling.

    Parameters
    ----------
    vocab_size, num_hiddens, ffn_hiddens, num_heads, num_layers, dropout, max_len
        As in `TransformerEncoder`.

    References
    ----------
    Vaswani et al. (2017), figure 1; normalized before: Xiong et al. (2020), figure 1b.
    """

    def __init__(
        self, vocab_size: int, num_hiddens: int, ffn_hiddens: int, num_heads: int, num_layers: int,
        dropout: float = 0.0, max_len: int = 1000,
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(vocab_size=vocab_size, num_hiddens=num_hiddens, num_layers=num_layers)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.positions = PositionalEncoding(num_hiddens, dropout, max_len)
        sizes = (num_hiddens, ffn_hiddens, num_heads, dropout)
        self.blocks: Any = nn.ModuleList(TransformerDecoderBlock(*sizes) for _ in range(num_layers))
        self.norm = nn.LayerNorm(num_hiddens)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs: Tensor, source_valid_lens: Tensor | None = None) -> TransformerState:
        """Project the encoder's outputs (batch, source steps, num_hiddens) for every layer."""
        num_hiddens = self.embedding.embedding_dim
        check_tensor("enc_outputs", enc_outputs, batch=None, steps=None, num_hiddens=num_hiddens)
        batch, steps, _ = enc_outputs.shape
        allowed = attention_mask(source_valid_lens, None, (batch, 1, 1, steps))
        sources = clean_padding(enc_outputs, enc_outputs, allowed)
        nothing = enc_outputs[:, :0], enc_outputs[:, :0]
        memory = [block.cross_attention.project(*sources) for block in self.blocks]
        cache = [block.self_attention.project(*nothing) for block in self.blocks]
        return TransformerState(memory, cache, allowed)

    def forward(self, tokens: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState]:
        """Read the next tokens; see `Decoder.forward`."""
        check_tokens("tokens", tokens, self.embedding.num_embeddings)
        need_weights = not (self.training or torch.compiler.is_compiling())
        steps_before = state.cache[0][0].shape[2]
        check_positions("tokens", steps_before, tokens.shape[1], len(self.positions.P))
        X = self.positions(self.embedding(tokens), steps_before)  # (batch, steps, hiddens)
        caches, maps = [], []
        for block, cache, memory in zip(self.blocks, state.cache, state.memory, strict=True):
            X, cache, weights = block(X, cache, memory, state.allowed, need_weights)
            caches.append(cache)
            maps.append(weights)
        if not torch.compiler.is_compiling():  # exporting warns of what a module keeps
            self._attention_weights = stack_layers(maps) if need_weights else None
        return self.dense(self.norm(X)), TransformerState(state.memory, caches, state.allowed)


class Transformer(EncoderDecoder):
    """An encoder-decoder Transformer.

    Parameters
    ----------
    source_vocab_size, target_vocab_size : int
        Numbers of token types.
    num_hiddens, ffn_hiddens, num_heads, num_layers : int
        Features, features inside the feed-forward networks, heads, blocks in the encoder and in the decoder.
    dropout : float
        From 0 to 1.
    max_len : int
        Number of positions that a source or a target may have.

    References
    ----------
    Vaswani et al. (2017), figure 1; Xiong et al. (2020), figure 1b.

    Examples
    --------
    >>> model = Transformer(source_vocab_size=9, target_vocab_size=8, num_layers=1)
    >>> source, target = torch.zeros(2, 5, dtype=torch.int64), torch.zeros(2, 3, dtype=torch.int64)
    >>> logits, state = model(source, target, torch.tensor([5, 4]))
    >>> logits.shape, len(state.cache)
    (torch.Size([2, 3, 8]), 1)
    """

    def __init__(
        self, source_vocab_size: int, target_vocab_size: int, num_hiddens: int = 64, ffn_hiddens: int = 128,
        num_heads: int = 4, num_layers: int = 2, dropout: float = 0.0, max_len: int = 1000,
    ) -> None:  # fmt: skip
        sizes = (num_hiddens, ffn_hiddens, num_heads, num_layers, dropout, max_len)
        encoder = TransformerEncoder(source_vocab_size, *sizes)
        super().__init__(encoder, TransformerDecoder(target_vocab_size, *sizes))


def feed_forward(num_hiddens: int, ffn_hiddens: int) -> nn.Sequential:
    """Make the two layers that a block applies to every position alone."""
    check_sizes(ffn_hiddens=ffn_hiddens)
    return nn.Sequential(nn.Linear(num_hiddens, ffn_hiddens), nn.ReLU(), nn.Linear(ffn_hiddens, num_hiddens))


def stack_layers(maps: list[Tensor]) -> Tensor:
    """Stack the layers' weights (batch, heads, steps, source steps); heads that a layer lacks are 0."""
    heads = max(weights.shape[1] for weights in maps)
    padded = [F.pad(weights.detach(), (0, 0, 0, 0, 0, heads - weights.shape[1])) for weights in maps]
    return torch.stack(padded, dim=1)  # (batch, layers, heads, steps, source steps)
