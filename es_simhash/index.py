"""An index with near-duplicate detection: `Index` for synchronous engines, `AsyncIndex` for asynchronous ones.

Both run the same plans (`es_simhash.plans`) and differ in nothing but ``await``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash._core.batched import Items, async_chunks, chunks
from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import Stop
from es_simhash.documents.actions import Document
from es_simhash.documents.documents import Documents
from es_simhash.documents.painless.stored_scripts import Stored
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import AsyncEngine, Engine, FromThread, run, run_async
from es_simhash.engines.connect import connect, connect_async
from es_simhash.errors import InputError
from es_simhash.plans.add import OnWritten, Writer, Written
from es_simhash.plans.check import Checked, SeenDocuments, check
from es_simhash.plans.find_options import FindOptions, FindRequest
from es_simhash.plans.index_plans import IndexPlans, Known
from es_simhash.plans.info import Info, describe
from es_simhash.plans.init import Initialised
from es_simhash.plans.install_pipeline import IngestPipeline, PipelineRemoved
from es_simhash.plans.install_scripts import InstalledScripts
from es_simhash.plans.operations import CheckFiles, FilesChecked, Plan, Refresh
from es_simhash.scheme.query import By
from es_simhash.scheme.rerank import Matches
from es_simhash.scheme.scheme import Scheme

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from es_simhash.documents.rejected import OnReject
    from es_simhash.groups.of_index.options import GroupOptions
    from es_simhash.groups.of_index.result import Grouped
    from es_simhash.groups.of_index.run import OnProgress as OnGrouped
    from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions
    from es_simhash.groups.of_index.writing import OnProgress as OnGroupsWritten
    from es_simhash.live.backfill.options import BackfillOptions
    from es_simhash.live.doctor.finding import Finding
    from es_simhash.live.reindex.plan import Reindexed
    from es_simhash.live.reindex.survey import ReindexOptions
    from es_simhash.live.removal import Removed
    from es_simhash.live.sweep.options import UpdateOptions
    from es_simhash.live.sweep.progress import OnProgress, Progress
    from es_simhash.plans.explain.explanation import Explanation

Result = TypeVar("Result")

# How many searches go to the engine at once, and how many documents are fingerprinted and sent at once.
_SEARCHES = 50
_WRITES = 500


class Index:
    """An index, or for reading several: a name, an alias, a pattern, or names with commas.

    ``target`` is a client of Elasticsearch or OpenSearch that you hold, a URL, or a directory for the embedded engine;
    without one it is the directory ``.es-simhash`` (see `es_simhash.engines.connect.connect`). The scheme and the
    source ``fields`` are read from the index once `init` has stored them there; what is given besides must agree. Of
    several indices those without our fields are left out of what is read and removed (see `without_fields`).
    """

    def __init__(self, name: str, target: Any = None, **known: Unpack[Known]) -> None:
        self._plans = IndexPlans(name, **known)
        self.name = name
        self.engine = connect(target)
        self._is_own = self.engine is not target

    def _run(self, plan: Plan[Result]) -> Result:
        return run(plan, self.engine)

    def init(self, *, create: Json | None = None, dry_run: bool = False) -> Initialised:
        """Add the fields to the index's mapping, or make the index; nothing else of it changes.

        ``create`` holds settings and mappings for the case that it is made. With ``dry_run`` nothing is done.
        """
        return self._run(self._plans.init(create, dry_run))

    @property
    def documents(self) -> Documents:
        """How the index's documents are fingerprinted: scheme, source fields, prefix."""
        return self._run(self._plans.documents())

    @property
    def without_fields(self) -> list[str]:
        """The indices behind the name that have no fields of fingerprints, so that nothing is found in them."""
        return self._run(self._plans.opened()).without_fields

    @property
    def scheme(self) -> Scheme:
        """The scheme that the index holds fingerprints of."""
        return self.documents.scheme

    def add(
        self,
        documents: Iterable[Document],
        *,
        refresh: bool = False,
        patience: float = 600.0,
        on_written: OnWritten | None = None,
    ) -> Written:
        """Write documents with their fields, or any actions in the form that ``helpers.bulk`` takes.

        A document's id is its ``_id``. As there, a document with fields named like metadata (``version``, ``routing``,
        ``pipeline``) is given in ``_source``. What cannot be written is told in the result, and the rest is written.
        With ``on_written``, which is called after each batch with what became of it, the result only counts.

        An engine that is away or overloaded is waited for ``patience`` seconds. Documents without an ``_id`` are not
        sent again to one that is away, since it may have written them.
        """
        written, writer = Written(), Writer(self.name, self._run(self._plans.documents_to_write()), refresh, patience)
        for first, chunk in chunks(documents, _WRITES):
            batch = Written()
            try:
                self._run(writer.write(chunk, first, batch))
            finally:
                written.add(batch, on_written)
        return written

    def delete(self, ids: Iterable[str], *, refresh: bool = False, patience: float = 600.0) -> Written:
        """Remove documents."""
        return self.add(({"_op_type": "delete", "_id": id_} for id_ in ids), refresh=refresh, patience=patience)

    def refresh(self) -> None:
        """Make everything that was written visible to searches."""
        self.engine.perform(Refresh(self.name))

    def find(
        self,
        text: str | None = None,
        *,
        id: str | None = None,
        doc: Document | None = None,
        **options: Unpack[FindOptions],
    ) -> Matches:
        """The near-duplicates of a text, of a document in the index, or of one that is not; see `FindRequest`."""
        kind, item = _one(text=text, id=id, doc=doc)
        return self._run(self._plans.find(kind, item, FindRequest(**options)))

    def find_many(
        self,
        texts: Iterable[str] | None = None,
        *,
        ids: Iterable[str] | None = None,
        docs: Iterable[Document] | None = None,
        **options: Unpack[FindOptions],
    ) -> Iterator[Matches]:
        """The same of many, which are read as they are needed; an empty text has no matches."""
        kind, items = _one(text=texts, id=ids, doc=docs)
        chosen = FindRequest(**options)
        for first, chunk in chunks(items, _SEARCHES):
            yield from self._run(self._plans.find_many(kind, chunk, chosen, first))

    def explain(
        self, a: str, b: str, *, by: By | None = None, distance: int | None = None, similarity: float | None = None
    ) -> Explanation:
        """Why two documents of the index are near-duplicates, or are none; see `es_simhash.plans.explain`.

        The criteria are those of `find`.
        """
        return self._run(self._plans.explain((a, b), FindRequest(by=by, distance=distance, similarity=similarity)))

    def check(
        self, documents: Iterable[Document], *, on_reject: OnReject | None = None, **options: Unpack[FindOptions]
    ) -> Iterator[Checked]:
        """For each document that may be added: its near-duplicates in the index, and earlier in the same list.

        A document that cannot be read raises a `DocumentError` that names it, or is handed to ``on_reject``.
        """
        seen = SeenDocuments(self.documents, FindRequest(**options))
        for _, chunk in chunks(documents, _SEARCHES):
            yield from self._run(check(self.name, seen, chunk, on_reject))

    def backfill(
        self,
        options: BackfillOptions | None = None,
        *,
        on_progress: OnProgress | None = None,
        on_reject: OnReject | None = None,
    ) -> Progress:
        """Give the documents that are in the index their fingerprints; see `es_simhash.live.backfill`.

        Those that have a current one are left alone, so that a run which was stopped is gone on with by running again.
        What cannot be done is told to ``on_reject``, and counted.
        """
        from es_simhash.live.backfill.run import Backfill

        return Backfill(self.engine, self.name, self.documents, options).run(on_progress, on_reject)

    def reindex(
        self,
        destination: str,
        options: ReindexOptions | None = None,
        *,
        on_progress: OnProgress | None = None,
        on_reject: OnReject | None = None,
    ) -> Reindexed:
        """Copy the index, with fingerprints, into another that is made for it; see `es_simhash.live.reindex`.

        The copy gets the scheme and the fields that were given to this `Index`, else those that the index has. To go on
        where a run was stopped, and to catch up with what was changed since, run it again. Nothing is deleted,
        except a copy just made that nothing could be written to.
        """
        from es_simhash.live.reindex.run import Reindexing

        documents = self._plans.documents_of_copy()
        return Reindexing(self.engine, self.name, destination, documents, options).run(on_progress, on_reject)

    def remove_fields(
        self,
        options: UpdateOptions | None = None,
        *,
        on_progress: OnProgress | None = None,
        on_reject: OnReject | None = None,
    ) -> Removed:
        """Take the fields of fingerprints out of all documents, and our note out of the mapping; it cannot lose fields.

        To go on where a run was stopped, run it again. What cannot be done is told to ``on_reject``, and counted.
        """
        from es_simhash.live.removal import Removal

        return Removal(self.engine, self.name, self.documents, options).run(on_progress, on_reject)

    def doctor(self, options: BackfillOptions | None = None) -> list[Finding]:
        """What would go wrong with a backfill, found out without changing anything; see `es_simhash.live.doctor`.

        Before the fields are in the index it tells whether they can be brought there.
        """
        from es_simhash.live.backfill.survey import diagnose

        return self._run(diagnose(self.name, self._plans.wanted_documents(), options, self._plans.brings_fields))

    def group(self, options: GroupOptions | None = None, *, on_progress: OnGrouped | None = None) -> Grouped:
        """All groups of near-duplicates among the documents that have fingerprints; close the result in the end.

        Nothing is written. ``on_progress`` hears how many documents were read.
        """
        from es_simhash.groups.of_index.run import group

        return group(self.engine, self.name, self.documents, options, on_progress)

    def write_groups(
        self, grouped: Grouped, options: WriteOptions | None = None, *, on_progress: OnGroupsWritten | None = None
    ) -> GroupsWritten:
        """Store groups on their documents, for searches to use; see `es_simhash.groups.of_index.writing.write_groups`.

        Documents that were changed or deleted since they were read are left out of their groups, which are then made
        anew. To go on where a run was stopped, group and write again.
        """
        from es_simhash.groups.of_index.writing import write_groups

        return write_groups(self.engine, grouped, self.documents, options, on_progress)

    def pipeline(self, *, install: bool = False, default: bool = False) -> IngestPipeline:
        """The ingest pipeline by which the server makes the fingerprints of whatever is written to the index.

        It is only shown, unless it is to be ``install``-ed, and made the ``default`` pipeline of the index. What it
        cannot do gets the status ``deferred``, for `backfill` (docs/pipeline.md).
        """
        return self._run(self._plans.pipeline(install, default))

    def remove_pipeline(self) -> PipelineRemoved:
        """Take the ingest pipeline away again; documents keep what they have."""
        return self._run(self._plans.remove_pipeline())

    def scripts(self, name: str | None = None) -> list[Stored]:
        """Scripts and search templates by which people search the index without Python (docs/dev-tools.md).

        All of their names begin with ``name``, which is ``es-simhash`` unless another is given.
        """
        return self._run(self._plans.scripts(name))

    def install_scripts(self, name: str | None = None) -> InstalledScripts:
        """Put the `scripts` on the server, where all of its indices can use them."""
        return self._run(self._plans.install_scripts(name))

    def remove_scripts(self, name: str | None = None) -> list[str]:
        """Take the `scripts` off the server; return the names of those that were there."""
        return self._run(self._plans.remove_scripts(name))

    def info(self) -> Info:
        """What the index holds."""
        return self._run(describe(self.name, self._run(self._plans.opened())))

    def check_files(self) -> FilesChecked:
        """Read all files of an embedded index, damaged or not, and compare them with their checksums."""
        return self.engine.perform(CheckFiles(self.name))

    def close(self) -> None:
        """Let go of what was opened here; a client, or an engine, that was given stays open."""
        if self._is_own:
            self.engine.close()

    def __enter__(self) -> Self:
        """The index itself, closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the index."""
        self.close()


class AsyncIndex:
    """What `Index` is, for asynchronous clients; iterables may be asynchronous too."""

    def __init__(self, name: str, target: Any = None, **known: Unpack[Known]) -> None:
        self._plans = IndexPlans(name, **known)
        self._target = target
        self._engine: AsyncEngine | None = None
        self.name = name

    async def engine(self) -> AsyncEngine:
        """The engine of the index, connected to when it is first needed."""
        if self._engine is None:
            self._engine = await connect_async(self._target)
        return self._engine

    async def _run(self, plan: Plan[Result]) -> Result:
        return await run_async(plan, await self.engine())

    async def init(self, *, create: Json | None = None, dry_run: bool = False) -> Initialised:
        """See `Index.init`."""
        return await self._run(self._plans.init(create, dry_run))

    async def documents(self) -> Documents:
        """See `Index.documents`."""
        return await self._run(self._plans.documents())

    async def without_fields(self) -> list[str]:
        """See `Index.without_fields`."""
        return (await self._run(self._plans.opened())).without_fields

    async def scheme(self) -> Scheme:
        """See `Index.scheme`."""
        return (await self.documents()).scheme

    async def add(
        self,
        documents: Items[Document],
        *,
        refresh: bool = False,
        patience: float = 600.0,
        on_written: OnWritten | None = None,
    ) -> Written:
        """See `Index.add`."""
        own = await self._run(self._plans.documents_to_write())
        written, writer = Written(), Writer(self.name, own, refresh, patience)
        async for first, chunk in async_chunks(documents, _WRITES):
            batch = Written()
            try:
                await self._run(writer.write(chunk, first, batch))
            finally:
                written.add(batch, on_written)
        return written

    async def delete(self, ids: Iterable[str], *, refresh: bool = False, patience: float = 600.0) -> Written:
        """See `Index.delete`."""
        deletes = ({"_op_type": "delete", "_id": id_} for id_ in ids)
        return await self.add(deletes, refresh=refresh, patience=patience)

    async def refresh(self) -> None:
        """See `Index.refresh`."""
        await (await self.engine()).perform(Refresh(self.name))

    async def find(
        self,
        text: str | None = None,
        *,
        id: str | None = None,
        doc: Document | None = None,
        **options: Unpack[FindOptions],
    ) -> Matches:
        """See `Index.find`."""
        kind, item = _one(text=text, id=id, doc=doc)
        return await self._run(self._plans.find(kind, item, FindRequest(**options)))

    async def find_many(
        self,
        texts: Items[str] | None = None,
        *,
        ids: Items[str] | None = None,
        docs: Items[Document] | None = None,
        **options: Unpack[FindOptions],
    ) -> AsyncIterator[Matches]:
        """See `Index.find_many`."""
        kind, items = _one(text=texts, id=ids, doc=docs)
        chosen = FindRequest(**options)
        async for first, chunk in async_chunks(items, _SEARCHES):
            for matches in await self._run(self._plans.find_many(kind, chunk, chosen, first)):
                yield matches

    async def explain(
        self, a: str, b: str, *, by: By | None = None, distance: int | None = None, similarity: float | None = None
    ) -> Explanation:
        """See `Index.explain`."""
        return await self._run(
            self._plans.explain((a, b), FindRequest(by=by, distance=distance, similarity=similarity))
        )

    async def check(
        self, documents: Items[Document], *, on_reject: OnReject | None = None, **options: Unpack[FindOptions]
    ) -> AsyncIterator[Checked]:
        """See `Index.check`."""
        seen = SeenDocuments(await self.documents(), FindRequest(**options))
        async for _, chunk in async_chunks(documents, _SEARCHES):
            for checked in await self._run(check(self.name, seen, chunk, on_reject)):
                yield checked

    async def backfill(
        self,
        options: BackfillOptions | None = None,
        *,
        on_progress: OnProgress | None = None,
        on_reject: OnReject | None = None,
    ) -> Progress:
        """See `Index.backfill`."""
        from es_simhash.live.backfill.run import Backfill

        documents = await self.documents()
        return await self._in_thread(
            lambda engine, stop: Backfill(engine, self.name, documents, options, stop=stop).run(on_progress, on_reject)
        )

    async def reindex(
        self,
        destination: str,
        options: ReindexOptions | None = None,
        *,
        on_progress: OnProgress | None = None,
        on_reject: OnReject | None = None,
    ) -> Reindexed:
        """See `Index.reindex`."""
        from es_simhash.live.reindex.run import Reindexing

        documents = self._plans.documents_of_copy()
        return await self._in_thread(
            lambda engine, stop: Reindexing(engine, self.name, destination, documents, options, stop).run(
                on_progress, on_reject
            )
        )

    async def remove_fields(
        self,
        options: UpdateOptions | None = None,
        *,
        on_progress: OnProgress | None = None,
        on_reject: OnReject | None = None,
    ) -> Removed:
        """See `Index.remove_fields`."""
        from es_simhash.live.removal import Removal

        documents = await self.documents()
        return await self._in_thread(
            lambda engine, stop: Removal(engine, self.name, documents, options, stop).run(on_progress, on_reject)
        )

    async def doctor(self, options: BackfillOptions | None = None) -> list[Finding]:
        """See `Index.doctor`."""
        from es_simhash.live.backfill.survey import diagnose

        plans = self._plans
        return await self._run(diagnose(self.name, plans.wanted_documents(), options, plans.brings_fields))

    async def group(self, options: GroupOptions | None = None, *, on_progress: OnGrouped | None = None) -> Grouped:
        """See `Index.group`; it is done in a thread."""
        from es_simhash.groups.of_index.run import group

        documents = await self.documents()
        return await self._in_thread(
            lambda engine, stop: group(engine, self.name, documents, options, on_progress, stop)
        )

    async def write_groups(
        self, grouped: Grouped, options: WriteOptions | None = None, *, on_progress: OnGroupsWritten | None = None
    ) -> GroupsWritten:
        """See `Index.write_groups`; it is done in a thread."""
        from es_simhash.groups.of_index.writing import write_groups

        documents = await self.documents()
        return await self._in_thread(
            lambda engine, stop: write_groups(engine, grouped, documents, options, on_progress, stop)
        )

    async def _in_thread(self, work: Callable[[Engine, Stop], Result]) -> Result:
        """Run a long job in a thread, which ends when nobody awaits it any more."""
        engine, stop = FromThread(await self.engine(), asyncio.get_running_loop()), Stop()
        working = asyncio.ensure_future(asyncio.to_thread(work, engine, stop))
        try:
            await asyncio.wait([working])
        except BaseException:
            stop.set()
            await asyncio.wait([working])
            working.exception()  # else asyncio logs that nobody has retrieved it
            raise
        return await working

    async def pipeline(self, *, install: bool = False, default: bool = False) -> IngestPipeline:
        """See `Index.pipeline`."""
        return await self._run(self._plans.pipeline(install, default))

    async def remove_pipeline(self) -> PipelineRemoved:
        """See `Index.remove_pipeline`."""
        return await self._run(self._plans.remove_pipeline())

    async def scripts(self, name: str | None = None) -> list[Stored]:
        """See `Index.scripts`."""
        return await self._run(self._plans.scripts(name))

    async def install_scripts(self, name: str | None = None) -> InstalledScripts:
        """See `Index.install_scripts`."""
        return await self._run(self._plans.install_scripts(name))

    async def remove_scripts(self, name: str | None = None) -> list[str]:
        """See `Index.remove_scripts`."""
        return await self._run(self._plans.remove_scripts(name))

    async def info(self) -> Info:
        """See `Index.info`."""
        return await self._run(describe(self.name, await self._run(self._plans.opened())))

    async def check_files(self) -> FilesChecked:
        """See `Index.check_files`."""
        return await (await self.engine()).perform(CheckFiles(self.name))

    async def close(self) -> None:
        """See `Index.close`."""
        if self._engine is not None and self._engine is not self._target:
            await self._engine.close()

    async def __aenter__(self) -> Self:
        """The index itself, closed at the end of the block."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the index."""
        await self.close()


def _one(**given: Any) -> tuple[str, Any]:
    """The one thing that was given, and its kind."""
    found = [(kind, value) for kind, value in given.items() if value is not None]
    if len(found) != 1:
        raise InputError(
            f"Near-duplicates of {len(found)} things were asked for. Give one of a text, an id, a document."
        )
    [(kind, value)] = found
    return kind, value
