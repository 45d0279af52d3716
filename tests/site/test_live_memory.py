"""The components about what a model keeps of a long text do the arithmetic of the page."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from page_code import names_of
from playwright.sync_api import Browser, Locator, Page
from test_live_browser import COURSE, opened
from torch import Tensor
from torch.nn.functional import normalize, one_hot

WORD = COURSE.words("en")
RANDOM = """{
    let state = SEED;
    Math.random = () => (state = (1664525 * state + 1013904223) % 2 ** 32) / 2 ** 32;
}"""
SIZE, MOST, DRAWS = 8, 32, 40  # of the component on linear attention


def numbers(rows: Locator) -> list[list[int]]:
    """Return the numbers of a table, row by row."""
    texts = rows.evaluate_all("rows => rows.map(row => [...row.cells].slice(1).map(cell => cell.innerText))")
    return [[int(cell.replace(",", "")) for cell in row] for row in texts]


def kinds(page: Page) -> list[list[str]]:
    """Return how each cell of the window's mask is drawn: `now`, `kept`, `none` or `empty`."""
    spots = page.locator(".live-window .live-board .live-spot")
    names = spots.evaluate_all(
        "spots => spots.map(spot => spot.className.match(/live-(?!spot|of)(\\w+)/)[1])"
    )
    return [names[start : start + 12] for start in range(0, 144, 12)]


@pytest.mark.parametrize("width", [3, 6])
def test_a_window_slides_and_its_cache_rolls_as_on_the_page(browser: Browser, site: Path, width: int) -> None:
    page, watched = opened(browser, site, "long-contexts", "window")
    box, steps = page.locator(".live-window"), 12
    back, forward = (box.get_by_role("button", name=WORD[f"live.{name}"]) for name in ("back", "forward"))
    page_code = names_of("long-contexts", "window-code", "rolling-code")
    one_layer = page_code["window_mask"](steps, width)
    two_layers = (one_layer.int() @ one_layer.int()) > 0  # paths of two steps
    cache = page_code["RollingCache"](width)

    box.locator(f'input[value="{width}"]').check(force=True)
    while back.is_enabled():
        back.click()
    for t in range(steps):
        before = cache.keys[0, 0, :, 0].tolist()
        cache.add(torch.full((1, 1), float(t)), torch.zeros(1, 1))
        # which token is where, and what it overwrote
        kept = cache.keys[0, 0, :, 0].int().tolist()
        shown = box.locator(".live-slots tbody td").all_inner_texts()
        assert len(shown) == width
        for place in range(width):
            assert re.sub(r"\D", "", shown[place]) == ("" if place > t else str(kept[place]))
        overwritten = WORD["live.window.overwrites"].format(t=t, w=width, i=t % width, old=t - width)
        assert (overwritten in box.inner_text()) == (t >= width)
        assert t < width or before[t % width] == t - width
        # what each token so far sees, directly and through a layer
        for query, row in enumerate(kinds(page)):
            for key, kind in enumerate(row):
                direct, reached = bool(one_layer[query, key]), bool(two_layers[query, key])
                drawn = "now" if direct else "kept" if reached else "none"
                assert kind == (drawn if key <= query <= t else "empty")
        farthest = int(two_layers[t].nonzero()[0])
        assert WORD["live.window.reach"].format(**{"t": t, "from": farthest}) in box.inner_text()
        # how much is read and kept
        causal = torch.ones(steps, steps).tril()
        counts = [[int(mask[rows].sum()) for mask in (causal, one_layer)] for rows in (t, slice(t + 1))]
        expected = [*counts, [2 * 64 * count for count in counts[0]], [2 * 64 * 100_000, 2 * 64 * width]]
        assert numbers(box.locator(".live-counts tbody tr")) == expected
        assert forward.is_enabled() == (t < steps - 1)
        if t < steps - 1:
            forward.click()
    assert page.url.endswith(f"#play-window?width={width}&token=11")
    page.goto(page.url.replace("token=11", "token=5"))
    page.reload()
    place = WORD["live.step"].format(t=6, n=steps)
    assert box.locator(".live-place").inner_text() == place and box.locator("input:checked").count() == 1
    assert box.locator("input:checked").get_attribute("value") == str(width)
    assert not watched.complaints


def random_numbers(seed: int) -> Iterator[float]:
    """Yield the numbers of RANDOM."""
    while True:
        seed = (1664525 * seed + 1013904223) % 2**32
        yield seed / 2**32


def draw(numbers: Iterator[float]) -> tuple[Tensor, list[int]]:
    """Return the keys (pairs, SIZE) and the classes that the component draws."""
    keys, classes = [], []
    for _ in range(MOST):
        key = [
            math.sqrt(-2 * math.log(1 - next(numbers))) * math.cos(2 * math.pi * next(numbers))
            for _ in range(SIZE)
        ]
        keys.append(key)
        classes.append(int(next(numbers) * SIZE))
    return normalize(torch.tensor(keys, dtype=torch.float64), dim=-1), classes


def written(keys: Tensor, classes: list[int], rule: str) -> Tensor:
    """Return the table (SIZE, SIZE) after all pairs."""
    table = torch.zeros(SIZE, SIZE, dtype=torch.float64)
    for key, value in zip(keys, one_hot(torch.tensor(classes), SIZE), strict=True):
        table = table + torch.outer(value - table @ key if rule == "delta" else value, key)
    return table


def right_answers(table: Tensor, keys: Tensor, classes: list[int]) -> list[bool]:
    return ((keys @ table.T).argmax(dim=-1) == torch.tensor(classes)).tolist()


def amounts(cells: Locator) -> list[float]:
    return [float(text.replace("−", "-")) for text in cells.all_text_contents()]


def check_table(box: Locator, rule: str, writes: tuple[Tensor, list[int]], asked: int, count: int) -> None:
    """Compare what is seen after some writes: the table, the answer for the pair asked for, who is right."""
    keys, classes = writes
    table, latest = written(keys, classes, rule), dict(zip(map(tuple, keys.tolist()), classes, strict=True))
    queries = torch.tensor(list(latest), dtype=torch.float64)
    right = right_answers(table, queries, list(latest.values()))
    shown = amounts(box.locator(".live-state tbody td:not(.live-answer)"))
    assert shown == pytest.approx(table.flatten().tolist(), abs=0.0051)
    assert amounts(box.locator(".live-state thead td")) == pytest.approx(keys[asked].tolist(), abs=0.0051)
    answer = table @ keys[asked]
    assert amounts(box.locator(".live-amount")) == pytest.approx(answer.tolist(), abs=0.0051)
    best, wanted = int(answer.argmax()), latest[tuple(keys[asked].tolist())]
    told = WORD["live.linear.right" if best == wanted else "live.linear.wrong"]
    assert told.format(i=asked + 1, best=best, right=wanted) in box.inner_text()
    marks = box.locator(".live-asked button").evaluate_all("chips => chips.map(chip => chip.className)")
    assert [not mark for mark in marks] == right and len(marks) == count
    assert WORD["live.linear.count"].format(right=sum(right), n=count) in box.inner_text()


def test_pairs_are_written_into_one_table_by_both_rules(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "long-contexts", "linear", init=RANDOM.replace("SEED", "7"))
    numbers = random_numbers(7)
    draws = [draw(numbers) for _ in range(DRAWS)]
    keys, classes = draw(numbers)
    box = page.locator(".live-linear")
    one, more, overwrite = (
        box.get_by_role("button", name=WORD[f"live.linear.{name}"].format(n=8), exact=True)
        for name in ("write", "more", "overwrite")
    )
    count = 3
    for press, fresh in ((None, 0), (one, 1), (more, 8), (more, 8)):
        if press:
            press.click()
        count += fresh
        box.locator(".live-asked button").nth(count // 2).click()
        for rule in ("sum", "delta"):
            box.locator(f'input[value="{rule}"]').check(force=True)
            check_table(box, rule, (keys[:count], classes[:count]), count // 2, count)
    # the key of the pair asked for gets another value: the delta rule answers it, the sum need not
    asked = count // 2
    fresh_class = (classes[asked] + 1 + int(next(numbers) * (SIZE - 1))) % SIZE
    overwrite.click()
    writes = torch.cat([keys[:count], keys[asked : asked + 1]]), [*classes[:count], fresh_class]
    for rule in ("sum", "delta"):
        box.locator(f'input[value="{rule}"]').check(force=True)
        check_table(box, rule, writes, asked, count)
    assert (
        WORD["live.linear.right"].format(i=asked + 1, best=fresh_class) in box.inner_text()
    )  # by the delta rule
    more.click()
    more.click()
    assert box.locator(".live-asked button").count() == MOST and more.is_disabled() and one.is_disabled()
    # the curves: shares of right answers after 4, 8, … pairs
    for name in ("sum", "delta"):
        points = box.locator(f"polyline.live-of-{name}").get_attribute("points") or ""
        heights = [(44 - float(point.split(",")[1])) / 40 for point in points.split()]
        shares = [
            [right_answers(written(K[:n], c[:n], name), K[:n], c[:n]) for n in range(4, MOST + 1, 4)]
            for K, c in draws
        ]
        average = [
            torch.tensor([sum(right) / len(right) for right in column]).mean().item()
            for column in zip(*shares, strict=True)
        ]
        assert heights == pytest.approx(average, abs=0.001)
    assert not watched.complaints
