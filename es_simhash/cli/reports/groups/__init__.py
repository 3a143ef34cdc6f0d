"""The data of the report on groups."""
