"""The report on groups, as data."""
