"""The exact comparison that decides whether a document is a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.live.erase.copies import KINDS, Copy, Kind, Source, hash_of
from es_simhash.live.erase.options import EraseOptions
from es_simhash.live.erase.tenants import Tenants
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.scheme.own_fields import content_hash
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.containment import Common, common, distinct_features
from es_simhash.scheme.verdict.verifier import compared
from es_simhash.sketches.similarity import Hashes
from es_simhash.text.tokens.kinds import Custom

# A text of fewer features is a part of too many others by chance: it must be equal or similar.
_LEAST_PART = 50
_SHOWN = 100


@dataclass(frozen=True)
class Judge:
    """Compares documents with the ``sources``; ``documents`` says how those of each index are read."""

    documents: Mapping[str, Documents]
    tenants: Tenants
    sources: Sequence[Source]
    options: EraseOptions

    def copies(self, hits: Sequence[Json]) -> list[Copy | None]:
        """Return each hit as a copy, or None if it is none. Empty and unreadable documents never are."""
        texts = [readable_text(self.documents[hit["_index"]], hit.get("_source") or {}) or "" for hit in hits]
        near = _in_common(self._own_similar, self._of_scheme, texts)
        parts = near if self._of_scheme is self._in_runs else _in_common(self._own_parts, self._in_runs, texts)
        return [self._copy(*each) for each in zip(hits, texts, near, parts, strict=True)]

    @cached_property
    def _settings(self) -> Settings:
        return next(iter(self.documents.values())).scheme

    @cached_property
    def _of_scheme(self) -> Settings:
        """The settings by whose features texts are similar: those that the scheme's own verdict compares."""
        return compared(self._settings, self._settings.verification)

    @cached_property
    def _in_runs(self) -> Settings:
        """The settings by whose features one is a part of the other: long texts have nearly all shorter n-grams."""
        return self._settings if isinstance(self._settings.tokens, Custom) else self._settings.by_runs

    @cached_property
    def _own_similar(self) -> list[Hashes]:
        """The features of the sources by which they are similar to others."""
        return list(distinct_features(self._of_scheme, [source.text for source in self.sources]))

    @cached_property
    def _own_parts(self) -> list[Hashes]:
        """The features of the sources by which they are parts of others."""
        return list(distinct_features(self._in_runs, [source.text for source in self.sources]))

    def _copy(self, hit: Json, text: str, near: Sequence[Common], parts: Sequence[Common]) -> Copy | None:
        ref, content, document = DocumentRef.of(hit), hash_of(text), hit.get("_source") or {}
        place = ref.index, ref.id, ref.routing
        found: list[tuple[int, float, Copy]] = []
        for source, similar, part in zip(self.sources, near, parts, strict=True):
            kind = self._kind(source.text == text, similar, part)
            if kind is None or not (source.place == place or self.tenants.are_together(source, document)):
                continue
            if kind == "equal" and source.place == place:
                kind = "original"
            copy = Copy(
                *place,
                seq_no=ref.version["if_seq_no"],
                primary_term=ref.version["if_primary_term"],
                kind=kind,
                source=source.name,
                similarity=similar.jaccard,
                source_in_copy=part.of_first,
                copy_in_source=part.of_second,
                fingerprint=self._fingerprint(hit, text),
                sha256=content,
                text=" ".join(text[:_SHOWN].split()),
            )
            found.append((KINDS.index(kind), -similar.jaccard, copy))
        return min(found, key=lambda each: each[:2])[2] if found else None

    def _kind(self, is_equal: bool, similar: Common, part: Common) -> Kind | None:
        if is_equal:
            return "equal"
        if similar.jaccard >= self.options.similarity:
            return "near"
        if part.first >= _LEAST_PART and part.of_first >= self.options.containment:
            return "containing"
        if part.second >= _LEAST_PART and part.of_second >= self.options.containment:
            return "contained"
        return None

    def _fingerprint(self, hit: Json, text: str) -> str:
        documents = self.documents[hit["_index"]]
        own = (hit.get("_source") or {}).get(documents.prefix)
        if not isinstance(own, dict) or not own.get("scheme"):
            return "none"
        if own["scheme"] != documents.scheme.id:
            return "other scheme"
        return "current" if own.get("content") == content_hash(text) else "stale"


def _in_common(own: Sequence[Hashes], settings: Settings, texts: Sequence[str]) -> list[list[Common]]:
    """Return, for each text, what each of our own has in common with it."""
    return [[common(here, there) for here in own] for there in distinct_features(settings, texts)]
