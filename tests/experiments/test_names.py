"""The page on language models: its little code, and the experiment that runs it on the names of Unicode."""

import hashlib
import json
import math
from typing import Any

import pytest
import tokenizers
import torch
from tolerance import assert_close
from torch import nn

from mha_course.corpus import Vocabulary
from mha_course.language_model import LanguageModel, RotaryAttention
from mha_course.results import stored_results
from mha_course.transformer import feed_forward
from tools.course import Course, cells
from tools.experiments.names import CHAPTER, KINDS, LONGER, NGRAMS, chapter, settings, verdicts
from tools.experiments.runs import SEEDS


def test_decoder_only_model_of_the_page_equals_the_package() -> None:
    names: dict[str, Any] = {"nn": nn, "Tensor": torch.Tensor, "feed_forward": feed_forward}
    names["RotaryAttention"] = RotaryAttention
    exec(cells(Course().read("en", "language-models"), "code")["model-code"].source, names)
    small, model = names["DecoderOnly"](vocab_size=9), LanguageModel(9)
    small.load_state_dict(model.state_dict())
    tokens = torch.tensor([[1, 5, 6, 7], [1, 8, 5, 2]])
    assert_close(small(tokens), model(tokens)[0])


def test_pieces_of_the_page_are_those_of_tokenizers() -> None:
    """The merges, with their ties, and how names are split by them."""
    names = chapter()
    training = names["parts"]["train"][:2000]
    held_out = [name for name in names["parts"]["dev"] if set(name) <= set("".join(training))]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    words = tokenizers.Regex(" ?[^ ]+")
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(words, "isolated")
    alphabet = len(set("".join(training)))
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=alphabet + 300, show_progress=False)
    tokenizer.train_from_iterator(training, trainer)
    theirs = [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    merges = names["learn_merges"](training, len(theirs))
    assert len(theirs) >= 290 and merges == theirs
    assert names["encode"](held_out, merges) == [tokenizer.encode(name).tokens for name in held_out]


def test_names_are_the_same_everywhere_and_no_two_parts_share_one() -> None:
    parts = chapter()["parts"]
    text = "\n".join(name for part in ("test", "dev", "train") for name in parts[part])
    assert hashlib.sha256(text.encode()).hexdigest().startswith("b6f666dd7e364b61")
    assert len({*parts["test"], *parts["dev"], *parts["train"]}) == sum(map(len, parts.values())) == 12886


def test_loss_of_the_page_counts_every_token_and_the_end() -> None:
    vocabulary = Vocabulary([["a", "b"]])

    def uniform(tokens: torch.Tensor) -> tuple[torch.Tensor, None]:
        return torch.zeros(*tokens.shape, len(vocabulary)), None

    expected = 5 * math.log(len(vocabulary))
    assert chapter()["nats"](uniform, [("a", "b"), ("b",)], vocabulary) == pytest.approx(expected)


def test_what_is_written_is_held_out_known_or_invented() -> None:
    parts = chapter()["parts"]
    later = "LATIN SMALL LETTER A WITH STROKE"  # since Unicode 4.1
    written = [parts["test"][3], parts["train"][0], parts["dev"][0], later, "NO SUCH SIGN", later]
    found = verdicts(written)
    assert found == {"held_out": [parts["test"][3]], "invented": [later, "NO SUCH SIGN"], "later": [later]}


def test_the_tables_are_of_these_settings() -> None:
    rows = stored_results("names")
    keys = ("model", "merges", "num_hiddens", "share", "learning_rate", "epochs", "seed")
    trained = [tuple(row[key] for key in keys) for row in rows if row["model"] == "Transformer"]
    assert trained == [tuple(getattr(setting, key) for key in keys) for setting in settings()]
    counted = [row for row in rows if row["model"] != "Transformer"]
    assert {(row["model"], row["merges"]) for row in counted} == {(s.model, s.merges) for s in NGRAMS}
    writing = [(row["model"], row["epochs"], row["seed"]) for row in rows if row["held_out"] != ""]
    best = min(counted, key=lambda row: row["bits_dev"])["model"]
    kinds = ((CHAPTER.model, CHAPTER.epochs), (CHAPTER.model, LONGER), (best, 0))
    assert writing == [(*kind, seed) for kind in kinds for seed in SEEDS]
    for row in stored_results("names_written"):
        kinds = verdicts([str(row["name"])])
        assert kinds["held_out" if row["kind"] == "held_out" else "invented"] and row["kind"] in KINDS
