"""Keys chosen for the number of documents that an index will hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from es_simhash.documents.documents import Documents, readable_text
from es_simhash.errors import MappingError, MissingError
from es_simhash.plans.open_index import ExpectedIndex, open_index
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import Plan
from es_simhash.plans.reply_size import sampled
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.sized_keys import KeyLoad, key_load, unrelated_similarities, with_keys_for
from es_simhash.sketches.key_plans import TYPICAL, Goal

# How many texts are sampled.
SAMPLED = 200


@dataclass(frozen=True)
class SizedScheme:
    """A scheme with keys for a number of documents: what they find and take, by a sample of ``texts``, or none.

    ``is_there`` if the index had these keys already.
    """

    scheme: Scheme
    load: KeyLoad
    texts: int
    is_there: bool


def sized_scheme(index: str, documents: Documents, goal: Goal, expected: ExpectedIndex) -> Plan[SizedScheme]:
    """Return the scheme with keys for the goal, by a sample of the texts if the index has enough.

    Keys that the index has already are kept, so that the same call can be repeated.
    """
    try:
        opened = yield from open_index(index, replace(expected, scheme=None))
    except (MissingError, MappingError):
        opened = None
    hits = (yield from attempt(sampled(index, SAMPLED, documents.fields, {"match_all": {}}))) or []
    found = (readable_text(documents, hit.get("_source") or {}) for hit in hits)
    texts = [text for text in found if text]
    unrelated = unrelated_similarities(documents.scheme, texts)
    by = 0 if unrelated is TYPICAL else len(texts)
    there = opened.documents.scheme if opened else None
    is_there = there is not None and _differs_in_keys_alone(there, documents.scheme)
    scheme = there if there and is_there else with_keys_for(documents.scheme, goal, unrelated)
    return SizedScheme(scheme, key_load(scheme, goal.documents, unrelated), by, is_there)


def _differs_in_keys_alone(there: Scheme, wanted: Scheme) -> bool:
    return replace(there, simhash=wanted.simhash, minhash=wanted.minhash).id == wanted.id
