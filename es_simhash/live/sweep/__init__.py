"""Sweeping through all documents of a live index, despite failures of the engine."""
