"""Queries for the candidates of a fingerprint, as bodies of search requests: bool-should of terms on its keys.

With m blocks, everything within k bits shares at least m − k of them (see `es_simhash.sketches.keys`), so
``minimum_should_match: m − k`` finds it all. How many bands it shares, see `es_simhash.sketches.keys`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, TypeAlias, get_args

from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError, SchemeError, TextError
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprinting import Fingerprint
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verification import Level, Verification, similarity_of
from es_simhash.sketches.keys import shared_among

By: TypeAlias = Literal["simhash", "minhash", "both"]
Filter: TypeAlias = Json | Sequence[Json] | None


@dataclass(frozen=True)
class Criteria:
    """What makes a match: a maximum ``distance`` in bits, a minimum ``similarity``, or either; None does not count.

    With a ``verification`` the similarity is that of the texts, compared by its rules; else that of the signatures.
    """

    JSON = ("distance", "similarity", "decided_by")

    distance: int | None
    similarity: float | None
    verification: Verification | None = None

    @classmethod
    def of(
        cls,
        settings: Settings,
        by: By | None = None,
        distance: int | None = None,
        similarity: float | Level | None = None,
        verification: Verification | None = None,
        numbers: float | None = None,
    ) -> Criteria:
        """Choose criteria by SimHash, by MinHash or by both, with the scheme's thresholds where none is given.

        Without ``by``: by the kind for which a threshold is given, else by MinHash if the scheme has it. A
        ``verification`` replaces the threshold of MinHash by its own. A similarity may be given by the name of a level.
        A caller's condition on ``numbers``, which the verification has, is refused where no texts are compared.
        """
        if by is None:
            by = _implied(settings, distance, similarity)
        if by not in get_args(By):
            raise SchemeError(f"Near-duplicates cannot be found by {by!r}. Choose from: {', '.join(get_args(By))}.")
        if (by == "minhash" and distance is not None) or (by == "simhash" and similarity is not None):
            given = "distance" if distance is not None else "similarity"
            raise SchemeError(f"A {given} means nothing to a search by {by}. Leave it out, or choose by='both'.")
        if by == "simhash" and numbers:
            raise SchemeError(
                "Numbers are in texts, and a search by SimHash compares none. Leave out the numbers, or search by a "
                "similarity as well."
            )
        within = _distance(settings, distance) if by in ("simhash", "both") else None
        if by == "simhash":
            return cls(within, None)
        if similarity is None and verification is not None:
            similarity = verification.similarity
        return cls(within, _similarity(settings, similarity, verification), verification)

    @property
    def decided_by(self) -> Literal["texts", "fingerprints"]:
        """What decides whether two documents are near-duplicates."""
        return "fingerprints" if self.similarity is None or self.verification is None else "texts"

    @property
    def is_estimate(self) -> bool:
        """Whether similarities are estimated."""
        return self.similarity is not None and self.verification is None

    @property
    def least(self) -> float:
        """The minimum similarity, where similarities count."""
        assert self.similarity is not None
        return self.similarity

    @property
    def jaccard(self) -> float:
        """The Jaccard similarity of two equally long texts that are just similar enough, where similarities count.

        The balanced similarity of such texts is s = √(j · 2j / (1 + j)).
        """
        if self.verification is None or self.verification.measure == "jaccard":
            return self.least
        square = self.least**2
        return (square + sqrt(square**2 + 8 * square)) / 4


def _implied(settings: Settings, distance: int | None, similarity: float | Level | None) -> By:
    if distance is not None:
        return "simhash" if similarity is None else "both"
    return "minhash" if settings.minhash or similarity is not None else "simhash"


def _distance(settings: Settings, distance: int | None) -> int:
    if settings.simhash is None:
        raise SchemeError("The scheme has no SimHash to find by. Search by a similarity, or use a scheme with SimHash.")
    distance = settings.simhash.distance if distance is None else distance
    settings.simhash.layout.min_shared(distance)
    return distance


def _similarity(settings: Settings, similarity: float | Level | None, verification: Verification | None) -> float:
    if settings.minhash is None:
        raise SchemeError("The scheme has no MinHash to find by. Search by a distance, or use a scheme with MinHash.")
    if similarity is None:
        return settings.minhash.similarity
    return similarity_of(similarity, verification.measure if verification else "jaccard")


def shared_bands(minhash: MinHash, criteria: Criteria, documents: int = 0) -> int:
    """Return how many bands a candidate shares at least, in an index of this many documents."""
    return shared_among(minhash.layout, minhash.shared, min(minhash.similarity, criteria.jaccard), documents)


def clause(
    settings: Settings,
    fingerprint: Fingerprint,
    criteria: Criteria,
    prefix: str = DEFAULT_PREFIX,
    *,
    shared: int | None = None,
    scored: bool = True,
    fields: Json | None = None,
) -> Json:
    """Return the clause that candidates match, to drop into any request.

    They share at least ``shared`` bands, by default as many as `shared_bands` says. With ``scored`` each key scores 1,
    so candidates with more keys in common come first if the list is cut off. Without it a search by bands is a little
    quicker. ``fields`` are those of a document with the fingerprint, if these are made already.
    """
    if fingerprint.status == "empty":
        raise TextError("An empty text cannot be searched for. Give a text with letters or digits.")

    def terms(kind: own_fields.Kind) -> list[tuple[str, str]]:
        found = own_fields.terms_in(fields, kind) if fields else own_fields.terms(settings, kind, fingerprint)
        # A query without any clause would match everything.
        if not found:
            raise InputError("The fingerprint has no keys to search by. Make it with the scheme of the index.")
        return found

    kinds = []
    if criteria.distance is not None and settings.simhash:
        blocks = terms("block")
        kinds.append(_should(prefix, blocks, settings.simhash.layout.min_shared(criteria.distance)))
    if criteria.similarity is not None and settings.minhash:
        bands = terms("band")
        least = shared or shared_bands(settings.minhash, criteria)
        if least == 1 and not scored and settings.layout.keys != "fields":
            kinds.append(_terms(prefix, bands))
        else:
            kinds.append(_should(prefix, bands, least, scored=scored))
    return kinds[0] if len(kinds) == 1 else {"bool": {"should": kinds, "minimum_should_match": 1}}


def _should(prefix: str, terms: Sequence[tuple[str, str]], least: int, *, scored: bool = True) -> Json:
    each: list[Json] = [{"term": {f"{prefix}.{field}": key}} for field, key in terms]
    if scored:
        each = [{"constant_score": {"filter": term}} for term in each]
    should: Json = {"bool": {"should": each, "minimum_should_match": least}}
    return should if scored else {"constant_score": {"filter": should}}


def _terms(prefix: str, terms: Sequence[tuple[str, str]]) -> Json:
    """Match documents that have one of the keys, which are all of one field."""
    return {"constant_score": {"filter": {"terms": {f"{prefix}.{terms[0][0]}": [key for _, key in terms]}}}}


def body(
    candidates: Json, *, size: int, source: Sequence[str] | bool, filter: Filter = None, exclude: Sequence[str] = ()
) -> Json:
    """Return a search request for the first ``size`` candidates that pass the user's filter, without these ids."""
    return {
        "query": restricted(candidates, filter, exclude),
        "size": size,
        "_source": source if isinstance(source, bool) else name_list(source),
        "track_total_hits": False,
    }


def restricted(query: Json, filter: Filter, exclude: Sequence[str]) -> Json:
    """Restrict a query by the user's filter, and to documents with other ids."""
    if not filter and not exclude:
        return query
    bool_query: Json = {"must": [query]}
    if filter:
        bool_query["filter"] = _filters(filter)
    if exclude:
        bool_query["must_not"] = [{"ids": {"values": name_list(exclude)}}]
    return {"bool": bool_query}


def _filters(filter: Filter) -> list[Any]:
    filters = [filter] if isinstance(filter, dict) else filter
    if not isinstance(filters, Sequence) or not all(isinstance(each, dict) for each in filters):
        raise InputError(f"A filter cannot be {filter!r}. Give a query, as in the engine's search requests, or a list.")
    return list(filters)


def name_list(given: Sequence[str]) -> list[str]:
    """Return names as a list, even if only one was given."""
    return [given] if isinstance(given, str) else list(given)


def compared_fields(settings: Settings, prefix: str) -> list[str]:
    """Return the paths of the fields that a re-rank reads."""
    return [f"{prefix}.{name}" for name in own_fields.compared_names(settings)]


def more_like_this(texts: Mapping[str, str]) -> Json:
    """Match candidates in an index without our fields: documents with most of the weightiest words of one of the texts.

    ``texts`` has the text to compare with each source field.

    Terms count if they occur once in the text and in two documents; 70% of the 50 weightiest must be shared. The
    engine's own defaults (two occurrences, five documents, 25 terms) miss most short texts.
    """
    should = [_more_like_this(field, text) for field, text in texts.items() if text]
    if not should:
        raise TextError("An empty text has no near-duplicates. Give a text with letters or digits.")
    return {"bool": {"should": should, "minimum_should_match": 1}}


def _more_like_this(field: str, text: str) -> Json:
    settings = {"min_term_freq": 1, "min_doc_freq": 2, "max_query_terms": 50, "minimum_should_match": "70%"}
    return {"more_like_this": {"fields": [field], "like": [text], "include": True, **settings}}
