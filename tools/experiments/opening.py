"""The picture of the first page: where a model with attention looks while it writes the course's sentence.

``python -m tools.experiments.opening`` trains the model of the chapter on Bahdanau attention with seed 0
(less than a minute) and writes ``mha_course/data/opening.tsv``: a row for each French token, with its gold
positions and its weight on each English token.
"""

from mha_course.corpus import load_corpus
from mha_course.training import fit
from mha_course.translation import forced_weights
from tools.experiments.layouts import SENTENCE, Setting, build
from tools.experiments.runs import Row, training_data, write_table

PAGE = Setting("additive", "both", "zero", 1, seed=0)


def measure(setting: Setting, epochs: int = 25) -> list[Row]:
    """Train the model and read its weights on the sentence, which it is fed with the right French."""
    pairs, vocabularies = training_data()
    model = build(setting, *map(len, vocabularies))
    fit(model, pairs, *vocabularies, epochs=epochs, seed=setting.seed)
    course = next(pair for pair in load_corpus("fr", "test") if " ".join(pair.source) == SENTENCE)
    (weights,) = forced_weights(model, [course], *vocabularies)
    return [
        {"token": token, "gold": " ".join(map(str, gold))}
        | {name: f"{weight:.3f}" for name, weight in zip([*course.source, "<eos>"], row, strict=True)}
        for token, gold, row in zip(course.target, course.alignment, weights.tolist(), strict=True)
    ]


if __name__ == "__main__":
    write_table("opening", measure(PAGE))
