"""Commands for authors.

`course` reads the course's files, `editions` keeps its languages in step, `site` builds it. Imports run one
way: `course` ← `editions` ← `site`. `experiments` know `course`, `corpus` knows nothing of them.
"""
