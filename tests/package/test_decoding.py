"""Greedy decoding stops at <eos>, batches change nothing, weights are those of the steps taken."""

import copy

import pytest
import torch
from torch import nn

from mha_course.corpus import Pair, Vocabulary
from mha_course.seq2seq import (
    AttentionDecoder,
    Encoder,
    EncoderDecoder,
    Seq2SeqAttentionDecoder,
    Seq2SeqDecoder,
    Seq2SeqEncoder,
)
from mha_course.training import seed_everything
from mha_course.transformer import Transformer
from mha_course.translation import forced_weights, translate, translate_all

WORDS = ["one", "two", "three", "four", "five", "six"]
VOCABULARY = Vocabulary([WORDS])
SENTENCES = ["one two three", "six", "", "five five four one two three six", "two zzz"]


class CopyEncoder(Encoder):
    """Hands the source on."""

    def forward(self, source, source_valid_lens=None):
        return source


class CopyDecoder(AttentionDecoder):
    """Writes the source token by token, <eos> included, and looks at what it writes with every head."""

    def __init__(self, vocab_size, endless=False, layers_and_heads=()):
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))
        self.vocab_size, self.endless, self.layers_and_heads = vocab_size, endless, layers_and_heads
        self.fed = []

    def init_state(self, enc_outputs, source_valid_lens=None):
        return [enc_outputs, 0, source_valid_lens]

    def forward(self, tokens, state):
        source, step, lens = state
        self.fed.append(tokens)
        steps = tokens.shape[1]
        at = torch.arange(step, step + steps).expand(len(source), steps)  # (batch, steps)
        at = at.minimum(lens[:, None] - (2 if self.endless else 1)).clamp(min=0)
        logits = nn.functional.one_hot(source.gather(1, at), self.vocab_size).float()
        weights = nn.functional.one_hot(at, source.shape[1]).float()  # (batch, steps, source steps)
        for size in reversed(self.layers_and_heads):
            weights = weights.unsqueeze(1).expand(-1, size, *weights.shape[1:])
        self._weights = weights
        return logits, [source, step + steps, lens]

    @property
    def attention_weights(self):
        return self._weights


def copier(**options):
    return EncoderDecoder(CopyEncoder(), CopyDecoder(len(VOCABULARY), **options))


def recurrent_model(decoder=Seq2SeqAttentionDecoder):
    seed_everything(0)
    encoder = Seq2SeqEncoder(len(VOCABULARY), 16, 16, 2, bidirectional=True)
    return EncoderDecoder(encoder, decoder(len(VOCABULARY), 16, 16, 2)).double()


def test_translation_stops_at_eos_which_is_not_among_its_tokens():
    model = copier()
    translation = translate(model, "one two three", VOCABULARY, VOCABULARY)
    assert translation.tokens == ["one", "two", "three"]
    assert translation.source == ["one", "two", "three", "<eos>"]
    assert len(model.decoder.fed) == 4
    assert torch.equal(translation.weights, torch.eye(4)[:3])


def test_the_first_token_fed_is_bos_and_each_later_one_the_one_before():
    model = copier()
    translate(model, "one two", VOCABULARY, VOCABULARY)
    assert [step.tolist() for step in model.decoder.fed] == [
        [[VOCABULARY.bos]], [[VOCABULARY["one"]]], [[VOCABULARY["two"]]]
    ]  # fmt: skip


def test_a_model_that_never_ends_is_cut_off():
    translation = translate(copier(endless=True), "one two three", VOCABULARY, VOCABULARY, max_steps=6)
    assert translation.tokens == ["one", "two", "three", "three", "three", "three"]
    assert translation.weights.shape == (6, 4)
    assert len(translate(copier(endless=True), "one", VOCABULARY, VOCABULARY).tokens) == 20


def test_a_sentence_is_a_string_or_tokens_and_unknown_words_are_unk():
    for sentence in ("two  zzz ", ["two", "zzz"], ("two", "zzz")):
        translation = translate(copier(), sentence, VOCABULARY, VOCABULARY)
        assert translation.tokens == ["two", "<unk>"]
        assert translation.source == ["two", "zzz", "<eos>"]


def test_a_string_is_read_as_a_file_is_and_tokens_are_taken_as_they_are():
    """A sentence of the reader's own has capitals, and its punctuation stands at a word."""
    vocabulary = Vocabulary([["my", "car", ",", "it's", "old", ".", "ılık", "A"]])
    model = EncoderDecoder(CopyEncoder(), CopyDecoder(len(vocabulary)))
    for sentence in ("My car, it’s OLD.", "my car , it's old ."):
        assert translate(model, sentence, vocabulary, vocabulary).source[:-1] == [
            "my", "car", ",", "it's", "old", "."
        ]  # fmt: skip
        (translation,) = translate_all(model, [sentence], vocabulary, vocabulary)
        assert "<unk>" not in translation.tokens
    assert translate(model, ["A"], vocabulary, vocabulary).tokens == ["A"]
    assert translate(model, "ILIK", vocabulary, vocabulary, language="tr").tokens == ["ılık"]
    assert translate_all(model, ["ILIK"], vocabulary, vocabulary, language="tr")[0].tokens == ["ılık"]


def test_sentences_and_pairs_may_come_from_generators():
    expected = [t.tokens for t in translate_all(copier(), SENTENCES, VOCABULARY, VOCABULARY)]
    assert [t.tokens for t in translate_all(copier(), iter(SENTENCES), VOCABULARY, VOCABULARY)] == expected
    assert len(forced_weights(copier(), iter(PAIRS), VOCABULARY, VOCABULARY)) == len(PAIRS)


def compiled_transformers():
    """Yield Transformers that ran, were compiled in part and ran again, each with an uncompiled one."""
    seed_everything(0)
    plain = Transformer(len(VOCABULARY), len(VOCABULARY), 12, 16, 2, 1).eval()
    for part in ("", "decoder", "encoder", "decoder.blocks.0.cross_attention"):
        model = copy.deepcopy(plain)
        forced_weights(model, PAIRS[:1], VOCABULARY, VOCABULARY)
        model.get_submodule(part).compile(backend="eager")
        ids = torch.zeros(1, 3, dtype=torch.int64)
        model(ids, ids)
        yield model, plain


def test_a_compiled_model_gives_the_same_weights():
    """Compiled code keeps no weights; those of an earlier pass must not be taken for them."""
    for model, plain in compiled_transformers():
        for weights in (
            forced_weights,
            lambda m, *given: [t.weights for t in translate_all(m, SENTENCES, *given[1:])],
        ):
            ours, theirs = (weights(m, PAIRS, VOCABULARY, VOCABULARY) for m in (model, plain))
            for a, b in zip(ours, theirs, strict=True):
                torch.testing.assert_close(a, b)


def test_an_empty_sentence_and_no_sentence():
    assert translate(copier(), "", VOCABULARY, VOCABULARY).tokens == []
    assert translate(recurrent_model(), "", VOCABULARY, VOCABULARY).weights.shape[1] == 1
    assert translate_all(copier(), [], VOCABULARY, VOCABULARY) == []


def test_what_is_written_after_the_end_keeps_no_sentence_open():
    model = copier()
    found = translate_all(model, ["one <eos> two two", "one two"], VOCABULARY, VOCABULARY)
    assert [translation.tokens for translation in found] == [["one"], ["one", "two"]]
    assert len(model.decoder.fed) == 3


def test_translations_come_back_in_order_each_with_its_own_length():
    translations = translate_all(copier(), SENTENCES, VOCABULARY, VOCABULARY, batch_size=2)
    expected = [sentence.replace("zzz", "<unk>").split() for sentence in SENTENCES]
    assert [t.tokens for t in translations] == expected
    assert [t.weights.shape for t in translations] == [(len(e), len(e) + 1) for e in expected]


@pytest.mark.parametrize("decoder", [Seq2SeqDecoder, Seq2SeqAttentionDecoder])
@pytest.mark.parametrize("batch_size", [1, 2, 256])
def test_a_batch_translates_as_its_sentences_do_alone(decoder, batch_size):
    model = recurrent_model(decoder)
    together = translate_all(model, SENTENCES, VOCABULARY, VOCABULARY, batch_size=batch_size)
    for sentence, translation in zip(SENTENCES, together, strict=True):
        alone = translate(model, sentence, VOCABULARY, VOCABULARY)
        assert alone.tokens == translation.tokens and alone.source == translation.source
        if decoder is Seq2SeqDecoder:
            assert alone.weights is None and translation.weights is None
        else:
            torch.testing.assert_close(alone.weights, translation.weights)


def test_weights_of_every_layer_and_head_are_kept():
    translations = translate_all(copier(layers_and_heads=(2, 3)), SENTENCES, VOCABULARY, VOCABULARY)
    assert translations[0].weights.shape == (2, 3, 3, 4)
    assert torch.equal(translations[0].weights[1, 2], torch.eye(4)[:3])


def test_every_token_is_the_most_probable_after_those_before():
    model = recurrent_model().eval()
    translation = translate(model, "five four one", VOCABULARY, VOCABULARY, max_steps=5)
    source = torch.tensor([VOCABULARY[translation.source]])
    fed = torch.tensor([[VOCABULARY.bos, *VOCABULARY[translation.tokens]]])
    logits, _ = model(source, fed, torch.tensor([4]))
    best = VOCABULARY.to_tokens(logits[0].argmax(-1))
    assert best[: len(translation.tokens)] == translation.tokens
    steps = len(translation.tokens)
    torch.testing.assert_close(translation.weights, model.decoder.attention_weights[0, :steps])


def test_translations_and_forced_weights_carry_no_graph():
    model, built = recurrent_model(), []
    model.encoder.register_forward_hook(lambda *_: built.append(torch.is_grad_enabled()))
    assert not translate(model, "one two", VOCABULARY, VOCABULARY).weights.requires_grad
    pair = Pair("0", "t", ("one",), ("two",), ((0,),))
    assert not forced_weights(model, [pair], VOCABULARY, VOCABULARY)[0].requires_grad
    assert built == [False, False]


# ---- forced weights

PAIRS = [
    Pair("0", "t", ("one", "two"), ("two", "one", "six"), ((1,), (0,), ())),
    Pair("1", "t", ("six", "five", "four", "three"), ("one",), ((3,),)),
    Pair("2", "t", ("one",), ("one", "two", "three", "four", "five"), ((0,),) * 5),
]


@pytest.mark.parametrize("batch_size", [1, 2, 256])
def test_forced_weights_are_those_of_the_gold_prefix_one_row_a_target_token(batch_size):
    model = recurrent_model().eval()
    weights = forced_weights(model, PAIRS, VOCABULARY, VOCABULARY, batch_size=batch_size)
    assert [tuple(w.shape) for w in weights] == [(3, 3), (1, 5), (5, 2)]
    for pair, matrix in zip(PAIRS, weights, strict=True):
        source = torch.tensor([VOCABULARY[[*pair.source, "<eos>"]]])
        prefix = torch.tensor([[VOCABULARY.bos, *VOCABULARY[list(pair.target[:-1])]]])
        model(source, prefix, torch.tensor([source.shape[1]]))
        torch.testing.assert_close(matrix, model.decoder.attention_weights[0])
        torch.testing.assert_close(matrix.sum(-1), torch.ones(len(pair.target)).double())


def test_forced_weights_keep_layers_and_heads():
    weights = forced_weights(copier(layers_and_heads=(2, 3)), PAIRS, VOCABULARY, VOCABULARY)
    assert [tuple(w.shape) for w in weights] == [(2, 3, 3, 3), (2, 3, 1, 5), (2, 3, 5, 2)]
