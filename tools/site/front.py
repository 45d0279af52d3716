"""The pages above the editions: one picks the reader's language, one answers for lost addresses."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from tools.course import Course

from .extension import THEME
from .extension.pages import POLICY, digest_of, page_address

MARK = "own-policy"


def write_root(out: Path, course: Course, codes: list[str]) -> None:
    """Write `index.html` and `404.html` of the whole site."""
    templates = Environment(loader=FileSystemLoader(THEME), autoescape=True)
    editions = [
        {"code": code, "name": about.name, "html": about.html, "w": course.words(code)}
        for code, about in course.languages.items()
        if code in codes
    ]
    for page in ("root", "missing"):
        text = templates.get_template(f"{page}.html").render(
            editions=editions, policy=POLICY, own_policy=MARK
        )
        text = text.replace(MARK, policy_of(text))
        (out / {"root": "index.html", "missing": "404.html"}[page]).write_text(text, encoding="utf-8")


def policy_of(page: str) -> str:
    """Return the content security policy of a page: nothing but its own inline script and style."""
    kinds = {"script": "script-src", "style": "style-src"}
    rules = ["default-src 'none'"]
    for name, rule in kinds.items():
        for text in re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL):
            rules.append(f"{rule} '{digest_of(text)}'")
    return "; ".join(rules)


def write_sitemap(out: Path, course: Course, address: str, codes: list[str]) -> None:
    """Write `sitemap.xml` and `robots.txt`, with each page's editions beside each other."""
    base = address.rstrip("/")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    )
    for stem in course.pages:
        pages = {code: page_address(base, code, stem) for code in codes}
        others = "".join(
            f'<xhtml:link rel="alternate" hreflang="{course.languages[code].html}" href="{page}"/>'
            for code, page in pages.items()
        )
        lines += [f"<url><loc>{page}</loc>{others}</url>" for page in pages.values()]
    (out / "sitemap.xml").write_text("\n".join([*lines, "</urlset>", ""]), encoding="utf-8")
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {base}/sitemap.xml\n", encoding="utf-8"
    )
