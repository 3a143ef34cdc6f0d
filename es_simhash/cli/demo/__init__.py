"""The demo: a generated corpus with planted near-duplicates, and how many of them an index finds."""
