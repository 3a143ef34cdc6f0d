"""Comparing the texts of candidates, where the scheme or the caller asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.operations import GetDocuments, Plan, Sample
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Compared
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Verifier, estimates_below, is_by_rarity, rarity_of
from es_simhash.sketches.minhash.estimate import standard_error
from es_simhash.text.idf import IdfTable

# Number of documents that show how rare features are.
_SAMPLE = 500
_READ_AT_ONCE = 200
# Distance from the threshold, in standard errors, at which an estimate leaves no doubt.
_DOUBT = 3.0

# The exact similarities of hits; None for texts that are not compared.
ExactSimilarities: TypeAlias = list[float | None]
Texts = dict[tuple[str, str], str]


@dataclass
class Rarity:
    """How rare features are in an index, from a sample of its documents that is read once."""

    _table: IdfTable | None = None

    def table(self, index: str, documents: Documents) -> Plan[IdfTable | None]:
        """Return the weights of features; None while the index has no texts."""
        if self._table is not None:
            return self._table
        hits: list[Json] = yield Sample(index, _SAMPLE, documents.fields, {"match_all": {}})
        texts = [text for text in (_text(documents, hit) for hit in hits) if text is not None]
        table = rarity_of(documents.scheme, texts) if texts else None
        # A small index may soon have other documents.
        if len(hits) == _SAMPLE:
            self._table = table
        return table


def verifier(
    index: str, documents: Documents, options: FindRequest, criteria: Criteria, rarity: Rarity
) -> Plan[Verifier | None]:
    """Return what compares texts; None where fingerprints decide and the caller asks for no more."""
    verification = options.verification(documents.scheme)
    if verification is None or (criteria.similarity is None and not options.is_exact):
        return None
    weights = options.idf
    if weights is None and is_by_rarity(documents.scheme, verification):
        weights = yield from rarity.table(index, documents)
    return Verifier(documents.scheme, verification, weights)


def plausible_hits(settings: Settings, criteria: Criteria, compared: Compared) -> list[int]:
    """Return the positions of the hits that may be similar enough by their estimates."""
    if settings.minhash is None or criteria.similarity is None or criteria.verification is None:
        return list(range(len(compared.hits)))
    bits = settings.layout.signature_bits or settings.minhash.layout.value_bits
    doubt = _DOUBT * standard_error(criteria.similarity, settings.minhash.layout.size, bits)
    least = criteria.similarity - doubt - estimates_below(criteria.verification)
    found = enumerate(compared.similarities)
    return [place for place, similarity in found if similarity is None or similarity >= least]


def texts_in_hits(documents: Documents, hits: Iterable[Json]) -> Texts:
    """Return the texts that hits contain, by index and id; unreadable ones are left out."""
    read = ((hit["_index"], hit["_id"], _text(documents, hit)) for hit in hits)
    return {(index, id_): text for index, id_, text in read if text is not None}


def texts_of_hits(documents: Documents, hits: Iterable[Json]) -> Plan[Texts]:
    """Read the current texts of hits, by index and id; unreadable ones are left out."""
    by_index: dict[str, dict[str, str | None]] = defaultdict(dict)
    for hit in hits:
        by_index[hit["_index"]][hit["_id"]] = hit.get("_routing")
    texts: Texts = {}
    for index, routings in by_index.items():
        ids = list(routings)
        for start in range(0, len(ids), _READ_AT_ONCE):
            some = ids[start : start + _READ_AT_ONCE]
            given = [routings[id_] for id_ in some]
            replies: list[Json] = yield GetDocuments(index, some, documents.fields, given if any(given) else None)
            read = ((id_, _text(documents, reply)) for id_, reply in zip(some, replies, strict=True))
            texts.update({(index, id_): text for id_, text in read if text is not None})
    return texts


@dataclass(frozen=True)
class Comparison:
    """A text and the ``others`` to compare it with (None: not compared); similarities below ``least`` do not count."""

    text: str
    others: Sequence[str | None]
    least: Sequence[float]


def compare_texts(verifier: Verifier, wanting: Sequence[Comparison]) -> list[ExactSimilarities]:
    """Return the similarity of each text to the known others; None for the unknown."""
    texts = [each.text for each in wanting]
    first, second, least = list[int](), list[int](), list[float]()
    for number, each in enumerate(wanting):
        for other, enough in zip(each.others, each.least, strict=True):
            if other is not None:
                first.append(number)
                second.append(len(texts))
                least.append(enough)
                texts.append(other)
    pairs = np.array([first, second], dtype=np.int64)
    found = iter(verifier.similarities(texts, pairs, np.array(least)).tolist())
    return [[None if other is None else next(found) for other in each.others] for each in wanting]


def minimum_similarities(criteria: Criteria, distances: Sequence[int | None]) -> list[float]:
    """Return the similarity from which each hit counts: 0 for those that are near enough in bits anyway."""
    least = criteria.similarity or 0.0
    return [0.0 if criteria.are_met(distance, None) else least for distance in distances]


def _text(documents: Documents, hit: Json) -> str | None:
    """Return the text of a hit; None if it has no readable one."""
    try:
        return documents.text_of(hit.get("_source") or {}) or None
    except DocumentError:
        return None
