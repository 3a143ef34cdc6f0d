"""Engines that hold indices: Elasticsearch, OpenSearch, and one embedded in the process."""
