"""The corpus's maker: a lexicon and templates as data, and a small grammar of each language."""
