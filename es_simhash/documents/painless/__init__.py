"""What servers run instead of Python: Painless scripts, search templates, the ingest pipeline."""
