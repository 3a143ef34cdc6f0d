"""Searches for distinct hits: documents with near-duplicates, and oracles that compare each pair of hits."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.plans.distinct import DistinctPage
from es_simhash.plans.operations import Action, Bulk, Search
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verifier import Verifier, are_near, clauses
from tests.support.corpus import corpus, edited

FIELDS = ("title", "body")
ALL: Json = {"query": {"match_all": {}}}


def documents(count: int = 24) -> dict[str, Json]:
    """Originals and their copies, more or less edited, in an order that mixes them."""
    rng, found = random.Random(4), {}
    for number, original in enumerate(corpus(count)):
        found[f"{number}"] = {**original, "lang": "en", "number": number}
        for edits in rng.sample([0, 1, 3, 8, 20, 40], rng.choice([0, 0, 1, 3, 5])):
            found[f"{number}-{edits}"] = {**edited(original, edits), "lang": "xx", "number": number}
    ids = list(found)
    rng.shuffle(ids)
    return {id_: found[id_] for id_ in ids}


TEXTS = documents()


SHORT: Json = {"title": "", "body": "Hi", "lang": "en"}
EMPTY: Json = {"title": "", "body": " ", "lang": "en"}
FOREIGN: Json = {**TEXTS["0"], **Documents(Scheme.preset("strict"), FIELDS).add_fields(TEXTS["0"])}
FOREIGN["dedup"] = {name: FOREIGN["dedup"][name] for name in ("scheme", "content", "status")}
# Each of them is shown, whatever else is.
APART: dict[str, Json] = {"short": SHORT, "empty": EMPTY, "no fingerprint": TEXTS["0"], "another scheme": FOREIGN}


def filled(
    engine: Engine, name: str, texts: dict[str, Json] = TEXTS, mappings: Json | None = None, **known: Any
) -> Index:
    index = Index(name, engine, fields=FIELDS, **known)
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}
    index.init(create={"settings": settings} | ({"mappings": mappings} if mappings else {}))
    assert not index.add([{"_id": id_, "_source": each} for id_, each in texts.items()], refresh=True).refused
    return index


def with_apart(index: Index, more: Json | None = None) -> Index:
    """Add the documents that cannot be compared, with some more fields."""
    index.add([{"_id": each, "_source": {**APART[each], **(more or {})}} for each in ("short", "empty")])
    bare = [Action("index", each, {**APART[each], **(more or {})}) for each in ("no fingerprint", "another scheme")]
    assert not any(each.error for each in index.engine.perform(Bulk(index.name, bare, True)))
    return index


def ranked(index: Index, body: Json, size: int = 1000) -> list[Json]:
    """All hits of a search, or the first ones, as the engine ranks them."""
    hits: list[Json] = index.engine.perform(Search(index.name, {**body, "size": size}))["hits"]["hits"]
    return hits


def id_of(hit: Json) -> str:
    id_: str = hit["_id"]
    return id_


def folded_by_hand(
    hits: list[Json], is_near: Callable[[Json, Json], bool], name: Callable[[Json], str] = id_of
) -> dict[str, list[str]]:
    """The names of what is shown, each with what is folded under it: each hit goes under the first that is near."""
    shown: dict[str, tuple[Json, list[str]]] = {}
    for hit in hits:
        leader = next((each for each, _ in shown.values() if is_near(each, hit)), None)
        if leader is None:
            shown[name(hit)] = (hit, [])
        else:
            shown[name(leader)][1].append(name(hit))
    return {each: similar for each, (_, similar) in shown.items()}


def by_text(
    index: Index, document_of: Callable[[Json], Json] = lambda hit: TEXTS[hit["_id"]]
) -> Callable[[Json, Json], bool]:
    """Compare the texts of two hits by the rule."""
    own = index.documents
    scheme = own.scheme
    assert scheme.verification
    verifier = Verifier(scheme, scheme.verification, builtin())
    criteria = Criteria.of(scheme, verification=scheme.verification)

    def is_near(a: Json, b: Json) -> bool:
        if APART.keys() & {a["_id"], b["_id"]}:
            return False
        measured = verifier.measures([own.text_of(document_of(each)) for each in (a, b)], np.array([[0], [1]]))
        return bool(are_near(clauses(criteria, None, measured))[0])

    return is_near


def by_fingerprints(index: Index) -> Callable[[Json, Json], bool]:
    own = index.documents
    prints = {id_: own.scheme.fingerprint(own.text_of(each)) for id_, each in TEXTS.items()}
    least = Criteria.of(own.scheme).similarity or 0

    def is_near(a: Json, b: Json) -> bool:
        found = own.scheme.rerank(prints[a["_id"]], {"hits": {"hits": [b]}}, similarity=0.0001)
        return any((match.similarity or 0) >= least for match in found)

    return is_near


def shown(page: DistinctPage) -> dict[str, list[str]]:
    return {each.hit["_id"]: [match.id for match in each.similar] for each in page}
