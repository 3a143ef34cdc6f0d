"""Arrays, digits, threads, JSON paths, URLs, Arrow streams, HTML: the base of all, which knows no fingerprints."""
