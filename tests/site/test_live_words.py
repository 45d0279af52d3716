"""A sentence that is put together of words that the translator offers is translated right."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import started
from playwright.sync_api import Browser, expect

from mha_course.corpus import TARGETS, load_corpus
from mha_course.translation import translate_all
from tools.corpus import generate
from tools.corpus.grammar import Meaning, fill, templates
from tools.course import Course
from tools.experiments.live_models import FOLDER, content_of, load_model

WORDS = Course().words("en")
MOST = 21  # words that are offered at once


def made_of_offers(count: int) -> Iterator[list[str]]:
    """Make sentences as a reader does who takes any of the words that are offered."""
    words = content_of(FOLDER / "bahdanau-fr.js")["source"]
    states = content_of(FOLDER / "grammar.js")["states"]
    dice = random.Random(0)
    for _ in range(count):
        state, sentence = len(states) - 1, []
        while state:
            token = dice.choice(sorted(map(int, states[state]))[:MOST])
            sentence.append(words[token])
            state = states[state][str(token)]
        yield sentence[:-1]  # without <eos>


@pytest.fixture(scope="module")
def made() -> list[list[str]]:
    """Return 200 such sentences."""
    return list(made_of_offers(200))


@pytest.fixture(scope="module")
def meant(made: list[list[str]]) -> dict[str, Meaning]:
    """Return the meanings of the sentences that a template of the corpus made."""
    wanted = {" ".join(sentence) for sentence in made}
    every = (meaning for name in templates() for meaning in generate.meanings(name))
    return {text: meaning for meaning in every if (text := generate.english_text(meaning)) in wanted}


def references(language: str, meant: dict[str, Meaning]) -> dict[str, list[str]]:
    """Return the corpus's translations of sentences, those written by hand among them."""
    module, patterns = generate.TARGETS[language], templates()
    found = {}
    for phrase in generate.phrases():
        words = [
            [word.text for word in fill(phrase[code], Meaning("phrase"), {})] for code in ("en", language)
        ]
        found[" ".join(words[0])] = words[1]
    for text, meaning in meant.items():
        found[text] = [
            word.text for word in generate.sentence_of(module, patterns[meaning.template][language], meaning)
        ]
    return found


def test_most_of_them_are_in_no_training_sentence(made: list[list[str]]) -> None:
    read = {tuple(pair.source) for split in ("train", "phrases") for pair in load_corpus("fr", split)}
    assert sum(tuple(sentence) not in read for sentence in made) >= len(made) / 2


@pytest.mark.parametrize("language", TARGETS)
def test_the_networks_translate_them_right(
    language: str, made: list[list[str]], meant: dict[str, Meaning]
) -> None:
    model, vocabularies = load_model(f"bahdanau-{language}")
    expected = references(language, meant)
    written = translate_all(model, made, *vocabularies)
    right = [one.tokens == expected[" ".join(sentence)] for one, sentence in zip(written, made, strict=True)]
    assert sum(right) / len(right) >= 0.97


def test_a_sentence_is_built_of_words_that_are_offered(browser: Browser, site: Path) -> None:
    page, watched = started(browser, site, "bahdanau-attention", "#play-translator")
    field, offered = page.locator(".live-form input[type=text]"), page.locator(".live-completions button")
    offered.filter(has_text=WORDS["live.translator.compose"]).click()
    assert field.input_value() == "" and 10 <= offered.count() <= MOST
    assert not page.locator(".live-heat").is_visible()  # it is of another sentence
    for word in ["she", "found", "a", "blue", "umbrella"]:
        offered.get_by_text(word, exact=True).click()
    assert field.input_value() == "she found a blue umbrella "
    assert offered.all_inner_texts() == ["“.”"]
    offered.click()
    assert page.locator(".live-written").inner_text() == "elle a trouvé un parapluie bleu."
    assert not page.locator(".live-unknown").inner_text()
    unlike = page.get_by_text(WORDS["live.translator.unlike"])
    assert not unlike.count()  # it has learned sentences of this kind
    field.fill("the dog is big")
    page.keyboard.press("Enter")
    expect(unlike).to_be_visible()
    # a word of the list begins a sentence, and then goes to its end
    page.get_by_text(WORDS["live.translator.known"]).click()
    for word in ("where", "is"):
        page.locator(".live-known").get_by_role("button", name=word, exact=True).click()
    assert field.input_value() == "where is "
    field.press_sequentially("th")
    page.locator(".live-known").get_by_role("button", name="the", exact=True).click()
    assert field.input_value() == "where is the "
    assert not watched.complaints
