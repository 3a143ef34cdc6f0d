"""Where a gate writes before an alias or a data stream, which may have rolled over since it wrote a document.

By such a name a document would be written a second time if its client asks again. So the ids that clients have given
are looked up: a document that is there already is left as it is, or replaced in its index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from es_simhash._core.json_paths import Json
from es_simhash.plans.add import Writer
from es_simhash.plans.hits_by_id import hits_by_id
from es_simhash.plans.lost_replies import holds
from es_simhash.plans.operations import Plan
from es_simhash.scheme.own_fields import object_in


def rounds(actions: Sequence[Json]) -> Iterator[list[int]]:
    """Yield the places of actions such that no id is in a round twice, and those of an id stay in order."""
    waiting = list(range(len(actions)))
    while waiting:
        first = {actions[place]["_id"]: place for place in reversed(waiting)}
        yield sorted(first.values())
        waiting = [place for place in waiting if first[actions[place]["_id"]] != place]


def placed(
    writer: Writer, actions: Sequence[Json], sought: Collection[str], refresh: bool
) -> Plan[list[Json | str | None]]:
    """Return each action as it is to be sent, None where that is done, or why it cannot be.

    Only ``sought`` ids may be there already; with ``refresh``, since a moment ago.
    """
    ids = [str(action["_id"]) for action in actions if str(action["_id"]) in sought]
    found = (yield from hits_by_id(writer.index, ids, None, refresh=refresh)) if ids else {}
    return [_placed(writer, action, found.get(str(action["_id"]), ())) for action in actions]


def _placed(writer: Writer, action: Json, hits: Sequence[Json]) -> Json | str | None:
    if not hits:
        return {**action, "_op_type": "create"} if writer.is_stream else action
    if len(hits) > 1:
        there = " and in ".join(repr(hit["_index"]) for hit in hits)
        return f"There are documents with this id in {there}. Delete all but one of them, then send it again."
    [hit] = hits
    if _is_as_given(writer, action, hit.get("_source") or {}):
        return None
    # A data stream takes nothing else.
    version = {"_if_seq_no": hit["_seq_no"], "_if_primary_term": hit["_primary_term"]} if writer.is_stream else {}
    return {**action, "_index": hit["_index"], **version}


def _is_as_given(writer: Writer, action: Json, source: Json) -> bool:
    """Return whether a document is there with all that is given, and with a fingerprint."""
    is_ours = object_in(source, writer.documents.prefix).get("scheme") == writer.documents.scheme.id
    return is_ours and holds(source, action["_source"])
