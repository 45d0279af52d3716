"""Write the corpus: ``python -m tools.corpus``."""

import argparse

from tools.corpus.generate import OUTPUT, corpus_text

argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__).parse_args()
OUTPUT.write_text(corpus_text(), encoding="utf-8", newline="\n")
print(OUTPUT)
