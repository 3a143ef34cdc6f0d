"""Loads the documents of files into an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from es_simhash._core.batches import OnProgress, chunks, rarely_collected
from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.cli.jobs.files import LoadedIds, NamedFields
from es_simhash.cli.show.output import Output
from es_simhash.documents.documents import Document, Documents, prepared
from es_simhash.documents.files import FileDocument
from es_simhash.documents.sources import OnReject, Rejected, body_of_action, with_some_text
from es_simhash.errors import EngineError, WritesLostError
from es_simhash.index import Index
from es_simhash.live.learning import LowestContents
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.plans.add import WriteCounts
from es_simhash.scheme.own_fields import content_hash

_BATCH = 500
_CLASHES = (
    "Document {!r} has the id of a document in an earlier file, which it would replace. Give it another id, name the "
    "field with distinct ids by --id-field, or load this file by itself to replace it."
)


class DryRun:
    """A dry run in place of an index: it fingerprints documents, and writes nothing."""

    def __init__(self, name: str, documents: Documents) -> None:
        self.name = name
        self.indices = [name]
        self.documents = documents

    def add(
        self,
        documents: Iterable[Document],
        *,
        patience: float,
        on_progress: OnProgress[WriteCounts],
        on_reject: OnReject,
    ) -> WriteCounts:
        """Count the documents that could be written, and hand over those that could not."""
        written = WriteCounts()
        some = with_some_text(documents, self.documents.fields, body_of_action)
        for first, chunk in chunks(some, _BATCH):
            batch = WriteCounts()
            batch.done = sum(1 for _ in prepared(self.documents, chunk, batch.reject))
            batch.rejected = [replace(each, position=each.position + first) for each in batch.rejected]
            written.add(batch, on_progress, on_reject)
        return written


@dataclass
class Loader:
    """Writes documents of files to an index, and reports rejected ones with their file and line.

    The ``lowest`` contents of the written ones are there to learn from. An index that ``rolls`` is an alias or a data
    stream.
    """

    index: Index | DryRun
    on_reject: OnReject
    on_progress: OnProgress[WriteCounts]
    op_type: Literal["index", "create"] = "index"
    patience: float = PATIENCE
    written: WriteCounts = field(default_factory=WriteCounts)
    named: NamedFields = field(init=False)
    lowest: LowestContents = field(default_factory=LowestContents)
    rolls: bool = field(init=False, default=False)
    ids: LoadedIds = field(default_factory=LoadedIds)
    _documents: Documents = field(init=False)
    _under_way: dict[int, FileDocument] = field(default_factory=dict)

    def load(self, found: Iterable[FileDocument]) -> WriteCounts:
        """Write all documents, and return the counts; ``named`` then knows which had no text."""
        self._documents = self.index.documents
        self.rolls = self.index.name not in self.index.indices
        self.named = NamedFields(self._documents.fields)
        with rarely_collected():
            return self.index.add(
                self._actions(found), patience=self.patience, on_progress=self._on_progress, on_reject=self._on_reject
            )

    def _actions(self, found: Iterable[FileDocument]) -> Iterator[Json]:
        for position, each in enumerate(self._distinct(found)):
            self._under_way[position] = each
            self.named.check(each)
            routed = {} if each.routing is None else {"_routing": each.routing}
            yield {"_op_type": self.op_type, "_id": each.id, **routed, "_source": each.document}

    def _distinct(self, found: Iterable[FileDocument]) -> Iterator[FileDocument]:
        """Reject documents with the id of one in an earlier file, which they would replace."""
        for each in found:
            if self.ids.is_of_another_file(each):
                self.on_reject(each.rejected(_CLASHES.format(each.id)))
            else:
                yield each
        self.ids.end()

    def _on_reject(self, rejected: Rejected) -> None:
        document = self._under_way.pop(rejected.position)
        self.on_reject(document.rejected(rejected.reason, may_pass=rejected.may_pass))

    def _content(self, written: FileDocument) -> tuple[str, DocumentRef]:
        """Return the content hash of a document, which is written by now."""
        text = written.text_of(self._documents.fields)
        self.named.check_text(written, text)
        return content_hash(text), DocumentRef(self.index.name, written.id, written.routing, {})

    def _on_progress(self, written: WriteCounts) -> None:
        self.lowest.add(map(self._content, self._under_way.values()))
        self._under_way.clear()
        self.written = written
        self.on_progress(written)


def make_visible(index: Index, output: Output) -> None:
    """Make the documents visible to searches; if a server cannot, they are written all the same."""
    try:
        index.refresh()
    except WritesLostError:
        raise
    except EngineError as error:
        output.warn(
            f"{error} The documents counted below are written; searches find them after the next refresh, "
            "which most indices do within seconds (index.refresh_interval)."
        )
