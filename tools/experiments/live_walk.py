"""Record what networks compute on their way through one sentence, for the walks and the short walk on home.

``python -m tools.experiments.live_walk [LANGUAGE …]`` writes ``tools/site/live/models/run-LANGUAGE.json``:
the run that the home page plays before any network is loaded, into the edition's own language. The French run
is that of the site's network, ``transformer-fr.js``. For the other languages a network is trained in the same
way, with seed 0 (half a minute each), and only its run is kept.
"""

import argparse
import json
from typing import Any

import torch
from torch import Tensor, nn

from mha_course.attention import MultiHeadAttention, join_heads, split_heads
from mha_course.corpus import TARGETS, Vocabulary, load_corpus
from mha_course.language_model import LanguageModel, RotaryAttention, rotary
from mha_course.translation import translate_all
from tools.experiments.layouts import SENTENCE
from tools.experiments.live_models import FOLDER, load_model, train
from tools.experiments.runs import Vocabularies

HEAD = 2  # of the first block: the head with which the walk begins
RANKED = 4  # tokens that could come first
INPUTS_SHOWN = ("norm_1", "norm_2", "norm_3", "norm", "W_o")


def intermediate(
    model: Any, vocabularies: Vocabularies, source: list[str], target: list[str]
) -> dict[str, Tensor]:
    """Return all results of a Transformer for a pair: `outputs`, and attention's scores and weights."""
    source_words, target_words = vocabularies
    read = torch.tensor([[*source_words[source], source_words.eos]])  # (1, source steps)
    written = torch.tensor([[target_words.bos, *target_words[target]]])  # (1, target steps)
    kept = outputs(model, read, written)
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            projected = (kept[f"{name}.W_q"], kept[f"{name}.W_k"])
            kept |= attention(name, *projected, module.num_heads, is_causal="self_attention" in name)
    return kept


def intermediate_of_language_model(
    model: LanguageModel, vocabulary: Vocabulary, prompt: list[str]
) -> dict[str, Tensor]:
    """Return the same of a language model that reads a prompt, and its turned queries and keys."""
    kept = outputs(model, torch.tensor([[vocabulary.bos, *vocabulary[prompt]]]))
    for name, module in model.named_modules():
        if isinstance(module, RotaryAttention):
            for letter, turned in (("q", "queries"), ("k", "keys")):
                heads = split_heads(kept[f"{name}.W_{letter}"][None], module.num_heads)
                kept[f"{name}.{turned}"] = join_heads(rotary(heads))[0]  # (steps, num_hiddens)
            projected = (kept[f"{name}.queries"], kept[f"{name}.keys"])
            kept |= attention(name, *projected, module.num_heads, is_causal=True)
    return kept


def attention(name: str, queries: Tensor, keys: Tensor, num_heads: int, is_causal: bool) -> dict[str, Tensor]:
    """Return scores, before they are divided, and weights of each query, head and key."""
    asked, known = (rows.view(len(rows), num_heads, -1) for rows in (queries, keys))
    scores = torch.einsum("qhf,khf->qhk", asked, known)  # (queries, heads, keys)
    if is_causal:
        future = torch.ones(scores.shape[0], scores.shape[2]).triu(1).bool()  # (queries, keys)
        scores = scores.masked_fill(future[:, None], -torch.inf)
    return {f"{name}.scores": scores, f"{name}.weights": (scores / asked.shape[-1] ** 0.5).softmax(dim=-1)}


@torch.no_grad()
def outputs(model: nn.Module, *inputs: Tensor) -> dict[str, Tensor]:
    """Return the output of each module of a forward pass by its name, and inputs as `name.input`."""
    kept: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Any) -> None:
            if isinstance(output, Tensor | tuple):
                kept[name] = (output if isinstance(output, Tensor) else output[0])[0]
            if name.rpartition(".")[2] in INPUTS_SHOWN:
                kept[f"{name}.input"] = inputs[0][0]

        return hook

    handles = [module.register_forward_hook(keep(name)) for name, module in model.named_modules() if name]
    model(*inputs)
    for handle in handles:
        handle.remove()
    return kept


def short_run(model: Any, vocabularies: Vocabularies, language: str) -> dict[str, Any]:
    """Translate the running example; return what the pictures of the home page show, rounded."""
    (pair,) = (pair for pair in load_corpus(language, "test") if pair.source == tuple(SENTENCE.split()))
    (written,) = translate_all(model, [SENTENCE.split()], *vocabularies)
    rows = intermediate(model, vocabularies, SENTENCE.split(), written.tokens)
    attention, looks = "encoder.blocks.0.attention", f"decoder.blocks.{len(model.decoder.blocks) - 1}"
    size = rows[f"{attention}.W_q"].shape[1] // model.encoder.blocks[0].attention.num_heads
    probabilities = rows["decoder.dense"].softmax(dim=-1)
    best = probabilities[0].topk(RANKED)
    names = vocabularies[1].to_tokens(best.indices.tolist())
    numbers = {
        "positions": rows["encoder.positions"],
        **{letter: rows[f"{attention}.W_{letter}"][:, HEAD * size : (HEAD + 1) * size] for letter in "qkv"},
        "weights": rows[f"{attention}.weights"][:, HEAD],
        "joined": rows[f"{attention}.W_o.input"],
        "memory": rows["encoder.norm"],
        "looks": rows[f"{looks}.cross_attention.weights"].mean(dim=1)[: len(written.tokens)],
    }
    return {
        "source": written.source,
        "ids": [*vocabularies[0][SENTENCE.split()], vocabularies[0].eos],
        "target": written.tokens,
        "gold": pair.alignment,  # the home page's networks translate this sentence as the corpus does
        "heads": model.encoder.blocks[0].attention.num_heads,
        "first": names,
        "best": [round(value, 4) for value in best.values.tolist()],
        **{key: rounded(values.tolist()) for key, values in numbers.items()},
    }


def rounded(numbers: Any) -> Any:
    """Round all numbers of nested lists to two decimals, as far as a picture shows them."""
    return [rounded(row) for row in numbers] if isinstance(numbers, list) else round(numbers, 2)


def network(language: str) -> tuple[Any, Vocabularies]:
    """Return the site's network, or where it has none for this language, one that is trained like it."""
    name = f"transformer-{language}"
    return load_model(name) if (FOLDER / f"{name}.js").exists() else train(name, 0)


def main() -> None:
    """Write the runs of the home pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", default=[*TARGETS])
    torch.set_num_threads(1)
    for language in parser.parse_args().languages:
        run = short_run(*network(language), language)
        print(language, *run["target"], flush=True)
        text = json.dumps(run, ensure_ascii=False, separators=(",", ":"))
        (FOLDER / f"run-{language}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
