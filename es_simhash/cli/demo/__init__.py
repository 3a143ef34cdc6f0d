"""The demo: a corpus of its own with near-duplicates planted in it, and what of them an index finds."""
