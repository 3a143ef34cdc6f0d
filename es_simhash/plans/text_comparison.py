"""Comparing the texts of candidates, where the scheme or the caller asks for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.index_rarity import IndexRarity
from es_simhash.plans.operations import GetDocuments, Plan
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Compared
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import PairMeasures
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.surroundings import Surroundings
from es_simhash.scheme.verdict.verification import Crowding
from es_simhash.scheme.verdict.verifier import Verifier, is_by_rarity, lowest_estimate
from es_simhash.sketches.minhash.common import Signatures
from es_simhash.sketches.minhash.estimate import standard_error
from es_simhash.text.idf import IdfTable

_READ_AT_ONCE = 200

# How many of the hits that are most similar to a text are compared with each other.
_MOST_COMPARED = 32

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
    return Verifier(documents.scheme, verification, weights)


def plausible_hits(settings: Settings, criteria: Criteria, compared: Compared) -> list[int]:
    """Return the positions of the hits that may be similar enough by their estimates."""
    if settings.minhash is None or criteria.similarity is None or criteria.verification is None:
        return list(range(len(compared.hits)))
    bits = settings.layout.signature_bits or settings.minhash.layout.value_bits
    least = lowest_estimate(criteria, standard_error(criteria.least, settings.minhash.layout.size, bits))
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
    """A text and the ``others`` to compare it with (None: not compared); similarities below ``least`` do not count.

    ``keyed`` are the values that the band keys of the others hold.
    """

    text: str
    others: Sequence[str | None]
    least: Sequence[float]
    keyed: Signatures | None


def compare_texts(
    verifier: Verifier, wanting: Sequence[Comparison], crowding: Crowding | None
) -> list[tuple[PairMeasures, Surroundings | None]]:
    """Measure each text and the known others, NaN for the unknown; and, if they count, the surroundings of others.

    These are the text and those of the others that are as similar to it as a crowd is.
    """
    texts = [each.text for each in wanting]
    known = [[place for place, other in enumerate(each.others) if other is not None] for each in wanting]
    least = [each.least[place] for each, places in zip(wanting, known, strict=True) for place in places]
    starts = np.cumsum([len(texts), *map(len, known)])
    texts += [other for each in wanting for other in each.others if other is not None]
    rows = np.repeat(np.arange(len(wanting)), [len(places) for places in known])
    pairs = np.stack([rows, np.arange(len(wanting), len(texts))])
    measured = verifier.measures(texts, pairs, np.array(least))
    found: list[tuple[PairMeasures, Surroundings | None]] = []
    for number, (each, places) in enumerate(zip(wanting, known, strict=True)):
        own = measured[slice(starts[number] - len(wanting), starts[number + 1] - len(wanting))]
        of_all = PairMeasures.of_similarities(np.full(len(each.others), np.nan))
        of_all.similarities[places], of_all.agreements[places] = own.similarities, own.agreements
        around = None
        if crowding:
            keyed = None if each.keyed is None else each.keyed[places]
            around = _surroundings(verifier, [each.others[place] or "" for place in places], own, keyed, crowding)
            around = _spread(around, places, len(each.others))
        found.append((of_all, around))
    return found


def _surroundings(
    verifier: Verifier,
    others: Sequence[str],
    measured: PairMeasures,
    keyed: Signatures | None,
    crowding: Crowding,
) -> Surroundings:
    """Return what is around texts by their similarity to one text, and to each other, if they share a key."""
    similar = np.flatnonzero(measured.similarities >= crowding.least)
    nearest = similar[np.argsort(-measured.similarities[similar], kind="stable")].tolist()
    copies = Counter(others[place] for place in nearest)
    numbers = {text: number for number, text in enumerate(copies)}
    distinct = {others[place]: place for place in reversed(nearest)}
    among = Surroundings.of_copies(np.array(list(copies.values()), dtype=np.int64))
    compared = (
        np.array(list(combinations(range(min(len(numbers), _MOST_COMPARED)), 2)), dtype=np.int64).reshape(-1, 2).T
    )
    if compared.size:
        pairs = np.array([distinct[text] for text in numbers], dtype=np.int64)[compared]
        share = _share_a_key(verifier.settings, keyed, pairs)
        similarities = verifier.measures(others, pairs[:, share], crowding.least).similarities
        first, second = compared[:, share]
        among.add(first, second, similarities, crowding)
    found = Surroundings.of_copies(np.ones(len(others), dtype=np.int64))
    own = [numbers[others[place]] for place in nearest]
    found.crowd[nearest], found.best[nearest] = among.crowd[own] + 1, among.best[own]
    np.maximum(found.best, measured.similarities, out=found.best)
    return found


def _share_a_key(settings: Settings, keyed: Signatures | None, pairs: Integers) -> npt.NDArray[np.bool_]:
    if settings.minhash is None or keyed is None:
        return np.ones(pairs.shape[1], dtype=np.bool_)
    agree = (keyed[pairs[0]] == keyed[pairs[1]]).reshape(pairs.shape[1], -1, settings.minhash.rows)
    share: npt.NDArray[np.bool_] = agree.all(axis=2).any(axis=1)
    return share


def _spread(found: Surroundings, places: Sequence[int], count: int) -> Surroundings:
    spread = Surroundings.of_copies(np.ones(count, dtype=np.int64))
    spread.best[places], spread.crowd[places] = found.best, found.crowd
    return spread


def minimum_similarities(criteria: Criteria, distances: Sequence[int | None]) -> list[float]:
    """Return the similarity from which each hit counts: 0 for those that are near enough in bits anyway."""
    least = 0.0 if criteria.similarity is None else criteria.least
    return [0.0 if criteria.are_met(distance, None) else least for distance in distances]


def _text(documents: Documents, hit: Json) -> str | None:
    """Return the text of a hit; None if it has no readable one, or an empty one."""
    return readable_text(documents, hit.get("_source") or {}) or None
