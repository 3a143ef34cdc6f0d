"""HTML pages, each in one file."""
