"""Importance of heads, masks, and pruning by slicing."""

import copy
from functools import partial

import pytest
import torch
from tolerance import assert_close
from torch import nn
from torch.nn.utils import prune

from mha_course.attention import MultiHeadAttention
from mha_course.heads import (
    Head,
    all_heads,
    attentions,
    count_flops,
    count_parameters,
    gated_heads,
    gradient_importance,
    leave_one_out,
    masked_heads,
    prune_heads,
    watched_heads,
)
from mha_course.transformer import Transformer

HIDDENS, HEADS, VOCAB = 12, 3, 9
LENS = torch.tensor([4, 2])
REMOVED = [
    Head("encoder.blocks.0.attention", 1),
    Head("encoder.blocks.1.attention", 0),
    Head("encoder.blocks.1.attention", 2),
    Head("decoder.blocks.0.self_attention", 2),
    Head("decoder.blocks.1.cross_attention", 0),
]


def attention(bias=True, sizes=(HIDDENS,) * 3):
    torch.manual_seed(0)
    size = {"query_size": sizes[0], "key_size": sizes[1], "value_size": sizes[2]}
    module = MultiHeadAttention(HIDDENS, HEADS, bias=bias, **size).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module


def inputs(sizes=(HIDDENS,) * 3):
    torch.manual_seed(1)
    shapes = zip((3, 5, 5), sizes, strict=True)
    return [torch.randn(2, number, size, dtype=torch.float64) for number, size in shapes]


def transformer():
    torch.manual_seed(0)
    return Transformer(VOCAB, VOCAB, HIDDENS, 20, HEADS, 2).double().eval()


def run(model):
    torch.manual_seed(2)
    source, target = torch.randint(0, VOCAB, (2, 4)), torch.randint(0, VOCAB, (2, 3))
    return model(source, target, LENS)[0]


def test_heads_are_found_by_name():
    assert list(attentions(attention())) == [""]
    assert all_heads(attention()) == [Head("", 0), Head("", 1), Head("", 2)]
    names = list(attentions(transformer()))
    assert names[0] == "encoder.blocks.0.attention"
    assert len(names) == 6
    assert len(all_heads(transformer())) == 6 * HEADS


def test_a_masked_head_contributes_nothing():
    """Against the formula: the output is the sum of what each head sends through its columns of W_o."""
    module, given = attention(), inputs()
    head_dim = HIDDENS // HEADS
    parts = []
    for head in range(HEADS):
        rows = slice(head * head_dim, (head + 1) * head_dim)
        Q, K, V = (
            X @ layer.weight[rows].T + layer.bias[rows]
            for X, layer in zip(given, (module.W_q, module.W_k, module.W_v), strict=True)
        )
        parts.append((Q @ K.transpose(1, 2) / head_dim**0.5).softmax(-1) @ V @ module.W_o.weight[:, rows].T)
    assert_close(module(*given), sum(parts) + module.W_o.bias)
    for head in range(HEADS):
        with masked_heads(module, [Head("", head)]):
            assert_close(module(*given), sum(parts) - parts[head] + module.W_o.bias)
    with masked_heads(module, all_heads(module)):
        assert_close(module(*given), module.W_o.bias.expand(2, 3, HIDDENS))


def test_masking_ends_with_its_context():
    model = transformer()
    before = run(model)
    with masked_heads(model, REMOVED) as masked:
        assert masked is model
        assert not torch.allclose(run(model), before)
    assert torch.equal(run(model), before)
    with pytest.raises(RuntimeError, match="inside"), masked_heads(model, REMOVED):
        raise RuntimeError("inside")
    assert torch.equal(run(model), before)
    assert not model.decoder.blocks[0].self_attention.W_o._forward_pre_hooks


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sizes", [(HIDDENS,) * 3, (4, 7, 5)])
@pytest.mark.parametrize("removed", [[0], [1], [2], [0, 2], [2, 1], [1, 1]])
def test_sliced_equals_masked(removed, sizes, bias, need_weights):
    module, given = attention(bias, sizes), inputs(sizes)
    heads = [Head("", number) for number in removed]
    with masked_heads(module, heads):
        expected = module(*given, LENS, need_weights=need_weights)
    pruned = prune_heads(module, heads)
    output = pruned(*given, LENS, need_weights=need_weights)
    if need_weights:
        kept = [number for number in range(HEADS) if number not in removed]
        assert_close(output[1], expected[1][:, kept])
        output, expected = output[0], expected[0]
    assert_close(output, expected)


def test_sliced_equals_masked_inside_a_transformer():
    model = transformer()
    with masked_heads(model, REMOVED):
        expected = run(model)
    pruned = prune_heads(model, REMOVED)
    assert_close(run(pruned), expected)
    # and pruning twice is pruning once
    twice = prune_heads(
        prune_heads(model, REMOVED[:2]), [Head("encoder.blocks.1.attention", 1), *REMOVED[3:]]
    )
    assert_close(run(twice), expected)


def test_pruning_leaves_the_model_as_it_was():
    model = transformer()
    before, state = run(model), copy.deepcopy(model.state_dict())
    pruned = prune_heads(model, REMOVED)
    with torch.no_grad():
        for parameter in pruned.parameters():
            parameter.zero_()
    assert torch.equal(run(model), before)
    assert all(torch.equal(weight, state[name]) for name, weight in model.state_dict().items())


def test_a_pruned_model_learns_on():
    pruned = prune_heads(transformer(), REMOVED).train()
    optimizer = torch.optim.SGD(pruned.parameters(), lr=0.1)
    before = {name: parameter.detach().clone() for name, parameter in pruned.named_parameters()}
    run(pruned).square().sum().backward()
    optimizer.step()
    changed = {
        name for name, parameter in pruned.named_parameters() if not torch.equal(parameter, before[name])
    }
    assert {name for name in before if "attention.W_v.weight" in name} <= changed
    frozen = attention().requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in prune_heads(frozen, [Head("", 0)]).parameters())


def test_parameters_and_operations_fall_with_slicing_and_not_with_masking():
    module, given = attention(), inputs()
    head_dim = HIDDENS // HEADS
    whole = count_flops(module, *given)
    # By hand: four projections, and scores and means of each head; 2 operations a multiply-add.
    projections = 2 * (3 + 5 + 5 + 3) * HIDDENS * HIDDENS * 2
    assert whole == projections + 2 * HEADS * 3 * 5 * head_dim * 2 * 2
    with masked_heads(module, [Head("", 1)]):
        assert count_flops(module, *given) == whole
        assert count_parameters(module) == 4 * HIDDENS * (HIDDENS + 1)
    pruned = prune_heads(module, [Head("", 1)])
    assert count_flops(pruned, *given) == whole * 2 // 3
    assert count_parameters(pruned) == 4 * 8 * HIDDENS + 3 * 8 + HIDDENS
    assert count_flops(module, *given, need_weights=True) == whole
    assert (pruned.W_q.out_features, pruned.W_o.in_features, pruned.num_heads) == (8, 8, 2)


def test_watching_keeps_the_weights_and_changes_nothing():
    model = transformer()
    before = run(model)
    with watched_heads(model) as weights:
        assert_close(run(model), before)
    assert set(weights) == set(attentions(model))
    assert weights["encoder.blocks.0.attention"].shape == (2, HEADS, 4, 4)
    assert weights["decoder.blocks.0.self_attention"].shape == (2, HEADS, 3, 3)
    assert weights["decoder.blocks.0.self_attention"].triu(1).eq(0).all()
    across = [weights[f"decoder.blocks.{layer}.cross_attention"] for layer in range(2)]
    assert torch.equal(torch.stack(across, dim=1), model.decoder.attention_weights)
    assert not any(kept.requires_grad for kept in weights.values())
    module, given = attention(), inputs()
    output, expected = module(*given, LENS, need_weights=True)
    with watched_heads(module) as weights:
        again, seen = module(*given, LENS, need_weights=True)
        assert torch.equal(again, output) and torch.equal(seen, expected)
        assert_close(module(*given, LENS), output)
    assert torch.equal(weights[""], expected)
    assert "attend" not in vars(module)


def test_watching_ends_with_its_context_also_after_an_error():
    model = transformer()
    with pytest.raises(RuntimeError, match="inside"), watched_heads(model):
        raise RuntimeError("inside")
    assert not any("attend" in vars(module) for module in attentions(model).values())
    with watched_heads(attention()) as weights:
        pass
    assert weights == {}


def test_watching_may_be_nested():
    module, given = attention(), inputs()
    with watched_heads(module) as outer:
        with watched_heads(module) as inner:
            module(*given)
        assert torch.equal(outer.pop(""), inner.pop(""))
        module(*given)
    assert list(outer) == [""] and inner == {}
    assert "attend" not in vars(module)


def test_watched_weights_carry_no_graph_and_are_returned_only_if_asked_for():
    module, given = attention(), [X.requires_grad_() for X in inputs()]
    with watched_heads(module) as weights:
        assert isinstance(module(*given), torch.Tensor)
    assert not weights[""].requires_grad


def test_iterators_serve_as_lists():
    model = transformer()

    def score():
        return -run(model).square().sum().item()

    expected = leave_one_out(model, score, without=REMOVED[:2])
    assert leave_one_out(model, score, without=iter(REMOVED[:2])) == expected
    importance = gradient_importance(model, lambda scale: run(model).sum() * scale, iter([1.0, 2.0]))
    assert importance == gradient_importance(model, lambda scale: run(model).sum() * scale, [1.0, 2.0])
    assert max(importance.values()) > 0


def test_leave_one_out_is_the_difference_of_scores():
    model = transformer()
    before = run(model)

    def score():
        return -(run(model) - before).square().sum().item()

    importance = leave_one_out(model, score)
    assert list(importance) == all_heads(model)
    for head in REMOVED:
        with masked_heads(model, [head]):
            assert importance[head] == -score()
        assert importance[head] > 0


def test_a_head_that_does_nothing_is_not_important():
    module = attention()
    with torch.no_grad():
        module.W_o.weight[:, 4:8] = 0
    given, before = inputs(), attention()(*inputs())
    importance = leave_one_out(module, lambda: -(module(*given) - before).square().sum().item())
    assert importance[Head("", 1)] == 0
    assert min(abs(importance[Head("", number)]) for number in (0, 2)) > 0
    importance = gradient_importance(module, lambda X: (module(X, X, X) - 1).square().sum(), [given[0]])
    assert importance[Head("", 1)] == 0
    assert min(importance[Head("", number)] for number in (0, 2)) > 0


def test_leave_one_out_of_what_is_left():
    model = transformer()
    before = run(model)

    def score():
        return -(run(model) - before).square().sum().item()

    importance = leave_one_out(model, score, without=REMOVED[:2])
    assert set(importance) == set(all_heads(model)) - set(REMOVED[:2])
    with masked_heads(model, REMOVED[:2]):
        base = score()
    with masked_heads(model, REMOVED[:3]):
        assert importance[REMOVED[2]] == base - score()


def test_gradient_importance_is_the_slope_at_the_gate():
    model = transformer()

    def loss(scale):
        return (run(model) * scale).square().mean()

    importance = gradient_importance(model, loss, [1.0, 2.0])
    assert list(importance) == all_heads(model)
    step = 1e-5
    for head in REMOVED:
        slopes = []
        for scale in (1.0, 2.0):
            sides = []
            for change in (step, -step):
                with gated_heads(model) as gates:
                    with torch.no_grad():
                        gates[head.module][head.number] += change
                    sides.append(loss(scale).item())
            slopes.append(abs(sides[0] - sides[1]) / (2 * step))
        assert importance[head] == pytest.approx(sum(slopes) / 2, rel=1e-4)


def test_gradient_importance_leaves_the_gradients_of_the_parameters():
    model = transformer()
    run(model).sum().backward()
    before = [parameter.grad.clone() for parameter in model.parameters()]
    with torch.no_grad():  # gradients are taken all the same
        gradient_importance(model, lambda _: run(model).square().sum(), [None])
    for parameter, gradient in zip(model.parameters(), before, strict=True):
        assert torch.equal(parameter.grad, gradient)


def test_an_attention_that_a_loss_does_not_use_has_no_importance():
    pair = nn.ModuleDict({"used": attention(), "unused": attention()})
    importance = gradient_importance(pair, lambda X: pair["used"](X, X, X).square().sum(), [inputs()[0]])
    assert all((value == 0) == (head.module == "unused") for head, value in importance.items())


# ---- compiled models


def compiled(way, part):
    """Return a module and what to call, compiled in one of the ways that PyTorch has, and called once."""
    module = attention()
    if way == "module.compile":
        module.get_submodule(part).compile(backend="eager")
        call = module
    elif way == "torch.compile":
        module = call = torch.compile(module, backend="eager")
    elif way == "the module inside":
        call = torch.compile(module, backend="eager")
    else:
        call = torch.compile(lambda *given: module(*given), backend="eager")
    call(*inputs())
    return module, call


WAYS = [
    ("module.compile", ""), ("module.compile", "W_o"), ("torch.compile", ""), ("the module inside", ""),
    ("what is scored", ""),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using `torch.compile.module.` when there are global hooks")
@pytest.mark.parametrize(("way", "part"), WAYS)
def test_heads_of_a_compiled_model_are_switched_off_too(way, part):
    """Compiled code does not see what was hung on a module afterwards; and it keeps what was there before."""
    plain, given = attention(), inputs()
    module, call = compiled(way, part)
    name = next(iter(attentions(module)))
    heads = [Head(name, 1)]
    whole = plain(*given)
    with masked_heads(plain, [Head("", 1)]):
        without = plain(*given)
    for _ in range(2):
        with masked_heads(module, heads):
            assert_close(call(*given), without)
        assert_close(call(*given), whole)
    measured = leave_one_out(module, lambda: call(*given).square().sum())
    expected = leave_one_out(plain, lambda: plain(*given).square().sum())
    assert list(measured.values()) == pytest.approx(list(expected.values()), rel=1e-9)
    slopes = gradient_importance(module, lambda _: call(*given).square().sum(), [0])
    expected = gradient_importance(plain, lambda _: plain(*given).square().sum(), [0])
    assert list(slopes.values()) == pytest.approx(list(expected.values()), rel=1e-9)
    assert_close(prune_heads(module, heads)(*given), without)
    assert count_flops(call, *given) == count_flops(plain, *given)


@pytest.mark.parametrize(("way", "part"), WAYS)
def test_heads_of_a_compiled_model_are_watched_too(way, part):
    plain, given = attention(), inputs()
    module, call = compiled(way, part)
    with watched_heads(plain) as expected:
        plain(*given)
    with watched_heads(module) as weights:
        call(*given)
    assert_close(*weights.values(), *expected.values())


def test_a_model_that_is_compiled_while_heads_are_off_has_them_afterwards():
    module, given = attention(), inputs()
    whole = module(*given)
    with masked_heads(module, [Head("", 1)]):
        module.compile(backend="eager")
        module(*given)
    assert_close(module(*given), whole)


# ---- half precision


def test_importance_does_not_depend_on_how_often_a_batch_is_counted():
    """A sum in half precision stands still as soon as it is far larger than what is added."""
    module, given = attention().bfloat16(), [X.bfloat16() for X in inputs()]
    once, often = (
        gradient_importance(module, lambda X: module(*X).float().square().sum(), [given] * n)
        for n in (1, 600)
    )
    assert often == pytest.approx(once, rel=1e-4) and min(once.values()) > 0


def test_importance_in_float16_does_not_overflow():
    module, given = (
        attention().half(),
        [X.half().expand(2, -1, -1) for X in (torch.ones(1, 900, HIDDENS),) * 3],
    )
    measured = gradient_importance(module, lambda X: module(*X).float().sum() * 50, [given])
    assert all(torch.isfinite(torch.tensor(list(measured.values()))))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_scores_in_half_precision_are_subtracted_as_they_are(dtype):
    """Their difference has more digits than the type has."""
    scores = iter(torch.tensor([1000.0, 0.25, 0.5, 1.0], dtype=dtype))
    measured = leave_one_out(attention(), lambda: next(scores))
    assert list(measured.values()) == [999.75, 999.5, 999.0]
    assert all(type(value) is float for value in measured.values())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_masked_heads_leave_the_type_of_the_output(dtype):
    module, given = attention().to(dtype), [X.to(dtype) for X in inputs()]
    with masked_heads(module, [Head("", 1)]):
        assert module(*given).dtype == dtype
        with torch.autocast("cpu", torch.bfloat16):
            assert module(*given).dtype == torch.bfloat16


# ---- weights of another kind


def with_a_layer_around_it(linear):
    return nn.Sequential(linear, nn.Linear(HIDDENS, HIDDENS).double())


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
@pytest.mark.parametrize(
    "change",
    [
        nn.utils.parametrizations.weight_norm,
        nn.utils.weight_norm,
        nn.utils.parametrizations.spectral_norm,
        nn.utils.parametrizations.orthogonal,
        partial(prune.l1_unstructured, name="weight", amount=0.5),
        partial(prune.l1_unstructured, name="bias", amount=0.5),
        with_a_layer_around_it,
    ],
)
def test_weights_that_cannot_be_cut_are_named(change):
    module = attention()
    module.W_q = change(module.W_q)
    with masked_heads(module, [Head("", 1)]):
        module(*inputs())  # masking does not need them
    with pytest.raises(
        ValueError, match=r"model must have linear layers with plain weights, got .* as 'W_q'"
    ) as error:
        prune_heads(module, [Head("", 1)])
    assert "\n" not in str(error.value)


def test_a_pruned_model_is_loaded_into_one_that_is_pruned_alike():
    first, second = transformer(), transformer()
    with torch.no_grad():
        for parameter in second.parameters():
            parameter.zero_()
    pruned, fresh = prune_heads(first, REMOVED), prune_heads(second, REMOVED)
    fresh.load_state_dict(pruned.state_dict())
    assert_close(run(fresh), run(pruned))
