"""Documents in frames of pandas, polars, DuckDB and pyarrow: a row each, read from Arrow's streams."""
