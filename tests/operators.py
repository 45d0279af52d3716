"""Which of PyTorch's operators run, and which boolean tensors they make."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Operators(TorchDispatchMode):
    """Record the operators that run inside a ``with`` block, forward and backward."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.booleans: list[tuple[int, ...]] = []

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = operator(*args, **(kwargs or {}))
        self.names.append(operator.overloadpacket.__name__.removesuffix("_"))
        if isinstance(result, torch.Tensor) and result.dtype == torch.bool:
            self.booleans.append(tuple(result.shape))
        return result

    def count(self, name: str) -> int:
        """Return how often an operator ran, in place or not."""
        return self.names.count(name)
