"""What the course is measured against: D2L 1.0.3 as it is, and two models written from their descriptions."""

import sys
import types


def import_d2l() -> types.ModuleType:
    """Import D2L's classes; where torchvision is missing or broken, empty modules take its place.

    The attention classes use nothing of torchvision, which `d2l` imports without declaring it.
    """
    try:
        import torchvision  # noqa: F401
    except Exception:  # a wheel built for another torch fails with errors of many kinds
        vision, transforms = types.ModuleType("torchvision"), types.ModuleType("torchvision.transforms")
        vision.transforms = transforms
        sys.modules.update({"torchvision": vision, "torchvision.transforms": transforms})
    from d2l import torch as d2l

    return d2l


d2l = import_d2l()
