"""Settings of all tests: one thread, fewer garbage collections, no deadline for Hypothesis."""

import gc
import os

from hypothesis import HealthCheck, settings

# Sums add up in the same order everywhere, and workers do not crowd each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Parsed pages are millions of objects that stay alive: the garbage collector took half the time.
gc.set_threshold(50_000)
# On a busy machine Hypothesis would report slow examples as faults.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
