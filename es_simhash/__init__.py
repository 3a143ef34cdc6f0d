"""Near-duplicate detection for the Elasticsearch or OpenSearch index that you already have."""
