"""The address of a page holds the state of a component, so that a teacher can link to it."""

import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from browsing import DESK, started
from playwright.sync_api import Browser, Page, expect
from test_live import in_javascript
from test_live_browser import order_of

from tools.course import Course
from tools.site.live import HERE


def state(page: Page) -> dict[str, str]:
    """Return the state in the page's address."""
    return {name: value for name, (value,) in parse_qs(page.url.rpartition("?")[2]).items()}


def test_the_address_follows_the_heads_and_brings_them_back(browser: Browser, site: Path) -> None:
    page, watched = started(browser, site, "looking-at-heads", "#play-heads?off=C1.0+E0.3&sentence=he+ran+.")
    switches = page.get_by_role("switch")
    off = [name for name in page.locator(".live-head").all() if not name.get_by_role("switch").is_checked()]
    assert [name.inner_text().strip() for name in off] == ["E0.3", "C1.0"]
    assert order_of(page) == "he ran ."
    switches.nth(0).click()
    page.locator(".live-chips button").nth(0).press("ArrowRight")
    page.locator(".live-check input").uncheck()
    told = {
        "sentence": "he ran .",
        "order": "ran he .",
        "off": "E0.0 E0.3 C1.0",
        "positions": "off",
    }
    assert state(page) == told
    written = page.locator(".live-stays").inner_text()
    page.reload()
    page.locator(".live-box").wait_for()
    assert state(page) == told and order_of(page) == "ran he ."
    assert page.locator(".live-stays").inner_text() == written
    assert not page.locator(".live-check input").is_checked()
    # a link on the same page leads from one state to another
    page.evaluate("location.hash = '#play-heads?off=D0.1'")
    expect(switches.nth(9)).not_to_be_checked()
    assert page.get_by_role("switch", checked=True).count() == 23
    assert not watched.complaints


def test_opening_a_component_leaves_the_address_as_it_is(browser: Browser, site: Path) -> None:
    page, _ = started(browser, site, "looking-at-heads", "#play-heads")
    assert page.url.endswith("#play-heads")
    page.goto((site / "en" / "looking-at-heads.html").as_uri())
    page.reload()
    page.locator(".live > button").click()
    page.locator(".live-box").wait_for()
    assert page.url.endswith(".html")


def test_an_embedded_component_is_alone_and_looks_as_on_its_page(browser: Browser, site: Path) -> None:
    page, watched = started(browser, site, "looking-at-heads", "?embed#play-heads?off=C1.0")
    assert page.locator("body > :visible").count() == 1
    assert page.locator(".live-chips").evaluate("chips => getComputedStyle(chips).display") == "flex"
    assert not page.get_by_role("switch").nth(20).is_checked()
    page.get_by_role("switch").nth(0).click()
    assert "?embed#play-heads?" in page.url and state(page)["off"] == "E0.0 C1.0"
    assert not watched.complaints


def test_the_first_order_of_the_words_changes_the_translation_because_of_positions(
    browser: Browser, site: Path
) -> None:
    """The two orders that the script opens with, in the page and in the network without positions."""
    script = (HERE / "scripts" / "heads.js").read_text(encoding="utf-8")
    found = re.search(r'FIRST = \{ sentence: "(.*)", order: "(.*)" \}', script)
    assert found and sorted(found[1].split()) == sorted(found[2].split())
    both = [sentence.split() for sentence in found.groups()]
    runs = [{"sentences": both, "options": {"watch": "cross", "positions": on}} for on in (True, False)]
    (whole, moved), (blind, blind_moved) = in_javascript("transformer-fr", runs)
    assert whole["tokens"] != moved["tokens"] and sorted(whole["tokens"]) == sorted(moved["tokens"])
    assert blind["tokens"] == blind_moved["tokens"]
    page, _ = started(browser, site, "looking-at-heads", "#play-heads")
    assert order_of(page) == found[2]
    assert page.locator(".live-stays mark").count()
    assert page.locator(".live-stays span").inner_text().split() == moved["tokens"]
    told = page.get_by_text(Course().words("en")["live.heads.moved"])
    assert told.is_visible()
    page.locator(".live-chips button").first.press("ArrowRight")
    assert not told.is_visible()


def test_the_address_follows_the_translator(browser: Browser, site: Path) -> None:
    address = "#play-translator?sentence=my+sister+has+a+horse+.&into=tr"
    page, watched = started(browser, site, "bahdanau-attention", address)
    field = page.locator(".live-form input[type=text]")
    assert field.input_value() == "my sister has a horse ."
    assert page.locator('input[value="tr"]').is_checked()
    field.fill("we found the dog")
    page.keyboard.press("Enter")
    assert state(page) == {"sentence": "we found the dog .", "into": "tr"}
    page.locator('input[value="vi"]').check(force=True)
    page.wait_for_url("**into=vi")
    assert not watched.complaints


@pytest.mark.parametrize(
    ("stem", "component"),
    [
        ("transformer", "walk"),
        ("language-models", "gpt"),
        ("looking-at-heads", "heads"),
        ("pruning-heads", "pruning"),
        ("bahdanau-attention", "translator"),
    ],
)
def test_a_button_copies_the_address_of_what_is_shown(
    browser: Browser, address: str, stem: str, component: str
) -> None:
    context = browser.new_context(viewport=DESK, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/en/{stem}.html")
    page.locator(f'.live[data-live="{component}"] > button').click()
    words = Course().words("en")
    page.locator(".live-box").get_by_role("button", name=words["live.copy"]).click()
    page.get_by_text(words["live.copied"]).wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{address}/en/{stem}.html#play-{component}?")
    assert parse_qs(copied.rpartition("?")[2])["sentence"]
    context.close()
