"""The one verdict on two texts: how near they are, whether that makes them near-duplicates, and by which clause."""
