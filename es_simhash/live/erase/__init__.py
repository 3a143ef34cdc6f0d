"""Erasing a document with all its copies: found in every way, compared exactly, and deleted as they were reviewed."""
