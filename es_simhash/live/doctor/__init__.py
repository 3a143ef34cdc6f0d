"""The doctor: what would go wrong if fingerprints were written into an index, examined before anything is written."""
