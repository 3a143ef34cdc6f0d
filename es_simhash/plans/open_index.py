"""Opening an index: reading from its mapping how its documents are fingerprinted."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import quote

from es_simhash._core.arguments import check_types
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, is_true
from es_simhash.documents.decisions import DecisionsThere, decisions_there
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import check_sources
from es_simhash.errors import AccessError, EngineError, IndexStateError, MappingError, MissingError, SchemeMismatchError
from es_simhash.plans.operations import (
    Count,
    GetAliases,
    GetMappings,
    GetResource,
    GetSettings,
    Plan,
    PutMapping,
    Search,
    attempt,
    is_remote,
)
from es_simhash.plans.text_fields import text_fields
from es_simhash.scheme import mapping
from es_simhash.scheme import mapping as notes
from es_simhash.scheme.learnt_rarity import LearntRarity, is_of, is_of_scheme
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.scheme import Functions, Scheme
from es_simhash.scheme.scope import Policy
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier, table_for
from es_simhash.text.features import IdfTable


@dataclass(frozen=True)
class KnownIndex:
    """What the caller knows of an index; whatever is missing comes from the index itself.

    - ``scheme``: a `Scheme`, or the name of a preset; without it that of the index or, for a new one, "default".
    - ``fields``: the source fields with the texts, as dotted paths.
    - ``prefix``: the object that holds our fields.
    - ``idf``: the table of weights, if the index's scheme has one.
    - ``functions``: the caller's own tokenizers and hash functions, by their names in the index's scheme.
    """

    scheme: Scheme | str | None = None
    fields: str | Sequence[str] | None = None
    prefix: str = DEFAULT_PREFIX
    idf: IdfTable | None = None
    functions: Functions | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if isinstance(self.scheme, str):
            object.__setattr__(self, "scheme", Scheme.preset(self.scheme))
        if self.fields is not None:
            object.__setattr__(self, "fields", check_sources(self.fields))

    @property
    def given_scheme(self) -> Scheme | None:
        """The scheme, also that of a preset."""
        return self.scheme if isinstance(self.scheme, Scheme) else None


@dataclass(frozen=True)
class OpenedIndex:
    """How the documents of an index are fingerprinted, and the indices behind its name, also those ``without_fields``.

    ``learnt`` is how rare features are, if that is noted, and ``decisions`` where those of people are, if any.
    """

    documents: Documents
    without_fields: list[str]
    learnt: LearntRarity | None
    indices: frozenset[str]
    decisions: DecisionsThere | None = None


def open_index(index: str, expected: KnownIndex) -> Plan[OpenedIndex]:
    """Read from the mapping how documents are fingerprinted; all indices with fields must agree."""
    try:
        mappings = yield from readable_mappings(index)
    except MissingError:
        for name in (yield from closed_ones(index)):
            raise closed_index(name) from None
        raise
    entries = mapping.entries(mappings, expected.prefix)
    without = sorted(name for name, entry in entries.items() if entry is None)
    decisions = decisions_there(mappings, expected.prefix)
    if is_remote(index):
        documents = _agreed_across(index, {name: entry for name, entry in entries.items() if entry}, expected)
        for name in elsewhere(index):
            yield from check_fingerprints(name, documents)
        return OpenedIndex(documents, without, noted_rarity(mappings, documents), frozenset(mappings), decisions)
    if len(without) == len(entries):
        yield from check_open(index)
        first = without[0] if without else index
        raise no_fields(first, expected.prefix, mappings.get(first))
    documents = _agreed({name: entry for name, entry in entries.items() if entry}, expected)
    return OpenedIndex(documents, without, noted_rarity(mappings, documents), frozenset(mappings), decisions)


def scheme_there(index: str, expected: KnownIndex) -> Plan[Scheme | None]:
    """Return the scheme that an index behind the name holds, or None if none says so.

    Whatever else is wrong with the indices, those who read or change them say.
    """
    entries: Mapping[str, Json | None] = {}
    with suppress(MissingError, MappingError):
        entries = mapping.entries((yield from readable_mappings(index)), expected.prefix)
    return next((_scheme_of(name, entry, expected) for name, entry in sorted(entries.items()) if entry), None)


def _agreed_across(index: str, entries: Mapping[str, Json], expected: KnownIndex) -> Documents:
    """Return how documents are fingerprinted, as indices of this cluster say, else as the caller does."""
    if entries:
        return _agreed(entries, expected)
    if not expected.fields:
        other = elsewhere(index)[0]
        raise MappingError(
            f"{other!r} {_ONLY_SEARCHED}. To search it, name the fields with its texts, and its scheme unless it is "
            f"the default; or name an index of this cluster with the same scheme alongside it: 'articles,{other}'."
        )
    return Documents(expected.given_scheme or Scheme.preset("default"), expected.fields, expected.prefix)


@dataclass(frozen=True)
class IndicesBehind:
    """The indices behind a name, each with how its documents are fingerprinted, and what all of them demand."""

    documents: Mapping[str, Documents]
    mappings: Mapping[str, Json]
    policy: Policy


def indices_behind(index: str, expected: KnownIndex) -> Plan[IndicesBehind]:
    """Read how the documents of each index behind a name are fingerprinted, by whatever scheme.

    An index without fields is read as the caller describes it, or as the others. Without either that is an error.
    """
    mappings = yield GetMappings(index)
    entries = mapping.entries(mappings, expected.prefix)
    found = {}
    for name, entry in sorted(entries.items()):
        if entry:
            fields = None if entry.get("fields") else expected.fields
            found[name] = _agreed({name: entry}, replace(expected, scheme=None, fields=fields))
    others = next(iter(found.values()), None)
    if expected.fields:
        others = Documents(expected.given_scheme or Scheme.preset("default"), expected.fields, expected.prefix)
    if others is None:
        yield from check_open(index)
        raise no_fields(next(iter(entries), index), expected.prefix, next(iter(mappings.values()), None))
    policy = policy_in(mappings, expected.prefix)
    return IndicesBehind({name: found.get(name, others) for name in sorted(entries)}, mappings, policy)


def no_fields(index: str, prefix: str, there: Json | None = None) -> MappingError:
    """Return the error for an index without fields; its mapping names its text fields."""
    texts = text_fields(there or {})
    named = f"name its text fields ({', '.join(texts)})" if texts else "name its text fields"
    return MappingError(
        f"The index {index!r} has no fields for fingerprints under {prefix!r}. Add them with init, and {named}, or "
        "search without them: find --field PATH (candidates='more_like_this')."
    )


def _agreed(entries: Mapping[str, Json], expected: KnownIndex) -> Documents:
    (first, entry), *others = entries.items()
    for name, other in others:
        if (other["id"], other.get("fields")) != (entry["id"], entry.get("fields")):
            raise SchemeMismatchError(
                f"The index {first!r} holds fingerprints of the scheme {entry['id']} over {entry.get('fields')}, but "
                f"{name!r} of {other['id']} over {other.get('fields')}. Search them separately."
            )
    given = expected.given_scheme
    if given and given.id != entry["id"]:
        raise SchemeMismatchError(
            f"The index {first!r} holds fingerprints of the scheme {entry['id']}; the one given is "
            f"{given.id}. Leave it out to use that of the index, or choose another prefix for the new one."
        )
    scheme = given or _scheme_of(first, entry, expected)
    fields = entry.get("fields") or expected.fields
    if not fields:
        raise MappingError(
            f"The index {first!r} does not say which fields its texts are in. Name them with fields=, or call init."
        )
    if expected.fields and tuple(fields) != expected.fields:
        raise SchemeMismatchError(
            f"The index {first!r} holds fingerprints of the fields {list(fields)}; those given are "
            f"{list(expected.fields)}. Leave them out, or choose another prefix for the new ones."
        )
    return Documents(scheme, fields, expected.prefix, _agreed_policy(entries))


def policy_in(mappings: Mapping[str, Json], prefix: str) -> Policy:
    """Return what all indices demand, given by their mappings; those without fields demand nothing."""
    return _agreed_policy({name: entry for name, entry in mapping.entries(mappings, prefix).items() if entry})


def _agreed_policy(entries: Mapping[str, Json]) -> Policy:
    """Return the one policy of all indices, given by their entries; the default without any."""
    found = {name: mapping.policy_of(entry) for name, entry in entries.items()}
    (first, policy), *others = found.items() or [("", Policy())]
    for name, other in others:
        if other != policy:
            raise IndexStateError(
                f"The indices {first!r} and {name!r} have different policies: {policy.to_json()} and "
                f"{other.to_json()}. Give both the same by init, or name one of them."
            )
    return policy


def _scheme_of(index: str, entry: Json, expected: KnownIndex) -> Scheme:
    """Return the scheme in a mapping; raise unless it is the scheme of the documents."""
    scheme = Scheme.from_json(json.dumps(entry["scheme"]), idf=expected.idf, functions=expected.functions)
    if scheme.id != entry["id"]:
        raise SchemeMismatchError(
            f"The index {index!r} holds fingerprints of the scheme {entry['id']}, but the settings next to that id in "
            f"its mapping are those of {scheme.id}. Pass the scheme that the documents were written with."
        )
    return scheme


# A setting of closed indices.
CLOSED = "index.verified_before_close"


def closed_index(index: str) -> IndexStateError:
    """Return the error for a closed index."""
    return IndexStateError(f"The index {index!r} is closed. Open it with POST {index}/_open, or name another.")


def check_open(index: str) -> Plan[None]:
    """Raise if an index behind the name is closed, as far as the login may see that."""
    settings = yield from attempt(GetSettings(index))
    for name, found in (settings or {}).items():
        if is_true(found.get(CLOSED)):
            raise closed_index(name)


def closed_ones(index: str) -> Plan[list[str]]:
    """Return the closed indices that match a pattern."""
    if "*" not in index and index != "_all":
        return []
    path = f"/_resolve/index/{quote(index, safe='*,')}?expand_wildcards=closed"
    reply = yield from attempt(GetResource(path, index))  # the embedded engine closes none
    return [found["name"] for found in reply["indices"]] if reply else []


_IDS = 3
_MOST_INDICES = 10_000
_ONLY_SEARCHED = "can be searched from this cluster, and neither described nor changed"


def here(index: str) -> str:
    """Return the part of a name that is of this cluster; empty if there is none."""
    return ",".join(each for each in index.split(",") if not is_remote(each))


def elsewhere(index: str) -> list[str]:
    """Return the names of a list that are of other clusters."""
    return [each for each in index.split(",") if is_remote(each)]


def readable_mappings(index: str) -> Plan[dict[str, Json]]:
    """Read the mappings behind a name, as far as this cluster has them."""
    own = here(index)
    return (yield GetMappings(own)) if own else {}


def check_fingerprints(index: str, documents: Documents) -> Plan[None]:
    """Raise if an index of another cluster has documents, and fingerprints of other schemes only."""
    if (yield from fingerprinted(index, documents)):
        return
    path = f"{documents.prefix}.scheme"
    found = yield Search(index, {"size": _IDS, "query": {"exists": {"field": path}}, "_source": [path]})
    ids = {hit["_source"].get(documents.prefix, {}).get("scheme") for hit in found["hits"]["hits"]}
    if ids - {documents.scheme.id}:
        raise SchemeMismatchError(
            f"The index {index!r} holds fingerprints of the scheme {', '.join(sorted(map(str, ids)))}; that of the "
            f"search is {documents.scheme.id}. Give the scheme that its documents were written with."
        )


def not_from_here(index: str, doing: str) -> IndexStateError:
    """Return the error for what cannot be done across clusters."""
    names = ", ".join(map(repr, elsewhere(index)))
    return IndexStateError(f"{doing}: {names} {_ONLY_SEARCHED}. Connect to the cluster that has it (--url) for that.")


def documents_behind(index: str) -> Plan[Json]:
    """Return the query for the documents that a name (alias, pattern, list …) stands for, by the filters of aliases.

    It narrows what a point in time shows: that may be of other indices, and its id has the filters of aliases in it.
    """
    either: list[Json] = []
    if own := here(index):
        names = yield GetMappings(own)
        filters = yield from _filters(own.split(","), names)
        either += [{"bool": {"filter": [{"term": {"_index": name}}, *filters[name]]}} for name in names]
    if others := elsewhere(index):
        # Nothing describes them from here but their hits.
        by_index = {"terms": {"field": "_index", "size": _MOST_INDICES}}
        reply = yield Search(",".join(others), {"size": 0, "aggs": {"indices": by_index}})
        either.append({"terms": {"_index": [each["key"] for each in reply["aggregations"]["indices"]["buckets"]]}})
    return {"bool": {"should": either, "minimum_should_match": 1}}


def _filters(parts: Sequence[str], names: Iterable[str]) -> Plan[dict[str, list[Json]]]:
    """Return the filter of each index that only aliases with filters lead to by one of the parts of a name."""
    open_: set[str] = set()
    filters: dict[str, list[Json]] = defaultdict(list)
    for part in parts:
        pattern = re.compile(".*".join(map(re.escape, ("*" if part == "_all" else part).split("*"))))
        direct = {name for name in names if pattern.fullmatch(name)}
        open_ |= direct
        if part in direct or part.startswith("-"):
            continue
        try:
            found = yield GetAliases(part)
        except MissingError:  # a data stream
            found = {}
        for name, aliases in found.items():
            for each in (each for alias, each in aliases.items() if pattern.fullmatch(alias)):
                filters[name] += [each["filter"]] if "filter" in each else []
                open_ |= set() if "filter" in each else {name}
    shut = {name: [{"bool": {"should": each}}] for name, each in filters.items() if name not in open_ and each}
    return {name: shut.get(name, []) for name in names}


# How often to write a note into ``_meta`` that others replace at the same time.
_ATTEMPTS = 8


def noted(mapping: Json, name: str) -> Json | None:
    """Return the note of a name in a mapping, or None.

    Names begin with an underscore. Prefixes of fields, which have notes too, never do.
    """
    found = notes.note(mapping, name)
    return found if isinstance(found, dict) else None


def note(index: str, name: str, value: Json | None) -> Plan[None]:
    """Write a note into the mapping of an index, unless it is there; None removes it."""
    there = (yield GetMappings(index))[index]
    if properties := notes.change(there, name, value):
        yield PutMapping(index, {"properties": properties})


def groups_note(documents: Documents) -> str:
    """Return the name of the note that an index keeps of its groups."""
    return f"_grouped_{documents.prefix}"


def grouping_noted(mapping: Json, documents: Documents) -> Json | None:
    """Return the options in the note about groups, without the changes that groups take into account."""
    there = noted(mapping, groups_note(documents)) or {}
    return {key: there[key] for key in ("asked", "singles")} if "asked" in there else None


def forget_prefix(index: str, prefix: str) -> Plan[None]:
    """Remove the note about the fields under a prefix, and its copy."""
    there = (yield GetMappings(index))[index]
    if properties := notes.change(there, prefix, None):
        yield PutMapping(index, {"properties": properties, "_meta": notes.copies(there, {prefix: None})})


def note_in_meta(index: str, name: str, value: Json | None) -> Plan[None]:
    """Write a note that is too long for fields into ``_meta``, again until it is there; None removes it.

    Others who replace ``_meta`` at the same moment may take it away later, so it must be one that can be made again.
    """
    for _ in range(_ATTEMPTS):
        there = (yield GetMappings(index))[index]
        if notes.in_meta(there, name) == value:
            return
        yield PutMapping(index, {"_meta": notes.copies(there, {name: value})})
    raise IndexStateError(
        f"Others replaced the _meta of the index {index!r} each time a note was written there. "
        "Find out who else changes its mapping, then run it again."
    )


def note_where_allowed(index: str, name: str, value: Json | None) -> Plan[None]:
    """Write a note, or remove it, if the login may change the mapping, and the mapping can take its fields."""
    if (yield from _may_change_mapping(index)):
        with suppress(AccessError, IndexStateError, MappingError):
            yield from note(index, name, value)


def check_may_note(index: str) -> Plan[None]:
    """Raise if the login may not change the mapping of an index, or a block keeps it from being changed."""
    if not (yield from _may_change_mapping(index)):
        raise AccessError(
            f"The login may not change the mapping of {index!r}. Give it the privilege manage on the index."
        )
    yield PutMapping(index, {"properties": {}})


def _may_change_mapping(index: str) -> Plan[bool]:
    """Return whether the login may change the mapping; also True if the engine does not show it.

    Elasticsearch still allows this with the privilege to write, but warns each time that this will end.
    """
    question = {"index": [{"names": [index], "privileges": ["indices:admin/mapping/put"]}]}
    try:
        reply = yield GetResource("/_security/user/_has_privileges", index, question)
    except EngineError:  # there are no logins, or the server cannot be asked
        return True
    return bool(reply.get("has_all_requested", True))


@dataclass
class IndexRarity:
    """What comparisons of the texts of one index go by: what was ``learnt`` there, if anything was."""

    learnt: LearntRarity | None = None
    _last: Verifier | None = None

    @property
    def previous(self) -> Rarity | None:
        """The table before that one."""
        before = self.learnt.previous if self.learnt else None
        return before.rarity if before else None

    def verifier(self, settings: Settings, verification: Verification, idf: IdfTable | None) -> Verifier:
        """Return what compares texts, by ``idf`` if it is given: the last one, if it fits.

        Its tables take a while to prepare.
        """
        weights: IdfTable | Rarity | None = idf
        if idf is None:
            weights = table_for(settings, verification, self.learnt.rarity if self.learnt else None)
        last = self._last
        is_same = last is not None and last.settings is settings and last.weights is weights
        if last is None or not is_same or last.verification != verification:
            last = self._last = Verifier(settings, verification, weights)
        return last


def fingerprinted(index: str, documents: Documents) -> Plan[int]:
    """Count the documents that rarity can be learnt from."""
    return (yield Count(index, {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}))


def noted_rarity(mappings: dict[str, Json], documents: Documents) -> LearntRarity | None:
    """Return what was learnt for the scheme in one of these indices: the oldest, which no new index can replace.

    A table of other features than are compared now does not count.
    """
    scheme, found = documents.scheme, _notes(mappings, documents).values()
    ours = [each for each in found if is_of(each, scheme)]
    return LearntRarity.from_json(min(ours, key=lambda each: str(each["when"])), scheme) if ours else None


def with_outdated_rarity(mappings: dict[str, Json], documents: Documents) -> list[str]:
    """Return which of these indices note what was learnt for the scheme of features that are no longer compared."""
    scheme, found = documents.scheme, _notes(mappings, documents)
    return [name for name, each in found.items() if is_of_scheme(each, scheme) and not is_of(each, scheme)]


def note_rarity(index: str, documents: Documents, learnt: LearntRarity | None) -> Plan[None]:
    """Note in the mapping of one index what was learnt; None removes the note."""
    yield from note_in_meta(index, _rarity_note(documents), learnt.to_json(documents.scheme) if learnt else None)


def _notes(mappings: dict[str, Json], documents: Documents) -> dict[str, Json]:
    found = {index: noted(mapping, _rarity_note(documents)) for index, mapping in sorted(mappings.items())}
    return {index: note for index, note in found.items() if note}


def _rarity_note(documents: Documents) -> str:
    return f"_rarity_{documents.prefix}"


def require_fingerprints(index: str, documents: Documents) -> Plan[None]:
    """Raise if the index has documents, and none of them a fingerprint of the scheme."""
    if (yield from fingerprinted(index, documents)):
        return
    if count := (yield Count(index, {"match_all": {}})):
        raise without_fingerprints(index, documents, count)


def without_fingerprints(index: str, documents: Documents, count: int) -> IndexStateError:
    """Return the error about an index whose documents have no fingerprints."""
    return IndexStateError(
        f"None of {counted(count, 'document')} of {index!r} has a whole fingerprint, so nothing can be found among "
        f"them. Make the fingerprints first: es-simhash backfill {index}. If that was done, look whether the documents "
        f"have their texts in {', '.join(documents.fields)}."
    )
