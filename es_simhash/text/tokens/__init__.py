"""Texts cut into tokens: character n-grams, words, keywords."""
