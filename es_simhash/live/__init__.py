"""Long jobs on an index that others read and write meanwhile."""
