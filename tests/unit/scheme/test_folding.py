"""Hits are folded under the first shown one that they duplicate, by kernels as by numpy."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.environment import NATIVE
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.scheme.folding import Columns, Folding, FoldingRule, GroupRule, _plausible
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Layout, MinHash, SimHash
from es_simhash.scheme.verifier import PairMeasures, Verifier
from tests.support.corpus import corpus, edited

SCHEMES = [
    Scheme(),
    Scheme.preset("strict"),
    Scheme(layout=Layout(signature_bits=8)),
    Scheme(layout=Layout(signature_bits=32)),
    Scheme(simhash=SimHash(100, 10, 8), minhash=MinHash(bands=20, rows=3)),
]


def rule_of(scheme: Scheme, **criteria: Any) -> FoldingRule:
    return FoldingRule(scheme, scheme.id, "dedup", Criteria.of(scheme, **criteria))


def hits_of(scheme: Scheme, documents: list[Json]) -> list[Json]:
    made = Documents(scheme, ["title", "body"]).add_fields_to_all(documents)
    return [{"_index": "i", "_id": str(place), "_source": source} for place, source in enumerate(made)]


def folded(rule: FoldingRule, hits: list[Json], step: int = 100) -> dict[str, list[tuple[str, Any]]]:
    folding = Folding(rule)
    for start in range(0, len(hits), step):
        folding.add(hits[start : start + step])
    return {each.hit["_id"]: [(match.id, match.similarity) for match in each.similar] for each in folding.shown}


DOCUMENTS = [edited(original, edits) for edits in (0, 25, 2, 8, 0) for original in corpus(5)]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: str(scheme.layout))
@pytest.mark.parametrize("criteria", [{}, {"by": "simhash"}, {"by": "both"}], ids=str)
def test_how_many_hits_are_read_at_once_makes_no_difference(
    scheme: Scheme, criteria: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scheme.minhash is None and criteria.get("by") == "both":
        pytest.skip("the scheme has no MinHash")
    rule, hits = rule_of(scheme, **criteria), hits_of(scheme, DOCUMENTS)
    at_once = folded(rule, hits)
    assert any(at_once.values())
    assert len(at_once) < len(hits)
    assert all(folded(rule, hits, step) == at_once for step in (1, 3, 7))
    monkeypatch.setenv(NATIVE, "0")
    assert folded(rule, hits, 7) == at_once


class Counted(Verifier):
    """A verifier that keeps how many pairs of texts it compares."""

    pairs = 0

    def measures(self, texts: Any, pairs: Any, least: Any = 0.0) -> PairMeasures:
        self.pairs += pairs.shape[1]
        return super().measures(texts, pairs, least)


def body_of(source: Json) -> str:
    body: str = source["body"]
    return body


def by_text(scheme: Scheme) -> tuple[FoldingRule, Counted]:
    assert scheme.verification
    verification = replace(scheme.verification, measure="jaccard")
    verifier = Counted(scheme, verification)
    texts = Criteria.of(scheme, verification=verification)
    return replace(rule_of(scheme), by_text=texts, verifier=verifier, text_of=body_of), verifier


def test_what_is_folded_is_compared_with_one_that_leads_and_with_no_other() -> None:
    documents = [edited(original, edits) for edits in (0, 1, 2, 3, 4) for original in corpus(5)]
    rule, verifier = by_text(Scheme())
    folding = Folding(rule)
    folding.add(hits_of(Scheme(), documents))
    assert [len(each.similar) for each in folding.shown] == [4] * 5
    assert verifier.pairs == 20


@pytest.mark.parametrize("has_texts", [False, True])
def test_where_enough_are_shown_the_rest_is_folded_under_those(has_texts: bool) -> None:
    rng, documents = random.Random(2), list(DOCUMENTS)
    rng.shuffle(documents)
    documents.insert(3, {"title": "", "body": ""})
    hits = hits_of(Scheme(), documents)

    def fold(enough: int | None) -> tuple[list[Any], int]:
        rule, verifier = by_text(Scheme())
        folding = Folding(rule if has_texts else replace(rule, text_of=lambda _: None))
        folding.add(hits, enough)
        return [(each.rank, each.similar) for each in folding.shown], verifier.pairs

    whole, pairs = fold(None)
    assert 5 < len(whole) < len(hits)
    for enough in range(len(whole) + 2):
        found, compared = fold(enough)
        assert found[:enough] == whole[:enough]
        assert [rank for rank, _ in found[enough : enough + 1]] == [rank for rank, _ in whole[enough : enough + 1]]
        assert compared <= pairs
    assert fold(0)[1] == 0


def test_a_hit_is_not_folded_under_one_that_is_itself_folded() -> None:
    """b is near a, and c is near b only: c is shown."""
    scheme = Scheme(minhash=None, simhash=SimHash(64, 6, 3))
    codes = [0b0, 0b111, 0b111111]

    def hit(code: int) -> Json:
        own = {"scheme": scheme.id, "status": "ok", "simhash": f"{code:016x}", "content": str(code)}
        return {"_index": "i", "_id": f"{code:b}", "_source": {"dedup": own}}

    assert {
        id_: [each for each, _ in similar] for id_, similar in folded(rule_of(scheme), list(map(hit, codes))).items()
    } == {
        "0": ["111"],
        "111111": [],
    }


def test_a_document_that_comes_again_is_not_a_near_duplicate_of_itself() -> None:
    scheme = Scheme()
    hits = hits_of(scheme, DOCUMENTS[:5])
    folding = Folding(rule_of(scheme))
    for some in (hits[:3], hits[1:]):
        folding.add(some)
    assert [(each.hit["_id"], each.similar) for each in folding.shown] == [(hit["_id"], []) for hit in hits]


@given(st.data())
def test_the_kernels_find_the_pairs_that_numpy_finds(data: st.DataObject) -> None:
    pytest.importorskip("es_simhash_native")
    count, words = data.draw(st.integers(1, 6)), data.draw(st.sampled_from([1, 2]))
    few = st.integers(0, 3)

    def table(width: int, dtype: Any) -> Any:
        return np.array(data.draw(st.lists(few, min_size=count * width, max_size=count * width)), dtype=dtype)

    simhashes = table(words, np.uint64)
    simhashes = simhashes if words == 1 else simhashes.reshape(count, 2)
    has_simhash, has_values = data.draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    columns = Columns(
        simhashes if has_simhash else None,
        table(4, np.uint32).reshape(count, 4) if has_values else None,
        [None] * count,
    )
    criteria = Criteria(data.draw(few) if has_simhash else None, 0.5 if has_values else None)
    rule = replace(rule_of(Scheme()), by_fingerprints=criteria)
    start, wanted = data.draw(st.integers(0, count)), data.draw(st.none() | st.integers(1, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(NATIVE, raising=False)
        found = _plausible(rule, columns, start, wanted)
        patch.setenv(NATIVE, "0")
        expected = _plausible(rule, columns, start, wanted)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert str(one.tolist()) == str(other.tolist())


NEAR = {
    (a, b)
    for b in range(len(DOCUMENTS))
    for a in range(b)
    if len(folded(rule_of(SCHEMES[0]), hits_of(SCHEMES[0], [DOCUMENTS[a], DOCUMENTS[b]]))) == 1
}
VALUES = st.sampled_from([None, "a", "b", ["a", "b"]])


@given(
    st.lists(st.tuples(VALUES, VALUES), min_size=len(DOCUMENTS), max_size=len(DOCUMENTS)),
    st.sampled_from([Scope(("tenant",)), Scope((), ("source",)), Scope(("tenant",), ("source",))]),
    st.sampled_from([1, 4, 100]),
    st.sampled_from([None, "by groups"]),
)
def test_hits_are_folded_under_the_first_that_is_near_and_in_scope(
    values: list[Any], scope: Scope, step: int, by_groups: str | None
) -> None:
    documents = [
        {**each, "tenant": tenant, "source": source} for each, (tenant, source) in zip(DOCUMENTS, values, strict=True)
    ]
    hits = hits_of(SCHEMES[0], documents)
    for place, hit in enumerate(hits):
        hit["_source"]["dedup"]["group"] = str(place % 5)
    expected: dict[int, list[int]] = {}
    for place, each in enumerate(documents):
        near = [
            other
            for other in expected
            if (place % 5 == other % 5 if by_groups else (other, place) in NEAR)
            and scope.in_scope(scope.values_of(documents[other]), scope.values_of(each))
        ]
        if near:
            expected[near[0]].append(place)
        else:
            expected[place] = []
    folding = Folding(GroupRule("dedup") if by_groups else rule_of(SCHEMES[0]), scope)
    for start in range(0, len(hits), step):
        folding.add(hits[start : start + step])
    found = {int(each.hit["_id"]): [int(match.id) for match in each.similar] for each in folding.shown}
    assert found == expected
    apart = [(place, "unscoped") for place, each in enumerate(documents) if scope.missing(each)]
    assert folding.apart == apart
