"""Documents with their fields: what is written to an index, and what is read from it."""
