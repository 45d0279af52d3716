"""Helpers of browser tests: Chromium and axe, sizes of screens, a page that records what happens."""

from pathlib import Path

from playwright.sync_api import Browser, Page

from tools.course import ROOT
from tools.site.pdf import installed_chromium

CHROMIUM = installed_chromium()
AXE = ROOT / "tests" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = [] if CHROMIUM else ["Chromium (Debian: apt-get install chromium)"]
MISSING += [] if AXE.exists() else ["axe-core (in tests/: npm ci)"]
CHAPTER = "swapping-parts"  # one that has all that a chapter may have, and is soon read
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll("body *")].filter(node => node.getBoundingClientRect().right > innerWidth
    && !node.closest("pre, .wide, div.math")).map(node => node.outerHTML.slice(0, 120)).slice(0, 5)"""


class Watched:
    """A page whose requests and complaints are kept."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))


# Once it has its fonts and time, the page lets the keyboard reach what scrolls; axe is asked after that.
RULES = """async ([within, options]) => {
    await document.fonts.ready;
    await new Promise(done => requestIdleCallback(done, {timeout: 400}));
    return (await axe.run({include: [within], exclude: [".katex-html"]}, options))
        .violations.map(rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.html.slice(0, 160))]);
}"""


def broken_rules(page: Page, *only: str, within: str = "html", contrast: bool = True) -> list[object]:
    """Return axe's findings in a part of a page, by all rules or some, with or without contrast.

    The page has to be opened with `bypass_csp`.
    """
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    chosen = {"runOnly": only} if only else {"rules": {"color-contrast": {"enabled": contrast}}}
    options = {**chosen, "resultTypes": ["violations"], "preload": False}  # what else it does takes as long
    return page.evaluate(RULES, [within, options])


def started(
    browser: Browser, site: Path, stem: str, address: str, **settings: object
) -> tuple[Page, Watched]:
    """Open an English page on disk at an address that starts a component."""
    page = browser.new_page(**{"viewport": DESK, "reduced_motion": "reduce", **settings})
    watched = Watched(page)
    page.goto((site / "en" / f"{stem}.html").as_uri() + address)
    page.locator(".live-box").wait_for()
    return page, watched
