"""Arrays, digits, threads, JSON paths and URLs: the base of every other folder, which knows no fingerprints."""
