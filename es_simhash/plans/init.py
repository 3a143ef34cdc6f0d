"""Adding the fields to an index, or creating an index with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, is_false, splits
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.documents import Documents
from es_simhash.errors import AccessError, IndexStateError, MappingError, MissingError
from es_simhash.plans.open_index import OpenedIndex, check_open, fingerprinted, noted_rarity
from es_simhash.plans.operations import Count, CreateIndex, GetInfo, GetMappings, Plan, PutMapping
from es_simhash.plans.scope_filters import check_scope
from es_simhash.plans.text_fields import check_text_fields, derived_errors, derived_fields, field_at, refuse_foreign
from es_simhash.scheme import mapping
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.scope import Policy
from es_simhash.scheme.verdict.learnt import LearntRarity
from es_simhash.scheme.verdict.verifier import table_for

# How often to add the fields to a mapping that others change at the same time. Each program that adds a prefix
# in the meantime can cost an attempt, and the last writer must still bring the copies of all notes into ``_meta``.
_ATTEMPTS = 16


@dataclass(frozen=True)
class Initialised:
    """What `init` did: it ``created`` the index, or ``added`` fields to each existing one, by name.

    ``bodies`` holds the requests sent, or with ``dry_run`` those that would be: the whole of a new index, else the
    change of the mapping.
    """

    created: bool
    added: dict[str, list[str]]
    bodies: dict[str, Json]


def init(
    index: str,
    documents: Documents,
    create: Json | None = None,
    dry_run: bool = False,
    policy: Policy | None = None,
) -> Plan[Initialised]:
    """Add the fields to the mapping of every index that the name stands for, or create an index with them.

    ``create`` holds settings and further mappings of a new index. Nothing changes if one index cannot take the fields,
    or if the named fields cannot hold texts. A ``policy`` replaces the one that is there.
    """
    wanted = documents.scheme.mapping(documents.prefix, documents.fields)
    if policy is not None:
        wanted = mapping.with_policy(wanted, policy)
    try:
        present = yield GetMappings(index)
    except MissingError:
        body = new_index(index, wanted, create or {})
        _check_policy({index: body["mappings"]}, policy)
        for error in derived_errors(index, derived_fields(body["mappings"], documents.fields, documents.fields)):
            raise error from None
        made_by_others = None if dry_run else (yield from make_index(index, body))
        if made_by_others is None:
            return Initialised(True, {index: list(mapping.leaf_paths(wanted["properties"]))}, {index: body})
        present = made_by_others
    yield from check_open(index)
    _check_policy(present, policy)
    changes = {name: mapping.merge(name, there, wanted) for name, there in present.items()}
    bodies = {name: change.body for name, change in changes.items() if change.body}
    yield from check_text_fields(present, documents)
    for name in bodies:
        yield from refuse_foreign(name, documents)
    if not dry_run:
        for name in bodies:
            yield from bring(name, wanted)
    return Initialised(False, {name: change.added for name, change in changes.items()}, bodies)


def _check_policy(mappings: Mapping[str, Json], policy: Policy | None) -> None:
    """Refuse a policy whose fields cannot be read from documents."""
    if policy and policy.scope:
        check_scope(mappings, policy.scope)


def make_index(index: str, body: Json) -> Plan[dict[str, Json] | None]:
    """Create an index; return its mapping, instead of an error, if somebody else has just created it."""
    try:
        yield CreateIndex(index, body)
    except IndexStateError as error:
        try:
            present: dict[str, Json] = yield GetMappings(index)
        except MissingError:
            raise error from None
        return present
    return None


def bring(index: str, wanted: Json) -> Plan[None]:
    """Add what the mapping of one index lacks, and look again until it is complete.

    Others may give it another scheme or policy at the same time; they cannot erase our note by writing their own (see
    `es_simhash.scheme.notes`).
    """
    there = (yield GetMappings(index))[index]
    for _ in range(_ATTEMPTS):
        change = mapping.merge(index, there, wanted)
        if change.body is None:
            return
        before = there
        try:
            yield PutMapping(index, change.body)
            there = (yield GetMappings(index))[index]
        except (AccessError, IndexStateError):
            if change.is_needed:
                raise
            return
        except MappingError:
            # Somebody has just claimed the prefix for something else, or the mapping cannot take the fields.
            there = (yield GetMappings(index))[index]
            if there == before:
                raise
    if mapping.merge(index, there, wanted).is_needed:
        raise IndexStateError(
            f"Others changed the mapping of the index {index!r} each time the fields were added. "
            "Find the other programs that run init, then run it again."
        )


def new_index(index: str, wanted: Json, create: Json) -> Json:
    """Return the request that creates an index with the fields and with further settings and mappings."""
    mappings: Json = dict(create.get("mappings") or {})
    change = mapping.merge(index, mappings, wanted)
    return {**create, "mappings": with_properties(mappings, change.body or {})}


def with_properties(mappings: Json, change: Json) -> Json:
    """Return the mapping of a new index with a change: fields are added to its objects, and ``_meta`` is replaced."""
    properties: Json = dict(mappings.get("properties") or {})
    for name, added in change["properties"].items():
        there: Json = properties.get(name) or {}
        inner = (there.get("properties") or {}) | added["properties"]
        properties[name] = {**there, **added, "properties": inner}
    return {**mappings, **change, "properties": properties}


@dataclass(frozen=True, repr=False)
class Info(Result):
    """An index: its engine, its scheme and its policy, and the number of its fingerprints by status.

    ``without_fields`` lists the indices behind the name that have no fields: none of their documents has a fingerprint.
    ``rarity`` is how rare features are, if that was learnt; ``table`` is the id of what texts are compared by.
    ``unscoped`` counts the documents without a value in a field of the policy's scope; None without a scope, or if the
    engine does not know which documents have the field.
    """

    engine: str
    indices: list[str]
    without_fields: list[str]
    scheme: str
    preset: str
    fields: list[str]
    prefix: str
    documents: int
    fingerprinted: int
    statuses: dict[str, int]
    rarity: LearntRarity | None
    policy: Policy
    unscoped: int | None
    table: str | None

    @property
    def without(self) -> int:
        """Number of documents without a fingerprint of the scheme."""
        return self.documents - self.fingerprinted

    def shown(self) -> Shown:
        """Return what the index has, for people."""
        heading = (
            f"{', '.join(self.indices)}: {counted(self.documents, 'document')}, {self.without:,} without fingerprint"
        )
        rows = [
            ("engine", self.engine),
            ("indices", ", ".join(self.indices)),
            *([("without fields", ", ".join(self.without_fields))] if self.without_fields else []),
            ("preset", self.preset),
            ("text fields", ", ".join(self.fields)),
            *([("policy", str(self.policy))] if self.policy.to_json() else []),
            ("documents", f"{self.documents:,}"),
            *([("in no scope", f"{self.unscoped:,}")] if self.unscoped else []),
            ("with fingerprints", f"{self.fingerprinted:,}"),
            *([("without", f"{self.without:,}")] if self.without else []),
            *(
                (f"status {status}", f"{count:,}")
                for status, count in self.statuses.items()
                if count and status != "ok"
            ),
        ]
        return Shown(heading, ("property", ""), rows, len(rows))


def describe(index: str, opened: OpenedIndex) -> Plan[Info]:
    """Count the documents of an index by their fingerprint fields."""
    engine = yield GetInfo()
    mappings = yield GetMappings(index)
    documents = opened.documents
    scheme, prefix = documents.scheme, documents.prefix
    total = yield Count(index, {"match_all": {}})
    made = yield from fingerprinted(index, documents)
    learnt = noted_rarity(mappings, documents)
    table = table_for(scheme, scheme.verification, learnt.rarity if learnt else None)
    statuses = {}
    for status in (*STATUSES, DEFERRED):
        statuses[status] = yield Count(index, {"term": {f"{prefix}.status": status}})
    return Info(
        " ".join([engine.distribution, *([".".join(map(str, engine.version))] if engine.version else [])]),
        sorted(mappings),
        opened.without_fields,
        scheme.id,
        scheme.name,
        list(documents.fields),
        prefix,
        total,
        made,
        statuses,
        learnt,
        documents.policy,
        (yield from _unscoped(index, opened, mappings)),
        table.id if table else None,
    )


def _unscoped(index: str, opened: OpenedIndex, mappings: Mapping[str, Json]) -> Plan[int | None]:
    scope = opened.documents.policy.scope
    if scope is None or not all(_is_searched(each, path) for each in mappings.values() for path in scope.paths):
        return None
    have = {"bool": {"filter": [{"exists": {"field": path}} for path in scope.paths]}}
    without: int = yield Count(index, {"bool": {"must_not": [have]}})
    return without


def _is_searched(mapping: Json, path: str) -> bool:
    """Return whether the engine knows which documents have a field: it may leave what is new unmapped."""
    if kind := field_at(mapping, path).get("type"):
        # Of a constant, documents may or may not have a value.
        return bool(kind != "constant_keyword")
    above = [mapping, *(field_at(mapping, name) for name, _ in splits(path))]
    return not any(is_false(each.get(setting)) for each in above for setting in ("dynamic", "enabled"))
