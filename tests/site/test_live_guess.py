"""A reader's guess is compared with what the page on sequence to sequence printed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from test_live_browser import COURSE, SLIM, opened

from tools.course import cells

WORD = COURSE.words("en")
PLACE = """([x, y]) => {
    const place = new DOMPoint(x, y).matrixTransform(document.querySelector(".live-plot svg").getScreenCTM());
    return [place.x, place.y];
}"""


def test_a_guess_is_compared_with_what_was_measured(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "sequence-to-sequence", "guess", viewport=SLIM)
    box, sliders = page.locator(".live-guess"), page.locator(".live-sliders input")
    printed = cells(COURSE.read("en", "sequence-to-sequence"), "code")["length-train"].outputs[0].text
    rows = [line.split() for line in printed.splitlines()[1:]]
    assert [sliders.nth(i).get_attribute("aria-label") for i in range(len(rows))] == [
        WORD["live.guess.length"].format(n=n) for n, *_ in rows
    ]
    assert not box.locator(".live-by-vector").count()  # nothing is told before the guess
    # who clicks into the picture guesses what stands there
    for i, share in ((4, 0.1), (0, 0.85)):
        box.scroll_into_view_if_needed()
        page.mouse.click(*page.evaluate(PLACE, [20 * i + 10, 100 - 100 * share]))
        assert float(sliders.nth(i).input_value()) == pytest.approx(share, abs=0.02)
    guesses = ["0.9", "0.8", "0.7", "0.6", "0.5"]
    for i, guess in enumerate(guesses):
        sliders.nth(i).fill(guess)
    box.get_by_role("button", name=WORD["live.guess.reveal"]).click()
    shown = [row.locator("th, td").all_inner_texts() for row in box.locator("tbody tr").all()]
    assert shown == [
        [row[0], f"{float(guess):.2f}", row[1], row[2]] for row, guess in zip(rows, guesses, strict=True)
    ]
    gaps = [abs(float(row[1]) - float(guess)) for row, guess in zip(rows, guesses, strict=True)]
    worst = gaps.index(max(gaps))
    numbers = {"n": rows[worst][0], "guess": f"{float(guesses[worst]):.2f}", "value": rows[worst][1]}
    assert box.locator("[role=status]").inner_text() == WORD["live.guess.gap"].format(
        gap=f"{sum(gaps) / len(gaps):.2f}", **numbers
    )
    assert not watched.complaints
