"""The picture that other sites show of the home page and of the walk, photographed by Chromium."""

import re
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from .extension import THEME
from .pdf import find_chromium

SIZE = (1200, 630)
COLOURS = 128
SCREENSHOT = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--no-first-run --hide-scrollbars --force-prefers-reduced-motion --virtual-time-budget=4000"
)
STYLE = """
  .bar, footer, nav, .headerlink, article > section > :not(h1, .live), .live > .button,
  .hero > :not(.hero-stage) { display: none !important; }
  html, .home { background: #f2f7fb; }
  .page.page, main.page.page, .home main { margin: 0; padding: 0; max-width: none; }
  .home article > section { grid: 630px / 20rem 1fr; gap: 3rem; align-items: center; padding: 0 4rem; }
  .home article > section > h1 { grid-area: 1 / 1; margin: 0; font-size: 2.9rem; }
  .js .home article > section > .live:has(.hero) { grid-area: 1 / 2; margin: 0; }
  .hero.hero { min-height: 0; margin: 0; zoom: 1.6; }
"""


def write_card(edition: Path) -> Path:
    """Photograph the last picture of the home page's short walk beside the course's name."""
    page = (edition / "index.html").read_text(encoding="utf-8")
    page = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)  # it forbids other styles
    sheet = (edition.parent / "_shared/course.css").read_text(encoding="utf-8")
    faces = "".join(re.findall(r"@font-face ?\{.*?\}", sheet, re.DOTALL)).replace("optional", "block")
    look = f"<style>{faces.replace('display/', '../_shared/display/')}{STYLE}</style>"
    with tempfile.TemporaryDirectory(dir=edition.parent) as folder:  # where relative addresses still lead
        html, picture = Path(folder, "index.html"), Path(folder, "card.png")
        html.write_text(page.replace("</head>", look + "</head>", 1), encoding="utf-8")
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        command = [find_chromium(), *SCREENSHOT.split(), size, f"--screenshot={picture}", html.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        card = THEME / "static" / f"walk-{edition.name}.png"
        Image.open(picture).convert("RGB").quantize(COLOURS).save(card, optimize=True)
    return card
