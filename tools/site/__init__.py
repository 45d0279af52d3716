"""Builds the site from the editions: see ``python -m tools.site --help``.

``build`` runs Sphinx once for each language with ``extension`` and ``theme``; ``front`` writes what lies
above the editions; ``pdf`` prints what was built, ``lighthouse`` measures it.
"""
