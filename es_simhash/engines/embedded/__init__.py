"""An engine in this process: indices in a directory, stored by the tantivy library, with Elasticsearch's requests."""

from es_simhash._core import lazily

TYPE_CHECKING = False  # what only claims a directory needs no engine
if TYPE_CHECKING:
    from es_simhash.engines.embedded.engine import EmbeddedEngine

__all__ = ["EmbeddedEngine"]

__getattr__, __dir__ = lazily(__name__, {"engines.embedded.engine": "EmbeddedEngine"})
