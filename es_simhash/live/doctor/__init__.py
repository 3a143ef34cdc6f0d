"""What would go wrong if fingerprints were written into an index, found out before anything is written."""
