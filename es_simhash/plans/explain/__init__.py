"""Why two texts, or two documents of an index, are near-duplicates or are not: comparisons, and the reason in words."""
