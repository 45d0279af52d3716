"""The component about a mask that another library understands differently gives PyTorch's weights."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from page_code import names_of
from playwright.sync_api import Browser
from test_live_browser import COURSE, opened, probability
from torch import Tensor

from mha_course import convert
from mha_course.attention import MultiHeadAttention

WORD = COURSE.words("en")
SCORES = torch.tensor([0.4, 1, 0.6, 1.4])
SEEN = torch.tensor([[True, True, True, False]])
MASKS = {
    "allows": SEEN,
    "hides": ~SEEN,
    "added": torch.zeros(1, 4).masked_fill(~SEEN, float("-inf")),
    "ones": SEEN.float(),
}


def libraries() -> dict[str, Any]:
    """Return functions from a mask to one query's weights, with SCORES and the identity as values."""
    names = names_of(
        "one-attention-many-names", "annotated-functions", "annotated-class", given={"copy": copy}
    )
    plain = MultiHeadAttention(4, 1, bias=True)
    with torch.no_grad():
        for name in ("W_q", "W_k", "W_v", "W_o"):
            getattr(plain, name).weight.copy_(torch.eye(4))
            getattr(plain, name).bias.zero_()
    annotated = convert.to_annotated(plain, names["MultiHeadedAttention"](1, 4, dropout=0))
    multi_head = convert.to_torch(plain)
    Q, K, V = torch.ones(1, 1, 4), torch.diag(2 * SCORES)[None], torch.eye(4)[None]  # q · k / √4 is the score
    return {
        "SDPA": lambda mask: F.scaled_dot_product_attention(Q, K, V, attn_mask=mask),
        "nn.MultiheadAttention": lambda mask: multi_head(Q, K, V, key_padding_mask=mask)[0],
        "Annotated Transformer": lambda mask: annotated(Q, K, V, mask[None]),
        "mha_course": lambda mask: plain(Q, K, V, mask=mask),
    }


@pytest.mark.filterwarnings("ignore")
@torch.no_grad()
def test_a_mask_does_what_the_library_makes_of_it(browser: Browser, site: Path) -> None:
    page, watched = opened(browser, site, "one-attention-many-names", "mask")
    box, seen = page.locator(".live-mask"), set()
    right: Tensor = F.softmax(SCORES.masked_fill(~SEEN[0], float("-inf")), dim=-1)
    for library, attend in libraries().items():
        box.locator(f'input[value="{library}"]').check(force=True)
        for convention, mask in MASKS.items():
            box.locator(f'input[value="{convention}"]').check(force=True)
            code = box.locator(".live-printed").inner_text()
            assert code.splitlines()[0] == f"mask = {mask}"
            shares, told = box.locator("td .live-amount").all_inner_texts(), box.locator("[role=status]")
            try:
                weights = attend(mask)[0, 0]
            except TypeError:
                assert not shares
                verdict = WORD["live.mask.refused"].format(error="TypeError")
            else:
                assert list(map(probability, shares)) == pytest.approx(weights.tolist(), abs=0.0051)
                verdict = WORD[f"live.mask.{'right' if torch.allclose(weights, right) else 'wrong'}"]
                verdict = verdict.format(share=shares[-1])
            assert told.inner_text() == verdict
            seen.add((library, convention, verdict.partition(" ")[0]))
    words = [verdict for _, _, verdict in seen]
    assert {verdict: words.count(verdict) for verdict in words} == {"Right:": 7, "Wrong,": 7, "The": 2}
    page.goto(page.url.partition("#")[0] + "#play-mask?mask=added&library=Annotated+Transformer")
    page.reload()
    assert box.locator(".live-printed").inner_text().splitlines()[0] == f"mask = {MASKS['added']}"
    assert box.locator("input:checked").nth(1).get_attribute("value") == "Annotated Transformer"
    assert not watched.complaints
