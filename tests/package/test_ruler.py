"""The ruler: weights by length alone, counted by hand, and the figures that pages quote."""

import pytest
import torch

from mha_course.corpus import load_corpus
from mha_course.metrics import alignment_accuracy, ruler_weights


@pytest.mark.parametrize(
    ("steps", "positions", "peaks"),
    [
        (1, 1, [0]),
        (1, 4, [0]),
        (4, 1, [0, 0, 0, 0]),
        (4, 4, [0, 1, 2, 3]),
        (5, 6, [0, 1, 2, 4, 5]),  # 1.25, 2.5 and 3.75: a half goes to the even neighbour
        (3, 2, [0, 0, 1]),
        (7, 4, [0, 0, 1, 2, 2, 2, 3]),
    ],
)
def test_a_step_looks_at_its_own_place_in_the_source(steps, positions, peaks):
    weights = ruler_weights(steps, positions)
    assert torch.equal(weights, torch.eye(positions)[peaks])


def test_it_begins_at_the_first_position_and_ends_at_the_last():
    for steps in range(2, 12):
        for positions in range(1, 12):
            peaks = ruler_weights(steps, positions).argmax(dim=1).tolist()
            assert peaks == sorted(peaks)
            assert (peaks[0], peaks[-1]) == (0, positions - 1)


def test_its_score_on_the_test_split_with_and_without_punctuation():
    pairs = load_corpus("fr", "test")
    weights = [ruler_weights(len(pair.target), len(pair.source)) for pair in pairs]
    words = [
        [
            () if token in (".", "?", "!") else gold
            for token, gold in zip(pair.target, pair.alignment, strict=True)
        ]
        for pair in pairs
    ]
    assert alignment_accuracy(weights, [pair.alignment for pair in pairs]) == pytest.approx(0.685, abs=5e-4)
    assert alignment_accuracy(weights, words) == pytest.approx(0.634, abs=5e-4)


@pytest.mark.parametrize(("steps", "positions"), [(0, 3), (3, 0), (-1, 3), (2.0, 3), (True, 3)])
def test_numbers_that_are_no_counts_are_refused(steps, positions):
    with pytest.raises((TypeError, ValueError), match=r"steps|positions"):
        ruler_weights(steps, positions)
