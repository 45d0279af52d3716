"""Write the corpus: ``python -m tools.corpus``."""

from tools.corpus.generate import OUTPUT, corpus_text

OUTPUT.write_text(corpus_text(), encoding="utf-8", newline="\n")
print(OUTPUT)
