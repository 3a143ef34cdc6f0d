"""An index with near-duplicate detection, by an engine whose answers are awaited.

`AsyncIndex` runs the same plans as `Index`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash._core.arrow import ArrowArray, ArrowStream, Texts, each_text
from es_simhash._core.batched import Items, async_chunks
from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress
from es_simhash.documents.actions import Document
from es_simhash.documents.arrow.frame import AnyFrame, documents_of
from es_simhash.documents.documents import Documents
from es_simhash.documents.painless.stored_scripts import StoredScript
from es_simhash.documents.rejected import OnReject
from es_simhash.documents.text_sought import async_with_some_text, body_of_action
from es_simhash.engines.base import AsyncEngine, Engine, FromThread, StoppableEngine, run, run_async
from es_simhash.errors import EngineError
from es_simhash.index.async_connection import AsyncConnection
from es_simhash.index.index import SEARCHES, WRITES, only_one
from es_simhash.plans.add import Written
from es_simhash.plans.check import Checked, check
from es_simhash.plans.distinct.pages import DistinctPage, PageRequest, SearchOptions
from es_simhash.plans.find_options import FindOptions, FindRequest
from es_simhash.plans.index_plans import IndexPlans, Known
from es_simhash.plans.info import Info, describe
from es_simhash.plans.init import Initialised
from es_simhash.plans.install_pipeline import IngestPipeline, PipelineRemoved
from es_simhash.plans.install_scripts import InstalledScripts
from es_simhash.plans.operations import CheckFiles, FilesChecked, Plan, Refresh
from es_simhash.scheme.policy import Policy
from es_simhash.scheme.query import By
from es_simhash.scheme.rerank import Matches
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.verdict.verification import Level

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from es_simhash.groups.of_index.options import GroupOptions
    from es_simhash.groups.of_index.result import Grouped
    from es_simhash.groups.of_index.writing import GroupsWritten, WriteOptions
    from es_simhash.live.backfill.options import BackfillOptions
    from es_simhash.live.doctor.finding import Finding
    from es_simhash.live.erase.copies import Copies
    from es_simhash.live.erase.options import EraseOptions
    from es_simhash.live.erase.report import Erased
    from es_simhash.live.reindex.options import ReindexOptions
    from es_simhash.live.reindex.plan import Reindexed
    from es_simhash.live.removal import Removed
    from es_simhash.live.sweep.options import UpdateOptions
    from es_simhash.live.sweep.progress import Progress
    from es_simhash.plans.explain.explanation import Explanation
    from es_simhash.scheme.verdict.learnt import LearntRarity

Result = TypeVar("Result")


class AsyncIndex:
    """`Index` for asynchronous clients; iterables may be asynchronous too.

    Long jobs run in a thread, and so do their callbacks. Cancel the task to end one.
    """

    def __init__(self, name: str, target: Any = None, **known: Unpack[Known]) -> None:
        self._plans = IndexPlans(name, **known)
        self._connection = AsyncConnection(target)
        self.name = name

    async def engine(self) -> AsyncEngine:
        """Return the engine, and connect to it the first time."""
        return await self._connection.engine()

    async def _run(self, plan: Plan[Result]) -> Result:
        return await run_async(plan, await self.engine())

    async def init(
        self,
        *,
        create: Json | None = None,
        dry_run: bool = False,
        policy: Policy | None = None,
    ) -> Initialised:
        """See `Index.init`."""
        return await self._run(self._plans.init(create, dry_run, policy))

    async def documents(self) -> Documents:
        """See `Index.documents`."""
        return await self._run(self._plans.documents())

    async def indices(self) -> list[str]:
        """See `Index.indices`."""
        return sorted((await self._run(self._plans.opened())).indices)

    async def without_fields(self) -> list[str]:
        """See `Index.without_fields`."""
        return (await self._run(self._plans.opened())).without_fields

    async def scheme(self) -> Scheme:
        """See `Index.scheme`."""
        return (await self.documents()).scheme

    async def add(
        self,
        documents: Items[Document] | AnyFrame,
        *,
        refresh: bool = False,
        patience: float = PATIENCE,
        on_progress: OnProgress[Written] | None = None,
        on_reject: OnReject | None = None,
    ) -> Written:
        """See `Index.add`."""
        written, writer = Written(), await self._run(self._plans.writer(refresh, patience))
        some = async_with_some_text(documents_of(documents), writer.documents.fields, body_of_action)
        try:
            async for first, chunk in async_chunks(some, WRITES):
                batch = Written()
                try:
                    await self._run(writer.write(chunk, first, batch, is_all=first == 0 and len(chunk) < WRITES))
                finally:
                    written.add(batch, on_progress, on_reject)
        except Exception:
            with suppress(EngineError):
                await self._run(writer.show(patience=0))
            raise
        await self._run(writer.show(patience))
        return written

    async def delete(self, ids: Iterable[str], *, refresh: bool = False, patience: float = PATIENCE) -> Written:
        """See `Index.delete`."""
        deletes = ({"_op_type": "delete", "_id": id_} for id_ in ids)
        return await self.add(deletes, refresh=refresh, patience=patience)

    async def refresh(self) -> None:
        """See `Index.refresh`."""
        await (await self.engine()).perform(Refresh(self.name))

    async def warm_up(self) -> None:
        """See `Index.warm_up`."""
        await self._run(self._plans.warm_up())

    async def find(
        self,
        text: str | None = None,
        *,
        id: str | None = None,
        doc: Document | None = None,
        **options: Unpack[FindOptions],
    ) -> Matches:
        """See `Index.find`."""
        kind, item = only_one(text=text, id=id, doc=doc)
        return await self._run(self._plans.find(kind, item, FindRequest(**options)))

    async def find_many(
        self,
        texts: Items[str] | ArrowStream | ArrowArray | None = None,
        *,
        ids: Items[str] | None = None,
        docs: Items[Document] | AnyFrame | None = None,
        **options: Unpack[FindOptions],
    ) -> AsyncIterator[Matches]:
        """See `Index.find_many`."""
        kind, items = only_one(text=each_text(texts), id=ids, doc=documents_of(docs))
        chosen = FindRequest(**options)
        async for first, chunk in async_chunks(items, SEARCHES):
            for matches in await self._run(self._plans.find_many(kind, chunk, chosen, first)):
                yield matches

    async def search(self, body: Json, **options: Unpack[SearchOptions]) -> DistinctPage:
        """See `Index.search`."""
        return await self._run(self._plans.search(body, PageRequest(**options)))

    async def explain(
        self,
        a: str,
        b: str,
        *,
        by: By | None = None,
        distance: int | None = None,
        similarity: float | Level | None = None,
        numbers: float | None = None,
        scope: Scope | None = None,
    ) -> Explanation:
        """See `Index.explain`."""
        options = FindRequest(by=by, distance=distance, similarity=similarity, numbers=numbers, scope=scope)
        return await self._run(self._plans.explain((a, b), options))

    async def check(
        self,
        documents: Items[Document] | AnyFrame,
        *,
        on_reject: OnReject | None = None,
        **options: Unpack[FindOptions],
    ) -> AsyncIterator[Checked]:
        """See `Index.check`."""
        seen = await self._run(self._plans.seen_in_index(FindRequest(**options)))
        some = async_with_some_text(documents_of(documents), seen.terms.documents.fields, body_of_action)
        async for _, chunk in async_chunks(some, SEARCHES):
            for checked in await self._run(check(seen, chunk, on_reject)):
                yield checked

    async def backfill(
        self,
        options: BackfillOptions | None = None,
        *,
        on_progress: OnProgress[Progress] | None = None,
        on_reject: OnReject | None = None,
    ) -> Progress:
        """See `Index.backfill`."""
        from es_simhash.groups.of_index.reconciling import reconcile
        from es_simhash.live.backfill.run import Backfill

        documents = await self.documents()
        progress = await self._in_thread(
            lambda engine, stop: Backfill(engine, self.name, documents, options, stop=stop).run(on_progress, on_reject)
        )
        self._plans.learnt(progress.learnt)
        patience = options.patience if options else PATIENCE
        await self._in_thread(lambda engine, stop: reconcile(engine, self.name, documents, patience, stop))
        return progress

    async def reindex(
        self,
        destination: str,
        options: ReindexOptions | None = None,
        *,
        on_progress: OnProgress[Progress] | None = None,
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
        on_progress: OnProgress[Progress] | None = None,
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

    async def learn(self) -> LearntRarity:
        """See `Index.learn`."""
        from es_simhash.live.learning import learn, now

        learnt = await self._run(learn(self.name, await self.documents(), now()))
        self._plans.learnt(learnt)
        return learnt

    async def group(
        self, options: GroupOptions | None = None, *, on_progress: OnProgress[int] | None = None
    ) -> Grouped:
        """See `Index.group`."""
        from es_simhash.groups.of_index.run import group

        documents = await self.documents()
        return await self._in_thread(
            lambda engine, stop: group(engine, self.name, documents, options, on_progress, stop)
        )

    async def write_groups(
        self,
        grouped: Grouped,
        options: WriteOptions | None = None,
        *,
        on_progress: OnProgress[GroupsWritten] | None = None,
    ) -> GroupsWritten:
        """See `Index.write_groups`."""
        from es_simhash.groups.of_index.writing import write_groups

        documents = await self.documents()
        return await self._in_thread(
            lambda engine, stop: write_groups(engine, grouped, documents, options, on_progress, stop)
        )

    async def copies(
        self, ids: Iterable[str] = (), *, texts: Texts = (), options: EraseOptions | None = None
    ) -> Copies:
        """See `Index.copies`."""
        from es_simhash.live.erase.run import find_copies

        behind = await self._run(self._plans.indices_behind())
        plan = find_copies(self.name, behind, ids, each_text(texts), options)
        return await self._in_thread(lambda engine, stop: run(plan, StoppableEngine(engine, stop)))

    async def erase(
        self, copies: Copies, *, everything: bool = False, on_progress: OnProgress[Erased] | None = None
    ) -> Erased:
        """See `Index.erase`."""
        from es_simhash.live.erase.run import erase

        plan = erase(self.name, await self._run(self._plans.indices_behind()), copies, everything, on_progress)
        return await self._in_thread(lambda engine, stop: run(plan, StoppableEngine(engine, stop)))

    async def _in_thread(self, work: Callable[[Engine, Stop], Result]) -> Result:
        """Run a long job in a thread, and end it if the task is cancelled."""
        engine, stop = FromThread(await self.engine(), asyncio.get_running_loop()), Stop()
        working = asyncio.ensure_future(asyncio.to_thread(work, engine, stop))
        try:
            await asyncio.wait([working])
        except BaseException:
            stop.set()
            await asyncio.wait([working])
            # Unless somebody asks for the exception, asyncio logs it.
            if working.exception() is None and isinstance(done := working.result(), AbstractContextManager):
                done.__exit__(None, None, None)
            raise
        return await working

    async def pipeline(self, *, install: bool = False, default: bool = False) -> IngestPipeline:
        """See `Index.pipeline`."""
        return await self._run(self._plans.pipeline(install, default))

    async def remove_pipeline(self) -> PipelineRemoved:
        """See `Index.remove_pipeline`."""
        return await self._run(self._plans.remove_pipeline())

    async def scripts(self, name: str | None = None) -> list[StoredScript]:
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
        await self._connection.close()

    async def __aenter__(self) -> Self:
        """Return the index, to be closed at the end of the block."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the index."""
        await self.close()
