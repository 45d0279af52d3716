"""What is refused, and in what words: one line that names the argument, what was given and what is allowed."""

# ruff: noqa: E501 - the table has one line a row

import math
import re

import numpy
import pytest
import torch
from torch import nn

from benchmarks.references import AnnotatedAttention, EagerAttention
from mha_course import checks
from mha_course.attention import (
    AdditiveAttention,
    DotProductAttention,
    MultiHeadAttention,
    transpose_output,
    transpose_qkv,
)
from mha_course.convert import from_annotated, from_d2l, from_torch, to_annotated, to_d2l, to_torch
from mha_course.corpus import Pair, Vocabulary, batches, join_tokens, load_corpus, tokenize
from mha_course.heads import (
    Head,
    all_heads,
    count_flops,
    count_parameters,
    gradient_importance,
    leave_one_out,
    masked_heads,
    prune_heads,
)
from mha_course.masking import causal_mask, length_mask, masked_softmax
from mha_course.metrics import alignment_accuracy, bleu, corpus_bleu, exact_match, ruler_weights
from mha_course.parameters import stored_parameters
from mha_course.plot import diagram, show_alignment, show_heads, show_heatmaps
from mha_course.results import stored_results
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqDecoder, Seq2SeqEncoder
from mha_course.training import fit, masked_loss, seed_everything
from mha_course.transformer import PositionalEncoding, Transformer, TransformerDecoder, TransformerEncoder
from mha_course.translation import forced_weights, translate, translate_all

plt = pytest.importorskip("matplotlib.pyplot")

NAN, INF, META = math.nan, math.inf, torch.device("meta")
SCORES, IDS, LENS = torch.zeros(2, 3, 4), torch.zeros(2, 3, dtype=torch.int64), torch.tensor([1, 2])
X, CUBE, LOGITS = torch.ones(2, 3, 12), torch.ones(3, 3, 12), torch.zeros(2, 3, 5)
WORDS = Vocabulary([["a"]])
PAIR = Pair("", "", ("a",), ("a",), ((0,),))


def additive(*arguments, queries=X, keys=X, values=X, **options):
    return AdditiveAttention(12)(queries, keys, values, *arguments, **options)


def multi(*arguments, queries=X, keys=X, values=X, **options):
    return MultiHeadAttention(12, 3)(queries, keys, values, *arguments, **options)


def encoder(cell="gru", layers=1):
    return Seq2SeqEncoder(5, 4, 6, layers, cell=cell)


def attending(**options):
    return Seq2SeqAttentionDecoder(5, 4, 6, 1, **options)


def decode(kind, tokens, source=IDS):
    decoder = kind(5, 4, 6, 1)
    return decoder(tokens, decoder.init_state(encoder()(source)))


def recurrent(kind=Seq2SeqAttentionDecoder):
    return EncoderDecoder(encoder(), kind(5, 4, 6, 1))


def transformer():
    return Transformer(5, 5, 12, 8, 3, 1)


def loss(logits=LOGITS, labels=IDS, lens=LENS):
    return masked_loss(logits, labels, lens)


def train(model=None, pairs=(PAIR,), **options):
    return fit(nn.Linear(1, 1) if model is None else model, pairs, WORDS, WORDS, progress=False, **options)


def pruned():
    return prune_heads(MultiHeadAttention(12, 3), [Head("", 0)])


class Linears(nn.Module):
    """Four layers without a number of heads."""

    linears = nn.ModuleList(nn.Linear(2, 2) for _ in range(4))


def eager(*sizes, heads=3):
    return EagerAttention(*sizes, 12, heads, 0.0)


# fmt: off
REFUSED = [
    # masking
    (lambda: length_mask(torch.tensor([-1, 2]), 3), ValueError, "valid_lens must lie from 0 to 3, got -1"),
    (lambda: length_mask(torch.tensor([1, 4]), 3), ValueError, "valid_lens must lie from 0 to 3, got 4"),
    (lambda: length_mask(LENS.float(), 3), TypeError, "valid_lens must hold integers, got torch.float32"),
    (lambda: length_mask(LENS.bool(), 3), TypeError, "valid_lens must hold integers, got torch.bool"),
    (lambda: length_mask([1, 2], 3), TypeError, "valid_lens must be a tensor of integers, got list"),
    (lambda: length_mask(LENS, 3.0), TypeError, "max_len must be an integer, got 3.0"),
    (lambda: length_mask(LENS, -1), ValueError, "max_len must be at least 0, got -1"),
    (lambda: causal_mask(-1), ValueError, "n must be at least 0, got -1"),
    (lambda: causal_mask(True), TypeError, "n must be an integer, got True"),
    (lambda: masked_softmax(IDS), TypeError, "scores must hold floating-point numbers, got torch.int64"),
    (lambda: masked_softmax([[0.0]]), TypeError, "scores must be a tensor, got list"),
    (lambda: masked_softmax(SCORES, torch.tensor([1, 2, 3])), ValueError, "valid_lens must have the shape (batch,) = (2,) or (batch, queries) = (2, 3), got (3,)"),
    (lambda: masked_softmax(SCORES, torch.ones(2, 4).long()), ValueError, "= (2, 3), got (2, 4)"),
    (lambda: masked_softmax(SCORES, torch.tensor([1, 5])), ValueError, "valid_lens must lie from 0 to 4, got 5"),
    (lambda: masked_softmax(SCORES, [1, 2]), TypeError, "valid_lens must be a tensor of integers, got list"),
    (lambda: masked_softmax(SCORES[0], torch.tensor([1, 2, 3])), ValueError, "scores must have 3 or 4 axes where valid_lens are given, got (3, 4)"),
    (lambda: masked_softmax(SCORES, mask=SCORES[0]), TypeError, "mask must be boolean (True: may attend), got torch.float32"),
    (lambda: masked_softmax(SCORES, mask=[[True]]), TypeError, "mask must be a boolean tensor, got list"),
    (lambda: masked_softmax(SCORES, mask=torch.ones(3, 3).bool()), ValueError, "mask must be broadcastable to (2, 3, 4), got (3, 3)"),
    (lambda: masked_softmax(SCORES, mask=torch.ones(1, 2, 3, 4).bool()), ValueError, "mask must be broadcastable to (2, 3, 4), got (1, 2, 3, 4)"),
    (lambda: masked_softmax(SCORES, mask=torch.ones(3, 4).bool().to(META)), RuntimeError, "on the expected device"),
    (lambda: masked_softmax(SCORES, LENS.to(META)), RuntimeError, "on the expected device"),
    # attention: making it
    (lambda: MultiHeadAttention(10, 3), ValueError, "num_hiddens must be divisible by num_heads = 3, got 10"),
    (lambda: MultiHeadAttention(10, 0), ValueError, "num_heads must be at least 1, got 0"),
    (lambda: MultiHeadAttention(10, True), TypeError, "num_heads must be an integer, got True"),
    (lambda: MultiHeadAttention(0, 1), ValueError, "num_hiddens must be at least 1, got 0"),
    (lambda: MultiHeadAttention(10, 2, 1.5), ValueError, "dropout must lie between 0 and 1, got 1.5"),
    (lambda: MultiHeadAttention(10, 2, NAN), ValueError, "dropout must lie between 0 and 1, got nan"),
    (lambda: MultiHeadAttention(10, 2, "0.1"), TypeError, "dropout must be a number, got '0.1'"),
    (lambda: MultiHeadAttention(10, 2, 0.1, 5), TypeError, "bias must be True or False, got int"),
    (lambda: MultiHeadAttention(10, 2, query_size=0), ValueError, "query_size must be at least 1, got 0"),
    (lambda: MultiHeadAttention(10, 2, key_size=1.5), TypeError, "key_size must be an integer, got 1.5"),
    (lambda: MultiHeadAttention(10, 2, value_size=-1), ValueError, "value_size must be at least 1, got -1"),
    (lambda: MultiHeadAttention(100, 100, 100, 100, 5, 0.5), TypeError, "positional arguments but 7 were given"),
    (lambda: AdditiveAttention(0), ValueError, "num_hiddens must be at least 1, got 0"),
    (lambda: AdditiveAttention(4, 2.0), ValueError, "dropout must lie between 0 and 1, got 2.0"),
    (lambda: AdditiveAttention(4, query_size=0), ValueError, "query_size must be at least 1, got 0"),
    (lambda: AdditiveAttention(4, key_size="a"), TypeError, "key_size must be an integer, got 'a'"),
    (lambda: DotProductAttention(-0.1), ValueError, "dropout must lie between 0 and 1, got -0.1"),
    (lambda: transpose_qkv(torch.zeros(2, 4, 10), 3), ValueError, "num_hiddens must be divisible by num_heads = 3, got 10"),
    (lambda: transpose_qkv(torch.zeros(4, 10), 2), ValueError, "X must have the shape (batch, n, num_hiddens), got (4, 10)"),
    (lambda: transpose_output(torch.zeros(4, 2, 5), 3), ValueError, "rows must be divisible by num_heads = 3, got 4"),
    (lambda: transpose_output(torch.zeros(4, 2, 5), 0), ValueError, "num_heads must be at least 1, got 0"),
    # attention: calling it
    (lambda: multi(queries=X[0]), ValueError, "queries must have the shape (batch, queries, features = 12), got (3, 12)"),
    (lambda: multi(keys=X.long()), TypeError, "keys must hold floating-point numbers, got torch.int64"),
    (lambda: multi(values=X.tolist()), TypeError, "values must be a tensor, got list"),
    (lambda: multi(keys=X[:1]), ValueError, "keys must have the shape (batch = 2, keys, features = 12), got (1, 3, 12)"),
    (lambda: multi(values=X[:1]), ValueError, "values must have the shape (batch = 2, keys = 3, features = 12), got (1, 3, 12)"),
    (lambda: multi(values=X[:, 1:]), ValueError, "values must have the shape (batch = 2, keys = 3, features = 12), got (2, 2, 12)"),
    (lambda: multi(queries=X[..., 1:]), ValueError, "queries must have the shape (batch, queries, features = 12), got (2, 3, 11)"),
    (lambda: additive(keys=X[..., 1:]), ValueError, "keys must have the shape (batch = 2, keys, features = 12), got (2, 3, 11)"),
    (lambda: DotProductAttention()(X, X[..., 1:], X), ValueError, "keys must have the shape (batch = 2, keys, features = 12), got (2, 3, 11)"),
    (lambda: DotProductAttention()(X, X, X.to(META)), ValueError, "queries, keys and values must be on one device, got cpu, cpu and meta"),
    (lambda: multi(torch.tensor([1, 2, 3])), ValueError, "valid_lens must have the shape"),
    (lambda: multi(mask=torch.ones(3, 3).bool().tril()[:2]), ValueError, "mask must be broadcastable to (2, 3, 3, 3), got (2, 3)"),
    (lambda: multi(queries=CUBE, keys=CUBE, values=CUBE, mask=torch.ones(3, 3, 3).bool()), ValueError, "mask must have 2 or 4 axes, got (3, 3, 3): write mask[:, None] for one mask a batch row, mask[None] for one a head"),
    (lambda: multi(need_weights="no"), TypeError, "need_weights must be True or False, got str"),
    (lambda: multi(is_causal=causal_mask(3)), TypeError, "is_causal must be True or False, got Tensor"),
    (lambda: multi(keys=X[:, 1:], values=X[:, 1:], is_causal=True), ValueError, "queries must be at most as many as the keys where is_causal, 2, got 3"),
    # sequences
    (lambda: Seq2SeqEncoder(0, 4, 6, 1), ValueError, "vocab_size must be at least 1, got 0"),
    (lambda: Seq2SeqEncoder(5, 4, 6, True), TypeError, "num_layers must be an integer, got True"),
    (lambda: Seq2SeqEncoder(5, 4, 5, 1, bidirectional=True), ValueError, "num_hiddens must be divisible by directions = 2, got 5"),
    (lambda: Seq2SeqEncoder(5, 4, 6, 1, bidirectional="no"), TypeError, "bidirectional must be True or False, got str"),
    (lambda: Seq2SeqEncoder(5, 4, 6, 1, 1.5), ValueError, "dropout must lie between 0 and 1, got 1.5"),
    (lambda: Seq2SeqDecoder(5, 4.0, 6, 1), TypeError, "embed_size must be an integer, got 4.0"),
    (lambda: Seq2SeqDecoder(5, 4, 6, 1, "x"), TypeError, "dropout must be a number, got 'x'"),
    (lambda: Seq2SeqDecoder(5, 4, 6, 1, cell="rnn"), ValueError, "cell must be one of 'gru', 'lstm', got 'rnn'"),
    (lambda: Seq2SeqAttentionDecoder(5, 4, -1, 1), ValueError, "num_hiddens must be at least 1, got -1"),
    (lambda: Seq2SeqAttentionDecoder(5, 4, 6, 1, -1), ValueError, "dropout must lie between 0 and 1, got -1"),
    (lambda: attending(initial_state="mean"), ValueError, "initial_state must be one of 'last', 'zero', got 'mean'"),
    (lambda: attending(attention=nn.Linear(2, 2))(IDS, (torch.zeros(2, 3, 6), torch.zeros(1, 2, 6), None)), AttributeError, "'Linear' object has no attribute 'project'"),
    (lambda: encoder()(IDS.float()), TypeError, "source must hold integers, got torch.float32"),
    (lambda: encoder()(IDS.short()), RuntimeError, "one of the following scalar types: Long, Int; but got torch.ShortTensor"),
    (lambda: encoder()(IDS[0]), ValueError, "source must have the shape (batch, steps), got (3,)"),
    (lambda: encoder()(IDS + 5), ValueError, "source must lie from 0 to 4, got 5"),
    (lambda: encoder()(IDS, [1, 2]), TypeError, "source_valid_lens must be a tensor of integers, got list"),
    (lambda: encoder()(IDS, torch.tensor([1])), ValueError, "source_valid_lens must have the shape (batch = 2), got (1,)"),
    (lambda: encoder()(IDS, torch.tensor([1, 4])), ValueError, "source_valid_lens must lie from 0 to 3, got 4"),
    (lambda: attending().init_state(encoder("lstm")(IDS)), ValueError, "cell must be the same in encoder and decoder, got one of each"),
    (lambda: attending(cell="lstm").init_state(encoder()(IDS)), ValueError, "cell must be the same in encoder and decoder, got one of each"),
    (lambda: attending().init_state(torch.zeros(2, 4, 6)), TypeError, "enc_outputs must be (outputs, hidden_state), got Tensor"),
    (lambda: Seq2SeqDecoder(5, 4, 6, 1).init_state(None), TypeError, "enc_outputs must be (outputs, hidden_state), got NoneType"),
    (lambda: EncoderDecoder(encoder(layers=2), attending())(IDS, IDS), RuntimeError, "Expected hidden size (1, 2, 6), got [2, 2, 6]"),
    (lambda: attending().attention_weights, RuntimeError, "attention_weights are known only after a forward pass that keeps them"),
    (lambda: decode(Seq2SeqAttentionDecoder, IDS + 5), ValueError, "tokens must lie from 0 to 4, got 5"),
    (lambda: decode(Seq2SeqAttentionDecoder, IDS[:, :0]), ValueError, "tokens must hold at least one step, got (2, 0)"),
    (lambda: decode(Seq2SeqDecoder, IDS + 5), ValueError, "tokens must lie from 0 to 4, got 5"),
    (lambda: decode(Seq2SeqDecoder, IDS[:, :0]), ValueError, "tokens must hold at least one step, got (2, 0)"),
    (lambda: decode(Seq2SeqDecoder, IDS[:1]), RuntimeError, "Sizes of tensors must match"),
    # Transformer
    (lambda: PositionalEncoding(0), ValueError, "num_hiddens must be at least 1, got 0"),
    (lambda: PositionalEncoding(4, 2.0), ValueError, "dropout must lie between 0 and 1, got 2.0"),
    (lambda: PositionalEncoding(4, max_len=0), ValueError, "max_len must be at least 1, got 0"),
    (lambda: PositionalEncoding(6)(torch.zeros(1, 4, 5)), ValueError, "X must have the shape (batch, steps, num_hiddens = 6), got (1, 4, 5)"),
    (lambda: PositionalEncoding(6)(torch.zeros(1, 4, 6), -1), ValueError, "offset must be at least 0, got -1"),
    (lambda: PositionalEncoding(6, max_len=8)(torch.zeros(1, 4, 6), 5), ValueError, "X must end within max_len = 8 positions, got 9"),
    (lambda: Transformer(0, 5), ValueError, "vocab_size must be at least 1, got 0"),
    (lambda: Transformer(5, 5, 10, 0, 2), ValueError, "ffn_hiddens must be at least 1, got 0"),
    (lambda: Transformer(5, 5, 10, 8, 3), ValueError, "num_hiddens must be divisible by num_heads = 3, got 10"),
    (lambda: TransformerEncoder(5, "8", 8, 2, 1), TypeError, "num_hiddens must be an integer, got '8'"),
    (lambda: TransformerDecoder(5, 8, 8, 2, -1), ValueError, "num_layers must be at least 1, got -1"),
    (lambda: transformer()(IDS + 5, IDS), ValueError, "source must lie from 0 to 4, got 5"),
    (lambda: transformer()(IDS, IDS[0]), ValueError, "tokens must have the shape (batch, steps), got (3,)"),
    (lambda: transformer()(IDS, IDS, torch.tensor([1, 4])), ValueError, "valid_lens must lie from 0 to 3, got 4"),
    (lambda: transformer()(IDS[:1], IDS), RuntimeError, "Sizes of tensors must match"),
    (lambda: transformer()(IDS[:1], torch.zeros(1, 1001).long()), ValueError, "tokens must end within max_len = 1000 positions, got 1001"),
    (lambda: Transformer(5, 5, 12, 8, 3, 1, max_len=2)(IDS, IDS), ValueError, "source must end within max_len = 2 positions, got 3"),
    (lambda: transformer().decoder.init_state(torch.zeros(1, 4, 9)), ValueError, "enc_outputs must have the shape (batch, steps, num_hiddens = 12), got (1, 4, 9)"),
    # training and translation
    (lambda: loss(logits=torch.zeros(2, 3)), ValueError, "logits must have the shape (batch, steps, vocab_size), got (2, 3)"),
    (lambda: loss(logits=[1]), TypeError, "logits must be a tensor, got list"),
    (lambda: loss(labels=IDS[:, 1:]), ValueError, "labels must have the shape (batch = 2, steps = 3), got (2, 2)"),
    (lambda: loss(labels=IDS.float()), TypeError, "labels must hold integers, got torch.float32"),
    (lambda: loss(labels=IDS + 5), IndexError, "Target 5 is out of bounds."),
    (lambda: loss(labels=IDS - 100), IndexError, "Target -100 is out of bounds."),
    (lambda: loss(lens=torch.tensor([1])), ValueError, "lens must have the shape (batch = 2), got (1,)"),
    (lambda: loss(lens=torch.tensor([1, 4])), ValueError, "lens must lie from 0 to 3, got 4"),
    (lambda: train(model="x"), TypeError, "model must be a PyTorch module, got str"),
    *((lambda pairs=pairs: train(pairs=pairs), TypeError, f"each of pairs must be a Pair, as load_corpus and read_pairs return, got {kind}")
      for pairs, kind in ((["a b"], "str"), ([("a", "b")], "tuple"), ("ab", "str"), ({"a": 1}, "str"))),
    (lambda: train(pairs=[PAIR._replace(source="i lost")]), TypeError, "each pair's source must be a tuple of tokens, got the string 'i lost'"),
    (lambda: train(pairs=[PAIR._replace(target=(1,))]), TypeError, "each pair's target must be a tuple of tokens, got (1,)"),
    (lambda: train(model=nn.Identity()), ValueError, "model must have parameters, got Identity without any"),
    (lambda: train(model=nn.Linear(2, 2).requires_grad_(False)), ValueError, "model must have a parameter to train, got all of them frozen"),
    (lambda: fit(recurrent(), [PAIR], ["a"], WORDS), TypeError, "source_vocabulary must be a Vocabulary, got list"),
    (lambda: fit(recurrent(), [PAIR], WORDS, None), TypeError, "target_vocabulary must be a Vocabulary, got NoneType"),
    (lambda: EncoderDecoder(recurrent().decoder, encoder()), TypeError, "decoder must be a Decoder, got Seq2SeqEncoder"),
    (lambda: EncoderDecoder(3, recurrent().decoder), TypeError, "encoder must be an Encoder, got int"),
    (lambda: train(pairs=[]), ValueError, "pairs must hold at least one pair, got none"),
    (lambda: train(epochs=-1), ValueError, "epochs must be at least 0, got -1"),
    (lambda: train(batch_size=0), ValueError, "batch_size must be at least 1, got 0"),
    (lambda: train(learning_rate=-0.1), ValueError, "learning_rate must lie between 0 and"),
    (lambda: train(learning_rate=INF), ValueError, "learning_rate must lie between 0 and"),
    (lambda: train(clip=0), ValueError, "clip must lie between"),
    (lambda: train(device="gpu"), RuntimeError, "device type at start of device string: gpu"),
    (lambda: train(seed=1.5), TypeError, "seed must be an integer, got 1.5"),
    (lambda: seed_everything("x"), TypeError, "seed must be an integer, got 'x'"),
    (lambda: translate(recurrent(), "a", WORDS, WORDS, max_steps=0), ValueError, "max_steps must be at least 1, got 0"),
    (lambda: translate(nn.Linear(2, 2), "a", WORDS, WORDS), TypeError, "model must be an EncoderDecoder, got Linear"),
    (lambda: translate(recurrent(), None, WORDS, WORDS), TypeError, "a sentence must be a string or a sequence of tokens, got NoneType"),
    (lambda: translate(recurrent(), "a", WORDS, ["a"]), TypeError, "target_vocabulary must be a Vocabulary, got list"),
    (lambda: translate(recurrent(), "a", WORDS, WORDS, language="English"), ValueError, "language must be a code such as 'en' or 'tr', got 'English'"),
    (lambda: translate_all(recurrent(), None, WORDS, WORDS), TypeError, "sentences must be a sequence of sentences, got NoneType"),
    (lambda: forced_weights(recurrent(), None, WORDS, WORDS), TypeError, "pairs must be an iterable of Pair, got NoneType"),
    (lambda: translate_all(recurrent(), "a a", WORDS, WORDS), TypeError, "sentences must be a sequence of sentences, got a string"),
    (lambda: forced_weights(recurrent(Seq2SeqDecoder), [PAIR], WORDS, WORDS), TypeError, "model must have an AttentionDecoder, got Seq2SeqDecoder"),
    # metrics
    *((lambda k=k: bleu("a", "a", k), error, "k must be ") for k, error in ((0, ValueError), (1.5, TypeError), (True, TypeError))),
    (lambda: ruler_weights(0, 3), ValueError, "steps must be at least 1, got 0"),
    (lambda: ruler_weights(3, 2.0), TypeError, "positions must be an integer, got 2.0"),
    (lambda: bleu("a", " "), ValueError, "reference must hold at least one token, got none"),
    (lambda: bleu(None, "a"), TypeError, "prediction must be a string or a sequence of tokens, got NoneType"),
    (lambda: corpus_bleu(["a"], ["a", "b"]), ValueError, "predictions and references must be as many, got 1 and 2"),
    (lambda: corpus_bleu("a", "a"), TypeError, "predictions and references must be sequences of sentences, got a string"),
    (lambda: corpus_bleu(["a"], ["a"], 0), ValueError, "max_n must be at least 1, got 0"),
    (lambda: exact_match([], []), ValueError, "predictions must hold at least one sentence, got none"),
    (lambda: exact_match((s for s in ["a"]), ["a"]), TypeError, "predictions must be a sequence, got generator"),
    (lambda: exact_match(["a"], None), TypeError, "references must be a sequence, got NoneType"),
    (lambda: alignment_accuracy(iter([X[0]]), [((0,),)]), TypeError, "weights must be a sequence, got list_iterator"),
    (lambda: alignment_accuracy([SCORES[0]], [(0, 1, 2)]), TypeError, "each entry of alignments[0] must be a sequence of positions, got int"),
    (lambda: alignment_accuracy([SCORES[0]], [3]), TypeError, "alignments[0] must be a sequence of sequences of positions, got int"),
    (lambda: alignment_accuracy([], [((0,),)]), ValueError, "weights and alignments must be as many, got 0 and 1"),
    (lambda: alignment_accuracy([X], [((0,),)]), ValueError, "weights[0] must have the shape (steps, positions), got (2, 3, 12)"),
    (lambda: alignment_accuracy([[[1.0]]], [((0,),)]), TypeError, "weights[0] must be a tensor, got list"),
    (lambda: alignment_accuracy([torch.tensor([[NAN]])], [((0,),)]), ValueError, "weights[0] must be numbers, got NaN"),
    (lambda: alignment_accuracy([SCORES[0]], [((0,),)]), ValueError, "alignments[0] must have one entry for each target token, 3, got 1"),
    (lambda: alignment_accuracy([SCORES[0, :1]], [((4,),)]), ValueError, "alignments[0] must hold source positions from 0 to 3, got 4"),
    (lambda: alignment_accuracy([SCORES[0, :1]], [((-1,),)]), ValueError, "alignments[0] must hold source positions from 0 to 3, got -1"),
    (lambda: alignment_accuracy([SCORES[0, :1]], [((),)]), ValueError, "alignments must hold at least one gold position, got none"),
    # corpus and tables
    (lambda: Vocabulary(["i lost ."]), TypeError, "token_lists must hold lists of tokens, got the string 'i lost .'"),
    (lambda: Vocabulary([PAIR]), TypeError, "token_lists must hold lists of tokens, got a Pair: take its source or its target"),
    (lambda: Vocabulary(PAIR), TypeError, "token_lists must hold lists of tokens, got the string ''"),
    *((lambda tokens=tokens: Vocabulary([tokens]), TypeError, f"token_lists must hold lists of tokens, got {tokens!r}") for tokens in (["a", 1], [["a"]], [b"a"], 3, None, [None])),
    (lambda: Vocabulary(None), TypeError, "token_lists must be an iterable of lists of tokens, got NoneType"),
    (lambda: Vocabulary.from_tokens(["a", "b"]), ValueError, "tokens must begin with <pad>, <bos>, <eos>, <unk>, got ['a', 'b']"),
    (lambda: Vocabulary.from_tokens([*WORDS.tokens, "a"]), ValueError, "tokens must differ, got 'a' more than once"),
    (lambda: Vocabulary.from_tokens(WORDS), TypeError, "tokens must be a list of tokens, got <"),
    (lambda: Vocabulary.from_tokens("<pad> <bos>"), TypeError, "tokens must be a list of tokens, got the string '<pad> <bos>'"),
    (lambda: Vocabulary.from_tokens([*WORDS.tokens, 3]), TypeError, "tokens must be a list of tokens, got ['<pad>', '<bos>'"),
    (lambda: tokenize(["a"]), TypeError, "sentence must be a string, got list"),
    (lambda: batches(["ab"], WORDS, WORDS), TypeError, "each of pairs must be a Pair"),
    (lambda: batches([PAIR], WORDS, ["a"]), TypeError, "target_vocabulary must be a Vocabulary, got list"),
    (lambda: Vocabulary([], min_freq="x"), TypeError, "min_freq must be an integer, got 'x'"),
    *((lambda tokens=tokens: WORDS[tokens], TypeError, "tokens must be a string or a list of strings") for tokens in (3, [1], None, [["a"]])),
    *((lambda ids=ids: WORDS.to_tokens(ids), TypeError, "ids must be a list or a 1-D tensor of integers") for ids in ([1.5], torch.ones(2), IDS, ["1"])),
    (lambda: WORDS.to_tokens([5]), ValueError, "ids must be from 0 to 4, got 5"),
    (lambda: WORDS.to_tokens([-1]), ValueError, "ids must be from 0 to 4, got -1"),
    (lambda: load_corpus("de"), ValueError, "target must be one of 'fr', 'tr', 'vi', 'zh', got 'de'"),
    (lambda: load_corpus("fr", "val"), ValueError, "split must be one of"),
    (lambda: join_tokens(["a"], "de"), ValueError, "language must be one of 'en', 'fr', 'tr', 'vi', 'zh', got 'de'"),
    (lambda: batches([], WORDS, WORDS, 1.5), TypeError, "batch_size must be an integer, got 1.5"),
    (lambda: batches([], WORDS, WORDS, seed=[1]), TypeError, "seed must be an integer, got [1]"),
    (lambda: stored_results("nothing"), ValueError, "name must be one of bottleneck"),
    (lambda: stored_parameters("nothing"), ValueError, "name must be one of 'transformer-fr', got 'nothing'"),
    (lambda: stored_parameters("transformer-fr", 3), ValueError, "seed must be one of 0, 1, 2, got 3"),
    # heads
    *((lambda head=head: prune_heads(MultiHeadAttention(12, 3), [head]), ValueError, f"heads must be some of those that all_heads(model) returns, got {head!r}")
      for head in (Head("", 3), Head("", -1), Head("a", 0), ("", 0.5), ("", True), 0)),
    (lambda: prune_heads(MultiHeadAttention(12, 3), all_heads(MultiHeadAttention(12, 3))), ValueError, "heads must leave one in each module, got all 3 of ''"),
    (lambda: masked_heads(MultiHeadAttention(12, 3), [Head("", 3)]).__enter__(), ValueError, "heads must be some of those"),
    (lambda: prune_heads(nn.Linear(2, 2), []), ValueError, "model must have a MultiHeadAttention, got Linear without one"),
    (lambda: prune_heads(3, []), TypeError, "model must be a PyTorch module, got int"),
    (lambda: leave_one_out(MultiHeadAttention(12, 3), lambda: 1.0, [Head("b", 0)]), ValueError, "heads must be some of those"),
    (lambda: leave_one_out(MultiHeadAttention(12, 3), lambda: None), TypeError, "what score returns must be a number, got None"),
    (lambda: leave_one_out(MultiHeadAttention(12, 3), lambda: X), TypeError, "what score returns must be a number, got "),
    (lambda: leave_one_out(MultiHeadAttention(12, 3), 0.5), TypeError, "score must be callable, got float"),
    (lambda: leave_one_out(MultiHeadAttention(12, 3), lambda: 1.0, None), TypeError, "without must be an iterable of heads, got NoneType"),
    (lambda: gradient_importance(MultiHeadAttention(12, 3), X, [X]), TypeError, "loss must be callable, got Tensor"),
    (lambda: gradient_importance(MultiHeadAttention(12, 3), len, None), TypeError, "batches must be an iterable of batches, got NoneType"),
    (lambda: prune_heads(MultiHeadAttention(12, 3), None), TypeError, "heads must be an iterable of heads, got NoneType"),
    (lambda: prune_heads(MultiHeadAttention(12, 3), Head("", 0)), ValueError, "heads must be some of those that all_heads(model) returns, got ''"),
    (lambda: count_parameters(3), TypeError, "model must be a PyTorch module, got int"),
    (lambda: count_flops(X), TypeError, "function must be callable, got Tensor"),
    (lambda: gradient_importance(MultiHeadAttention(12, 3), len, []), ValueError, "batches must hold at least one batch, got none"),
    *((lambda value=value: gradient_importance(MultiHeadAttention(12, 3), lambda _: value, [0]), ValueError, "loss must return a scalar tensor that depends on the heads")
      for value in (1.0, torch.tensor(1.0), torch.ones(2, requires_grad=True))),
    # convert
    (lambda: from_torch(nn.Linear(2, 2)), TypeError, "module must be nn.MultiheadAttention, got Linear"),
    (lambda: from_torch(nn.MultiheadAttention(4, 2, add_bias_kv=True)), ValueError, "module must be without add_bias_kv and add_zero_attn"),
    (lambda: from_torch(nn.MultiheadAttention(4, 2, add_zero_attn=True)), ValueError, "module must be without add_bias_kv and add_zero_attn"),
    (lambda: to_torch(DotProductAttention()), TypeError, "attention must be MultiHeadAttention of this package, got DotProductAttention"),
    (lambda: to_torch(MultiHeadAttention(4, 2, query_size=3)), ValueError, "attention must have query_size 4 for nn.MultiheadAttention, got 3"),
    (lambda: to_torch(pruned()), ValueError, "attention must have the width of all heads 12 for nn.MultiheadAttention, got 8"),
    (lambda: from_d2l(nn.Linear(2, 2)), TypeError, "module must be one of D2L's attention classes, got Linear"),
    (lambda: from_d2l(3), TypeError, "module must be a PyTorch module, got int"),
    (lambda: from_d2l(nn.LazyLinear(2)), ValueError, "module must have met a batch"),
    (lambda: to_d2l(nn.Linear(2, 2), nn.Linear(2, 2)), TypeError, "of this package, got Linear"),
    (lambda: to_d2l(MultiHeadAttention(12, 3), 3), TypeError, "module must be a PyTorch module, got int"),
    (lambda: to_d2l(MultiHeadAttention(12, 3), nn.Linear(2, 2)), ValueError, "module must have num_heads 3, got None"),
    (lambda: to_d2l(DotProductAttention(), nn.Linear(2, 2)), TypeError, "module must be one of D2L's attention classes, got Linear"),
    (lambda: to_d2l(MultiHeadAttention(12, 3), eager(12, 12, 12, heads=4)), ValueError, "module must have num_heads 3, got 4"),
    (lambda: to_d2l(MultiHeadAttention(12, 3, bias=True), eager(12, 12, 12)), ValueError, "module must have the same layers and biases, got W_k.bias, W_o.bias"),
    (lambda: to_d2l(MultiHeadAttention(12, 3), eager(7, 12, 12)), ValueError, "module must have W_k.weight of shape (12, 12), got (12, 7)"),
    (lambda: from_annotated(nn.Linear(2, 2)), TypeError, "module must have h, dropout and four linears, got Linear"),
    (lambda: to_annotated(nn.Linear(2, 2), AnnotatedAttention(3, 12)), TypeError, "attention must be MultiHeadAttention of this package, got Linear"),
    (lambda: from_annotated(Linears()), TypeError, "module must have h, dropout and four linears, got Linears"),
    (lambda: to_annotated(MultiHeadAttention(12, 3), nn.Linear(2, 2)), TypeError, "module must have h, dropout and four linears, got Linear"),
    (lambda: to_annotated(MultiHeadAttention(12, 3), AnnotatedAttention(3, 12)), ValueError, "module must have the same layers and biases"),
    (lambda: to_annotated(MultiHeadAttention(12, 3, bias=True, key_size=7), AnnotatedAttention(3, 12)), ValueError, "attention must have key_size 12 for the Annotated Transformer's class, got 7"),
    (lambda: to_annotated(MultiHeadAttention(12, 3, bias=True), AnnotatedAttention(4, 12)), ValueError, "module must have h = 3 heads, got 4"),
    # plot
    (lambda: show_heatmaps([[1.0]]), TypeError, "matrices must be a tensor, got list"),
    (lambda: show_heatmaps(torch.ones(3)), ValueError, "matrices must have 2 or 3 or 4 axes, none of size 0, got (3,)"),
    (lambda: show_heatmaps(torch.ones(0, 3)), ValueError, "none of size 0, got (0, 3)"),
    (lambda: show_heatmaps(SCORES, titles=["a"]), ValueError, "titles must be as many as there are places, 2, got 1"),
    *((lambda cell=cell: show_heatmaps(torch.tensor([[0.0, cell]])), ValueError, "matrices must hold finite real numbers") for cell in (NAN, INF, 1j)),
    (lambda: show_heatmaps(torch.tensor([[0.0, 1e300]], dtype=torch.float64)), ValueError, "matrices must hold finite real numbers"),
    (lambda: show_alignment(SCORES[0], "a b c d", "a b c", ax=3), TypeError, "ax must be Axes of matplotlib, got int"),
    (lambda: show_alignment(SCORES[0], "a b c d", "a b c", [0, 1, 2]), TypeError, "each entry of alignment must be a sequence of positions, got int"),
    (lambda: show_heads(SCORES[0]), ValueError, "weights must have 3 axes, none of size 0, got (3, 4)"),
    (lambda: show_heads(SCORES, "a b"), ValueError, "queries must be as many as there are places, 3, got 2"),
    (lambda: show_heads(SCORES, None, "a"), ValueError, "keys must be as many as there are places, 4, got 1"),
    (lambda: show_heads(SCORES, titles=["a"]), ValueError, "titles must be as many as there are places, 2, got 1"),
    (lambda: show_alignment(SCORES, "a", "a"), ValueError, "weights must have 2 axes, none of size 0, got (2, 3, 4)"),
    (lambda: show_alignment(SCORES[0], "a b", "a b c"), ValueError, "source must be as many as there are places, 4, got 2"),
    (lambda: show_alignment(SCORES[0], "a b c d", "a"), ValueError, "target must be as many as there are places, 3, got 1"),
    (lambda: show_alignment(SCORES[0], "a b c d", "a b c", [()]), ValueError, "alignment must have one entry for each target token, 3, got 1"),
    (lambda: show_alignment(SCORES[0], "a b c d", "a b c", [(4,)] * 3), ValueError, "alignment must hold source positions from 0 to 3, got 4"),
    *((lambda name=name: diagram(name), ValueError, "name must be one of") for name in ("../corpus", "bahdanau.svg", "", 3)),
]
# fmt: on


@pytest.mark.parametrize(
    ("call", "error", "message"), REFUSED, ids=[f"{i}-{row[2][:40]}" for i, row in enumerate(REFUSED)]
)
def test_what_is_wrong_is_named_in_one_line(call, error, message):
    figures = plt.get_fignums()
    with pytest.raises(error, match=re.escape(message)) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert type(caught.value) is error
    assert plt.get_fignums() == figures


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize(
    "attention", [DotProductAttention(), AdditiveAttention(12), MultiHeadAttention(12, 3)]
)
@pytest.mark.parametrize("wrong", ["keys", "values", "all"])
def test_types_that_differ_are_told_by_pytorch(attention, need_weights, wrong):
    given = {name: X.double() if wrong in (name, "all") else X for name in ("queries", "keys", "values")}
    if wrong == "all" and isinstance(attention, DotProductAttention):
        return  # it has no parameters
    with pytest.raises(RuntimeError, match=r"dtype|expected scalar type") as caught:
        attention(**given, need_weights=need_weights)
    assert "\n" not in str(caught.value)


def test_no_check_reads_the_values_of_a_tensor_that_is_not_on_the_cpu():
    """A look at a GPU's tensor would wait for all that it was asked for before; one on "meta" has no values."""
    lens, ids = (
        torch.ones(2, dtype=torch.int64, device=META),
        torch.ones(2, 3, dtype=torch.int64, device=META),
    )
    X = torch.ones(2, 3, 12, device=META)
    for attention in (DotProductAttention(), AdditiveAttention(12), MultiHeadAttention(12, 3)):
        for need_weights in (False, True):
            attention.to(META)(X, X, X, lens, need_weights=need_weights)
    for training in (False, True):
        transformer().train(training).to(META)(ids, ids, lens)
    checks.check_range("lens", lens, -1)


def test_the_last_position_may_be_read():
    encoding = PositionalEncoding(4, max_len=3)
    assert torch.equal(encoding(torch.zeros(1, 3, 4))[:, 2:], encoding(torch.zeros(1, 1, 4), offset=2))


def test_sizes_may_be_numpys_integers():
    """NumPy's floats pass as numbers; its integers come out of shapes, sums and configurations."""
    one, four, six = numpy.int64(1), numpy.int32(4), numpy.uint8(6)
    for cell in ("gru", "lstm"):
        reader = Seq2SeqEncoder(numpy.int16(5), four, six, one, bidirectional=True, cell=cell)
        for kind in (Seq2SeqDecoder, Seq2SeqAttentionDecoder):
            model = EncoderDecoder(reader, kind(numpy.int64(5), four, six, one, cell=cell))
            assert translate(model, "a", WORDS, WORDS, max_steps=one).tokens is not None
            assert fit(model, [PAIR], WORDS, WORDS, epochs=one, batch_size=four, seed=six, progress=False)
    assert bleu("a b", "a b", numpy.int64(2)) == 1
    assert batches([PAIR], WORDS, WORDS, four, seed=numpy.int8(3))
    assert alignment_accuracy([torch.eye(2)], [numpy.array([[0], [1]])]) == 1
    assert torch.equal(ruler_weights(numpy.int64(2), numpy.int64(3)), ruler_weights(2, 3))
    assert prune_heads(MultiHeadAttention(12, 3), [Head("", numpy.int64(0))]).num_heads == 2
