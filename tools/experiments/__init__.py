"""Experiments too long for a page. Each module but `claims` writes `mha_course/data/<module>.tsv`."""
