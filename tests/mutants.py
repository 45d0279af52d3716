"""Plants faults in a copy of the package, one at a time, and sees the tests catch them (``make mutants``).

Each fault replaces a piece of text that occurs once. The tests that belong to the module run against the copy and
stop at the first failure. A fault that no test catches makes the command fail, unless it is shown to change nothing.
Words on the command line choose the faults whose module or description holds one of them.
"""

# ruff: noqa: E501 - the table of faults has one line a fault

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
WORKERS = 2
LIMIT = 600  # seconds: a run that hangs counts as caught

TESTS = {
    "checks": ("test_masking", "test_attention"),
    "masking": ("test_masking", "test_attention"),
    "attention": ("test_attention", "test_properties"),
    "seq2seq": ("test_seq2seq", "test_training", "test_translation"),
    "training": ("test_training",),
    "translation": ("test_translation",),
    "metrics": ("test_metrics",),
    "corpus": ("test_corpus", "test_training"),
    "transformer": ("test_transformer",),
    "heads": ("test_heads",),
    "convert": ("test_convert",),
    "download": ("test_download",),
}


class Fault(NamedTuple):
    """One fault: what it is, and the text that becomes another."""

    module: str
    what: str
    old: str
    new: str
    equivalent: str = ""
    """Why nothing can tell it from the original; empty where a test has to."""


CLEAN = """        keys, values = clean_padding(keys, values, allowed)
"""
MASK = """        allowed = attention_mask(valid_lens, mask, shape, queries.device)
"""
SINGLE = """        shape = (*queries.shape[:2], keys.shape[1])
"""
MULTI = """        shape = (queries.shape[0], self.num_heads, queries.shape[1], keys.shape[1])
"""
DROPOUT = """        dropout = self.dropout.p if self.training else 0.0
"""
SPLIT_QUERIES = """        queries = split_heads(self.W_q(queries), self.num_heads)  # (batch, heads, queries, head_dim)
"""

FAULTS = [
    # ---- masking ----
    Fault("masking", "<= for < in the length mask", "device) < valid_lens", "device) <= valid_lens"),
    Fault("masking", "lengths counted from the end", "torch.arange(max_len, ", "torch.arange(max_len - 1, -1, -1, "),
    Fault("masking", "causal mask upside down", ".tril()", ".triu()"),
    Fault("masking", "causal mask without the diagonal", ".tril()", ".tril(-1)"),
    Fault("masking", "causal mask one step ahead", ".tril()", ".tril(1)"),
    Fault("masking", "fill of -1e6", '(~nothing, float("-inf"))', "(~nothing, -1e6)"),
    Fault("masking", "fill of -1e9", '(~nothing, float("-inf"))', "(~nothing, -1e9)"),
    Fault("masking", "rows without keys not set before the softmax", ".masked_fill(~nothing, float", ".masked_fill(nothing | True, float"),
    Fault("masking", "rows without keys not set after it", "softmax(-1).masked_fill(nothing, 0.0)", "softmax(-1)"),
    Fault("masking", "softmax over the wrong axis", "softmax(-1).masked_fill", "softmax(-2).masked_fill"),
    Fault("masking", "softmax over the wrong axis without a mask", "return scores.softmax(-1)\n    n", "return scores.softmax(-2)\n    n"),
    Fault("masking", "rows with one masked key count as empty", "~allowed.any(-1", "~allowed.all(-1"),
    Fault("masking", "the mask the wrong way round", "torch.where(allowed, scores", "torch.where(~allowed, scores"),
    Fault("masking", "scores written into", "torch.where(allowed, scores, fill)", "scores.copy_(torch.where(allowed, scores, fill))"),
    Fault("masking", "the shortcut also where a row is empty", "if inplace and not any_true(nothing):", "if inplace:"),
    Fault("masking", "the shortcut never taken", "if inplace and not any_true(nothing):", "if False:"),
    Fault("masking", "the shortcut without being asked for", "if inplace and not", "if not"),
    Fault("masking", "the shortcut with -1e9", '0.0, float("-inf"))', "0.0, -1e9)"),
    Fault("masking", "the shortcut with the mask the wrong way round", "torch.where(allowed, 0.0, float", "torch.where(~allowed, 0.0, float"),
    Fault("masking", "flags read while compiling", "return torch.compiler.is_compiling() or tracing", "return tracing"),
    Fault("masking", "flags read while tracing", "() or tracing", "()"),
    Fault("masking", "flags taken to be False under vmap", "# under vmap\n        return True", "# under vmap\n        return False"),
    Fault("masking", "keys that some query attends to are cleaned", "allowed.flatten(1, -2).any(1)", "allowed.flatten(1, -2).all(1)"),
    Fault("masking", "keys not cleaned", "return keys.where(attended, 0)", "return keys"),
    Fault("masking", "values not cleaned", "values.where(attended, 0)", "values"),
    Fault("masking", "the caller's values written into", "values.where(attended, 0)", "values.masked_fill_(~attended, 0)"),
    Fault("masking", "lengths or mask instead of both", "within & mask", "within | mask"),
    Fault("masking", "mask alone where there are lengths too", "within & mask", "mask"),
    Fault("masking", "lengths on the wrong axis of heads", "within.unsqueeze(1)  # (batch, 1, 1", "within.unsqueeze(2)  # (batch, 1, 1"),
    Fault("checks", "a full length is refused", "high > most", "high >= most"),
    Fault("checks", "lengths above the keys pass", "high > most", "False"),
    Fault("checks", "negative lengths pass", "if low < 0 or", "if"),
    Fault("checks", "lengths read while compiling", "if torch.compiler.is_compiling() or not numbers", "if not numbers"),
    Fault("checks", "lengths of another shape pass", "if shapes is not None and tuple", "if False and tuple"),
    Fault("checks", "lengths on another device pass", "if device is not None and tensor.device != device", "if False"),
    # ---- checks ----
    Fault("checks", "a mask of numbers passes", "if mask.dtype != torch.bool:", "if False:"),
    Fault("checks", "a mask of the batch is read as one of the heads", "if len(shape) == 4 and mask.dim() == 3", "if False"),
    Fault("checks", "lengths of booleans pass", "torch.uint8)", "torch.uint8, torch.bool)"),
    Fault("checks", "heads that do not divide pass", "if num_hiddens % num_heads:", "if False:"),
    Fault("checks", "dropout of 1 is refused", "not 0 <= dropout <= 1", "not 0 <= dropout < 1"),
    Fault("checks", "negative dropout passes", "not 0 <= dropout <= 1", "not dropout <= 1"),
    Fault("checks", "True counts as a size", "if isinstance(number, bool) or not isinstance(number, (int,", "if not isinstance(number, (int,"),
    Fault("checks", "batch sizes that differ pass", "if tensor.shape[0] != queries.shape[0]:", "if False:"),
    Fault("checks", "more keys than values pass", "if values.shape[1] != keys.shape[1]:", "if False:"),
    Fault("checks", "types that differ pass", "if tensor.dtype != other.dtype:", "if False:"),
    Fault("checks", "autocast refused", "if not autocast or", "if True or"),
    Fault("checks", "any value is a flag", "check_type(name, flag, bool,", "check_type(name, flag, object,"),
    # ---- attention ----
    Fault("attention", "no 1/√d", "queries / math.sqrt(queries.shape[-1]) @", "queries @"),
    Fault("attention", "1/√num_hiddens", "math.sqrt(queries.shape[-1])", "math.sqrt(queries.shape[-1] * queries.shape[1])"),
    Fault("attention", "1/d", "math.sqrt(queries.shape[-1])", "queries.shape[-1]"),
    Fault("attention", "no 1/√d in the fused path", "values, allowed, dropout), None", "values, allowed, dropout, scale=1.0), None"),
    Fault("attention", "no mask in the fused path", "values, allowed, dropout), None", "values, None, dropout), None"),
    Fault("attention", "no dropout in the fused path", "values, allowed, dropout), None", "values, allowed), None"),
    Fault("attention", "no mask in the path with weights", "masked_softmax(scores, mask=allowed, inplace=True)\n    return", "masked_softmax(scores, inplace=True)\n    return"),
    Fault("attention", "no dropout in the path with weights", "F.dropout(weights, dropout) @ values, weights", "weights @ values, weights"),
    Fault("attention", "weights after dropout", "return F.dropout(weights, dropout) @ values, weights", "weights = F.dropout(weights, dropout)\n    return weights @ values, weights"),
    Fault("attention", "dot product: dropout in evaluation", DROPOUT + "        allowed =", "        dropout = self.dropout.p\n        allowed ="),
    Fault("attention", "multi-head: dropout in evaluation", SPLIT_QUERIES + DROPOUT, SPLIT_QUERIES + "        dropout = self.dropout.p\n"),
    Fault("attention", "additive: dropout in evaluation", "self.dropout(weights) @ values", "F.dropout(weights, self.dropout.p) @ values"),
    Fault("attention", "additive: no dropout", "self.dropout(weights) @ values", "weights @ values"),
    Fault("attention", "additive: no tanh", "torch.tanh(queries + keys.unsqueeze(1))", "(queries + keys.unsqueeze(1))"),
    Fault("attention", "additive: keys subtracted", "torch.tanh(queries + keys", "torch.tanh(queries - keys"),
    Fault("attention", "additive: no mask", "masked_softmax(scores, mask=allowed)\n        output", "masked_softmax(scores)\n        output"),
    Fault("attention", "additive: keys projected as queries", "return self.W_k(keys), values", "return self.W_q(keys), values"),
    Fault("attention", "additive: padding not cleaned", SINGLE + MASK + CLEAN + "        return self.attend(queries, *self.project(keys, values), allowed, need_weights)\n\n    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:\n        \"\"\"Project the keys", SINGLE + MASK + "        return self.attend(queries, *self.project(keys, values), allowed, need_weights)\n\n    def project(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:\n        \"\"\"Project the keys"),
    Fault("attention", "multi-head: padding not cleaned", MULTI + MASK + CLEAN, MULTI + MASK),
    Fault("attention", "features split among the heads without moving the axis", "return X.transpose(1, 2)  # (batch, heads", "return X.reshape(batch, num_heads, n, -1)  # (batch, heads"),
    Fault("attention", "heads and features exchanged when splitting", "n, num_heads, num_hiddens // num_heads)  #", "n, num_hiddens // num_heads, num_heads).transpose(2, 3)  #"),
    Fault("attention", "heads joined without moving the axis", "return X.transpose(1, 2).flatten(2)", "return X.flatten(2).reshape(X.shape[0], X.shape[2], -1)"),
    Fault("attention", "heads folded before the batch", "split_heads(X, num_heads).flatten(0, 1)", "split_heads(X, num_heads).transpose(0, 1).flatten(0, 1)"),
    Fault("attention", "heads unfolded before the batch", "X.reshape(folded // num_heads, num_heads, n, head_dim)", "X.reshape(num_heads, folded // num_heads, n, head_dim).transpose(0, 1)"),
    Fault("attention", "keys and values exchanged", "split_heads(self.W_k(keys), self.num_heads), split_heads(self.W_v(values), self.num_heads)", "split_heads(self.W_v(values), self.num_heads), split_heads(self.W_k(keys), self.num_heads)"),
    Fault("attention", "W_k and W_v exchanged", '"key_size", key_size, num_hiddens, bias)', '"value_size", value_size, num_hiddens, bias)'),
    Fault("attention", "no W_o", "self.W_o(join_heads(output))", "join_heads(output)"),
    Fault("attention", "no bias in W_o", "nn.Linear(num_hiddens, num_hiddens, bias=bias)", "nn.Linear(num_hiddens, num_hiddens, bias=False)"),
    Fault("attention", "no biases in the projections", "nn.Linear(size, num_hiddens, bias=bias)", "nn.Linear(size, num_hiddens, bias=False)"),
    Fault("attention", "lazy projections", "nn.Linear(size, num_hiddens, bias=bias)", "nn.LazyLinear(num_hiddens, bias=bias)"),
    Fault("attention", "weights kept on the module", "        return output if weights is None else (output, weights)", "        self.kept = weights\n        return output if weights is None else (output, weights)"),
    # ---- seq2seq ----
    Fault("seq2seq", "encoder that reads padding", "if bool((valid_lens == steps).all()):", "if True:"),
    Fault("seq2seq", "outputs of empty sentences", "outputs = outputs.masked_fill(is_empty[:, None, None], 0)", "outputs = outputs"),
    Fault("seq2seq", "states of empty sentences", "part.masked_fill(is_empty[:, None], 0)", "part"),
    Fault("seq2seq", "outputs cut at the longest length", ", total_length=steps", ""),
    Fault("seq2seq", "directions joined across layers", "(part[0::2], part[1::2])", "(part[: len(part) // 2], part[len(part) // 2 :])"),
    Fault("seq2seq", "query of the first layer", "return hidden_state[-1] if", "return hidden_state[0] if"),
    Fault("seq2seq", "query of the first step at every step", "query = last_layer(hidden_state)", "query = last_layer(state[1])"),
    Fault("seq2seq", "the LSTM's cell asked", "else hidden_state[0][-1]", "else hidden_state[1][-1]"),
    Fault("seq2seq", "decoder that never starts from zero", 'if self.initial_state == "zero":', "if False:"),
    Fault("seq2seq", "weights of the graph kept", "looked.detach()", "looked"),
    Fault("seq2seq", "attention over padding", "return attention_mask(source_valid_lens, None,", "return attention_mask(None, None,"),
    Fault("seq2seq", "dropout between the layers of one", "dropout if num_layers > 1 else 0.0", "dropout"),
    Fault("seq2seq", "context of zeros", "(repeated, embedded)", "(repeated * 0, embedded)"),
    Fault("seq2seq", "state not carried on", "output, hidden_state = self.rnn(step, hidden_state)", "output, _ = self.rnn(step, hidden_state)"),
    Fault("seq2seq", "one-way encoder called bidirectional", "num_layers, dropout, bidirectional)", "num_layers, dropout, False)"),
    Fault("seq2seq", "a network may be anything", '        check_type("encoder", encoder, nn.Module, "a PyTorch module")\n', ""),
    Fault("seq2seq", "what no encoder returns passes", "if not isinstance(enc_outputs, (tuple, list)) or len(enc_outputs) != 2:", "if False:"),
    # ---- training ----
    Fault("training", "padding counted in the loss", "counts = length_mask(lens, steps)", "counts = torch.ones_like(labels, dtype=torch.bool)"),
    Fault("training", "loss over all positions", "counts.sum().clamp(min=1)", "labels.numel()"),
    Fault("training", "no loss of an all-padding batch", ".clamp(min=1)", ""),
    Fault("training", "the target fed unshifted", "torch.cat((first, target[:, :-1]), dim=1)", "target"),
    Fault("training", "the target shifted the wrong way", "(first, target[:, :-1])", "(target[:, 1:], first)"),
    Fault("training", "gradients not clipped", "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n", ""),
    Fault("training", "gradients added up", "    optimizer.zero_grad()\n", ""),
    Fault("training", "losses of batches weighed alike", "total + loss * tokens, count + tokens", "total + loss, count + 1"),
    Fault("training", "the same order in every epoch", "order = seed * epochs + epoch", "order = seed"),
    Fault("training", "mode not restored", "    model.train(was_training)\n", ""),
    Fault("training", "any device passes", "(model, pairs, epochs, learning_rate, clip, seed, device)", "(model, pairs, epochs, learning_rate, clip, seed, None)"),
    # ---- translation ----
    Fault("translation", "nothing stops at <eos>", "return ids[: ids.index(end)] if end in ids else ids", "return ids"),
    Fault("translation", "<eos> among the tokens", "ids[: ids.index(end)]", "ids[: ids.index(end) + 1]"),
    Fault("translation", "all stop with the first", "if finished.all():", "if finished.any():"),
    Fault("translation", "state not carried on", "logits, state = model.decoder(token, state)", "logits, _ = model.decoder(token, state)"),
    Fault("translation", "first token is <eos>", "target_vocabulary.bos)  # (batch, 1)", "target_vocabulary.eos)  # (batch, 1)"),
    Fault("translation", "weights with the row of <eos>", "..., : steps - 1, :length]", "..., :steps, :length]"),
    Fault("translation", "weights over padding", ": len(written), :length]", ": len(written), :]"),
    Fault("translation", "translates in training mode", "    model.eval()\n", ""),
    # ---- metrics ----
    Fault("metrics", "BLEU rewards long predictions", "min(0.0, 1 - len(expected) / len(predicted))", "1 - len(expected) / len(predicted)"),
    Fault("metrics", "BLEU without brevity penalty", "math.exp(min(0.0, 1 - len(expected) / len(predicted)))", "1.0"),
    Fault("metrics", "BLEU counts repeated words", "(ngrams(predicted, n) & ngrams(expected, n)).total()", "sum(c for g, c in ngrams(predicted, n).items() if g in ngrams(expected, n))"),
    Fault("metrics", "BLEU with equal weights", "(0.5**n)", "(1 / k)"),
    Fault("metrics", "BLEU of runs longer than the prediction", "min(k, len(predicted)) + 1", "k + 1"),
    Fault("metrics", "BLEU stops one run early", "min(k, len(predicted)) + 1", "min(k, len(predicted))"),
    Fault("metrics", "peaks over the steps", "matrix.argmax(dim=-1)", "matrix.argmax(dim=0)"),
    Fault("metrics", "tokens without counterpart count", "zip(peaks, alignment, strict=True) if gold]", "zip(peaks, alignment, strict=True)]"),
    Fault("metrics", "exact match of strings only", "tokens_of(p) == tokens_of(r)", "p == r"),
    # ---- corpus ----
    Fault("corpus", "no <eos>", "[*vocabulary[list(tokens)], vocabulary.eos]", "[*vocabulary[list(tokens)]]"),
    Fault("corpus", "padded with <unk>", "[vocabulary.pad] *", "[vocabulary.unk] *"),
    Fault("corpus", "lengths of the longest row", "[len(row) for row in rows]", "[steps for row in rows]"),
    Fault("corpus", "rare words counted one off", ">= min_freq", "> min_freq"),
    Fault("corpus", "ties as they come", "(-counts[word], word)", "-counts[word]"),
    Fault("corpus", "another order at every run", "random.Random(seed).random", "random.random"),
    Fault("corpus", "batches of any lengths", "key=lambda pair: (len(pair.source), len(pair.target))", "key=lambda pair: 0"),
    Fault("corpus", "batches from short to long", "sorted(chunks, key=lambda chunk: draw())", "chunks"),
    Fault("corpus", "source and target exchanged", "*_padded([pair.source for pair in chunk], source_vocabulary)", "*_padded([pair.target for pair in chunk], source_vocabulary)"),
    # ---- transformer ----
    Fault("transformer", "cached steps forgotten by the mask", "[cache[0].shape[2] :]", "[: X.shape[1]]"),
    Fault("transformer", "later steps seen", "[cache[0].shape[2] :]", "[-1:]"),
    Fault("transformer", "cache not handed on", "return X, (keys, values), weights", "return X, cache, weights"),
    Fault("transformer", "new steps before the old ones", "torch.cat((cache[0], keys), dim=2)", "torch.cat((keys, cache[0]), dim=2)"),
    Fault("transformer", "positions start anew", "self.embedding(tokens), steps_before)", "self.embedding(tokens), 0)"),
    Fault("transformer", "positions off by one", "self.embedding(tokens), steps_before)", "self.embedding(tokens), steps_before + 1)"),
    Fault("transformer", "sines and cosines exchanged", "(angles.sin(), angles.cos())", "(angles.cos(), angles.sin())"),
    Fault("transformer", "wrong wavelengths", "(evens / num_hiddens)", "(evens / 2 / num_hiddens)"),
    Fault("transformer", "no positions in the encoder", "self.positions(self.embedding(source))", "self.embedding(source)"),
    Fault("transformer", "encoder reads padding", "block(X, source_valid_lens)", "block(X)"),
    Fault("transformer", "decoder looks at padding", "*memory, allowed, need_weights)", "*memory, None, need_weights)"),
    Fault("transformer", "padding of the source not cleaned", "sources = clean_padding(enc_outputs, enc_outputs, allowed)", "sources = enc_outputs, enc_outputs"),
    Fault("transformer", "no residual in the encoder", "X = X + self.dropout(self.attention(", "X = self.dropout(self.attention("),
    Fault("transformer", "no residual in the decoder", "X = X + self.dropout(attended)", "X = self.dropout(attended)"),
    Fault("transformer", "attention of what is not normalised", "        Y = self.norm_1(X)\n        X = X", "        Y = X\n        X = X"),
    Fault("transformer", "no last normalisation in the decoder", "self.dense(self.norm(X))", "self.dense(X)"),
    Fault("transformer", "no last normalisation in the encoder", "normalised: Tensor = self.norm(X)", "normalised: Tensor = X"),
    Fault("transformer", "no ReLU", "nn.ReLU()", "nn.Identity()"),
    Fault("transformer", "tensors kept while exporting", "need_weights = not torch.compiler.is_compiling()", "need_weights = True"),
    Fault("transformer", "weights of the graph kept", "weights.detach(), (0", "weights, (0"),
    # ---- heads ----
    Fault("heads", "gates over features instead of heads", "(by_head * gate.unsqueeze(-1))", "(by_head.reshape(batch, queries, -1, len(gate)) * gate)"),
    Fault("heads", "masks stay on", "hooks.callback(hook.remove)", "pass"),
    Fault("heads", "the heads to prune are kept", "if i not in numbers[name]]", "if i in numbers[name]]"),
    Fault("heads", "rows of W_o sliced", "_take(module.W_o.weight, 1,", "_take(module.W_o.weight, 0,"),
    Fault("heads", "number of heads not changed", "    module.num_heads = len(kept)\n", ""),
    Fault("heads", "biases not sliced", "        if layer.bias is not None:", "        if False:"),
    Fault("heads", "slices share memory with the model", "pruned = copy.deepcopy(model)", "pruned = model"),
    Fault("heads", "frozen weights thaw", ", parameter.requires_grad)", ")"),
    Fault("heads", "importance with the wrong sign", "whole - _score_without(model, score, [*without, head])", "_score_without(model, score, [*without, head]) - whole"),
    Fault("heads", "heads left out are back", "[*without, head]", "[head]"),
    Fault("heads", "slopes that cancel", "gradient.abs()", "gradient"),
    Fault("heads", "sum for mean", ") / len(batches) for head", ") for head"),
    Fault("heads", "operations of the fused kernel lost", "FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):", "FlopCounterMode(display=False) as counter:"),
    Fault("heads", "any score passes", '    check_number("what score returns", value.item() if isinstance(value, Tensor) else value)\n', ""),
    # ---- convert ----
    Fault("convert", "from torch: biases lost", "*module.in_proj_bias.chunk(3), module", "*(0 * module.in_proj_bias).chunk(3), module"),
    Fault("convert", "from torch: bias of the output lost", ".chunk(3), module.out_proj.bias)", ".chunk(3), 0 * module.out_proj.bias)"),
    Fault("convert", "from torch: keys and values exchanged", "projections = module.in_proj_weight.chunk(3)", "projections = [module.in_proj_weight.chunk(3)[i] for i in (0, 2, 1)]"),
    Fault("convert", "to torch: nothing written", "weight.copy_(attention.get_parameter(name))", "attention.get_parameter(name)"),
    Fault("convert", "to torch: type lost", "    module.to(attention.W_o.weight)", "    module.to(attention.W_o.weight.device)"),
    Fault("convert", "to torch: mode lost", "return module.train(attention.training)\n\n\ndef from_d2l", "return module\n\n\ndef from_d2l"),
    Fault("convert", "from torch: biases the wrong way round", 'named("bias", *module.in_proj_bias.chunk(3)', 'named("bias", *module.in_proj_bias.chunk(3)[::-1]'),
    Fault("convert", "to torch: steps first", "batch_first=True, **sizes", "**sizes"),
    Fault("convert", "from torch: dropout lost", "module.num_heads, module.dropout, has_bias", "module.num_heads, 0.0, has_bias"),
    Fault("convert", "to D2L: dropout lost", "    dropout.p = attention.dropout.p\n", ""),
    Fault("convert", "mode lost", "return target.train(source.training)", "return target"),
    Fault("convert", "type lost", "dtype=weight.dtype)", ")"),
    Fault("convert", "Annotated Transformer: layers the wrong way round", "zip(LAYERS, linears,", "zip(LAYERS[::-1], linears,"),
    Fault("convert", "pruned heads carried over", '(sizes | {"the width of all heads": attention.W_o.in_features})', "sizes"),
    # ---- download ----
    Fault("download", "http without a checksum", ' or sha256 is None)', ')'),
    Fault("download", "redirects to anywhere", "        _check_scheme(f\"what {req.full_url} redirects to\", newurl, self.sha256)\n", ""),
    Fault("download", "checksum not compared", "if not _has_sum(content, sha256):", "if False:"),
    Fault("download", "cut transfers accepted", "if total and len(content) != total:", "if False:"),
    Fault("download", "files of any size", "if max(have, total) > LARGEST:", "if False:"),
    Fault("download", "404 tried again", "and caught.code < 500:", "and False:"),
    Fault("download", "paths outside the folder", '".." in parts.parts', "False"),
    Fault("download", "parts are kept", "    os.replace(partial, path)\n", "    path.write_bytes(content)\n"),
    Fault("download", "NUL characters pass", r'if "\0" in text:', "if False:"),
    Fault("download", "bombs unpacked", "if len(content) > LARGEST:", "if False:"),
    Fault("download", "byte order mark in the first word", r'.removeprefix(b"\xef\xbb\xbf")', ""),
    Fault("download", "columns lost", "not in (2, 3)", "< 2"),
    Fault("download", "lines counted from 0", "start=1)", "start=0)"),
]


def copy_package(folder: Path) -> None:
    """Copy the package into a folder; what its tests need besides is linked."""
    shutil.copytree(ROOT / "mha_course", folder / "mha_course", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tools").symlink_to(ROOT / "tools")


def plant(fault: Fault, folder: Path) -> None:
    """Copy the package into a folder, with the fault in it."""
    copy_package(folder)
    path = folder / "mha_course" / f"{fault.module}.py"
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise RuntimeError(f"{fault.module} has changed meanwhile: {fault.old!r}")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def run_tests(names: tuple[str, ...], folder: Path) -> str:
    """Run tests against the package in a folder; return the first that fails, or nothing."""
    paths = [str(ROOT / "tests" / f"{name}.py") for name in names]
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-o", f"pythonpath={folder}"]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "(did not end)"
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) \S*?(?:(\w+)\.py)?(?:::(\S+))?(?= |$)", done.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"pytest failed without a failed test:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return "::".join(part for part in found.groups() if part)


def try_fault(fault: Fault) -> str:
    """Return the test that catches a fault, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        plant(fault, Path(name))
        return run_tests(TESTS[fault.module], Path(name))


def check_faults(faults: list[Fault]) -> None:
    """Stop where a fault's text does not occur exactly once: the package has changed."""
    for fault in faults:
        count = (ROOT / "mha_course" / f"{fault.module}.py").read_text().count(fault.old)
        if count != 1:
            sys.exit(f"{fault.module}, {fault.what}: its text occurs {count} times, must occur once: {fault.old!r}")


def check_sound(modules: list[str]) -> None:
    """Stop where the tests fail without any fault, or run against another copy of the package."""
    names = tuple(dict.fromkeys(test for module in modules for test in TESTS[module]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_package(folder)
        if failed := run_tests(names, folder):
            sys.exit(f"without any fault {failed} fails")
        (folder / "mha_course" / "__init__.py").write_text("raise ImportError")
        if not run_tests(names[:1], folder):
            sys.exit("the tests do not import the copy of the package")


def main(words: list[str]) -> int:
    """Try all faults, print a table, and return 1 where one got through."""
    faults = [f for f in FAULTS if not words or any(word in f"{f.module} {f.what}" for word in words)]
    check_faults(faults)
    print(f"{len(faults)} faults; first the tests without any", flush=True)
    check_sound(list(dict.fromkeys(fault.module for fault in faults)))
    wrong = 0
    with ThreadPoolExecutor(WORKERS) as pool:
        tried = {pool.submit(try_fault, fault): fault for fault in faults}
        for number, future in enumerate(as_completed(tried), start=1):
            fault, caught = tried[future], future.result()
            if fault.equivalent:
                verdict = f"equivalent: {fault.equivalent}" if not caught else f"CAUGHT, not equivalent: {caught}"
                wrong += bool(caught)
            else:
                verdict = caught or "SURVIVED"
                wrong += not caught
            line = f"{number:3}/{len(faults)}  {fault.module:12} {fault.what:52} {verdict}"
            print(line, flush=True)
    equal = sum(bool(fault.equivalent) for fault in faults)
    print(f"{len(faults) - equal} faults and {equal} equivalent ones; {wrong} not as expected")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
