"""The indexing helper: documents, and actions of bulk requests, with the fields of their fingerprints.

The caller's documents and actions are never altered: they are copied as far as they change.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice

from es_simhash._core.batched import Items, async_chunks, chunks
from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import prefetched
from es_simhash.documents.actions import Document, Slot, Target, Task
from es_simhash.documents.arrow.frame import AnyFrame, documents_of
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.documents.sources import async_with_some_text, body_of_action, check_sources, text_of, with_some_text
from es_simhash.errors import DocumentError, InputError
from es_simhash.scheme import mapping, own_fields
from es_simhash.scheme.fingerprint import Fingerprint, Fingerprints
from es_simhash.scheme.mapping import DEFAULT_PREFIX, check_prefix
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Policy

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
        [action] = kept(self._prepared((0, [{"_source": document}])), None)
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
            for done in kept(await asyncio.to_thread(self._prepared, chunk), on_reject):
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
    def _target(self) -> Target:
        return Target(self.scheme, self.fields, self.prefix)

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
        tasks = [Task(self._target, action) for action in actions]
        slots = _with_texts(tasks)
        made = self.fields_of([slot.text or "" for _, slot in slots])
        for (task, slot), fields in zip(slots, made, strict=True):
            if isinstance(fields, InputError):
                task.problem = fields.problem
            else:
                slot.fields = fields
        return list(results(tasks, first))


def prepared(documents: Documents, actions: Iterable[Document], on_reject: OnReject | None) -> Iterator[Json]:
    """Yield the same as `Documents.actions` for some of all actions, which may all lack a text."""
    for batch in prefetched(documents._prepared, chunks(actions, _BATCH)):
        yield from kept(batch, on_reject)


def tasks_of(documents: Documents, actions: Iterable[Document]) -> list[Task]:
    """Return actions in progress: their texts are fingerprinted, and may get groups before their results."""
    tasks = [Task(documents._target, action) for action in actions]
    slots = _with_texts(tasks)
    places = iter(slots)
    for batch in documents.batches([slot.text or "" for _, slot in slots]):
        if isinstance(batch, InputError):
            task, _ = next(places)
            task.problem = batch.problem
            continue
        for (_, slot), fingerprint, fields in zip(islice(places, len(batch[1])), *batch, strict=True):
            slot.fingerprint, slot.fields = fingerprint, fields
    return tasks


def _with_texts(tasks: Sequence[Task]) -> list[tuple[Task, Slot]]:
    return [(task, slot) for task in tasks for slot in task.slots.values() if slot.text is not None]


def results(tasks: Iterable[Task], first: int = 0) -> Iterator[Json | Rejected]:
    """Yield the results of tasks, or why they have none; ``first`` is the position of the first."""
    return map(_result, tasks, count(first))


def _result(task: Task, position: int) -> Json | Rejected:
    try:
        return task.result()
    except DocumentError as error:
        return Rejected.given(task.id, position, error.problem)


def kept(found: Iterable[Json | Rejected], on_reject: OnReject | None) -> Iterator[Json]:
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
