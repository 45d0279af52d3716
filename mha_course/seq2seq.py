"""Encoder and decoder networks: one context vector, or attention over the encoder's outputs.

Tensors are batch first. A hidden state is what PyTorch's recurrent layers take and give: a tensor
(num_layers, batch, num_hiddens) for a GRU, a pair of such tensors for an LSTM.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mha_course.attention import AdditiveAttention, DotProductAttention
from mha_course.checks import check_choice, check_flag, check_lens, check_sizes, check_tokens, check_type
from mha_course.masking import attention_mask, clean_padding

__all__ = (
    "AttentionDecoder", "Decoder", "Encoder", "EncoderDecoder", "Seq2SeqAttentionDecoder", "Seq2SeqDecoder",
    "Seq2SeqEncoder",
)

HiddenState = Tensor | tuple[Tensor, Tensor]
Recurrent = nn.GRU | nn.LSTM
CELLS: dict[str, type[Recurrent]] = {"gru": nn.GRU, "lstm": nn.LSTM}
INITIAL_STATES = ("last", "zero")


class Encoder(nn.Module):
    """Interface: read a source sentence."""

    def forward(self, source: Tensor, source_valid_lens: Tensor | None = None) -> Any:
        """Encode.

        Parameters
        ----------
        source : Tensor of integers, shape (batch, steps)
            Token ids.
        source_valid_lens : Tensor of integers, shape (batch,), optional
            Tokens in each row; the rest is padding.

        Returns
        -------
        What the decoder's `init_state` expects
        """
        raise NotImplementedError


class Decoder(nn.Module):
    """Interface: write a target sentence, one step or many at a time.

    Many calls of one step give the same as one call of many steps.
    """

    def init_state(self, enc_outputs: Any, source_valid_lens: Tensor | None = None) -> Any:
        """Return the state before the first step.

        Parameters
        ----------
        enc_outputs : what the encoder's `forward` returns
        source_valid_lens : Tensor of integers, shape (batch,), optional
            Tokens in each row of the source.

        Returns
        -------
        What `forward` takes as `state`
        """
        raise NotImplementedError

    def forward(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read the next tokens.

        Parameters
        ----------
        tokens : Tensor of integers, shape (batch, steps)
            Ids of target tokens; ``<bos>`` is the first of a sentence.
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
        """Detached weights of the last pass: Tensor, shape (batch, ..., target steps, source steps).

        Raises
        ------
        RuntimeError
            There was no forward pass yet.
        """
        if self._attention_weights is None:
            raise RuntimeError("attention_weights are known only after a forward pass")
        return self._attention_weights


class EncoderDecoder(nn.Module):
    """An encoder and a decoder, joined for training.

    Parameters
    ----------
    encoder : Encoder
    decoder : Decoder

    Raises
    ------
    TypeError
        One of them is no PyTorch module.
    """

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        check_type("encoder", encoder, nn.Module, "a PyTorch module")
        check_type("decoder", decoder, nn.Module, "a PyTorch module")
        self.encoder = encoder
        self.decoder = decoder

    def forward(
        self, source: Tensor, target: Tensor, source_valid_lens: Tensor | None = None
    ) -> tuple[Tensor, Any]:
        """Encode the source and decode the whole target at once.

        Parameters
        ----------
        source, source_valid_lens
            As in `Encoder.forward`.
        target : Tensor of integers, shape (batch, target steps)
            The decoder's input, from ``<bos>`` on.

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

    Parameters
    ----------
    vocab_size, embed_size, num_hiddens, num_layers : int
        Sizes. The outputs have `num_hiddens` features whatever the direction: a bidirectional encoder
        gives one half to each direction, so `num_hiddens` must be even.
    dropout : float
        Dropout of the embedding and between layers, from 0 to 1.
    bidirectional : bool
        Also read from the sentence's end to its start.
    cell : {"gru", "lstm"}

    Raises
    ------
    TypeError, ValueError
        Sizes below 1, an odd `num_hiddens` for two directions, a dropout that is no number from 0 to 1, or an
        unknown cell.

    References
    ----------
    Cho et al. (2014); bidirectional: Bahdanau et al. (2015).
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0,
        *, bidirectional: bool = False, cell: str = "gru",
    ) -> None:
        super().__init__()
        check_sizes(vocab_size, embed_size, num_hiddens, num_layers, dropout)
        if bidirectional and num_hiddens % 2:
            raise ValueError(f"num_hiddens must be even when bidirectional, got {num_hiddens}")
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.dropout = nn.Dropout(dropout)
        width = num_hiddens // 2 if bidirectional else num_hiddens
        self.rnn = recurrent(cell, embed_size, width, num_layers, dropout, bidirectional)

    def forward(self, source: Tensor, source_valid_lens: Tensor | None = None) -> tuple[Tensor, HiddenState]:
        """Encode.

        Parameters
        ----------
        source, source_valid_lens
            As in `Encoder.forward`.

        Returns
        -------
        outputs : Tensor, shape (batch, steps, num_hiddens)
            0 after each valid length.
        hidden_state : Tensor, shape (num_layers, batch, num_hiddens), or a pair of them for an LSTM
            After the last valid token.

        Raises
        ------
        TypeError, ValueError
            Tokens or lengths of another type or shape, ids that the vocabulary does not have, or lengths
            above the number of steps.
        """
        check_tokens("source", source, self.embedding.num_embeddings)
        embedded = self.dropout(self.embedding(source))  # (batch, steps, embed_size)
        # (batch, steps, num_hiddens), and (directions * num_layers, batch, num_hiddens / directions)
        outputs, hidden_state = run_packed(self.rnn, embedded, source_valid_lens)
        if self.rnn.bidirectional:
            hidden_state = join_directions(hidden_state)  # (num_layers, batch, num_hiddens)
        return outputs, hidden_state


class Seq2SeqDecoder(Decoder):
    """A recurrent decoder that sees the source through one vector, the encoder's last hidden state.

    The vector is concatenated with the embedding of every token.

    Parameters
    ----------
    vocab_size, embed_size, num_hiddens, num_layers, dropout, cell
        As in `Seq2SeqEncoder`; `num_hiddens`, `num_layers` and `cell` must be the same there.

    Raises
    ------
    TypeError, ValueError
        Sizes below 1, a dropout that is no number from 0 to 1, or an unknown cell.

    References
    ----------
    Cho et al. (2014).
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0,
        *, cell: str = "gru",
    ) -> None:
        super().__init__()
        check_sizes(vocab_size, embed_size, num_hiddens, num_layers, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.dropout = nn.Dropout(dropout)
        self.rnn = recurrent(cell, embed_size + num_hiddens, num_hiddens, num_layers, dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(
        self, enc_outputs: tuple[Tensor, HiddenState], source_valid_lens: Tensor | None = None
    ) -> list[Any]:
        """Start from the encoder's last hidden state.

        Parameters
        ----------
        enc_outputs : tuple of outputs and hidden state
            As `Seq2SeqEncoder.forward` returns.
        source_valid_lens : Tensor of integers, shape (batch,), optional
            Not used.

        Returns
        -------
        list of context and hidden state
            The context, (batch, num_hiddens), is the last layer's hidden state.

        Raises
        ------
        TypeError, ValueError
            Another encoder's outputs, or another cell, number of layers or size.
        """
        check_enc_outputs(enc_outputs, self.rnn)
        _, hidden_state = enc_outputs
        return [last_layer(hidden_state), hidden_state]

    def forward(self, tokens: Tensor, state: list[Any]) -> tuple[Tensor, list[Any]]:
        """Read the next tokens.

        Parameters
        ----------
        tokens, state
            As in `Decoder.forward`.

        Returns
        -------
        logits : Tensor, shape (batch, steps, vocab_size)
        state : list of context and hidden state

        Raises
        ------
        TypeError, ValueError
            Tokens of another type or shape or none, ids that the vocabulary does not have, or another state.
        """
        check_target(tokens, self.embedding.num_embeddings, state)
        context, hidden_state = state
        embedded = self.dropout(self.embedding(tokens))  # (batch, steps, embed_size)
        repeated = context.unsqueeze(1).expand(-1, tokens.shape[1], -1)  # (batch, steps, num_hiddens)
        outputs, hidden_state = self.rnn(torch.cat((repeated, embedded), dim=-1), hidden_state)
        return self.dense(outputs), [context, hidden_state]  # (batch, steps, vocab_size)


class Seq2SeqAttentionDecoder(AttentionDecoder):
    """A recurrent decoder that looks at all the encoder's outputs before every step.

    The query of a step is the last layer's hidden state of the step before.

    Parameters
    ----------
    vocab_size, embed_size, num_hiddens, num_layers, dropout, cell
        As in `Seq2SeqEncoder`; `num_hiddens`, `num_layers` and `cell` must be the same there.
    attention : AdditiveAttention or DotProductAttention, optional
        Additive by default. The keys are projected once a call, not once a step.
    initial_state : {"last", "zero"}
        Start from the encoder's last hidden state, or from zeros, so that attention is the only way from
        source to target.

    Raises
    ------
    TypeError, ValueError
        Sizes below 1, a dropout that is no number from 0 to 1, an unknown cell or initial state, or an
        attention for queries or keys of another size.

    References
    ----------
    Bahdanau et al. (2015).
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0,
        *, attention: AdditiveAttention | DotProductAttention | None = None, cell: str = "gru",
        initial_state: str = "last",
    ) -> None:
        super().__init__()
        check_sizes(vocab_size, embed_size, num_hiddens, num_layers, dropout)
        check_choice("initial_state", initial_state, INITIAL_STATES)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.dropout = nn.Dropout(dropout)
        self.attention = attention or AdditiveAttention(num_hiddens, dropout)
        check_attention_fits(self.attention, num_hiddens)
        self.rnn = recurrent(cell, embed_size + num_hiddens, num_hiddens, num_layers, dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.initial_state = initial_state

    def init_state(
        self, enc_outputs: tuple[Tensor, HiddenState], source_valid_lens: Tensor | None = None
    ) -> list[Any]:
        """Keep all the encoder's outputs, and start as `initial_state` says.

        Parameters
        ----------
        enc_outputs : tuple of outputs and hidden state
            As `Seq2SeqEncoder.forward` returns.
        source_valid_lens : Tensor of integers, shape (batch,), optional
            Tokens in each row of the source; no weight falls on the rest.

        Returns
        -------
        list of outputs, hidden state and `source_valid_lens`

        Raises
        ------
        TypeError, ValueError
            Another encoder's outputs, or another cell, number of layers or size.
        """
        check_enc_outputs(enc_outputs, self.rnn)
        outputs, hidden_state = enc_outputs
        if self.initial_state == "zero":
            hidden_state = map_state(hidden_state, torch.zeros_like)
        return [outputs, hidden_state, source_valid_lens]

    def forward(self, tokens: Tensor, state: list[Any]) -> tuple[Tensor, list[Any]]:
        """Read the next tokens, and look at the source before each.

        Parameters
        ----------
        tokens, state
            As in `Decoder.forward`.

        Returns
        -------
        logits : Tensor, shape (batch, steps, vocab_size)
        state : list of outputs, hidden state and `source_valid_lens`

        Raises
        ------
        TypeError, ValueError
            As in `Seq2SeqDecoder.forward`; lengths of another type, shape or range.
        """
        check_target(tokens, self.embedding.num_embeddings, state)
        enc_outputs, hidden_state, source_valid_lens = state
        allowed = source_mask(source_valid_lens, enc_outputs)  # (batch, 1, source steps)
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
        return logits, [enc_outputs, hidden_state, source_valid_lens]


def recurrent(
    cell: str, input_size: int, num_hiddens: int, num_layers: int, dropout: float, bidirectional: bool = False
) -> Recurrent:
    """Return a batch-first GRU or LSTM; one layer has no place between layers for dropout."""
    check_choice("cell", cell, CELLS)
    check_flag("bidirectional", bidirectional)
    return CELLS[cell](
        input_size, num_hiddens, num_layers, batch_first=True, bidirectional=bidirectional,
        dropout=dropout if num_layers > 1 else 0.0,
    )


def run_packed(rnn: Recurrent, inputs: Tensor, valid_lens: Tensor | None) -> tuple[Tensor, HiddenState]:
    """Run `rnn` over the valid steps of ``inputs (batch, steps, features)`` only.

    Packing refuses empty sequences, so these are read one step far, and what comes out is set to zero. Where
    all are empty and there is no step to read, one is added.
    Without padding nothing is packed: that takes a third less time.
    """
    batch, steps, _ = inputs.shape
    if valid_lens is None:
        valid_lens = torch.full((batch,), steps, device=inputs.device)
    check_lens("source_valid_lens", valid_lens, batch, steps, inputs.device)
    if steps == 0:
        outputs, hidden_state = run_packed(rnn, nn.functional.pad(inputs, (0, 0, 0, 1)), valid_lens)
        return outputs[:, :0], hidden_state
    if bool((valid_lens == steps).all()):
        outputs, hidden_state = rnn(inputs)
        return outputs, hidden_state
    is_empty = valid_lens == 0  # (batch,)
    lens = valid_lens.to("cpu").clamp(min=1)
    packed = pack_padded_sequence(inputs, lens, batch_first=True, enforce_sorted=False)
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
    """Return the last layer's hidden state, ``(batch, num_hiddens)``; of an LSTM h, not c."""
    return hidden_state[-1] if isinstance(hidden_state, Tensor) else hidden_state[0][-1]


def join_directions(hidden_state: HiddenState) -> HiddenState:
    """Concatenate both directions: ``(2 * num_layers, batch, n)`` becomes ``(num_layers, batch, 2 * n)``."""
    return map_state(hidden_state, lambda part: torch.cat((part[0::2], part[1::2]), dim=-1))


def source_mask(source_valid_lens: Tensor | None, enc_outputs: Tensor) -> Tensor | None:
    """Return which of ``enc_outputs (batch, source steps, num_hiddens)`` a query may attend to."""
    batch, steps, _ = enc_outputs.shape
    return attention_mask(source_valid_lens, None, (batch, 1, steps), enc_outputs.device)


def check_target(tokens: Tensor, vocab_size: int, state: list[Any]) -> None:
    """Raise unless `tokens` are a decoder's input: at least one step, and the state's batch size."""
    check_tokens("tokens", tokens, vocab_size)
    if tokens.shape[1] == 0:
        raise ValueError(f"tokens must hold at least one step, got {tuple(tokens.shape)}")
    check_type("state", state, (list, tuple), "what init_state or forward returns")
    if len(tokens) != len(state[0]):
        raise ValueError(f"tokens must have the batch size of the state, {len(state[0])}, got {len(tokens)}")


def check_attention_fits(attention: nn.Module, num_hiddens: int) -> None:
    """Raise unless `attention` projects and attends, and takes queries and keys `num_hiddens` wide."""
    if not (hasattr(attention, "project") and hasattr(attention, "attend")):
        raise TypeError(f"attention must have the methods project and attend, got {type(attention).__name__}")
    for name in ("W_q", "W_k"):
        width = getattr(getattr(attention, name, None), "in_features", num_hiddens)
        if width != num_hiddens:
            raise ValueError(f"attention must take num_hiddens={num_hiddens} features, {name} takes {width}")


def check_enc_outputs(enc_outputs: tuple[Tensor, HiddenState], rnn: Recurrent) -> None:
    """Raise unless an encoder's outputs and hidden state fit a decoder's recurrent layers."""
    if not isinstance(enc_outputs, (tuple, list)) or len(enc_outputs) != 2:
        raise TypeError(f"enc_outputs must be (outputs, hidden_state), got {type(enc_outputs).__name__}")
    hidden_state = enc_outputs[1]
    if isinstance(hidden_state, Tensor) == isinstance(rnn, nn.LSTM):
        raise ValueError("cell must be the same in encoder and decoder, got one of each")
    hidden = hidden_state if isinstance(hidden_state, Tensor) else hidden_state[0]
    needed, given = (len(hidden), hidden.shape[-1]), (rnn.num_layers, rnn.hidden_size)
    if given != needed:
        raise ValueError(f"(num_layers, num_hiddens) must be {needed} as in the encoder, got {given}")
