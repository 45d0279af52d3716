"""What moves on the pages, in a browser: by mouse, finger and keyboard, from disk, on a reader's wish."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from browsing import DESK, PHONE, WIDE, Watched, broken_rules
from playwright.sync_api import Browser, Locator, Page, expect

from mha_course.corpus import TARGETS
from mha_course.language_model import generate, next_token_probabilities
from tools.course import Course, cells
from tools.experiments.language_models import grammar
from tools.experiments.live_models import FOLDER, LANGUAGE_MODEL, load_model, training_sentences
from tools.site.live import HERE, PREFIX, places

COURSE = Course()
# Axe looks through all of a page, wherever it is asked: so the page is what moves, and no more.
ALONE = """() => {
    const others = document.querySelectorAll("article :is(section, .cell):not(:has(.live))");
    for (const other of others) other.remove();
}"""
CUT = """[...document.querySelectorAll(".live-scroll")].filter(box => box.scrollWidth > box.clientWidth)
    .map(box => [box.scrollWidth, box.clientWidth])"""
SLIM, TALL = {"width": 390, "height": 844}, {"width": 1280, "height": 1400}
A_PHONE = {"viewport": SLIM, "has_touch": True, "is_mobile": True}
DRAW_AND_BACK = ("live.writer.draw", "live.back")


def opened(
    browser: Browser, site: Path, stem: str, component: str, code: str = "en", init: str = "", **settings: Any
) -> tuple[Page, Watched]:
    """Open a page on disk and start one of its components; `init` is a script that runs first."""
    page = browser.new_page(**{"viewport": DESK, "reduced_motion": "reduce", **settings})
    page.add_init_script(init)
    watched = Watched(page)
    page.goto((site / code / f"{stem}.html").as_uri())
    place = page.locator(f'.live[data-live="{component}"]')
    before = [url for url in watched.requests if "/live/" in url]
    small = {"live.js", "live.css"} | ({"hero.js", "heat.js", "matrix.js"} if stem == "index" else set())
    assert {url.rpartition("/")[2].split("?")[0] for url in before} == small
    place.locator("> button").click()
    place.locator(".live-box").wait_for()
    return page, watched


def probability(amount: str) -> float:
    """Return a probability as the page writes it, which has words for less than half a hundredth."""
    return 0.0025 if amount[0] == "<" else float(amount.replace(",", "."))


def test_each_place_is_a_cell_and_each_word_is_used() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in (HERE / "scripts").glob("*.js"))
    for place in places():
        ids = {cell["id"] for cell in COURSE.read("en", place.page).cells}
        assert place.cell in ids, place
        assert (HERE / "scripts" / f"{place.component}.js").exists()
    keys = {code: [key for key in COURSE.words(code) if key.startswith(PREFIX)] for code in COURSE.languages}
    assert all(keys[code] == keys["en"] for code in keys)
    for key in keys["en"]:
        name = key.rpartition(".")[2]
        if name in TARGETS:  # a language that a reader can choose: the networks say which there are
            continue
        step = f'name: "{name.removesuffix("_told")}"'  # the walk finds its texts by the names of its steps
        assert f"words.{name}" in scripts or f'"{name}"' in scripts or step in scripts, key


def test_the_scripts_of_a_component_are_small() -> None:
    needs = re.findall(r"^    (\w+): \[(.*)\],$", (HERE / "scripts/live.js").read_text("utf-8"), re.MULTILINE)
    assert {place.component for place in places()} <= {component for component, _ in needs}
    for _, files in needs:
        names = ("live.js", *re.findall(r"[\w-]+\.js", files))
        assert sum(len(gzip.compress((HERE / "scripts" / name).read_bytes())) for name in names) <= 40_000


def test_without_scripts_text_and_picture_stay_and_nothing_is_offered(browser: Browser, site: Path) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto((site / "en" / "attention-pooling.html").as_uri())
    assert page.locator("article .enlarge > *").count()
    assert not page.locator(".live button").first.is_visible()
    assert page.locator('.actions [href^="#play-"]').count()
    assert page.locator(".actions a:visible").count() == 1


def test_a_sentence_is_translated_step_by_step(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "bahdanau-attention", "translator")
    box, word = page.locator(".live-translator"), COURSE.words("en")
    rows = box.locator(".live-heat tbody tr")
    assert box.locator(".live-written").inner_text() == "donne-moi deux chapeaux neufs."
    assert box.locator(".live-gold").count() == 6
    # step forward and back by keyboard; the numbers of a step stand beside it
    box.get_by_role("button", name=word["live.forward"]).focus()
    page.keyboard.press("Enter")
    assert rows.nth(1).locator("[aria-current=step]").count() == 1
    heat = rows.nth(1).locator("td .hidden").all_text_contents()
    told = box.locator(".live-scores td:nth-child(3)").all_inner_texts()
    assert [text.split(",")[0] for text in heat] == [text.strip() for text in told]
    assert sum(map(probability, told)) == pytest.approx(1, abs=0.05)
    rows.nth(0).locator("button").click()
    assert rows.nth(0).locator("[aria-current=step]").count() == 1
    rows.nth(2).locator("td").first.click()
    assert rows.nth(2).locator("[aria-current=step]").count() == 1
    # a word that the network does not know has a nearest one
    box.locator("input[type=text]").fill("GİVE ME TWO NEW HATTS!")  # as a Turkish keyboard writes it
    page.keyboard.press("Enter")
    assert "hatts" in box.locator(".live-unknown").inner_text()
    box.locator(".live-unknown .button").click()
    assert box.locator("input[type=text]").input_value() == "give me two new hats !"
    assert not box.locator(".live-unknown button").count()
    # another language loads its own network; of Turkish it is said what the suffixes are
    suffix = box.get_by_text(word["live.translator.suffix"])
    assert not suffix.is_visible()
    box.locator('input[value="tr"]').check(force=True)
    box.get_by_role("button", name="she doesn't like your red cup.").click()
    expect(suffix).to_be_visible()
    box.locator('input[value="vi"]').check(force=True)
    box.locator(".live-heat tbody th[lang=vi]").first.wait_for()
    assert not watched.complaints
    assert all(url.startswith(("file:", "data:")) for url in watched.requests)


def typed(page: Page, sentence: str) -> Locator:
    """Translate a sentence; what the translator says about its words."""
    page.locator(".live-translator input[type=text]").fill(sentence)
    page.keyboard.press("Enter")
    return page.locator(".live-unknown")


@pytest.mark.parametrize(
    ("code", "joined"),
    {"en": "“am”, “yêu”, “and” and “rigth”,", "zh": "「am」、「yêu」、「and」和「rigth」，"}.items(),
)
def test_unknown_words_are_told_at_once_with_neighbours_that_may_be_meant(
    browser: Browser, site: Path, code: str, joined: str
) -> None:
    page, _ = opened(browser, site, "bahdanau-attention", "translator", code)
    assert page.locator(f'input[value="{"fr" if code == "en" else code}"]').is_checked()
    said = typed(page, "We am yêu and rigth am you we see it")
    assert joined in said.inner_text() and "<unk>" in said.inner_text()
    word = COURSE.words(code)
    assert said.locator(".button").all_inner_texts() == [word["live.take"].format(old="rigth", word="right")]
    for sentence in ("he eats and ate", "write while every plate she short", "we loved his freind"):
        typed(page, sentence)
        take = {"loved": "love", "freind": "friend"} if "loved" in sentence else {}
        meant = [word["live.take"].format(old=old, word=new) for old, new in take.items()]
        assert said.locator(".button").all_inner_texts() == meant
    said = typed(page, "I am hungry")
    assert (
        not said.inner_text() and page.locator(".live-form input[type=text]").input_value() == "i'm hungry ."
    )
    assert page.locator(".live-heat thead th").all_inner_texts()[-1] == "<eos>"
    said = typed(page, "the pizza")
    assert page.locator(".live-heat thead th").all_inner_texts()[:2] == ["the", "<unk>"]
    doubt = word["live.translator.doubt"].format(half="0.50")
    assert page.get_by_text(doubt).is_visible()  # it is no wonder that it is unsure
    known = page.locator(".live-translator details")
    said.get_by_role("button", name=word["live.translator.see"]).click()
    assert known.get_attribute("open") is not None and "umbrella" in known.inner_text()


def test_words_that_the_network_knows_are_offered_while_one_types(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "bahdanau-attention", "translator")
    field, offered = page.locator(".live-form input[type=text]"), page.locator(".live-completions button")
    field.fill("")
    field.press_sequentially("the big d")
    words = offered.all_inner_texts()
    assert "dog" in words and all(word.startswith("d") for word in words) and len(words) <= 6
    offered.filter(has_text="dog").click()
    assert field.input_value() == "the big dog "
    field.press_sequentially("xq")
    assert not offered.count()


def test_a_translation_is_compared_when_it_is_whole(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "bahdanau-attention", "translator", reduced_motion="no-preference")
    same = page.get_by_text(COURSE.words("en")["live.translator.same"])
    assert same.count() == 1 and not same.is_visible()
    expect(page.locator(".live-written")).to_have_text("donne-moi deux chapeaux neufs.")
    expect(same).to_be_visible()
    page.get_by_role("button", name=COURSE.words("en")["live.translator.play"]).click()
    assert page.locator(".live-written").inner_text() != "donne-moi deux chapeaux neufs."
    page.locator(".live-heat tbody tr").nth(1).locator("td").first.click()  # a step, of the whole sentence
    expect(page.locator(".live-written")).to_have_text("donne-moi deux chapeaux neufs.")
    unlike = page.get_by_text(COURSE.words("en")["live.translator.unlike"])
    assert not unlike.count()
    typed(page, "the dog is big")  # not of its kind
    expect(unlike).to_be_visible(timeout=20_000)


def test_a_sentence_in_another_language_or_none_is_not_translated(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "bahdanau-attention", "translator", "vi")
    for sentence in ("Tôi yêu em", "Bir kedi gördüm.", "我愛你。", " ", "?!"):
        said, written = typed(page, sentence), page.locator(".live-written")
        assert said.locator("p").first.inner_text() == COURSE.words("vi")["live.translator.english"]
        assert not written.is_visible() and not page.locator(".live-heat").is_visible()
        said.locator(".button").click()
        assert written.is_visible() and not said.inner_text()
    assert "“café”" in typed(page, "my café is open").inner_text() and written.is_visible()
    page.locator(".live-form input[type=text]").press_sequentially(" and so on" * 8)
    assert said.inner_text() == COURSE.words("vi")["live.translator.longest"].format(n=80)


def test_on_a_phone_the_translation_is_not_covered_and_not_cut(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "bahdanau-attention", "translator", "vi", **A_PHONE)
    field, chips = (
        page.locator(".live-form input[type=text]"),
        page.locator(".live-form fieldset label").all(),
    )
    corners = [(place["x"], place["width"]) for chip in chips if (place := chip.bounding_box())]
    assert corners[0] == corners[2] and corners[1] == corners[3] and corners[0][1] == corners[1][1]
    typed(page, "the cat looks at my two new hats")
    expect(field).not_to_be_focused()  # its keyboard would lie over the translation
    assert page.evaluate(CUT) == []
    heights = [
        place["y"]
        for name in (".live-written", ".live-written ~ .live-small", ".live-heat")
        if (place := page.locator(name).first.bounding_box())
    ]
    assert heights == sorted(heights)  # that it may be wrong is said at the translation
    page.locator(".live-unknown .live-link").tap()
    expect(page.locator(".live-translator details p")).to_be_in_viewport(ratio=0.99)


def test_maps_of_heads_have_their_shades_where_decimals_have_a_comma(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "looking-at-heads", "heads", "tr")
    page.locator(".live-map rect").first.wait_for(state="attached")
    shades = page.locator(".live-map rect").evaluate_all("rs => rs.map(r => getComputedStyle(r).fillOpacity)")
    assert len(set(shades)) > 10


COMPONENTS = {place.component: place.page for place in places()}.items()


@pytest.mark.parametrize(("component", "stem"), COMPONENTS)
def test_a_component_is_open_to_everyone(browser: Browser, site: Path, component: str, stem: str) -> None:
    """Nothing for axe on a desk and on a phone, light and dark, and nothing wider than a phone.

    In Turkish, whose words are the longest.
    """
    page, _ = opened(browser, site, stem, component, "tr", color_scheme="light", bypass_csp=True)
    page.evaluate(ALONE)
    problems = {"light": broken_rules(page, within=".live")}
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    rules = "color-contrast", "scrollable-region-focusable", "target-size"
    problems["dark, on a phone"] = broken_rules(page, *rules, within=".live")
    problems["wider than a phone"] = page.evaluate(WIDE)
    assert not any(problems.values()), problems


def test_on_the_home_page_the_translator_opens_below_the_walk_and_can_be_closed(
    browser: Browser, site: Path
) -> None:
    page, _ = opened(browser, site, "index", "translator", "vi")
    assert not page.locator("#opening").is_visible()
    words, box = COURSE.words("vi"), page.locator(".live-translator")
    place, walk = box.bounding_box(), page.locator(".hero").bounding_box()
    assert place and walk and walk["y"] + walk["height"] <= place["y"] and walk["x"] == place["x"]
    assert 0 <= place["y"] <= DESK["height"] / 2
    # it says which network this is
    chapter = box.get_by_role("link", name="Chú ý Bahdanau", exact=True)
    assert chapter.get_attribute("href") == "bahdanau-attention.html"
    box.get_by_role("button", name=words["live.close"]).click()
    assert not box.count()
    page.get_by_role("button", name=words["live.translator.open"]).click()
    box.locator(".live-written").wait_for()


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_home_page_walks_through_a_network_before_one_is_loaded(
    browser: Browser, site: Path, code: str
) -> None:
    page = browser.new_page(viewport=PHONE)
    watched = Watched(page)
    page.clock.install()
    page.goto((site / code / "index.html").as_uri())
    words, hero = COURSE.words(code), page.locator(".hero")
    run = json.loads(hero.get_attribute("data-run") or "")
    assert run["lang"] == ("fr" if code == "en" else code)
    hero.get_by_role("button", name=words["live.hero.pause"]).wait_for()  # it plays by itself
    assert hero.locator(".walk-card b").count() == len(run["source"])
    told = {hero.locator(".hero-told").inner_text()}
    controls = "document.querySelector('.hero-controls').getBoundingClientRect().top"
    top = page.evaluate(controls)
    for _ in range(60):
        page.clock.run_for(1000)  # a word is shown for two seconds
        told.add(hero.locator(".hero-told").inner_text())
        assert page.evaluate(controls) == top, told  # each text fits the room that is kept for it
    assert len(told) >= 9  # the encoder's six pictures, two of the first word, and the words
    aside = words["live.hero.elsewhere"].partition("{gold}")[0]
    peaks = [row.index(max(row)) for row in run["looks"]]
    elsewhere = [t for t, peak in enumerate(peaks) if peak not in run["gold"][t]]
    assert any(aside in text for text in told) == bool(elsewhere)
    hero.get_by_role("button", name=words["live.hero.play"]).wait_for()  # once
    rows = hero.locator(".walk-row:not(.walk-columns):visible .walk-token")
    assert [text.strip("“”「」") for text in rows.all_inner_texts()] == run["target"]
    # by hand
    hero.get_by_role("button", name=words["live.back"]).click()
    assert rows.count() == len(run["target"]) - 1
    hero.get_by_role("button", name=words["live.forward"]).press("Enter")
    assert rows.count() == len(run["target"])
    focused = page.evaluate("document.activeElement.textContent")
    assert focused == words["live.hero.play"]  # not the button that has no more to do
    page.clock.run_for(10_000)
    assert not [
        url for url in watched.requests if "network.js" in url or re.search("(bahdanau|former)-", url)
    ]
    assert not watched.complaints
    hero.locator("a").click()
    page.locator(".live-walk .walk-title").wait_for()


def test_without_motion_the_home_page_shows_the_last_picture(browser: Browser, site: Path) -> None:
    page = browser.new_page(viewport=SLIM, reduced_motion="reduce")
    page.clock.install()
    page.goto((site / "en" / "index.html").as_uri())
    told = page.locator(".hero-told")
    told.wait_for()
    last = told.inner_text()
    assert page.locator(".hero .hero-now .walk-token").inner_text() == "“.”"
    page.clock.run_for(5000)
    assert told.inner_text() == last


def order_of(page: Page) -> str:
    """Return the source words in their order."""
    return " ".join(page.locator(".live-chips button").all_inner_texts()).replace("“.”", ".")


def counted(page: Page) -> tuple[str, ...]:
    """Return exact match on the test sentences with the heads as they are switched, and as trained."""
    word = COURSE.words("en")
    page.locator(".live-heads").get_by_role("button", name=word["live.heads.count"]).click()
    told = page.locator(".live-heads").get_by_text(word["live.heads.counted"].partition(" ")[0])
    told.wait_for()
    return tuple(re.findall(r"\d\.\d+", told.inner_text()))


def test_heads_are_switched_and_words_are_moved(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "looking-at-heads", "heads", viewport=TALL)
    box, marks, word = page.locator(".live-heads"), page.locator(".live-heads mark"), COURSE.words("en")
    switches = box.get_by_role("switch")
    assert switches.count() == 24
    restore = box.get_by_role("button", name=word["live.heads.restore"])
    restore.click()
    assert not marks.count()
    for switch in switches.all()[16:]:
        switch.click()
    assert marks.count()  # without cross-attention it writes something else
    scores = json.loads((FOLDER / "transformer-fr.json").read_text(encoding="utf-8"))["scores"]["0"]
    worse, trained = counted(page)
    assert float(worse) < 0.5 and float(trained) == round(scores["exact_match"], 2)
    box.get_by_role("button", name=word["live.heads.all_on"]).click()
    assert not marks.count() and all(switch.is_checked() for switch in switches.all())
    trial, stop = (box.get_by_role("button", name=word[f"live.heads.{name}"]) for name in ("count", "stop"))
    trial.click()
    stop.click()
    expect(trial).to_be_visible()
    expect(stop).to_have_count(0)
    switches.nth(3).focus()
    page.keyboard.press("Space")
    assert not switches.nth(3).is_checked()
    assert "E0.3" in box.locator(".live-large").inner_text()
    assert not box.get_by_role("button", name=word["live.heads.up"]).is_visible()  # the maps stand beside it
    # a word goes to the end, by keyboard one place back, and by mouse to the front
    assert order_of(page) == "the red shirt is on the table ."
    box.locator(".live-chips button").nth(1).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert order_of(page) == "the shirt is on the red table ."
    page.keyboard.press("ArrowLeft")
    assert order_of(page) == "the shirt is on red the table ."
    assert page.evaluate("document.activeElement.textContent") == "red"
    box.locator(".live-chips button").nth(4).hover()
    page.mouse.down()
    box.locator(".live-chips button").nth(0).hover(force=True)
    page.mouse.up()
    assert order_of(page) == "red the shirt is on the table ."
    restore.click()
    assert order_of(page) == "the red shirt is on the table ."
    # without positions every order gives the same
    box.locator(".live-check input").uncheck()
    written = box.locator(".live-stays span").inner_text()
    box.locator(".live-chips button").nth(3).press("ArrowRight")
    assert box.locator(".live-stays span").inner_text() == written
    box.locator(".live-check input").check()
    assert not watched.complaints


def test_a_reader_finds_a_sentence_that_a_head_changes(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "looking-at-heads", "heads", viewport=TALL)
    box, word = page.locator(".live-heads"), COURSE.words("en")
    trained, now, same = (
        box.locator(f"{name}") for name in (".live-line >> nth=0", ".live-stays", ".live-same")
    )
    page.evaluate("location.hash = '#play-heads?sentence=give+me+two+new+hats+.'")
    expect(same).to_be_empty()
    sentence = order_of(page)
    box.get_by_role("switch").nth(3).click()
    expect(same).to_contain_text(word["live.unchanged"])  # one head less changes little
    before, after = (float(part) for part in re.findall(r"\d\.\d+", same.inner_text()))
    assert before > after > 0.5  # though the network is less sure
    same.get_by_role("button", name=word["live.find_changed"]).click()
    expect(same).to_be_empty(timeout=30_000)
    assert order_of(page) != sentence
    assert trained.locator("span").inner_text().split() != now.locator("span").inner_text().split()
    box.get_by_role("button", name=word["live.heads.all_on"]).click()
    assert trained.locator("span").inner_text().split() == now.locator("span").inner_text().split()
    expect(same).to_be_empty()
    # a head without which every sentence stays
    box.get_by_role("button", name=word["live.heads.restore"]).click()
    box.get_by_role("switch").nth(6).click()  # E1.2
    same.get_by_role("button").click()
    expect(same).to_have_text(word["live.none_changed"].replace("{n}", "300"), timeout=30_000)
    assert not watched.complaints


def query(page: Page) -> tuple[float, ...]:
    """Return the query's position."""
    text = page.locator(".live-reach").get_attribute("aria-valuetext") or ""
    return tuple(float(number) for number in text.replace("−", "-").strip("()").split(","))


def test_heads_and_query_answer_to_a_finger(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "looking-at-heads", "heads", **A_PHONE | {"viewport": PHONE})
    last = page.locator(".live-heads").get_by_role("switch").nth(23)
    last.scroll_into_view_if_needed()
    last.tap()
    assert not last.is_checked()
    switches = page.locator(".live-head")
    switches.nth(5).locator(".live-map").tap()
    assert switches.nth(5).get_by_role("switch").is_checked()  # the map is looked at, and not switched
    large = page.locator(".live-large")
    assert "E1.1" in large.inner_text()
    expect(large).to_be_in_viewport()
    large.get_by_role("button").tap()
    expect(switches.nth(5)).to_be_in_viewport()
    last.scroll_into_view_if_needed()
    box = page.locator(".live-stays").bounding_box()
    assert box and 0 <= box["y"] <= PHONE["height"]  # what changes stays in sight
    page, _ = opened(browser, site, "attention-pooling", "pooling", **A_PHONE | {"viewport": PHONE})
    plane = page.locator(".live-plane").first
    plane.scroll_into_view_if_needed()
    place = plane.bounding_box()
    assert place
    numbers = page.locator(".live-pooling table").bounding_box()
    assert numbers and numbers["y"] + numbers["height"] - place["y"] < PHONE["height"]  # seen while one drags
    page.touchscreen.tap(place["x"] + place["width"] / 2, place["y"] + place["height"] / 6)
    assert query(page) == pytest.approx((0, 2), abs=0.05)
    # a finger that drags the query moves it, and not the page
    finger, before = page.context.new_cdp_session(page), page.evaluate("scrollY")
    middle = page.locator(".live-reach").bounding_box()
    assert middle
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2
    for step in range(11):
        kind, point = ("touchMove" if step else "touchStart"), {"x": x, "y": y + 6 * step}
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert query(page)[1] < 1.3
    assert page.evaluate("scrollY") == before


KEYS = "box => box.getBoundingClientRect().width > 1"  # a screen reader has words that are smaller


@pytest.mark.parametrize(("code", "output"), {"en": "(7.49, 3.38)", "tr": "(7,49; 3,38)"}.items())
def test_what_a_query_does_is_seen_while_it_is_dragged(
    browser: Browser, site: Path, code: str, output: str
) -> None:
    page, _ = opened(browser, site, "attention-pooling", "pooling", code, **A_PHONE)
    for plane in page.locator(".live-plane").all():
        expect(plane).to_be_in_viewport(ratio=0.99)
    assert not page.get_by_text(COURSE.words(code)["live.keys"]).evaluate(KEYS)
    assert page.locator("b.live-output").inner_text() == output
    tokens = ["give", "me", "two", "new", "hats", "“.”"]
    assert page.locator(".live-pooling tbody th").all_inner_texts() == tokens
    plane = page.locator(".live-plane").first
    assert plane.locator("text").all_text_contents() == tokens
    assert plane.locator("circle ~ text").count() == len(tokens)  # on top of the handle, wherever it is


def test_a_query_is_dragged_and_the_output_stays_among_the_values(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "attention-pooling", "pooling", viewport=TALL)
    box = page.locator(".live-pooling")
    assert page.get_by_text(COURSE.words("en")["live.keys"]).evaluate(KEYS)

    def column(number: int) -> list[float]:
        texts = box.locator(f".live-scores td:nth-child({number})").all_inner_texts()
        return [probability(text) if "<" in text else float(text.replace("−", "-")) for text in texts]

    def output() -> tuple[float, ...]:
        return tuple(map(float, box.locator("b.live-output").inner_text().strip("()").split(",")))

    assert query(page) == (1.5, 0.5)
    assert column(2) == [-3, -2, 1, 2, 3, -1]
    bars = box.locator(".live-bar").evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().x)")
    assert len(bars) == 6 and max(bars) - min(bars) < 1  # their lengths can be compared
    pressed = box.locator("[aria-pressed=true]")
    expect(pressed).to_have_text("chapeaux")
    middle = box.locator(".live-reach").bounding_box()
    assert middle
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 300, y - 20, steps=5)
    page.mouse.up()
    assert query(page)[0] == pytest.approx(-2.8)
    assert column(3)[0] > 0.9 and max(output()) < 2  # "give" pulls the output into its corner
    box.get_by_role("button", name="deux").click()
    assert query(page) == (0.5, 1.5)
    expect(pressed).to_have_text("deux")
    box.locator(".live-reach").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowLeft")
    assert query(page) == (0, 1.6) and not pressed.count()
    box.locator("input[type=range]").focus()
    page.keyboard.press("Home")
    assert set(column(3)) == {0.17}
    assert output() == (5, 4.83)  # the plain average
    page.keyboard.press("End")
    assert max(column(3)) == 1  # as the page says of β = 10
    assert not watched.complaints


def test_the_division_matters_where_query_and_keys_are_wide(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "scoring-functions", "width", viewport=TALL)
    box = page.locator(".live-width")
    box.get_by_role("button").nth(1).click()
    box.locator("summary").click()

    def columns() -> list[list[float]]:
        """Score and weight without the division, score and weight with it."""
        texts = box.locator("td").all_inner_texts()
        numbers = [float(text.replace("−", "-")) for text in texts]
        return [numbers[i::4] for i in range(4)]

    box.locator("input").focus()
    page.keyboard.press("Home")
    plain, plain_weights, scaled, scaled_weights = columns()
    assert (plain, plain_weights) == (scaled, scaled_weights)
    page.keyboard.press("End")
    plain, plain_weights, scaled, scaled_weights = columns()
    assert plain == pytest.approx([32 * score for score in scaled], abs=0.2)
    assert sum(scaled_weights) == pytest.approx(1, abs=0.05)
    assert max(plain_weights) > max(scaled_weights)
    assert not watched.complaints


PLACED = """cells => cells.map(cell => {
    const { x, y } = cell.getBoundingClientRect();
    return [Math.round(y), Math.round(x), cell.innerText];
})"""


def test_a_tensor_is_split_as_pytorch_does(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "multi-head-attention", "split")
    box = page.locator(".live-split")
    box.locator("summary").click()

    def shown() -> list[str]:
        """Return the names of the numbers in the order of the text, and from top to bottom."""
        text = box.locator(".live-printed").inner_text().replace("[", " ").replace("]", " ").split()
        seen = sorted(box.locator(".live-cell").evaluate_all(PLACED))
        assert ["".join(name.split()) for _, _, name in seen] == text
        return text

    def names(numbers: torch.Tensor) -> list[str]:
        return [f"{('two', 'new', 'hats')[int(i) // 4]}{int(i) % 4}" for i in numbers.flatten()]

    keys = torch.arange(12).view(3, 4)
    split = keys.view(3, 2, 2)
    for tensor in (keys, split, split.transpose(0, 1), split, keys):
        assert shown() == names(tensor)
        assert str(tuple(tensor.shape)) in box.inner_text()
        if not (forward := box.get_by_role("button", name=COURSE.words("en")["live.forward"])).is_disabled():
            forward.click()
    box.locator("input").check()
    assert shown() == names(keys.view(2, 3, 2))
    assert not watched.complaints


def test_a_cache_saves_the_operations_that_the_page_counts(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "efficient-attention", "cache")
    box = page.locator(".live-cache")
    printed = cells(COURSE.read("en", "efficient-attention"), "code")["cache-run"].outputs[0].text
    counted = {int(t): (full, one) for t, one, full in (line.split() for line in printed.splitlines()[1:4])}
    back = box.get_by_role("button", name=COURSE.words("en")["live.back"])
    while back.is_enabled():
        back.click()
    for t in range(1, 7):
        kept, now = (
            box.locator(f".live-pair > div:last-child .live-{kind}.live-of-key") for kind in ("kept", "now")
        )
        assert (kept.count(), now.count()) == (t - 1, 1)
        if t in counted:
            assert tuple(box.locator("tbody tr").nth(1).locator("td").all_inner_texts()) == counted[t]
        if t < 6:
            box.get_by_role("button", name=COURSE.words("en")["live.forward"]).click()
    assert not watched.complaints


class Writer:
    """The component in which the model writes, and the same model in PyTorch."""

    def __init__(self, page: Page, code: str = "en") -> None:
        self.model, (_, self.vocabulary) = load_model(LANGUAGE_MODEL)
        self.page, self.box, self.word = page, page.locator(".live-writer"), COURSE.words(code)

    def press(self, key: str) -> None:
        self.box.get_by_role("button", name=self.word.get(key, key), exact=True).click()

    def settle(self, temperature: float, top_p: float) -> None:
        for slider, value in zip(self.box.locator("input").all(), (temperature, top_p), strict=True):
            slider.fill(str(value))

    def tokens(self) -> list[str]:
        return self.box.locator(".live-written span").first.inner_text().split()

    def rows(self) -> list[tuple[str, str, bool]]:
        """Token, probability, and whether it is left out, of each row that is seen."""
        texts = """rows => rows.filter(row => row.checkVisibility()).map(row => {
            const [name, value] = [row.querySelector("th > *"), row.querySelector("td > span")];
            const [one, other] = [name, value].map(part => getComputedStyle(part).textDecorationLine);
            if (one !== other) throw Error("half struck out");
            return [name.textContent, value.textContent, one === "line-through"];
        })"""
        return [
            (name.replace("“.”", ".").replace("「.」", "."), value, cut)
            for name, value, cut in self.box.locator("tbody tr").evaluate_all(texts)
        ]

    @torch.no_grad()
    def expected(self, temperature: float, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Return PyTorch's probabilities of the next token: those to draw with, and all of them."""
        ids = [self.vocabulary[token] for token in self.tokens()]
        logits = self.model(torch.tensor([ids]))[0][0, -1]
        before = next_token_probabilities(logits, temperature or 1)
        return next_token_probabilities(logits, temperature, top_p=top_p), before

    def greedy(self, prompt: str) -> list[str]:
        ids = [self.vocabulary.bos, *self.vocabulary[prompt.split()]]
        written = generate(self.model, torch.tensor([ids]), temperature=0, stop=self.vocabulary.eos)
        return self.vocabulary.to_tokens(written[0].tolist())


def test_the_bars_are_the_probabilities_that_the_page_defines(browser: Browser, site: Path) -> None:
    """On the Vietnamese page, where decimals have a comma."""
    page, watched = opened(browser, site, "language-models", "writer", "vi", bypass_csp=True)
    writer, seen = Writer(page, "vi"), set()
    for prompt in ("<bos>", "give me two"):
        writer.press(prompt)
        for temperature, top_p in ((1, 1), (0.5, 1), (2, 1), (1, 0.5), (0.3, 0.9), (1, 0), (0, 1)):
            writer.settle(temperature, top_p)
            chances, before = writer.expected(temperature, top_p)
            *tokens, others = writer.rows()
            assert len(tokens) == 8 and others[0] == writer.word["live.writer.others"]
            ids = [writer.vocabulary[name] for name, _, _ in tokens]
            best = sorted(before.tolist(), reverse=True)
            assert before[ids].tolist() == pytest.approx(best[:8])
            rest = torch.ones(len(chances), dtype=torch.bool)
            rest[ids] = False
            pairs = [*zip(chances[ids], before[ids], strict=True), (chances[rest].sum(), before[rest].sum())]
            for (_, value, cut), (chance, had) in zip([*tokens, others], pairs, strict=True):
                assert cut == (chance == 0)
                assert "," in value
                assert probability(value) == pytest.approx(float(chance or had), abs=0.0051)
            seen.add(tuple(writer.rows()))
    assert len(seen) == 12  # every setting shows something else; top-p 0 is greedy, as temperature 0
    assert not watched.complaints
    assert all(url.startswith(("file:", "data:")) for url in watched.requests)
    page.evaluate(ALONE)
    assert broken_rules(page, within=".live") == []  # of what is struck out


def test_a_reader_or_chance_writes_and_takes_back(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "language-models", "writer", **A_PHONE)
    writer = Writer(page)
    draw, back = (writer.box.get_by_role("button", name=writer.word[key]) for key in DRAW_AND_BACK)
    assert writer.tokens() == ["<bos>"] and back.is_disabled()
    # a finger writes a token
    third = writer.rows()[2][0]
    writer.box.locator("tbody button").nth(2).tap()
    assert writer.tokens() == ["<bos>", third]
    writer.press("live.back")
    assert writer.tokens() == ["<bos>"]
    # chance draws what is left, and each of it: with this top-p two tokens
    writer.press("give me two")
    writer.settle(1, 0.25)
    left = {name for name, _, cut in writer.rows() if not cut}
    assert len(left) == 2
    drawn = set()
    for _ in range(20):
        draw.click()
        drawn.add(writer.tokens()[-1])
        writer.press("live.back")
    assert drawn == left
    # the whole sentence at temperature 0 is PyTorch's greedy one; each of its tokens has its probability
    for prompt in ("", "give me two"):
        writer.press(prompt or "<bos>")
        writer.settle(0, 1)
        writer.press("live.writer.whole")
        assert writer.tokens() == writer.greedy(prompt)
        assert [name for name, _, _ in writer.rows()] == writer.tokens()[1:]
        assert draw.is_disabled()
    assert all(value == "1.00" for _, value, cut in writer.rows() if not cut)
    writer.settle(1, 1)
    place = len(["<bos>", "give", "me", "two"])
    told = writer.rows()[place - 1 :]
    for _ in told:
        writer.press("live.back")
    assert writer.tokens() == ["<bos>", "give", "me", "two"]
    for name, value, _ in told:
        chances, _ = writer.expected(1, 1)
        assert probability(value) == pytest.approx(float(chances[writer.vocabulary[name]]), abs=0.0051)
        writer.box.locator("tbody button").nth([row[0] for row in writer.rows()].index(name)).tap()
    assert writer.box.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert page.evaluate("innerWidth") == SLIM["width"]  # of what is wider a phone shows more, and smaller


def test_a_sentence_is_judged_as_on_the_page(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "language-models", "writer")
    writer, said = Writer(page), page.locator(".live-written")
    sentences = training_sentences()["rows"]
    found = set()
    for _ in range(100):
        writer.press("<bos>")
        writer.press("live.writer.whole")
        *tokens, last = writer.tokens()[1:]
        text = " ".join(tokens)
        verdict = "known" if text in sentences else "fresh" if text in grammar() else "broken"
        assert last != "<eos>" or said.inner_text().endswith(writer.word[f"live.writer.{verdict}"])
        found.add(verdict)
        if len(found) == 3:
            break
    assert (
        len(found) == 3
    )  # of a hundred sentences, about 20 are known, 65 new and correct, and 15 not correct


def test_the_keyboard_is_not_lost_where_a_sentence_ends(browser: Browser, site: Path) -> None:
    page, _ = opened(browser, site, "language-models", "writer", reduced_motion="no-preference")
    writer = Writer(page)
    writer.settle(0, 1)
    writer.box.locator("tbody button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('tbody tr').rowIndex") == 2  # the next of that row
    writer.box.get_by_role("button", name=writer.word["live.writer.whole"]).focus()
    page.keyboard.press("Enter")
    short = len(writer.tokens())
    expect(page.locator(".live-written")).to_contain_text("<eos>")  # one token after another
    assert len(writer.tokens()) > short
    expect(writer.box.get_by_role("button", name="<bos>")).to_be_focused()
    page.keyboard.press("Enter")
    assert writer.tokens() == ["<bos>"]
