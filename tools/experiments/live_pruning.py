"""How well the site's Transformer translates without 0 to 18 of its heads, for the page on pruning.

``python -m tools.experiments.live_pruning`` (a minute) writes
``tools/site/live/models/pruning-fr.js``. For each way to choose heads and each draw it holds the heads in the
order in which they go, as in the chapter's experiment (`tools.experiments.pruning`), and how many of the test
sentences are translated exactly after each. Run it again whenever ``transformer-fr.js`` changes.
"""

from typing import Any

import torch

from mha_course.heads import Head, all_heads, attentions, leave_one_out
from tools.experiments.live_models import load_model, write_script
from tools.experiments.pruning import Experiment, load

NETWORK, FILE = "transformer-fr", "pruning-fr"
WAYS = ("leave_one_out", "greedy", "random", "reversed")


def label(head: Head) -> str:
    """Return a head's name as the pages write it: C1.2 is head 2 in the cross-attention of layer 1."""
    side, _, layer, kind = head.module.split(".")
    letter = "E" if side == "encoder" else kind[0].replace("s", "D").replace("c", "C")
    return f"{letter}{layer}.{head.number}"


def experiment() -> Experiment:
    """Return the chapter's experiment with the network that the site has."""
    return Experiment(0, load(), model=load_model(NETWORK)[0])


def pruning() -> dict[str, Any]:
    """Return the importance of each head, and for each way and draw the order of removal and what is left."""
    one = experiment()
    most = len(all_heads(one.model)) - len(attentions(one.model))  # each module keeps a head
    importance = leave_one_out(one.model, one.score_on(one.data.dev))
    ways: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    for way, _, heads in one.choices(most):
        if way not in ways:
            continue
        order = heads(most)
        right = [one.match_without(order[:count], one.data.test) for count in range(most + 1)]
        exact = [round(share * len(one.data.test)) for share in right]
        ways[way].append({"order": [label(head) for head in order], "exact": exact})
        print(way, *exact, flush=True)
    rises = {label(head): round(rise, 7) for head, rise in importance.items()}
    return {"sentences": len(one.data.test), "importance": rises, "ways": ways}


if __name__ == "__main__":
    torch.set_num_threads(1)
    write_script(FILE, pruning())
