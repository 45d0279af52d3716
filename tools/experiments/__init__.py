"""What takes longer than a page may: each module but `claims` writes `mha_course/data/<module>.tsv`."""
