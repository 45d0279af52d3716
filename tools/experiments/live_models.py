"""Train the networks of the site's pages, write them in half precision, and compare their scores.

``python -m tools.experiments.live_models [NAME …]`` trains each network anew with seed 0 (half a minute each)
and fails if a score differs from the written one by more than those of three seeds do from each other, and by
more than 0.04, which may be due to another processor.
With ``--write`` it trains the seeds 0, 1 and 2 and writes into ``tools/site/live/models``:

- ``NAME.js``: the network of seed 0, its vocabularies and its parameters (little-endian float16, base64);
- ``NAME.json``: the command, the seed, the checksum of ``NAME.js``, and the scores of each seed, rounded to
  half precision before they are measured.

``sentences-LANGUAGE.js`` holds the ``test`` split, so that a page can draw gold positions, and
``sentences-training.js`` the English sentences of training, so that it can tell which of its own are new.
``grammar.js`` holds the corpus's grammar: which sentences are correct, and which words may come next.

A page opened from disk may load a script but not fetch a file: so each of these is a script with one call.
"""

import argparse
import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import torch

from mha_course.corpus import TARGETS, Pair, Vocabulary, batches, load_corpus
from mha_course.language_model import LanguageModel, fit_language_model
from mha_course.metrics import alignment_accuracy, exact_match
from mha_course.seq2seq import EncoderDecoder
from mha_course.training import fit, masked_loss, seed_everything, shift_right
from mha_course.transformer import Transformer
from mha_course.translation import forced_weights
from tools.corpus.generate import WRITING
from tools.experiments.language_models import grammar
from tools.experiments.layouts import Setting, build, words_only
from tools.experiments.runs import SEEDS, Vocabularies, translations, vocabularies_of

FOLDER = Path(__file__).parents[1] / "site" / "live" / "models"
LANGUAGE_MODEL = "language-model"
NAMES = (*(f"bahdanau-{language}" for language in TARGETS), "transformer-fr", LANGUAGE_MODEL)
MACHINE_SPREAD = 0.04  # as in the chapters, with the tag `atol-0.04`
Scores = dict[str, float]
Network = EncoderDecoder | LanguageModel


def new_model(name: str, vocabularies: Vocabularies, seed: int) -> Network:
    """Make the untrained network, with the settings of the chapter of that name."""
    sizes = len(vocabularies[0]), len(vocabularies[1])
    if name.startswith("bahdanau"):
        return build(Setting("additive", "both", "zero", 1, seed), *sizes)
    seed_everything(seed)
    if name == LANGUAGE_MODEL:
        return LanguageModel(sizes[1], dropout=0.1)
    return Transformer(*sizes, dropout=0.1)


def train(name: str, seed: int) -> tuple[Network, Vocabularies]:
    """Train a network as its chapter does, and round it to half precision."""
    pairs, vocabularies = training_data(name)
    model = new_model(name, vocabularies, seed)
    choices: dict[str, Any] = {} if name.startswith("bahdanau") else {"epochs": 12, "learning_rate": 0.003}
    if isinstance(model, LanguageModel):
        fit_language_model(model, [pair.target for pair in pairs], vocabularies[1], seed=seed)
    else:
        fit(model, pairs, *vocabularies, seed=seed, progress=False, **choices)
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()
    return model.eval(), vocabularies


def corpus_of(name: str, split: str) -> list[Pair]:
    """Return a split as a network reads and writes it: the language model continues its English source."""
    if name == LANGUAGE_MODEL:
        return [pair._replace(target=pair.source) for pair in load_corpus("fr", split)]
    return load_corpus(name.rpartition("-")[2], split)


def training_data(name: str) -> tuple[list[Pair], Vocabularies]:
    """Return the sentences that a network is trained on, and their vocabularies."""
    pairs = corpus_of(name, "train") + corpus_of(name, "phrases")
    return pairs, vocabularies_of(pairs)


@torch.no_grad()
def loss(model: LanguageModel, pairs: list[Pair], vocabulary: Vocabulary) -> float:
    """Return the mean of −log p over the tokens: the logarithm of the chapter's perplexity."""
    (batch,) = batches(pairs, vocabulary, vocabulary, len(pairs))
    logits, _ = model(shift_right(batch.target, vocabulary.bos))
    return masked_loss(logits, batch.target, batch.target_lens).item()


def score(name: str, model: Network, vocabularies: Vocabularies) -> Scores:
    """Return exact match on the ``test`` split, and where attention is one matrix a sentence, its alignment.

    Of the language model, its losses.
    """
    test = corpus_of(name, "test")
    if isinstance(model, LanguageModel):
        splits = {"dev_loss": corpus_of(name, "dev"), "test_loss": test}
        return {key: round(loss(model, pairs, vocabularies[1]), 4) for key, pairs in splits.items()}
    written = translations(model, test, vocabularies)
    scores = {"exact_match": exact_match(written, [pair.target for pair in test])}
    if name.startswith("bahdanau"):
        weights = forced_weights(model, test, *vocabularies)
        scores["alignment"] = alignment_accuracy(weights, [pair.alignment for pair in test])
        scores["words"] = alignment_accuracy(weights, [words_only(pair) for pair in test])
    return {key: round(value, 4) for key, value in scores.items()}


def write_script(name: str, content: dict[str, Any]) -> None:
    """Write a script of one call, which hands `content` to the page."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / f"{name}.js").write_text(f"courseLive.store({json.dumps(name)}, {text});\n", encoding="utf-8")


def content_of(path: Path) -> dict[str, Any]:
    """Return the content that such a script stores."""
    text = path.read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return content


def content_with(name: str, model: Network, vocabularies: Vocabularies) -> dict[str, Any]:
    """Return a network for a page: parameters in the order of `shapes`, by their names in PyTorch."""
    parameters = model.state_dict()
    flat = torch.cat([value.flatten() for value in parameters.values()]).half().numpy().astype("<f2")
    source, target = (words.to_tokens(range(len(words))) for words in vocabularies)
    words = {"target": target} if name == LANGUAGE_MODEL else {"source": source, "target": target}
    shapes = {key: list(value.shape) for key, value in parameters.items()}
    weights = base64.b64encode(flat.tobytes()).decode()
    heads = {} if name.startswith("bahdanau") else {"num_heads": 4}
    return {**words, **heads, "shapes": shapes, "weights": weights}


def load_model(name: str) -> tuple[Any, Vocabularies]:
    """Return the network as the page has it, in PyTorch."""
    stored, (_, vocabularies) = content_of(FOLDER / f"{name}.js"), training_data(name)
    model, state, start = new_model(name, vocabularies, 0), {}, 0
    flat = torch.frombuffer(bytearray(base64.b64decode(stored["weights"])), dtype=torch.float16).float()
    for key, shape in stored["shapes"].items():
        size = torch.Size(shape).numel()
        state[key] = flat[start : start + size].reshape(shape)
        start += size
    model.load_state_dict(state)
    return model.eval(), vocabularies


def sentences(language: str) -> dict[str, Any]:
    """Return source and target of each ``test`` pair, with each target token's gold positions."""
    rows = []
    for pair in load_corpus(language, "test"):
        gold = (",".join(map(str, places)) for places in pair.alignment)
        rows.append([" ".join(pair.source), " ".join(pair.target), " ".join(gold)])
    return {"rows": rows, "writing": WRITING[language]}


def training_sentences() -> dict[str, Any]:
    """Return the English sentences that the language model has read."""
    pairs, _ = training_data(LANGUAGE_MODEL)
    return {"rows": [" ".join(pair.target) for pair in pairs]}


def grammar_states() -> dict[str, Any]:
    """Return the grammar of the corpus's English, in the ids that all the networks have for its words."""
    return {"states": automaton(training_data(LANGUAGE_MODEL)[1][1])}


def automaton(words: Vocabulary) -> list[dict[str, int]]:
    """Return the sentences of the corpus's grammar as states: which token leads to which state.

    The last state is the one to begin with. ``<eos>`` leads to state 0.
    """
    tree: dict[int, Any] = {}
    for sentence in grammar():
        node = tree
        for token in (*words[sentence.split()], words.eos):
            node = node.setdefault(token, {})
    states: dict[tuple[tuple[int, int], ...], int] = {(): 0}  # equal ends of sentences share their states

    def number(node: dict[int, Any]) -> int:
        onward = tuple(sorted((token, number(child)) for token, child in node.items()))
        return states.setdefault(onward, len(states))

    number(tree)
    return [{str(token): state for token, state in onward} for onward in states]


def write(name: str) -> None:
    """Train three seeds, and write the network of the first with the scores of all."""
    scores = {}
    for seed in SEEDS:
        model, vocabularies = train(name, seed)
        scores[str(seed)] = score(name, model, vocabularies)
        print(name, seed, scores[str(seed)], flush=True)
        if seed == 0:
            write_script(name, content_with(name, model, vocabularies))
    checksum = hashlib.sha256((FOLDER / f"{name}.js").read_bytes()).hexdigest()
    command = f"python -m tools.experiments.live_models {name} --write"
    about = {"command": command, "seed": 0, "sha256": checksum, "scores": scores}
    (FOLDER / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def deviations(written: dict[str, Scores], measured: Scores) -> list[str]:
    """Return the scores that differ from those of seed 0 by more than seeds or machines differ."""
    found = []
    for key, value in measured.items():
        seeds = [scores[key] for scores in written.values()]
        if abs(value - written["0"][key]) > max(max(seeds) - min(seeds), MACHINE_SPREAD):
            found.append(f"{key} is {value}, and was {written['0'][key]} ({min(seeds)} to {max(seeds)})")
    return found


def main() -> int:
    """Write the networks, or train them anew and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--write", action="store_true", help="train three seeds and write the files")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"there is no network {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)
    wrong = 0
    for name in arguments.names or NAMES:
        if arguments.write:
            write(name)
            continue
        about = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        measured = score(name, *train(name, 0))
        found = deviations(about["scores"], measured)
        wrong += len(found)
        print(name, measured, *found, sep="\n  ", flush=True)
    if arguments.write:
        for language in TARGETS:
            write_script(f"sentences-{language}", sentences(language))
        for name, content in (("sentences-training", training_sentences()), ("grammar", grammar_states())):
            write_script(name, content)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
