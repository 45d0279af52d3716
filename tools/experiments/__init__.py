"""Experiments that take longer than a page may. Each module but `claims` writes `mha_course/data/<module>.tsv`."""
