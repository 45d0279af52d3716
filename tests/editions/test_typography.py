"""What each language writes in its own way is held, and nothing that is right is called wrong."""

import pytest

from tools.course import ROOT, Course, cells
from tools.editions.lint import lint

COURSE = Course()

WRONG = [
    ("en", "the the cell", "a word twice"),
    ("en", "“curly”", "straight"),
    ("en", "two  spaces", "two spaces"),
    ("en", "a\u200bb", "invisible"),
    ("en", "the word 注意力", "has 繁體中文"),
    ("en", "the word ağırlık", "has Türkçe"),
    ("en", "[Vaswani et al., 2018](references.md#vaswani-2017)", "says 2018"),
    ("tr", "bir “dikkat”", "straight"),
    ("tr", "`queries`in", "apostrophe"),
    ("tr", "$d$in", "apostrophe"),
    ("tr", "iki GRUnun", "apostrophe"),
    ("tr", "70 % doğru", "%70"),
    ("tr", "40.000 sayı", "40 000"),
    ("tr", "một đầu", "has Tiếng Việt"),
    ("tr", "dikkat the same", "English"),
    ("vi", "hoà tan", "hòa"),
    ("vi", "thuỷ", "hòa"),
    ("vi", "70 % token", "70%"),
    ("vi", "40 000 số", "40.000"),
    ("vi", "một ağırlık", "has Türkçe"),
    ("zh", "查詢,鍵", "half-width"),
    ("zh", "查詢.鍵", "half-width"),
    ("zh", "(鍵)", "half-width"),
    ("zh", '他說"鍵"', "「」"),
    ("zh", "查詢 ，鍵", "no space beside"),
    ("zh", "用`code` 的", "a space parts"),
    ("zh", "有3個", "a space parts"),
    ("zh", "查詢 鍵", "no space stands"),
    ("zh", "在里面", "裡"),
    ("zh", "之后", "後"),
    ("zh", "調用函式", "呼叫"),
    ("zh", "標准答案", "準"),
    ("zh", "một đầu", "has Tiếng Việt"),
]
RIGHT = [
    ("en", "set those that nobody may attend to to 0; it said that that is 20–40 %"),
    ("tr", "`queries`'in 0,5'i, %70, 40 000, $d$'ye, GRU'nun, NaN, \"böyle\""),
    ("en", "[Vaswani et al., 2017](references.md#vaswani-2017), [there](references.md#vaswani-2017)"),
    ("vi", 'thủy, hòa, quý, khỏe, huỳnh, 70%, 40.000, "như thế"'),
    ("zh", "查詢（query）與 3 個鍵，`code` 的 0.45；干擾、若干、公里、皇后、不准、「引文」"),
    ("zh", "**先備知識：** 向量。*每一個* $w$ 都是 3,000。"),
    ("zh", '訊息是 ("view size is not compatible with the tensor")。'),
]


@pytest.mark.parametrize(("language", "text", "said"), WRONG)
def test_what_the_language_writes_otherwise_is_named(language: str, text: str, said: str) -> None:
    assert [what for what in lint(COURSE, language, "", text) if said in what]


@pytest.mark.parametrize(("language", "text"), RIGHT)
def test_what_is_right_is_left_alone(language: str, text: str) -> None:
    assert list(lint(COURSE, language, "", text)) == []


def test_a_turkish_word_without_its_letters_is_told_by_the_books_own_words() -> None:
    texts = {"a": "Burada yazıldı ve sınır, sinir ile sinir.", "b": "Sonra yazildi; d'idir ve ıdır."}
    assert list(COURSE.languages["tr"].spelling(texts)) == [
        ("b", "says 'yazildi'; elsewhere the book says 'yazıldı'")
    ]


def test_an_english_slip_is_told_by_the_books_own_words() -> None:
    texts = {"a": "The cat, the dog, the form and the trial.", "b": "Teh end of that from."}
    assert list(COURSE.languages["en"].spelling(texts)) == [("b", "says 'teh'; is 'the' meant?")]


def test_each_edition_tells_its_translators_what_the_guide_says_of_it() -> None:
    text = (
        (ROOT / "docs/translating.md")
        .read_text(encoding="utf-8")
        .partition("## How each language is written\n")[2]
    )
    head, _, *lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    rows = {line[0]: dict(zip(head, line[1:], strict=True)) for line in lines}
    for code, language in COURSE.languages.items():
        said = cells(COURSE.read(code, "translations"))["conventions"].source
        for row in ("decimals", "thousands", "percent"):
            assert rows[row][language.name].split(" or ")[0] in said, (code, row)
