"""An engine in this process: indices in a directory, stored by the tantivy library, with Elasticsearch's requests."""

from es_simhash.engines.embedded.engine import EmbeddedEngine

__all__ = ["EmbeddedEngine"]
