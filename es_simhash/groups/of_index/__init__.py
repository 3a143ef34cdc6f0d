"""Finding all groups of near-duplicates in an index: its fingerprints are read, compared and joined here.

No query is run per document, and texts are read only if they must decide.
"""
