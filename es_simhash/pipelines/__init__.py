"""Fingerprints made by the cluster itself: an ingest pipeline whose Painless script does what this package does."""
