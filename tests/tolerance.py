"""How close two tensors have to be, by type."""

import torch
from torch import Tensor

TOLERANCES = {  # values, gradients; times the largest absolute value of the reference, or 1
    torch.float64: (1e-11, 1e-10),
    torch.float32: (3e-6, 1e-5),
    torch.float16: (4e-3, 1e-2),
    torch.bfloat16: (3e-2, 5e-2),
}


def assert_close(
    actual: Tensor, expected: Tensor, gradient: bool = False, dtype: torch.dtype | None = None
) -> None:
    """Raise unless `actual` has the shape of `expected` and its values, within what its type can hold."""
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    tolerance = TOLERANCES[dtype or actual.dtype][gradient]
    assert actual.isfinite().all(), "not finite"
    if actual.numel():
        actual, expected = actual.detach().double().cpu(), expected.detach().double().cpu()
        worst = (actual - expected).abs().max().item()
        allowed = tolerance * max(1.0, expected.abs().max().item())
        assert worst <= allowed, f"differs by {worst:.2e}, allowed are {allowed:.2e}"
