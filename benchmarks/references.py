"""Peers to measure and test against: D2L 1.0.3, and models written from descriptions."""

import copy
import math
import sys
import types
from functools import cache, lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha_course.convert import to_torch
from mha_course.masking import length_mask
from mha_course.transformer import Transformer


def import_d2l() -> Any:
    """Import d2l, which imports torchvision; its attention classes use nothing of it."""
    stubs: dict[str, Any] = {}
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):  # missing, or built for another torch
        stubs = {name: types.ModuleType(name) for name in ("torchvision", "torchvision.transforms")}
        stubs["torchvision"].transforms = stubs["torchvision.transforms"]
        sys.modules.update(stubs)
    from d2l import torch as d2l

    for name in stubs:  # other libraries ask whether torchvision is there
        del sys.modules[name]
    return d2l


d2l = import_d2l()


class AnnotatedAttention(nn.Module):
    """Multi-head attention as the Annotated Transformer describes it.

    Four linear layers with biases; scores, a fill of -1e9 where the mask is 0, softmax, dropout and the
    product are written out; the weights stay on the module.
    """

    def __init__(self, num_heads: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.h, self.d_k = num_heads, num_hiddens // num_heads
        self.linears = nn.ModuleList(nn.Linear(num_hiddens, num_hiddens) for _ in range(4))
        self.dropout = nn.Dropout(dropout)
        self.attn: Tensor | None = None

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        batch = query.shape[0]
        inputs = zip(self.linears, (query, key, value), strict=False)
        q, k, v = (
            linear(x).view(batch, -1, self.h, self.d_k).transpose(1, 2) for linear, x in inputs
        )  # (batch, h, steps, d_k)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)  # (batch, h, queries, keys)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        self.attn = scores.softmax(dim=-1)
        joined = (self.dropout(self.attn) @ v).transpose(1, 2).contiguous()  # (batch, queries, h, d_k)
        return self.linears[-1](joined.flatten(2))


class EagerAttention(nn.Module):
    """D2L 0.17's order of arguments and names of layers: sizes first, no lazy layers."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.attention = d2l.DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)


class PlainAttention(nn.Module):
    """The least one can write around `F.scaled_dot_product_attention`: no checks, no cleaning, no weights."""

    def __init__(self, num_hiddens: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(num_hiddens, num_hiddens) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
        q, k, v = self.project(x)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)
        return self.W_o(output.transpose(1, 2).flatten(2))

    def project(self, x: Tensor) -> list[Tensor]:
        """Return queries, keys and values, (batch, heads, steps, head_dim) each."""
        projections = (self.W_q(x), self.W_k(x), self.W_v(x))
        return [p.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for p in projections]


class FlexAttention(PlainAttention):
    """The same around PyTorch's FlexAttention, which skips blocks of scores that are hidden."""

    def forward(self, x: Tensor, lens: Tensor | None = None, is_causal: bool = False) -> Tensor:
        mask = None if lens is None and not is_causal else block_mask(lens, *x.shape[:2], x.device)
        output = compiled_flex()(*self.project(x), block_mask=mask)
        return self.W_o(output.transpose(1, 2).flatten(2))


@lru_cache(maxsize=1)
def block_mask(lens: Tensor | None, batch: int, steps: int, device: torch.device) -> Any:
    """Return the mask of blocks, causal without `lens`; a model makes it once for all its layers."""
    from torch.nn.attention.flex_attention import create_block_mask

    if lens is None:
        return create_block_mask(lambda b, h, q, k: k <= q, None, None, steps, steps, device=device)
    return create_block_mask(lambda b, h, q, k: k < lens[b], batch, None, steps, steps, device=device)


@cache
def compiled_flex() -> Any:
    """Compile PyTorch's function for every kind of call: uncompiled it stores the whole matrix of scores."""
    from torch.nn.attention.flex_attention import flex_attention

    torch._dynamo.config.recompile_limit = 100
    return torch.compile(flex_attention)


class D2LAttentionDecoder(d2l.AttentionDecoder):
    """The decoder that D2L's chapter on Bahdanau attention describes, around the package's classes.

    Steps first; attention projects all keys at every step; the weights of every step stay on the module.
    """

    def __init__(self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int) -> None:
        super().__init__()
        self.attention = d2l.AdditiveAttention(num_hiddens, 0.0)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.weights: list[Tensor] = []

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], valid_lens: Tensor) -> list[Tensor]:
        outputs, hidden_state = enc_outputs
        return [outputs.permute(1, 0, 2), hidden_state, valid_lens]

    def forward(self, tokens: Tensor, state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        annotations, hidden_state, valid_lens = state
        outputs, self.weights = [], []
        for embedded in self.embedding(tokens).permute(1, 0, 2):  # (batch, embed_size)
            query = hidden_state[-1].unsqueeze(1)  # (batch, 1, num_hiddens)
            context = self.attention(query, annotations, annotations, valid_lens)
            step = torch.cat((context, embedded.unsqueeze(1)), dim=-1).permute(1, 0, 2)
            output, hidden_state = self.rnn(step, hidden_state)
            outputs.append(output)
            self.weights.append(self.attention.attention_weights)
        logits = self.dense(torch.cat(outputs, dim=0)).permute(1, 0, 2)  # (batch, steps, vocab_size)
        return logits, [annotations, hidden_state, valid_lens]


class D2LEncoderDecoder(nn.Module):
    """D2L's encoder, which reads padding, and the decoder above, called as the course's models are."""

    def __init__(self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int) -> None:
        super().__init__()
        sizes = (vocab_size, embed_size, num_hiddens, num_layers)
        self.encoder, self.decoder = d2l.Seq2SeqEncoder(*sizes), D2LAttentionDecoder(*sizes)
        tokens, lens = torch.zeros(1, 1, dtype=torch.int64), torch.ones(1, dtype=torch.int64)
        self(tokens, tokens, lens)  # makes the lazy layers

    def forward(self, source: Tensor, target: Tensor, source_lens: Tensor) -> tuple[Tensor, list[Tensor]]:
        state = self.decoder.init_state(self.encoder(source, source_lens), source_lens)
        logits, state = self.decoder(target, state)
        return logits, state


class TorchTranslator(nn.Module):
    """`nn.Transformer` between embeddings and a last layer, with the weights of the course's model."""

    def __init__(self, ours: Transformer) -> None:
        super().__init__()
        self.sources, self.targets = (
            nn.Sequential(copy.deepcopy(part.embedding), copy.deepcopy(part.positions))
            for part in (ours.encoder, ours.decoder)
        )
        self.dense = copy.deepcopy(ours.decoder.dense)
        block = ours.encoder.blocks[0]
        sizes = (block.attention.W_o.out_features, block.attention.num_heads, block.ffn[0].out_features, 0.0)
        options = {"batch_first": True, "norm_first": True}
        layers = (
            nn.TransformerEncoderLayer(*sizes, **options),
            nn.TransformerDecoderLayer(*sizes, **options),
        )
        count, width = len(ours.encoder.blocks), sizes[0]
        self.transformer = nn.Transformer(
            width, sizes[1], **options,
            custom_encoder=nn.TransformerEncoder(layers[0], count, nn.LayerNorm(width), False),
            custom_decoder=nn.TransformerDecoder(layers[1], count, nn.LayerNorm(width)),
        )  # fmt: skip
        for part, theirs in (
            (ours.encoder, self.transformer.encoder),
            (ours.decoder, self.transformer.decoder),
        ):
            theirs.norm.load_state_dict(part.norm.state_dict())
            for block, layer in zip(part.blocks, theirs.layers, strict=True):
                fill_layer(layer, block)

    def forward(self, source: Tensor, target: Tensor, source_lens: Tensor) -> tuple[Tensor, None]:
        padding = ~length_mask(source_lens, source.shape[1])
        later = nn.Transformer.generate_square_subsequent_mask(
            target.shape[1], device=target.device, dtype=torch.bool
        )
        output = self.transformer(
            self.sources(source), self.targets(target), tgt_mask=later, tgt_is_causal=True,
            src_key_padding_mask=padding, memory_key_padding_mask=padding,
        )  # fmt: skip
        return self.dense(output), None


def fill_layer(layer: nn.Module, block: nn.Module) -> None:
    """Write the weights of the course's block into PyTorch's layer, which names its parts otherwise."""
    names = {
        "self_attn": "attention" if hasattr(block, "attention") else "self_attention",
        "multihead_attn": "cross_attention",
    }
    for name, part in layer.named_children():
        if name in names:
            source = to_torch(getattr(block, names[name]))
        elif name.startswith("norm"):
            source = getattr(block, f"norm_{name[-1]}")
        elif name.startswith("linear"):
            source = block.ffn[{"linear1": 0, "linear2": 2}[name]]
        else:  # dropouts
            continue
        part.load_state_dict(source.state_dict())
