"""What all tests share: one thread, and patience."""

import gc
import os

from hypothesis import HealthCheck, settings

# Sums add up in the same order everywhere, and workers do not crowd each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Pages as trees are millions of objects that stay: to look among them for garbage took half the time.
gc.set_threshold(50_000)
# A busy machine is slow; that is no fault of what Hypothesis tries.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
