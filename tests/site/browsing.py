"""What tests look at the site with: a browser and axe, the sizes of screens, a page that is watched."""

from playwright.sync_api import Page

from tools.course import ROOT, Course
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
CHAPTER = "multi-head-attention"
OF_EACH_LANGUAGE = (CHAPTER, "translations")
LOOKED_AT = [  # closely: elsewhere `t check` holds formulas, code and HTML to the English
    f"{code}/{stem}.html"
    for code in Course().languages
    for stem in (Course().pages if code == Course().source else OF_EACH_LANGUAGE)
]
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
