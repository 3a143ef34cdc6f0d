"""Documents by their ids, behind a name of several indices that may each have a document with the same id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from es_simhash._core.batched import chunks
from es_simhash._core.json_paths import Json
from es_simhash.plans.operations import Plan, Refresh, Search
from es_simhash.plans.reply_size import with_source

# Ids at once, and indices that may have each: their product is the default of index.max_result_window.
_AT_ONCE, _EACH = 500, 20


def hits_by_id(
    index: str, ids: Iterable[str], source: Sequence[str] | None, *, refresh: bool
) -> Plan[dict[str, list[Json]]]:
    """Return the documents with these ids as hits, all of an id together, with the numbers of their last changes.

    Each has the paths ``source`` of its document, or all of it. What was written a moment ago is found if the index is
    made to ``refresh``.
    """
    found: dict[str, list[Json]] = defaultdict(list)
    if refresh:
        yield Refresh(index)
    for _, some in chunks(dict.fromkeys(ids), _AT_ONCE):
        body: Json = {
            "query": {"ids": {"values": some}},
            "size": _EACH * len(some),
            "_source": False,
            "track_total_hits": False,
        }
        hits: list[Json] = (yield Search(index, body))["hits"]["hits"]
        for hit in (yield from with_source(index, hits, True if source is None else source)):
            found[hit["_id"]].append(hit)
    return dict(found)
