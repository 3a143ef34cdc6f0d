"""Documents with their fields, as they are written to an index and read from it."""
