"""From texts to weighted features: HTML, normalisation, tokens, hashes, weights."""
