"""An index with near-duplicate detection: `Index` for synchronous engines, `AsyncIndex` for asynchronous ones."""

from es_simhash.index.async_index import AsyncIndex
from es_simhash.index.index import Index

__all__ = ["AsyncIndex", "Index"]
