"""Parameters of a network that one chapter trains and others load, so that nobody waits for it again."""

from importlib import resources

import torch
from torch import Tensor

from mha_course.checks import check_choice

__all__ = ("stored_parameters",)


def stored_parameters(name: str, seed: int = 0) -> dict[str, Tensor]:
    """Read the parameters of a trained network, for its ``load_state_dict``.

    Parameters
    ----------
    name : str
        The network, such as ``"transformer-fr"``; its file lies in the package.
    seed : int
        The seed that it was trained with: 0, 1 or 2. Another one raises a ValueError, as another name does.

    Returns
    -------
    dict of str to Tensor
        The parameters by their names, in half precision.

    Examples
    --------
    >>> stored_parameters("transformer-fr")["encoder.embedding.weight"].shape
    torch.Size([234, 64])
    """
    folder = resources.files("mha_course.data")
    files = sorted(file.name for file in folder.iterdir())
    check_choice("name", name, [file.removesuffix(".pt") for file in files if file.endswith(".pt")])
    with folder.joinpath(f"{name}.pt").open("rb") as file:
        networks: dict[int, dict[str, Tensor]] = torch.load(file, map_location="cpu", weights_only=True)
    if seed not in networks:
        raise ValueError(f"seed must be one of {', '.join(map(str, networks))}, got {seed!r}")
    return networks[seed]
