"""What authors run: keep translations in step, make the corpus, check the claims."""
