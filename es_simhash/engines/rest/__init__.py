"""The REST interface that Elasticsearch and OpenSearch share."""
