"""The birth of the induction head, for the page on the inside of language models.

``python -m tools.experiments.live_birth`` (half a minute) runs the page's cells that train the first model.
It writes ``tools/site/live/models/birth-steps.js``, which holds every ten steps: the loss and the stripe that
the page measures, the average weight of layer 0 on the previous token, the attention weights of both layers
on one sequence, and the probability of the right token there.
"""

import base64
from typing import Any

import torch
from torch import Tensor

from tools.course import Course, cells
from tools.experiments.live_models import write_script

FILE = "birth-steps"
CELLS = ("imports", "induction-model", "birth-measure", "induction-train")
LETTERS = "kcxamtrb"  # they come twice, as the first ids of the page's vocabulary
EVERY = 10  # steps, as on the page


def page() -> dict[str, Any]:
    """Run the page's cells that define the model and its training, and return their names."""
    code = cells(Course().read("en", "inside-language-models"), "code")
    names: dict[str, Any] = {}
    for key in CELLS:
        exec("\n".join(line for line in code[key].source.splitlines() if line[:1] != "%"), names)
    return names


def packed(weights: Tensor) -> str:
    """Return the lower triangle of a square of weights, row by row: a byte each, in base64."""
    rows, columns = torch.tril_indices(*weights.shape)
    return base64.b64encode(bytes((weights[rows, columns] * 255).round().int().tolist())).decode()


@torch.no_grad()
def look(model: Any, held_out: Tensor) -> dict[str, Any]:
    """Return the layers' attention, on average in held-out sequences and in detail in one."""
    n = len(LETTERS)
    tokens = torch.arange(n).repeat(2)[None]  # (1, 2n)
    logits, maps = model(tokens[:, :-1], need_weights=True)
    shares = logits[0, n:].softmax(dim=-1).gather(1, tokens[0, n + 1 :, None])[:, 0]
    _, (first, _) = model(held_out[:, :-1], need_weights=True)
    return {
        "previous": round(first[:, 0].diagonal(-1, 1, 2).mean().item(), 3),
        "maps": [packed(weights[0, 0]) for weights in maps],
        "right": [round(share, 3) for share in shares.tolist()],
    }


def birth() -> dict[str, Any]:
    """Train the page's first model and return what is seen on the way."""
    names, steps = page(), []
    measure = names["measure"]

    def measure_and_look(model: Any, held_out: Tensor) -> tuple[float, float]:
        loss, stripe = measure(model, held_out)
        steps.append({"loss": round(loss, 3), "stripe": round(stripe, 3), **look(model, held_out)})
        return loss, stripe

    names["measure"] = measure_and_look
    model, _ = names["train_to_copy"](2, names["seed"])
    measure_and_look(model, names["repeated"](14))  # after the last step
    return {"every": EVERY, "letters": LETTERS, "steps": steps}


if __name__ == "__main__":
    torch.set_num_threads(1)
    write_script(FILE, birth())
