"""The decoder-only Transformer beside PyTorch's layers, a plain GPT, and models of `transformers`.

``python -m benchmarks.language_model [--threads 2] [--seconds 5] [--cpu]`` prints tables and writes them
into ``_build/bench``. First greedy writing: with a cache, with a static cache, on a CPU without any, and
beside models of `transformers`, untrained. At the limit, all weights are read once a token, at the measured
speed of the memory. Then a training step (forward, loss, backward, Adam) of models of the same sizes, which
differ in how they tell positions and in small parts of their blocks. On a GPU the larger size trains in
bfloat16 (autocast), and two models are compiled too. Times are medians over interleaved rounds, with the
median of the rounds' ratios to `mha_course` in brackets.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks import measure
from benchmarks.measure import OURS, Report
from benchmarks.references import PlainAttention
from mha_course.language_model import LanguageModel, generate
from mha_course.transformer import PositionalEncoding, feed_forward

STEP, WRITING = "language model, training step", "writing"
VOCAB, PROMPT = 200, 8
PLAIN, TORCH = "plain GPT", "nn.TransformerEncoder"
LLAMA, GPT2 = "Llama of transformers", "GPT-2 of transformers"
STATIC, NO_CACHE, LIMIT = f"{OURS}, static cache", f"{OURS}, no cache", "limit"


class Size(NamedTuple):
    """Size of a model and of what it reads or writes."""

    batch: int
    steps: int
    num_hiddens: int
    num_heads: int
    num_layers: int
    dtype: str = "float32"

    def __str__(self) -> str:
        return f"{' × '.join(map(str, self[:5]))}, {self.dtype}"


TRAINED = {
    "cpu": (
        Size(64, 16, 64, 4, 2), Size(32, 64, 256, 8, 4), Size(8, 256, 256, 8, 4), Size(4, 512, 512, 8, 4),
    ),
    "cuda": (Size(16, 1024, 768, 12, 6, "bfloat16"), Size(32, 64, 256, 8, 4)),
}  # fmt: skip
WRITTEN = {
    "cpu": tuple(Size(1, steps, 256, 8, 4) for steps in (64, 128, 256)),
    "cuda": (
        Size(1, 128, 256, 8, 4), Size(1, 128, 768, 12, 12), Size(1, 128, 768, 12, 12, "bfloat16"),
        Size(16, 128, 768, 12, 12, "bfloat16"),
    ),
}  # fmt: skip


class TorchModel(nn.Module):
    """The same sizes from PyTorch's layers, with sinusoids added to the embeddings."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.num_hiddens
        options: dict[str, Any] = {"batch_first": True, "norm_first": True}
        layer = nn.TransformerEncoderLayer(width, size.num_heads, 4 * width, 0.0, **options)
        positions = PositionalEncoding(width, max_len=size.steps)
        self.embedding = nn.Sequential(nn.Embedding(VOCAB, width), positions)
        norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(layer, size.num_layers, norm, enable_nested_tensor=False)
        self.dense = nn.Linear(width, VOCAB)

    def forward(self, tokens: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.dense(self.encoder(self.embedding(tokens), mask=mask, is_causal=True))


class PlainBlock(nn.Module):
    """The course's block around a bare `F.scaled_dot_product_attention`."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.num_hiddens
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = PlainAttention(width, size.num_heads)
        self.ffn = feed_forward(width, 4 * width)

    def forward(self, X: Tensor) -> Tensor:
        X = X + self.attention(self.norm_1(X), is_causal=True)
        return X + self.ffn(self.norm_2(X))


class PlainGPT(nn.Module):
    """The least one can write of these sizes: learned positions, no cache, no checks."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, size.num_hiddens)
        self.positions = nn.Parameter(torch.randn(size.steps, size.num_hiddens) / 50)
        self.blocks = nn.Sequential(*(PlainBlock(size) for _ in range(size.num_layers)))
        self.norm = nn.LayerNorm(size.num_hiddens)
        self.dense = nn.Linear(size.num_hiddens, VOCAB)

    def forward(self, tokens: Tensor) -> Tensor:
        X = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        return self.dense(self.norm(self.blocks(X)))


def course_model(size: Size) -> LanguageModel:
    """Return the course's model; inside the feed-forward networks it is four times as wide."""
    torch.manual_seed(0)
    return LanguageModel(VOCAB, size.num_hiddens, 4 * size.num_hiddens, size.num_heads, size.num_layers)


def llama(size: Size) -> nn.Module:
    """Return a Llama; its three feed-forward matrices have as many parameters as our two."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB, hidden_size=size.num_hiddens, intermediate_size=8 * size.num_hiddens // 3,
        num_attention_heads=size.num_heads, num_hidden_layers=size.num_layers, attn_implementation="sdpa",
        bos_token_id=None, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    return LlamaForCausalLM(config)


def gpt2(size: Size) -> nn.Module:
    """Return a GPT-2, whose embedding is its last layer's matrix too."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=PROMPT + size.steps, n_embd=size.num_hiddens, n_head=size.num_heads,
        n_layer=size.num_layers, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="sdpa",
        bos_token_id=None, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    return GPT2LMHeadModel(config)


MODELS: dict[str, Callable[[Size], nn.Module]] = {
    OURS: course_model,
    PLAIN: PlainGPT,
    TORCH: TorchModel,
    GPT2: gpt2,
    LLAMA: llama,
}


def logits_of(model: nn.Module, tokens: Tensor) -> Tensor:
    """Return the scores, (batch, steps, vocab), however the model returns them."""
    if hasattr(model, "config"):  # one of transformers
        return model(tokens, use_cache=False).logits
    output = model(tokens)
    return output[0] if isinstance(output, tuple) else output


def autocast(size: Size, device: torch.device) -> AbstractContextManager[object]:
    """Return a context in which a model of float32 computes in the size's type."""
    return (
        nullcontext() if size.dtype == "float32" else torch.autocast(device.type, getattr(torch, size.dtype))
    )


def step_of(model: nn.Module, tokens: Tensor, size: Size) -> Callable[[], Tensor]:
    """Return one training step, to be called again and again."""
    optimizer = torch.optim.Adam(model.train().parameters(), lr=1e-3, fused=True)

    def step() -> Tensor:
        with autocast(size, tokens.device):
            logits = logits_of(model, tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def add_training(report: Report, size: Size, seconds: float) -> None:
    """Add each model's time of a training step; on a GPU compiled too, where that is asked most."""
    torch._dynamo.reset()  # as in a process of its own: nothing is compiled for several sizes
    tokens = torch.randint(0, VOCAB, (size.batch, size.steps + 1)).to(report.device)
    calls = {name: step_of(build(size).to(report.device), tokens, size) for name, build in MODELS.items()}
    if report.device.type == "cuda":
        for name in (OURS, PLAIN):
            model = MODELS[name](size).to(report.device)
            model.compile()
            calls[f"{name}, compiled"] = step_of(model, tokens, size)
    times = measure.interleaved(calls, report.device, seconds=seconds, most=200, title=str(size))
    report.add_times(STEP, size, times)


@torch.no_grad()
def without_cache(model: LanguageModel, tokens: Tensor, steps: int) -> Tensor:
    """Write greedily, reading the whole text again for every token."""
    for _ in range(steps):
        logits, _ = model(tokens)
        tokens = torch.cat((tokens, logits[:, -1:].argmax(dim=-1)), dim=1)
    return tokens


def writers(size: Size, device: torch.device) -> dict[str, Callable[[], Tensor]]:
    """Return for each way to write a call that returns the prompt and `size.steps` tokens after it."""
    dtype = getattr(torch, size.dtype)
    ours = course_model(size).to(device, dtype).eval()
    prompt = torch.randint(4, VOCAB, (size.batch, PROMPT)).to(device)
    options = {"max_new_tokens": size.steps, "do_sample": False, "attention_mask": torch.ones_like(prompt)}
    result: dict[str, Callable[[], Tensor]] = {
        OURS: lambda: generate(ours, prompt, size.steps, temperature=0),
        STATIC: lambda: generate(ours, prompt, size.steps, temperature=0, static_cache=True),
    }
    if device.type == "cpu":  # a GPU computes what it has computed before nearly for nothing
        result[NO_CACHE] = lambda: without_cache(ours, prompt, size.steps)
    for name in (LLAMA, GPT2):
        theirs: Any = MODELS[name](size).to(device, dtype).eval()
        result[name] = lambda theirs=theirs: theirs.generate(prompt, **options)
    return result


def check_written(calls: dict[str, Callable[[], Tensor]], size: Size) -> None:
    """Raise unless all write as many tokens, and the course's ways in float32 the same ones."""
    written = {name: call() for name, call in calls.items()}
    for name, tokens in written.items():
        assert tokens.shape == written[OURS].shape, name
        if name.startswith(OURS) and size.dtype == "float32":
            assert torch.equal(tokens, written[OURS]), name


def add_writing(report: Report, size: Size, bytes_a_second: float, seconds: float) -> None:
    """Add the tokens that each way writes a second, and the limit."""
    torch._dynamo.reset()
    calls = writers(size, report.device)
    check_written(calls, size)
    times = measure.interleaved(calls, report.device, seconds=seconds, least=3, most=20, title=str(size))
    report.add_times(WRITING, size, times, tokens=size.batch * size.steps)
    model = course_model(size).to(getattr(torch, size.dtype))
    read = sum(weight.nbytes for name, weight in model.named_parameters() if name != "embedding.weight")
    report.add(WRITING, size, LIMIT, size.batch * bytes_a_second / read, "tokens/s")


def main() -> None:
    arguments = measure.options(__doc__).parse_args()
    report = Report("language_model", measure.prepare(arguments))
    bytes_a_second = measure.copy_rate(report.device)
    for size in WRITTEN[report.device.type]:
        add_writing(report, size, bytes_a_second, arguments.seconds)
    report.show(WRITING)
    for size in TRAINED[report.device.type]:
        add_training(report, size, arguments.seconds)
    report.show(STEP)


if __name__ == "__main__":
    main()
