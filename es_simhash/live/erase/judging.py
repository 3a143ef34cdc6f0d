"""The exact comparison that decides whether a document is a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.live.erase.copies import KINDS, Copy, EraseOptions, Kind, Source, Tenants, hash_of
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.scheme.own_fields import content_hash
from es_simhash.scheme.settings import Passages, Settings
from es_simhash.scheme.verdict.common_passages import WordsOfText, words_of_texts
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, compared, plain

# A text of fewer words is a part of too many others by chance: it must be equal or similar.
_LEAST_PART = 10
_SHOWN = 100


class Judged(NamedTuple):
    """A document as a ``copy``, or None; it ``is_alike`` also if only the scope keeps it from being one."""

    copy: Copy | None
    is_alike: bool


@dataclass(frozen=True)
class Judge:
    """Compares documents with the ``sources``; ``documents`` says how those of each index are read."""

    documents: Mapping[str, Documents]
    tenants: Tenants
    sources: Sequence[Source]
    options: EraseOptions

    def judged(self, hits: Sequence[Json]) -> list[Judged]:
        """Judge each hit. Empty and unreadable documents are copies of nothing."""
        texts = [readable_text(self.documents[hit["_index"]], hit.get("_source") or {}) or "" for hit in hits]
        least = np.zeros(len(texts))
        measured = self._verifier.each_to_others([(source.text, texts, least) for source in self.sources])
        similar = [each.similarities.tolist() for each in measured]
        words = words_of_texts(self._settings, texts)
        return [self._judged(*each) for each in zip(hits, texts, words, zip(*similar, strict=True), strict=True)]

    @cached_property
    def _settings(self) -> Settings:
        return next(iter(self.documents.values())).scheme

    @cached_property
    def _verifier(self) -> Verifier:
        """What measures the Jaccard similarity of the features that the scheme's own verdict compares."""
        features = plain(compared(self._settings, self._settings.verification))
        return Verifier(features, Verification.of_fingerprints(1.0))

    @cached_property
    def _own_words(self) -> list[WordsOfText]:
        return list(words_of_texts(self._settings, [source.text for source in self.sources]))

    def _judged(self, hit: Json, text: str, words: WordsOfText, similarities: Sequence[float]) -> Judged:
        together, is_alike = [], False
        for source, own, similarity in zip(self.sources, self._own_words, similarities, strict=True):
            if copy := self._copy_of(source, own, hit, text, words, similarity):
                is_alike = True
                if source.place == copy.place or self.tenants.are_together(source, hit.get("_source") or {}):
                    together.append(copy)
        first = min(together, key=lambda copy: (KINDS.index(copy.kind), -copy.similarity), default=None)
        return Judged(first, is_alike)

    def _copy_of(
        self, source: Source, own: WordsOfText, hit: Json, text: str, words: WordsOfText, similarity: float
    ) -> Copy | None:
        ref = DocumentRef.of(hit)
        place = ref.index, ref.id, ref.routing
        n = (self._settings.passages or Passages()).words
        source_in_copy, copy_in_source = own.share_in(words, n), words.share_in(own, n)
        if source.text == text:
            kind: Kind | None = "original" if source.place == place else "equal"
        else:
            shares = source_in_copy * _may_be_part(own), copy_in_source * _may_be_part(words)
            kind = self._kind(similarity, *shares)
        if kind is None:
            return None
        return Copy(
            *place,
            seq_no=ref.version["if_seq_no"],
            primary_term=ref.version["if_primary_term"],
            kind=kind,
            source=source.name,
            similarity=similarity,
            source_in_copy=source_in_copy,
            copy_in_source=copy_in_source,
            fingerprint=self._fingerprint(hit, text),
            sha256=hash_of(text),
            text=" ".join(text[:_SHOWN].split()),
        )

    def _kind(self, similarity: float, source_in_copy: float, copy_in_source: float) -> Kind | None:
        if similarity >= self.options.similarity:
            return "near"
        if source_in_copy >= self.options.containment:
            return "containing"
        return "contained" if copy_in_source >= self.options.containment else None

    def _fingerprint(self, hit: Json, text: str) -> str:
        documents = self.documents[hit["_index"]]
        own = (hit.get("_source") or {}).get(documents.prefix)
        if not isinstance(own, dict) or not own.get("scheme"):
            return "none"
        if own["scheme"] != documents.scheme.id:
            return "other scheme"
        return "current" if own.get("content") == content_hash(text) else "stale"


def _may_be_part(text: WordsOfText) -> bool:
    return len(text.hashes) >= _LEAST_PART
