"""Where does a model look that translates into another language, and does it beat a ruler there? Three seeds.

``python -m tools.experiments.languages [--workers N]`` trains the two-way model of the chapter on Bahdanau
attention towards each language of the corpus (12 models, about 3 minutes on two cores) and writes one row for
each to ``mha_course/data/languages.tsv``.

Everything is measured on the test split. ``alignment`` and ``ruler`` are the alignment scores of the model
and of the ruler over every token that has a gold position; ``words`` and ``ruler_words`` leave out the
punctuation.
"""

from itertools import product

from mha_course.corpus import TARGETS, load_corpus
from mha_course.metrics import alignment_accuracy, ruler_weights
from mha_course.training import fit
from mha_course.translation import forced_weights
from tools.experiments.layouts import Setting, build, words_only
from tools.experiments.runs import SEEDS, Row, exact_matches, measure_all, training_data, write_table


def measure(setting: tuple[str, int], epochs: int = 25) -> Row:
    """Train the model of one language and score it."""
    language, seed = setting
    pairs, vocabularies = training_data(language)
    test = load_corpus(language, "test")
    model = build(Setting("additive", "both", "zero", 1, seed), *map(len, vocabularies))
    fit(model, pairs, *vocabularies, epochs=epochs, seed=seed, progress=False)
    weights = forced_weights(model, test, *vocabularies)
    ruler = [ruler_weights(len(pair.target), len(pair.source)) for pair in test]
    every, words = [pair.alignment for pair in test], [words_only(pair) for pair in test]
    scores = {
        "alignment": alignment_accuracy(weights, every),
        "words": alignment_accuracy(weights, words),
        "ruler": alignment_accuracy(ruler, every),
        "ruler_words": alignment_accuracy(ruler, words),
    }
    row = {"language": language, "seed": str(seed)}
    row["exact_match"] = exact_matches(model, vocabularies, language)["exact_match"]
    return row | {name: f"{score:.3f}" for name, score in scores.items()}


if __name__ == "__main__":
    write_table("languages", measure_all(measure, product(TARGETS, SEEDS)))
