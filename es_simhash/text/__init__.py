"""Texts before they are tokens: normalisation, HTML, and batches of texts as arrays of UTF-16 units."""
