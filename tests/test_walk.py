"""The walk through the Transformer: every number that it shows is PyTorch's."""

from typing import Any

import torch
from torch import Tensor, nn

from mha_course.attention import MultiHeadAttention
from mha_course.corpus import Vocabulary
from tests.test_live import TEST, in_javascript
from tools.experiments.live_models import load_model

COURSE_SENTENCE = ("give", "me", "two", "new", "hats", ".")
UNKNOWN = ("give", "me", "two", "zebras", ".")
TRACED = [COURSE_SENTENCE, UNKNOWN, *TEST["fr"][:18]]
INPUTS_SHOWN = ("norm_1", "norm_2", "norm_3", "norm", "W_o")


@torch.no_grad()
def intermediate(
    model: Any, source_words: Vocabulary, target_words: Vocabulary, source: tuple[str, ...], target: list[str]
) -> dict[str, Tensor]:
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
    read = torch.tensor([[*source_words[list(source)], source_words.eos]])  # (1, source steps)
    written = torch.tensor([[target_words.bos, *target_words[target]]])  # (1, target steps)
    model(read, written)
    for handle in handles:
        handle.remove()
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            queries, keys = (
                kept[f"{name}.{matrix}"].unflatten(-1, (module.num_heads, -1)) for matrix in ("W_q", "W_k")
            )
            scores = torch.einsum("qhf,khf->qhk", queries, keys)  # (queries, heads, keys)
            if "self_attention" in name:
                future = torch.ones(scores.shape[0], scores.shape[2]).triu(1).bool()  # (queries, keys)
                scores = scores.masked_fill(future[:, None], -torch.inf)
            kept[f"{name}.scores"] = scores
            kept[f"{name}.weights"] = (scores / queries.shape[-1] ** 0.5).softmax(dim=-1)
    return kept


def test_every_intermediate_tensor_of_the_walk_is_pytorchs() -> None:
    model, vocabularies = load_model("transformer-fr")
    (traced,) = in_javascript("transformer-fr", [{"sentences": TRACED, "options": {"trace": True}}])
    for source, one in zip(TRACED, traced, strict=True):
        expected = intermediate(model, *vocabularies, source, one["tokens"])
        assert {name for name in one["rows"] if name not in expected} == set()
        for name, rows in one["rows"].items():
            assert len(rows) == len(expected[name]), name
            for i, row in enumerate(rows):
                own = torch.tensor(row, dtype=torch.float32)
                other = expected[name][i, ..., : own.shape[-1]]  # a decoder's step has no later keys
                assert torch.allclose(own, other, rtol=0, atol=1e-4), (source, name, i)
        hidden = {"encoder", "decoder", "encoder.positions.dropout", "decoder.positions.dropout"}
        missing = {name for name in expected if name not in one["rows"]} - hidden
        assert {name.rpartition(".")[2] for name in missing} <= {"ffn", "dropout"}, missing
