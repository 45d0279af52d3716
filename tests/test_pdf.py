"""An edition as one PDF: all chapters, links inside, glyphs embedded."""

import os
import shutil

import pytest

from tools.course import Course
from tools.site.pdf import print_editions, whole_book

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def test_links_between_chapters_stay_inside_the_document(site):
    book = whole_book(site / "tr", Course().pages)
    assert 'href="#multi-head-attention--formula"' in book or 'href="#multi-head-attention"' in book
    assert 'id="multi-head-attention--formula"' in book
    assert ".html#" not in book and "<details>" not in book


@pytest.mark.skipif(
    not CHROMIUM and os.environ.get("CI") != "true",
    reason="to test printing, install Chromium (Debian: apt-get install chromium)",
)
def test_the_pdf_has_links_an_outline_and_its_fonts(site, tmp_path):
    (printed,) = print_editions(site, tmp_path, ["zh"], ["index", "multi-head-attention"])
    content = printed.read_bytes()
    assert content.startswith(b"%PDF") and b"/Outlines" in content
    assert content.count(b"/Subtype /Link") > 5 and content.count(b"/Dest") > 5
    assert content.count(b"/FontFile2") > 3 and b"/Type3" in content  # Chinese glyphs come as Type 3 fonts
