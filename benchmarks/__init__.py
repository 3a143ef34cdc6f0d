"""Measurements against other tools: ``python -m benchmarks`` (see `benchmarks.__main__`)."""
