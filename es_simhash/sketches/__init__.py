"""Fingerprints of any features, and the keys by which they are found: SimHash, MinHash, blocks and bands."""
