"""All groups of near-duplicates in an index: read from the fields of fingerprints, joined and compared here.

Not one query is asked for a document, and no text is read unless it is to decide.
"""
