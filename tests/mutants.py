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
    "checks": ("test_checks", "test_masking", "test_attention"),
    "masking": ("test_masking", "test_attention"),
    "attention": ("test_attention", "test_properties"),
    "seq2seq": ("test_seq2seq", "test_training", "test_decoding", "test_checks"),
    "training": ("test_training", "test_checks"),
    "translation": ("test_decoding", "test_checks"),
    "metrics": ("test_metrics", "test_ruler", "test_checks"),
    "corpus": ("test_corpus", "test_training"),
    "transformer": ("test_transformer",),
    "heads": ("test_heads", "test_checks"),
    "language_model": ("test_language_model",),
    "convert": ("test_convert", "test_checks", "test_language_model"),
    "plot": ("test_plot", "test_checks"),
    "practice/attention_pooling": ("test_practice",),
    "practice/language_models": ("test_practice",),
    "practice/inside_language_models": ("test_practice",),
    "practice/turn": ("test_practice",),
    "results": ("test_layouts", "test_checks"),
}


class Fault(NamedTuple):
    """One fault: what it is, and the text that becomes another."""

    module: str
    what: str
    old: str
    new: str
    equivalent: str = ""
    """Why nothing can tell it from the original; empty where a test has to."""


DROPOUT = """        dropout = self.dropout.p if self.training else 0.0
"""
SPLIT_QUERIES = """        queries = split_heads(self.W_q(queries), self.num_heads)  # (batch, heads, queries, head_dim)
"""
CLEAN = """        keys, values = clean_padding(keys, values, allowed)
"""
FFN = "X = X + self.dropout(self.ffn(self.norm_3(X)))"

# fmt: off
FAULTS = [
    # ---- masking ----
    Fault("masking", "<= for < in the length mask", "device) < valid_lens", "device) <= valid_lens"),
    Fault("masking", "lengths counted from the end", "torch.arange(max_len, ", "torch.arange(max_len - 1, -1, -1, "),
    Fault("masking", "causal mask upside down", ".tril()", ".triu()"),
    Fault("masking", "causal mask without the diagonal", ".tril()", ".tril(-1)"),
    Fault("masking", "causal mask one step ahead", ".tril()", ".tril(1)"),
    Fault("masking", "queries at the first positions", "[num_keys - num_queries :]", "[:num_queries]"),
    Fault("masking", "one query is restricted", "if num_queries == 1:", "if False:"),
    Fault("masking", "causal instead of what else is allowed", "allowed & causal", "causal"),
    Fault("masking", "told to be causal with a cache", "and num_queries == num_keys and not need_weights", "and not need_weights"),
    Fault("masking", "told to be causal beside a mask", "if is_causal and allowed is None and", "if is_causal and"),
    Fault("masking", "never told to be causal", "        return None, True", "        pass"),
    Fault("masking", "fill of -1e6", "torch.finfo(scores.dtype).min", "-1e6"),
    Fault("masking", "fill of -1e9", "torch.finfo(scores.dtype).min", "-1e9"),
    Fault("masking", "fill of minus infinity", "torch.finfo(scores.dtype).min", 'float("-inf")'),
    Fault("masking", "fill of another type", "torch.finfo(scores.dtype).min", "torch.finfo(torch.float32).min"),
    Fault("masking", "what is hidden not set to 0", "softmax(-1).where(allowed, 0)", "softmax(-1)"),
    Fault("masking", "softmax over the wrong axis", "softmax(-1).where", "softmax(-2).where"),
    Fault("masking", "softmax over the wrong axis without a mask", "return scores.softmax(-1)\n", "return scores.softmax(-2)\n"),
    Fault("masking", "the mask the wrong way round", "scores.where(allowed, lowest)", "scores.where(~allowed, lowest)"),
    Fault("masking", "scores written into", "scores.where(allowed, lowest)", "scores.masked_fill_(~allowed, lowest)"),
    Fault("masking", "weights cut off from the gradient", "scores.where(allowed, lowest)", "scores.detach().where(allowed, lowest)"),
    Fault("masking", "keys taken for values", "clean_keys if values is keys else", "clean_keys if True else"),
    Fault("masking", "keys cut off from the gradient", "clean_keys = keys.where", "clean_keys = keys.detach().where"),
    Fault("masking", "padding cleaned twice", "if values is keys else", "if False else"),
    Fault("masking", "keys that some query attends to are cleaned", "allowed.flatten(1, -2).any(1)", "allowed.flatten(1, -2).all(1)"),
    Fault("masking", "keys not cleaned", "keys.where(attended, 0)", "keys"),
    Fault("masking", "values not cleaned", "values.where(attended, 0)", "values"),
    Fault("masking", "the caller's values written into", "values.where(attended, 0)", "values.masked_fill_(~attended, 0)"),
    Fault("masking", "lengths or mask instead of both", "within & mask", "within | mask"),
    Fault("masking", "mask alone where there are lengths too", "within & mask", "mask"),
    Fault("masking", "lengths on the wrong axis of heads", "within.unsqueeze(1)  # (batch, 1, 1", "within.unsqueeze(2)  # (batch, 1, 1"),
    Fault("masking", "lengths are masked on another device", "torch.arange(max_len, device=valid_lens.device)", "torch.arange(max_len)"),
    Fault("checks", "a full length is refused", "high > most", "high >= most"),
    Fault("checks", "lengths above the keys pass", "high > most", "False"),
    Fault("checks", "negative lengths pass", "if low < 0 or", "if"),
    Fault("checks", "lengths read while compiling", "torch.compiler.is_compiling() or not numbers.is_cpu", "not numbers.is_cpu"),
    Fault("checks", "lengths of a GPU read", "or not numbers.is_cpu or", "or"),
    Fault("checks", "lengths of another shape pass", "not in (rows, queries):", "not in (rows, queries, tuple(valid_lens.shape)):"),
    Fault("checks", "sizes of axes pass", "all(size is None or size == given", "all(True"),
    # ---- checks ----
    Fault("checks", "a mask of numbers passes", "if mask.dtype != torch.bool:", "if False:"),
    Fault("checks", "a mask of the batch is read as one of the heads", "if len(shape) == 4 and mask.dim() == 3", "if False"),
    Fault("checks", "lengths of booleans pass", " or tensor.dtype == torch.bool:", ":"),
    Fault("checks", "heads that do not divide pass", "if size % number:", "if False:"),
    Fault("checks", "bounds are refused", "not low <= float(number) <= high", "not low < float(number) < high"),
    Fault("checks", "negative dropout passes", "not low <= float(number) <= high", "not float(number) <= high"),
    Fault("checks", "True counts as a size", "if isinstance(number, bool) or not isinstance(number, (Integral,", "if not isinstance(number, (Integral,"),
    Fault("checks", "batch sizes that differ pass", "keys, batch=batch, keys=None", "keys, batch=None, keys=None"),
    Fault("checks", "batch sizes of values that differ pass", "values, batch=batch, keys=keys", "values, batch=None, keys=keys"),
    Fault("checks", "more keys than values pass", "batch=batch, keys=keys.shape[1]", "batch=batch, keys=None"),
    Fault("checks", "devices that differ pass", "if not queries.device == keys.device == values.device:", "if False:"),
    Fault("checks", "any value is a flag", "check_type(name, flag, bool,", "check_type(name, flag, object,"),
    Fault("checks", "positions beyond the last pass", "if offset + steps > max_len:", "if False:"),
    Fault("checks", "the other cell passes", "if isinstance(enc_outputs[1], Tensor) == isinstance(rnn, nn.LSTM):", "if False:"),
    Fault("checks", "the last position is refused", "if offset + steps > max_len:", "if offset + steps >= max_len:"),
    # ---- attention ----
    Fault("attention", "two sizes named for each other", "key_size=key_size, value_size=value_size)", "key_size=value_size, value_size=key_size)"),
    Fault("attention", "no 1/√d", "at_least_float32(queries) / math.sqrt(queries.shape[-1]) @", "at_least_float32(queries) @"),
    Fault("attention", "1/√num_hiddens", "math.sqrt(queries.shape[-1])", "math.sqrt(queries.shape[-1] * queries.shape[1])"),
    Fault("attention", "1/d", "math.sqrt(queries.shape[-1])", "queries.shape[-1]"),
    Fault("attention", "no 1/√d in the fused path", "values, allowed, dropout, is_causal), None", "values, allowed, dropout, is_causal, scale=1.0), None"),
    Fault("attention", "no mask in the fused path", "values, allowed, dropout, is_causal), None", "values, None, dropout, is_causal), None"),
    Fault("attention", "no dropout in the fused path", "values, allowed, dropout, is_causal), None", "values, allowed, 0.0, is_causal), None"),
    Fault("attention", "no mask in the path with weights", "masked_softmax(scores, mask=allowed).to", "masked_softmax(scores).to"),
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
    Fault("attention", "padding not cleaned", CLEAN, ""),
    Fault("attention", "lengths without the mask", "attention_mask(valid_lens, mask,", "attention_mask(valid_lens, None,"),
    Fault("attention", "not causal in the fused path", "dropout, is_causal), None", "dropout), None"),
    Fault("attention", "additive: not causal", "        allowed, _ = resolve_causal(allowed, is_causal, queries, keys, need_weights=True)\n", ""),
    Fault("attention", "causality not told to those who attend", "allowed, need_weights, is_causal)\n        return output if", "allowed, need_weights)\n        return output if"),
    Fault("attention", "cleaned as if not causal", "self.scores_shape(queries, keys), is_causal)", "self.scores_shape(queries, keys))"),
    Fault("attention", "scale after the product", "at_least_float32(queries) / math.sqrt(queries.shape[-1]) @ at_least_float32(keys).mT", "queries @ keys.mT / math.sqrt(queries.shape[-1])"),
    Fault("attention", "scores in half precision", "at_least_float32(queries) / math.sqrt(queries.shape[-1]) @ at_least_float32(keys).mT", "queries / math.sqrt(queries.shape[-1]) @ keys.mT"),
    Fault("attention", "weights in another type", "return F.dropout(weights, dropout) @ values, weights", "return F.dropout(weights, dropout) @ values, weights.float()"),
    Fault("attention", "returned weights without gradient", "@ values, weights  #", "@ values, weights.detach()  #"),
    Fault("attention", "additive: returned weights without gradient", "return output, weights if need_weights", "return output, weights.detach() if need_weights"),
    Fault("attention", "additive: weights not asked for returned", "return output, weights if need_weights else None", "return output, weights"),
    Fault("attention", "features split among the heads without moving the axis", "return X.transpose(1, 2)  # (batch, heads", "return X.reshape(batch, num_heads, n, -1)  # (batch, heads"),
    Fault("attention", "heads and features exchanged when splitting", "n, num_heads, num_hiddens // num_heads)  #", "n, num_hiddens // num_heads, num_heads).transpose(2, 3)  #"),
    Fault("attention", "heads joined without moving the axis", "return X.transpose(1, 2).flatten(2)", "return X.flatten(2).reshape(X.shape[0], X.shape[2], -1)"),
    Fault("attention", "heads folded before the batch", "split_heads(X, num_heads).flatten(0, 1)", "split_heads(X, num_heads).transpose(0, 1).flatten(0, 1)"),
    Fault("attention", "heads unfolded before the batch", "X.reshape(folded // num_heads, num_heads, n, head_dim)", "X.reshape(num_heads, folded // num_heads, n, head_dim).transpose(0, 1)"),
    Fault("attention", "keys and values exchanged", "split_heads(self.W_k(keys), self.num_heads), split_heads(self.W_v(values), self.num_heads)", "split_heads(self.W_v(values), self.num_heads), split_heads(self.W_k(keys), self.num_heads)"),
    Fault("attention", "sizes of W_k and W_v exchanged", "nn.Linear(key_size or num_hiddens, num_hiddens, bias)", "nn.Linear(value_size or num_hiddens, num_hiddens, bias)"),
    Fault("attention", "no W_o", "self.W_o(join_heads(output))", "join_heads(output)"),
    Fault("attention", "no bias in W_o", "nn.Linear(num_hiddens, num_hiddens, bias)", "nn.Linear(num_hiddens, num_hiddens, False)"),
    Fault("attention", "no bias in W_q", "nn.Linear(query_size or num_hiddens, num_hiddens, bias)", "nn.Linear(query_size or num_hiddens, num_hiddens, False)"),
    Fault("attention", "lazy projections", "nn.Linear(query_size or num_hiddens, num_hiddens, bias)", "nn.LazyLinear(num_hiddens, bias)"),
    Fault("attention", "weights kept on the module", "        return output if weights is None else (output, weights)", "        self.kept = weights\n        return output if weights is None else (output, weights)"),
    Fault("attention", "key_size falls back to query_size", "nn.Linear(key_size or num_hiddens, num_hiddens, bias)", "nn.Linear(key_size or query_size or num_hiddens, num_hiddens, bias)"),
    # ---- seq2seq ----
    Fault("seq2seq", "encoder that reads padding", "if bool((lens == steps).all()):", "if True:"),
    Fault("seq2seq", "outputs of empty sentences", "outputs = outputs.masked_fill(is_empty[:, None, None], 0)", "outputs = outputs"),
    Fault("seq2seq", "states of empty sentences", "part.masked_fill(is_empty[:, None], 0)", "part"),
    Fault("seq2seq", "outputs cut at the longest length", ", total_length=steps", ""),
    Fault("seq2seq", "directions joined across layers", "(part[0::2], part[1::2])", "(part[: len(part) // 2], part[len(part) // 2 :])"),
    Fault("seq2seq", "query of the first layer", "return hidden_state[-1] if", "return hidden_state[0] if"),
    Fault("seq2seq", "query of the first step at every step", "query = last_layer(hidden_state)", "query = last_layer(state[1])"),
    Fault("seq2seq", "the LSTM's cell asked", "else hidden_state[0][-1]", "else hidden_state[1][-1]"),
    Fault("seq2seq", "decoder that never starts from zero", 'if self.initial_state == "zero":', "if False:"),
    Fault("seq2seq", "weights of the graph kept", "looked.detach()", "looked"),
    Fault("seq2seq", "attention over padding", "allowed = attention_mask(valid_lens, None,", "allowed = attention_mask(None, None,"),
    Fault("seq2seq", "dropout between the layers of one", "dropout if num_layers > 1 else 0.0", "dropout"),
    Fault("seq2seq", "context of zeros", "(repeated, embedded)", "(repeated * 0, embedded)"),
    Fault("seq2seq", "state not carried on", "output, hidden_state = self.rnn(step, hidden_state)", "output, _ = self.rnn(step, hidden_state)"),
    Fault("seq2seq", "one-way encoder called bidirectional", "num_layers, dropout, bidirectional)", "num_layers, dropout, False)"),
    Fault("seq2seq", "what no encoder returns passes", "        check_enc_outputs(enc_outputs, self.rnn)\n        outputs,", "        outputs,"),
    Fault("seq2seq", "keys cut off from the encoder's gradient", "clean_padding(enc_outputs, enc_outputs, allowed)", "clean_padding(enc_outputs.detach(), enc_outputs, allowed)"),
    Fault("seq2seq", "values cut off from the encoder's gradient", "clean_padding(enc_outputs, enc_outputs, allowed)", "clean_padding(enc_outputs, enc_outputs.detach(), allowed)"),
    Fault("seq2seq", "the first state cut off from the encoder's gradient", "AttentionState(outputs, hidden_state, source_valid_lens)", "AttentionState(outputs, map_state(hidden_state, torch.detach), source_valid_lens)"),
    Fault("seq2seq", "context cut off from the encoder's gradient", "repeated = context.unsqueeze(1)", "repeated = context.detach().unsqueeze(1)"),
    Fault("seq2seq", "no dropout of the source's embedding", "embedded = self.dropout(self.embedding(source))", "embedded = self.embedding(source)"),
    Fault("seq2seq", "no dropout of the target's embedding", "embedded = self.dropout(self.embedding(tokens))", "embedded = self.embedding(tokens)"),
    Fault("seq2seq", "no dropout of the target's embedding, with attention", "in self.dropout(self.embedding(tokens)).split", "in self.embedding(tokens).split"),
    Fault("seq2seq", "no dropout between layers", "dropout if num_layers > 1 else 0.0", "0.0"),
    Fault("seq2seq", "no dropout of the attention weights", "AdditiveAttention(num_hiddens, dropout)", "AdditiveAttention(num_hiddens)"),
    Fault("seq2seq", "the attention given is not used", "attention or AdditiveAttention(num_hiddens, dropout)", "AdditiveAttention(num_hiddens, dropout)"),
    Fault("seq2seq", "state of the encoder without lengths", "run_packed(self.rnn, embedded, source_valid_lens)", "run_packed(self.rnn, embedded, None)"),
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
    Fault("training", "modes not restored", "            module.training = is_training\n", "            pass\n"),
    Fault("training", "AdamW for Adam", "torch.optim.Adam(", "torch.optim.AdamW("),
    Fault("training", "another optimizer", "torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)", "torch.optim.SGD(model.parameters(), lr=10 * learning_rate)"),
    Fault("training", "step size not used", "lr=learning_rate", "lr=0.005"),
    Fault("training", "other moments", "fused=True)", "fused=True, betas=(0.9, 0.98))"),
    Fault("training", "gradients cut number by number", "nn.utils.clip_grad_norm_", "nn.utils.clip_grad_value_"),
    Fault("training", "batches of one size", "target_vocabulary, batch_size, seed=order)", "target_vocabulary, 64, seed=order)"),
    Fault("training", "batches in the order given", "batch_size, seed=order)", "batch_size)"),
    Fault("training", "a label of -100 is skipped", ", ignore_index=NO_LABEL)", ")"),
    Fault("training", "the graph of the loss kept", "return loss.detach()", "return loss"),
    Fault("training", "a checkpoint written in place", 'part = path.with_name(f"{path.name}.part")', "part = path"),
    Fault("training", "random numbers start anew", '    torch.set_rng_state(state["random"])\n', ""),
    Fault("training", "the optimizer starts anew", '    optimizer.load_state_dict(state["optimizer"])\n', ""),
    Fault("training", "other settings accepted", 'if state["settings"] != settings:', "if False:"),
    Fault("training", "epochs done are done again", "range(len(history), epochs)", "range(epochs)"),
    Fault("training", "modes not restored after an error", "    try:\n        yield\n    finally:\n        for", "    yield\n    if True:\n        for"),
    Fault("training", "a frozen part is trained", "        if not model.training:\n", "        if True:\n"),
    Fault("training", "a loss in half precision", "logits[counts].to(torch.promote_types(logits.dtype, torch.float32))", "logits[counts]"),
    Fault("training", "a loss that is not finite is saved", "            check_finite(history[-1], model, epoch + 1)\n", ""),
    Fault("training", "weights that are not finite are saved", "    elif not all(", "    elif False and not all("),
    Fault("training", "half a file is left", "        part.unlink(missing_ok=True)\n", ""),
    Fault("training", "a dictionary passes for a checkpoint", " or not state.keys() >= CHECKPOINT_PARTS", ""),
    Fault("training", "a checkpoint of another model is loaded in part", "    if saved != own:", "    if False:"),
    Fault("training", "states of more GPUs than there are", "zip(range(torch.cuda.device_count()), state", "enumerate(state"),
    Fault("training", "model not moved", "        model.to(device)\n", "        pass\n"),
    Fault("training", "a checkpoint of other pairs passes", '"seed": seed, "pairs": len(pairs)}', '"seed": seed}'),
    # ---- translation ----
    Fault("translation", "nothing stops at <eos>", "return ids[: ids.index(end)] if end in ids else ids", "return ids"),
    Fault("translation", "<eos> among the tokens", "ids[: ids.index(end)]", "ids[: ids.index(end) + 1]"),
    Fault("translation", "all stop with the first", "if finished.all():", "if finished.any():"),
    Fault("translation", "state not carried on", "logits, state = model.decoder(token, state)", "logits, _ = model.decoder(token, state)"),
    Fault("translation", "first token is <eos>", "target_vocabulary.bos)  # (batch, 1)", "target_vocabulary.eos)  # (batch, 1)"),
    Fault("translation", "weights with the row of <eos>", "..., : steps - 1, :length]", "..., :steps, :length]"),
    Fault("translation", "weights over padding", ": len(written), :length]", ": len(written), :]"),
    Fault("translation", "translates in training mode", "with evaluating(model), torch", "with torch"),
    Fault("translation", "the least probable token", "logits.argmax(dim=-1)", "logits.argmin(dim=-1)"),
    Fault("translation", "translates compiled", ", torch.compiler.set_stance(\"force_eager\"):", ":"),
    Fault("translation", "a string split at white space", "tokenize(sentence, language) if isinstance(sentence, str)", "tuple(sentence.split()) if isinstance(sentence, str)"),
    Fault("translation", "the source without <eos>", '[*rows[len(translations)].source, "<eos>"]', "[*rows[len(translations)].source]"),
    Fault("translation", "one step too many", "for _ in range(max_steps):", "for _ in range(max_steps + 1):"),
    Fault("translation", "one sentence a batch too few", "target_vocabulary, batch_size):\n            ids", "target_vocabulary, batch_size)[:1]:\n            ids"),
    Fault("translation", "what follows the end keeps a sentence open", "finished |= token == target", "finished = token == target"),
    Fault("translation", "forced weights build a graph", "@torch.no_grad()\ndef forced_weights(", "def forced_weights("),
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
    Fault("metrics", "alignment averaged a sentence", "        hits += [peak in gold for peak, gold in zip(peaks, alignment, strict=True) if gold]", "        found = [peak in gold for peak, gold in zip(peaks, alignment, strict=True) if gold]\n        hits += [sum(found) / len(found)] if found else []"),
    Fault("metrics", "exact match ignores the order", "tokens_of(p) == tokens_of(r)", "sorted(tokens_of(p)) == sorted(tokens_of(r))"),
    Fault("metrics", "exact match counts from the start only", "tokens_of(p) == tokens_of(r)", "tokens_of(r)[: len(tokens_of(p))] == tokens_of(p)"),
    Fault("metrics", "any gold position is the first", "peak in gold for", "peak == gold[0] for"),
    Fault("metrics", "the ruler is one step short", "max(1, steps - 1)", "max(1, steps)"),
    Fault("metrics", "one NaN is let through", "if matrix.isnan().any():", "if matrix.isnan().all():"),
    Fault("metrics", "one position too many", "if not 0 <= position < positions:", "if not 0 <= position <= positions:"),
    # ---- corpus ----
    Fault("corpus", "no <eos>", "[*vocabulary[list(tokens)], vocabulary.eos]", "[*vocabulary[list(tokens)]]"),
    Fault("corpus", "padded with <unk>", "[vocabulary.pad] *", "[vocabulary.unk] *"),
    Fault("corpus", "lengths of the longest row", "[len(row) for row in rows]", "[steps for row in rows]"),
    Fault("corpus", "rare words counted one off", ">= min_freq", "> min_freq"),
    Fault("corpus", "ties as they come", "(-counts[word], word)", "-counts[word]"),
    Fault("corpus", "another order at every run", "random.Random(operator.index(seed)).random", "random.random"),
    Fault("corpus", "batches of any lengths", "key=lambda pair: (len(pair.source), len(pair.target))", "key=lambda pair: 0"),
    Fault("corpus", "batches from short to long", "sorted(chunks, key=lambda chunk: draw())", "chunks"),
    Fault("corpus", "source and target exchanged", "*_padded([pair.source for pair in chunk], source_vocabulary)", "*_padded([pair.target for pair in chunk], source_vocabulary)"),
    Fault("corpus", "special words counted as words", " and word not in self.special]", "]"),
    Fault("corpus", "unknown words are padding", "self._ids.get(token, self.unk) for token", "self._ids.get(token, self.pad) for token"),
    Fault("corpus", "an unknown word is padding", "return self._ids.get(tokens, self.unk)", "return self._ids.get(tokens, self.pad)"),
    Fault("corpus", "all sorted by length", "POOL * batch_size)", "len(shuffled) or 1)"),
    Fault("corpus", "Turkish I as in English", 'text.replace("I", "ı").replace("İ", "i")', "text"),
    Fault("corpus", "dots that stay apart", 'unicodedata.normalize("NFC", sentence)', "sentence"),
    Fault("corpus", "capitals stay", "text.lower()).split()", "text).split()"),
    Fault("corpus", "the languages exchanged", 'language_code("source", source), language_code("target", target)', 'language_code("source", target), language_code("target", source)'),
    Fault("corpus", "NUL characters pass", 'if "\\0" in line:', "if False:"),
    Fault("corpus", "byte order mark in the first word", '.replace("\\ufeff", "")', ""),
    Fault("corpus", "other alphabets read as UTF-8", 'if "\\ufffd" in line:', "if False:"),
    Fault("corpus", "lines end at other separators", 're.split("\\r\\n|\\r|\\n", text)', "text.splitlines()"),
    Fault("corpus", "lines of old Macs are one", '"\\r\\n|\\r|\\n"', '"\\n"'),
    Fault("corpus", "a list of sentences read as pairs", "if len(columns) == 3 and are_numbers[0]", "if False"),
    Fault("corpus", "apostrophes that differ", '.replace("’", "\'")', ""),
    Fault("corpus", "a code in capitals is another language", "language.lower()) if", "language) if"),
    Fault("corpus", "restored in another order", "vocabulary._number(tokens)", "vocabulary._number(sorted(tokens))"),
    Fault("corpus", "columns lost", "not in (2, 3)", "< 2"),
    Fault("corpus", "lines counted from 0", "start=1)", "start=0)"),
    Fault("corpus", "blank lines read", "for number, line in lines if line.strip())", "for number, line in lines)"),
    Fault("corpus", "every caller gets the same list", "def load_corpus(", "@lru_cache\ndef load_corpus("),
    Fault("corpus", "max_pairs counts blank lines", "in lines if line.strip())", "in islice(lines, max_pairs) if line.strip())"),
    Fault("corpus", "letters of full width are changed", 'unicodedata.normalize("NFC", sentence)', 'unicodedata.normalize("NFKC", sentence)'),
    # ---- transformer ----
    Fault("transformer", "the decoder sees later steps", "need_weights=False, is_causal=True)", "need_weights=False)"),
    Fault("transformer", "cache not handed on", "return X, (keys, values), weights", "return X, cache, weights"),
    Fault("transformer", "new steps before the old ones", "torch.cat((cache[0], keys), dim=2)", "torch.cat((keys, cache[0]), dim=2)"),
    Fault("transformer", "positions start anew", "self.embedding(tokens), steps_before)", "self.embedding(tokens), 0)"),
    Fault("transformer", "positions off by one", "self.embedding(tokens), steps_before)", "self.embedding(tokens), steps_before + 1)"),
    Fault("transformer", "sines and cosines exchanged", "(angles.sin(), angles.cos())", "(angles.cos(), angles.sin())"),
    Fault("transformer", "wrong wavelengths", "(evens / num_hiddens)", "(evens / 2 / num_hiddens)"),
    Fault("transformer", "no positions in the encoder", "self.positions(self.embedding(source))", "self.embedding(source)"),
    Fault("transformer", "encoder reads padding", "block(X, allowed)", "block(X)"),
    Fault("transformer", "encoder's padding not cleaned", "        X, _ = clean_padding(X, X, allowed)\n", ""),
    Fault("transformer", "decoder looks at padding", "*memory, allowed, need_weights)", "*memory, None, need_weights)"),
    Fault("transformer", "padding of the source not cleaned", "sources = clean_padding(enc_outputs, enc_outputs, allowed)", "sources = enc_outputs, enc_outputs"),
    Fault("transformer", "no residual in the encoder", "X = X + self.dropout(attended)\n        out", "X = self.dropout(attended)\n        out"),
    Fault("transformer", "no residual in the decoder", "X = X + self.dropout(attended)\n        attended, w", "X = self.dropout(attended)\n        attended, w"),
    Fault("transformer", "attention of what is not normalized", "        Y = self.norm_1(X)\n        attended", "        Y = X\n        attended"),
    Fault("transformer", "no last normalization in the decoder", "self.dense(self.norm(X))", "self.dense(X)"),
    Fault("transformer", "no last normalization in the encoder", "normalized: Tensor = self.norm(X)", "normalized: Tensor = X"),
    Fault("transformer", "no ReLU", "nn.ReLU()", "nn.Identity()"),
    Fault("transformer", "tensors kept while exporting", "if not torch.compiler.is_compiling():", "if True:"),
    Fault("transformer", "weights of the graph kept", "weights.detach(), (0", "weights, (0"),
    Fault("transformer", "weights computed in training", "not (self.training or torch.compiler.is_compiling())", "not torch.compiler.is_compiling()"),
    Fault("transformer", "weights of an earlier pass left", "stack_layers(maps) if need_weights else None", "stack_layers(maps) if need_weights else self._attention_weights"),
    Fault("transformer", "no dropout after self-attention", "X = X + self.dropout(attended)\n        attended, w", "X = X + attended\n        attended, w"),
    Fault("transformer", "no dropout after cross-attention", "X = X + self.dropout(attended)\n        X", "X = X + attended\n        X"),
    Fault("transformer", "no dropout after the decoder's feed-forward part", FFN, "X = X + self.ffn(self.norm_3(X))"),
    Fault("transformer", "no dropout after the encoder's feed-forward part", "X + self.dropout(self.ffn(self.norm_2(X)))", "X + self.ffn(self.norm_2(X))"),
    Fault("transformer", "no dropout after the encoder's attention", "X = X + self.dropout(attended)\n        out", "X = X + attended\n        out"),
    Fault("transformer", "no dropout of the encoder's weights", "self.attention = MultiHeadAttention(num_hiddens, num_heads, dropout,", "self.attention = MultiHeadAttention(num_hiddens, num_heads, 0.0,"),
    Fault("transformer", "no dropout of the self-attention's weights", "self.self_attention = MultiHeadAttention(num_hiddens, num_heads, dropout,", "self.self_attention = MultiHeadAttention(num_hiddens, num_heads, 0.0,"),
    Fault("transformer", "no dropout of the cross-attention's weights", "self.cross_attention = MultiHeadAttention(num_hiddens, num_heads, dropout,", "self.cross_attention = MultiHeadAttention(num_hiddens, num_heads, 0.0,"),
    Fault("transformer", "no dropout of the encoded positions", "self.dropout(X + self.P[", "(X + self.P["),
    Fault("transformer", "no dropout in the encoder's positions", "PositionalEncoding(num_hiddens, dropout, max_len)\n        sizes = (num_hiddens, ffn_hiddens, num_heads, dropout)\n        self.blocks = ", "PositionalEncoding(num_hiddens, max_len=max_len)\n        sizes = (num_hiddens, ffn_hiddens, num_heads, dropout)\n        self.blocks = "),
    Fault("transformer", "no dropout in the decoder's positions", "PositionalEncoding(num_hiddens, dropout, max_len)\n        sizes = (num_hiddens, ffn_hiddens, num_heads, dropout)\n        self.blocks: ", "PositionalEncoding(num_hiddens, max_len=max_len)\n        sizes = (num_hiddens, ffn_hiddens, num_heads, dropout)\n        self.blocks: "),
    Fault("transformer", "positions in single precision", "evens = torch.arange(0, num_hiddens, 2, dtype=torch.float64)", "evens = torch.arange(0, num_hiddens, 2, dtype=torch.float32)"),
    Fault("transformer", "the source cut off from the gradient", "sources = clean_padding(enc_outputs, enc_outputs, allowed)", "sources = clean_padding(enc_outputs.detach(), enc_outputs.detach(), allowed)"),
    Fault("transformer", "earlier steps cut off from the gradient", "torch.cat((cache[0], keys), dim=2)", "torch.cat((cache[0].detach(), keys), dim=2)"),
    Fault("transformer", "positions lost on the meta device", "if was_meta and not self.P.is_meta:", "if False:"),
    Fault("transformer", "max_len forgotten", "(num_hiddens, ffn_hiddens, num_heads, num_layers, dropout, max_len)", "(num_hiddens, ffn_hiddens, num_heads, num_layers, dropout)"),
    Fault("transformer", "positions saved with the weights", "persistent=False", "persistent=True"),
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
    Fault("heads", "any score passes", '    check_number("what score returns", value)\n', ""),
    Fault("heads", "a watched attention stays so after an error", 'patches.enter_context(patch.object(module, "attend", watch))', 'patch.object(module, "attend", watch).start()'),
    Fault("heads", "watching within watching ends both", 'patches.enter_context(patch.object(module, "attend", watch))', 'vars(module)["attend"] = watch; patches.callback(lambda module=module: vars(module).pop("attend", None))'),
    Fault("heads", "watched weights keep their graph", "kept[name] = weights.detach()", "kept[name] = weights"),
    Fault("heads", "watched heads always return weights", "return output, weights if need_weights else None", "return output, weights"),
    Fault("heads", "an iterator of heads used up", "    without = list(without)\n", ""),
    Fault("heads", "an iterator of batches used up", "    batches = list(batches)\n", "    batches = (list(batches), batches)[1]\n"),
    Fault("heads", "gates without gradient", ", requires_grad=True)", ")"),
    Fault("heads", "gates of another type", "dtype=dtype, device=weight.device", "device=weight.device"),
    Fault("heads", "compiled code runs on", "        hooks.enter_context(torch.compiler.set_stance(\"force_eager\"))\n", ""),
    Fault("heads", "compiled code is not watched", "        patches.enter_context(torch.compiler.set_stance(\"force_eager\"))\n", ""),
    Fault("heads", "sums in half precision", "torch.promote_types(weight.dtype, torch.float32)", "weight.dtype"),
    Fault("heads", "weights of another kind are sliced", "    check_plain(model)\n", ""),
    Fault("heads", "columns of another head cut", "torch.cat([parts[i] for i in kept], axis)", "torch.cat([parts[-1 - i] for i in kept], axis)"),
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
    Fault("convert", "weights share memory", "target.load_state_dict(weights)", "target.load_state_dict(weights, assign=True)"),
    Fault("convert", "from D2L: dropout lost", "attention = AdditiveAttention(layers.w_v.weight.shape[1], layers.dropout.p,", "attention = AdditiveAttention(layers.w_v.weight.shape[1], 0.0,"),
    Fault("convert", "from the Annotated Transformer: dropout lost", "layers.h, layers.dropout.p, output", "layers.h, 0.0, output"),
    Fault("convert", "to the Annotated Transformer: dropout lost", "    target.dropout.p = attention.dropout.p\n", ""),
    Fault("convert", "to the Annotated Transformer: mode lost", "    return module.train(attention.training)\n\n\ndef from_gpt2", "    return module\n\n\ndef from_gpt2"),
    Fault("convert", "from GPT-2: c_proj not transposed", "layers.c_proj.weight.T)", "layers.c_proj.weight)"),
    Fault("convert", "from GPT-2: c_attn split along its inputs", "layers.c_attn.weight.T.chunk(3)", "layers.c_attn.weight.chunk(3, 1)"),
    Fault("convert", "from GPT-2: biases dropped", "*layers.c_attn.bias.chunk(3), layers.c_proj.bias)", "*(0 * layers.c_attn.bias).chunk(3), layers.c_proj.bias)"),
    Fault("convert", "from GPT-2: dropout lost", "layers.attn_dropout.p, bias=True", "0.0, bias=True"),
    Fault("convert", "from GPT-2: any scale passes", "if layers.scale_attn_by_inverse_layer_idx or not layers.scale_attn_weights:", "if False:"),
    Fault("convert", "from Llama: q_proj and k_proj exchanged", 'names = ("q_proj", "k_proj", "v_proj", "o_proj")', 'names = ("k_proj", "q_proj", "v_proj", "o_proj")'),
    Fault("convert", "from Llama: the base lost", ', base=rope["rope_theta"]', ""),
    Fault("convert", "from Llama: dropout lost", "groups, layers.attention_dropout, has_bias", "groups, 0.0, has_bias"),
    Fault("convert", "from Llama: scaled angles pass", 'if rope["rope_type"] != "default":', "if False:"),
    Fault("convert", "models with other attention pass for Llama", "if name not in [kind.__name__ for kind in type(module).__mro__]:", "if not hasattr(module, 'q_proj') and not hasattr(module, 'c_attn'):"),
    Fault("convert", "pairs from halves", "len(weight) // num_heads // 2, 2, *weight", "2, len(weight) // num_heads // 2, *weight"),
    Fault("convert", "rows moved across heads", "weight.reshape(num_heads, len(weight) // num_heads // 2, 2, *weight.shape[1:])", "weight.reshape(1, len(weight) // 2, 2, *weight.shape[1:])"),
    Fault("convert", "a class built on theirs is refused", "if name not in [kind.__name__ for kind in type(module).__mro__]:", "if name != type(module).__name__:"),
    # ---- language_model ----
    Fault("language_model", "turned the other way", "torch.cat((-sin, sin), dim=-1)", "torch.cat((sin, -sin), dim=-1)"),
    Fault("language_model", "no sign in the turn", "torch.cat((-sin, sin), dim=-1)", "torch.cat((sin, sin), dim=-1)"),
    Fault("language_model", "neighbouring features turned", "torch.cat((cos, cos), dim=-1)", "cos.repeat_interleave(2, -1)"),
    Fault("language_model", "speeds for half as many pairs", "torch.arange(0, d, 2, dtype=kind, device=positions.device) / d)", "torch.arange(d // 2, dtype=kind, device=positions.device) / d)"),
    Fault("language_model", "positions from 1", "torch.arange(offset, offset + X.shape[-2],", "torch.arange(offset + 1, offset + X.shape[-2] + 1,"),
    Fault("language_model", "the model's positions from 1", "torch.arange(offset, offset + X.shape[1],", "torch.arange(offset + 1, offset + X.shape[1] + 1,", "scores depend on distances alone"),
    Fault("language_model", "the model's positions without the cache", "self.angles(X, 0 if cache is None else cache[0][0].shape[2])", "self.angles(X, 0)"),
    Fault("language_model", "the usual base for all models", "attention.num_heads, attention.base, X.dtype)", "attention.num_heads, 10000.0, X.dtype)"),
    Fault("language_model", "angles computed in every block", "block(X, before, angles)", "block(X, before)"),
    Fault("language_model", "blocks of different bases pass", "if len(bases) > 1:", "if False:"),
    Fault("language_model", "positions in half precision", "angles = positions[:, None] * speeds", "angles = positions[:, None].to(dtype) * speeds"),
    Fault("language_model", "angles in float32", 'positions.device.type == "mps" else torch.float64', 'True else torch.float64'),
    Fault("language_model", "queries turned without the offset", "split_heads(self.W_q(X), self.num_heads), before, self.base, angles)", "split_heads(self.W_q(X), self.num_heads), 0, self.base, angles)"),
    Fault("language_model", "keys turned without the offset", "split_heads(self.W_k(X), self.num_groups), before, self.base, angles)", "split_heads(self.W_k(X), self.num_groups), 0, self.base, angles)"),
    Fault("language_model", "keys turned with the usual base", "split_heads(self.W_k(X), self.num_groups), before, self.base, angles)", "split_heads(self.W_k(X), self.num_groups), before, angles=angles)"),
    Fault("language_model", "keys not turned", "rotary(split_heads(self.W_k(X), self.num_groups), before, self.base, angles)", "split_heads(self.W_k(X), self.num_groups)"),
    Fault("language_model", "values turned too", "        values = split_heads(self.W_v(X), self.num_groups)", "        values = rotary(split_heads(self.W_v(X), self.num_groups), before, self.base, angles)"),
    Fault("language_model", "new keys before the cache", "torch.cat((cache[0], keys), dim=2)", "torch.cat((keys, cache[0]), dim=2)"),
    Fault("language_model", "new values before the cache", "torch.cat((cache[1], values), dim=2)", "torch.cat((values, cache[1]), dim=2)"),
    Fault("language_model", "groups repeated in the wrong order", "X.repeat_interleave(repeats, dim=1)", "X.repeat(1, repeats, 1, 1)"),
    Fault("language_model", "no causal mask in the fused path", "allowed, dropout, is_causal, enable_gqa", "allowed, dropout, False, enable_gqa"),
    Fault("language_model", "no mask where there is a cache", "values, allowed, dropout, is_causal", "values, None, dropout, is_causal"),
    Fault("language_model", "dropout in evaluation", "self.dropout.p if self.training else 0.0", "self.dropout.p"),
    Fault("language_model", "no dropout in the fused path", "values, allowed, dropout, is_causal", "values, allowed, 0.0, is_causal"),
    Fault("language_model", "attention without biases in the block", "dropout, bias=True)", "dropout)"),
    Fault("language_model", "normalized after the attention", "self.attention(self.norm_1(X), cache, angles=angles)", "self.attention(X, cache, angles=angles)"),
    Fault("language_model", "nothing added to the attention's output", "X = X + self.dropout(attended)", "X = self.dropout(attended)"),
    Fault("language_model", "one norm for both layers", "self.ffn(self.norm_2(X))", "self.ffn(self.norm_1(X))"),
    Fault("language_model", "no last norm", "self.dense(self.norm(X))", "self.dense(X)"),
    Fault("language_model", "no dropout of the embedding", "self.dropout(self.embedding(tokens))", "self.embedding(tokens)"),
    Fault("language_model", "every block reads the first one's cache", "block(X, before, angles)", "block(X, caches[0], angles)"),
    Fault("language_model", "the token to predict is fed", "model(shift_right(target, vocabulary.bos))", "model(target)"),
    Fault("language_model", "the epoch's loss not weighted by tokens", "total + loss.item() * int(lens.sum()), count + int(lens.sum())", "total + loss.item(), count + 1"),
    Fault("language_model", "perplexity in place of the loss", "history.append(total / count)", "history.append(math.exp(total / count))"),
    Fault("language_model", "the loss in bits", "history.append(total / count)", "history.append(total / count / math.log(2))"),
    Fault("language_model", "one order of batches in all epochs", "seed=seed * epochs + epoch)", "seed=seed)"),
    Fault("language_model", "gradients pile up", "                optimizer.zero_grad()\n", ""),
    Fault("language_model", "gradients not clipped", "                nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", ""),
    Fault("language_model", "the learning rate does not fall", "                schedule.step()\n", ""),
    Fault("language_model", "trained without dropout", "            model.train()\n", "            pass\n"),
    Fault("language_model", "mode lost after training", "    with restored_modes(model):\n", "    if True:\n"),
    Fault("language_model", "probabilities in half precision", "logits = at_least_float32(logits)", "logits = logits"),
    Fault("language_model", "multiplied by the temperature", "keepdim=True)) / temperature", "keepdim=True)) * temperature"),
    Fault("language_model", "one token too many by top-k", "ordered[..., :top_k], torch.zeros_like(ordered[..., top_k:])", "ordered[..., :top_k + 1], torch.zeros_like(ordered[..., top_k + 1:])"),
    Fault("language_model", "top-p before top-k", "        ordered = ordered / ordered.sum(dim=-1, keepdim=True)\n", ""),
    Fault("language_model", "one token too few by top-p", "ordered.cumsum(dim=-1) - ordered  #", "ordered.cumsum(dim=-1)  #"),
    Fault("language_model", "one token too many by top-p", "ordered.cumsum(dim=-1) - ordered  #", "ordered.cumsum(dim=-1) - ordered - ordered.roll(1, -1)  #"),
    Fault("language_model", "probabilities in the order of their size", "torch.zeros_like(ordered).scatter(-1, order, ordered)", "ordered"),
    Fault("language_model", "what is kept does not sum to 1", "return kept / kept.sum(dim=-1, keepdim=True)", "return kept"),
    Fault("language_model", "the first position's scores drawn from", "logits[:, -1], temperature", "logits[:, 0], temperature"),
    Fault("language_model", "top-p forgotten in writing", "temperature, top_k, top_p)\n            new", "temperature, top_k)\n            new"),
    Fault("language_model", "the generator forgotten", "1, generator=generator)", "1)"),
    Fault("language_model", "no cache in writing", "logits, cache = read(new, cache)", "logits, cache = read(tokens, None)"),
    Fault("language_model", "the prompt's cache is not kept", "logits, cache = read(new, cache)", "logits, _ = read(new, cache)"),
    Fault("language_model", "goes on after the end", "new = new.masked_fill(ended, stop)", "new = new"),
    Fault("language_model", "stops when the first text has ended", "and ended.all()", "and ended.any()"),
    Fault("language_model", "never stops early", "and ended.all()", "and False"),
    Fault("language_model", "written with dropout", "    with evaluating(model):\n", "    with restored_modes(model):\n"),
    Fault("language_model", "mode lost after writing", "    with evaluating(model):\n", "    model.eval()\n    if True:\n"),
    Fault("language_model", "static cache: a step late", "self.places[self.steps - 1 : self.steps]", "self.places[self.steps : self.steps + 1]"),
    Fault("language_model", "static cache: the empty places are seen", "self.places[None] <= position", "self.places[None] >= 0"),
    Fault("language_model", "static cache: the new place is not seen", "self.places[None] <= position", "self.places[None] < position"),
    Fault("language_model", "static cache: keys not turned", "keys.index_copy_(2, position, new_keys)", "keys.index_copy_(2, position, split_heads(attention.W_k(Y), attention.num_groups))"),
    Fault("language_model", "static cache: other attention passes", "if type(attention) is not RotaryAttention:", "if False:"),
    Fault("language_model", "a cache of another batch passes", '{"batch": batch, "groups"', '{"batch": None, "groups"'),
    Fault("language_model", "probabilities of large scores overflow", "scores = (logits - logits.amax(dim=-1, keepdim=True)) / temperature", "scores = logits / temperature"),
    Fault("language_model", "a stop in the prompt ends the text", "ended = torch.zeros_like(tokens[:, :1], dtype=torch.bool)", "ended = (tokens == (-1 if stop is None else stop)).any(1, keepdim=True)"),
    # ---- plot ----
    Fault("plot", "names of the axes exchanged", "ax.set_xlabel(xlabel,", "ax.set_xlabel(ylabel,"),
    Fault("plot", "the name of the rows lost", "ax.set_ylabel(ylabel,", "ax.set_ylabel('',"),
    Fault("plot", "names of the columns on every row", "for ax in axes[-1]:", "for ax in axes.flat:"),
    Fault("plot", "titles the wrong way round", "zip(axes[0], titles or (), strict=False)", "zip(axes[0], (titles or ())[::-1], strict=False)"),
    Fault("plot", "titles of heads the wrong way round", "in zip(shown, weights, titles, strict=True)", "in zip(shown, weights, titles[::-1], strict=True)"),
    Fault("plot", "matrices transposed", "ax.imshow(matrix.numpy(),", "ax.imshow(matrix.T.numpy(),"),
    Fault("plot", "rows from below", 'aspect="equal")', 'aspect="equal", origin="lower")'),
    Fault("plot", "colours blurred into each other", 'aspect="equal")', 'aspect="equal", interpolation="bilinear")'),
    Fault("plot", "cells that are no squares", 'aspect="equal"', 'aspect="auto"'),
    Fault("plot", "each picture in its own scale", "vmin=low, vmax=high", "vmin=matrix.min(), vmax=matrix.max()"),
    Fault("plot", "colours the wrong way round", '"Blues", "#D55E00"', '"Blues_r", "#D55E00"'),
    Fault("plot", "the colour map is not used", "draw(ax, matrix, low, high, cmap)", "draw(ax, matrix, low, high, WEIGHTS)"),
    Fault("plot", "no colour bar of heat-maps", "    figure.colorbar(image, ax=axes, shrink=0.6)\n", ""),
    Fault("plot", "no colour bar of heads", "    figure.colorbar(image, ax=list(shown), shrink=0.6)\n", ""),
    Fault("plot", "dots on the other side of the diagonal", "ax.scatter(position, row,", "ax.scatter(row, position,"),
    Fault("plot", "dots that cannot be seen", "color=GOLD, edgecolors", "color=GOLD, alpha=0.0, edgecolors"),
    Fault("plot", "dots behind the picture", "zorder=3)", "zorder=-1)"),
    Fault("plot", "dots in a colour of the map", 'WEIGHTS, GOLD = "Blues", "#D55E00"', 'WEIGHTS, GOLD = "Blues", "#084594"'),
    Fault("plot", "dots of one gold position only", "for position in gold:\n", "for position in gold[:1]:\n"),
    Fault("plot", "tokens the wrong way round", "map(legible, rows)", "map(legible, rows[::-1])"),
    Fault("plot", "tokens of the columns the wrong way round", "names = list(map(legible, columns))", "names = list(map(legible, columns[::-1]))"),
    Fault("plot", "source and target exchanged", "label(ax, source_names, target_names)", "label(ax, target_names, source_names)"),
    Fault("plot", "no <eos>", 'ending = ["<eos>"] if', "ending = [] if"),
    Fault("plot", "two colours alike", '"#009E73", "#CC79A7"', '"#009E73", "#009E75"'),
    Fault("plot", "colours that only some can tell apart", '"#0072B2", "#D55E00", "#009E73", "#CC79A7"', '"#0072B2", "#B03000", "#506000", "#CC79A7"'),
    Fault("plot", "figures wider than a page", "width = min(MAX_WIDTH, wanted + COLOUR_BAR)", "width = wanted + COLOUR_BAR"),
    Fault("plot", "the size asked for is not used", "figsize=figsize or grid_size(*grid.shape)", "figsize=grid_size(*grid.shape)"),
    Fault("plot", "a grey figure", '"facecolor": "white"', '"facecolor": "grey"'),
    Fault("plot", "letters too small", "FONT_SIZE, MAX_WIDTH, MAX_COLUMNS = 10.0", "FONT_SIZE, MAX_WIDTH, MAX_COLUMNS = 7.0"),
    Fault("plot", "a new figure for axes that are given", "    if ax is not None:\n        check_type(\"ax\", ax, Axes, \"Axes of matplotlib\")\n    else:\n", "    if True:\n"),
    Fault("plot", "unused places drawn", "        ax.remove()\n", "        pass\n"),
    Fault("plot", "negative scores cut off", "low, high = min(0.0, float(grid.min()))", "low, high = min(0.0, 0.0)"),

    # ---- practice ----
    Fault("practice/attention_pooling", "two hints exchanged", "    no_beta=lambda q, k, v, beta: (q @ k.T).softmax(-1) @ v,\n    late_beta=lambda", "    late_beta=lambda q, k, v, beta: (q @ k.T).softmax(-1) @ v,\n    no_beta=lambda"),
    Fault("practice/language_models", "two hints exchanged", "    lowest=lambda probabilities, p: placed(probabilities, by_rank(probabilities, p, False), False),\n    share_of_tokens=lambda", "    share_of_tokens=lambda probabilities, p: placed(probabilities, by_rank(probabilities, p, False), False),\n    lowest=lambda"),
    Fault("practice/inside_language_models", "queries without a match count too", "found[after.any(dim=1)].mean()", "found.mean()"),
    Fault("practice/turn", "booleans equal numbers", "if one.shape != other.shape or (one.dtype == torch.bool) != (other.dtype == torch.bool):", "if one.shape != other.shape:"),
    Fault("practice/turn", "a mistake is seen in the first case alone", "if same(results, self._answers(answer)):", "if same(results[:1], self._answers(answer)[:1]):"),
    Fault("practice/turn", "the first line of the attempt is blamed", "← {lines[-1]}", "← {lines[0]}"),
    # ---- results ----
    Fault("results", "every number is a float", "for kind in (int, float):", "for kind in (float, int):"),
]
# fmt: on


def copy_package(folder: Path) -> None:
    """Copy the package into a folder; what its tests need besides is linked."""
    shutil.copytree(ROOT / "mha_course", folder / "mha_course", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tools", "benchmarks"):
        (folder / name).symlink_to(ROOT / name)


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
    paths = [str(path) for name in names for path in ROOT.glob(f"tests/*/{name}.py")]
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-o", f"pythonpath={folder}"]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return "(did not end)"
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) \S*?(?:(\w+)\.py)?(?:::(\S+))?(?= |$)", done.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(
            f"pytest failed without a failed test:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return "::".join(part for part in found.groups() if part)


def try_fault(fault: Fault) -> str:
    """Return the test that catches a fault, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        plant(fault, Path(name))
        return run_tests(TESTS[fault.module], Path(name))


def lost(faults: list[Fault]) -> list[str]:
    """Name the faults whose text no longer occurs exactly once: the package has changed."""
    texts = {module: (ROOT / "mha_course" / f"{module}.py").read_text(encoding="utf-8") for module in TESTS}
    counts = {fault: texts[fault.module].count(fault.old) for fault in faults}
    return [
        f"{fault.module}, {fault.what}: its text occurs {count} times, must occur once: {fault.old!r}"
        for fault, count in counts.items()
        if count != 1
    ]


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
    if changed := lost(faults):
        sys.exit("\n".join(changed))
    print(f"{len(faults)} faults; first the tests without any", flush=True)
    check_sound(list(dict.fromkeys(fault.module for fault in faults)))
    wrong = 0
    with ThreadPoolExecutor(WORKERS) as pool:
        tried = {pool.submit(try_fault, fault): fault for fault in faults}
        for number, future in enumerate(as_completed(tried), start=1):
            fault, caught = tried[future], future.result()
            if fault.equivalent:
                verdict = (
                    f"equivalent: {fault.equivalent}" if not caught else f"CAUGHT, not equivalent: {caught}"
                )
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
