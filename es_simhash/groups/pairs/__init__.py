"""One-shot deduplication: texts in, pairs and groups of near-duplicates out, without an engine.

Start with `es_simhash.groups.of_texts`. The texts are read once, and only their fingerprints are stored;
candidates are found by sorting keys, and compared.
"""
