"""The pages above the editions: one that picks the reader's language, and one for addresses that lead nowhere."""

import json
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from course_site.languages import BOOK, languages, words


def write_root(out: Path, codes: list[str]) -> None:
    """Write `index.html` and `404.html` of the whole site."""
    templates = Environment(loader=FileSystemLoader(BOOK / "_templates"), autoescape=True)
    editions = [
        {"code": code, "name": languages()[code]["name"], "html": languages()[code]["html"], "w": words(code)}
        for code in codes
    ]
    for page in ("root", "missing"):
        text = templates.get_template(f"{page}.html").render(editions=editions, codes=json.dumps(codes))
        (out / {"root": "index.html", "missing": "404.html"}[page]).write_text(text, encoding="utf-8")


__all__ = ["escape", "write_root"]
