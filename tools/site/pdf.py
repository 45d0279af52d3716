"""One PDF an edition, printed by Chromium: links work, pages are numbered, glyphs are embedded.

Solutions and the answers to questions stand at the end, so that nobody reads them by accident.
"""

import copy
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from tools.course import Course

PAGE = """
@page {
  size: A4; margin: 18mm 16mm;
  @bottom-center { content: counter(page) " / " counter(pages); font: 8px sans-serif; color: #555; }
}
"""
PRINT = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--no-first-run --no-pdf-header-footer --generate-pdf-document-outline"
)
TRIES = 3  # on a busy machine Chromium may silently stop in the middle of a book
HEADING = re.compile(r"<h[1-6][ >]")


def installed_chromium() -> str | None:
    """Return the path of Chromium or Chrome, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def find_chromium() -> str:
    """Return the browser that prints."""
    found = installed_chromium()
    if not found:
        raise SystemExit("Chromium is needed to print: on Debian, apt-get install chromium")
    return found


def chapters(edition: Path, stems: list[str]) -> Iterator[tuple[str, BeautifulSoup]]:
    """Yield the parsed pages of an edition in order, but for the table of translations."""
    for stem in stems:
        if stem != "translations":
            yield stem, BeautifulSoup((edition / f"{stem}.html").read_text(encoding="utf-8"), "html.parser")


def fit_into_book(article: Tag, stem: str, edition: Path, stems: list[str]) -> None:
    """Make ids and links of a chapter unique in a document of all chapters, except those of drawings."""
    for node in article.select("[id]:not(svg *)"):
        node["id"] = f"{stem}--{node['id']}"
    for node in article.select(".headerlink"):
        node.decompose()
    for node in article.select(".enlarge"):
        node.unwrap()
    for node in article.find_all("details"):
        node["open"] = ""
    for node in article.select("[href]:not(svg *)"):
        address = urlsplit(node["href"])
        target = Path(address.path).stem if address.path else stem
        if not address.scheme and target in stems:
            node["href"] = f"#{target}--{unquote(address.fragment)}" if address.fragment else f"#{target}"
    for node in article.find_all("img"):
        node["src"] = (edition / node["src"]).as_uri()
        node["loading"] = "eager"


def take_solutions(article: Tag, word: str) -> str:
    """Take the solutions out of a chapter after `fit_into_book`, and leave links to them."""
    taken = []
    for exercise in article.select("section.exercise:has(> .solution)"):
        box, title = exercise.select_one(".solution"), copy.copy(exercise.h3)
        for effort in title.select(".effort"):
            effort.decompose()
        box.summary.decompose()
        here, there = exercise["id"], f"{exercise['id']}--solved"
        taken.append(
            f'<section class="exercise" id="{there}"><h3><a href="#{here}">{title.decode_contents()}</a></h3>'
            f"{box.decode_contents()}</section>"
        )
        box.replace_with(BeautifulSoup(f'<p><a href="#{there}">{escape(word)}</a></p>', "html.parser"))
    return "".join(taken)


def take_answers(article: Tag, word: str) -> str:
    """Take the answered questions out of a chapter after `fit_into_book`, and leave their choices."""
    taken = []
    for quiz in article.select("section:has(> .answer)"):
        answered, here, there = copy.copy(quiz), quiz["id"], f"{quiz['id']}--answered"
        for node in answered.find_all(id=True):
            del node["id"]
        title = answered.find(["h2", "h3"]).extract().decode_contents()
        taken.append(
            f'<section id="{there}"><h3><a href="#{here}">{title}</a></h3>'
            f"{answered.decode_contents()}</section>"
        )
        for answer in quiz.select(".answer"):
            choice = f"<ul><li>{answer.summary.decode_contents()}</li></ul>"
            answer.replace_with(BeautifulSoup(choice, "html.parser"))
        quiz.append(BeautifulSoup(f'<p><a href="#{there}">{escape(word)}</a></p>', "html.parser"))
    return "".join(taken)


def whole_book(edition: Path, stems: list[str]) -> str:
    """Return one HTML document of all chapters, with a table of contents and the solutions at the end."""
    bodies, contents, solutions, head = [], [], [], None
    words = Course().words(edition.name)
    for stem, soup in chapters(edition, stems):
        head = head or soup
        article = soup.article
        fit_into_book(article, stem, edition, stems)
        language = f' lang="{article["lang"]}"' if article.get("lang") else ""
        title = article.h1.get_text(" ", strip=True)
        listed = soup.select_one(".chapters [aria-current] .title").get_text(
            " ", strip=True
        )  # with its number
        contents.append(f'<li{language}><a href="#{stem}">{escape(listed)}</a></li>')
        if taken := take_answers(article, words["solution"]) + take_solutions(article, words["solution"]):
            solutions.append(f"<section{language}><h2>{escape(title)}</h2>{taken}</section>")
        bodies.append(f'<article id="{stem}"{language}>{article.decode_contents()}</article>')
    if solutions:
        name = escape(words["solutions"])
        contents.append(f'<li><a href="#solutions">{name}</a></li>')
        bodies.append(f'<article id="solutions"><h1>{name}</h1>{"".join(solutions)}</article>')
    shared = (edition.parent / "_shared").as_uri()
    sheets = "".join(
        f'<link rel="stylesheet" href="{shared}/{name}">' for name in ("course.css", "katex/katex.css")
    )
    title = escape(head.select_one(".brand").get_text())
    licence = escape(re.sub(r"\s+", " ", head.footer.p.find(string=True)).strip())
    return (
        f'<!DOCTYPE html><html lang="{head.html["lang"]}" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{title}</title>{sheets}<style>{PAGE}</style></head><body class='book'>"
        f"<main><h1>{title}</h1><p>{licence}</p><ol class='contents'>{''.join(contents)}</ol>"
        f"{''.join(bodies)}</main>"
        "</body></html>"
    )


def link(site: Path, printed: list[Path]) -> None:
    """Put each edition's PDF beside its pages, and a link to it at their feet."""
    for path in printed:
        edition = site / path.stem
        shutil.copyfile(path, edition / "course.pdf")
        anchor = f' <a href="course.pdf">{escape(Course().words(edition.name)["pdf"])}</a>'
        for page in edition.glob("*.html"):
            text = page.read_text(encoding="utf-8")
            if anchor not in text:
                page.write_text(re.sub(r"(?=</p>\s*</footer>)", anchor, text), encoding="utf-8")


def print_editions(site: Path, out: Path, codes: list[str], stems: list[str]) -> list[Path]:
    """Print editions of the built site, and return the paths of the PDFs."""
    out.mkdir(parents=True, exist_ok=True)
    printed = []
    with tempfile.TemporaryDirectory() as folder:
        for code in codes:
            document = Path(folder) / f"{code}.html"
            book = whole_book(site / code, stems)
            document.write_text(book, encoding="utf-8")
            printed.append(print_whole(document, out / f"{code}.pdf", len(HEADING.findall(book))))
    return printed


def print_whole(document: Path, target: Path, headings: int) -> Path:
    """Print a document; print again if its outline lacks headings, since then the end is missing."""
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            command = [find_chromium(), *PRINT.split(), f"--user-data-dir={profile}"]
            command += [f"--print-to-pdf={target}", document.as_uri()]
            subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
        if target.read_bytes().count(b"/Title") > headings:  # one is the document's
            return target
    raise SystemExit(f"{target}: Chromium printed a part of the book only, {TRIES} times")
