"""Run in a page's kernel before its first cell, by `sync` and by the tests."""

# One expression, which adds no name to those of the page.
__import__("runpy").run_path(__file__.replace("startup.py", "drawn.py"))
