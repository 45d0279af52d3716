"""The slider through the birth of an induction head shows what the page measures."""

import base64
from pathlib import Path
from typing import Any

import pytest
import torch
from browsing import started
from playwright.sync_api import Browser
from torch import Tensor

from tools.course import Course, cells
from tools.experiments import live_birth
from tools.experiments.live_birth import EVERY, LETTERS
from tools.experiments.live_models import FOLDER, content_of

COURSE = Course()
WORD = COURSE.words("en")
STORED = content_of(FOLDER / "birth-steps.js")
STEPS: list[dict[str, Any]] = STORED["steps"]
HALF, QUERIES = len(LETTERS), 2 * len(LETTERS) - 1


def unpacked(text: str) -> Tensor:
    """Return the weights (queries, keys) of a stored map."""
    square = torch.zeros(QUERIES, QUERIES)
    rows, columns = torch.tril_indices(QUERIES, QUERIES)
    square[rows, columns] = torch.tensor(list(base64.b64decode(text))) / 255
    return square


def test_the_stored_numbers_are_those_that_the_page_prints() -> None:
    printed = cells(COURSE.read("en", "inside-language-models"), "code")["birth-table"].outputs[0].text
    for line in printed.splitlines()[1:]:
        step, stripe, _, _, loss, _, _ = map(float, line.split())  # three runs; the first one is stored
        stored = STEPS[int(step) // EVERY]
        assert (stored["stripe"], stored["loss"]) == pytest.approx((stripe, loss), abs=0.0056)
    assert len(STEPS) == 31 and STORED["every"] == EVERY and STORED["letters"] == LETTERS


def test_at_the_beginning_a_model_looks_as_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's training, broken off after 40 steps: later ones differ from machine to machine."""
    page = live_birth.page()
    train = page["train_to_copy"]
    page["train_to_copy"] = lambda layers, run: train(layers, run, steps=41)
    monkeypatch.setattr(live_birth, "page", lambda: page)
    for fresh, stored in zip(live_birth.birth()["steps"][:5], STEPS, strict=False):
        assert fresh["right"] == pytest.approx(stored["right"], abs=0.01)
        for name in ("loss", "stripe", "previous"):
            assert fresh[name] == pytest.approx(stored[name], abs=0.01)
        for one, other in zip(fresh["maps"], stored["maps"], strict=True):
            assert torch.allclose(unpacked(one), unpacked(other), rtol=0, atol=0.03)


def test_every_step_shows_its_maps_and_numbers(browser: Browser, site: Path) -> None:
    page, watched = started(browser, site, "inside-language-models", "#play-birth?step=150")
    box = page.locator(".live-birth")
    slider = box.locator("input")
    assert slider.input_value() == "15"  # as the address says
    for i in (0, 15, 30):
        slider.fill(str(i))
        step = STEPS[i]
        for layer, frames in enumerate(([(t, t - 1) for t in range(1, QUERIES)],
                                        [(t, t - HALF + 1) for t in range(HALF, QUERIES)])):  # fmt: skip
            weights = unpacked(step["maps"][layer])
            assert weights.sum(dim=1).tolist() == pytest.approx([1] * QUERIES, abs=0.03)
            picture = box.locator(".live-birth-map").nth(layer)
            shades = picture.locator("rect[fill-opacity]").evaluate_all(
                "cells => cells.map(cell => ['y', 'x', 'fill-opacity'].map(name => +cell.getAttribute(name)))"
            )
            drawn = torch.zeros(QUERIES, QUERIES)
            for query, key, weight in shades:
                drawn[int(query), int(key)] = weight
            assert torch.allclose(drawn, weights, rtol=0, atol=0.001)
            framed = picture.locator(".live-framed").evaluate_all(
                "cells => cells.map(cell => ['y', 'x'].map(name => +cell.getAttribute(name)))"
            )
            assert framed == [list(frame) for frame in frames]
            tokens = (LETTERS * 2)[:-1]
            if layer == 1:  # framed is the token after the earlier copy of the query's token
                assert all(tokens[query] == tokens[key - 1] and key <= HALF for query, key in frames)
        numbers = {name: f"{step[name]:.2f}" for name in ("previous", "stripe", "loss")}
        assert WORD["live.birth.told"].format(**numbers) in box.inner_text()
        shown = box.locator(".live-copied td").all_inner_texts()
        assert [float(text.strip("<")) for text in shown] == pytest.approx(step["right"], abs=0.0101)
    assert page.url.endswith("?step=300")
    assert not watched.complaints
