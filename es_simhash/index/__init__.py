"""An index with near-duplicate detection: `Index` for synchronous engines, `AsyncIndex` for asynchronous ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core import lazily

if TYPE_CHECKING:
    from es_simhash.index.async_index import AsyncIndex
    from es_simhash.index.index import Index

__all__ = ["AsyncIndex", "Index"]

__getattr__, __dir__ = lazily(__name__, {"index.async_index": "AsyncIndex", "index.index": "Index"})
