"""What servers run in place of Python: Painless scripts, search templates, the ingest pipeline."""
