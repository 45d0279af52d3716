"""What pages write themselves equals the package and autograd."""

import math
import re
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from page_code import COURSE, names_of
from tolerance import assert_close
from torch import nn

from mha_course.attention import (
    AdditiveAttention,
    DotProductAttention,
    MultiHeadAttention,
    join_heads,
    split_heads,
)
from mha_course.corpus import Pair, Vocabulary, batches, load_corpus
from mha_course.heads import Head, masked_heads
from mha_course.language_model import LanguageModel, rotary, rotary_angles
from mha_course.masking import causal_mask, length_mask
from mha_course.practice import inside_language_models
from mha_course.results import stored_results
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything, shift_right
from mha_course.transformer import PositionalEncoding, Transformer, feed_forward
from mha_course.translation import translate_all
from tools.course import cells
from tools.experiments.live_models import load_model
from tools.experiments.parts import BilinearAttention


@pytest.mark.parametrize("mask", [causal_mask(5), torch.ones(5, 5, dtype=torch.bool)])
def test_self_attention_of_the_page_equals_the_package(mask: torch.Tensor) -> None:
    self_attention = names_of("attention-pooling", "self-attention-code")["self_attention"]
    X, W = torch.randn(5, 8, dtype=torch.float64), torch.randn(3, 8, 4, dtype=torch.float64)
    output, weights = self_attention(X, *W, mask)
    queries, keys, values = ((X @ matrix)[None] for matrix in W)
    expected = DotProductAttention()(queries, keys, values, mask=mask, need_weights=True)
    assert_close(output, expected[0][0])
    assert_close(weights, expected[1][0])


def test_three_scores_by_hand_equal_the_code() -> None:
    names = names_of("scoring-functions", "dot-product-by-hand", "bilinear-by-hand", "additive-by-hand")
    query, keys, swapped, W = (names[name] for name in ("query", "keys", "swapped", "W"))
    assert (keys @ query).tolist() == (query @ W @ swapped.T).tolist() == [3, 2, 1]
    assert (swapped @ query).tolist() == [1, 2, 3]
    W_q, W_k, w_v = (names[name] for name in ("W_q", "W_k", "w_v"))
    assert (W_q @ query).tolist() == [-1, -3] and (swapped[0] @ W_k.T).tolist() == [2, 2]
    scores = torch.tanh(W_q @ query + swapped @ W_k.T) @ w_v  # (keys,)
    assert round(scores[0].item(), 3) == 1.523 and scores.argmax() == 0
    assert_close(names["hidden"] @ w_v, scores.flip(0))  # the second query, the first one turned round


def page_scores() -> tuple[Any, nn.Module, nn.Module]:
    """Return the three scores that the page on scoring functions writes, for queries of 4 and keys of 6."""
    names = names_of("scoring-functions", "map-additive", "map-scores-code")
    return names["dot"], names["Bilinear"](4, 6).double(), names["Additive"](4, 6, 5).double()


def test_scores_of_the_page_equal_the_package() -> None:
    dot, bilinear, additive = page_scores()
    queries, keys = torch.randn(2, 3, 4).double(), torch.randn(2, 7, 6).double()
    _, weights = DotProductAttention()(queries, keys[..., :4], keys, need_weights=True)
    assert_close(dot(queries, keys[..., :4]).softmax(-1), weights)
    _, weights = DotProductAttention()(queries @ bilinear.W * math.sqrt(6), keys, keys, need_weights=True)
    assert_close(bilinear(queries, keys).softmax(-1), weights)
    attention = AdditiveAttention(5, query_size=4, key_size=6).double()
    attention.load_state_dict(additive.state_dict())
    assert_close(additive(queries, keys).softmax(-1), attention(queries, keys, keys, need_weights=True)[1])


def test_scores_change_their_sign_as_the_solution_says() -> None:
    _, bilinear, additive = page_scores()
    queries, keys = torch.randn(2, 3, 4).double(), torch.randn(2, 7, 6).double()
    assert_close(additive(-queries, -keys), -additive(queries, keys))
    assert_close(bilinear(-queries, keys), -bilinear(queries, keys))
    additive.W_q = nn.Linear(4, 5).double()
    with pytest.raises(AssertionError):
        assert_close(additive(-queries, -keys), -additive(queries, keys))


@pytest.mark.parametrize("beta", [1, 1 / 32])
def test_gradient_of_two_keys_equals_autograd(beta: float) -> None:
    query, keys = torch.randn(1024).double().requires_grad_(), torch.randn(2, 1024).double() / 8
    values = torch.tensor([1.0, 0.0]).double()
    weights = torch.softmax(beta * keys @ query, dim=0)
    (gradient,) = torch.autograd.grad(weights @ values, query)
    assert_close(gradient, beta * weights[0] * (1 - weights[0]) * (keys[0] - keys[1]), gradient=True)


TRANSLATOR = ("gru-encoder", "gru-decoder", "forcing-shift", "training-loop", "greedy-search")


def translator_of_the_page() -> dict[str, Any]:
    """Return the names of the page's translator: its own classes, loop and search, on few pairs."""
    pairs = load_corpus("fr", "train")[:256]
    vocabularies = Vocabulary([pair.source for pair in pairs]), Vocabulary([pair.target for pair in pairs])
    given = {
        "Vocabulary": Vocabulary, "batches": batches, "pairs": pairs, "seed": 0,
        "vocabularies": vocabularies, "source_vocabulary": vocabularies[0],
        "target_vocabulary": vocabularies[1], "batch": batches(pairs[:3], *vocabularies)[0],
        "pack_padded_sequence": nn.utils.rnn.pack_padded_sequence,
        "cross_entropy": nn.functional.cross_entropy,
    }  # fmt: skip
    names = names_of("sequence-to-sequence", *TRANSLATOR, given=given)
    seed_everything(0)
    names["encoder"] = names["GRUEncoder"](len(vocabularies[0]), 16)
    names["decoder"] = names["GRUDecoder"](len(vocabularies[1]), 16)
    return names


def package_twin(names: dict[str, Any]) -> EncoderDecoder:
    """Return the package's model with the weights of the page's."""
    model = EncoderDecoder(
        Seq2SeqEncoder(len(names["source_vocabulary"]), 16, 16, 1),
        Seq2SeqDecoder(len(names["target_vocabulary"]), 16, 16, 1),
    )
    model.encoder.load_state_dict(names["encoder"].state_dict())
    model.decoder.load_state_dict(names["decoder"].state_dict())
    return model


def test_encoder_and_decoder_of_the_page_equal_the_package() -> None:
    names = translator_of_the_page()
    source, lens, target, _ = batches(names["pairs"][:40], *names["vocabularies"])[0]
    assert len(set(lens.tolist())) > 1, "some sentences are padded"
    state = names["encoder"](source, lens)
    logits, after = names["decoder"](target, state[-1], state)
    expected, expected_state = package_twin(names)(source, target, lens)
    assert_close(logits, expected)
    assert_close(after, expected_state.hidden_state)


def test_training_and_greedy_search_of_the_page_equal_the_package() -> None:
    names = translator_of_the_page()
    model = package_twin(names)
    names["train"](names["encoder"], names["decoder"], epochs=3, learning_rate=0.005)
    fit(model, names["pairs"], *names["vocabularies"], epochs=3, learning_rate=0.005, progress=False)
    for ours, expected in zip(package_twin(names).parameters(), model.parameters(), strict=True):
        assert (ours - expected).abs().max() <= 1e-4  # Adam is fused in the one and not in the other
    sources = [pair.source for pair in names["pairs"][:20]]
    written = [one.tokens for one in translate_all(package_twin(names), sources, *names["vocabularies"])]
    assert [names["translate"](source) for source in sources] == written


def test_decoder_of_the_page_equals_the_package() -> None:
    names = names_of("bahdanau-attention", "imports", "decoder-class")
    own, package = names["BahdanauDecoder"](9, 8), Seq2SeqAttentionDecoder(9, 8, 8, 1, initial_state="zero")
    package.load_state_dict(own.state_dict())
    lens, tokens = torch.tensor([5, 2]), torch.randint(9, (2, 4))
    encoded = Seq2SeqEncoder(7, 8, 8, 1)(torch.randint(7, (2, 5)), lens)
    found = [decoder(tokens, decoder.init_state(encoded, lens)) for decoder in (own, package)]
    assert_close(found[0][0], found[1][0])
    assert_close(found[0][1][1], found[1][1].hidden_state)
    assert_close(own.attention_weights, package.attention_weights)


def test_languages_are_measured_on_the_page_as_in_the_table() -> None:
    cells = ("imports", "ruler-function", "solution-language")
    given = {"load_corpus": load_corpus, "stored_results": stored_results}
    names = names_of("bahdanau-attention", *cells, given=given)
    names["train_model"] = lambda target, bidirectional: load_model(f"bahdanau-{target}")
    row = next(row for row in stored_results("languages") if (row["language"], row["seed"]) == ("tr", 0))
    (every, words), rulers = names["measure"]("tr")
    assert every == pytest.approx(row["alignment"], abs=0.02)  # the site's network is in half precision
    assert words == pytest.approx(row["words"], abs=0.02)
    assert rulers == pytest.approx([row["ruler"], row["ruler_words"]], abs=5e-4)


SPLIT = {"split_heads": split_heads, "join_heads": join_heads}


@pytest.mark.parametrize("mask", [None, causal_mask(5), torch.arange(5) < 3])
def test_layer_of_the_page_equals_the_package(mask: torch.Tensor | None) -> None:
    names = names_of("multi-head-attention", "layer-code", given=SPLIT)
    layer, package = names["MultiHead"](12, 3, 4).double(), MultiHeadAttention(12, 3).double()
    package.load_state_dict(layer.state_dict())
    queries, keys, values = torch.randn(3, 2, 5, 12, dtype=torch.float64)
    output, weights = layer(queries, keys, values, mask)
    whole = None if mask is None else mask.expand(5, 5)
    expected = package(queries, keys, values, mask=whole, need_weights=True)
    assert_close(output, expected[0])
    assert_close(weights, expected[1])


def test_layer_of_the_page_has_the_parameters_that_the_page_counts() -> None:
    layer = names_of("multi-head-attention", "layer-code", given=SPLIT)["MultiHead"]
    for heads, width in ((1, 100), (5, 20), (20, 5), (3, 7)):
        assert sum(p.numel() for p in layer(100, heads, width).parameters()) == 4 * 100 * heads * width


def test_refresher_and_first_chapter_share_their_example() -> None:
    names = names_of("refresher", "dot-code", "softmax-code", "dot-matrix-code")
    chapter = names_of("attention-pooling", "by-hand-scores")
    assert_close(names["shares"], chapter["weights"])
    assert_close(names["table"][0], chapter["scores"])


TILES = ("plain-code", "blocked-code")


@pytest.mark.parametrize("B", [1, 2, 3, 8, 12, 16, 24, 48])
def test_tiles_of_the_page_give_attention_and_move_what_the_formula_says(B: int) -> None:
    names = names_of("efficient-attention", *TILES)
    Q, K, V = torch.randn(3, 48, 5, dtype=torch.float64)
    output, logs, moved = names["tiled_attention"](Q, K, V, B)
    assert_close(output, nn.functional.scaled_dot_product_attention(Q, K, V))
    assert_close(output, names["attention"](Q, K, V))
    assert_close(logs[:, 0], (Q @ K.T / math.sqrt(5)).logsumexp(-1))
    assert moved == 2 * 48 * 5 * (1 + 48 / B)


def test_online_softmax_by_hand_equals_the_tiles() -> None:
    scores, values = torch.tensor([[1.0, 3], [2, 4]]), torch.tensor([[10.0, 20], [30, 40]])
    M, s, o = -math.inf, 0.0, 0.0
    for expected, a, v in zip(((3, 1.135, 21.353), (4, 1.553, 51.916)), scores, values, strict=True):
        old, M = M, max(M, a.max().item())
        s = math.exp(old - M) * s + (a - M).exp().sum().item()
        o = math.exp(old - M) * o + ((a - M).exp() @ v).item()
        assert (M, s, o) == pytest.approx(expected, abs=5e-4)
    tiled = names_of("efficient-attention", *TILES)["tiled_attention"]
    output, *_ = tiled(torch.ones(1, 1), scores.reshape(4, 1), values.reshape(4, 1), 2)
    assert output.item() == pytest.approx(o / s) == pytest.approx(33.43, abs=5e-3)


@pytest.mark.parametrize("n", [5, 128, 150])
def test_backward_pass_of_the_page_equals_autograd(n: int) -> None:
    tiled = names_of("efficient-attention", *TILES, "backward-code")["TiledAttention"].apply
    inputs = torch.randn(3, 1, 2, n, 4, dtype=torch.float64).requires_grad_().unbind()
    upstream = torch.randn(1, 2, n, 4, dtype=torch.float64)
    expected = nn.functional.scaled_dot_product_attention(*inputs)
    assert_close(tiled(*inputs), expected)
    gradients = torch.autograd.grad(tiled(*inputs), inputs, upstream)
    for ours, theirs in zip(gradients, torch.autograd.grad(expected, inputs, upstream), strict=True):
        assert_close(ours, theirs, gradient=True)
    if n == 5:
        assert torch.autograd.gradcheck(tiled, inputs)


def transformer_of_the_page() -> dict[str, Any]:
    given = {"MultiHeadAttention": MultiHeadAttention, "feed_forward": feed_forward}
    blocks = ("encoder-block-code", "decoder-block-code", "model-plain")
    return names_of("transformer", "positions-code", *blocks, given=given)


def test_transformer_of_the_page_equals_the_package() -> None:
    plain, package = transformer_of_the_page()["PlainTransformer"]((9, 8)), Transformer(9, 8)
    renamed = {"encoder.": "encoder.blocks.", "decoder.": "decoder.blocks.", "W.": "decoder.dense."}
    renamed |= {f"{side}_norm.": f"{side}.norm." for side in ("encoder", "decoder")}
    renamed |= {"embed_source.": "encoder.embedding.", "embed_target.": "decoder.embedding."}
    weights = {
        re.sub(r"^\w+\.", lambda name: renamed[name[0]], name): value
        for name, value in plain.state_dict().items()
    }
    package.load_state_dict(weights)
    source, target = torch.randint(9, (3, 6)), torch.randint(8, (3, 5))
    assert_close(plain(source, target), package(source, target)[0])


def test_positions_of_the_page_equal_the_package() -> None:
    names = transformer_of_the_page()
    assert (names["positional_encoding"](40, 32) - PositionalEncoding(32).P[:40]).abs().max() <= 1e-5


def test_rotary_positions_of_the_page_equal_the_package() -> None:
    rotate = names_of("transformer", "rotary-code")["rotate"]
    halves = torch.cat((torch.arange(0, 32, 2), torch.arange(1, 32, 2)))  # the package pairs m with m + d/2
    X = torch.randn(40, 32)
    assert (rotate(X)[:, halves] - rotary(X[:, halves])).abs().max() <= 1e-4


def test_heads_are_switched_off_by_hand_as_by_the_package() -> None:
    pairs = load_corpus("fr", "test")[:6]
    vocabularies = Vocabulary([p.source for p in pairs]), Vocabulary([p.target for p in pairs])
    model = Transformer(*map(len, vocabularies)).eval()
    blocks = model.decoder.blocks

    def outputs(model: Transformer, pairs: Sequence[Pair]) -> torch.Tensor:
        (batch,) = batches(pairs, *vocabularies, len(pairs))
        with torch.no_grad():
            return model(batch.source, shift_right(batch.target, vocabularies[1].bos), batch.source_lens)[0]

    given = {"model": model, "vocabularies": vocabularies, "dev_pairs": pairs, "test_pairs": pairs}
    given |= {"batches": batches, "shift_right": shift_right, "length_mask": length_mask, "match": outputs}
    names = names_of("looking-at-heads", "intervene-code", "intervene-means", given=given)
    off = [(0, 2), (1, 0), (1, 3)]
    with masked_heads(model, [Head(f"decoder.blocks.{layer}.cross_attention", head) for layer, head in off]):
        expected = outputs(model, pairs)
    assert_close(names["exact_without"](off, names["zeros"]), expected)
    assert not torch.allclose(outputs(model, pairs), expected)
    assert not any(block.cross_attention.W_o._forward_pre_hooks for block in blocks)
    # padding does not count: each sentence by itself, which has none, gives the same average
    steps = torch.tensor([len(pair.target) + 1 for pair in pairs])  # with <eos>
    assert len(steps.unique()) > 1
    means = torch.stack([names["mean_outputs"]([pair]) for pair in pairs])  # (pairs, layers, heads, head_dim)
    assert_close(names["means"], (means * steps[:, None, None, None]).sum(0) / steps.sum())


CONTEXTS = {
    "join_heads": join_heads,
    "split_heads": split_heads,
    "rotary": rotary,
    "rotary_angles": rotary_angles,
    "sdpa": nn.functional.scaled_dot_product_attention,
}


def test_reading_of_the_page_equals_the_package() -> None:
    read = names_of("long-contexts", "read-code", given=CONTEXTS)["read"]
    model, tokens = LanguageModel(7).eval(), torch.randint(7, (3, 12))
    assert_close(read(model, tokens, torch.arange(12), causal_mask(12)), model(tokens)[0])


@pytest.mark.parametrize("window", [1, 4, 16])
@torch.no_grad()
def test_rolling_cache_of_the_page_equals_its_window(window: int) -> None:
    names = names_of("long-contexts", "read-code", "window-code", "rolling-code", given=CONTEXTS)
    read, model = names["read"], LanguageModel(7).eval()
    tokens, caches = torch.randint(7, (64, 12)), [names["RollingCache"](window) for _ in model.blocks]
    whole = read(model, tokens, torch.arange(12), names["window_mask"](12, window))
    steps = [read(model, tokens[:, [t]], torch.tensor([t]), caches=caches) for t in range(12)]
    assert_close(torch.cat(steps, dim=1), whole)


def test_memories_of_the_page_answer_as_by_hand() -> None:
    names = names_of("long-contexts", "recall-code", "delta-code")
    keys = torch.tensor([[[1.0, 0], [0, 1], [1, 0]]])
    values = torch.tensor([[[3.0, 1], [2, 5], [7, 7]]])
    queries = torch.tensor([[[1.0, 0], [0, 1]]])
    assert_close(names["sum_memory"](keys, values, queries)[0], torch.tensor([[10.0, 8], [2, 5]]))
    assert_close(names["delta_memory"](keys, values, queries)[0], torch.tensor([[7.0, 7], [2, 5]]))


def test_the_stripe_is_the_prefix_matching_score_of_repeated_tokens() -> None:
    names = names_of("inside-language-models", "induction-train", given={"F": nn.functional})
    tokens = names["repeated"](14, batch=3)[:, :-1]  # (batch, steps)
    weights = torch.randn(3, 27, 27).softmax(dim=-1)
    stripe = weights[:, 14:].diagonal(1, 1, 2).mean()
    scores = [
        inside_language_models.prefix_matching.solution(*pair) for pair in zip(weights, tokens, strict=True)
    ]
    assert_close(stripe, torch.stack(scores).mean())


def test_memory_and_parameters_of_the_scores_are_as_the_page_says() -> None:
    given = {"AdditiveAttention": AdditiveAttention, "DotProductAttention": DotProductAttention}
    names = names_of("swapping-parts", "dot-bilinear-class", "cost-bytes", given=given)
    n, d = 32, 64
    kept = {  # tensors that the gradient needs, in numbers of 4 bytes
        AdditiveAttention(d): n * n * d + n * n + 2 * n * d + 2 * d * d + d,
        names["BilinearAttention"](d): n * n + 3 * n * d + d * d,
        DotProductAttention(): n * n + 2 * n * d,
    }
    for attention, numbers in kept.items():
        assert names["kept_kib"](attention, n) == 4 * numbers / 1024
    parameters = [sum(one.numel() for one in attention.parameters()) for attention in kept]
    table = COURSE.read("en", "swapping-parts")
    row_ends = re.findall(r"\| ([\d,]+) \|$", cells(table, "markdown")["dot"].source, re.M)
    assert parameters == [int(number.replace(",", "")) for number in row_ends]


def test_the_bilinear_score_of_page_and_experiment_is_the_dot_product_with_mapped_keys() -> None:
    given = {"DotProductAttention": DotProductAttention}
    names = names_of("swapping-parts", "dot-bilinear-class", given=given)
    ours, stored = names["BilinearAttention"](4), BilinearAttention(4)
    stored.load_state_dict(ours.state_dict())
    queries, keys = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    expected = DotProductAttention()(queries, keys @ ours.W.weight.T, keys)
    assert_close(ours(queries, keys, keys), expected)
    assert_close(stored(queries, keys, keys), expected)
