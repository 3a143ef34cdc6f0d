"""An engine in this process: indices in a directory, kept by the tantivy library, spoken to as to Elasticsearch."""

from es_simhash.engines.embedded.engine import EmbeddedEngine

__all__ = ["EmbeddedEngine"]
