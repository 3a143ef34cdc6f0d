"""Opening an index: reading from its mapping how its documents are fingerprinted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import check_sources
from es_simhash.errors import IndexStateError, MappingError, MissingError, SchemeMismatchError
from es_simhash.plans.closed_indices import check_open, closed_index, closed_ones
from es_simhash.plans.index_rarity import noted_rarity
from es_simhash.plans.operations import GetMappings, Plan, is_remote
from es_simhash.plans.other_clusters import check_fingerprints, elsewhere, readable_mappings, unreadable
from es_simhash.scheme import mapping
from es_simhash.scheme.json_form import Functions
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.policy import Policy
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verdict.learnt import LearntRarity
from es_simhash.text.idf import IdfTable


@dataclass(frozen=True)
class Known:
    """What the caller knows of an index; whatever is missing comes from the index itself.

    - ``scheme``: a `Scheme`, or the name of a preset; without it that of the index or, for a new one, "default".
    - ``fields``: the source fields with the texts, as dotted paths.
    - ``prefix``: the object that holds our fields.
    - ``idf``: the table of weights, if the index's scheme has one.
    - ``functions``: the caller's own tokenizers and hash functions, by their names in the index's scheme.
    """

    scheme: Scheme | str | None = None
    fields: Sequence[str] | None = None
    prefix: str = DEFAULT_PREFIX
    idf: IdfTable | None = None
    functions: Functions | None = None

    def __post_init__(self) -> None:
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

    ``learnt`` is how rare features are, if that is noted.
    """

    documents: Documents
    without_fields: list[str]
    learnt: LearntRarity | None
    indices: frozenset[str]


def open_index(index: str, expected: Known) -> Plan[OpenedIndex]:
    """Read from the mapping how documents are fingerprinted; all indices with fields must agree."""
    try:
        mappings = yield from readable_mappings(index)
    except MissingError:
        for name in (yield from closed_ones(index)):
            raise closed_index(name) from None
        raise
    entries = mapping.entries(mappings, expected.prefix)
    without = sorted(name for name, entry in entries.items() if entry is None)
    if is_remote(index):
        documents = _agreed_across(index, {name: entry for name, entry in entries.items() if entry}, expected)
        for name in elsewhere(index):
            yield from check_fingerprints(name, documents)
        return OpenedIndex(documents, without, noted_rarity(mappings, documents), frozenset(mappings))
    if len(without) == len(entries):
        yield from check_open(index)
        raise no_fields(without[0] if without else index, expected.prefix)
    documents = _agreed({name: entry for name, entry in entries.items() if entry}, expected)
    return OpenedIndex(documents, without, noted_rarity(mappings, documents), frozenset(mappings))


def scheme_there(index: str, expected: Known) -> Plan[Scheme | None]:
    """Return the scheme that an index behind the name holds, or None if none says so.

    Whatever else is wrong with the indices, those who read or change them say.
    """
    entries: Mapping[str, Json | None] = {}
    with suppress(MissingError, MappingError):
        entries = mapping.entries((yield from readable_mappings(index)), expected.prefix)
    return next((_scheme_of(name, entry, expected) for name, entry in sorted(entries.items()) if entry), None)


def _agreed_across(index: str, entries: Mapping[str, Json], expected: Known) -> Documents:
    """Return how documents are fingerprinted, as indices of this cluster say, else as the caller does."""
    if entries:
        return _agreed(entries, expected)
    if not expected.fields:
        raise unreadable(elsewhere(index)[0])
    return Documents(expected.given_scheme or Scheme.preset("default"), expected.fields, expected.prefix)


@dataclass(frozen=True)
class IndicesBehind:
    """The indices behind a name, each with how its documents are fingerprinted, and what all of them demand."""

    documents: Mapping[str, Documents]
    mappings: Mapping[str, Json]
    policy: Policy


def indices_behind(index: str, expected: Known) -> Plan[IndicesBehind]:
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
        raise no_fields(next(iter(entries), index), expected.prefix)
    policy = policy_in(mappings, expected.prefix)
    return IndicesBehind({name: found.get(name, others) for name in sorted(entries)}, mappings, policy)


def no_fields(index: str, prefix: str) -> MappingError:
    """Return the error for an index without fields."""
    return MappingError(
        f"The index {index!r} has no fields for fingerprints under {prefix!r}. Add them with init, or find by "
        "candidates='more_like_this' for now."
    )


def _agreed(entries: Mapping[str, Json], expected: Known) -> Documents:
    (first, entry), *others = entries.items()
    for name, other in others:
        if (other["id"], other.get("fields")) != (entry["id"], entry.get("fields")):
            raise SchemeMismatchError(
                f"The index {first!r} holds fingerprints of the scheme {entry['id']} over {entry.get('fields')}, but "
                f"{name!r} of {other['id']} over {other.get('fields')}. Search them apart."
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


def _scheme_of(index: str, entry: Json, expected: Known) -> Scheme:
    """Return the scheme in a mapping; raise unless it is the scheme of the documents."""
    scheme = Scheme.from_json(json.dumps(entry["scheme"]), idf=expected.idf, functions=expected.functions)
    if scheme.id != entry["id"]:
        raise SchemeMismatchError(
            f"The index {index!r} holds fingerprints of the scheme {entry['id']}, but the settings beside that id in "
            f"its mapping are those of {scheme.id}. Pass the scheme that the documents were written with."
        )
    return scheme
