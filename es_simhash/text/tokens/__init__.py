"""Texts divided into tokens: character n-grams, words, keywords."""
