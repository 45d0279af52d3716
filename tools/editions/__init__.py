"""Keeps the languages of the course in step: see ``python -m tools.editions --help``."""

import sys

# nbformat's schema checker would build a grammar of web addresses (1.5 s) that no notebook's schema asks for.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
