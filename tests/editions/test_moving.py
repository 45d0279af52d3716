"""One edit reaches every language: cells that move, and tables that follow."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_markdown_cell
from two_chapters import TURKISH, errors, named, replace, rewrite, run, snapshot

from tools.course import Course, cells
from tools.editions.lock import page_state, stamp
from tools.editions.moving import relinked
from tools.editions.sync import sync
from tools.editions.times import levels


def test_cells_move_with_their_translations_links_and_claims(course: Course) -> None:
    claims = course.root / "tools/experiments/claims.tsv"
    claims.parent.mkdir(parents=True)
    claims.write_text("chapter\tcell\tclaim\tthreshold\nmasks\tadd\ta\t> 1\nsums\tx\tb\t> 1\n")
    assert run(course, "move masks result add sums --after title") == 0
    sync(course)
    for language in course.languages:
        ids = [cell["id"] for cell in course.read(language, "sums").cells]
        assert ids == ["title", "add", "result", "setup"]
    assert cells(course.read("tr", "sums"))["result"].source == TURKISH["result"]
    links = "[Sonuç](sums.ipynb#result), [toplam](sums.ipynb#title)"
    assert links in cells(course.read("tr", "masks"))["why"].source
    assert page_state("tr", "masks", course) == (("title", "why", "formula"), (), ())
    assert page_state("tr", "sums", course) == (("result",), (), ("title",))
    assert "sums\tadd\ta" in claims.read_text() and "masks\tadd" not in claims.read_text()
    assert errors(course) == []


@pytest.mark.parametrize(
    ("text", "page", "cell", "expected"),
    [
        ("[a](#result)", "masks", "why", "[a](sums.ipynb#result)"),
        ("[a](masks.ipynb#result)", "sums", "title", "[a](#result)"),
        ("[a](masks.ipynb#result)", "other", "title", "[a](sums.ipynb#result)"),
        ("[a](#why) [b](sums.ipynb#title)", "masks", "result", "[a](masks.ipynb#why) [b](#title)"),
        ("[a](#result) [b](masks.ipynb)", "masks", "result", "[a](#result) [b](masks.ipynb)"),
        ("[a](#title)", "sums", "title", "[a](#title)"),
    ],
)
def test_links_lead_where_they_led(text: str, page: str, cell: str, expected: str) -> None:
    assert relinked(page, cell, text, "masks", ["result"], "sums") == expected


@pytest.mark.parametrize(
    "words",
    ["masks gone sums", "masks title sums", "masks why masks", "masks why no", "masks why sums --after no"],
)
def test_a_move_that_cannot_be_changes_nothing(course: Course, words: str) -> None:
    before = snapshot(course)
    assert run(course, f"move {words}") == 1
    assert snapshot(course) == before


def test_the_table_of_times_follows_titles_minutes_and_what_was_measured(course: Course) -> None:
    (course.root / "_toc.yml").write_text("root: sums\nchapters: [{file: masks}]\n")
    (course.root / "_config.yml").write_text("{package: json, parts: {foundations: masks}}")
    heads = ("chapter", "reading", "exercises", "running", "longest", "total")
    words = "".join(f"times_{head}: {head}\n" for head in heads)
    words += 'minutes: "{n} min"\nseconds: "{n} s"\nhours: "{n} h"\nreferences_comma: ", "\n'
    (course.root / "book/en/words.yml").write_text(words)
    said = "\n\n**Time:** 20 minutes, and 70 more for the exercises."
    rewrite(course, "en", lambda nb: cells(nb)["title"].update(source=f"# Masks{said}"))
    rewrite(course, "en", lambda nb: nb.cells.append(named(new_markdown_cell("x"), "chapter-times")), "sums")
    measured = course.root / "book/running.tsv"
    measured.write_text("chapter\tcell\tseconds\nmasks\t\t35\nmasks\tadd\t30\nmasks\tgone\t5\n")
    sync(course)
    line = "| 1. [{}](masks.ipynb) | 20 min | 70 min | 35 s | [`add`](masks.ipynb#add) |"
    for code, title in {"en": "Masks", "tr": "Maskeler", "zh": "遮罩"}.items():
        table = cells(course.read(code, "sums"))["chapter-times"].source
        assert table.splitlines()[2:] == [line.format(title), "| total | 0 h | 1 h | 1 min |  |"]
    assert errors(course) == []
    rewrite(course, "tr", replace("title", "# Maskeler", "# Maske"))
    stamp(course, "tr", "masks", ["title"])
    assert "error: tr sums#chapter-times: is not as sync generates it: run sync" in errors(course)
    measured.write_text("chapter\tcell\tseconds\nmasks\t\t40\n")
    assert any(fault.startswith("error: en sums: derived cells") for fault in errors(course))
    sync(course)
    assert not [fault for fault in errors(course) if " sums" in fault]
    assert (
        "[Maske](masks.ipynb) | 20 min | 70 min | 40 s | – |"
        in cells(course.read("tr", "sums"))["chapter-times"].source
    )


def test_the_table_of_exercises_follows_their_stars_and_names(course: Course) -> None:
    (course.root / "_toc.yml").write_text("root: sums\nchapters: [{file: masks}]\n")
    (course.root / "_config.yml").write_text("{package: json, parts: {foundations: masks}}")
    (course.root / "book/en/words.yml").write_text('times_chapter: chapter\nreferences_comma: ", "\n')
    stars = {"half": "### Half a mask (★★, 10 minutes)", "whole": "### A whole one (★, 5 minutes)\n\nGo."}
    new = [named(new_markdown_cell(text), f"exercise-{key}") for key, text in stars.items()]
    rewrite(
        course, "en", lambda nb: nb.update(cells=[c for c in nb.cells if "exercise" not in c["id"]] + new)
    )
    table = levels(course, "en").splitlines()
    half, whole = "[Half a mask](masks.ipynb#exercise-half)", "[A whole one](masks.ipynb#exercise-whole)"
    assert table[0] == "| chapter | ★ | ★★ | ★★★ |"
    assert table[2:] == [f"| 1. [Masks](masks.ipynb) | {whole} | {half} | – |"]
