"""Writing documents to an index."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from es_simhash._core.batches import OnProgress
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import (
    Document,
    Documents,
    Slot,
    Task,
    checked_id,
    id_of,
    prepared,
    results,
    tasks_of,
    without_rejected,
)
from es_simhash.documents.sources import OnReject, Rejected
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.check import Checked, SeenDocuments, check_fingerprinted
from es_simhash.plans.find_options import FindOptions, QueryDocument, SearchTerms
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    GetDocuments,
    Plan,
    Refresh,
    attempt,
    retry,
    retry_all,
)
from es_simhash.scheme.fingerprinting import Fingerprint
from es_simhash.scheme.mapping import (
    CANONICAL,
    GROUP,
    IS_CANONICAL,
    NAME_BYTES,
    NAMES,
    Membership,
    new_name,
    replacing,
    stored_in,
)
from es_simhash.scheme.own_fields import object_in
from es_simhash.scheme.rerank import Match, nearest_first

# The metadata that helpers.bulk reads from a document, most of it also with an underscore; a bulk request has none.
_WITH_UNDERSCORE = ("routing", "if_seq_no", "if_primary_term", "retry_on_conflict", "version", "version_type")
_METADATA = {f"_{name}": name for name in _WITH_UNDERSCORE} | {
    name: name for name in (*_WITH_UNDERSCORE, "pipeline", "require_alias", "dynamic_templates")
}

# What the names of the indices behind a data stream begin with, and no other.
_BACKING = ".ds-"


@dataclass
class WriteCounts:
    """The number of actions done and ``refused``, with the reason for each refusal."""

    done: int = 0
    refused: int = 0
    rejected: list[Rejected] = field(default_factory=list)

    def add(self, batch: WriteCounts, on_progress: OnProgress[WriteCounts] | None, on_reject: OnReject | None) -> None:
        """Add the counts of a batch; keep its rejected documents unless ``on_reject`` takes them."""
        self.done += batch.done
        self.refused += batch.refused
        batch.rejected.sort(key=lambda one: one.position)
        if on_reject is None:
            self.rejected += batch.rejected
        else:
            for one in batch.rejected:
                on_reject(one)
        if on_progress:
            on_progress(self)

    def reject(self, one: Rejected) -> None:
        """Count an action that was not done."""
        self.refused += 1
        self.rejected.append(one)


@dataclass
class Writer:
    """A writer to an index, which waits up to ``patience`` seconds for an engine that is away or overloaded.

    With ``grouping``, by which near-duplicates are found, documents get their groups as well. Of the ``indices`` behind
    the name, each stands for itself. If what is written is to ``refresh``, `show` has to end the writing.
    """

    index: str
    documents: Documents
    refresh: bool
    patience: float
    grouping: SearchTerms | None = None
    indices: frozenset[str] = frozenset()
    _pressure: RequestSize = field(default_factory=RequestSize)
    # The names that were written to, and are still to be refreshed.
    _hidden: dict[str, None] = field(default_factory=dict)

    @property
    def rolls(self) -> bool:
        """Whether the name is that of an alias or a data stream, which may stand for another index the next time."""
        return self.index not in self.indices

    @property
    def is_stream(self) -> bool:
        """Whether the name is that of a data stream, which takes nothing but ``create``."""
        return any(name.startswith(_BACKING) for name in self.indices)

    def write(
        self, actions: Sequence[Document], first: int, written: WriteCounts, *, is_all: bool = False
    ) -> Plan[None]:
        """Perform actions in the form of ``helpers.bulk``, with the fields; ``first`` is the position of the first.

        ``written`` receives each result as soon as it is known, even if this raises. Actions that are known to be all
        (``is_all``) are refreshed by their own request, if one takes them.
        """
        rejected: set[int] = set()

        def reject(one: Rejected) -> None:
            rejected.add(one.position)
            written.reject(replace(one, position=one.position + first))

        parsed = [_action(action) for action in (yield from self._made(actions, reject))]
        positions = [position + first for position in range(len(actions)) if position not in rejected]

        def take(places: Sequence[int], answers: Sequence[ActionResult]) -> None:
            if answers[0].index_error and all(answer.index_error for answer in answers):
                raise answers[0].index_error
            for place, result in zip(places, answers, strict=True):
                if result.error is None:
                    written.done += 1
                    if self.refresh and not (is_all and len(answers) == len(parsed)):
                        self._hidden[parsed[place].index or self.index] = None
                else:
                    reason, place_given, may_pass = result.error, positions[place], result.may_pass
                    written.reject(Rejected(id=result.id, position=place_given, reason=reason, may_pass=may_pass))

        rolls = any((action.index or self.index) not in self.indices for action in parsed)
        yield from send(Bulk(self.index, parsed, self.refresh and is_all, rolls), take, self._pressure, self.patience)

    def show(self, patience: float) -> Plan[None]:
        """Make all that was written visible to searches: once for each name, however many documents were written."""
        while self._hidden:
            index, _ = self._hidden.popitem()
            yield from retry(Refresh(index), patience)

    def _made(self, actions: Sequence[Document], reject: OnReject) -> Plan[Iterator[Json]]:
        """Return the actions with the fields."""
        terms = self.grouping
        if terms is None:
            return prepared(self.documents, actions, reject)
        tasks = tasks_of(self.documents, actions)
        yield from retry_all(lambda: give_groups(terms, tasks), self.patience)
        return without_rejected(results(tasks), reject)


def _action(action: Mapping[str, Any]) -> Action:
    """Return an action in the form that engines take."""
    rest = dict(action)
    op_type = rest.pop("_op_type", "index")
    id_, index = checked_id(action), rest.pop("_index", None)
    rest.pop("_id", None)
    metadata = {inner: rest.pop(outer) for outer, inner in _METADATA.items() if outer in rest}
    if op_type == "update" and not isinstance(rest.get("_source", {}), Mapping):
        metadata["_source"] = rest.pop("_source")
    body = None if op_type == "delete" else rest.get("_source", rest)
    return Action(op_type, id_, body, index, metadata or None)


# The index, where an action names it, and the id.
_Key = tuple[str | None, str]


def request(prefix: str) -> FindOptions:
    """Return how the matches of new documents are found."""
    return FindOptions(source=[f"{prefix}.{name}" for name in (GROUP, CANONICAL, IS_CANONICAL, "content")])


def give_groups(terms: SearchTerms, tasks: Sequence[Task]) -> Plan[None]:
    """Give a group to each document of some actions that was fingerprinted."""
    newcomers = list(_newcomers(tasks))
    if not newcomers:
        return
    # Otherwise, what was just written would not be found; a login that may not do it goes without.
    yield from attempt(Refresh(terms.index))
    before = yield from _before(terms, newcomers)
    # What exists already will not be created.
    newcomers = [each for each in newcomers if not (each.action.get("_op_type") == "create" and each.key in before)]
    for each in newcomers:
        each.before = before.get(each.key, {}) if each.key else {}
        each.there = stored_in(each.stored(terms.documents))
    moving = {each.key for each in newcomers if not each.stays(terms.documents)}
    staying = [each for each in newcomers if each.key not in moving]
    for each in staying:
        each.take(each.there)
    assignment = _Assignment(terms, tasks, staying)
    yield from assignment.give([each for each in newcomers if each.key in moving])


@dataclass
class _Newcomer:
    """A document of the task at a ``place``.

    ``before`` has fields of the document that it replaces, ``there`` those of its group.
    """

    place: int
    action: Document
    slot: Slot
    made: tuple[Fingerprint, Json]
    is_merged: bool
    before: Json = field(default_factory=dict)
    there: Json = field(default_factory=dict)

    @property
    def key(self) -> _Key | None:
        """The index and the id of the document; None if the engine makes the id."""
        return _key(self.action)

    def stored(self, documents: Documents) -> Json:
        """Return our fields of the document that it replaces."""
        return object_in(self.before, documents.prefix)

    def whole(self) -> Json:
        """Return the document as it will be, as far as that is known: an update keeps what it does not give."""
        return {**(self.before if self.is_merged else {}), **self.slot.document}

    def stays(self, documents: Documents) -> bool:
        """Return whether it keeps the group that it has."""
        stored, (_, fields), scope = self.stored(documents), self.made, documents.policy.scope
        if stored.get(GROUP) is None or any(stored.get(name) != fields[name] for name in ("scheme", "content")):
            return False
        return scope is None or scope.values_of(self.before) == scope.values_of(self.whole())

    def take(self, group: Json) -> None:
        """Give it the fields of a group instead of those that it has or brings."""
        self.slot.group = replacing(self.there, group) if self.is_merged else group

    def stand(self, name: str, size: int | None = None) -> Membership:
        """Let it stand for itself in a group."""
        own = Membership(name, size, self.key[1] if self.key else name, True)
        self.take(own.fields())
        return own


def _newcomers(tasks: Iterable[Task]) -> Iterator[_Newcomer]:
    for place, task in enumerate(tasks):
        for name, slot in task.slots.items():
            if slot.fingerprint and slot.fields and task.problem is None:
                yield _Newcomer(place, task.action, slot, (slot.fingerprint, slot.fields), name == "doc")


def _key(action: Mapping[str, object]) -> _Key | None:
    id_, index = id_of(action), action.get("_index")
    return None if id_ is None else (None if index is None else str(index), id_)


def _before(terms: SearchTerms, newcomers: Sequence[_Newcomer]) -> Plan[dict[_Key, Json]]:
    """Read the documents that these may replace."""
    documents = terms.documents
    source = [f"{documents.prefix}.{name}" for name in ("scheme", "content", *NAMES)]
    if documents.policy.scope:
        source += documents.policy.scope.paths
    asked: dict[str, dict[_Key, str | None]] = defaultdict(dict)
    for each in newcomers:
        if each.key:
            routing = each.action.get("_routing", each.action.get("routing"))
            asked[each.key[0] or terms.index][each.key] = routing
    found: dict[_Key, Json] = {}
    for index, routings in asked.items():
        ids = [id_ for _, id_ in routings]
        # Behind an alias, several indices may have the id: then nothing is known.
        replies: list[Json] = (yield from attempt(GetDocuments(index, ids, source, list(routings.values())))) or []
        there = zip(routings, replies, strict=False)
        found |= {key: reply.get("_source") or {} for key, reply in there if reply["found"]}
    return found


class _Assignment:
    """The groups of the documents of one request.

    Documents in the index that are in no group yet are to stand for the new ones that they match.
    """

    def __init__(self, terms: SearchTerms, tasks: Sequence[Task], staying: Sequence[_Newcomer]) -> None:
        self._terms = terms
        self._tasks = tasks
        self._seen = SeenDocuments(terms)
        # The groups given so far, by the ids under which the documents of the request are matches.
        self._given: dict[str, Membership] = {}
        # Matches that the request itself changes or deletes do not count, apart from those that stay.
        kinds = [(task, task.action.get("_op_type", "index")) for task in tasks]
        changing = [task for task, kind in kinds if kind == "delete" or (task.slots and kind != "create")]
        self._leaving = {_key(task.action) for task in changing} - {each.key for each in staying}
        # The groups that documents in the index begin, and the new ones in them.
        self._begun: dict[tuple[str, str], str] = {}
        self._joining: dict[str, list[_Newcomer]] = defaultdict(list)

    def give(self, newcomers: Sequence[_Newcomer]) -> Plan[None]:
        """Give each of them a group."""
        # Numbers below zero are not ids of others.
        known = {-1 - number: each for number, each in enumerate(newcomers)}
        wanted = {number: self._wanted(each) for number, each in known.items()}
        made = {number: each.made for number, each in known.items()}
        checking = yield from check_fingerprinted(self._seen, wanted, made)
        waiting = iter(known.items())
        following = next(waiting, None)
        for place, task in enumerate(self._tasks):
            # A later action on the same document replaces it.
            if key := _key(task.action):
                self._seen.forget(key[1])
            while following and following[1].place == place:
                number, each = following
                self._given[each.key[1] if each.key else str(number)] = self._decided(each, next(checking))
                following = next(waiting, None)
        yield from self._write_begun()

    def _wanted(self, each: _Newcomer) -> QueryDocument:
        index, id_ = each.key or (None, None)
        return QueryDocument.of_document(self._terms.documents, each.whole(), id_, index)

    def _decided(self, each: _Newcomer, checked: Checked) -> Membership:
        """Give a document its group, and return its place there."""
        there = [match for match in checked.in_index if not self._is_leaving(match)]
        matches = sorted(chain(there, checked.earlier), key=nearest_first(self._terms.criteria))
        grouped = [(match, own) for match in matches if (own := self._group_of(match))]
        standing = next(((match, own) for match, own in grouped if own.is_canonical), None)
        if standing:
            return self._join(each, *standing)
        if grouped:
            return each.stand(grouped[0][1].group)
        if matches:
            return self._join(each, matches[0], self._begin(matches[0]))
        # Nothing is near an empty text: its group is settled.
        return each.stand(self._new_name(each), 1 if checked.in_index.status == "empty" else None)

    def _is_leaving(self, match: Match) -> bool:
        return not self._leaving.isdisjoint([(None, match.id), (match.index, match.id)])

    def _group_of(self, match: Match) -> Membership | None:
        """Return the place that a match has in a group, or will have."""
        if not match.index:
            return self._given[match.id]
        own = self._own(match)
        if (name := own.get(GROUP)) is not None:
            return Membership(str(name), None, str(own.get(CANONICAL, match.id)), own.get(IS_CANONICAL) is True)
        name = self._begun.get((match.index, match.id))
        return None if name is None else Membership(name, None, match.id, True)

    def _begin(self, match: Match) -> Membership:
        """Name the group in which a document in the index without one is to stand for others."""
        name = new_name(match.index, match.id, str(self._own(match).get("content")))
        self._begun[match.index, match.id] = name
        return Membership(name, None, match.id, True)

    def _own(self, match: Match) -> Json:
        return object_in(match.source, self._terms.documents.prefix)

    def _join(self, each: _Newcomer, match: Match, other: Membership) -> Membership:
        """Let a match stand for a document, unless it is canonical in the same group already."""
        stored = each.stored(self._terms.documents)
        if stored.get(GROUP) == other.group and stored.get(IS_CANONICAL) is True:
            return each.stand(other.group)
        own = Membership(other.group, None, other.canonical, False)
        each.take(own.fields(match.distance, match.similarity))
        self._joining[other.group].append(each)
        return own

    def _new_name(self, each: _Newcomer) -> str:
        if each.key is None:
            return secrets.token_urlsafe(NAME_BYTES)
        index, id_ = each.key
        return new_name(index or self._terms.index, id_, str(each.made[1]["content"]))

    def _write_begun(self) -> Plan[None]:
        """Let documents stand for the new ones, which do so themselves where these have changed in the meantime."""
        by_index: dict[str, dict[str, str]] = defaultdict(dict)
        for (index, id_), name in self._begun.items():
            by_index[index][id_] = name
        for index, names in by_index.items():
            begun = yield from self._written(index, names)
            for name in names.values():
                for each in self._joining[name] if name not in begun else ():
                    each.stand(name)

    def _written(self, index: str, names: Mapping[str, str]) -> Plan[set[str]]:
        """Write the groups of documents that are still as they were found; return the names of those that have them."""
        prefix, begun = self._terms.documents.prefix, list[str]()
        replies: list[Json] = yield GetDocuments(index, [*names], [f"{prefix}.{name}" for name in ("content", GROUP)])
        actions, done = [], set[str]()
        for (id_, name), reply in zip(names.items(), replies, strict=True):
            own = object_in(reply.get("_source"), prefix)
            if own.get(GROUP) == name:  # another writer has just done so
                done.add(name)
            elif own.get(GROUP) is None and new_name(index, id_, str(own.get("content"))) == name:
                version = {"if_seq_no": reply["_seq_no"], "if_primary_term": reply["_primary_term"]}
                part = {"doc": {prefix: Membership(name, None, id_, True).fields()}}
                actions.append(Action("update", id_, part, index, version))
                begun.append(name)
        results = (yield Bulk(index, actions)) if actions else []
        return done | {name for name, result in zip(begun, results, strict=True) if result.error is None}
