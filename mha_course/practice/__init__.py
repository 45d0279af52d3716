"""Your turn: a module a chapter, whose turns check what a reader has written.

A page imports its module, for example ``from mha_course.practice import attention_pooling as practice``.
"""
