"""An index with near-duplicate detection, by an engine whose answers are awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash._core.arguments import check_many, options_from, wrong_type
from es_simhash._core.arrow import ArrowArray, ArrowStream, Texts, each_text
from es_simhash._core.batches import Items, OnProgress, async_chunks
from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Document, Documents
from es_simhash.documents.frame import AnyFrame, documents_of
from es_simhash.documents.sources import OnReject, async_with_some_text, body_of_action
from es_simhash.documents.stored_scripts import StoredScript
from es_simhash.engines.base import AsyncEngine, StoppableEngine, run
from es_simhash.engines.connect import Target
from es_simhash.errors import InputError
from es_simhash.index.connections import AsyncConnection
from es_simhash.plans.add import WriteCounts
from es_simhash.plans.check import Checked, check
from es_simhash.plans.distinct import DistinctPage, SearchOptions
from es_simhash.plans.find_options import FindOptions
from es_simhash.plans.index_plans import IndexPlans
from es_simhash.plans.init import Info, IngestPipeline, Initialised, InstalledScripts, PipelineRemoved, describe
from es_simhash.plans.operations import CheckFiles, FilesChecked, Plan, Refresh
from es_simhash.scheme.rerank import Matches
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Policy, Scope

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from es_simhash.documents.decisions import Decision
    from es_simhash.groups.canonical import Canonical
    from es_simhash.groups.groups import Groups
    from es_simhash.groups.keywords import GroupKeywords, WriteKeywords
    from es_simhash.groups.of_index.corpus import IndexCorpus
    from es_simhash.groups.of_index.sync import Synced
    from es_simhash.groups.of_index.writing import GroupsWritten
    from es_simhash.live.doctor.facts import Findings
    from es_simhash.live.erase.copies import Copies, Erased
    from es_simhash.live.keywords import BackfillKeywords, EraseKeywords, ReindexKeywords, UpdateKeywords
    from es_simhash.live.reindex import Reindexed
    from es_simhash.live.removal import Removed
    from es_simhash.live.sweep.writing import Progress
    from es_simhash.plans.explanation import Explanation
    from es_simhash.plans.keywords import FindKeywords, KnownIndexKeywords, MatchKeywords, SearchKeywords
    from es_simhash.scheme.learnt_rarity import LearntRarity
    from es_simhash.scheme.verification import Level

Result = TypeVar("Result")

# How many searches go to the engine at once, and how many documents are fingerprinted and sent at once.
SEARCHES = 50
WRITES = 500


class AsyncIndex:
    """An index, or several to read from: a name, an alias, a pattern, or names with commas.

    ``target`` is your client of Elasticsearch or OpenSearch, a URL, or a directory for the embedded engine; the default
    is the directory ``.es-simhash`` (see `es_simhash.connect`). The scheme and the source ``fields`` are read from the
    index once `init` has stored them there; if you give them as well, they must agree (see
    `es_simhash.plans.open_index.KnownIndex`). If the name stands for several indices, those without our fields are
    left out (see `without_fields`).

    Iterables may be asynchronous. Long jobs run in a thread, and so do their callbacks; cancel the task to end one.

    >>> index = AsyncIndex("reports", fields=["title", "body"])
    >>> (await index.init()).created
    True
    """

    def __init__(self, name: str, target: Target = None, **known: Unpack[KnownIndexKeywords]) -> None:
        self._plans = IndexPlans(name, **known)
        self._connection = AsyncConnection(target)
        self.name = name

    def __repr__(self) -> str:
        known = [f"{self.name!r} {self._connection}", str(self._plans)]
        return f"AsyncIndex({', '.join(filter(None, known))})"

    async def engine(self) -> AsyncEngine:
        """Return the engine of the target.

        >>> from es_simhash.plans.operations import Count
        >>> await (await index.engine()).perform(Count("articles", {"match_all": {}}))
        3
        """
        return await self._connection.engine()

    async def _run(self, plan: Plan[Result]) -> Result:
        return await self._connection.run(plan)

    async def init(
        self, *, create: Json | None = None, dry_run: bool = False, policy: Policy | None = None
    ) -> Initialised:
        """Add the fields to the index's mapping, or create the index; nothing else in it changes.

        ``create`` holds the settings and mappings of a new index. With ``dry_run`` nothing is changed. A ``policy`` is
        kept in the mapping, for each command and each program to follow; it replaces the one that is there, and
        ``Policy()`` lifts that.

        >>> (await index.init()).created
        False
        """
        return await self._run(self._plans.init(create, dry_run, policy))

    async def documents(self) -> Documents:
        """Return the scheme, source fields and prefix with which the index's documents are fingerprinted.

        >>> (await index.documents()).fields
        ('title', 'body')
        """
        return await self._run(self._plans.documents())

    async def indices(self) -> list[str]:
        """Return the indices that the name stood for when it was read: itself, unless it is an alias or a pattern.

        >>> await index.indices()
        ['articles']
        """
        return sorted((await self._run(self._plans.opened())).indices)

    async def without_fields(self) -> list[str]:
        """Return the indices behind the name that have no fields for fingerprints; nothing is found in them.

        >>> await index.without_fields()
        []
        """
        return (await self._run(self._plans.opened())).without_fields

    async def scheme(self) -> Scheme:
        """Return the scheme of the index's fingerprints.

        >>> (await index.scheme()).name
        'default'
        """
        return (await self.documents()).scheme

    async def add(
        self,
        documents: Items[Document] | AnyFrame,
        *,
        refresh: bool = False,
        patience: float = PATIENCE,
        on_progress: OnProgress[WriteCounts] | None = None,
        on_reject: OnReject | None = None,
    ) -> WriteCounts:
        """Write documents with their fields, or carry out actions in the form that ``helpers.bulk`` takes.

        A document's id is its ``_id``; a frame is documents, too (see `Frame`). As with ``helpers.bulk``, documents
        with fields named like metadata (``version``, ``routing``, ``pipeline``) must be given in ``_source``. The
        result lists the rejected documents; all others are written. After each batch ``on_progress`` is called with the
        result so far. With ``on_reject``, rejected documents are handed over, and only counted in the result.

        The call waits up to ``patience`` seconds for an engine that is away or overloaded. Documents without an ``_id``
        are not sent a second time to an engine that was away, since it may have written them. If none of the documents,
        or of the first thousand, has any of the text fields, a `DocumentError` names those that there are, and nothing
        is written.

        With ``refresh``, searches find what was written as soon as the call ends, even by an error.

        >>> (await index.add([{"_id": "4", "title": "Rain", "body": "It rains."}], refresh=True)).done
        1
        """
        written, writer = WriteCounts(), await self._run(self._plans.writer(refresh, patience))
        some = async_with_some_text(
            check_many("documents", documents_of(documents)), writer.documents.fields, body_of_action
        )
        try:
            async for first, chunk in async_chunks(some, WRITES):
                batch = WriteCounts()
                try:
                    await self._run(writer.write(chunk, first, batch, is_all=first == 0 and len(chunk) < WRITES))
                finally:
                    written.add(batch, on_progress, on_reject)
        except BaseException as error:
            await self._connection.clean_up(writer.show(patience=0), error)
            raise
        await self._run(writer.show(patience))
        return written

    async def delete(self, ids: Iterable[str], *, refresh: bool = False, patience: float = PATIENCE) -> WriteCounts:
        """Delete documents by their ids.

        >>> (await index.delete(["2", "3"])).done
        2
        """
        deletes = ({"_op_type": "delete", "_id": id_} for id_ in check_many("ids", ids))
        return await self.add(deletes, refresh=refresh, patience=patience)

    async def refresh(self) -> None:
        """Make all written documents visible to searches.

        >>> await index.refresh()
        """
        engine = await self.engine()
        await engine.perform(Refresh(self.name))

    async def warm_up(self) -> None:
        """Read and prepare all that the first search needs, so that it takes no longer than others.

        >>> await index.warm_up()
        """
        await self._run(self._plans.warm_up())

    async def find(
        self,
        text: str | None = None,
        *,
        id: str | None = None,
        doc: Document | None = None,
        **options: Unpack[FindKeywords],
    ) -> Matches:
        """Find the near-duplicates of a text, of a document of the index, or of a new document; see `FindOptions`.

        >>> [match.id for match in await index.find(id="1", similarity="versions")]
        ['2']
        """
        kind, item = only_one(text=text, id=id, doc=doc)
        if kind != "doc" and not isinstance(item, str):
            raise wrong_type(kind, item, "a string")
        return await self._run(self._plans.find(kind, item, options_from(FindOptions, options)))

    async def find_many(
        self,
        texts: Items[str] | ArrowStream | ArrowArray | None = None,
        *,
        ids: Items[str] | None = None,
        docs: Items[Document] | AnyFrame | None = None,
        **options: Unpack[FindKeywords],
    ) -> AsyncIterator[Matches]:
        """Find the near-duplicates of each of many, reading them as needed; an empty text has no matches.

        >>> [len(matches) async for matches in index.find_many(ids=["1", "2", "3"])]
        [1, 1, 0]
        """
        kind, items = only_one(text=each_text(texts), id=ids, doc=documents_of(docs))
        chosen = options_from(FindOptions, options)
        async for first, chunk in async_chunks(check_many(f"{kind}s", items), SEARCHES):
            for matches in await self._run(self._plans.find_many(kind, chunk, chosen, first)):
                yield matches

    async def search(self, body: Json, **options: Unpack[SearchKeywords]) -> DistinctPage:
        """Run a search of your own, and with ``distinct`` show its hits without their near-duplicates.

        ``body`` is any search request of the engine; see `SearchOptions`. Hits come as the engine ranked them. Each
        names those after it that are its near-duplicates, which are left out; more hits are read until the page is
        full.

        >>> page = await index.search({"query": {"match": {"body": "storm"}}}, distinct=True)
        >>> [(len(each.similar), each.hit["_source"]["title"]) for each in page]
        [(1, 'Storm')]
        """
        return await self._run(self._plans.search(body, options_from(SearchOptions, options)))

    async def explain(self, a: str, b: str, **options: Unpack[MatchKeywords]) -> Explanation:
        """Explain why two documents of the index are near-duplicates, or why they are not; see `MatchOptions`.

        >>> (await index.explain("1", "2")).verdict.are_duplicates
        True
        """
        return await self._run(self._plans.explain((a, b), options_from(FindOptions, options)))

    async def check(
        self,
        documents: Items[Document] | AnyFrame,
        *,
        on_reject: OnReject | None = None,
        **options: Unpack[FindKeywords],
    ) -> AsyncIterator[Checked]:
        """Find, for each new document, its near-duplicates in the index and earlier in the same list.

        A document that cannot be read raises a `DocumentError`, or is handed to ``on_reject``. One without a text to
        compare is neither new nor old (`Checked.status`); if none of them, or of the first thousand, has any of the
        text fields, a `DocumentError` names those that there are.

        >>> [each.is_new async for each in index.check([{"title": "Rain", "body": "It rains."}])]
        [True]
        """
        seen = await self._run(self._plans.seen_in_index(options_from(FindOptions, options)))
        some = async_with_some_text(
            check_many("documents", documents_of(documents)), seen.terms.documents.fields, body_of_action
        )
        async for _, chunk in async_chunks(some, SEARCHES):
            for checked in await self._run(check(seen, chunk, on_reject)):
                yield checked

    async def backfill(
        self,
        *,
        on_progress: OnProgress[Progress] | None = None,
        on_reject: OnReject | None = None,
        **options: Unpack[BackfillKeywords],
    ) -> Progress:
        """Fingerprint the documents that are in the index; where they get groups as they come, group them in the end.

        Documents with a current fingerprint are left alone, so run it again to continue a run that was stopped.
        Rejected documents are counted, and handed to ``on_reject``. For the other keywords see `BackfillOptions`.

        >>> (await index.backfill(refresh_stale=True)).current
        3
        """
        from es_simhash.groups.of_index.writing import reconcile
        from es_simhash.live.backfill import Backfill, BackfillOptions

        how, documents = options_from(BackfillOptions, options), await self.documents()
        progress = await self._connection.work(
            lambda engine, stop: Backfill(engine, self.name, documents, how, stop=stop).run(on_progress, on_reject)
        )
        self._plans.learnt(progress.learnt)
        await self._connection.work(lambda engine, stop: reconcile(engine, self.name, documents, how.patience, stop))
        return progress

    async def sync(
        self,
        *,
        similarity: float | Level | None = None,
        canonical: Canonical | str | None = None,
        scope: Scope | None = None,
        accept: Iterable[str] = (),
        patience: float = PATIENCE,
        on_progress: OnProgress[Progress] | None = None,
        on_reject: OnReject | None = None,
    ) -> Synced:
        """Bring the index up to date: fingerprint new and changed documents, then write the groups.

        Run it every night, or as often as you like: after the first run, it reads only what was changed. Run it again
        to continue a run that was stopped. An index without fingerprints gets the fields, if this `Index` names the
        text fields. ``canonical`` is an order of documents, or its name (``"oldest:published"``); ``similarity`` and
        ``scope`` are those of `GroupOptions`. Each is as in the last run that wrote groups, unless you give it.
        ``accept`` has the codes of findings that do not stop it. Rejected documents are counted, and handed to
        ``on_reject``.

        >>> synced = await index.sync()
        >>> synced.documents, synced.groups, synced.duplicates
        (3, 1, 1)
        """
        from es_simhash.groups.of_index.sync import SyncOptions, sync

        documents, brings = await self._run(self._plans.documents_to_sync())
        options = SyncOptions(similarity, canonical, scope, frozenset(check_many("accept", accept)), patience)
        synced = await self._connection.work(
            lambda engine, stop: sync(
                engine, self.name, documents, options, on_progress, on_reject, stop, brings_fields=brings
            )
        )
        self._plans.learnt(synced.learnt)
        return synced

    async def reindex(
        self,
        destination: str,
        *,
        on_progress: OnProgress[Progress] | None = None,
        on_reject: OnReject | None = None,
        **options: Unpack[ReindexKeywords],
    ) -> Reindexed:
        """Copy the index, with fingerprints, into a new one.

        The copy gets the scheme and the fields given to this `Index`, or else those of the index. Run it again to
        continue a run that was stopped, and to catch up with later changes. Nothing is deleted, except a new copy that
        nothing could be written to. For the other keywords see `ReindexOptions`.

        >>> (await index.reindex("articles-2")).progress.written
        3
        """
        from es_simhash.live.reindex import Reindexing, ReindexOptions

        how, documents = options_from(ReindexOptions, options), self._plans.documents_of_copy()
        return await self._connection.work(
            lambda engine, stop: Reindexing(engine, self.name, destination, documents, how, stop).run(
                on_progress, on_reject
            )
        )

    async def remove_fields(
        self,
        *,
        on_progress: OnProgress[Progress] | None = None,
        on_reject: OnReject | None = None,
        **options: Unpack[UpdateKeywords],
    ) -> Removed:
        """Remove the fields of fingerprints from all documents, and our note from the mapping, which keeps its fields.

        Run it again to continue a run that was stopped. Rejected documents are counted, and handed to ``on_reject``.
        For the other keywords see `UpdateOptions`.

        >>> (await index.remove_fields()).progress.written
        3
        """
        from es_simhash.live.removal import Removal
        from es_simhash.live.sweep.reading import UpdateOptions

        how, documents = options_from(UpdateOptions, options), await self.documents()
        return await self._connection.work(
            lambda engine, stop: Removal(engine, self.name, documents, how, stop).run(on_progress, on_reject)
        )

    async def doctor(self, **options: Unpack[BackfillKeywords]) -> Findings:
        """Examine what would go wrong with a backfill with these keywords, without changing anything.

        If the index has no fields yet, examine whether they can be added.

        >>> [finding.code for finding in await index.doctor() if finding.level == "stop"]
        []
        """
        from es_simhash.live.backfill import BackfillOptions, diagnose
        from es_simhash.live.doctor.facts import Findings

        how, wanted = options_from(BackfillOptions, options), self._plans.wanted_documents()
        return Findings(await self._run(diagnose(self.name, wanted, how, self._plans.brings_fields)))

    async def learn(self) -> LearntRarity:
        """Learn again how rare features are in the index, and note it there: similarities go by it from now on.

        >>> (await index.learn()).rarity.documents
        3
        """
        from es_simhash.live.learning import learn, now

        learnt = await self._run(learn(self.name, await self.documents(), now()))
        self._plans.learnt(learnt)
        return learnt

    async def group(
        self, *, on_progress: OnProgress[int] | None = None, **options: Unpack[GroupKeywords]
    ) -> Groups[IndexCorpus]:
        """Find all groups of near-duplicates among the documents with fingerprints. Close the result in the end.

        Nothing is written. ``on_progress`` is called with the number of documents read. ``canonical`` may be the name
        of an order, such as ``"oldest:published"``. For the other keywords see `GroupOptions`.

        >>> with await index.group() as grouped:
        ...     [[member.id for member in group.members] for group in grouped]
        [['1', '2']]
        """
        from es_simhash.groups.of_index.corpus import group
        from es_simhash.groups.options import options_of

        documents = await self.documents()
        how = options_of(options, documents.fields)
        return await self._connection.work(
            lambda engine, stop: group(engine, self.name, documents, how, on_progress, stop)
        )

    async def write_groups(
        self,
        grouped: Groups[IndexCorpus],
        *,
        on_progress: OnProgress[GroupsWritten] | None = None,
        **options: Unpack[WriteKeywords],
    ) -> GroupsWritten:
        """Store groups on their documents, for searches to use.

        Documents changed or deleted since they were read are left out of their groups, which are then made again. To
        continue a run that was stopped, group and write again. For the other keywords see `WriteOptions`.

        >>> with await index.group() as grouped:
        ...     (await index.write_groups(grouped)).written
        2
        """
        from es_simhash.groups.of_index.writing import WriteOptions, write_groups

        how, documents = options_from(WriteOptions, options), await self.documents()
        return await self._connection.work(
            lambda engine, stop: write_groups(engine, grouped, documents, how, on_progress, stop)
        )

    async def decide(self, decisions: Iterable[Decision]) -> int:
        """Keep what people have decided about documents, for all that comes; return the number of decisions.

        They are in an index of their own, ``PREFIX-decisions``, and survive whatever happens to the documents.

        >>> from es_simhash import Decision
        >>> await index.decide([Decision.between("1", "2", same=False, who="Mia")])
        1
        """
        return await self._run(self._plans.decide(list(decisions)))

    async def decisions(self) -> list[Decision]:
        """Return what people have decided about the documents of the index: the last word of each on each subject.

        >>> await index.decisions()
        []
        """
        return await self._run(self._plans.decisions())

    async def copies(self, ids: Iterable[str] = (), *, texts: Texts = (), **options: Unpack[EraseKeywords]) -> Copies:
        """Find all copies of documents and texts, to be erased with them: equal, similar, or parts of each other.

        Documents without a fingerprint, or with that of another scheme, are found by their words. Nothing is changed.
        For the other keywords see `EraseOptions`.

        >>> [(copy.id, copy.kind) for copy in await index.copies(["1"])]
        [('1', 'original'), ('2', 'near')]
        """
        from es_simhash.live.erase.copies import EraseOptions
        from es_simhash.live.erase.run import find_copies

        how, behind = options_from(EraseOptions, options), await self._run(self._plans.indices_behind())
        wanted = check_many("ids", ids), check_many("texts", each_text(texts))
        plan = find_copies(self.name, behind, *wanted, how)
        return await self._connection.work(lambda engine, stop: run(plan, StoppableEngine(engine, stop)))

    async def erase(
        self, copies: Copies, *, everything: bool = False, on_progress: OnProgress[Erased] | None = None
    ) -> Erased:
        """Delete copies in the versions that were found, and look again until no round finds any to delete.

        A copy that appears or changes in the meantime is deleted if its text is that of one of ``copies``, or with
        ``everything``; the result names it, and those that are left.

        >>> (await index.erase(await index.copies(["1"]))).is_complete
        True
        """
        from es_simhash.live.erase.run import erase

        plan = erase(self.name, await self._run(self._plans.indices_behind()), copies, everything, on_progress)
        return await self._connection.work(lambda engine, stop: run(plan, StoppableEngine(engine, stop)))

    async def pipeline(self, *, install: bool = False, default: bool = False) -> IngestPipeline:
        """Return the ingest pipeline with which the server fingerprints the documents written to the index.

        With ``install`` it is put on the server; with ``default`` it becomes the index's default pipeline. Documents it
        cannot fingerprint get the status ``deferred``, for `backfill`.

        >>> await index.pipeline(install=True, default=True)  # doctest: +SKIP
        """
        return await self._run(self._plans.pipeline(install, default))

    async def remove_pipeline(self) -> PipelineRemoved:
        """Remove the ingest pipeline; documents keep their fields.

        >>> await index.remove_pipeline()  # doctest: +SKIP
        """
        return await self._run(self._plans.remove_pipeline())

    async def scripts(self, name: str | None = None) -> list[StoredScript]:
        """Return scripts and search templates for searching the index without Python.

        Their names begin with ``name``, by default ``es-simhash``. They cannot follow a scope, so an index with one is
        refused.

        >>> (await index.scripts())[0].name
        'es-simhash-distance'
        """
        return await self._run(self._plans.scripts(name))

    async def install_scripts(self, name: str | None = None) -> InstalledScripts:
        """Install the `scripts` on the server, for all of its indices.

        >>> await index.install_scripts()  # doctest: +SKIP
        """
        return await self._run(self._plans.install_scripts(name))

    async def remove_scripts(self, name: str | None = None) -> list[str]:
        """Remove the `scripts` from the server, and return the names of those that it had.

        >>> await index.remove_scripts()  # doctest: +SKIP
        """
        return await self._run(self._plans.remove_scripts(name))

    async def info(self) -> Info:
        """Describe the index: its documents, its scheme, and its fields.

        >>> (await index.info()).documents
        3
        """
        return await self._run(describe(self.name, await self._run(self._plans.opened())))

    async def check_files(self) -> FilesChecked:
        """Compare all files of an embedded index with their checksums.

        >>> (await index.check_files()).damaged
        []
        """
        engine = await self.engine()
        return await engine.perform(CheckFiles(self.name))

    async def close(self) -> None:
        """Close what this object opened; a client or an engine that you gave stays open.

        >>> await index.close()
        """
        await self._connection.close()

    async def __aenter__(self) -> Self:
        """Return the index, to be closed at the end of the block."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the index."""
        await self.close()


def only_one(**given: Any) -> tuple[str, Any]:
    """Return the only value given, with its kind."""
    found = [(kind, value) for kind, value in given.items() if value is not None]
    if len(found) != 1:
        raise InputError(f"A search was given {len(found)} subjects. Give one of a text, an id, a document.")
    [(kind, value)] = found
    return kind, value
