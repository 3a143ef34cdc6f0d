"""Groups of near-duplicates: pairs joined to groups, in files and in indices."""
