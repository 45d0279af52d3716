"""The Transformer that two chapters load, trained as in the chapter before them. Three seeds.

``python -m tools.experiments.parameters`` (a minute) trains it and writes its parameters, rounded to half
precision, to ``mha_course/data/transformer-fr.pt``, which `stored_parameters` reads.
"""

import torch

from tools.experiments.pruning import Experiment, load
from tools.experiments.runs import DATA, SEEDS

NAME = "transformer-fr"


def trained() -> dict[int, dict[str, torch.Tensor]]:
    """Return the parameters of the network of each seed."""
    networks, data = {}, load()
    for seed in SEEDS:
        parameters = Experiment(seed, data).model.state_dict()
        networks[seed] = {name: value.half() for name, value in parameters.items()}
        print(NAME, seed, flush=True)
    return networks


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.save(trained(), DATA / f"{NAME}.pt")
