"""What the style sheet promises: Chinese words and outputs stay whole, figures keep to the text."""

import pytest
from browsing import MISSING

from tools.course import Course

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"to test in a browser, install {', '.join(MISSING)}")
LEDE_WORDS = """() => [...document.querySelectorAll(".lead .whole")]
    .map(word => [word.textContent, word.getClientRects().length])"""
GAPS = """() => [...document.querySelectorAll(".cell > .code + .output")].map(output => {
    const [code, box] = [output.previousElementSibling, output].map(node => node.getBoundingClientRect());
    return Math.abs(box.top - code.bottom);
})"""

FIGURES = """() => [...document.querySelectorAll("article > section figure")].map(figure => {
    const [picture, caption, text] = [figure, figure.lastElementChild, document.querySelector(".lead")]
        .map(node => node.getBoundingClientRect());
    return [caption.left - text.left, picture.left - (innerWidth - picture.right)];
})"""
FAR = """() => [...document.querySelectorAll("article > section > section > p")]
    .filter(text => !text.checkVisibility({contentVisibilityAuto: true})).length"""
FROM_TOP = "document.querySelector('#experiment').getBoundingClientRect().top"
OVERFLOWS = """() => [...document.querySelectorAll(".output pre")].map(output =>
    [Number(output.style.getPropertyValue("--columns")), output.scrollWidth - output.clientWidth])"""
MEASURED = """() => [...document.querySelectorAll("#checks .seeds > .wide")].map(table =>
    table.scrollWidth - table.clientWidth)"""
BESIDE = """() => [...document.querySelectorAll(".beside")].map(note => {
    const [box, paragraph] = [note, note.parentElement].map(node => node.getBoundingClientRect());
    const room = document.querySelector("nav.sections").getBoundingClientRect().left - paragraph.right;
    return [box.height, paragraph.bottom - box.bottom, box.left - paragraph.right, room - box.width];
})"""
HEADINGS = """() => document.fonts.ready.then(() => [...document.querySelectorAll(":is(h1, h2, h3), .brand")]
    .filter(heading => heading.offsetParent).map(heading => [heading.textContent, heading.offsetHeight]))"""
INSTALLED = """() => new FontFace("any", "local('Arial'), local('Roboto'), local('Liberation Sans')")
    .load().then(() => true, () => false)"""


def test_a_chinese_lede_is_broken_between_words_only(browser, site):
    page = browser.new_page()
    page.goto((site / "zh" / "bahdanau-attention.html").as_uri())
    for width in range(320, 460, 20):
        page.set_viewport_size({"width": width, "height": 800})
        words = page.evaluate(LEDE_WORDS)
        assert len(words) > 10
        assert not [word for word, lines in words if lines > 1], width


@pytest.mark.parametrize("width", [390, 1280])
def test_an_output_follows_its_code_at_once(browser, site, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((site / Course().source / "bahdanau-attention.html").as_uri())
    gaps = page.evaluate(GAPS)
    assert len(gaps) > 5 and max(gaps) < 1


@pytest.mark.parametrize("code", list(Course().languages))
def test_on_a_phone_the_home_page_is_short_and_nothing_moves_when_it_begins_to_play(browser, address, code):
    """Room is kept for the short walk, and its looks are there before the first picture is drawn.

    With the fonts of phones the page takes four screens; those of a bare machine are wider.
    """
    page = browser.new_page(viewport={"width": 390, "height": 844})
    place = page.locator(".live:has(.hero)").first
    page.route("**/hero.js*", lambda route: route.abort())
    page.goto(f"{address}/{code}/index.html")
    before = place.bounding_box()["height"]
    page.unroute("**/hero.js*")
    page.reload()
    page.locator(".hero .walk-card").first.wait_for()
    assert abs(place.bounding_box()["height"] - before) < 8
    assert page.locator("head link[href*='live.css']").count() == 1
    assert page.evaluate("document.documentElement.scrollHeight") / 844 < 4.4
    rows = page.locator(".card:has(.number)")
    assert rows.count() == page.locator(".card .minutes").count() > 10
    assert not page.locator("article .editions").is_visible()
    page.locator("header .languages summary").click()
    assert page.locator("header .languages li").count() == len(Course().languages)


def test_on_a_phone_a_figure_is_in_the_middle_and_its_caption_below_the_text(browser, site):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((site / Course().source / "multi-head-attention.html").as_uri())
    figures = page.evaluate(FIGURES)
    assert len(figures) > 3
    assert all(abs(distance) < 1 for figure in figures for distance in figure), figures


@pytest.mark.parametrize("stem", ["index", "multi-head-attention", "faq"])
def test_headings_keep_their_lines_when_their_font_comes(browser, site, stem):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    address = (site / Course().source / f"{stem}.html").as_uri()
    page.goto(address)
    if not page.evaluate(INSTALLED):
        pytest.skip("to see headings before their font is there, install Arial, Roboto or Liberation Sans")
    after = page.evaluate(HEADINGS)
    page.route("**/display/*.woff2", lambda route: route.abort())
    page.goto(address)
    before = page.evaluate(HEADINGS)
    assert len(after) > 5
    moved = [heading for heading, later in zip(before, after, strict=True) if heading[1] != later[1]]
    assert not moved, moved


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_tables_of_numbers_are_seen_whole(browser, site, width):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto((site / Course().source / "looking-at-heads.html").as_uri())
    hidden = [more for columns, more in page.evaluate(OVERFLOWS) if columns < 48]
    assert len(hidden) > 3
    assert max(hidden) <= 0
    page.locator("#checks summary").first.click()
    hidden = page.evaluate(MEASURED)
    assert len(hidden) > 3
    assert max(hidden) <= 0


def test_on_a_phone_what_is_far_below_is_laid_out_when_a_reader_comes_near(browser, site):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    chapter = (site / Course().source / "multi-head-attention.html").as_uri()
    page.goto(chapter)
    assert page.evaluate(FAR) > 20
    page.locator("#experiment").scroll_into_view_if_needed()
    page.reload()  # the place in the page is kept, with true heights above it
    assert page.evaluate(FAR) == 0
    page.goto("about:blank")
    page.goto(chapter)
    page.click("details.contents > summary")
    page.click("details.contents a[href='#experiment']")
    assert page.evaluate(FAR) == 0
    assert 50 < page.evaluate(FROM_TOP) < 100
    page.goto("about:blank")
    page.goto(f"{chapter}#experiment")
    assert page.evaluate(FAR) == 0


def test_on_a_phone_what_scrolls_can_be_reached_by_keyboard_when_a_reader_comes_near(browser, site):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    address = (site / Course().source / "refresher.html").as_uri()
    page.goto(address)
    stop = page.locator("#gru div.math[tabindex='0']")
    assert stop.count() == 0
    page.locator("#gru").scroll_into_view_if_needed()
    stop.first.wait_for()
    page.goto("about:blank")
    page.goto(address)
    page.click("details.contents > summary")
    page.click("details.contents a[href='#gru']")
    stop.first.wait_for()


def test_thousands_parted_by_a_space_stay_in_one_line(site):
    text = (site / "tr" / "long-contexts.html").read_text(encoding="utf-8")
    assert "10\u202f000" in text
    assert "10 000" not in text
    text = (site / "vi" / "index.html").read_text(encoding="utf-8")
    assert "Chú\u00a0ý đa đầu</a>" in text  # and so do words of two parts


def test_no_line_begins_with_the_full_stop_of_a_sentence_in_tokens(site):
    text = (site / Course().source / "attention-pooling.html").read_text(encoding="utf-8")
    assert "<em>give me two new hats\u00a0.</em>" in text


def test_explanations_stand_beside_their_paragraphs_where_there_is_room(browser, address):
    """They are no taller than the paragraph, so nothing below, however wide, is covered."""
    page = browser.new_page(viewport={"width": 1280, "height": 1080})
    page.goto(f"{address}/{Course().source}/multi-head-attention.html")
    page.wait_for_load_state("load")
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.locator(".beside").first.wait_for()
    notes = page.evaluate(BESIDE)
    assert len(notes) > 3
    assert all(
        height > 0 and below > -8 and left > 0 and right > 0 for height, below, left, right in notes
    ), notes
    page.set_viewport_size({"width": 1280, "height": 800})
    assert {height for height, *_ in page.evaluate(BESIDE)} == {0}
    link = page.locator("p:has(> .beside) > a.term").first
    link.hover()
    assert page.locator("#hint").is_visible()
