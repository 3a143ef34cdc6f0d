"""Near-duplicate detection for the Elasticsearch or OpenSearch index that you already have.

Import what you need from here, or from `es_simhash.text` (tokens, weights and hashes), `es_simhash.quality` (evaluation
and tuning), `es_simhash.errors`, `es_simhash.gate`, `es_simhash.integrations` and `es_simhash.sketches`. Everything
deeper is private and may move.
"""

from __future__ import annotations

from es_simhash._core import lazily
from es_simhash._version import __version__

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.documents.decisions import Decision
    from es_simhash.documents.documents import Documents, canonical_only, collapsed
    from es_simhash.documents.frame import Frame
    from es_simhash.documents.sources import Rejected
    from es_simhash.engines.connect import Target, connect, connect_async
    from es_simhash.errors import DocumentError, EngineError, EsSimhashError, InputError, SchemeError
    from es_simhash.groups.canonical import Canonical
    from es_simhash.groups.groups import Groups
    from es_simhash.groups.of_index.writing import WriteOptions
    from es_simhash.groups.of_texts import Deduplicated, dedup
    from es_simhash.groups.options import GroupOptions
    from es_simhash.index import AsyncIndex, Index
    from es_simhash.live.backfill import BackfillOptions
    from es_simhash.live.erase.copies import EraseOptions
    from es_simhash.live.reindex import ReindexOptions
    from es_simhash.live.sweep.reading import UpdateOptions
    from es_simhash.plans.distinct import DistinctHit, DistinctPage, SearchOptions
    from es_simhash.plans.find_options import FindOptions
    from es_simhash.scheme.fingerprinting import Fingerprint, Fingerprints
    from es_simhash.scheme.rerank import Match, Matches
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.scope import Policy, Scope
    from es_simhash.scheme.settings import PRESETS, Layout, MinHash, Passages, SimHash
    from es_simhash.scheme.verification import Verification

_NAMES = {
    "documents.decisions": "Decision",
    "documents.documents": "canonical_only collapsed Documents",
    "documents.frame": "Frame",
    "documents.sources": "Rejected",
    "engines.connect": "Target connect connect_async",
    "errors": "DocumentError EngineError EsSimhashError InputError SchemeError",
    "groups.canonical": "Canonical",
    "groups.groups": "Groups",
    "groups.of_index.writing": "WriteOptions",
    "groups.of_texts": "Deduplicated dedup",
    "groups.options": "GroupOptions",
    "index": "AsyncIndex Index",
    "live.backfill": "BackfillOptions",
    "live.erase.copies": "EraseOptions",
    "live.reindex": "ReindexOptions",
    "live.sweep.reading": "UpdateOptions",
    "plans.distinct": "DistinctHit DistinctPage SearchOptions",
    "plans.find_options": "FindOptions",
    "scheme.fingerprinting": "Fingerprint Fingerprints",
    "scheme.rerank": "Match Matches",
    "scheme.scheme": "Scheme",
    "scheme.scope": "Policy Scope",
    "scheme.settings": "Layout MinHash PRESETS Passages SimHash",
    "scheme.verification": "Verification",
}

__all__ = [
    "PRESETS",
    "AsyncIndex",
    "BackfillOptions",
    "Canonical",
    "Decision",
    "Deduplicated",
    "DistinctHit",
    "DistinctPage",
    "DocumentError",
    "Documents",
    "EngineError",
    "EraseOptions",
    "EsSimhashError",
    "FindOptions",
    "Fingerprint",
    "Fingerprints",
    "Frame",
    "GroupOptions",
    "Groups",
    "Index",
    "InputError",
    "Layout",
    "Match",
    "Matches",
    "MinHash",
    "Passages",
    "Policy",
    "ReindexOptions",
    "Rejected",
    "Scheme",
    "SchemeError",
    "Scope",
    "SearchOptions",
    "SimHash",
    "Target",
    "UpdateOptions",
    "Verification",
    "WriteOptions",
    "__version__",
    "canonical_only",
    "collapsed",
    "connect",
    "connect_async",
    "dedup",
]

__getattr__, __dir__ = lazily(__name__, _NAMES)
