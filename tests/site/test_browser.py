"""The site in a real browser: it switches languages, finds words, needs no other host and suits everyone."""

import csv
import gzip
import io
import re
from pathlib import Path

import pytest
from browsing import CHAPTER, DESK, PHONE, WIDE, Watched, broken_rules
from PIL import Image
from playwright.sync_api import Page

from tools.course import Course, cells

COURSE = Course()


def found(page: Page, query: str) -> list[str]:
    """Return the addresses that a search for `query` gives, best first."""
    if not page.locator("dialog.search").is_visible():
        page.keyboard.press("/")
    page.locator("dialog.search[data-ready]").wait_for()
    page.fill("dialog.search input", query)  # the results are there when its event has been answered
    return page.eval_on_selector_all(".results a", "links => links.map(link => link.href)")


def test_the_switcher_keeps_page_and_passage_and_is_remembered(browser, address):
    page = browser.new_page(viewport=DESK, locale="en-GB", reduced_motion="reduce")
    page.goto(f"{address}/en/{CHAPTER}.html#matters")
    page.click(".languages summary")
    page.click('.languages a[data-edition="tr"]')
    page.wait_for_url("**/tr/**")
    assert page.url.endswith(f"/tr/{CHAPTER}.html#matters")
    assert page.evaluate("Math.abs(document.querySelector('#matters').getBoundingClientRect().top) < 200")
    # the entry that was asked for, not the lowest in sight
    page.goto(f"{address}/en/glossary.html#attention-head")
    page.click(".languages summary")
    page.click('.languages a[data-edition="tr"]')
    page.wait_for_url("**/tr/glossary.html#attention-head")
    page.goto(f"{address}/")
    page.wait_for_url("**/tr/index.html")


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_another_language_opens_where_the_reader_is(browser, address, screen):
    """A drawing's parts have ids of their own: the passage at the top of the window is none of them."""
    page = browser.new_page(viewport=screen, reduced_motion="reduce")
    page.goto(f"{address}/en/transformer.html")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    page.click(".languages summary")
    page.click('.languages a[data-edition="tr"]')
    page.wait_for_url("**/tr/**")
    top = "id => document.getElementById(id).getBoundingClientRect().top"
    assert 0 < page.evaluate(top, page.url.partition("#")[2]) < screen["height"] / 4
    assert page.evaluate("scrollY / document.documentElement.scrollHeight") > 0.3


def test_another_language_opens_nothing_that_is_folded(browser, address):
    page = browser.new_page(viewport=PHONE, reduced_motion="reduce")
    page.goto(f"{address}/en/transformer.html")
    at = "cell => scrollTo(0, cell.getBoundingClientRect().top + scrollY - innerHeight / 4 + 5)"
    page.locator(".cell:has(> .aside)").nth(2).evaluate(at)
    page.click(".languages summary")
    page.click('.languages a[data-edition="vi"]')
    page.wait_for_url("**/vi/**")
    assert page.url.partition("#")[2] and page.locator("article details[open]").count() == 0


@pytest.mark.parametrize(("locale", "code"), [("vi-VN", "vi"), ("tr", "tr"), ("fo-FO", "en")])
def test_the_front_door_opens_in_the_browsers_language(browser, address, locale, code):
    page = browser.new_page(locale=locale)
    page.goto(f"{address}/")
    page.wait_for_url(f"**/{code}/index.html")


def test_without_scripts_every_page_can_be_reached(browser, address):
    page = browser.new_page(java_script_enabled=False, viewport=PHONE)
    page.goto(f"{address}/")
    assert page.locator("main a").count() == len(COURSE.languages)
    page.click('main a[hreflang="vi"]')
    assert page.url.endswith("/vi/index.html")
    assert page.locator("nav.chapters a").first.is_visible()
    page.click(".languages summary")
    page.click('.languages a[data-edition="zh"]')
    assert page.url.endswith("/zh/index.html")
    page.click(f'.card[data-stem="{CHAPTER}"] a')
    page.click("details.contents summary")
    page.click('details.contents a[href="#matters"]')
    assert page.url.endswith(f"/zh/{CHAPTER}.html#matters")


HALF_WRITTEN = """input => {
    input.value = "ㄓㄨˋqqq";
    input.dispatchEvent(new InputEvent("input", {isComposing: true}));
    return document.querySelectorAll(".results a").length;
}"""


@pytest.mark.parametrize(("code", "query"), [("en", "padding"), ("zh", "熱圖")])
def test_the_search_marks_what_it_finds_and_says_what_it_does_not(browser, address, site, code, query):
    """From a server and from disk."""
    page, word = browser.new_page(viewport=DESK), COURSE.words(code)["search_partial"]
    page.goto(f"{address}/en/index.html" if code == "en" else (site / code / "index.html").as_uri())
    assert found(page, "qqqxyz") == []
    status = page.locator("dialog.search output")
    assert status.inner_text()
    assert found(page, "softmax qqqxyz") and "qqqxyz" in status.inner_text() and word in status.inner_text()
    assert found(page, "softmax") and word not in status.inner_text()
    assert page.locator("dialog.search input").evaluate(HALF_WRITTEN) > 0
    found(page, query)
    assert page.locator(".results mark").count() > 0
    page.locator(".results a").first.click()
    page.wait_for_url("**#*")


LOAD_ALL = """async () => {
    for (const image of document.images) image.loading = "eager";
    await Promise.all([document.fonts.ready, ...[...document.images].map(image => image.decode())]);
}"""


def weight(site: Path, address: str, requests: list[str]) -> int:
    """Return the bytes of a page and of all that it loads, text compressed as servers send it."""
    files = {
        site / url.removeprefix(f"{address}/").split("?")[0] for url in requests if url.startswith(address)
    }
    packed = {".html", ".css", ".js", ".svg"}
    return sum(
        len(gzip.compress(file.read_bytes())) if file.suffix in packed else file.stat().st_size
        for file in files
    )


# The page has been told of its new size before the second frame is drawn.
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


# What is drawn, not what stands in the source, with all that is folded open.
UNSEEN = """() => {
    const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d");
    const known = new Map();
    const rgba = colour => {
        if (!known.has(colour)) {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            known.set(colour, canvas.getImageData(0, 0, 1, 1).data);
        }
        return known.get(colour);
    };
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
    const ground = node => {
        while (node && rgba(getComputedStyle(node).backgroundColor)[3] < 255) node = node.parentElement;
        return rgba(node ? getComputedStyle(node).backgroundColor : "white");
    };
    const contrast = node => {
        const [one, two] = [rgba(getComputedStyle(node).color), ground(node)].map(light);
        return (Math.max(one, two) + .05) / (Math.min(one, two) + .05);
    };
    const unseen = node => {
        const {width, height} = node.getBoundingClientRect();
        if (!node.checkVisibility({opacityProperty: true, visibilityProperty: true})) return "hidden";
        if (node.matches("img, svg")) return width < 60 || height < 15 ? "small" : "";
        if (width < 3 || height < 8 || parseFloat(getComputedStyle(node).fontSize) < 10) return "small";
        return contrast(node) < 4.5 ? "pale" : "";
    };
    for (const folded of document.querySelectorAll("article details")) folded.open = true;
    const drawn = "p, li, td, th, h1, h2, h3, pre, code, pre span, .katex-html, .enlarge > *";
    return [...document.querySelectorAll("article :is(" + drawn + ")")]
        .filter(node => node.textContent.trim() || node.matches(".enlarge > *"))
        .filter(node => !node.closest("[hidden], .live, .tools, .home #opening"))
        .map(node => [unseen(node), node.outerHTML.slice(0, 90)]).filter(([what]) => what).slice(0, 8);
}"""


COVERED = """() => [...document.querySelectorAll("article .code")].filter(block => {
    const [button, line] = [block.querySelector(".copy"), block.querySelector(".line")];
    if (!button || !block.offsetParent || line.matches(".noted")) return false; // its comment is a block
    const range = document.createRange();
    range.selectNodeContents(line);
    const box = button.getBoundingClientRect();
    return [...range.getClientRects()].some(part => part.right > box.left + 1 && part.top < box.bottom - 4);
}).length"""


BROKEN = """all => all.filter(name => new Set(Array.from(name.getClientRects(), box => box.top)).size > 1)
    .map(name => name.textContent)"""


LOOKED_AT = [  # closely: elsewhere `t check` holds formulas, code and HTML to the English
    f"{code}/{stem}.html"
    for code in COURSE.languages
    for stem in (COURSE.pages if code == COURSE.source else ["multi-head-attention"])
]
IN_COLOUR = [f"en/{stem}.html" for stem in ("index", CHAPTER, "translations")]


@pytest.mark.parametrize("path", LOOKED_AT)
def test_a_page_is_light_quiet_is_seen_and_open_to_everyone(browser, address, site, path):
    """No other host, no complaint, at most 250 kB, nothing for axe, no sideways scrolling, no name torn.

    Text, formulas, code and figures are drawn, large enough, and unlike what is behind them, with all that is
    folded open. Axe takes longest: it sees English, whose markup is that of all others, once, as on a phone.
    Some pages it also sees on a desk, light and dark, and measures contrast there: what is drawn is compared
    with its ground on all of them.
    """
    page = browser.new_page(viewport=PHONE, color_scheme="light", bypass_csp=True)  # for axe
    watched = Watched(page)
    page.goto(f"{address}/{path}#top")  # with all of it laid out
    page.evaluate(LOAD_ALL)
    others = [url for url in watched.requests if not url.startswith((address, "data:"))]
    assert watched.requests and not others
    assert not watched.complaints
    assert weight(site, address, watched.requests) <= 250_000
    assert page.locator("article :is(h1, p, li, td)").count() > 1, "an empty page hides nothing"
    problems = {"wider than a phone": page.evaluate(WIDE)}
    page.evaluate("for (const box of document.querySelectorAll('article details')) box.open = true")
    problems["torn names"] = page.eval_on_selector_all(".code .n, .code .nf", BROKEN)
    problems["covered code"] = page.evaluate(COVERED)
    page.set_viewport_size(DESK)
    page.evaluate(DRAWN)
    problems["unseen"] = page.evaluate(UNSEEN)
    if path in IN_COLOUR:
        problems["light"] = broken_rules(page)
    page.emulate_media(color_scheme="dark")
    problems["unseen in the dark"] = page.evaluate(UNSEEN)
    if path in IN_COLOUR:
        problems["dark"] = broken_rules(page, "color-contrast")
    if path.startswith("en/"):
        page.set_viewport_size(PHONE)
        # code loses its colours, which are half of all elements
        page.evaluate("for (const pre of document.querySelectorAll('pre')) pre.textContent = pre.textContent")
        problems["phone"] = broken_rules(page, contrast=False)
    assert not any(problems.values()), problems


OPENED = {  # the page, what opens, and where; the markup is the same in each language
    "search": ("en/notation", ".search-button", "dialog.search"),
    "languages": ("tr/notation", ".languages summary", ".languages"),
    "menu": ("vi/notation", ".menu-button", "nav.chapters"),
    "solution": (f"zh/{CHAPTER}", "article details:not([open]) > summary", "article details[open]"),
}


@pytest.mark.parametrize("opened", list(OPENED))
def test_what_a_reader_opens_is_open_to_everyone(browser, address, opened):
    """Nothing for axe in search results, the list of languages, a phone's menu and a solution."""
    path, button, within = OPENED[opened]
    page = browser.new_page(viewport=PHONE, color_scheme="light", bypass_csp=True)
    page.goto(f"{address}/{path}.html")
    page.locator(button).last.click()
    assert opened != "search" or found(page, "softmax")
    page.locator(within).last.wait_for()
    assert not broken_rules(page, within=within)
    page.emulate_media(color_scheme="dark")
    assert not broken_rules(page, "color-contrast", within=within)


PARTED = """() => [...document.querySelectorAll(".glued")].filter(node => {
    const bases = [...node.querySelectorAll(".katex-html > .base")].map(base => base.getBoundingClientRect());
    return [[node.firstChild, bases[0]], [node.lastChild, bases.at(-1)]].some(([text, base]) => {
        if (text.nodeType !== Node.TEXT_NODE) return false;
        const range = document.createRange();
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        return box.top > base.bottom || box.bottom < base.top;
    });
}).map(node => node.textContent)"""


@pytest.mark.parametrize("code", ["tr", "zh"])  # suffixes, commas of another width
def test_no_comma_or_suffix_is_parted_from_its_formula(browser, site, code):
    page = browser.new_page()
    page.goto((site / code / "scoring-functions.html").as_uri())
    page.evaluate("document.fonts.ready")
    assert page.locator(".glued").count() > 10
    for width in range(320, 460, 20):
        page.set_viewport_size({"width": width, "height": 800})
        assert not page.evaluate(PARTED), width


def test_a_page_opened_from_disk_works(browser, site):
    page = browser.new_page(viewport=DESK)
    watched = Watched(page)
    page.goto((site / "vi" / f"{CHAPTER}.html").as_uri())
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px KaTeX_Main'))")
    page.click(".theme-button")
    page.click(".languages summary")
    page.click('.languages a[data-edition="en"]')
    assert page.url.startswith("file:") and page.url.split("#")[0].endswith(f"/en/{CHAPTER}.html")
    assert not watched.complaints
    assert all(url.startswith(("file:", "data:")) for url in watched.requests)


def test_colours_can_be_chosen_and_stay(browser, address):
    page = browser.new_page(color_scheme="light")
    page.goto(f"{address}/zh/{CHAPTER}.html")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(background)
    page.click(".theme-button")
    assert page.evaluate(background) != light
    assert "深色" in page.get_attribute(".theme-button", "aria-label")
    said = "getComputedStyle(document.querySelector('.theme-button'), '::after').content"
    assert "深色" in page.evaluate(said)  # for a moment also in sight, or until the next press
    page.mouse.click(5, 300)
    assert page.evaluate(said) == "none"
    page.goto(f"{address}/zh/index.html")
    assert page.evaluate(background) != light


STYLES = """selector => {
    const {colorScheme, display, filter} = getComputedStyle(document.querySelector(selector));
    return {colorScheme, display, filter};
}"""


def test_paper_is_light_and_has_whole_tables_whatever_the_screen(browser, address, site):
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted((site / "en").glob("*.html"))}
    stem = next(stem for stem, text in pages.items() if " stacked" in text and "<figure" in text)
    page = browser.new_page(viewport={"width": 700, "height": 1000})  # about as wide as A4
    page.goto(f"{address}/en/{stem}.html")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    for media, scheme, head in (("screen", "dark", "none"), ("print", "light", "table-header-group")):
        page.emulate_media(media=media, color_scheme="dark")
        assert page.evaluate(STYLES, "html")["colorScheme"] == scheme
        assert page.evaluate(STYLES, ".stacked thead")["display"] == head
        assert (page.evaluate(STYLES, "figure .enlarge > *")["filter"] == "none") == (media == "print")


FOCUSED = """() => {
    const node = document.activeElement, style = getComputedStyle(node);
    const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return [`${node.tagName} ${node.className}`, shown || node === document.body];
}"""


@pytest.mark.parametrize(("query", "is_seen"), [("", True), ("?handout", False)])
def test_a_teacher_prints_a_page_without_its_solutions(browser, address, query, is_seen):
    page = browser.new_page()
    page.goto(f"{address}/en/{CHAPTER}.html{query}")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    answers = page.locator("article :is(.answer > p, .solution > div)").all()
    assert len(answers) > 5
    assert {answer.is_visible() for answer in answers} == {is_seen}
    assert page.locator(".answer > summary").first.is_visible()  # the choices of the quiz


def test_everything_can_be_reached_by_keyboard_and_focus_shows(browser, address):
    page = browser.new_page(viewport=DESK)
    page.goto(f"{address}/en/{CHAPTER}.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.skip')")
    reached = ""
    for _ in range(60):
        page.keyboard.press("Tab")
        name, shown = page.evaluate(FOCUSED)
        reached += f" {name}"
        assert shown, name
    assert "search-button" in reached and "theme-button" in reached


ROOM = """signs => [...document.querySelectorAll("article .code pre")].map(pre => {
    const opened = pre.closest("details");
    for (let box = opened; box; box = box.parentNode.closest("details")) box.open = true;
    const style = getComputedStyle(pre), ruler = document.createElement("span");
    ruler.textContent = "0".repeat(signs);
    pre.append(ruler);
    const width = ruler.getBoundingClientRect().width / signs;
    ruler.remove();
    const room = (pre.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) / width;
    return [room, opened !== null];
})"""


@pytest.mark.parametrize(("width", "signs"), [(1265, 79), (390, 48)])
def test_a_line_of_code_fits(browser, address, width, signs):
    """Beside both columns on a screen of 1280 pixels, less a scroll bar; three fifths of it on a phone."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{address}/en/{CHAPTER}.html")
    room = page.evaluate(ROOM, signs)
    assert {folded for _, folded in room} == {True, False}
    assert min(signs for signs, _ in room) >= signs, room
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)") >= 16


def test_the_menu_on_a_phone_opens_and_closes(browser, address):
    page = browser.new_page(viewport=PHONE)
    page.goto(f"{address}/tr/{CHAPTER}.html")
    assert not page.locator("nav.chapters").is_visible()
    signs = page.locator(".menu-button svg")
    assert signs.nth(0).is_visible() and not signs.nth(1).is_visible()
    page.click(".menu-button")
    assert page.locator("nav.chapters").is_visible()
    assert signs.nth(1).is_visible() and not signs.nth(0).is_visible()  # a cross
    page.keyboard.press("Escape")
    assert not page.locator("nav.chapters").is_visible()
    page.click(".menu-button")
    page.click('.chapters li[data-stem] ul a[href="#summary"]')  # the sections of this page stand in it too
    assert not page.locator("nav.chapters").is_visible() and page.url.endswith("#summary")


def test_a_term_shows_what_it_means_to_mouse_keyboard_and_finger(browser, address):
    page = browser.new_page(viewport=PHONE, has_touch=True)
    page.goto(f"{address}/tr/{CHAPTER}.html")
    term, hint = page.locator("article a.term").first, page.locator("#hint")
    term.hover()
    assert hint.inner_text() and term.get_attribute("aria-describedby") == "hint"
    page.keyboard.press("Escape")
    assert hint.is_hidden()
    term.focus()
    assert hint.is_visible()
    page.keyboard.press("Escape")
    term.evaluate("link => link.blur()")
    term.tap()
    assert hint.is_visible() and CHAPTER in page.url
    term.tap()
    page.wait_for_url("**/tr/glossary.html#*")


def test_what_is_typed_before_the_search_is_ready_is_answered(browser, address):
    page = browser.new_page(viewport=DESK)
    page.clock.install(time=0)
    page.goto(f"{address}/en/{CHAPTER}.html")
    page.clock.pause_at(60_000)  # the index is made whenever the page has time: now it has none
    page.keyboard.press("/")
    page.wait_for_function("() => Boolean(window.courseSearch?.start)")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    assert page.locator("dialog.search").is_visible() and page.locator(".results a").count() == 0
    assert page.locator("dialog.search output").inner_text() == "Searching…"
    assert not page.locator("dialog.search .examples").is_visible()
    page.clock.resume()
    page.locator("dialog.search[data-ready]").wait_for()
    assert page.locator(".results a").count() > 3 and page.input_value("dialog.search input") == "softmax"


def test_the_search_box_is_led_by_the_keyboard_and_closes_at_once(browser, address):
    page = browser.new_page(viewport=DESK)
    page.goto(f"{address}/en/index.html")
    results = found(page, "softmax")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.href") == results[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    assert not page.locator("dialog.search").is_visible()
    page.evaluate(DRAWN)  # the browser has its own answer to Escape, which may come later
    found(page, "softmax")
    page.mouse.click(5, 400)
    assert not page.locator("dialog.search").is_visible()


EXCERPT = """link => [
    link.querySelector("strong").textContent.split(" › ").at(-1), link.lastChild.textContent]"""


def test_the_search_box_gives_examples_and_a_way_out(browser, address):
    page = browser.new_page(viewport=PHONE, has_touch=True)
    page.goto(f"{address}/vi/notation.html")
    page.locator(".search-button").tap()
    page.locator("dialog.search[data-ready]").wait_for()
    box, icon = (page.locator(name).bounding_box() for name in ("dialog.search", ".search-button svg"))
    assert box["y"] < icon["y"] and box["y"] + box["height"] > icon["y"] + icon["height"]
    examples = page.locator(".examples button")
    assert examples.count() == 3 and not page.locator(".results a").count()
    for example in examples.all():
        example.tap()
        assert page.input_value("dialog.search input") == example.text_content()
        assert page.evaluate("document.activeElement === document.querySelector('.results a')")
        title, excerpt = page.locator(".results a").first.evaluate(EXCERPT)
        assert excerpt.strip() and not excerpt.startswith(title), (title, excerpt)
        assert not example.is_visible() and not page.locator(".instead").is_visible()
        found(page, "")
        assert example.is_visible()
    found(page, "qqqxyz")
    page.locator(".instead a").tap()
    page.wait_for_url("**/vi/glossary.html")


def test_pictures_are_on_the_ground_of_the_page_in_light_and_dark(browser, address):
    page = browser.new_page(viewport=PHONE, reduced_motion="reduce")
    page.goto(f"{address}/en/attention-pooling.html")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        rgb = tuple(int(value) for value in re.findall(r"\d+", ground)[:3])
        for cell in ("opening", "flow"):  # a plot, a diagram
            picture = page.locator(f"#{cell} .enlarge > *")
            picture.scroll_into_view_if_needed()
            shot = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
            assert shot.getpixel((shot.width // 2, 2)) == pytest.approx(rgb, abs=2), (scheme, cell)


def stay(page: Page, section: str, milliseconds: int = 1000) -> None:
    """Go to a section and be there for some time, on a page whose clock stands still."""
    page.evaluate(f"location.hash = '#{section}'")
    page.locator(f'.sections [aria-current][href="#{section}"]').wait_for()
    page.clock.run_for(milliseconds)


def test_what_was_read_is_marked_and_can_be_forgotten(browser, address):
    page = browser.new_page(viewport=DESK, reduced_motion="reduce")
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # only this test moves the time, on a busy machine too
    chapter, start = f"{address}/en/{CHAPTER}.html", page.locator(".start a")
    page.goto(f"{chapter}#lstm")
    stay(page, "lstm")
    page.goto(f"{address}/zh/index.html")
    assert start.get_attribute("href") == "attention-pooling.html"  # to peek is not to read
    page.goto(f"{chapter}#lstm")
    stay(page, "lstm")
    stay(page, "dot")
    page.goto(f"{address}/zh/index.html")
    assert start.get_attribute("href") == f"{CHAPTER}.html#dot"
    assert page.locator(".card .read").count() == 0
    page.goto(f"{chapter}#summary")
    stay(page, "summary")
    read = page.locator(f'.chapters li[data-stem="{CHAPTER}"] .read')
    assert read.count() == 0  # to jump to the end is not to read
    links = page.locator(".sections a").evaluate_all("links => links.map(link => link.hash.slice(1))")
    for milliseconds in (20, 1000):  # nor is to flick through
        for section in links:
            stay(page, section, milliseconds)
        assert read.count() == (milliseconds == 1000)
    page.goto(f"{address}/zh/index.html")
    assert page.locator(f'.card[data-stem="{CHAPTER}"] .read').get_attribute("aria-label") == "已讀"
    assert page.locator("main .forget").is_visible()
    page.set_viewport_size(PHONE)
    page.click(".menu-button")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.click(".chapters .forget")
    assert page.locator(".read").count()
    page.once("dialog", lambda dialog: dialog.accept())
    page.click(".chapters .forget")
    assert page.locator(".read").count() == 0 and page.locator(".forget:visible").count() == 0
    page.reload()
    assert page.locator(".read").count() == 0
    assert start.get_attribute("href") == "attention-pooling.html"


def test_a_chapter_is_marked_by_hand_and_the_next_one_offered(browser, address):
    page = browser.new_page(viewport=PHONE)
    page.goto(f"{address}/en/attention-pooling.html")
    page.locator("article > .tick input").check()
    page.goto(f"{address}/zh/index.html")
    start = page.locator(".start a")
    assert start.get_attribute("href") == "scoring-functions.html"
    assert start.inner_text().startswith("下一章：2 ")
    page.goto(f"{address}/en/attention-pooling.html#summary")
    page.locator("article > .tick input").uncheck()
    page.goto(f"{address}/en/index.html")
    assert page.locator(".read").count() == 0
    assert start.get_attribute("href").startswith("attention-pooling.html")


def test_answers_and_exercises_are_remembered_and_can_be_forgotten(browser, address):
    page = browser.new_page(viewport=DESK)
    page.goto(f"{address}/en/{CHAPTER}.html")
    questions = page.locator("details.answer > .right").count()
    tasks = page.locator("section.exercise").count()
    page.click("details.answer:has(.wrong) > summary")
    assert page.locator(".chapters .done").count() == 0
    page.click("details.answer:has(.right) > summary")
    assert page.locator("details.answer[open]").count() == 1  # one answer is chosen
    here = page.locator(f'.chapters li[data-stem="{CHAPTER}"] .done')
    assert here.inner_text() == f"quiz 1/{questions}"
    page.click("section.exercise .solution > summary")  # to look is not to solve
    page.locator("section.exercise .tick input").first.check()
    page.locator("section.exercise .tick input").last.check()
    page.goto(f"{address}/tr/index.html")
    card = page.locator(f'.card[data-stem="{CHAPTER}"] .done')
    assert card.inner_text() == f"sorular 1/{questions} · alıştırmalar 2/{tasks}"
    page.goto(f"{address}/tr/{CHAPTER}.html")
    assert page.locator("article .read").get_attribute("aria-label") == "Yanıtlandı"
    assert page.locator("article .tick :checked").count() == 2
    page.locator("article .tick input").first.uncheck()
    assert here.inner_text() == f"sorular 1/{questions} · alıştırmalar 1/{tasks}"
    page.once("dialog", lambda dialog: dialog.accept())
    page.click(".forget")
    assert page.locator(".read, .done, .tick :checked").count() == 0
    page.reload()
    assert page.locator(".read, .done, .tick :checked").count() == 0


def test_progress_is_saved_as_a_table_for_a_teacher(browser, address):
    page = browser.new_page(viewport=DESK)
    page.goto(f"{address}/tr/{CHAPTER}.html")
    assert page.locator(".save:visible").count() == 0  # nothing to save yet
    page.click("details.answer:has(.right) > summary")
    page.locator("section.exercise .tick input").first.check()
    page.locator("article > .tick input").check()
    questions = page.locator("details.answer > .right").count()
    tasks = page.locator("section.exercise").count()
    title = page.locator(f'.chapters li[data-stem="{CHAPTER}"] .title').inner_text()
    with page.expect_download() as download:
        page.click(".chapters .save")
    with open(download.value.path(), encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert len(head) == 6 and head[0] == "Bölüm" and len(rows) == page.locator(".chapters .number").count()
    assert [" ".join(title.split()), "1", "1", str(questions), "1", str(tasks)] in rows


@pytest.mark.parametrize("stored", [None, "{", "null"], ids=["refused", "torn", "empty"])
def test_progress_needs_no_storage(browser, address, stored):
    page = browser.new_page(viewport=DESK)
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no'); }})"
    store = f"localStorage.setItem('course-read', {stored!r})"
    page.add_init_script(store if stored else refuse)
    watched = Watched(page)
    page.goto(f"{address}/en/{CHAPTER}.html")
    page.click("details.answer:has(.right) > summary")
    assert page.locator(".chapters .done").inner_text().startswith("quiz 1/")
    page.locator("article .tick input").first.check()
    assert " · exercises 1/" in page.locator(".chapters .done").inner_text()
    assert not watched.complaints


def test_a_picture_opens_large_over_the_page(browser, address):
    page = browser.new_page(viewport=PHONE, reduced_motion="reduce")
    page.goto(f"{address}/tr/attention-pooling.html")
    picture = page.locator(".enlarge").first
    width = picture.locator("> *").bounding_box()["width"]
    large = page.locator("dialog.large")
    for pressed in 0.1, 0.5, 0.9:
        picture.click(position={"x": 0.5 * width, "y": 20})
        whole = large.locator(".drawing").bounding_box()
        assert width <= whole["width"] <= PHONE["width"] and large.locator("strong").inner_text()
        page.mouse.click(pressed * PHONE["width"], PHONE["height"] / 2)
        near = large.locator(".drawing").bounding_box()
        assert near["width"] > 1.8 * width
        # the place that was pressed is in the middle, or as near to it as the picture goes
        seen = (PHONE["width"] / 2 - near["x"]) / near["width"]
        assert seen == pytest.approx(min(max(pressed, 0.25), 0.75), abs=0.05)
        page.mouse.click(PHONE["width"] / 2, PHONE["height"] / 2)
        assert large.locator(".drawing").bounding_box() == whole
        large.get_by_role("button").click()
    assert not large.is_visible() and page.url.endswith("/tr/attention-pooling.html")


def test_a_link_into_a_folded_solution_opens_it(browser, address):
    page = browser.new_page(viewport=DESK)
    page.goto(f"{address}/en/{CHAPTER}.html#solution-rate")
    assert page.locator("details[open] > #solution-rate").count() == 1


def test_a_phones_bar_names_the_chapter_and_leads_to_the_beginning_and_from_there_home(browser, address):
    page = browser.new_page(viewport=PHONE, reduced_motion="reduce")
    page.goto(f"{address}/tr/{CHAPTER}.html")
    here, bar = page.locator(".bar .here"), page.locator(".brand")
    assert not here.is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    page.evaluate("scrollTo(0, 3000)")
    here.wait_for(state="visible")
    assert here.inner_text() in page.title()
    page.locator(f'.brand[title="{COURSE.words("tr")["top"]}"]').wait_for()
    up = page.locator(".up").evaluate("up => getComputedStyle(up).position")
    assert up == "static"  # it covers no text
    bar.click()
    page.locator(".brand:not([title])").wait_for()
    assert page.evaluate("scrollY") == 0
    bar.click()
    page.wait_for_url("**/tr/index.html")


HEIGHTS = "all => all.map(one => new Set(Array.from(one.getClientRects(), box => box.top)).size)"


@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_breaks_code_between_brackets_and_scrolls_none(browser, address, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{address}/en/{CHAPTER}.html")
    page.evaluate("for (const box of document.querySelectorAll('article details')) box.open = true")
    lines = page.eval_on_selector_all("article .kept", HEIGHTS)
    assert len(lines) > 100 and set(lines) == {1}
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert page.eval_on_selector_all("article [class*=highlight-]:not(.output) pre", wide) == []


def test_code_can_be_copied(browser, address):
    page = browser.new_page(viewport=DESK, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{address}/vi/{CHAPTER}.html")
    block = page.locator("article .cell > .code").first
    block.hover()
    assert block.locator(".copy").get_attribute("aria-label") == "Sao chép mã"
    block.locator(".copy").click()
    block.locator("text=Đã sao chép").wait_for()
    code = cells(COURSE.read("vi", CHAPTER), "code").values()
    copied = page.evaluate("navigator.clipboard.readText()").rstrip("\n")
    assert copied in {cell.source for cell in code}
