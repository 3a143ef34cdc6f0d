"""Comparing the texts of candidates, where the scheme or the caller asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.plans.operations import Plan
from es_simhash.plans.reply_size import ReplySize, documents_by_id
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Compared
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verdict.rule import Similarities, are_plausible, are_similar

Texts = dict[tuple[str, str], str]


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


def texts_of_hits(documents: Documents, hits: Iterable[Json], size: ReplySize | None = None) -> Plan[Texts]:
    """Read the current texts of hits, by index and id; unreadable ones are left out."""
    by_index: dict[str, dict[str, str | None]] = defaultdict(dict)
    for hit in hits:
        by_index[hit["_index"]][hit["_id"]] = hit.get("_routing")
    texts: Texts = {}
    for index, routings in by_index.items():
        ids, given = list(routings), list(routings.values())
        replies = yield from documents_by_id(index, ids, documents.fields, given, size=size)
        read = ((id_, _text(documents, reply)) for id_, reply in zip(routings, replies, strict=True))
        texts.update({(index, id_): text for id_, text in read if text is not None})
    return texts


def minimum_similarities(criteria: Criteria, compared: Compared) -> Similarities:
    """Return the similarity from which each hit counts: 0 for those that are near enough in bits anyway."""
    least = np.empty(len(compared.hits))
    least.fill(0.0 if criteria.similarity is None else criteria.least)
    if criteria.distance is not None and compared.distances is not None:
        least[compared.distances <= criteria.distance] = 0.0
    return least


def _text(documents: Documents, hit: Json) -> str | None:
    """Return the text of a hit; None if it has no readable one, or an empty one."""
    return readable_text(documents, hit.get("_source") or {}) or None
