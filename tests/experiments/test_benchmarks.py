"""What is compared gives the same results, and what is measured is measured right."""

import gc
import json
import re
import time

import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import attention, measure, pages, training

CPU = torch.device("cpu")


@pytest.mark.parametrize("kind", [*attention.KINDS, attention.DIFFERENT])
def test_all_attention_modules_give_one_output(kind):
    x, ours, case = attention.problem(attention.Shape(3, 16, 16, 4), kind, CPU)
    names = attention.contenders(kind, CPU, backward=True)
    attends = {name: attention.CONTENDERS[name](ours, case) for name in names}
    lens = case.lens
    attention.check_equal(attends, x, lens)
    broken = dict(attends, broken=lambda x: attends["mha_course"](x) + 1e-3)
    with pytest.raises(AssertionError, match="broken"):
        attention.check_equal(broken, x, lens)


def test_very_different_lengths_go_from_a_sixteenth_to_the_whole():
    for device, shape in attention.LONGEST.items():
        _, _, case = attention.problem(shape._replace(width=4, heads=2), attention.DIFFERENT, CPU)
        assert case.lens.tolist() == [256, 1536, 2816, 4096], device


def test_on_a_cpu_flex_attention_only_reads_and_only_very_different_lengths():
    """It has no backward pass there, and each shape that it meets is compiled for long."""
    everywhere = attention.contenders("causal", torch.device("cuda"), backward=True)
    assert everywhere == list(attention.CONTENDERS)
    for kind, backward in (("causal", False), ("causal", True), (attention.DIFFERENT, True)):
        assert attention.FLEX not in attention.contenders(kind, CPU, backward)
    different = attention.contenders(attention.DIFFERENT, CPU)
    assert (attention.FLEX in different) == attention.HAS_COMPILER


def test_the_products_are_as_many_as_the_formula_has():
    shape, device = attention.Shape(3, 8, 16, 4), CPU
    x, ours, _ = attention.problem(shape, "no mask", device)
    for passes, backward in ((attention.forward, False), (attention.training_step, True)):
        with FlopCounterMode(display=False) as whole, sdpa_kernel(SDPBackend.MATH):
            passes(attention.course(ours, attention.Case()), x)()
        run = attention.products(shape, backward, device)
        with FlopCounterMode(display=False) as alone:
            run()
        assert alone.get_total_flops() == whole.get_total_flops() > 0


def test_the_course_and_d2l_train_the_same_model():
    training.check_equal(training.Size(4, 16, 2, 5))


@pytest.mark.parametrize("name", list(training.MODELS))
def test_every_model_takes_training_steps(name):
    size = training.Size(4, 16, 1, 5)
    step = training.step_of(name, size, training.batch_of(size, padded=True), CPU)
    losses = [float(step()) for _ in range(20)]
    assert losses[-1] < losses[0]


def test_padded_batches_are_padded_and_others_are_not():
    size = training.Size(64, 16, 1, 8)
    padded, whole = training.batch_of(size, True), training.batch_of(size, False)
    assert set(whole.source_lens.tolist()) == {8}
    assert set(padded.source_lens.tolist()) == {4, 5, 6, 7, 8}


def test_interleaved_rounds_time_every_call_alike():
    calls = {"short": lambda: time.sleep(0.02), "long": lambda: time.sleep(0.1)}
    times = measure.interleaved(calls, CPU, seconds=0, least=4)
    assert [len(values) for values in times.values()] == [4, 4]
    assert 1.5 < measure.ratio(times, "long", "short") < 10
    assert len(measure.interleaved(calls, CPU, seconds=60, least=2, most=3)["short"]) == 3


def test_peak_memory_counts_what_is_held_at_once_and_not_what_came_before():
    def hold(megabytes):
        block = torch.ones(int(megabytes * 1e6 / 4))
        return float(block.sum())

    hold(300)
    gc.collect()  # what other tests left may be freed now, but not while it is measured
    peak = measure.megabytes_of(lambda: hold(100), CPU)
    if peak != peak:
        pytest.skip("this system does not tell a process's peak memory")
    assert 70 < peak < 200  # of 100; of the 300 before, nothing


def test_peaks_are_measured_in_a_process_of_their_own():
    arguments = ("--cpu", "--threads", "1", "--peaks", "GRU, additive")
    values = measure.in_subprocess("benchmarks.training", *arguments)
    assert len(values) == len(training.LENGTHS)
    assert values[-1] > values[0] > 0 or values[0] != values[0]  # not a number where the system does not tell
    with pytest.raises(RuntimeError, match=r"no\.such\.module --cpu failed"):
        measure.in_subprocess("no.such.module", "--cpu")


def test_a_device_is_told_with_its_number_of_threads():
    assert re.fullmatch(r"torch \S+, CPU.*, threads: \d+", measure.describe(CPU))


def test_of_a_page_the_whole_and_its_long_cells_are_told_in_steps_of_five_seconds():
    found = pages.rows("bread", ["setup", "bake", "knead"], [1.0, 2.0, 13.1, 18.2])
    assert [[*row.values()] for row in found] == [
        ["bread", "", "15"], ["bread", "bake", "10"], ["bread", "knead", "5"]
    ]  # fmt: skip


def test_a_timed_page_prints_a_time_after_each_cell():
    notebook = new_notebook(
        cells=[new_code_cell("1", id="one"), new_markdown_cell("a"), new_code_cell("2", id="two")]
    )
    said = "\n".join(cell.source for cell in pages.timed(notebook).cells)
    names = {"print": lambda text: times.extend(json.loads(text))}
    times: list[float] = []
    exec(said, names)
    assert len(times) == 3 and times == sorted(times)
