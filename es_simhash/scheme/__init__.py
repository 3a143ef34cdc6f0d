"""The scheme, which defines how texts become fingerprints, and all that is derived from it."""
