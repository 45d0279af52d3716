"""Keeps the languages of the course in step: see ``python -m tools.editions --help``."""
