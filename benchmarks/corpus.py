"""Can the corpus be learnt? ``python benchmarks/corpus.py`` trains one model for each language and seed.

Held-out sentences (split ``test``) have pairs of adjective and noun that were never trained. Printed are
the share of them translated word for word, the share of target words whose attention peaks at a gold source
word, and the seconds of training: by the clock, and of processor time, which other programs do not disturb.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from mha_course.corpus import TARGETS, Pair, Vocabulary, load_corpus
from mha_course.metrics import alignment_accuracy, exact_match
from mha_course.seq2seq import EncoderDecoder, Seq2SeqAttentionDecoder, Seq2SeqEncoder
from mha_course.training import fit, seed_everything
from mha_course.translation import forced_weights, translate_all

EXACT_MATCH = {"fr": 0.93, "tr": 0.93, "vi": 0.93, "zh": 0.93}
ALIGNMENT = {"fr": 0.85, "tr": 0.65, "vi": 0.65, "zh": 0.85}
SECONDS = 40
Scores = dict[str, float]


def build(source: Vocabulary, target: Vocabulary, arguments: argparse.Namespace) -> EncoderDecoder:
    """Return the attention model of the course: one layer, both directions."""
    sizes = (arguments.hidden, arguments.hidden, arguments.layers)
    encoder = Seq2SeqEncoder(len(source), *sizes, bidirectional=True)
    return EncoderDecoder(
        encoder, Seq2SeqAttentionDecoder(len(target), *sizes, initial_state=arguments.start)
    )


def evaluate(model: EncoderDecoder, pairs: list[Pair], source: Vocabulary, target: Vocabulary) -> Scores:
    translations = translate_all(model, [pair.source for pair in pairs], source, target)
    weights = forced_weights(model, pairs, source, target)
    return {
        "exact": exact_match([found.tokens for found in translations], [pair.target for pair in pairs]),
        "alignment": alignment_accuracy(weights, [pair.alignment for pair in pairs]),
    }


def run(language: str, seed: int, arguments: argparse.Namespace) -> Scores:
    """Train with one seed; scores of ``test`` and ``phrases``, and the seconds that training took."""
    trained_on = load_corpus(language) + load_corpus(language, "phrases")
    source = Vocabulary(pair.source for pair in trained_on)
    target = Vocabulary(pair.target for pair in trained_on)
    seed_everything(seed)
    model = build(source, target, arguments)
    begin, begin_cpu = time.perf_counter(), time.process_time()
    options = {"epochs": arguments.epochs, "learning_rate": arguments.rate}
    fit(model, trained_on, source, target, seed=seed, progress=False, **options)
    spent = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - begin_cpu}
    test = load_corpus(language, "test")
    scores = evaluate(model, test, source, target)
    phrases = evaluate(model, load_corpus(language, "phrases"), source, target)
    if arguments.mistakes:
        show_mistakes(model, test, source, target)
    return scores | spent | {"phrases": phrases["exact"]}


def show_mistakes(model: EncoderDecoder, pairs: list[Pair], source: Vocabulary, target: Vocabulary) -> None:
    translations = translate_all(model, [pair.source for pair in pairs], source, target)
    for pair, found in zip(pairs, translations, strict=True):
        if list(pair.target) != list(found.tokens):
            print(pair.template, *pair.source, "|", *found.tokens, "| gold:", *pair.target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", nargs="+", default=TARGETS, choices=TARGETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--rate", type=float, default=0.005)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--start", default="zero", choices=("zero", "last"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--mistakes", action="store_true", help="print held-out sentences translated wrongly")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print("| language | seed | exact match | alignment | phrases | seconds | CPU seconds |")
    print("|---|---|---|---|---|---|---|", flush=True)
    missed = []
    for language in arguments.languages:
        results = []
        for seed in arguments.seeds:
            scores = run(language, seed, arguments)
            results.append(scores)
            print(f"| {language} | {seed} | {row(scores)} |", flush=True)
        mean = {name: statistics.mean(scores[name] for scores in results) for name in results[0]}
        print(f"| {language} | mean | {row(mean)} |", flush=True)
        if mean["exact"] < EXACT_MATCH[language] or mean["alignment"] < ALIGNMENT[language]:
            missed.append(language)
        if mean["seconds"] > SECONDS:
            missed.append(f"{language} (time)")
    print("missed: " + (", ".join(missed) or "none"))
    return bool(missed)


def row(scores: Scores) -> str:
    shares = [f"{scores[name]:.3f}" for name in ("exact", "alignment", "phrases")]
    return " | ".join([*shares, f"{scores['seconds']:.1f}", f"{scores['cpu']:.1f}"])


if __name__ == "__main__":
    sys.exit(main())
