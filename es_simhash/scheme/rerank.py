"""Re-ranking: candidates that an engine found by keys become matches, sorted by exact distance or by similarity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from es_simhash._core import bit_codes
from es_simhash._core.json_paths import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprint import Fingerprint, Status
from es_simhash.scheme.own_fields import StoredFingerprints
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import Settings
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.estimate import estimates, standard_errors


@dataclass(frozen=True)
class Match:
    """A near-duplicate: where it is, and how near.

    ``distance`` counts differing bits. ``similarity`` is exact if ``is_exact``; else it is estimated from the
    signatures, with this ``standard_error``.
    ``same_text`` marks texts that are equal, not only similar. ``source`` holds the parts of the document that were
    asked for.
    """

    index: str
    id: str
    distance: int | None
    similarity: float | None
    is_exact: bool = False
    same_text: bool = False
    source: Json | None = None
    standard_error: float | None = None


@dataclass(frozen=True)
class Matches(Sequence[Match]):
    """The near-duplicates of one text, nearest first.

    ``candidates`` counts the documents that were compared, without those that the server itself left out. Unless the
    result is ``complete`` there were more: beyond the caller's limit, or no nearer than the copies of the text found,
    if these are as many as the caller wants. ``foreign`` counts the candidates that could not be compared, as they have
    fingerprints of another scheme, or unreadable ones. ``status`` is that of the text itself; an empty one has no
    matches.
    """

    matches: tuple[Match, ...]
    candidates: int = 0
    complete: bool = True
    foreign: int = 0
    status: Status = "ok"

    @overload
    def __getitem__(self, place: int) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Match, ...]: ...
    def __getitem__(self, place: int | slice) -> Match | tuple[Match, ...]:
        """Return the match at a position, or the matches of a slice."""
        return self.matches[place]

    def __len__(self) -> int:
        """Return the number of matches."""
        return len(self.matches)

    def __iter__(self) -> Iterator[Match]:
        """Yield each match."""
        return iter(self.matches)


@dataclass(frozen=True)
class Compared:
    """Hits with fingerprints of the scheme, and how near each is; ``foreign`` counts the others."""

    hits: list[Json]
    distances: Sequence[int | None]
    similarities: Sequence[float | None]
    standard_errors: Sequence[float | None]
    same_texts: Sequence[bool]
    foreign: int


def compare(
    settings: Settings,
    scheme_id: str,
    fingerprint: Fingerprint,
    hits: Sequence[Json],
    *,
    prefix: str,
    text: str | None = None,
) -> Compared:
    """Compare a fingerprint with those of hits: their exact distances, and their estimated similarities.

    Given the text of the fingerprint, hits with the same text are marked as well.
    """
    stored = own_fields.read_all(settings, scheme_id, [(hit.get("_source") or {}).get(prefix) for hit in hits])
    comparable = [hits[place] for place in stored.places]
    distances: Sequence[int | None] = [None] * len(comparable)
    similarities: Sequence[float | None] = [None] * len(comparable)
    errors: Sequence[float | None] = [None] * len(comparable)
    if stored.simhashes is not None and fingerprint.simhash is not None:
        distances = [hamming.distance(fingerprint.simhash, each) for each in bit_codes.to_ints(stored.simhashes)]
    if settings.minhash and fingerprint.minhash is not None and comparable:
        similarities, errors = _estimates(settings, fingerprint, stored)
    content = None if text is None else own_fields.content_hash(text)
    same = [content is not None and each == content for each in stored.contents]
    return Compared(comparable, distances, similarities, errors, same, len(hits) - len(comparable))


def _estimates(
    settings: Settings, fingerprint: Fingerprint, stored: StoredFingerprints
) -> tuple[list[float], list[float]]:
    """Estimate similarities, with their standard errors."""
    assert settings.minhash
    signatures, bits = stored.signatures, settings.layout.signature_bits
    if signatures is None:
        signatures, bits = stored.keyed, settings.minhash.layout.value_bits
    assert signatures is not None
    size = signatures.shape[1]
    similarities = estimates(fingerprint.signature[:size], signatures, bits)
    return similarities.tolist(), standard_errors(similarities, size, bits).tolist()


def matches_of(
    compared: Compared,
    criteria: Criteria,
    *,
    exact: Sequence[float | None] | None = None,
    status: Status = "ok",
    complete: bool = True,
    with_source: bool = False,
) -> Matches:
    """Return the hits that meet the criteria, nearest first; ties in the order of index and id.

    ``exact`` has the exact similarities of compared hits, which then replace the estimates; None where one is unknown.
    """
    known = [None] * len(compared.hits) if exact is None else exact
    estimated = zip(compared.similarities, compared.standard_errors, strict=True)
    rows = zip(compared.hits, compared.distances, estimated, known, compared.same_texts, strict=True)
    found = [
        Match(
            hit["_index"],
            hit["_id"],
            distance,
            estimate if similarity is None else similarity,
            is_exact=similarity is not None,
            same_text=same_text,
            source=hit["_source"] if with_source else None,
            standard_error=error if similarity is None else None,
        )
        for hit, distance, (estimate, error), similarity, same_text in rows
        if criteria.are_met(distance, estimate if similarity is None else similarity)
    ]
    found.sort(key=_by_distance if criteria.similarity is None else _by_similarity)
    return Matches(tuple(found), len(compared.hits) + compared.foreign, complete, compared.foreign, status)


def _by_distance(match: Match) -> tuple[float, float, str, str]:
    return (_or_last(match.distance), -(match.similarity or 0.0), match.index, match.id)


def _by_similarity(match: Match) -> tuple[float, float, str, str]:
    return (-(match.similarity or 0.0), _or_last(match.distance), match.index, match.id)


def _or_last(distance: int | None) -> float:
    return np.inf if distance is None else distance
