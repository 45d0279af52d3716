"""Commands for authors.

`cells` decides what a cell is, `language` what is special about a language, and `course` reads the course's
files. `editions`, `site` and `release` use them: they keep the languages in step, build the pages, and make
what readers get. `corpus` generates the sentences, `experiments` run what takes longer than a page may.
ARCHITECTURE.md says which may import which.
"""
