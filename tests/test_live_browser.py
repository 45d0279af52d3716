"""What moves on the pages, in a browser: by mouse, finger and keyboard, from disk, on a reader's wish."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.test_browser import AXE, CHROMIUM, DESK, FLAGS, PHONE, WIDE, Watched, pytestmark  # noqa: F401
from tools.course import Course
from tools.site.live import HERE, PREFIX, places

COURSE = Course()
AXE_SAYS = """async () => (await axe.run(".live")).violations
    .map(rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.html.slice(0, 160))])"""
SHARE_OF_A_SECOND = 0.016  # the longest that a reader may wait while something is dragged


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def opened(page: Page, site: Path, stem: str, component: str, code: str = "en") -> Watched:
    """Go to a page on disk and start one of its components."""
    watched = Watched(page)
    page.goto((site / code / f"{stem}.html").as_uri())
    place = page.locator(f'.live[data-live="{component}"]')
    before = [url for url in watched.requests if "/live/" in url]
    assert {url.rpartition("/")[2].split("?")[0] for url in before} == {"live.js", "live.css"}
    place.locator("button").click()
    place.locator(".live-box").wait_for()
    return watched


def test_each_place_is_a_cell_and_each_word_is_used() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in (HERE / "scripts").glob("*.js"))
    for place in places():
        ids = {cell["id"] for cell in COURSE.read("en", place["page"]).cells}
        assert place["cell"] in ids, place
        assert (HERE / "scripts" / f"{place['component']}.js").exists()
    keys = {code: [key for key in COURSE.words(code) if key.startswith(PREFIX)] for code in COURSE.languages}
    assert all(keys[code] == keys["en"] for code in keys)
    for key in keys["en"]:
        name = key.rpartition(".")[2]
        assert f"words.{name}" in scripts or name in ("fr", "tr", "vi", "zh"), key


def test_the_scripts_of_a_component_are_small() -> None:
    for place in places():
        names = ("live.js", "network.js", "heat.js", f"{place['component']}.js")
        assert sum(len(gzip.compress((HERE / "scripts" / name).read_bytes())) for name in names) <= 40_000


@pytest.mark.parametrize("path", ["en/attention-pooling.html", "zh/bahdanau-attention.html"])
def test_without_scripts_text_and_picture_stay_and_nothing_is_offered(
    browser: Browser, site: Path, path: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / path).as_uri())
    assert page.locator("article figure img").count()
    assert not page.locator(".live button").first.is_visible()
    context.close()


@pytest.mark.parametrize("code", ["en", "zh"])
def test_a_sentence_is_translated_step_by_step(browser: Browser, site: Path, code: str) -> None:
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    page = context.new_page()
    watched = opened(page, site, "bahdanau-attention", "translator", code)
    target = "fr" if code == "en" else code
    box = page.locator(".live-translator")
    assert box.locator(f'input[value="{target}"]').is_checked()
    rows = box.locator(".live-heat tbody tr")
    if code == "en":
        assert box.locator(".live-written").inner_text() == "donne-moi deux chapeaux neufs ."
        assert box.locator(".live-gold").count() == 6
    # step forward and back by keyboard; the numbers of a step stand beside it
    forward = box.get_by_role("button", name=COURSE.words(code)["live.translator.forward"])
    forward.focus()
    page.keyboard.press("Enter")
    assert rows.nth(1).locator("[aria-current=step]").count() == 1
    heat = rows.nth(1).locator("td .hidden").all_text_contents()
    told = box.locator(".live-scores td:nth-child(3)").all_inner_texts()
    assert [text.split(",")[0] for text in heat] == [text.strip() for text in told]
    assert sum(map(float, told)) == pytest.approx(1, abs=0.05)
    rows.nth(0).locator("button").click()
    assert rows.nth(0).locator("[aria-current=step]").count() == 1
    # a word that the network does not know has a nearest one
    box.locator("input[type=text]").fill("Give me two new hatts!")
    page.keyboard.press("Enter")
    assert "hatts" in box.locator(".live-unknown").inner_text()
    box.locator(".live-unknown button").click()
    assert box.locator("input[type=text]").input_value() == "give me two new hats !"
    assert not box.locator(".live-unknown button").count()
    # another language loads its own network
    box.locator('input[value="vi"]').check(force=True)
    page.wait_for_function("document.querySelector('.live-heat tbody th').lang === 'vi'")
    assert not watched.complaints
    assert all(url.startswith(("file:", "data:")) for url in watched.requests)
    context.close()


def test_tokens_appear_one_after_the_other_unless_a_reader_wants_no_motion(
    browser: Browser, site: Path
) -> None:
    page = browser.new_page(viewport=DESK, reduced_motion="no-preference")
    opened(page, site, "bahdanau-attention", "translator")
    later = page.locator(".live-later")
    assert later.count() > 0
    page.wait_for_function("!document.querySelector('.live-later')")
    page.close()


@pytest.mark.parametrize("code", ["en", "tr"])
@pytest.mark.parametrize(
    ("stem", "component"), sorted({(place["page"], place["component"]) for place in places()})
)
def test_a_component_is_open_to_everyone(
    browser: Browser, site: Path, stem: str, component: str, code: str
) -> None:
    """Nothing for axe on a desk and on a phone, light and dark, and nothing wider than a phone."""
    context = browser.new_context(viewport=DESK, reduced_motion="reduce", color_scheme="light")
    page = context.new_page()
    opened(page, site, stem, component, code)
    page.add_script_tag(path=AXE)
    problems = {"light": page.evaluate(AXE_SAYS)}
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    problems["dark, on a phone"] = page.evaluate(AXE_SAYS)
    problems["wider than a phone"] = page.evaluate(WIDE)
    assert not any(problems.values()), problems
    context.close()
