"""The indexing helper: documents and bulk actions with the fields of their fingerprints, and hits without duplicates.

The caller's documents and actions are never altered: they are copied as far as they change. Actions have the forms of
``helpers.bulk``: the document in ``_source``, or next to ``_id``, ``_op_type`` and the other metadata; of an update the
same with ``doc``, ``upsert`` and so on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from typing import Any, TypeAlias

from es_simhash._core.batches import Items, async_chunks, chunks, prefetched
from es_simhash._core.json_codec import Json, sets_value_at
from es_simhash.documents.frame import AnyFrame, documents_of
from es_simhash.documents.sources import (
    OnReject,
    Rejected,
    as_id,
    async_with_some_text,
    body_of_action,
    check_sources,
    text_of,
    with_some_text,
)
from es_simhash.errors import DocumentError, InputError
from es_simhash.scheme import mapping, own_fields
from es_simhash.scheme.fingerprinting import Fingerprint, Fingerprints
from es_simhash.scheme.mapping import CANONICAL, DEFAULT_PREFIX, GROUP, IS_CANONICAL, check_prefix
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Policy

Document: TypeAlias = Mapping[str, Any]

# dict first: it is quickest to test.
_MAPPINGS = (dict, Mapping)

# Actions that are fingerprinted at once: as many as the clients send at a time.
_BATCH = 500


@dataclass(frozen=True)
class Documents:
    """Documents whose texts are in ``fields`` (dotted paths), fingerprinted by a scheme into the object ``prefix``.

    The ``policy`` says which of them are compared at all.

    >>> documents = Documents(Scheme(), ["title", "body"])
    >>> documents.prefix
    'dedup'
    """

    scheme: Scheme
    fields: Sequence[str]
    prefix: str = DEFAULT_PREFIX
    policy: Policy = field(default_factory=Policy)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", check_sources(self.fields))
        check_prefix(self.prefix)

    def text_of(self, document: Document) -> str:
        """Return the text of a document (see `es_simhash.documents.sources`).

        >>> documents.text_of({"title": "Storm", "body": "Trains stood still."})
        'Storm\\nTrains stood still.'
        """
        return text_of(document, self.fields)

    def add_fields(self, document: Document) -> Json:
        """Return the document with the fields of its fingerprint.

        >>> list(documents.add_fields({"title": "Storm"}))
        ['title', 'dedup']
        """
        [action] = without_rejected(self._prepared((0, [{"_source": document}])), None)
        fingerprinted: Json = action["_source"]
        return fingerprinted

    def add_fields_to_all(self, documents: Iterable[Document] | AnyFrame) -> Iterator[Json]:
        """Yield documents with the fields of their fingerprints; documents are read as they are needed.

        If none of them has one of the text fields, or none of the first 1,000 or 8 million characters, a
        `DocumentError` names the fields that there are, and nothing is yielded.

        >>> ["dedup" in each for each in documents.add_fields_to_all(rows)]
        [True, True, True]
        """
        wrapped = ({"_source": document} for document in documents_of(documents))
        return (action["_source"] for action in self.actions(wrapped))

    def actions(self, actions: Iterable[Document] | AnyFrame, on_reject: OnReject | None = None) -> Iterator[Json]:
        """Yield actions, as either client's ``helpers.bulk`` takes them, with the fields.

        Documents that are indexed or created get them, and so do updates that give all source fields. An update that
        gives only some gets the status ``deferred``, since the whole text is not known here. Scripts and deletes pass
        unchanged. A document that cannot be read raises a `DocumentError` that names it; with ``on_reject``, it is
        passed to that function and left out. Documents that all lack the text fields raise one as
        in `add_fields_to_all`.

        While a batch is being sent, a thread makes the next one.

        >>> [action["_id"] for action in documents.actions(rows)]  # helpers.bulk(client, documents.actions(rows))
        ['1', '2', '3']
        """
        return prepared(self, with_some_text(documents_of(actions), self.fields, body_of_action), on_reject)

    async def async_actions(
        self, actions: Items[Document] | AnyFrame, on_reject: OnReject | None = None
    ) -> AsyncIterator[Json]:
        """Yield the same for ``helpers.async_bulk``.

        >>> async def ids():
        ...     return [action["_id"] async for action in documents.async_actions(rows)]
        >>> asyncio.run(ids())
        ['1', '2', '3']
        """
        import asyncio  # see `es_simhash.engines.base`

        some = async_with_some_text(documents_of(actions), self.fields, body_of_action)
        async for chunk in async_chunks(some, _BATCH):
            for done in without_rejected(await asyncio.to_thread(self._prepared, chunk), on_reject):
                yield done

    @cached_property
    def names(self) -> list[str]:
        """The names of the fields, which lie in the object ``prefix``."""
        return own_fields.names(self.scheme)

    @cached_property
    def all_names(self) -> list[str]:
        """The names of these fields, of those of a group, and of a tag."""
        return [*self.names, *mapping.NAMES, *own_fields.TAG_PROPERTIES]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The names of the fields, for look-ups."""
        return frozenset(self.names)

    @cached_property
    def _replaced(self) -> frozenset[str]:
        """The names that the fields replace in a document, which may also be written with dots."""
        return frozenset(f"{self.prefix}.{name}" for name in self.names) | {self.prefix}

    def fields_of(self, texts: Sequence[str]) -> list[Json | InputError]:
        """Return the fields of each text, or why it has none.

        >>> [fields["status"] for fields in documents.fields_of(["It rains.", ""])]
        ['short', 'empty']
        """
        made: list[Json | InputError] = []
        for batch in self.batches(texts):
            made += [batch] if isinstance(batch, InputError) else batch[1]
        return made

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[Fingerprints, list[Json]] | InputError]:
        """Yield fingerprints and their fields, batch by batch; where a text has none, yield the reason.

        >>> [len(fields) for _, fields in documents.batches(["It rains.", "It snows."])]
        [2]
        """
        done = 0
        while done < len(texts):
            try:
                for batch in self.scheme.fingerprint_batches(texts[done:]):
                    chunk = texts[done : done + len(batch)]
                    fields = list(own_fields.write(self.scheme, self.scheme.id, chunk, batch))
                    done += len(batch)
                    yield batch, fields
            except InputError as error:
                # The texts before the one that cannot be read are done by now.
                if error.position is None:
                    raise
                done += 1
                yield error

    def _prepared(self, batch: tuple[int, Sequence[Document]]) -> list[Json | Rejected]:
        """Return a batch of actions, given with the position of its first, with their fields."""
        first, actions = batch
        return list(results(tasks_of(self, actions, with_fingerprints=False), first))


def prepared(documents: Documents, actions: Iterable[Document], on_reject: OnReject | None) -> Iterator[Json]:
    """Yield the same as `Documents.actions` for some of all actions, which may all lack a text."""
    for batch in prefetched(documents._prepared, chunks(actions, _BATCH)):
        yield from without_rejected(batch, on_reject)


def tasks_of(documents: Documents, actions: Iterable[Document], *, with_fingerprints: bool = True) -> list[Task]:
    """Return actions in progress: their texts are fingerprinted, and may get groups before their results."""
    tasks = [Task(documents, action) for action in actions]
    slots = [(task, slot) for task in tasks for slot in task.slots.values() if slot.text is not None]
    places = iter(slots)
    for batch in documents.batches([slot.text or "" for _, slot in slots]):
        if isinstance(batch, InputError):
            task, _ = next(places)
            task.problem = batch.problem
            continue
        fingerprints, made = batch
        each: Iterable[Fingerprint | None] = fingerprints if with_fingerprints else [None] * len(made)
        for (_, slot), fingerprint, fields in zip(islice(places, len(made)), each, made, strict=True):
            slot.fingerprint, slot.fields = fingerprint, fields
    return tasks


def results(tasks: Iterable[Task], first: int = 0) -> Iterator[Json | Rejected]:
    """Yield the results of tasks, or why they have none; ``first`` is the position of the first."""
    return map(_result, tasks, count(first))


def _result(task: Task, position: int) -> Json | Rejected:
    try:
        return task.result()
    except DocumentError as error:
        return Rejected.given(task.id, position, error.problem)


def without_rejected(found: Iterable[Json | Rejected], on_reject: OnReject | None) -> Iterator[Json]:
    """Yield results without the rejected ones; those are handed on in their turns."""
    for result in found:
        if isinstance(result, Rejected):
            result.hand_to(on_reject)
        else:
            yield result


def fingerprinted(documents: Documents, texts: Sequence[str]) -> Iterator[tuple[Fingerprint, Json]]:
    """Yield the fingerprint and the fields of each text."""
    if len(texts) == 1 and (only := own_fields.of_text(documents.scheme, documents.scheme.id, texts[0])):
        yield only
        return
    for batch in documents.batches(texts):
        if isinstance(batch, InputError):
            raise batch
        yield from zip(*batch, strict=True)


def readable_text(documents: Documents, source: Json) -> str | None:
    """Return the text of a document; None if it has no readable one."""
    try:
        return documents.text_of(source)
    except DocumentError:
        return None


def unchanged_text(documents: Documents, source: Json) -> str | None:
    """Return the text of a document, unless it has changed since it was fingerprinted."""
    text, own = readable_text(documents, source), source.get(documents.prefix)
    if text is None or not isinstance(own, dict) or own.get("content") != own_fields.content_hash(text):
        return None
    return text


@dataclass
class Slot:
    """A document in an action, and the fields to add once its text is fingerprinted: its fingerprint, and the group."""

    document: Document
    text: str | None
    fields: Json | None = None
    fingerprint: Fingerprint | None = None
    group: Json = field(default_factory=dict)
    emptied: Json = field(default_factory=dict)


@dataclass
class Task:
    """An action in progress: its documents by their names in it ("" for the action's own).

    With a ``problem`` it has no result.
    """

    documents: Documents
    action: Document
    slots: dict[str, Slot] = field(default_factory=dict)
    problem: str | None = None
    _is_wrapped: bool = field(init=False)
    _body: Document = field(init=False)

    def __post_init__(self) -> None:
        try:
            self._read()
        except DocumentError as error:
            self.problem = error.problem
            self.slots.clear()

    @property
    def id(self) -> str | None:
        """The id that the action names."""
        return id_of(self.action)

    def _read(self) -> None:
        check_mapping(self.action, "is")
        checked_id(self.action)
        self._is_wrapped = _is_wrapped(self.action)
        self._body = check_mapping(self.action["_source"] if self._is_wrapped else self.action, "has a body")
        kind = self.action.get("_op_type", "index")
        if kind in ("index", "create"):
            self._read_slot("", self._body)
        elif kind == "update":
            self._read_update()
        elif kind != "delete":
            raise DocumentError(f"has the _op_type {_quoted(kind)}. Give index, create, update or delete.")

    def result(self) -> Json:
        """Return the action with the fields; raise its problem as a `DocumentError`."""
        if self.problem:
            raise DocumentError(self.problem)
        made = {name: self._with_fields(slot) for name, slot in self.slots.items()}
        body = made.get("") or {**self._body, **made}
        return {**self.action, "_source": body} if self._is_wrapped else body

    def _read_slot(self, name: str, document: Document) -> None:
        self.slots[name] = Slot(document, text_of(document, self.documents.fields))

    def _read_update(self) -> None:
        """Fingerprint an update that gives all source fields; defer one that gives only some."""
        if self._body.get("upsert") is not None:
            upsert = check_mapping(self._body["upsert"], "has an upsert")
            if self._body.get("scripted_upsert"):
                # The script decides the text.
                self.slots["upsert"] = Slot(upsert, None, {"status": own_fields.DEFERRED})
            else:
                self._read_slot("upsert", upsert)
        document = check_mapping(self._body.get("doc") or {}, "has a doc")
        given = [sets_value_at(document, path) for path in self.documents.fields]
        if all(given):
            self._read_slot("doc", document)
        elif self._body.get("doc_as_upsert"):
            names = ", ".join(self.documents.fields)
            raise DocumentError(f"is upserted without all of its source fields. Give {names} (null where empty).")
        elif any(given):
            self.slots["doc"] = Slot(document, None, own_fields.deferred(self.documents.scheme))
        if "doc" in self.slots:
            # An update is merged into the document, so a null removes what the new fingerprint lacks; and the group,
            # which was that of the old text.
            self.slots["doc"].emptied = dict.fromkeys((*self.documents.names, mapping.GROUP))

    def _with_fields(self, slot: Slot) -> Json:
        """Copy the document with the fields; whatever else our object holds stays."""
        prefix, kept = self.documents.prefix, slot.document.get(self.documents.prefix)
        if kept is None or kept == []:
            kept = {}
        # A group that is given replaces all fields of another.
        replaced = self.documents._own.union(mapping.NAMES) if slot.group else self.documents._own
        kept = _without(replaced, check_mapping(kept, f"has, where the fields belong in {prefix!r}, a value"))
        fields = {**slot.emptied, **kept, **(slot.fields or {}), **slot.group}
        return {**_without(self.documents._replaced, slot.document), prefix: fields}


def _is_wrapped(action: Document) -> bool:
    """Return whether the body is in ``_source``, which in an update may instead select what the reply holds."""
    source = action.get("_source")
    is_update = action.get("_op_type") == "update"
    return isinstance(source, _MAPPINGS) or ("_source" in action and not is_update)


def _without(names: frozenset[str], document: Document) -> Document:
    if names.isdisjoint(document):  # as nearly always
        return document
    return {name: value for name, value in document.items() if name not in names}


def id_of(action: Any) -> str | None:
    """Return the id that an action names, if any, to say which it is; of what is none, the beginning."""
    if not isinstance(action, _MAPPINGS):
        return None
    try:
        return checked_id(action)
    except DocumentError:
        return _quoted(action["_id"])


def checked_id(action: Document) -> str | None:
    """Return the id that an action names, if any: a text, or the digits of a whole number."""
    named = action.get("_id")
    if named is None or named == "":
        return named
    if (id_ := as_id(named)) is not None:
        return id_
    if isinstance(named, int) and not isinstance(named, bool):
        raise DocumentError("has an _id of more than a thousand digits. Give a shorter one.")
    raise DocumentError(f"has the _id {_quoted(named)}, of type {type(named).__name__}. Give a text or a whole number.")


def _quoted(value: object) -> str:
    """Return the beginning of what Python shows of a value, which may be nested, huge, or an error."""
    try:
        return f"{value!r:.80}"
    except Exception:  # whatever the value's own class raises
        return f"(a {type(value).__name__} that cannot be shown)"


def check_mapping(value: Any, has_what: str) -> Document:
    """Return the value if it is a mapping; ``has_what`` begins the problem otherwise."""
    if not isinstance(value, _MAPPINGS):
        raise DocumentError(f"{has_what} of type {type(value).__name__}. Give a mapping.")
    return value


def canonical_only(prefix: str = DEFAULT_PREFIX) -> Json:
    """Return a filter for canonical documents and those in no group.

    The total of hits and all aggregations then count no duplicates. What a duplicate says is found only if its
    canonical document is found, too.

    >>> len(index.search({"query": canonical_only()}))
    3
    """
    alone = {"bool": {"must_not": [{"exists": {"field": f"{prefix}.{GROUP}"}}]}}
    return {"bool": {"should": [{"term": {f"{prefix}.{IS_CANONICAL}": True}}, alone], "minimum_should_match": 1}}


def collapsed(body: Json, prefix: str = DEFAULT_PREFIX) -> Json:
    """Return a search request that shows only the best hit of a canonical document and its duplicates.

    It counts the canonical documents of all hits as ``aggs.distinct``. Every document must be in a group, even alone:
    the engines take all documents without a canonical one for one. So write groups with ``singles``.

    >>> collapsed({"query": {"match_all": {}}})["collapse"]
    {'field': 'dedup.canonical'}
    """
    field = f"{prefix}.{CANONICAL}"
    own: Json = body.get("aggs") or body.get("aggregations") or {}
    aggregations = {**own, "distinct": {"cardinality": {"field": field}}}
    rest = {name: value for name, value in body.items() if name != "aggregations"}
    return {**rest, "collapse": {"field": field}, "aggs": aggregations}
