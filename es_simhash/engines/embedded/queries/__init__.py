"""Queries in Elasticsearch's JSON, compiled to queries of the tantivy library."""
