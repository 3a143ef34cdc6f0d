"""The decisions of people about the documents of an index, kept in an index of their own.

The documents change, and are written again by others; what people have said of them stays. A note in the mapping of an
index says in which index its decisions are, and under which name: so a copy of the index, under whatever name it is
made, has them as well. There is one document for what one person says on one subject, so two people at once lose
nothing, and the last word of each counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

from es_simhash._core.batches import chunks
from es_simhash._core.json_codec import Json
from es_simhash.documents.decisions import (
    Decided,
    Decision,
    DecisionsThere,
    Key,
    decisions_note,
    decisions_there,
    index_of_decisions,
)
from es_simhash.errors import AccessError, IndexStateError, InputError, MissingError
from es_simhash.plans.init import make_index
from es_simhash.plans.open_index import note, noted
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    CloseReader,
    GetMappings,
    OpenReader,
    Plan,
    Reader,
    ReadPage,
    Refresh,
    Search,
)

_AT_ONCE = 1000
# A search names at most this many documents.
_MOST_NAMED = 1000
_KEYWORD: Json = {"type": "keyword"}
_MAPPING: Json = {
    "dynamic": False,
    "properties": {
        **dict.fromkeys(("about", "of", "who", "verdict"), _KEYWORD),
        "holds": {"type": "boolean"},
        "when": {"type": "date"},
    },
}


def decisions_on_all(mappings: Mapping[str, Json], prefix: str) -> Plan[Decided]:
    """Read all decisions on the documents of these indices, given by their mappings."""
    there = decisions_there(mappings, prefix)
    if there is None:
        return Decided()
    return _read(there, (yield from _all(there, {"terms": {"of": sorted(set(there.names.values()))}})))


def _all(there: DecisionsThere, query: Json) -> Plan[list[Json]]:
    found: list[Json] = []
    reader, after = (yield from _opened(there)), None
    try:
        while (page := (yield ReadPage(reader, query, _AT_ONCE, True, after=after))).hits:
            found += page.hits
            reader, after = page.reader, page.after
    except Exception:
        yield CloseReader(reader)
        raise
    # Not in a `finally`: a plan that is given up, as by Ctrl-C, can yield no more.
    yield CloseReader(reader)
    return found


def _opened(there: DecisionsThere) -> Plan[Reader]:
    try:
        return (yield OpenReader(there.index))
    except MissingError as error:
        raise _gone(there) from error


def _gone(there: DecisionsThere) -> IndexStateError:
    return IndexStateError(
        f"The index {there.index!r} is gone, with what people have decided about documents of "
        f"{', '.join(there.names)}. Restore it from a snapshot, or import the decisions again: "
        "es-simhash show INDEX --import FILE."
    )


def _read(there: DecisionsThere, hits: Iterable[Json]) -> Decided:
    found = (each for hit in hits for each in there.renamed(Decision.of_json(hit["_source"])))
    return Decided(sorted(found, key=lambda each: (each.when, each.documents, each.who)))


def decisions_on(there: DecisionsThere, documents: Iterable[Key]) -> Plan[Decided]:
    """Read the decisions on some documents, and on pairs with one of them."""
    found: list[Json] = []
    for _, some in chunks(there.keys(documents), _MOST_NAMED):
        query: Json = {"terms": {"about": list(some)}}
        try:
            reply = yield Search(there.index, {"query": query, "size": _AT_ONCE, "track_total_hits": False})
        except MissingError as error:
            raise _gone(there) from error
        hits = reply["hits"]["hits"]
        found += hits if len(hits) < _AT_ONCE else (yield from _all(there, query))
    return _read(there, found)


def decisions_in(index: str, prefix: str, documents: Iterable[Key]) -> Plan[Decided]:
    """Read the decisions on some documents of the indices behind a name."""
    there = decisions_there((yield GetMappings(index)), prefix)
    return (yield from decisions_on(there, documents)) if there else Decided()


def readable_decisions_on(there: DecisionsThere, documents: Iterable[Key]) -> Plan[Decided | None]:
    """Read the decisions on some documents; None if they are gone, or the login may not read them.

    A program that only searches need not end because people have begun to decide; what it finds says what it lacks.
    """
    try:
        return (yield from decisions_on(there, documents))
    except (AccessError, IndexStateError):
        return None


def forget(index: str, prefix: str, documents: Iterable[Key]) -> Plan[int]:
    """Delete the decisions on documents that are erased; return their number."""
    there, kept, number = decisions_there((yield GetMappings(index)), prefix), list(documents), 0
    for _, some in chunks(there.keys(kept), _MOST_NAMED) if there else ():
        assert there
        body = {"query": {"terms": {"about": list(some)}}, "size": _AT_ONCE, "_source": False}
        while hits := (yield Search(there.index, body))["hits"]["hits"]:
            _check((yield Bulk(there.index, [Action("delete", hit["_id"], None) for hit in hits])), there.index)
            yield Refresh(there.index)
            number += len(hits)
    return number


def decide(index: str, prefix: str, decisions: Iterable[Decision]) -> Plan[int]:
    """Keep decisions on documents of the indices behind a name; return their number.

    Decisions that name no index are about that behind the name, which must then be one.
    """
    mappings = yield GetMappings(index)
    named = [_with_index(each, list(mappings), index) for each in decisions]
    if not named:
        return 0
    store = yield from _make_store(prefix)
    for each in sorted({of for decision in named for of, _ in decision.documents}):
        if noted(mappings[each], decisions_note(prefix)) is None:
            yield from note(each, decisions_note(prefix), {"as": each})
    there = decisions_there((yield GetMappings(index)), prefix)
    assert there
    for _, some in chunks(map(there.named, named), _AT_ONCE):
        _check((yield Bulk(store, [_action(each) for each in some])), store)
    yield Refresh(store)
    return len(named)


def _check(results: Iterable[ActionResult], store: str) -> None:
    for result in results:
        if result.error:
            raise IndexStateError(f"Decisions could not be written to the index {store!r}: {result.error}")


def _with_index(decision: Decision, indices: list[str], name: str) -> Decision:
    found = []
    for index, id_ in decision.documents:
        if not index and len(indices) > 1:
            raise InputError(
                f"The decision on the document {id_!r} names no index, and {name!r} stands for {len(indices)} of them. "
                'Say which one: "index": NAME.'
            )
        if index and index not in indices:
            raise InputError(
                f"The decision on the document {id_!r} names the index {index!r}, which is not behind {name!r}. "
                f"Choose from: {', '.join(sorted(indices))}."
            )
        found.append((index or indices[0], id_))
    return replace(decision, documents=tuple(found))


def _make_store(prefix: str) -> Plan[str]:
    store = index_of_decisions(prefix)
    try:
        try:
            yield GetMappings(store)
        except MissingError:
            yield from make_index(store, {"mappings": _MAPPING})
    except AccessError as error:
        raise AccessError(
            f"Decisions are kept in the index {store!r}, and the login may not read or create it. Give it the "
            "privileges create_index, read, write and view_index_metadata there."
        ) from error
    return store


def _action(decision: Decision) -> Action:
    subject = [decision.documents, decision.subject[1], decision.who]
    id_ = sha256(json.dumps(subject).encode()).hexdigest()[:32]
    names = sorted({of for of, _ in decision.documents})
    about = [f"{of}/{each}" for of, each in decision.documents]
    body = {"of": names, "about": about, "verdict": decision.verdict, "holds": decision.holds, **decision.to_json()}
    return Action("index", id_, body)
