"""Text goes out to translators and comes back whole, or changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_chapters import (
    ENGLISH,
    VIETNAMESE,
    cell_of,
    commit,
    errors,
    mangle,
    replace,
    rewrite,
    run,
    snapshot,
    start_history,
)

from tools.course import Course, cells
from tools.editions.lock import page_state
from tools.editions.sync import sync


def test_diff_shows_what_changed_in_english_since(course: Course, capsys: pytest.CaptureFixture) -> None:
    start_history(course)
    for new in ("are tiny", "are small"):
        rewrite(
            course,
            "en",
            lambda nb, new=new: cell_of(nb, "why").update(source=f"Without it the weights {new}."),
        )
        sync(course)
        commit(course, new)
    assert run(course, "diff tr masks why") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Without it the weights [-on padding -]are [-not zero.")
    assert shown.endswith("{+small.+}\n")
    assert run(course, "diff tr masks title") == 0
    assert "has not changed" in capsys.readouterr().out
    assert run(course, "diff tr masks add") == 1


@pytest.fixture
def exported(course: Course) -> Path:
    assert run(course, "export vi masks") == 0
    return course.root / "translations/vi/masks.md"


def fill(path: Path, texts: dict[str, str], language: str = "vi") -> None:
    text = path.read_text(encoding="utf-8")
    for key, translation in texts.items():
        before, header, after = text.partition(f"%%% cell {key} ")
        english, mark, rest = after.partition(f"%%% {language}\n")
        text = f"{before}{header}{english}{mark}{translation}\n{rest}"
    path.write_text(text, encoding="utf-8")


def test_a_translation_goes_out_and_comes_back(course: Course, exported: Path) -> None:
    texts = {
        "title": "# Mặt nạ\n\n**Mặt nạ** che đệm: `mask`, truy vấn, $m_{ij} \\in \\{0, 1\\}$.",
        "formula": "$$a = b$$",
    }
    fill(exported, texts)
    assert run(course, "import vi masks --stamp") == 0
    assert cells(course.read("vi", "masks"))["title"].source == texts["title"]
    assert page_state("vi", "masks", course) == (("title",), (), ("why", "result", "formula"))
    assert errors(course) == []


def test_an_import_without_stamp_vouches_for_nothing(course: Course, exported: Path) -> None:
    fill(exported, VIETNAMESE)
    assert run(course, "import vi masks") == 0
    assert errors(course) == [
        "error: vi masks#result: was edited and not stamped as read: compare it with English, then stamp it"
    ]


def as_windows_saves(path: Path) -> None:
    """Give a file a byte order mark and the line ends of Windows."""
    text = path.read_text(encoding="utf-8")
    path.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))


def test_files_that_were_saved_on_windows_are_read_as_others(course: Course, exported: Path) -> None:
    fill(exported, VIETNAMESE)
    as_windows_saves(exported)
    assert run(course, "import vi masks --stamp") == 0
    assert cells(course.read("vi", "masks"))["result"].source == VIETNAMESE["result"]
    for path in ("book/vi/terms.csv", "book/vi/language.yml"):
        as_windows_saves(course.root / path)
    assert errors(Course(course.root)) == []


def test_an_import_is_stamped_against_the_english_that_the_translator_saw(
    course: Course, exported: Path
) -> None:
    fill(exported, VIETNAMESE)
    rewrite(course, "en", replace("result", "two", "three"))
    assert run(course, "import vi masks --stamp") == 0
    assert page_state("vi", "masks", course).stale == ("result",)


def edit_english_as_text(course: Course, *edits: tuple[str, str]) -> int:
    """Export, replace, import; returns the exit status of the import."""
    assert run(course, "export en masks") == 0
    path = course.root / "translations/en/masks.md"
    text = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return run(course, "import en masks")


def test_english_goes_out_as_text_and_comes_back_the_same(course: Course) -> None:
    before = course.path("en", "masks").read_bytes()
    assert edit_english_as_text(course) == 0
    assert course.path("en", "masks").read_bytes() == before


def test_english_is_changed_without_jupyter(course: Course) -> None:
    new_cell = "%%% text more\nMore.\n\n%%% code solution-half hide-cell"
    edits = [("not zero", "small"), ("1 + 1", "1 + 2"), ("%%% code solution-half hide-cell", new_cell)]
    assert edit_english_as_text(course, *edits) == 0
    assert errors(course)[0] == "error: en masks: its outputs are not known to be of this code: run sync"
    sync(course)
    assert errors(course) == []
    assert page_state("tr", "masks", course) == (("title", "result", "formula"), ("why",), ("more",))
    assert cell_of(course.read("zh", "masks"), "add").outputs[0].text == "3\n"


def test_a_chapter_is_written_without_jupyter(course: Course) -> None:
    path = course.root / "draft.md"
    path.write_text("%%% text title\n# Draft\n\n%%% code setup\n\n%%% code one\nprint(1)\n", encoding="utf-8")
    assert run(course, f"import en draft {path}") == 0
    sync(course)
    assert cell_of(course.read("vi", "draft"), "one").outputs[0].text == "1\n"
    assert errors(course) == []


@pytest.mark.parametrize("line", ["text why", "prose more", "text Two words", "text", "end 0123456789ab"])
def test_a_faulty_english_file_changes_nothing(course: Course, line: str) -> None:
    before = course.path("en", "masks").read_bytes()
    assert edit_english_as_text(course, ("%%% text formula", f"%%% {line}\nMore.\n\n%%% text formula")) == 1
    assert course.path("en", "masks").read_bytes() == before


FAULTY_TEXTS = {
    "a lost formula": ({"title": "# Mặt nạ\n\n`mask`"}, "of English is missing"),
    "English left in": ({"why": ENGLISH["why"] + " x"}, "has English left in"),
}


@pytest.mark.parametrize("kind", FAULTY_TEXTS)
def test_a_faulty_text_changes_nothing(
    course: Course, exported: Path, kind: str, capsys: pytest.CaptureFixture
) -> None:
    texts, said = FAULTY_TEXTS[kind]
    fill(exported, VIETNAMESE | texts)
    before = snapshot(course)
    assert run(course, "import vi masks --stamp") == 1
    assert said in capsys.readouterr().err
    assert snapshot(course) == before


UNKNOWN = "%%% cell whence 0123456789ab untranslated\nWhence?\n%%% vi\nTừ đâu?\n"
FORMULA = "%%% cell formula 0123456789ab fresh\n$$a = b$$\n%%% vi\n$$a = b$$\n"
DAMAGE = {
    "a marker removed": ("%%% vi\n\n%%% code solution", "\n%%% code solution", "cell result has lost"),
    "a marker edited": ("%%% vi\n\n%%% code solution", "%%% vn\n\n%%% code solution", "has lost its line"),
    "a cell's line removed": ("%%% cell why", "why", "(after cell title) is not as export wrote it"),
    "English edited": ("are not zero", "không bằng không", "vi masks#why: its English was edited"),
    "text beneath the end": ("%%% end", "%%% end 0123456789ab\nMore.\n%%% end", "beneath its last"),
    "another language's file": ("Tiếng Việt", "Türkçe", "is the file of masks, Türkçe, not of masks, Tiếng"),
    "another page's file": ("<!-- masks", "<!-- sums", "is the file of sums, Tiếng Việt, not of masks"),
    "an unknown cell": ("%%% end", f"{UNKNOWN}%%% end", "English has no such cell"),
    "a cell twice": ("%%% end", f"{FORMULA}{FORMULA}%%% end", "is in the file twice"),
    "the end lost": ("%%% end", "", "its last line, '%%% end …', is missing"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_changes_nothing_and_the_message_says_where(
    course: Course, exported: Path, kind: str, capsys: pytest.CaptureFixture
) -> None:
    old, new, what = DAMAGE[kind]
    mangle(exported, old, new)
    before = snapshot(course)
    assert run(course, "import vi masks") == 1
    assert what in capsys.readouterr().err
    assert snapshot(course) == before


def test_an_export_shows_the_terms_of_a_cell_and_an_import_warns_of_others(
    course: Course, exported: Path, capsys: pytest.CaptureFixture
) -> None:
    assert "rates are *equal*.\n%%% terms learning rate: tốc độ học\n%%% vi\n" in exported.read_text()
    fill(exported, {"result": "## Kết quả\n\nHai nhịp học *bằng nhau*."})
    assert run(course, "import vi masks") == 0
    assert "warning: vi masks#result: 'learning rate' is 'tốc độ học'" in capsys.readouterr().out


def test_a_file_may_stand_behind_an_option(course: Course) -> None:
    path = course.root / "there.md"
    assert run(course, f"export vi masks --todo {path}") == 0
    assert "%%% cell why" in path.read_text(encoding="utf-8")
    for wrong in ("--less", f"{path} more", "more --less"):
        with pytest.raises(SystemExit):
            run(course, f"export vi masks --todo {wrong}")


@pytest.mark.parametrize("language", ["en", "vi"])
def test_an_export_overwrites_no_work_that_was_not_imported(course: Course, language: str) -> None:
    path = course.root / f"translations/{language}/masks.md"
    command = f"export {language} masks"
    assert run(course, command) == 0
    rewrite(course, "en", replace("why", "not zero", "small"))
    assert run(course, command) == 0  # nobody wrote in the file, though the notebook is another by now
    if language == "en":
        mangle(path, "are small", "are tiny")
    else:
        fill(path, VIETNAMESE)
    work = path.read_text(encoding="utf-8")
    assert run(course, command) == 1
    assert path.read_text(encoding="utf-8") == work
    assert run(course, f"import {language} masks") == 0
    assert run(course, command) == 0
    path.write_text(f"{path.read_text(encoding='utf-8')}\nNotes.\n", encoding="utf-8")
    assert run(course, command) == 1
    assert run(course, f"{command} --force") == 0
    assert "Notes." not in path.read_text(encoding="utf-8")
