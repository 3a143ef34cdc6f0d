"""Spark, parts for other frameworks, and a server for agents; each module needs the extra of its name."""
