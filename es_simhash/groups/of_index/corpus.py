"""The documents of an index as they are grouped: what was read of them, and what else is read when it is needed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import StoppableEngine
from es_simhash.groups.corpus import Corpus, linked
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_index.document_refs import DocumentReader, DocumentTexts, names
from es_simhash.groups.of_index.reading import IndexReading
from es_simhash.groups.of_index.stored_fingerprints import content_number
from es_simhash.groups.pairs.nearness import Nearness
from es_simhash.scheme.verdict.verifier import Verifier


class IndexCorpus(Corpus):
    """The documents of an index, or of those behind a name; ``read`` says what of them was read."""

    is_of_engine = True

    def __init__(self, engine: StoppableEngine, documents: Documents, read: IndexReading) -> None:
        options = read.options
        super().__init__(documents.scheme, options, read.store, read.spools)
        self.read = read
        self.refs = read.refs
        self.has_indices = len(read.indices) > 1
        self.rarity = read.table
        self.unread = read.unread
        self.check = engine.stop.check  # type: ignore[method-assign]
        self._reader = DocumentReader(engine, options.patience)
        self._texts: DocumentTexts | None = None
        if verification := read.criteria.verification:
            self._texts = DocumentTexts(self._reader, documents, read.refs, read.spools, options.memory, options.strip)
            self.exact = self._texts.exact(Verifier(documents.scheme, verification, read.table))
        self._ranks: dict[int, Any] = {}
        self._fingerprints = Nearness(read.store, read.criteria, None)

    @property
    def is_shard(self) -> bool:
        """Whether a shard was read into files, and no groups are made."""
        return self.options.shard is not None

    @property
    def total(self) -> int:
        """The number of documents, with those that have nothing to compare."""
        if self.read.part:
            return self.read.part.documents
        return self.read.in_shard + self.empty if self.is_shard else len(self) + self.empty

    @property
    def empty(self) -> int:
        """The number of documents with an empty text, or without a whole fingerprint of the scheme."""
        return self.read.others

    def grouped(self) -> Groups[IndexCorpus]:
        """Link the documents, and make groups."""
        joined, new = self.read.joined()
        saved = None if self.is_shard else self.read.saved
        if saved:
            self.spools.stages = saved.stages(self.read.indices, self._settled(new))
        found = Groups(self, linked(self, new, joined))
        if saved:
            saved.remove()
            self.spools.stages.remove()
        return found

    def _settled(self, new: npt.NDArray[np.bool_] | None) -> Json:
        """Return all that decides which documents are linked, except what was read: by it kept stages are known."""
        compared = None if new is None else np.packbits(new).tobytes().hex()
        table = self.rarity.id if self.rarity else None
        settings = [self.options.max_bucket, list(self.options.strip), table, compared]
        return {"settings": sha256(json.dumps(settings).encode()).hexdigest()}

    # ---- what grouping asks

    def keys(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the index and the id of documents."""
        return self.refs.keys(positions)

    def hits(self, positions: Sequence[int], source: Sequence[str] | bool) -> Iterator[Json | None]:
        """Yield documents as they are now, with parts of their source; None for deleted ones."""
        return self._reader.read(self.refs.take(positions), source)

    def texts_at(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, as far as they can be read."""
        return self._texts.readable(positions) if self._texts else []

    def ranks(self, positions: Sequence[int]) -> list[Any]:
        """Return what documents are sorted by: their ranks by the fields of the rule, then ids and indices."""
        canonical = self.options.canonical
        if canonical.fields and (unread := [each for each in positions if each not in self._ranks]):
            hits = self.hits(unread, canonical.fields)
            ranks = (canonical.rank((hit or {}).get("_source") or {}) for hit in hits)
            self._ranks.update(zip(unread, ranks, strict=True))
        keys = zip(positions, self.keys(positions), strict=True)
        return [(self._ranks.get(position, 0), id_, index) for position, (index, id_) in keys]

    def names_of_groups(self, groups: Iterable[Sequence[int]], others: Sequence[str] = ()) -> list[str]:
        """Name groups, without using the names of others."""
        there, firsts, stored = self._stored_names, list[int](), list[Counter[str]]()
        for each in groups:
            firsts.append(each[0])
            stored.append(Counter(there[position] for position in each if position in there))
        return names(list(zip(self.keys(firsts), stored, strict=True)), others)

    @cached_property
    def _stored_names(self) -> dict[int, str]:
        return {position: own["group"] for position, own in self.refs.stored_groups() if "group" in own}

    # ---- what writing asks

    @cached_property
    def present(self) -> dict[int, Json]:
        """The groups that documents have: those that were read, and what was written of these groups since."""
        return dict(self.refs.stored_groups())

    def has_content(self, position: int, content: str) -> bool:
        """Return whether the fingerprinted text of a document has this hash."""
        return self._fingerprints.has_content(position, content_number(content))

    @property
    def scope_paths(self) -> tuple[str, ...]:
        """The fields of the scope."""
        return self._fingerprints.scope_paths

    def has_scope(self, position: int, document: Json) -> bool:
        """Return whether a document still has the values of the scope that were read."""
        return self._fingerprints.has_scope(position, document)

    @property
    def indices(self) -> Mapping[str, list[int] | None]:
        """The indices that were read, each with the changes of its shards before, if the engine numbers them."""
        return self.read.indices
