"""A decoder-only Transformer, which predicts the next token, and ways to write with it.

It has no encoder and no cross-attention. Positions are rotary: queries and keys are turned, nothing is added
to the embeddings. A wrong argument raises a TypeError or a ValueError that names it.
"""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.attention import join_heads, scaled_dot_product, split_heads
from mha_course.checks import (
    argument_check,
    check_divisible,
    check_dropout,
    check_flag,
    check_integer,
    check_number,
    check_sizes,
    check_tensor,
    check_tokens,
    check_type,
)
from mha_course.corpus import Pair, Vocabulary, batches
from mha_course.masking import at_least_float32, resolve_causal
from mha_course.training import (
    check_finite,
    evaluating,
    masked_loss,
    restored_modes,
    shift_right,
)
from mha_course.transformer import Projected, feed_forward

__all__ = (
    "LanguageModel", "LanguageModelBlock", "RotaryAttention", "fit_language_model", "generate",
    "next_token_probabilities", "rotary", "rotary_angles",
)  # fmt: skip

Angles = tuple[Tensor, Tensor]  # cosines and signed sines, (steps, d) each
Reader = Callable[[Tensor, list[Projected] | None], tuple[Tensor, list[Projected]]]


def rotary_angles(positions: Tensor, d: int, base: float, dtype: torch.dtype) -> Angles:
    r"""Compute cosines and sines of the angles by which `rotary` turns the features.

    Position i turns the features j and j + d/2 by :math:`i / b^{2j/d}`. The angles are computed in float64,
    because float32 cannot tell far positions apart finely enough.

    Parameters
    ----------
    positions : Tensor of integers, shape (steps,)
    d : int
        Features of a head, an even number.
    base : float
        The number b, at least 1.
    dtype : torch.dtype
        Type of what is returned.

    Returns
    -------
    cos, sin : Tensor, shape (steps, d) each
        The first half of the sines is negated, as `rotary` needs it.
    """
    check_divisible("d", d, pair=2)
    check_number("base", base, 1)
    kind = torch.float32 if positions.device.type == "mps" else torch.float64  # Apple's GPU lacks float64
    speeds = 1 / base ** (torch.arange(0, d, 2, dtype=kind, device=positions.device) / d)  # (d / 2,)
    angles = positions[:, None] * speeds  # (steps, d / 2)
    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)  # (steps, d / 2)
    return torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)  # each (steps, d)


def rotary(X: Tensor, offset: int = 0, base: float = 10000.0, angles: Angles | None = None) -> Tensor:
    r"""Turn pairs of features by angles that grow with the position.

    Features j and j + d/2 of position i are turned by the angle :math:`i / b^{2j/d}`. So the dot product of
    a turned query and a turned key depends on their positions only through the distance. Some models pair
    the features 2j and 2j + 1 instead; `halves_from_pairs` carries their weights over.

    Parameters
    ----------
    X : Tensor, shape (..., steps, d)
        Queries or keys of each head; d is even.
    offset : int
        Position of the first step.
    base : float
        The number b, at least 1; a larger one makes the slow pairs slower.
    angles : tuple of Tensor, optional
        What `rotary_angles` returns for these positions and this base, if it is known already.

    Returns
    -------
    Tensor, shape (..., steps, d)

    References
    ----------
    Su et al. (2021), section 3.2.

    Examples
    --------
    >>> rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))  # one pair, at positions 0 and 1
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    if angles is None:
        check_turned(X, offset, base)
        positions = torch.arange(offset, offset + X.shape[-2], device=X.device)  # (steps,)
        angles = rotary_angles(positions, X.shape[-1], base, X.dtype)
    cos, sin = (part.to(X.dtype) for part in angles)  # each (steps, d)
    return X * cos + X.roll(X.shape[-1] // 2, dims=-1) * sin  # (..., steps, d)


class RotaryAttention(nn.Module):
    """Causal self-attention with rotary positions, whose heads may share keys and values.

    Parameters
    ----------
    num_hiddens : int
        Features of all heads together, of the input and of the output.
    num_heads : int
        Number of heads; `num_hiddens` / `num_heads` is an even integer.
    num_groups : int, optional
        Number of sets of keys and values; divides `num_heads`, which is also what is taken where not given.
    dropout : float
        Share of the weights set to 0 in training, from 0 to 1.
    bias : bool
        Whether the four projections have biases.
    base : float
        As in `rotary`.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2; rotary positions: Su et al. (2021); groups: Ainslie et al. (2023).

    Examples
    --------
    >>> attention, X = RotaryAttention(12, 3), torch.randn(2, 5, 12)
    >>> whole, _, _ = attention(X)
    >>> _, cache, _ = attention(X[:, :4])
    >>> last, _, _ = attention(X[:, 4:], cache)
    >>> torch.allclose(last, whole[:, 4:], atol=1e-6)
    True
    """

    def __init__(
        self, num_hiddens: int, num_heads: int, num_groups: int | None = None, dropout: float = 0.0,
        bias: bool = False, *, base: float = 10000.0,
    ) -> None:  # fmt: skip
        super().__init__()
        num_groups = num_heads if num_groups is None else num_groups
        check_sizes(num_hiddens=num_hiddens)
        check_divisible("num_hiddens", num_hiddens, num_heads=num_heads)
        check_divisible("num_heads", num_heads, num_groups=num_groups)
        check_divisible("num_hiddens / num_heads", num_hiddens // num_heads, pair=2)
        check_dropout(dropout)
        check_flag("bias", bias)
        check_number("base", base, 1)
        self.num_heads, self.num_groups, self.base = num_heads, num_groups, base
        self.dropout = nn.Dropout(dropout)
        shared = num_hiddens // num_heads * num_groups
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias)
        self.W_k = nn.Linear(num_hiddens, shared, bias)
        self.W_v = nn.Linear(num_hiddens, shared, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def forward(
        self, X: Tensor, cache: Projected | None = None, need_weights: bool = False,
        angles: Angles | None = None,
    ) -> tuple[Tensor, Projected, Tensor | None]:  # fmt: skip
        """Let each step attend to itself and to all steps before it, those in the cache included.

        Parameters
        ----------
        X : Tensor, shape (batch, steps, num_hiddens)
        cache : tuple of Tensor, optional
            Turned keys, and values, of the steps before, (batch, groups, steps before, head_dim) each.
        need_weights : bool
            Return the weights too.
        angles : tuple of Tensor, optional
            As in `rotary`: those of these steps, if they are known already.

        Returns
        -------
        output : Tensor, shape (batch, steps, num_hiddens)
        cache : tuple of Tensor
            `cache` with the keys and values of these steps at its end.
        weights : Tensor, shape (batch, heads, steps, steps before + steps), or None
            Before dropout.
        """
        check_tensor("X", X, batch=None, steps=None, num_hiddens=self.W_q.in_features)
        check_flag("need_weights", need_weights)
        check_cache(cache, X.shape[0], self.num_groups, self.W_q.out_features // self.num_heads)
        before = 0 if cache is None else cache[0].shape[2]
        queries = rotary(split_heads(self.W_q(X), self.num_heads), before, self.base, angles)
        keys = rotary(split_heads(self.W_k(X), self.num_groups), before, self.base, angles)
        values = split_heads(self.W_v(X), self.num_groups)  # (batch, groups, steps, head_dim)
        if cache is not None:
            keys, values = torch.cat((cache[0], keys), dim=2), torch.cat((cache[1], values), dim=2)
        output, weights = self.attend(queries, keys, values, need_weights)
        return self.W_o(join_heads(output)), (keys, values), weights

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from the last positions, (batch, heads, steps, head_dim), to all; weights or None."""
        dropout = self.dropout.p if self.training else 0.0
        shared = self.num_groups < self.num_heads
        if need_weights:
            repeats = self.num_heads // self.num_groups
            keys, values = (X.repeat_interleave(repeats, dim=1) for X in (keys, values))
            return scaled_dot_product(queries, keys, values, None, dropout, need_weights, is_causal=True)
        allowed, is_causal = resolve_causal(None, True, queries, keys, need_weights)
        output = F.scaled_dot_product_attention(
            queries, keys, values, allowed, dropout, is_causal, enable_gqa=shared
        )
        return output, None


class LanguageModelBlock(nn.Module):
    """Causal self-attention and a feed-forward network, each normalized before and added to its input.

    Parameters
    ----------
    num_hiddens, ffn_hiddens, num_heads : int
        Features of the block, features inside the feed-forward network, heads.
    num_groups : int, optional
        As in `RotaryAttention`.
    dropout : float
        Dropout of the attention weights and of what is added, from 0 to 1.

    References
    ----------
    Radford et al. (2019), section 2.3.
    """

    def __init__(
        self, num_hiddens: int, ffn_hiddens: int, num_heads: int, num_groups: int | None = None,
        dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(num_hiddens=num_hiddens)
        self.norm_1 = nn.LayerNorm(num_hiddens)
        self.attention = RotaryAttention(num_hiddens, num_heads, num_groups, dropout, bias=True)
        self.norm_2 = nn.LayerNorm(num_hiddens)
        self.ffn = feed_forward(num_hiddens, ffn_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, X: Tensor, cache: Projected | None = None, angles: Angles | None = None
    ) -> tuple[Tensor, Projected]:
        """Read the next steps, (batch, steps, num_hiddens); the rest as in `RotaryAttention.forward`."""
        attended, cache, _ = self.attention(self.norm_1(X), cache, angles=angles)
        X = X + self.dropout(attended)
        X = X + self.dropout(self.ffn(self.norm_2(X)))  # (batch, steps, hiddens)
        return X, cache


class LanguageModel(nn.Module):
    """A decoder-only Transformer: embedding, blocks, and a layer that scores the next token.

    Parameters
    ----------
    vocab_size, num_hiddens, ffn_hiddens, num_heads, num_layers : int
        Token types, features, features inside the feed-forward networks, heads, blocks.
    num_groups : int, optional
        As in `RotaryAttention`.
    dropout : float
        Dropout of the embedding and inside the blocks, from 0 to 1.

    References
    ----------
    Radford et al. (2019), section 2.3; rotary positions: Su et al. (2021).

    Examples
    --------
    >>> model = LanguageModel(vocab_size=9)
    >>> tokens = torch.tensor([[1, 5, 6, 7], [1, 8, 5, 2]])
    >>> logits, cache = model(tokens)
    >>> logits.shape, len(cache)
    (torch.Size([2, 4, 9]), 2)
    """

    def __init__(
        self, vocab_size: int, num_hiddens: int = 64, ffn_hiddens: int = 128, num_heads: int = 4,
        num_layers: int = 2, dropout: float = 0.0, *, num_groups: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_sizes(vocab_size=vocab_size, num_hiddens=num_hiddens, num_layers=num_layers)
        check_dropout(dropout)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.dropout = nn.Dropout(dropout)
        sizes = (num_hiddens, ffn_hiddens, num_heads, num_groups, dropout)
        self.blocks = nn.ModuleList(LanguageModelBlock(*sizes) for _ in range(num_layers))
        self.norm = nn.LayerNorm(num_hiddens)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def forward(self, tokens: Tensor, cache: list[Projected] | None = None) -> tuple[Tensor, list[Projected]]:
        """Score the token that follows each step. Many calls of one step give the same as one call of many.

        Parameters
        ----------
        tokens : Tensor of integers, shape (batch, steps)
        cache : list of tuple of Tensor, optional
            What the call before returned; None at the beginning.

        Returns
        -------
        logits : Tensor, shape (batch, steps, vocab_size)
        cache : list of tuple of Tensor
            Keys and values of all steps so far, one pair a block.
        """
        check_tokens("tokens", tokens, self.embedding.num_embeddings)
        check_caches(cache, len(self.blocks))
        X = self.dropout(self.embedding(tokens))  # (batch, steps, hiddens)
        caches: list[Any] = [None] * len(self.blocks) if cache is None else cache
        angles = self.angles(X, 0 if cache is None else cache[0][0].shape[2])
        longer = []
        for block, before in zip(self.blocks, caches, strict=True):
            X, after = block(X, before, angles)
            longer.append(after)
        return self.dense(self.norm(X)), longer  # (batch, steps, vocab_size)

    def angles(self, X: Tensor, offset: int) -> Angles:
        """Compute the rotary angles of steps from `offset` on, once for all blocks."""
        check_one_base(self.blocks)
        attention: Any = self.blocks[0].attention
        positions = torch.arange(offset, offset + X.shape[1], device=X.device)  # (steps,)
        return rotary_angles(positions, X.shape[2] // attention.num_heads, attention.base, X.dtype)


def fit_language_model(
    model: LanguageModel, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary,
    *, epochs: int = 12, learning_rate: float = 0.003, batch_size: int = 64, seed: int = 0,
) -> list[float]:  # fmt: skip
    """Train to predict each next token of the sentences, ``<eos>`` included, with Adam.

    The learning rate falls along a line to 0 at the last step. Gradients are clipped at an L2 norm of 1. A
    loss or a weight that is not finite raises a FloatingPointError that names the epoch.

    Parameters
    ----------
    model : LanguageModel
        Its modules' modes are handled as by `fit`.
    sentences : sequence of sequences of str
        Tokens, without ``<bos>`` and ``<eos>``.
    vocabulary : Vocabulary
    epochs : int
        Passes over the sentences.
    learning_rate : float
        Adam's step size at the beginning.
    batch_size : int
        Sentences in a step.
    seed : int
        Of the batches' order.

    Returns
    -------
    list of float
        The mean loss of each epoch, in nats a token.
    """
    check_type("model", model, LanguageModel, "a LanguageModel")
    check_sentences(sentences)
    check_type("vocabulary", vocabulary, Vocabulary, "a Vocabulary")
    check_sizes(epochs=epochs, least=0)
    check_number("learning_rate", learning_rate, 0, sys.float_info.max)
    check_integer("seed", seed)
    check_sizes(batch_size=batch_size)
    if not sentences:
        raise ValueError("sentences must hold at least one sentence, got none")
    pairs = [Pair("", "", (), tuple(sentence), ()) for sentence in sentences]
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    steps = epochs * math.ceil(len(pairs) / batch_size)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    history = []
    with restored_modes(model):
        if not model.training:
            model.train()
        for epoch in range(epochs):
            total, count = 0.0, 0
            for batch in batches(pairs, vocabulary, vocabulary, batch_size, seed=seed * epochs + epoch):
                target, lens = batch.target.to(device), batch.target_lens.to(device)
                logits, _ = model(shift_right(target, vocabulary.bos))  # (batch, steps, vocab_size)
                loss = masked_loss(logits, target, lens)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                total, count = total + loss.item() * int(lens.sum()), count + int(lens.sum())
            history.append(total / count)
            check_finite(history[-1], model, epoch + 1)
    return history


def next_token_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Turn scores into the probabilities to draw the next token with.

    Parameters
    ----------
    logits : Tensor, shape (..., vocab_size)
        Must not contain NaN; each row's maximum must be finite.
    temperature : float
        The scores are divided by it. Below 1 the probable tokens become more probable; at 0 the first of the
        most probable tokens gets all.
    top_k : int, optional
        Keep so many of the most probable tokens.
    top_p : float, optional
        Of what is kept so far, keep the most probable tokens until they have this probability together.

    Returns
    -------
    Tensor, shape (..., vocab_size)
        Sums to 1 over the tokens; 0 for those not kept. In float32 or better, since probabilities in half
        precision would not sum to 1.

    References
    ----------
    Top-k: Fan et al. (2018), section 5.4; top-p: Holtzman et al. (2020), section 3.1.

    Examples
    --------
    >>> logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    >>> next_token_probabilities(logits, top_k=2)
    tensor([0.5714, 0.4286, 0.0000, 0.0000])
    >>> next_token_probabilities(logits, top_p=0.8)
    tensor([0.4444, 0.3333, 0.2222, 0.0000])
    """
    check_tensor("logits", logits)
    check_temperature(temperature, logits.dtype)
    check_sizes(top_k=top_k)
    if top_p is not None:
        check_number("top_p", top_p, 0, 1)
    logits = at_least_float32(logits)
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    scores = (logits - logits.amax(dim=-1, keepdim=True)) / temperature
    ordered, order = scores.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        ordered = torch.cat((ordered[..., :top_k], torch.zeros_like(ordered[..., top_k:])), dim=-1)
        ordered = ordered / ordered.sum(dim=-1, keepdim=True)
    if top_p is not None and top_p < 1:
        above = ordered.cumsum(dim=-1) - ordered  # what the more probable tokens have together
        ordered = ordered.where((above < top_p) | (above == 0), 0)
    kept = torch.zeros_like(ordered).scatter(-1, order, ordered)
    return kept / kept.sum(dim=-1, keepdim=True)


@torch.no_grad()
def generate(
    model: LanguageModel, tokens: Tensor, max_steps: int = 20,
    *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
    stop: int | None = None, generator: torch.Generator | None = None, static_cache: bool = False,
) -> Tensor:  # fmt: skip
    """Continue texts token by token, each drawn and then read by the model as the next.

    The prompt is read at once, then one token at a time; the cache keeps what was computed. The model is in
    evaluation mode meanwhile, and each of its modules has its own mode again afterwards. To compile it, call
    ``model.compile()``, which leaves it a `LanguageModel`.

    Parameters
    ----------
    model : LanguageModel
    tokens : Tensor of integers, shape (batch, steps)
        The prompts, at least one token long and without padding: prompts of different lengths need a call
        each.
    max_steps : int
        The most tokens to write.
    temperature, top_k, top_p
        As in `next_token_probabilities`; temperature 0 is greedy.
    stop : int, optional
        The token that ends a text. A row that has ended is filled with it; when all have, nothing more is
        written.
    generator : torch.Generator, optional
        Source of the random numbers; PyTorch's default generator if None.
    static_cache : bool
        Write into a cache of the final length. It is faster, most of all on a GPU; there the first step takes
        longer, because it is compiled.

    Returns
    -------
    Tensor of integers, shape (batch, steps + tokens written)
    """
    check_flag("static_cache", static_cache)
    check_type("model", model, LanguageModel, "a LanguageModel")
    check_tokens("tokens", tokens, model.embedding.num_embeddings, least=1)
    check_sizes(max_steps=max_steps, least=0)
    check_sizes(stop=stop, least=0)
    check_number("stop", stop or 0, 0, model.embedding.num_embeddings - 1)
    with evaluating(model):
        read: Reader = StaticCache(model, tokens, max_steps) if static_cache else model
        new, cache = tokens, None
        ended = torch.zeros_like(tokens[:, :1], dtype=torch.bool)  # (batch, 1)
        for _ in range(max_steps):
            logits, cache = read(new, cache)  # (batch, steps, vocab_size)
            probabilities = next_token_probabilities(logits[:, -1], temperature, top_k, top_p)
            new = torch.multinomial(probabilities, 1, generator=generator)  # (batch, 1)
            if stop is not None:
                new = new.masked_fill(ended, stop)
                ended = new == stop
            tokens = torch.cat((tokens, new), dim=1)  # (batch, steps + written)
            if stop is not None and ended.all():
                break
    return tokens


class StaticCache:
    """A model whose cache has the final length from the beginning and is written in place, for `generate`.

    No tensor changes its size or its address from step to step. So nothing is copied, and on a GPU one step
    is compiled and recorded as a CUDA graph, which is launched at once instead of kernel by kernel.

    Parameters
    ----------
    model : LanguageModel
    tokens : Tensor of integers, shape (batch, steps)
        The prompts.
    max_steps : int
        The most tokens that follow.
    """

    def __init__(self, model: LanguageModel, tokens: Tensor, max_steps: int) -> None:
        check_static(model)
        self.model, self.steps = model, tokens.shape[1]
        total = self.steps + max_steps
        self.places = torch.arange(total, device=tokens.device)  # (total,)
        self.angles = model.angles(model.embedding(tokens[:, :1]).expand(-1, total, -1), 0)  # (total, d) each
        self.cache: list[Projected] = []
        self.step = self.read_one
        if tokens.is_cuda:
            self.step = torch.compile(self.read_one, mode="reduce-overhead", fullgraph=True)

    def __call__(self, tokens: Tensor, cache: list[Projected] | None) -> tuple[Tensor, list[Projected]]:
        """Read the prompts, or with a cache the next token of each: logits and the cache."""
        if cache is None:
            logits, cache = self.model(tokens)
            self.cache = [(self.lengthen(keys), self.lengthen(values)) for keys, values in cache]
            return logits, self.cache
        self.steps += 1
        return self.step(tokens, self.places[self.steps - 1 : self.steps]), cache

    def lengthen(self, X: Tensor) -> Tensor:
        """Copy (batch, groups, steps, head_dim) to the beginning of a tensor of the final length."""
        longer = F.pad(X, (0, 0, 0, len(self.places) - X.shape[2]))
        if longer.is_cuda:  # on a CPU nothing is compiled, and to load the compiler takes a second
            torch._dynamo.mark_static_address(longer)
        return longer

    def read_one(self, tokens: Tensor, position: Tensor) -> Tensor:
        """Compute what the model computes of one token (batch, 1) at a position (1,)."""
        model: Any = self.model
        X = model.embedding(tokens)  # (batch, 1, hiddens)
        cos, sin = (part[position] for part in self.angles)  # (1, d) each
        allowed = self.places[None] <= position  # (1, total)
        for block, (keys, values) in zip(model.blocks, self.cache, strict=True):
            attention, Y = block.attention, block.norm_1(X)
            shared = attention.num_groups < attention.num_heads
            queries = rotary(split_heads(attention.W_q(Y), attention.num_heads), angles=(cos, sin))
            new_keys = rotary(split_heads(attention.W_k(Y), attention.num_groups), angles=(cos, sin))
            keys.index_copy_(2, position, new_keys)
            values.index_copy_(2, position, split_heads(attention.W_v(Y), attention.num_groups))
            output = F.scaled_dot_product_attention(queries, keys, values, allowed, enable_gqa=shared)
            X = X + attention.W_o(join_heads(output))  # (batch, 1, hiddens)
            X = X + block.ffn(block.norm_2(X))
        logits: Tensor = model.dense(model.norm(X))  # (batch, 1, vocab_size)
        return logits


@argument_check
def check_turned(X: Tensor, offset: int, base: float) -> None:
    """Raise unless `rotary` can turn X."""
    check_tensor("X", X)
    if X.dim() < 2:
        raise ValueError(f"X must have the shape (..., steps, d), got {tuple(X.shape)}")
    check_divisible("the last axis of X", X.shape[-1], pair=2)
    check_integer("offset", offset)
    check_sizes(offset=offset, least=0)
    check_number("base", base, 1)


@argument_check
def check_cache(cache: Projected | None, batch: int, groups: int, head_dim: int) -> None:
    """Raise unless `cache` is None, or keys and values of as many steps."""
    if cache is None:
        return
    check_pair(cache)
    axes = {"batch": batch, "groups": groups, "steps": None, "head_dim": head_dim}
    check_tensor("the keys of cache", cache[0], **axes)
    check_tensor("the values of cache", cache[1], **(axes | {"steps": cache[0].shape[2]}))


@argument_check
def check_pair(cache: object) -> None:
    """Raise unless `cache` is a pair, keys and values."""
    if not isinstance(cache, (tuple, list)) or len(cache) != 2:
        raise TypeError(f"cache must be None or (keys, values), got {type(cache).__name__}")


@argument_check
def check_caches(cache: list[Projected] | None, blocks: int) -> None:
    """Raise unless `cache` is None or has one part for each block."""
    if cache is None:
        return
    check_type("cache", cache, (list, tuple), "None or a list")
    if len(cache) != blocks:
        raise ValueError(f"cache must have one pair for each of {blocks} blocks, got {len(cache)}")
    for pair in cache:
        check_pair(pair)


@argument_check
def check_static(model: LanguageModel) -> None:
    """Raise unless `StaticCache` knows how the model computes: it does so itself, without `forward`."""
    blocks: list[Any] = list(model.blocks)
    for block in blocks:
        if type(block.attention) is not RotaryAttention:
            kind = type(block.attention).__name__
            raise TypeError(f"static_cache needs blocks with RotaryAttention, got {kind}")
    known_forwards: list[tuple[Any, Any]] = [(model, LanguageModel)]
    known_forwards += [(block, LanguageModelBlock) for block in blocks]
    for module, known in known_forwards:
        if type(module).forward is not known.forward:
            kind = f"{type(module).__name__}, which has its own"
            raise TypeError(f"static_cache needs the forward of {known.__name__}, got {kind}")


@argument_check
def check_one_base(blocks: nn.ModuleList) -> None:
    """Raise unless the blocks turn by the same angles, since these are computed once for all."""
    attentions: list[Any] = [block.attention for block in blocks]
    bases = sorted({attention.base for attention in attentions})
    if len(bases) > 1:
        raise ValueError(f"the blocks' attention must have one base, got {bases}")


@argument_check
def check_sentences(sentences: Sequence[Sequence[str]]) -> None:
    """Raise unless these are sequences of tokens: a string would be read as its letters."""
    check_type("sentences", sentences, Sequence, "a sequence of sequences of tokens")
    for sentence in sentences:
        if isinstance(sentence, str):
            raise TypeError(f"sentences must hold sequences of tokens, got the string {sentence!r:.40}")


@argument_check
def check_temperature(temperature: float, dtype: torch.dtype) -> None:
    """Raise unless scores of this type can be divided by `temperature`, or it is 0."""
    limits = torch.finfo(torch.promote_types(dtype, torch.float32))  # half precision divides in float32
    check_number("temperature", temperature, 0, limits.max)
    if 0 < temperature < limits.tiny:
        raise ValueError(f"temperature must be 0 or at least {limits.tiny:.1e}, got {temperature}")
