"""One thread in every test: sums add up in the same order everywhere, and workers do not crowd each other."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
