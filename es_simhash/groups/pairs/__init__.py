"""One-shot deduplication: texts in, pairs and groups of near-duplicates out, without an engine.

`es_simhash.groups.pairs.deduplicator` is the way in. The texts are read once. What is kept of each is its fingerprint;
candidates are found by sorting keys, and compared.
"""
