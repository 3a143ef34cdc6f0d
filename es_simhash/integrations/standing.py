"""Which of several texts stand for the others: what the parts for all frameworks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.fingerprint_store import settings_needed
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verification import Level

# Metadata of a document that stands for others: how many were left out for it, and their ids.
COUNT, IDS = "near_duplicates", "near_duplicate_ids"


@lru_cache(maxsize=16)
def scheme_and_options(
    scheme: str, similarity: float | Level | None, numbers: float | None
) -> tuple[Scheme, GroupOptions]:
    """Return how texts are compared, or raise; ``scheme`` is a preset's name, or what `Scheme.to_json` wrote."""
    chosen = Scheme.from_json(scheme) if scheme.lstrip().startswith("{") else Scheme.preset(scheme)
    options = GroupOptions(similarity=similarity, numbers=numbers)
    settings_needed(chosen, options.criteria(chosen))
    return chosen, options


def standing(
    scheme: str, similarity: float | Level | None, numbers: float | None, texts: Sequence[str]
) -> list[list[int]]:
    """Return the positions of the texts that are kept, in order, each followed by those that it stands for.

    The first of several near-duplicates is kept; so is each text with nothing to compare. Each text that is left out is
    near the one that stands for it, not only near another that is left out.
    """
    with group_texts(
        ((str(place), text) for place, text in enumerate(texts)), *scheme_and_options(scheme, similarity, numbers)
    ) as found:
        firsts = found.canonicals.tolist()
    kept: dict[int, list[int]] = {first: [first] for place, first in enumerate(firsts) if first == place}
    for place, first in enumerate(firsts):
        if first != place:
            kept[first].append(place)
    return list(kept.values())


def metadata_of(documents: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the metadata of the first of several documents, given as ids and metadata, with those it stands for.

    What they stood for already counts, too.
    """
    (_, own), *others = documents
    ids = [*own.get(IDS, ())]
    for id_, metadata in others:
        ids += [id_, *metadata.get(IDS, ())]
    count = own.get(COUNT, 0) + sum(1 + metadata.get(COUNT, 0) for _, metadata in others)
    return {**own, COUNT: count, IDS: ids}
