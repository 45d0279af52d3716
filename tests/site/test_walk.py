"""The walk through the Transformer: every number that it shows is PyTorch's."""

import json
import math
import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import torch
from browsing import DESK, WIDE, Watched, broken_rules
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect
from test_live import TEST, in_javascript
from test_live_browser import ALONE, SLIM
from torch import Tensor

from tools.course import Course
from tools.experiments.live_models import LANGUAGE_MODEL, load_model
from tools.experiments.live_walk import intermediate, intermediate_of_language_model
from tools.site.live import places

COURSE_SENTENCE = ["give", "me", "two", "new", "hats", "."]
COURSE = Course()
WALKS = [("transformer", "walk"), ("language-models", "gpt")]
UNKNOWN = ("give", "me", "two", "zebras", ".")
TRACED = [UNKNOWN, *TEST["fr"]]


def check_rows(counts: dict[str, list[int]], expected: dict[str, Tensor], numbers: Tensor, start: int) -> int:
    """Check that each row of a script equals PyTorch's; return where the next sentence's numbers start."""
    for name, lengths in counts.items():
        assert len(lengths) == len(expected[name]), name
        heads = expected[name].shape[1] if expected[name].dim() == 3 else 1
        rows = zip(lengths, expected[name], strict=True)  # a causal row has no later keys
        other = torch.cat([row[..., : length // heads].flatten() for length, row in rows])
        own = numbers[start : start + len(other)]
        assert torch.allclose(own, other, rtol=0, atol=1e-4), name
        start += len(other)
    return start


def test_every_intermediate_tensor_of_the_walk_is_pytorchs(tmp_path: Path) -> None:
    model, vocabularies = load_model("transformer-fr")
    trace = tmp_path / "trace"
    (traced,) = in_javascript("transformer-fr", [{"sentences": TRACED, "options": {"trace": str(trace)}}])
    numbers = torch.from_file(str(trace), size=trace.stat().st_size // 4)
    start = 0
    for source, one in zip(TRACED, traced, strict=True):
        expected = intermediate(model, vocabularies, list(source), one["tokens"])
        hidden = {"encoder", "decoder", "encoder.positions.dropout", "decoder.positions.dropout"}
        missing = expected.keys() - one["counts"].keys() - hidden
        assert {name.rpartition(".")[2] for name in missing} <= {"ffn", "dropout"}, missing
        start = check_rows(one["counts"], expected, numbers, start)
    assert start == len(numbers)


def test_every_intermediate_tensor_of_the_language_model_is_pytorchs(tmp_path: Path) -> None:
    model, (_, vocabulary) = load_model(LANGUAGE_MODEL)
    prompts = [("give", "me", "two", "new"), ("does", "the", "teacher"), (), *TEST["fr"][:60]]
    trace = tmp_path / "trace"
    (traced,) = in_javascript(LANGUAGE_MODEL, [{"sentences": prompts, "options": {"trace": str(trace)}}])
    numbers = torch.from_file(str(trace), size=trace.stat().st_size // 4)
    start = 0
    for prompt, one in zip(prompts, traced, strict=True):
        expected = intermediate_of_language_model(model, vocabulary, list(prompt))
        missing = {name.rpartition(".")[2] for name in expected.keys() - one["counts"].keys()}
        assert missing <= {"attention", "ffn", "dropout"}, missing  # which are inside sums that are compared
        start = check_rows(one["counts"], expected, numbers, start)
    assert start == len(numbers)


def opened(page: Page, site: Path, address: str, code: str = "en", stem: str = "transformer") -> Locator:
    """Open the chapter at an address of its walk, which starts it; its box."""
    page.goto((site / code / f"{stem}.html").as_uri() + address)
    box = page.locator(".live-walk")
    box.locator(".walk-title").wait_for()
    return box


def walked(page: Page, site: Path, stem: str, component: str) -> list[str]:
    """Walk by keyboard alone, look at the pictures with axe, and return the names of the steps."""
    watched = Watched(page)
    page.goto((site / "en" / f"{stem}.html").as_uri())
    page.locator(f'.live[data-live="{component}"] > button').focus()
    page.keyboard.press("Enter")
    box = page.locator(".live-walk")
    box.locator(".walk-title").wait_for()
    page.evaluate(ALONE)
    names: list[str] = []
    for _ in range(40):
        assert page.evaluate(WIDE) == [], names
        if len(names) % 3 == 0 or not box.locator(".walk-area").count():  # each kind of picture is among them
            assert broken_rules(page, within=".live") == [], names
        names.append(parse_qs(page.url.partition("?")[2]).get("step", ["tokens"])[0])
        assert page.evaluate("document.activeElement.closest('.live-walk') !== null")  # focus stays
        page.keyboard.press("ArrowRight")
        if box.locator("[aria-current=step]").inner_text() == box.locator(".walk-title b").inner_text() and (
            parse_qs(page.url.partition("?")[2])["step"][0] == names[-1]
        ):
            break
    assert len(names) == len(set(names)) == box.locator(".walk-path button").count()
    assert all(url.startswith(("file:", "data:")) for url in watched.requests)
    return names


def test_the_walk_by_keyboard_alone_with_every_step_fit_for_all_readers(browser: Browser, site: Path) -> None:
    page = browser.new_page(viewport=SLIM, reduced_motion="reduce", bypass_csp=True)  # for axe
    names = walked(page, site, "transformer", "walk")
    for code in COURSE.languages:  # as the home page says
        assert str(len(names)) in COURSE.words(code)["live.hero.more"]
    told = page.locator(".walk-told").inner_text()
    assert told.endswith("This is the reference translation, token for token.")
    page.keyboard.press("ArrowLeft")
    assert "step=logits" in page.url


def test_the_language_model_appends_a_token_and_keeps_what_it_knew(browser: Browser, site: Path) -> None:
    model, (_, vocabulary) = load_model(LANGUAGE_MODEL)
    prompt = ["give", "me", "two", "new"]
    page = browser.new_page(viewport=SLIM, reduced_motion="reduce", bypass_csp=True)  # for axe
    names = walked(page, site, "language-models", "gpt")
    assert names[0] == "tokens" and names[-1] == "append"
    box = page.locator(".live-gpt")
    # the keys that it keeps are those of the step before, and the table says them
    box.locator(".walk-more summary").click()
    box.locator(".walk-more tbody td").last.wait_for()
    told = [
        text.replace("−", "-")
        for text in box.locator(".walk-more table").first.locator("td").all_inner_texts()
    ]
    longer = intermediate_of_language_model(model, vocabulary, [*prompt, "cups"])
    keys = longer["blocks.0.attention.keys"][:, 16:32]  # of head 1
    assert [float(text) for text in told if text] == pytest.approx(keys.flatten().tolist(), abs=0.006)
    assert box.locator(".walk-kept").count() == 2 * (len(prompt) + 1)  # <bos> too, of keys and values
    box.locator(".walk-chips button").focus()
    page.keyboard.press("Enter")
    assert box.locator(".walk-title b").inner_text() == "Tokens"
    assert box.locator(".walk-cards b").all_inner_texts() == ["<bos>", *prompt, "cups"]
    assert parse_qs(page.url.partition("?")[2])["sentence"] == ["give me two new cups"]
    box.locator(".walk-path button").last.click()
    box.locator(".walk-chips button", has_text=".").click()
    box.locator(".walk-path button").last.click()
    assert box.locator(".walk-chips button").count() == 0  # <eos> is likeliest
    assert COURSE.words("en")["live.gpt.ended"] in box.inner_text()


def test_an_address_leads_into_the_language_model(browser: Browser, site: Path) -> None:
    model, (_, vocabulary) = load_model(LANGUAGE_MODEL)
    page = browser.new_page(viewport=DESK, reduced_motion="reduce")
    address = "#play-gpt?step=softmax&layer=1&head=3&sentence=give+me+two+new"
    box = opened(page, site, address, stem="language-models")
    rows = intermediate_of_language_model(model, vocabulary, ["give", "me", "two", "new"])
    weight = rows["blocks.1.attention.weights"][-1, 3].max()
    assert weight > 0.9 and f"{weight:.2f}, and it goes to two" in box.locator(".walk-told").inner_text()
    # in place of a token, those that the model holds likeliest there
    box.locator(".walk-path button").first.click()
    box.locator(".walk-cards button").nth(2).click()
    offered = box.locator(".walk-chips").first.locator("button").all_inner_texts()
    best = rows["dense"][2].topk(12).indices.tolist()
    likely = [token for token in vocabulary.to_tokens(best) if token not in ("two", "<eos>")]
    assert offered == likely[: len(offered)] and len(offered) == 8
    box.locator(".walk-chips button").first.click()
    assert box.locator(".walk-cards b").nth(3).inner_text() == offered[0]
    # a word that it has never seen
    box = opened(page, site, "#play-gpt?sentence=give+me+zebras", stem="language-models")
    box.get_by_text("<unk>", exact=True).first.wait_for()
    assert "has never seen" in box.locator(".walk-told").inner_text()


def test_a_hand_turns_as_the_cell_says(browser: Browser, site: Path) -> None:
    model, (_, vocabulary) = load_model(LANGUAGE_MODEL)
    rows = intermediate_of_language_model(model, vocabulary, ["give", "me", "two", "new"])
    page = browser.new_page(viewport=DESK, reduced_motion="reduce")
    box = opened(page, site, "#play-gpt?step=rotary&layer=1&head=2", stem="language-models")
    box.locator(".walk-area").first.focus()
    for feature in range(1, 11, 3):  # of both halves
        equation = box.locator(".walk-equation").inner_text().replace("−", "-").replace("\xa0", " ")
        (found,) = re.findall(r"(-?[\d.]+) · cos θ ([+-]) ([\d.]+) · sin θ ≈ (-?[\d.]+)", equation)
        own, sign, partner, turned = found
        angle = 4 / 10000 ** (feature % 8 / 8)
        by_hand = float(own) * math.cos(angle) + float(sign + partner) * math.sin(angle)
        expected = rows["blocks.1.attention.queries"][4, 32 + feature].item()
        assert by_hand == pytest.approx(expected, abs=0.011)  # of rounded numbers
        assert float(turned) == pytest.approx(expected, abs=0.006)
        for _ in range(3):
            page.keyboard.press("ArrowRight")


def test_a_cell_shows_the_number_and_the_products_that_made_it(browser: Browser, site: Path) -> None:
    model, vocabularies = load_model("transformer-fr")
    target = ["donne-moi", "deux", "chapeaux", "neufs", "."]
    expected = intermediate(model, vocabularies, COURSE_SENTENCE, target)
    page = browser.new_page(viewport=DESK, reduced_motion="reduce")
    watched = Watched(page)
    box = opened(page, site, "#play-walk?step=scores&layer=1&head=3")
    scores = expected["encoder.blocks.1.attention.scores"][:, 3]  # (queries, keys)
    shown = [text.replace("−", "-") for text in box.locator(".walk-numbers > span").all_inner_texts()]
    expected_texts = [f"{score:.1f}" if abs(score) < 9.95 else f"{score:.0f}" for score in scores.flatten()]
    assert shown[-scores.numel() :] == [text.replace("-0.0", "0.0") for text in expected_texts]
    box.locator(".walk-area").focus()
    for key in ["ArrowUp"] * 7 + ["ArrowLeft"] * 7 + ["ArrowDown"] * 3 + ["ArrowRight"] * 4:
        page.keyboard.press(key)  # to new, which asks, and hats, which is asked; the step stays
    assert box.locator(".walk-where").inner_text() == "new → hats"
    box.locator(".walk-detail summary").click()
    box.locator(".walk-terms td").last.wait_for()
    products = [
        float(text.replace("−", "-")) for text in box.locator(".walk-terms td:last-child").all_inner_texts()
    ]
    assert len(products) == 16
    assert sum(products) == pytest.approx(scores[3, 4].item(), abs=0.1)  # each is rounded
    equation = box.locator(".walk-equation b").last.inner_text().replace("−", "-")
    assert float(equation) == pytest.approx(scores[3, 4].item(), abs=0.006)
    # the pointer opens a cell too
    box.locator(".walk-numbers").last.locator("span").first.click()
    assert box.locator(".walk-where").inner_text() == "<eos> → give"
    # the cell stays open in the next step
    box.locator(".walk-controls .button").last.click()
    assert box.locator(".walk-title b").inner_text() == "Division by √d"
    expect(box.locator(".walk-where")).to_have_text("<eos> → give")
    box.locator(".walk-controls .button").first.click()
    # the same numbers as text
    box.locator(".walk-more summary").click()
    box.locator(".walk-more tbody td").last.wait_for()
    told = [float(text.replace("−", "-")) for text in box.locator(".walk-more td").all_inner_texts() if text]
    assert told == pytest.approx(scores.flatten().tolist(), abs=0.006)
    # from an element that a step takes away, the arrow keys lead on
    box.locator(".walk-path button").first.click()
    box.locator(".walk-cards button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "step=position" in page.url
    assert not watched.complaints


def test_a_step_restyles_only_what_it_draws(browser: Browser, site: Path) -> None:
    page = browser.new_page(viewport=SLIM)
    opened(page, site, "#play-walk?step=norm")
    page.wait_for_timeout(1000)  # until its rows have come in
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.evaluate("document.querySelector('.walk-reading').append(document.createElement('i'))")
    page.evaluate("document.body.offsetHeight")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    restyled = [event["args"]["elementCount"] for event in events if event["name"] == "UpdateLayoutTree"]
    assert 0 < sum(restyled) < 20, (
        restyled
    )  # 140 more for one `:has` of the theme that asks about each change


def test_a_picture_appears_by_one_animation_not_by_one_for_each_row(browser: Browser, site: Path) -> None:
    page = browser.new_page(viewport=SLIM)
    opened(page, site, "#play-walk?step=norm")
    count = """() => {
        document.querySelector(".walk-controls .button:last-child").click();
        return document.querySelector(".walk-stage").getAnimations({subtree: true}).length;
    }"""
    assert page.evaluate(count) == page.locator(".walk-stage .walk-area").count() == 3  # Q, K and V


@pytest.mark.parametrize(("stem", "component"), WALKS)
def test_when_the_walk_begins_the_rest_of_the_page_moves_as_one(
    browser: Browser, site: Path, stem: str, component: str
) -> None:
    page = browser.new_page(viewport=SLIM, reduced_motion="reduce")
    page.goto((site / "en" / f"{stem}.html").as_uri() + "#top")  # with true heights
    page.wait_for_function("document.fonts.status === 'loaded'")
    tops = f"""() => [...document.querySelectorAll("section:has(> .live[data-live={component}]) ~ section")]
        .map(section => section.getBoundingClientRect().top)"""
    before = page.evaluate(tops)
    page.locator(f'.live[data-live="{component}"] > button').click()
    page.locator(".live-walk .walk-title").wait_for()
    after = page.evaluate(tops)
    moved = [new - old - (after[0] - before[0]) for old, new in zip(before, after, strict=True)]
    assert len(moved) > 5 and max(map(abs, moved)) < 2, moved


@pytest.mark.parametrize("screen", [SLIM, {"width": 1440, "height": 900}], ids=["phone", "desk"])
@pytest.mark.parametrize(("stem", "component"), WALKS)
def test_the_button_to_the_next_step_stays_where_it_is(
    browser: Browser, site: Path, screen: ViewportSize, stem: str, component: str
) -> None:
    page = browser.new_page(viewport=screen, reduced_motion="reduce")
    box = opened(page, site, f"#play-{component}", stem=stem)
    forward = box.locator(".walk-controls button").last
    tops = []
    for _ in range(box.locator(".walk-path button").count()):
        tops.append(forward.evaluate("button => Math.round(button.getBoundingClientRect().top)"))
        page.keyboard.press("ArrowRight")
    assert len(tops) >= 12 and max(tops) - min(tops) < 4, tops


@pytest.mark.parametrize("code", list(COURSE.languages))
def test_layers_and_heads_take_one_line_on_a_phone(browser: Browser, site: Path, code: str) -> None:
    page = browser.new_page(viewport=SLIM)
    choice = opened(page, site, "#play-walk?step=scores", code).locator(".walk-choice")
    assert choice.locator("label").count() == 6
    tops = choice.locator("label").evaluate_all("labels => labels.map(l => l.getBoundingClientRect().top)")
    assert len(set(tops)) == 1, tops


def test_the_words_for_a_words_place_come_into_view(browser: Browser, site: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 560}, reduced_motion="reduce")
    box = opened(page, site, "#play-walk")
    chips, controls = box.locator(".walk-chips").first, box.locator(".walk-controls")

    def room() -> float:  # between the words and the buttons that stay at the screen's end
        words, buttons = chips.bounding_box(), controls.bounding_box()
        assert words and buttons
        return buttons["y"] - words["y"] - words["height"]

    assert room() < 0
    box.locator(".walk-cards button:enabled").nth(2).click()
    expect(chips).to_contain_text("new")
    assert room() > 0
    chips.get_by_role("button", name="white").click()  # and what comes of it is said at once
    expect(box.locator(".walk-told b")).to_have_text("donne-moi deux chapeaux blancs.")


def test_an_address_leads_to_a_step_and_where_the_network_errs_the_walk_says_so(
    browser: Browser, site: Path
) -> None:
    page = browser.new_page(viewport=DESK, reduced_motion="reduce")
    box = opened(page, site, "#play-walk?step=logits&word=5&sentence=there+are+three+white+cars+here+.")
    assert (
        "writes blancs, and the reference translation has blanches" in box.locator(".walk-error").inner_text()
    )
    page.keyboard.press("ArrowRight")
    assert box.locator(".walk-wrong").inner_text() == "blancs"
    # chosen state is in the address, and comes back from it
    box.locator("label:has([name=walk-head][value='1'])").click()
    address = page.evaluate("location.hash")
    assert "step=sentence" in address and "head=1" in address
    page.goto("about:blank")
    box = opened(page, site, address)
    assert box.locator("[name=walk-head]:checked").get_attribute("value") == "1"
    # a link on the page leads on, although the walk has started
    page.evaluate("location.hash = '#play-walk?sentence=zebras+swim+.'")
    box.get_by_text("<unk>", exact=True).first.wait_for()
    assert "has never seen" in box.locator(".walk-told").inner_text()


@pytest.mark.parametrize(("stem", "component"), WALKS)
def test_a_section_leads_to_its_step_and_the_step_back_to_it(
    browser: Browser, site: Path, stem: str, component: str
) -> None:
    sections = next(place.sections for place in places() if place.component == component)
    page = browser.new_page(viewport=DESK, reduced_motion="reduce")
    page.goto((site / "tr" / f"{stem}.html").as_uri())
    assert page.locator(".live-step").count() == len(sections)
    for cell, step in sections.items():
        page.locator(f"section#{cell} > .live-step a").click()
        page.locator(f".live-walk .walk-reading a[href='#{cell}']").wait_for()  # of this step
        assert page.url.endswith(f"#play-{component}?step={step}")
        page.locator(".live-walk .walk-reading a").click()
        assert page.url.endswith(f"#{cell}")


@pytest.mark.parametrize(("stem", "component"), WALKS)
def test_in_a_frame_there_is_the_walk_alone_and_it_plays(
    browser: Browser, site: Path, stem: str, component: str
) -> None:
    page = browser.new_page(viewport=SLIM)
    page.clock.install()
    box = opened(page, site, f"?embed#play-{component}?step=embedding", "zh", stem)
    assert page.locator("body > :visible").count() == 1
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    title = box.locator(".walk-title b")
    first = title.inner_text()
    box.locator(".live-main").click()
    page.clock.run_for(15000)
    assert title.inner_text() != first
    box.locator(".live-main").click()  # pause
    second = title.inner_text()
    page.clock.run_for(20000)
    assert title.inner_text() == second


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("transformer-fr", r"live\.(walk\.\w+_told|hero\.(?!more))"),
        (LANGUAGE_MODEL, r"live\.gpt\.\w+_told"),
    ],
)
def test_the_sizes_in_the_texts_are_the_networks(name: str, keys: str) -> None:
    model, _ = load_model(name)
    part = getattr(model, "encoder", model)
    features, hidden = part.embedding.embedding_dim, part.blocks[0].ffn[0].out_features
    head = features // part.blocks[0].attention.num_heads
    sizes = {features, hidden, head, int(head**0.5)}
    for code in COURSE.languages:
        texts = [text for key, text in COURSE.words(code).items() if re.match(keys, key)]
        found = {int(number) for text in texts for number in re.findall(r"\d+", text)}
        assert found - {0, 1} == sizes, code
