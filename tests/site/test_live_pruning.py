"""The slider that removes heads shows what PyTorch measures, and translates as PyTorch would without them."""

import re
from pathlib import Path

import pytest
from browsing import started
from playwright.sync_api import Browser
from test_live import in_javascript

from mha_course.heads import Head, all_heads, leave_one_out
from tools.course import Course
from tools.experiments.live_models import FOLDER, content_of
from tools.experiments.live_pruning import WAYS, experiment, label
from tools.experiments.pruning import least

WORDS = Course().words("en")
STORED = content_of(FOLDER / "pruning-fr.js")
HALF = 12


def shares(way: str, removed: int) -> list[float]:
    """Return the stored exact match of each draw."""
    return [one["exact"][removed] / STORED["sentences"] for one in STORED["ways"][way]]


def test_the_stored_importance_and_exact_match_are_pytorchs() -> None:
    one = experiment()
    heads = {label(head): head for head in all_heads(one.model)}
    assert len(heads) == 24 and heads["C1.2"] == Head("decoder.blocks.1.cross_attention", 2)
    measured = leave_one_out(one.model, one.score_on(one.data.dev))
    assert STORED["importance"] == pytest.approx(
        {label(head): value for head, value in measured.items()}, abs=2e-4
    )
    stored = {heads[name]: value for name, value in STORED["importance"].items()}
    assert STORED["ways"]["leave_one_out"][0]["order"] == [label(head) for head in least(stored, 18)]
    for way, draw in (("leave_one_out", 0), ("reversed", 0), ("random", 3)):
        gone = [heads[name] for name in STORED["ways"][way][draw]["order"][:HALF]]
        assert one.match_without(gone, one.data.test) == pytest.approx(shares(way, HALF)[draw], abs=0.01)
    assert list(STORED["ways"]) == list(WAYS) and len(STORED["ways"]["random"]) == 10


def test_every_stored_order_leaves_each_module_a_head() -> None:
    for draws in STORED["ways"].values():
        for one in draws:
            left = set(STORED["importance"]) - set(one["order"])
            assert len(one["order"]) == len(set(one["order"])) == 18 and len(one["exact"]) == 19
            assert {name[:2] for name in left} == {name[:2] for name in STORED["importance"]}


def test_heads_are_removed_one_after_another(browser: Browser, site: Path) -> None:
    page, watched = started(browser, site, "pruning-heads", "#play-pruning")
    slider, bars, gone = page.locator("input[type=range]"), page.locator(".live-heads-left li"), ".live-gone"
    order = STORED["ways"]["leave_one_out"][0]["order"]
    assert bars.all_inner_texts()[:18] == order and bars.count() == 24 and not page.locator(gone).count()
    slider.focus()
    for _ in range(HALF):
        page.keyboard.press("ArrowRight")
    assert page.locator(gone).all_inner_texts() == order[:HALF]
    said = slider.get_attribute("aria-valuetext") or ""
    random = shares("random", HALF)
    numbers = [*shares("leave_one_out", HALF), sum(random) / len(random), min(random), max(random)]
    assert re.findall(r"\d\.\d\d", said) == [f"{number:.2f}" for number in numbers]
    # the sentence is translated by the network without these heads
    page.get_by_role("radio", name=WORDS["live.pruning.reversed"]).check(force=True)
    page.keyboard.press("Home")
    written = page.locator(".live-line span").nth(1)
    modules = {"E": "encoder.blocks.{}.attention", "D": "decoder.blocks.{}.self_attention"}
    modules["C"] = "decoder.blocks.{}.cross_attention"
    off = [
        f"{modules[name[0]].format(name[1])} {name[3]}"
        for name in STORED["ways"]["reversed"][0]["order"][:HALF]
    ]
    slider.fill(str(HALF))
    sentence = page.locator(".live-line i").inner_text().split()
    (one,) = in_javascript(
        "transformer-fr", [{"sentences": [sentence], "options": {"watch": "cross", "off": off}}]
    )
    assert written.inner_text().split() == one[0]["tokens"]
    assert page.locator(".live-line mark").count()
    assert not watched.complaints


def test_what_was_drawn_and_removed_is_in_the_address(browser: Browser, site: Path) -> None:
    address = "#play-pruning?way=random&draw=3&removed=14&sentence=give+me+two+new+hats+."
    page, watched = started(browser, site, "pruning-heads", address)
    order = STORED["ways"]["random"][3]["order"]
    assert page.locator(".live-gone").all_inner_texts() == order[:14]
    assert f"{shares('random', 14)[3]:.2f}" in (
        page.locator("input[type=range]").get_attribute("aria-valuetext") or ""
    )
    page.get_by_role("button", name=WORDS["live.pruning.draw"]).click()
    assert page.locator(".live-gone").all_inner_texts() == STORED["ways"]["random"][4]["order"][:14]
    assert page.url.endswith("#play-pruning?way=random&removed=14&draw=4&sentence=give+me+two+new+hats+.")
    page.get_by_role("radio", name=WORDS["live.pruning.leave_one_out"]).check(force=True)
    assert not page.get_by_role("button", name=WORDS["live.pruning.draw"]).is_visible()
    page.locator("input[type=range]").fill("1")
    find = page.get_by_role("button", name=WORDS["live.find_changed"])
    find.click()
    page.locator(".live-line mark").first.wait_for(timeout=60_000)
    assert not watched.complaints
