"""Comparing the texts of candidates, where the scheme or the caller asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.hit_surroundings import HitSurroundings
from es_simhash.plans.index_rarity import IndexRarity
from es_simhash.plans.operations import GetDocuments, Plan
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Compared
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.plausible import are_plausible, are_similar
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verifier import CachedTexts, Verifier, is_by_rarity
from es_simhash.sketches.minhash.common import Signatures
from es_simhash.text.idf import IdfTable

_READ_AT_ONCE = 200

Texts = dict[tuple[str, str], str]


def verifier(
    index: str, documents: Documents, options: FindRequest, criteria: Criteria, rarity: IndexRarity
) -> Plan[Verifier | None]:
    """Return what compares texts; None where fingerprints decide and the caller asks for no more."""
    verification = options.verification(documents.scheme)
    if verification is None or (criteria.similarity is None and not options.needs_texts):
        return None
    weights: IdfTable | Rarity | None = options.idf
    if weights is None and is_by_rarity(documents.scheme, verification):
        weights = yield from rarity.table(index, documents)
    return rarity.verifier(documents.scheme, verification, weights)


def plausible_hits(
    settings: Settings, criteria: Criteria, fingerprint: Fingerprint, compared: Compared
) -> npt.NDArray[np.bool_]:
    """Return which hits may be similar enough to the text of a fingerprint by their estimates."""
    if settings.minhash is None or criteria.similarity is None or criteria.verification is None:
        return np.ones(len(compared.hits), dtype=np.bool_)
    if compared.keyed is None or fingerprint.minhash is None:
        return np.ones(len(compared.hits), dtype=np.bool_)
    if compared.similarities is not None and compared.estimated_by == _by_keys(settings.minhash):
        return are_similar(settings.minhash, criteria, compared.similarities)
    own = fingerprint.signature[: settings.minhash.layout.size]
    return are_plausible(settings.minhash, criteria, own, compared.keyed)


def _by_keys(minhash: MinHash) -> tuple[int, int]:
    """Return the number of values that keys hold, and their bits."""
    return minhash.layout.size, minhash.layout.value_bits


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
    """A text and the ``others`` to compare it with (None: not compared); similarities below ``least`` do not count.

    ``keyed`` are the values that the band keys of the others hold.
    """

    text: str
    others: Sequence[str | None]
    least: Similarities
    keyed: Signatures | None


def compare_texts(
    verifier: Verifier, wanting: Sequence[Comparison], criteria: Criteria
) -> list[tuple[PairMeasures, HitSurroundings | None]]:
    """Measure each text and the known others, NaN for the unknown; and return the surroundings of these, if they count.

    The surroundings are not measured yet. What several texts are compared with is prepared once.
    """
    known = [[place for place, other in enumerate(each.others) if other is not None] for each in wanting]
    others = [[other for other in each.others if other is not None] for each in wanting]
    texts = [each.text for each in wanting] + list(chain.from_iterable(others))
    counts = [len(places) for places in known]
    pairs = np.stack([np.repeat(np.arange(len(wanting)), counts), np.arange(len(wanting), len(texts))])
    least = np.concatenate([each.least[places] for each, places in zip(wanting, known, strict=True)])
    measured, found, start = verifier.measures(texts, pairs, least), [], 0
    for each, places, own in zip(wanting, known, others, strict=True):
        part = measured[start : start + len(own)]
        start += len(own)
        of_all = PairMeasures.of_similarities(np.full(len(each.others), np.nan))
        of_all.similarities[places], of_all.agreements[places] = part.similarities, part.agreements
        around = None
        if criteria.crowding and criteria.similarity is not None:
            keyed, cached = None if each.keyed is None else each.keyed[places], CachedTexts(verifier, own)
            count = len(each.others)
            around = HitSurroundings(cached, criteria, criteria.crowding, part, keyed, places, count)
        found.append((of_all, around))
    return found


def minimum_similarities(criteria: Criteria, compared: Compared) -> Similarities:
    """Return the similarity from which each hit counts: 0 for those that are near enough in bits anyway."""
    least = np.full(len(compared.hits), 0.0 if criteria.similarity is None else criteria.least)
    if criteria.distance is not None and compared.distances is not None:
        least[compared.distances <= criteria.distance] = 0.0
    return least


def _text(documents: Documents, hit: Json) -> str | None:
    """Return the text of a hit; None if it has no readable one, or an empty one."""
    return readable_text(documents, hit.get("_source") or {}) or None
