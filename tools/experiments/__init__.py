"""Experiments too long for a page.

Most modules write tables into `mha_course/data`, `parameters` writes a network there, and `live_…` write what
moves on the site. `claims` runs them all and measures what the chapters assert; `runs` is what they share.
"""
