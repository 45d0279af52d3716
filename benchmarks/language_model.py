"""The decoder-only Transformer beside PyTorch's and that of the library `transformers`.

``python -m benchmarks.language_model [--threads 2] [--seconds 10] [--cpu]`` prints two tables and writes them
into ``_build/bench``. First a training step (forward, loss, backward, Adam) beside `nn.TransformerEncoder`
with a causal mask between the same embedding and the same last layer; to PyTorch's, sinusoids are added. Then
writing greedily, with a cache and without, and beside a Llama of the same sizes, untrained. Times are medians
over interleaved rounds, ratios medians of ratios within a round.
"""

import argparse
import statistics
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks import measure
from benchmarks.measure import FOLDER, describe, markdown
from mha_course.language_model import LanguageModel, generate
from mha_course.transformer import PositionalEncoding

VOCAB, PROMPT = 200, 8
OURS, TORCH, LLAMA = "mha_course", "nn.TransformerEncoder", "Llama of transformers"


class Size(NamedTuple):
    """Size of a model and of what it reads or writes."""

    batch: int
    steps: int
    num_hiddens: int
    num_heads: int
    num_layers: int

    def __str__(self) -> str:
        return " × ".join(map(str, self))


TRAINING = (Size(64, 16, 64, 4, 2), Size(32, 64, 256, 8, 4), Size(8, 256, 256, 8, 4), Size(4, 512, 512, 8, 4))
WRITING = tuple(Size(1, steps, 256, 8, 4) for steps in (64, 128, 256))


class TorchModel(nn.Module):
    """The same model built from PyTorch's layers."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.num_hiddens
        options = {"batch_first": True, "norm_first": True}
        layer = nn.TransformerEncoderLayer(width, size.num_heads, 4 * width, 0.0, **options)
        self.embedding = nn.Sequential(nn.Embedding(VOCAB, width), PositionalEncoding(width))
        norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(layer, size.num_layers, norm, enable_nested_tensor=False)
        self.dense = nn.Linear(width, VOCAB)

    def forward(self, tokens: Tensor) -> tuple[Tensor, None]:
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.dense(self.encoder(self.embedding(tokens), mask=mask, is_causal=True)), None


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
    return LlamaForCausalLM(config).eval()


def step_of(model: nn.Module, tokens: Tensor) -> Callable[[], Tensor]:
    """Return one training step, to be called again and again."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def step() -> Tensor:
        logits, _ = model(tokens[:, :-1])  # (batch, steps, vocab)
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return loss.detach()

    return step


def training_row(size: Size, device: torch.device, seconds: float) -> list[str]:
    """Return a table row: size, milliseconds of both, and their ratio."""
    tokens = torch.randint(0, VOCAB, (size.batch, size.steps + 1)).to(device)
    models = {OURS: course_model(size), TORCH: TorchModel(size)}
    calls = {name: step_of(model.to(device).train(), tokens) for name, model in models.items()}
    times = measure.interleaved(calls, device, seconds=seconds, most=200, title=str(size))
    return row(str(size), times, OURS, TORCH)


@torch.no_grad()
def without_cache(model: LanguageModel, tokens: Tensor, steps: int) -> Tensor:
    """Write greedily, reading the whole text again for every token."""
    for _ in range(steps):
        logits, _ = model(tokens)
        tokens = torch.cat((tokens, logits[:, -1:].argmax(dim=-1)), dim=1)
    return tokens


def writing_row(size: Size, device: torch.device, seconds: float) -> list[str]:
    """Return a table row: size, milliseconds with a cache, ratios of the others to it."""
    ours, theirs = course_model(size).to(device).eval(), llama(size).to(device)
    prompt = torch.randint(4, VOCAB, (size.batch, PROMPT)).to(device)
    options = {"max_new_tokens": size.steps, "do_sample": False, "attention_mask": torch.ones_like(prompt)}
    calls: dict[str, Callable[[], Tensor]] = {
        "with": lambda: generate(ours, prompt, size.steps, temperature=0),
        "without": lambda: without_cache(ours, prompt, size.steps),
        "static": lambda: generate(ours, prompt, size.steps, temperature=0, static_cache=True),
        LLAMA: lambda: theirs.generate(prompt, **options),  # type: ignore[operator]
    }
    written = {name: call() for name, call in calls.items()}
    assert torch.equal(written["with"], written["without"])
    assert torch.equal(written["with"], written["static"])
    assert written[LLAMA].shape == written["with"].shape
    times = measure.interleaved(calls, device, seconds=seconds, most=20, title=str(size))
    first = f"{statistics.median(times['with']) * 1e3:.0f}"
    return [
        str(size),
        first,
        *(f"{measure.ratio(times, name, 'with'):.2f}" for name in ("static", "without", LLAMA)),
    ]


def row(title: str, times: dict[str, list[float]], name: str, reference: str) -> list[str]:
    """Return title, both medians in milliseconds, and the ratio."""
    medians = [f"{statistics.median(times[each]) * 1e3:.1f}" for each in (name, reference)]
    return [title, *medians, f"{measure.ratio(times, name, reference):.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each size, about")
    parser.add_argument("--cpu", action="store_true", help="even where there is a GPU")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = torch.device("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")
    sizes = "batch × steps × width × heads × layers"
    header = (f"training step, {sizes}", f"{OURS} ms", f"{TORCH} ms", "ratio")
    parts = [f"# Language model: {describe(device)}"]
    parts.append(markdown(header, [training_row(size, device, arguments.seconds) for size in TRAINING]))
    print("\n\n".join(parts), flush=True)
    header = (
        f"tokens written, {sizes}",
        "with a cache, ms",
        "static cache, of it",
        "without, of it",
        f"{LLAMA}, of it",
    )
    parts.append(markdown(header, [writing_row(size, device, arguments.seconds) for size in WRITING]))
    print(f"\n{parts[-1]}")
    (FOLDER / "language_model.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
