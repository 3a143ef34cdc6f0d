"""Long jobs on a live index, which others read and write meanwhile."""
