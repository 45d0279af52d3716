"""Properties of attention that hold for any sizes, lengths and numbers, and parity with PyTorch and D2L."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import assert_close

from benchmarks.references import d2l
from mha_course.attention import AdditiveAttention, DotProductAttention, MultiHeadAttention
from mha_course.convert import to_d2l
from mha_course.masking import causal_mask, length_mask, masked_softmax

KINDS = ("dot", "additive", "multi-head")
many = settings(max_examples=30, derandomize=True, database=None)


class Case:
    """An attention with queries, keys, values and lengths, all drawn from a seed."""

    def __init__(self, kind, seed, batch, num_queries, num_keys, num_heads, head_dim, bias):
        torch.manual_seed(seed)
        self.batch, self.num_queries, self.num_keys = batch, num_queries, num_keys
        self.is_single = kind != "multi-head"
        num_hiddens = num_heads * head_dim
        query_size, key_size, value_size = (int(size) for size in torch.randint(1, 7, (3,)))
        if kind == "dot":
            query_size = key_size
            self.attention = DotProductAttention()
        elif kind == "additive":
            self.attention = AdditiveAttention(num_hiddens, query_size=query_size, key_size=key_size)
        else:
            sizes = {"query_size": query_size, "key_size": key_size, "value_size": value_size}
            self.attention = MultiHeadAttention(num_hiddens, num_heads, bias=bias, **sizes)
        self.attention = self.attention.double()
        with torch.no_grad():
            for parameter in self.attention.parameters():
                parameter.normal_()
        self.queries = torch.randn(batch, num_queries, query_size, dtype=torch.float64)
        self.keys = torch.randn(batch, num_keys, key_size, dtype=torch.float64)
        self.values = torch.randn(batch, num_keys, value_size, dtype=torch.float64)
        self.lens = torch.randint(0, num_keys + 1, (batch,))
        self.lens_2d = torch.randint(0, num_keys + 1, (batch, num_queries))
        self.mask = torch.rand(batch, *([] if self.is_single else [1]), num_queries, num_keys) > 0.4

    def __call__(self, queries=None, keys=None, values=None, lens=None, mask=None, need_weights=False):
        queries = self.queries if queries is None else queries
        keys = self.keys if keys is None else keys
        values = self.values if values is None else values
        return self.attention(queries, keys, values, lens, mask=mask, need_weights=need_weights)

    def both(self, **arguments):
        """Return output and weights, after a check that both paths agree."""
        output, weights = self(**arguments, need_weights=True)
        assert_close(self(**arguments), output)
        return output, weights


cases = st.builds(
    Case,
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32),
    batch=st.integers(1, 3),
    num_queries=st.integers(1, 4),
    num_keys=st.integers(1, 6),
    num_heads=st.integers(1, 4),
    head_dim=st.integers(1, 5),
    bias=st.booleans(),
)


def gradients(output, tensors):
    probe = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * probe).sum(), tensors, retain_graph=True, materialize_grads=True)


@many
@given(cases)
def test_weights_sum_to_one_and_are_zero_on_padding(case):
    _, weights = case.both(lens=case.lens)
    valid = length_mask(case.lens, case.num_keys)
    for row in range(case.batch):
        assert weights[row][..., ~valid[row]].eq(0).all()
        total = weights[row].sum(-1)
        assert_close(total, torch.full_like(total, float(case.lens[row] > 0)))
    assert weights.ge(0).all()


@many
@given(
    cases,
    st.sampled_from([math.nan, math.inf, -math.inf, 1e300]),
    st.sampled_from(["lens", "lens_2d", "mask"]),
)
def test_what_padding_holds_never_matters(case, content, how):
    results = []
    arguments = {"mask": case.mask} if how == "mask" else {"lens": getattr(case, how)}
    _, weights = case(**arguments, need_weights=True)
    padding = weights.flatten(1, -2).eq(0).all(1)  # what no query attends to, in any head
    for fill in (0.0, content):
        for need_weights in (False, True):
            tensors = [
                case.queries.clone(),
                case.keys.masked_fill(padding[..., None], fill),
                case.values.masked_fill(padding[..., None], fill),
            ]
            for tensor in tensors:
                tensor.requires_grad_()
            output = case(*tensors, **arguments, need_weights=need_weights)
            output = output[0] if need_weights else output
            results.append([output, *gradients(output, [*tensors, *case.attention.parameters()])])
    for clean, spoilt in zip(results[:2], results[2:], strict=True):
        for one, other in zip(clean, spoilt, strict=True):
            assert one.isfinite().all()
            assert torch.equal(one, other)


@many
@given(cases, st.integers(1, 4))
def test_appended_padding_changes_nothing(case, number):
    before, weights_before = case.both(lens=case.lens)
    keys = torch.cat((case.keys, torch.randn_like(case.keys[:, :1]).expand(-1, number, -1)), dim=1)
    values = torch.cat((case.values, torch.randn_like(case.values[:, :1]).expand(-1, number, -1)), dim=1)
    after, weights_after = case.both(keys=keys, values=values, lens=case.lens)
    assert_close(after, before)
    assert_close(weights_after[..., : case.num_keys], weights_before)


@many
@given(cases)
def test_permuting_keys_and_values_together_changes_nothing(case):
    order = torch.randperm(case.num_keys)
    before, weights = case.both(mask=case.mask)
    arguments = {"keys": case.keys[:, order], "values": case.values[:, order], "mask": case.mask[..., order]}
    after, permuted = case.both(**arguments)
    assert_close(after, before)
    assert_close(permuted, weights[..., order])


@many
@given(cases)
def test_one_key_gives_its_value(case):
    keys, values = case.keys[:, :1], case.values[:, :1]
    output, _ = case.both(keys=keys, values=values)
    expected = values if case.is_single else case.attention.W_o(case.attention.W_v(values))
    assert_close(output, expected.expand_as(output))


@many
@given(st.integers(0, 2**32), st.floats(-1e3, 1e3))
def test_a_shift_of_the_scores_changes_no_weight(seed, shift):
    torch.manual_seed(seed)
    scores, lens = torch.randn(2, 3, 5, dtype=torch.float64), torch.randint(0, 6, (2, 3))
    weights = masked_softmax(scores, lens)
    shifted = masked_softmax(scores + shift, lens)
    assert (shifted - weights).abs().max() <= 1e-12 * (1 + abs(shift))


@many
@given(cases)
def test_each_row_of_a_batch_is_alone(case):
    whole, weights = case.both(lens=case.lens)
    for row in range(case.batch):
        part = slice(row, row + 1)
        alone, weights_alone = case.both(
            queries=case.queries[part], keys=case.keys[part], values=case.values[part], lens=case.lens[part]
        )
        assert_close(alone, whole[part])
        assert_close(weights_alone, weights[part])


@many
@given(cases)
def test_each_query_is_alone(case):
    whole, weights = case.both(lens=case.lens_2d)
    for step in range(case.num_queries):
        part = slice(step, step + 1)
        alone, weights_alone = case.both(queries=case.queries[:, part], lens=case.lens_2d[:, step])
        assert_close(alone, whole[:, part])
        assert_close(weights_alone, weights[..., part, :])


@many
@given(cases)
def test_lengths_equal_the_mask_they_stand_for(case):
    for lens in (case.lens, case.lens_2d):
        mask = length_mask(lens, case.num_keys)
        mask = mask if lens.dim() == 2 else mask.unsqueeze(1)
        mask = mask if case.is_single else mask.unsqueeze(1)
        output, weights = case.both(lens=lens)
        expected, expected_weights = case.both(mask=mask)
        assert torch.equal(output, expected) and torch.equal(weights, expected_weights)


@many
@given(cases)
def test_a_causal_prefix_is_the_whole_of_a_shorter_sequence(case):
    steps = min(case.num_queries, case.num_keys)
    queries, keys, values = case.queries[:, :steps], case.keys[:, :steps], case.values[:, :steps]
    whole, _ = case.both(queries=queries, keys=keys, values=values, mask=causal_mask(steps))
    for end in range(1, steps + 1):
        part, _ = case.both(
            queries=queries[:, :end], keys=keys[:, :end], values=values[:, :end], mask=causal_mask(end)
        )
        assert_close(part, whole[:, :end])


@many
@given(cases)
def test_two_paths_have_the_same_gradients(case):
    tensors = [X.requires_grad_() for X in (case.queries, case.keys, case.values)] + list(
        case.attention.parameters()
    )
    for arguments in (
        {},
        {"lens": case.lens},
        {"lens": case.lens_2d},
        {"mask": case.mask, "lens": case.lens},
    ):
        output, _ = case(**arguments, need_weights=True)
        expected = gradients(case(**arguments), tensors)
        for gradient, other in zip(gradients(output, tensors), expected, strict=True):
            assert_close(gradient, other, gradient=True)


@settings(many, max_examples=10)
@given(cases)
def test_gradients_are_those_of_finite_differences(case):
    tensors = [X.requires_grad_() for X in (case.queries, case.keys, case.values)]
    for need_weights in (False, True):
        assert torch.autograd.gradcheck(
            lambda *X, need=need_weights: case(*X, lens=case.lens_2d, need_weights=need),
            tensors,
            fast_mode=True,
        )


@settings(many, max_examples=15)
@given(cases)
def test_every_class_equals_d2l(case):
    """D2L fills with -1e6, which is as good as none where every row may attend to something."""
    lens = case.lens.clamp(min=1)
    if isinstance(case.attention, MultiHeadAttention):
        bias = case.attention.W_o.bias is not None
        heads = case.attention.num_heads
        theirs = d2l.MultiHeadAttention(
            heads * (case.attention.W_o.in_features // heads), heads, 0.0, bias=bias
        )
    elif isinstance(case.attention, AdditiveAttention):
        theirs = d2l.AdditiveAttention(case.attention.w_v.in_features, 0.0)
    else:
        theirs = d2l.DotProductAttention(0.0)
    theirs = to_d2l(case.attention, theirs)
    tensors = [X.requires_grad_() for X in (case.queries, case.keys, case.values)]
    for given_lens in (None, lens, case.lens_2d.clamp(min=1)):
        output, weights = case(lens=given_lens, need_weights=True)
        # D2L's masked_softmax writes into what it is given.
        expected = theirs(*tensors, given_lens)
        assert_close(output, expected)
        their_weights = (theirs if case.is_single else theirs.attention).attention_weights
        assert_close(weights if case.is_single else weights.flatten(0, 1), their_weights)
        for gradient, other in zip(gradients(output, tensors), gradients(expected, tensors), strict=True):
            assert_close(gradient, other, gradient=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@many
@given(cases)
def test_gpu_equals_cpu(case):
    expected, expected_weights = case.both(lens=case.lens_2d, mask=case.mask)
    attention = case.attention.cuda()
    tensors = [X.cuda() for X in (case.queries, case.keys, case.values)]
    for need_weights in (False, True):
        result = attention(*tensors, case.lens_2d.cuda(), mask=case.mask.cuda(), need_weights=need_weights)
        output = result[0] if need_weights else result
        assert_close(output.cpu(), expected)
    assert_close(result[1].cpu(), expected_weights)
