"""Checks of the keys: whether they suit the number of documents that there are, and that there will be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from es_simhash.documents.documents import Documents
from es_simhash.live.doctor.facts import Facts
from es_simhash.live.doctor.finding import Finding
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.sized_keys import key_load, keys_in_words, unrelated_similarities

_DAY = 86_400.0
_YEAR = 365
# An index younger than this, or that grows by less in a year, says nothing of how it will grow.
_LEAST_AGE, _LEAST_GROWTH = 1.0, 1.1


def check_keys(facts: Facts, documents: Documents) -> Iterator[Finding]:
    """Check whether searches compare many documents in vain, now or in a year, by a sample of the texts."""
    now = sum(there.documents for there in facts.indices)
    if not now:
        return
    unrelated = unrelated_similarities(documents.scheme, [*chain.from_iterable(each.texts for each in facts.indices)])
    keys, load = keys_in_words(documents.scheme), key_load(documents.scheme, now, unrelated)
    met = f"Among {now:,} documents a query by these keys ({keys}) meets about {load.false_candidates:,.0f} in vain"
    if load.is_outgrown:
        yield Finding("keys", "warning", f"{met}: the index has outgrown them.", _remedy(facts, documents, now))
        return
    later = _in_a_year(facts, now)
    if later and key_load(documents.scheme, later, unrelated).is_outgrown:
        message = f"{met}. At its growth the index will have {later:,} in a year, and outgrow them."
        yield Finding("keys", "note", message, _remedy(facts, documents, later))
        return
    yield Finding("keys", "ok", f"{met}.")


def _in_a_year(facts: Facts, now: int) -> int | None:
    """Return how many documents there will be in a year if they go on as since the first index was created."""
    created = [there.settings.get("index.creation_date", "") for there in facts.indices]
    if not all(each.isdigit() for each in created):
        return None
    days = (facts.now - min(int(each) for each in created) / 1000) / _DAY
    if days < _LEAST_AGE:
        return None
    later = now + round(now / days * _YEAR)
    return later if later >= _LEAST_GROWTH * now else None


def _remedy(facts: Facts, documents: Documents, wanted: int) -> str:
    fields = "".join(f" --field {field}" for field in documents.fields)
    init = f"es-simhash init {','.join(there.name for there in facts.indices)}{fields} --documents {wanted}"
    prefix = documents.prefix
    if not any(there.fingerprinted for there in facts.indices):
        return f"Choose keys before the backfill: {init}{'' if prefix == DEFAULT_PREFIX else f' --prefix {prefix}'}."
    return (
        f"Add other keys beside them: {init} --prefix {prefix}2, then backfill and search with that prefix, and remove "
        "the old ones."
    )
