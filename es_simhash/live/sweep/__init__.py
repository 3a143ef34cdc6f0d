"""Sweeping through all documents of a live index, whatever happens to the engine meanwhile."""
