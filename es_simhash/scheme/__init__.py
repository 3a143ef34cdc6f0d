"""The one value that says how texts become fingerprints, and all that is derived from it."""
