"""Clusters of three nodes that fail while commands work: histories with blows to the nodes."""
