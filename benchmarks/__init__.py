"""Measurements beside what people use today, in one run: ``python -m benchmarks`` (see `benchmarks.__main__`)."""
