"""The peers of the benchmarks are as large as the course's models, and learn and write as they do."""

import re

import pytest
import torch

from benchmarks import attention, language_model, store, transformer
from benchmarks.measure import OURS, Report

CPU = torch.device("cpu")
SMALL = language_model.Size(2, 6, 24, 2, 2)


def parameters(model):
    return sum(weight.numel() for weight in model.parameters())


def learns(step):
    losses = [float(step()) for _ in range(10)]
    return losses[-1] < losses[0]


@pytest.mark.parametrize("name", language_model.MODELS)
def test_every_language_model_is_as_large_as_ours_and_learns(name):
    ours, model = language_model.course_model(SMALL), language_model.MODELS[name](SMALL)
    embedding = language_model.VOCAB * SMALL.num_hiddens  # one of two, which some models share
    expected, found = parameters(ours), parameters(model)
    assert expected - 1.05 * embedding < found < expected * 1.05
    text = torch.randint(0, language_model.VOCAB, (2, 7))
    assert learns(language_model.step_of(model, text, SMALL))


def test_the_plain_model_sees_no_later_token_and_tells_positions():
    model, text = language_model.PlainGPT(SMALL), torch.tensor([[5, 5, 6, 7]])
    changed = torch.tensor([[5, 5, 6, 8]])
    logits = model(text)[0]
    torch.testing.assert_close(model(changed)[0, :3], logits[:3])
    assert not torch.allclose(logits[0], logits[1])


def test_half_precision_trains_in_its_type():
    size = SMALL._replace(dtype="bfloat16")
    with language_model.autocast(size, CPU):
        assert language_model.course_model(size)(torch.tensor([[5]]))[0].dtype is torch.bfloat16


def test_all_ways_write_as_many_tokens_and_ours_the_same_ones():
    calls = language_model.writers(SMALL, CPU)
    language_model.check_written(calls, SMALL)
    assert calls[OURS]().shape == (2, language_model.PROMPT + SMALL.steps)
    other = calls | {f"{OURS}, other": lambda: calls[OURS]().flip(0).roll(1, -1)}
    with pytest.raises(AssertionError, match="other"):
        language_model.check_written(other, SMALL)


def test_at_the_limit_every_weight_is_read_once_a_token(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.measure.FOLDER", tmp_path)
    report = Report("language_model", CPU)
    language_model.add_writing(report, SMALL, 4e6, seconds=0)
    ours = language_model.course_model(SMALL)
    read = parameters(ours) - ours.embedding.weight.numel()  # four bytes each
    (limit,) = (row for row in report.rows if row.name == language_model.LIMIT)
    assert float(limit.value) == pytest.approx(2 * 1e6 / read, rel=0.01)
    assert {row.unit for row in report.rows} == {"tokens/s"}


def test_both_translators_compute_the_same_and_learn():
    size = transformer.Size(3, 7, 5, 16, 4, 2)
    transformer.check_equal(size)
    models, batch = transformer.models(size), transformer.batch_of(size, CPU)
    assert len({parameters(model) for model in models.values()}) == 1
    with torch.no_grad():
        models[OURS].decoder.blocks[1].norm_2.weight[0] += 1
        logits = [model(batch.source, batch.target, batch.source_lens)[0] for model in models.values()]
    assert not torch.allclose(*logits, atol=1e-4)
    assert all(learns(transformer.step_of(model, size, batch)) for model in models.values())


def test_a_report_is_a_table_of_names_and_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.measure.FOLDER", tmp_path)
    report = Report("bread", CPU)
    report.add_times("baking", 1, {OURS: [0.002, 0.002], "other": [0.003, 0.003]})
    report.add_times("baking", 2, {OURS: [2.0, 2, 2, 2, 2], "other": [1.0, 4.0, 0.8, 1.2, 0.1]})
    report.add("baking", 2, "limit", 50, "ms")
    assert report.table("baking").splitlines() == [
        "| baking, ms | 1 | 2 |",
        "| --- | --- | --- |",
        f"| {OURS} | 2 (1.00) | 2000 (1.00) |",
        "| other | 3 (1.50, 1.50–1.50) | 1000 (0.50, 0.40–0.60) |",
        "| limit |  | 50 |",
    ]
    assert report.lines("baking") == {OURS: [2, 2000], "other": [3, 1000], "limit": [50]}
    first = store.read(tmp_path / "bread.tsv")[0]
    assert (first["size"], first["value"], first["unit"], first["benchmark"]) == ("1", "2", "ms", "bread")
    assert first["device"].startswith("CPU")
    assert "| other |" in (tmp_path / "bread.md").read_text(encoding="utf-8")


def test_the_store_keeps_what_was_not_measured_again_and_each_device_by_itself(tmp_path):
    def rows(benchmark, device, value, **more):
        return [{"benchmark": benchmark, "device": device, "value": value, **more}]

    old = rows("attention", "card A", "1") + rows("writing", "card A", "2")
    on_gpu, on_cpu = rows("attention", "card B", "3", spread="1–2"), rows("writing", "CPU, threads: 2", "4")
    assert store.measured_on("gpu", on_gpu + on_cpu) == on_gpu
    assert store.measured_on("cpu", on_gpu + on_cpu) == on_cpu
    path = tmp_path / "gpu.tsv"
    assert store.read(path) == []
    store.write(path, store.merged(old, on_gpu))
    assert store.read(path) == rows("writing", "card A", "2", spread="") + on_gpu


def test_what_a_cpu_did_is_stored_and_shown_and_what_a_gpu_did_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.measure.FOLDER", tmp_path)
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(store, "README", tmp_path / "README.md")
    kept = {kind: tmp_path / f"{kind}.kept" for kind in store.STORED}
    monkeypatch.setattr(store, "STORED", kept)
    with pytest.raises(SystemExit, match="nothing was measured"):
        store.main()
    shown = "before\n<!-- cpu: begin -->\n<!-- cpu: end -->\n<!-- gpu: begin -->\nfast\n<!-- gpu: end -->\n"
    store.README.write_text(shown, encoding="utf-8")
    report = Report("all", CPU)
    for table, size in store.IN_README["cpu"]:
        report.add_times(table, size, {OURS: [0.5, 0.5], "other": [1.0, 1.0], "nn.MHA, weights": [1.0, 1.0]})
    store.main()
    assert not kept["gpu"].exists() and len(store.read(kept["cpu"])) == len(report.rows)
    before, table, after = re.split(
        "<!-- cpu: begin -->\n|<!-- cpu: end -->\n", store.README.read_text("utf-8")
    )
    assert (before, after) == ("before\n", "<!-- gpu: begin -->\nfast\n<!-- gpu: end -->\n")
    assert table.splitlines()[0].startswith("| CPU") and len(table.splitlines()) == 2 + len(
        store.IN_README["cpu"]
    )
    assert table.splitlines()[2].endswith("| 500 ms | other 2.00 |")


@pytest.mark.parametrize("kind", store.IN_README)
def test_readme_shows_what_is_stored(kind):
    readme = store.README.read_text(encoding="utf-8")
    assert f"<!-- {kind}: begin -->\n" in readme and f"<!-- {kind}: end -->" in readme
    rows = store.read(store.STORED[kind])
    if not rows:
        assert f"<!-- {kind}: begin -->\n<!-- {kind}: end -->" in readme
        return
    assert store.with_part(readme, kind, rows) == readme
    rows[0]["device"] = "another card"
    assert "another card" in store.with_part(readme, kind, rows)


@pytest.mark.parametrize("kind", store.IN_README)
def test_what_readme_shows_is_measured(kind):
    """A size that a benchmark does not have any more would be noticed only after a long run."""
    device = {"cpu": "cpu", "gpu": "cuda"}[kind]
    sizes = {
        "attention": attention.SHAPES, "translator": transformer.SIZES,
        "language model": language_model.TRAINED, "writing": language_model.WRITTEN,
    }  # fmt: skip
    for table, size in store.IN_README[kind]:
        assert size in map(str, sizes[table.split(",")[0]][device])


def test_the_page_on_efficient_attention_says_what_a_gpu_measured():
    """Its multiples are words; where the table is measured anew, they may have to change."""
    rows = store.read(store.STORED["gpu"])
    value = {(row["table"], row["size"], row["name"]): float(row["value"]) for row in rows}

    def layer(mask, passes, name):
        return value[f"attention, {mask}, {passes}", "4 × 4096 × 1024 × 16, bfloat16", name]

    formula, fused = "D2L 1.0.3", "bare SDPA"
    for passes, times in (("forward", 6), ("forward + backward", 4)):
        assert round(layer("no mask", passes, formula) / layer("no mask", passes, fused)) == times
        assert layer("causal", passes, formula) > layer("no mask", passes, formula)
        assert layer("causal", passes, fused) < layer("no mask", passes, fused)
    written = {
        (size, name): tokens
        for (table, size, name), tokens in value.items()
        if table == "writing" and name != "limit"
    }
    small, large = "1 × 128 × 256 × 8 × 4, float32", "1 × 128 × 768 × 12 × 12, {}"
    full, half = large.format("float32"), large.format("bfloat16")
    together = half.replace("1 × 128", "16 × 128", 1)
    growing, static = "mha_course", "mha_course, static cache"
    assert all(
        5 <= written[size, static] / written[size, growing] < 7.5 for size in (small, full, half, together)
    )
    assert all(written[together, cache] / written[half, cache] > 15 for cache in (growing, static))
    assert written[half, growing] <= written[full, growing]
    assert 0.15 < written[half, static] / written[full, static] - 1 < 0.25  # a fifth
