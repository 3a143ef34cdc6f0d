"""Hash functions of tokens, byte-stable across machines and versions."""
