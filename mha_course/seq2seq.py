"""Encoder and decoder networks: one context vector, or attention over the encoder's outputs.

Tensors are batch first. Token ids are integers (batch, steps); `source_valid_lens`, integers (batch,), count
the tokens in each row of the source, and the rest is padding. A hidden state is what PyTorch's recurrent
layers take and give: a tensor (num_layers, batch, num_hiddens) for a GRU, a pair of such tensors for an LSTM.
A wrong argument raises a TypeError or a ValueError that names it; PyTorch itself
reports states and layers of different sizes.
"""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mha_course.attention import AdditiveAttention, Attention
from mha_course.checks import (
    check_choice,
    check_divisible,
    check_dropout,
    check_enc_outputs,
    check_flag,
    check_lens,
    check_sizes,
    check_tokens,
    check_type,
)  # fmt: skip
from mha_course.masking import attention_mask, clean_padding

__all__ = (
    "AttentionDecoder", "AttentionState", "Decoder", "Encoder", "EncoderDecoder", "Seq2SeqAttentionDecoder",
    "Seq2SeqDecoder", "Seq2SeqEncoder", "Seq2SeqState",
)  # fmt: skip

HiddenState = Tensor | tuple[Tensor, Tensor]
Recurrent = nn.GRU | nn.LSTM
CELLS: dict[str, type[Recurrent]] = {"gru": nn.GRU, "lstm": nn.LSTM}
INITIAL_STATES = ("last", "zero")


class Encoder(nn.Module):
    """Interface: read a source sentence."""

    def forward(self, source: Tensor, source_valid_lens: Tensor | None = None) -> Any:
        """Return what the decoder's `init_state` expects."""
        raise NotImplementedError


class Decoder(nn.Module):
    """Interface: write a target sentence, one step or many at a time.

    Many calls of one step give the same as one call of many steps.
    """

    def init_state(self, enc_outputs: Any, source_valid_lens: Tensor | None = None) -> Any:
        """Return the state before the first step, from what the encoder returned."""
        raise NotImplementedError

    def forward(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read the next tokens, of which ``<bos>`` is the first of a sentence.

        Parameters
        ----------
        tokens : Tensor of integers, shape (batch, steps)
        state : what `init_state` or the call before returned

        Returns
        -------
        logits : Tensor, shape (batch, steps, vocab_size)
            Scores of the token after each step.
        state : the state after the last step
        """
        raise NotImplementedError


class AttentionDecoder(Decoder):
    """Interface: a decoder that can be asked where it looked; ``forward`` sets ``_attention_weights``."""

    _attention_weights: Tensor | None = None

    @property
    def attention_weights(self) -> Tensor:
        """Return the last pass's detached weights, shape (batch, ..., target steps, source steps).

        There are none before the first pass, and after a training step that kept none: a RuntimeError.
        """
        if self._attention_weights is None:
            raise RuntimeError("attention_weights are known only after a forward pass that keeps them")
        return self._attention_weights


class EncoderDecoder(nn.Module):
    """An encoder and a decoder, joined for training.

    Parameters
    ----------
    encoder : Encoder
    decoder : Decoder
    """

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        check_type("encoder", encoder, nn.Module, "an Encoder")
        check_type("decoder", decoder, Decoder, "a Decoder")
        self.encoder = encoder
        self.decoder = decoder

    def forward(
        self, source: Tensor, target: Tensor, source_valid_lens: Tensor | None = None
    ) -> tuple[Tensor, Any]:
        """Encode the source and decode the whole target at once.

        Parameters
        ----------
        source, target : Tensor of integers, shapes (batch, source steps), (batch, target steps)
            The target is the decoder's input, from ``<bos>`` on.
        source_valid_lens : Tensor of integers, shape (batch,), optional

        Returns
        -------
        logits : Tensor, shape (batch, target steps, vocab_size)
        state : the decoder's state after the last step
        """
        state = self.decoder.init_state(self.encoder(source, source_valid_lens), source_valid_lens)
        logits, state = self.decoder(target, state)
        return logits, state


class Seq2SeqEncoder(Encoder):
    """A recurrent encoder that never reads padding.

    PyTorch needs the lengths on the CPU to leave the padding out, so on a GPU every padded batch waits once
    for its lengths.

    Parameters
    ----------
    vocab_size, embed_size, num_hiddens, num_layers : int
        The outputs have `num_hiddens` features whatever the direction: a bidirectional encoder gives one half
        to each direction, so `num_hiddens` must be even.
    dropout : float
        Dropout of the embedding and between layers, from 0 to 1.
    bidirectional : bool
        Also read from the sentence's end to its start.
    cell : {"gru", "lstm"}

    References
    ----------
    Cho et al. (2014); bidirectional: Bahdanau et al. (2015).

    Examples
    --------
    >>> encoder = Seq2SeqEncoder(vocab_size=10, embed_size=8, num_hiddens=16, num_layers=2)
    >>> outputs, hidden_state = encoder(torch.zeros(4, 7, dtype=torch.int64), torch.tensor([7, 5, 2, 0]))
    >>> outputs.shape, hidden_state.shape
    (torch.Size([4, 7, 16]), torch.Size([2, 4, 16]))
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0,
        *, bidirectional: bool = False, cell: str = "gru",
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(vocab_size=vocab_size, embed_size=embed_size)
        check_sizes(num_hiddens=num_hiddens, num_layers=num_layers)
        check_divisible("num_hiddens", num_hiddens, directions=2 if bidirectional else 1)
        check_dropout(dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.dropout = nn.Dropout(dropout)
        width = num_hiddens // 2 if bidirectional else num_hiddens
        self.rnn = recurrent(cell, embed_size, width, num_layers, dropout, bidirectional)

    def forward(self, source: Tensor, source_valid_lens: Tensor | None = None) -> tuple[Tensor, HiddenState]:
        """Encode.

        Parameters
        ----------
        source : Tensor of integers, shape (batch, steps)
        source_valid_lens : Tensor of integers, shape (batch,), optional

        Returns
        -------
        outputs : Tensor, shape (batch, steps, num_hiddens)
            0 after each valid length.
        hidden_state : Tensor, shape (num_layers, batch, num_hiddens), or a pair of them for an LSTM
            After the last valid token.
        """
        check_tokens("source", source, self.embedding.num_embeddings)
        embedded = self.dropout(self.embedding(source))  # (batch, steps, embed_size)
        # (batch, steps, num_hiddens), and (directions * num_layers, batch, num_hiddens / directions)
        outputs, hidden_state = run_packed(self.rnn, embedded, source_valid_lens)
        if self.rnn.bidirectional:
            hidden_state = join_directions(hidden_state)  # (num_layers, batch, num_hiddens)
        return outputs, hidden_state


class Seq2SeqState(NamedTuple):
    """State of a decoder without attention.

    Attributes
    ----------
    context : Tensor, shape (batch, num_hiddens)
        The encoder's last hidden state, of the top layer.
    hidden_state : Tensor, shape (num_layers, batch, num_hiddens), or a pair of them for an LSTM
    """

    context: Tensor
    hidden_state: HiddenState


class Seq2SeqDecoder(Decoder):
    """A recurrent decoder that sees the source through one vector, the encoder's last hidden state.

    The vector is concatenated with the embedding of every token.

    Parameters
    ----------
    vocab_size, embed_size, num_hiddens, num_layers, dropout, cell
        As in `Seq2SeqEncoder`; `num_hiddens`, `num_layers` and `cell` must be the same there.

    References
    ----------
    Cho et al. (2014).
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0,
        *, cell: str = "gru",
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(vocab_size=vocab_size, embed_size=embed_size)
        check_sizes(num_hiddens=num_hiddens, num_layers=num_layers)
        check_dropout(dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.dropout = nn.Dropout(dropout)
        self.rnn = recurrent(cell, embed_size + num_hiddens, num_hiddens, num_layers, dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(
        self, enc_outputs: tuple[Tensor, HiddenState], source_valid_lens: Tensor | None = None
    ) -> Seq2SeqState:
        """Start from the encoder's last hidden state; the lengths are not used."""
        check_enc_outputs(enc_outputs, self.rnn)
        _, hidden_state = enc_outputs
        return Seq2SeqState(last_layer(hidden_state), hidden_state)

    def forward(self, tokens: Tensor, state: Seq2SeqState) -> tuple[Tensor, Seq2SeqState]:
        """Read the next tokens, at least one; see `Decoder.forward`."""
        check_tokens("tokens", tokens, self.embedding.num_embeddings, least=1)
        context, hidden_state = state
        embedded = self.dropout(self.embedding(tokens))  # (batch, steps, embed_size)
        repeated = context.unsqueeze(1).expand(-1, tokens.shape[1], -1)  # (batch, steps, num_hiddens)
        outputs, hidden_state = self.rnn(torch.cat((repeated, embedded), dim=-1), hidden_state)
        return self.dense(outputs), Seq2SeqState(context, hidden_state)  # (batch, steps, vocab_size)


class AttentionState(NamedTuple):
    """State of a decoder with attention.

    Attributes
    ----------
    enc_outputs : Tensor, shape (batch, source steps, num_hiddens)
    hidden_state : Tensor, shape (num_layers, batch, num_hiddens), or a pair of them for an LSTM
    valid_lens : Tensor of integers, shape (batch,), or None
        Tokens in each row of the source.
    """

    enc_outputs: Tensor
    hidden_state: HiddenState
    valid_lens: Tensor | None


class Seq2SeqAttentionDecoder(AttentionDecoder):
    """A recurrent decoder that looks at all the encoder's outputs before every step.

    The query of a step is the top layer's hidden state after the step before.

    Parameters
    ----------
    vocab_size, embed_size, num_hiddens, num_layers, dropout, cell
        As in `Seq2SeqEncoder`; `num_hiddens`, `num_layers` and `cell` must be the same there.
    attention : Attention, optional
        With one head; additive by default. The keys are projected once a call, not once a step.
    initial_state : {"last", "zero"}
        Start from the encoder's last hidden state, or from zeros, so that attention is the only way from
        source to target.

    References
    ----------
    Bahdanau et al. (2015).
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0,
        *, attention: Attention | None = None, cell: str = "gru", initial_state: str = "last",
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(vocab_size=vocab_size, embed_size=embed_size)
        check_sizes(num_hiddens=num_hiddens, num_layers=num_layers)
        check_dropout(dropout)
        check_choice("initial_state", initial_state, INITIAL_STATES)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.dropout = nn.Dropout(dropout)
        self.attention: Any = attention or AdditiveAttention(num_hiddens, dropout)
        self.rnn = recurrent(cell, embed_size + num_hiddens, num_hiddens, num_layers, dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.initial_state = initial_state

    def init_state(
        self, enc_outputs: tuple[Tensor, HiddenState], source_valid_lens: Tensor | None = None
    ) -> AttentionState:
        """Keep all the encoder's outputs, and start as `initial_state` says."""
        check_enc_outputs(enc_outputs, self.rnn)
        outputs, hidden_state = enc_outputs
        if self.initial_state == "zero":
            hidden_state = map_state(hidden_state, torch.zeros_like)
        return AttentionState(outputs, hidden_state, source_valid_lens)

    def forward(self, tokens: Tensor, state: AttentionState) -> tuple[Tensor, AttentionState]:
        """Read the next tokens, at least one, and look at the source before each; see `Decoder.forward`."""
        check_tokens("tokens", tokens, self.embedding.num_embeddings, least=1)
        enc_outputs, hidden_state, valid_lens = state
        allowed = attention_mask(valid_lens, None, (len(enc_outputs), 1, enc_outputs.shape[1]))
        keys, values = self.attention.project(*clean_padding(enc_outputs, enc_outputs, allowed))
        outputs, weights = [], []
        for embedded in self.dropout(self.embedding(tokens)).split(1, dim=1):  # (batch, 1, embed_size)
            query = last_layer(hidden_state).unsqueeze(1)  # (batch, 1, num_hiddens)
            context, looked = self.attention.attend(query, keys, values, allowed, need_weights=True)
            step = torch.cat((context, embedded), dim=-1)  # (batch, 1, num_hiddens + embed_size)
            output, hidden_state = self.rnn(step, hidden_state)  # (batch, 1, num_hiddens)
            outputs.append(output)
            weights.append(looked.detach())  # (batch, 1, source steps)
        self._attention_weights = torch.cat(weights, dim=1)  # (batch, steps, source steps)
        logits = self.dense(torch.cat(outputs, dim=1))  # (batch, steps, vocab_size)
        return logits, AttentionState(enc_outputs, hidden_state, valid_lens)


def recurrent(
    cell: str, input_size: int, num_hiddens: int, num_layers: int, dropout: float, bidirectional: bool = False
) -> Recurrent:
    """Return a batch-first GRU or LSTM; one layer has no place between layers for dropout."""
    check_choice("cell", cell, CELLS)
    check_flag("bidirectional", bidirectional)
    # PyTorch's recurrent layers refuse NumPy's integers.
    sizes = [operator.index(size) for size in (input_size, num_hiddens, num_layers)]
    return CELLS[cell](
        *sizes, batch_first=True, bidirectional=bidirectional,
        dropout=dropout if num_layers > 1 else 0.0,
    )  # fmt: skip


def run_packed(rnn: Recurrent, inputs: Tensor, valid_lens: Tensor | None) -> tuple[Tensor, HiddenState]:
    """Run `rnn` over the valid steps of ``inputs (batch, steps, features)`` only.

    Packing refuses empty sequences, so empty sentences are clamped to length 1; their outputs are zeroed. A
    batch of no steps is padded with one. Without padding nothing is packed, which takes a third less time.
    """
    batch, steps, _ = inputs.shape
    if valid_lens is None:
        valid_lens = torch.full((batch,), steps)
    check_lens("source_valid_lens", valid_lens, batch, steps)
    if steps == 0:
        outputs, hidden_state = run_packed(rnn, nn.functional.pad(inputs, (0, 0, 0, 1)), valid_lens)
        return outputs[:, :0], hidden_state
    lens = valid_lens.to("cpu")
    if bool((lens == steps).all()):
        outputs, hidden_state = rnn(inputs)
        return outputs, hidden_state
    is_empty = valid_lens == 0  # (batch,)
    packed = pack_padded_sequence(inputs, lens.clamp(min=1), batch_first=True, enforce_sorted=False)
    packed_outputs, hidden_state = rnn(packed)
    outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True, total_length=steps)
    outputs = outputs.masked_fill(is_empty[:, None, None], 0)  # (batch, steps, num_hiddens)
    return outputs, map_state(hidden_state, lambda part: part.masked_fill(is_empty[:, None], 0))


def map_state(hidden_state: HiddenState, function: Callable[[Tensor], Tensor]) -> HiddenState:
    """Apply `function` to a GRU's state, or to both parts of an LSTM's."""
    if isinstance(hidden_state, Tensor):
        return function(hidden_state)
    return function(hidden_state[0]), function(hidden_state[1])


def last_layer(hidden_state: HiddenState) -> Tensor:
    """Return the top layer's hidden state, ``(batch, num_hiddens)``; of an LSTM h, not c."""
    return hidden_state[-1] if isinstance(hidden_state, Tensor) else hidden_state[0][-1]


def join_directions(hidden_state: HiddenState) -> HiddenState:
    """Concatenate both directions: ``(2 * num_layers, batch, n)`` becomes ``(num_layers, batch, 2 * n)``."""
    return map_state(hidden_state, lambda part: torch.cat((part[0::2], part[1::2]), dim=-1))
