"""Run in a page's kernel before its first cell, by `sync` and by the tests."""

# Apart from the page's names.
__import__("runpy").run_path(__file__.replace("startup.py", "drawn.py"))
