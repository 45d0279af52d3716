"""The foot of a page: nothing while the project has no address; then its day, feedback and citation."""

from datetime import date

import pytest

from tools.course import Course
from tools.site.extension import colophon as foot

ADDRESS = "https://github.com/someone/course"
CITED = {"title": "A course", "version": "1.2.0", "date-released": date(2030, 5, 6)}
GROUP = [{"name": "The authors"}]
PEOPLE = [{"given-names": "Ada", "family-names": "Ünal"}, {"given-names": "Bo", "family-names": "Lin"}]


def test_without_an_address_a_page_says_nothing_of_its_source():
    assert foot.colophon(Course(), "en", "transformer", "", "") == {}


@pytest.mark.parametrize(
    ("code", "day"),
    [("en", "6 May 2030"), ("tr", "6 Mayıs 2030"), ("vi", "6 tháng 5, 2030"), ("zh", "2030年5月6日")],
)
def test_the_day_of_the_last_change_is_written_in_the_readers_language(monkeypatch, code, day):
    monkeypatch.setattr(foot, "last_change", lambda course, path: date(2030, 5, 6))
    found = foot.colophon(Course(), code, "transformer", ADDRESS, "")
    assert found["changed"] == day
    assert found["feedback"] == f"{ADDRESS}/issues/new?title={code}%2Ftransformer%3A%20"


def test_a_site_without_a_repository_asks_for_no_issue():
    assert foot.colophon(Course(), "en", "transformer", "", "https://example.org")["feedback"] == ""


def test_the_day_is_that_of_the_last_commit():
    course = Course()
    changed = foot.last_change(course, "CITATION.cff")
    if changed is None:
        pytest.skip("the day is read from a clone")
    assert date(2020, 1, 1) < changed <= date.today()
    assert foot.last_change(course, "no such file") is None


@pytest.mark.parametrize(
    ("people", "shown", "cited"),
    [(GROUP, "The authors", "{The authors}"), (PEOPLE, "Ada Ünal, Bo Lin", "Ünal, Ada and Lin, Bo")],
)
def test_a_citation_has_the_names_as_bibtex_reads_them(people, shown, cited):
    citation = {**CITED, "authors": people}
    assert foot.authors(citation) == shown
    assert foot.bibtex(citation, ADDRESS).splitlines() == [
        "@software{attention_course,",
        f"  author = {{{cited}}},",
        "  title = {{A course}},",
        "  version = {1.2.0},",
        "  year = {2030},",
        f"  url = {{{ADDRESS}}},",
        "}",
    ]


def test_a_version_that_is_not_released_has_no_year():
    citation = {**CITED, "authors": GROUP, "date-released": None}
    assert "year" not in foot.bibtex(citation, ADDRESS)
