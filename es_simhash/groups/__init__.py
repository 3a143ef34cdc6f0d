"""Groups of near-duplicates: pairs found and joined to groups, in files and in indices."""
