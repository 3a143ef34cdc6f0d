"""Searches whose hits are shown without near-duplicates."""
