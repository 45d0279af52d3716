"""Attention in PyTorch, as the course teaches it.

Each module stands for a chapter: import from it, for example
``from mha_course.attention import MultiHeadAttention``.
"""

__version__ = "2.0.0"
