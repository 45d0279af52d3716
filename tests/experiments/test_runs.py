"""What the long experiments share: settings measured on several processes, and tables written whole."""

import sys
from pathlib import Path

import pytest

from tools.experiments import runs


def double(setting: int) -> int:
    return 2 * setting


def test_what_was_found_comes_in_the_order_of_the_settings(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lengths", "--workers", "2"])
    assert runs.measure_all(double, iter([3, 1, 2])) == [6, 2, 4]
    assert capsys.readouterr().out.split("\n")[:-1] == ["1/3 3", "2/3 1", "3/3 2"]


def test_a_table_is_read_as_it_was_written_and_a_row_that_does_not_fit_leaves_the_old_one(
    monkeypatch, tmp_path: Path
):
    monkeypatch.setattr(runs, "DATA", tmp_path)
    rows = [{"a": "1", "b": "x y"}, {"a": "2", "b": "z"}]
    runs.write_table("table", rows)
    with pytest.raises(ValueError, match="fields"):
        runs.write_table("table", [{"a": "3"}, {"c": "4"}])
    assert (tmp_path / "table.tsv").read_text(encoding="utf-8") == "a\tb\n1\tx y\n2\tz\n"
