"""A Sphinx extension for the search: its data, as a script that also loads from disk, and its scripts.

The page loads them when a reader opens the search. `scripts/words.js` says what is a word, `ranking.js` which
passages answer a query, `dialog.js` shows them. `minisearch.js` is MiniSearch 7.2.0 (MIT), the file
`dist/umd/index.js` of its npm package, after `npx terser@5.44.0 --compress --mangle`
(sha256 9e6fdf53fac7045fc44ab468592e723b38c836c7f105e40c994cc7ac7952829a).
"""

import json
import re
from functools import cache
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from tools.course import Course
from tools.site.extension.edition import course_of, interface_words, short_digest
from tools.site.extension.plain import plain
from tools.site.extension.renderer import Passage

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
SCRIPTS = [
    Path(__file__).parent / "scripts" / name
    for name in ("minisearch.js", "words.js", "ranking.js", "dialog.js")
]
GUESS_FROM = 5  # letters
STEM = 7  # letters
SOURCE, API = "source", "api"  # roles of passages of pages that are no notebooks
logger = logging.getLogger(__name__)


def store_passages(app: Sphinx, doctree: nodes.document) -> None:
    """Store the passages of a page that is no notebook: cited sources, classes, functions."""
    found = []
    for node in doctree.findall(nodes.list_item):
        if anchor := ANCHOR.search(node.astext()):
            found.append(Passage(anchor[1], ANCHOR.sub("", node.astext()), "", SOURCE))
    for node in doctree.findall(addnodes.desc):
        summary = next(node[1].findall(nodes.paragraph), nodes.Text(""))
        for key in node[0]["ids"][:1]:
            name = key.rpartition(".")[2]
            found.append(Passage(key, f"{name}: {plain(summary)}", name, API))
    if found:
        app.env.metadata[app.env.docname]["passages"] = found


def passages(app: Sphinx) -> list[list]:
    """Return for each page in order its address, title, "Chapter 4" and passages.

    A passage has its anchor, text, heading and role, then other phrases that readers search it with.
    """
    home, course, language = app.config.root_doc, course_of(app.config), app.config.course_language
    numbers, asked = course.chapter_numbers, course.asked(language)
    chapter = interface_words(app.config)["chapter"]
    found = []
    for page in [home, *app.env.toctree_includes.get(home, [])]:
        if own := app.env.metadata.get(page, {}).get("passages"):
            stem = PurePosixPath(page).name
            number = numbers.get(stem)
            own = [[*passage, *asked.pop(f"{stem}#{passage.anchor}", [])] for passage in own]
            address, title = app.builder.get_target_uri(page), app.env.titles[page].astext()
            found.append([address, title, chapter.format(n=number) if number else "", own])
    for address in asked:
        logger.warning("book/%s/asked.tsv: %s is no passage", language, address)
    return found


def name_lists(course: Course, name: str) -> list[list[str]]:
    """Return the names in each line of every language's list, the source's first."""
    texts = (course.text(f"book/{code}/{name}") for code in course.languages)
    return [
        line.split(" = ") for text in texts for line in text.splitlines() if line and not line.startswith("#")
    ]


def absent(course: Course) -> list[str]:
    """Return the names of all topics that the course does not treat."""
    return list(dict.fromkeys(name for names in name_lists(course, "absent.txt") for name in names))


def synonyms(course: Course) -> list[list[str]]:
    """Return groups of names; languages add theirs to the group that begins with the same name."""
    groups: dict[str, list[str]] = {}
    for first, *others in name_lists(course, "synonyms.txt"):
        groups.setdefault(first, [first]).extend(others)
    return list(groups.values())


def rules_for(course: Course, language: str) -> dict[str, object]:
    """Return the rules of an edition's search: its language's own, and those of what may be typed in any.

    In ``search`` of ``book/CODE/language.yml`` each language may say:

    - ``stem``: how many letters of a word are its stem
    - ``ending``: a pattern of what is left out before, of words in Latin letters without marks
    - ``function_words``: words that say nothing by themselves, typed without marks
    - ``marks``: true where marks tell words apart, as tones do
    - ``guess_from``: letters of the shortest word that may be taken for a similar one
    - ``letters``: letters that are no base letter with a mark, each with the one that is typed for it
    - ``variants``: pairs of characters, typed and written
    - ``phrases`` and ``particles``: function words and characters of a script without spaces
    """
    every = [about.search for about in course.languages.values()]
    own, source = (course.languages[code].search for code in (language, course.source))
    both = [source, own] if own is not source else [own]

    def words_under(key: str, all_rules: list[dict]) -> list[str]:
        return [word for rules in all_rules for word in str(rules.get(key, "")).split()]

    return {
        "spaces": course.languages[language].spaces,
        "stem": own.get("stem", STEM),
        "ending": own.get("ending", ""),
        "marks": own.get("marks", False),
        "guess_from": own.get("guess_from", GUESS_FROM),
        "function_words": words_under("function_words", both),
        "letters": {letter: typed for rules in every for letter, typed in rules.get("letters", {}).items()},
        "variants": words_under("variants", every),
        "phrases": words_under("phrases", every),
        "particles": "".join(words_under("particles", every)),
    }


def names(course: Course, language: str) -> list[list[str]]:
    """Return groups of names for a thing: English, the edition's word and variants, what readers type."""
    groups = synonyms(course)
    for row in course.terms:
        term, word = row[course.source], row.get(language, "")
        accepted = (row.get(f"{language}_accepted") or "").split("|")
        own = list(dict.fromkeys(filter(None, (term, word, *accepted))))
        group = next((group for group in groups if term in group), None)
        if group is not None:
            group += [name for name in own if name not in group]
        elif len(own) > 1:
            groups.append(own)
    return groups


@cache
def digest() -> str:
    """Return the digest of all scripts."""
    return short_digest(path.read_bytes() for path in SCRIPTS)


def add_addresses(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Tell the template what a page loads when its search is opened."""
    here = app.builder.get_target_uri(page)
    folder = relative_uri(here, (app.config.course_assets or "_static/") + "search/")
    context["search_data"] = relative_uri(here, "search-data.js")
    context["search_scripts"] = [f"{folder}{path.name}?{digest()}" for path in SCRIPTS]


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write what is searched beside the pages, and the scripts beside the theme's files."""
    if exception is None and app.builder.format == "html":
        course, language = course_of(app.config), app.config.course_language
        data = {
            "pages": passages(app),
            "names": names(course, language),
            "absent": absent(course),
            "rules": rules_for(course, language),
        }
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        (Path(app.outdir) / "search-data.js").write_text(f"window.courseData={text};\n", encoding="utf-8")
        folder = Path(app.outdir) / (app.config.course_assets or "_static/") / "search"
        folder.mkdir(parents=True, exist_ok=True)
        for path in [*SCRIPTS, SCRIPTS[0].with_name("minisearch.LICENSE.txt")]:
            (folder / path.name).write_bytes(path.read_bytes())


def setup(app: Sphinx) -> dict[str, object]:
    """Hook into every page."""
    app.connect("doctree-read", store_passages)
    app.connect("html-page-context", add_addresses)
    app.connect("build-finished", write)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
