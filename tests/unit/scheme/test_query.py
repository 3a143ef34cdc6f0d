from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError, SchemeError, TextError
from es_simhash.scheme.fingerprinting import Fingerprint
from es_simhash.scheme.own_fields import names, terms
from es_simhash.scheme.query import Criteria, body, clause, compared_fields, more_like_this, restricted, shared_bands
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS, Layout, MinHash, SimHash
from es_simhash.scheme.verification import Verification

TEXT = "Near-duplicate detection finds what was copied, 轉載 and コピー, and changed a little."

# Two blocks of four bits; two bands of two rows of six bits, in two digits. Worked out by hand:
# the blocks are 1010 (K) and 0101 (F); the bands 64·1 + 2 + 2531 and 64·3 + 4 + 2·2531 modulo 4096.
SMALL = Scheme(simhash=SimHash(8, 2, 1), minhash=MinHash(size=4, bands=2, rows=2, key_bits=12))
FINGERPRINT = Fingerprint("ok", 0b1010_0101, np.array([1, 2, 3, 4], dtype="<u4").tobytes())
BLOCKS, BANDS = ["0K", "1F"], ["ol", "SK"]


def small(layout: Layout) -> Scheme:
    return replace(SMALL, layout=layout)


def term(field: str, key: str) -> Json:
    return {"constant_score": {"filter": {"term": {field: key}}}}


def should(least: int, *clauses: Json) -> Json:
    return {"bool": {"should": list(clauses), "minimum_should_match": least}}


# --- what a match is ---

BOTH, SIMHASH, MINHASH = Scheme(), Scheme(minhash=None), Scheme(simhash=None)


@pytest.mark.parametrize(
    ("scheme", "keywords", "expected"),
    [
        # By MinHash, if nothing is said and the scheme has it.
        (BOTH, {}, (None, 0.6)),
        (SIMHASH, {}, (3, None)),
        (MINHASH, {}, (None, 0.6)),
        # By what there is a threshold for.
        (BOTH, {"distance": 2}, (2, None)),
        (BOTH, {"similarity": 0.5}, (None, 0.5)),
        (BOTH, {"distance": 0, "similarity": 1}, (0, 1)),
        # By what is said, with the thresholds of the scheme.
        (BOTH, {"by": "simhash"}, (3, None)),
        (BOTH, {"by": "minhash"}, (None, 0.6)),
        (BOTH, {"by": "both"}, (3, 0.6)),
        (BOTH, {"by": "simhash", "distance": 5}, (5, None)),
        (BOTH, {"by": "minhash", "similarity": 0.9}, (None, 0.9)),
        (BOTH, {"by": "both", "distance": 1}, (1, 0.6)),
        (BOTH, {"by": "both", "similarity": 0.9}, (3, 0.9)),
        (BOTH, {"by": "both", "distance": 1, "similarity": 0.9}, (1, 0.9)),
    ],
)
def test_criteria_are_what_is_asked_for_and_else_the_scheme_s(
    scheme: Scheme, keywords: Any, expected: tuple[int | None, float | None]
) -> None:
    assert Criteria.of(scheme, **keywords) == Criteria(*expected)


@pytest.mark.parametrize(
    ("scheme", "keywords", "remedy"),
    [
        (BOTH, {"by": "simhash", "similarity": 0.5}, "A similarity means nothing to a search by simhash. Leave it out"),
        (BOTH, {"by": "minhash", "distance": 3}, "A distance means nothing to a search by minhash. Leave it out"),
        (BOTH, {"by": "jaccard"}, "cannot be found by 'jaccard'. Choose from: simhash, minhash, both."),
        (SIMHASH, {"by": "minhash"}, "has no MinHash to find by. Search by a distance"),
        (SIMHASH, {"by": "both"}, "has no MinHash"),
        (MINHASH, {"by": "simhash"}, "has no SimHash to find by. Search by a similarity"),
        (MINHASH, {"by": "both"}, "has no SimHash"),
        (MINHASH, {"distance": 3}, "has no SimHash"),
        (BOTH, {"similarity": 0}, "minimum similarity cannot be 0"),
        (BOTH, {"similarity": 1.1}, "minimum similarity cannot be 1.1"),
        (BOTH, {"distance": -1}, "-1 is not a Hamming distance"),
        (BOTH, {"distance": 2.0}, "2.0 is not a Hamming distance"),
    ],
)
def test_what_cannot_be_found_by_is_refused_with_a_remedy(scheme: Scheme, keywords: Any, remedy: str) -> None:
    with pytest.raises(SchemeError) as error:
        Criteria.of(scheme, **keywords)
    assert remedy in str(error.value)


def test_a_similarity_without_minhash_is_refused_for_what_it_is() -> None:
    with pytest.raises(SchemeError, match="no MinHash"):
        Criteria.of(SIMHASH, similarity=0.5)


# --- the clause ---


@pytest.mark.parametrize("keys", ["text", "keyword"])
def test_keys_of_a_kind_are_looked_up_in_one_field(keys: Any) -> None:
    scheme = small(Layout(keys))
    blocks = should(1, *(term("dedup.blocks", key) for key in BLOCKS))
    bands = should(1, *(term("dedup.bands", key) for key in BANDS))
    assert clause(scheme, FINGERPRINT, Criteria(1, None)) == blocks
    assert clause(scheme, FINGERPRINT, Criteria(None, 0.6)) == bands
    assert clause(scheme, FINGERPRINT, Criteria(1, 0.6)) == should(1, blocks, bands)


def test_keys_in_fields_of_their_own_are_looked_up_there() -> None:
    scheme = small(Layout("fields"))
    blocks = should(1, term("near.block0", "0K"), term("near.block1", "1F"))
    bands = should(1, term("near.band0", "ol"), term("near.band1", "SK"))
    assert clause(scheme, FINGERPRINT, Criteria(1, None), "near") == blocks
    assert clause(scheme, FINGERPRINT, Criteria(None, 0.6), "near") == bands
    assert clause(scheme, FINGERPRINT, Criteria(1, 0.6), "near") == should(1, blocks, bands)
    unscored = clause(scheme, FINGERPRINT, Criteria(None, 0.6), "near", scored=False)
    keys = [{"term": {"near.band0": "ol"}}, {"term": {"near.band1": "SK"}}]
    assert unscored == {"constant_score": {"filter": {"bool": {"should": keys, "minimum_should_match": 1}}}}


@pytest.mark.parametrize("scored", [True, False])
def test_as_many_bands_must_be_shared_as_pairs_of_the_similarity_nearly_always_do(scored: bool) -> None:
    scheme = Scheme()
    found = clause(scheme, scheme.fingerprint(TEXT), Criteria(None, 0.6), scored=scored)
    least = found["bool"] if scored else found["constant_score"]["filter"]["bool"]
    assert (least["minimum_should_match"], len(least["should"])) == (2, 36)


def test_a_large_index_is_asked_for_documents_that_share_more_bands() -> None:
    minhash, near = MinHash(), Criteria(None, 0.63, Verification())
    assert [shared_bands(minhash, near, documents) for documents in (0, 10**6, 10**7, 10**9)] == [2, 2, 3, 3]
    # Of less similar texts too few would be found.
    assert shared_bands(minhash, Criteria(None, 0.5, Verification()), 10**7) == 2
    first = MinHash(bands=32, rows=4, key_bits=30)
    assert [shared_bands(first, near, documents) for documents in (0, 10**9)] == [1, 1]


@pytest.mark.parametrize("keys", ["text", "keyword"])
def test_without_scores_the_bands_are_one_lookup(keys: Any) -> None:
    scheme = small(Layout(keys))
    blocks = should(1, *(term("dedup.blocks", key) for key in BLOCKS))
    bands = {"constant_score": {"filter": {"terms": {"dedup.bands": BANDS}}}}
    assert clause(scheme, FINGERPRINT, Criteria(1, None), scored=False) == blocks
    assert clause(scheme, FINGERPRINT, Criteria(None, 0.6), scored=False) == bands
    assert clause(scheme, FINGERPRINT, Criteria(1, 0.6), scored=False) == should(1, blocks, bands)


@pytest.mark.parametrize("blocks", [4, 6, 36])
def test_all_within_the_distance_share_as_many_blocks_as_are_asked_for(blocks: int) -> None:
    scheme = Scheme(simhash=SimHash(64, blocks, 3), minhash=None)
    fingerprint = scheme.fingerprint(TEXT)
    for distance in range(blocks):
        asked = clause(scheme, fingerprint, Criteria.of(scheme, distance=distance))["bool"]
        assert asked["minimum_should_match"] == blocks - distance
        assert len(asked["should"]) == blocks
    for distance in (blocks, blocks + 7):
        with pytest.raises(SchemeError, match=rf"at distance {distance}\. Choose at least {distance + 1} blocks\.$"):
            Criteria.of(scheme, distance=distance)


@pytest.mark.parametrize("criteria", [Criteria(1, None), Criteria(None, 0.6), Criteria(1, 0.6)])
def test_an_empty_text_is_refused(criteria: Criteria) -> None:
    with pytest.raises(TextError, match=r"^An empty text cannot be searched for\. Give a text with letters or"):
        clause(SMALL, Fingerprint("empty", None, None), criteria)


def test_a_short_text_is_looked_up_like_others() -> None:
    short = replace(FINGERPRINT, status="short")
    assert clause(SMALL, short, Criteria(1, 0.6)) == clause(SMALL, FINGERPRINT, Criteria(1, 0.6))


@pytest.mark.parametrize("criteria", [Criteria(1, None), Criteria(None, 0.6)])
@pytest.mark.parametrize("scored", [True, False])
def test_a_fingerprint_without_what_is_searched_by_is_refused(criteria: Criteria, scored: bool) -> None:
    """As one of another scheme is, or one that a caller read from elsewhere."""
    other = Fingerprint("ok", None, FINGERPRINT.minhash) if criteria.distance else Fingerprint("ok", 5, None)
    with pytest.raises(InputError):
        clause(SMALL, other, criteria, scored=scored)


def clauses(query: Any) -> int:
    """How many clauses a query has, counted like Lucene: each term by itself."""
    if isinstance(query, list):
        return sum(map(clauses, query))
    if isinstance(query, dict):
        return sum(1 if name == "term" else clauses(inner) for name, inner in query.items())
    return 0


SCHEMES_BY_SIZE = {name: Scheme.preset(name) for name in PRESETS if name != "chinese-keywords"} | {
    "128 bits, 250 bands": Scheme(simhash=SimHash(128, 36, 10), minhash=MinHash(size=500, bands=250, rows=2)),
}


@pytest.mark.parametrize("scheme", SCHEMES_BY_SIZE.values(), ids=SCHEMES_BY_SIZE)
@pytest.mark.parametrize("keys", ["text", "fields"])
def test_a_query_has_fewer_clauses_than_engines_allow(scheme: Scheme, keys: Any) -> None:
    scheme = replace(scheme, layout=Layout(keys))
    criteria = Criteria.of(scheme, by="both" if scheme.minhash else "simhash")
    keyed = clauses(clause(scheme, scheme.fingerprint(TEXT), criteria))
    bands = scheme.minhash.bands if scheme.minhash else 0
    assert scheme.simhash
    assert keyed == scheme.simhash.blocks + bands < 1024


def test_schemes_with_more_keys_than_a_query_can_have_are_refused() -> None:
    with pytest.raises(SchemeError):
        Scheme(minhash=MinHash(size=4096, bands=1365, rows=3))


# --- candidates, by a small evaluator ---


def matches(query: Json, document: Json) -> bool:
    """Whether a document (the values of each field) matches a query."""
    [(kind, inner)] = query.items()
    if kind == "bool":
        shared = sum(matches(each, document) for each in inner.get("should", ()))
        required = (*inner.get("must", ()), *inner.get("filter", ()))
        return (
            shared >= inner.get("minimum_should_match", 0)
            and all(matches(each, document) for each in required)
            and not any(matches(each, document) for each in inner.get("must_not", ()))
        )
    if kind == "constant_score":
        return matches(inner["filter"], document)
    if kind == "ids":
        return document["_id"][0] in inner["values"]
    [(field, wanted)] = inner.items()
    values = document.get(field, ())
    return bool(set(values) & set(wanted)) if kind == "terms" else wanted in values


def indexed(scheme: Scheme, fingerprint: Fingerprint, id: str = "") -> Json:
    """A document as an index knows it."""
    document: Json = {"_id": [id]}
    for found in (terms(scheme, "block", fingerprint), terms(scheme, "band", fingerprint)):
        for field, key in found:
            document.setdefault(f"dedup.{field}", []).append(key)
    return document


def fingerprints() -> st.SearchStrategy[Fingerprint]:
    """Fingerprints that often share blocks and bands."""
    signature = st.lists(st.integers(0, 2), min_size=4, max_size=4)
    simhash = st.sampled_from([0, 0b1010_0101, 0b1010_1111]) | st.integers(0, 255)
    return st.builds(
        lambda simhash, values: Fingerprint("ok", simhash, np.array(values, dtype="<u4").tobytes()), simhash, signature
    )


CRITERIA = st.sampled_from(
    [Criteria(0, None), Criteria(1, None), Criteria(None, 0.6), Criteria(1, 0.6), Criteria(0, 1)]
)


@given(fingerprints(), fingerprints(), CRITERIA, st.sampled_from(["text", "keyword", "fields"]))
def test_with_and_without_scores_the_same_documents_match(
    one: Fingerprint, other: Fingerprint, criteria: Criteria, keys: Any
) -> None:
    scheme = small(Layout(keys))
    document = indexed(scheme, other)
    scored, plain = (matches(clause(scheme, one, criteria, scored=each), document) for each in (True, False))
    assert scored == plain
    shared_blocks = len(set(scheme.block_keys(one)) & set(scheme.block_keys(other)))
    shared_bands = len(set(scheme.band_keys(one)) & set(scheme.band_keys(other)))
    by_blocks = criteria.distance is not None and shared_blocks >= 2 - criteria.distance
    by_bands = criteria.similarity is not None and shared_bands >= 1
    assert scored == (by_blocks or by_bands)


@given(st.integers(0, 255), st.lists(st.integers(0, 7), max_size=1), st.integers(0, 1))
def test_every_simhash_within_the_distance_is_a_candidate(simhash: int, flips: list[int], distance: int) -> None:
    other = simhash
    for position in flips:
        other ^= 1 << position
    query = clause(SMALL, Fingerprint("ok", simhash, None), Criteria(distance, None))
    if len(flips) <= distance:
        assert matches(query, indexed(SMALL, Fingerprint("ok", other, None)))


# --- the request ---

QUERY: Json = {"match_all": {}}
FILTERS: list[tuple[Any, list[Json]]] = [
    ({"term": {"lang": "en"}}, [{"term": {"lang": "en"}}]),
    ([{"term": {"lang": "en"}}], [{"term": {"lang": "en"}}]),
    (
        ({"exists": {"field": "a"}}, {"range": {"n": {"gt": 1}}}),
        [{"exists": {"field": "a"}}, {"range": {"n": {"gt": 1}}}],
    ),
]


@pytest.mark.parametrize("nothing", [None, {}, [], ()])
def test_without_restrictions_a_query_stays_as_it_is(nothing: Any) -> None:
    assert restricted(QUERY, nothing, ()) == QUERY


@pytest.mark.parametrize(("given", "filters"), FILTERS)
def test_the_user_s_filters_are_not_part_of_the_score(given: Any, filters: list[Json]) -> None:
    assert restricted(QUERY, given, ()) == {"bool": {"must": [QUERY], "filter": filters}}


def test_documents_are_left_out_by_their_ids() -> None:
    left_out = [{"ids": {"values": ["a", "b"]}}]
    assert restricted(QUERY, None, ("a", "b")) == {"bool": {"must": [QUERY], "must_not": left_out}}
    language = {"term": {"lang": "en"}}
    assert restricted(QUERY, language, ["a", "b"]) == {
        "bool": {"must": [QUERY], "filter": [language], "must_not": left_out}
    }


@pytest.mark.parametrize("given", ["lang:en", [1], [{"term": {}}, "x"], [[{"term": {}}]], [None]])
def test_what_is_not_a_filter_is_refused(given: Any) -> None:
    with pytest.raises(
        InputError, match=r"A filter cannot be .*Give a query, as in the engine's search requests, or a"
    ):
        restricted(QUERY, given, ())


@pytest.mark.parametrize("given", [5, True, object()])
def test_a_filter_that_is_not_a_list_either_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="A filter cannot be"):
        restricted(QUERY, given, ())


def test_one_string_is_not_taken_for_many() -> None:
    assert restricted(QUERY, None, "abc")["bool"]["must_not"] == [{"ids": {"values": ["abc"]}}]
    assert body(QUERY, size=1, source="title")["_source"] == ["title"]


def test_a_request_asks_for_the_first_candidates_and_no_total() -> None:
    assert body(QUERY, size=7, source=("a", "b")) == {
        "query": QUERY,
        "size": 7,
        "_source": ["a", "b"],
        "track_total_hits": False,
    }
    for all_or_none in (True, False):
        assert body(QUERY, size=7, source=all_or_none)["_source"] is all_or_none
    language = {"term": {"lang": "en"}}
    request = body(QUERY, size=7, source=False, filter=language, exclude=["a"])
    assert request["query"] == restricted(QUERY, language, ["a"])


def test_a_request_alters_nothing_of_the_caller_s() -> None:
    filters: list[Json] = [{"term": {"lang": "en"}}]
    exclude, query = ["a"], deepcopy(QUERY)
    request = body(query, size=1, source=["a"], filter=filters, exclude=exclude)
    request["query"]["bool"]["filter"].append({})
    request["query"]["bool"]["must_not"][0]["ids"]["values"].append("b")
    assert (filters, exclude, query) == ([{"term": {"lang": "en"}}], ["a"], QUERY)


def test_a_scheme_makes_the_whole_request() -> None:
    fingerprint = BOTH.fingerprint(TEXT)
    request = BOTH.query(
        fingerprint, by="both", distance=1, filter={"term": {"a": 1}}, exclude=["x"], size=5, prefix="p"
    )
    made = clause(BOTH, fingerprint, Criteria(1, 0.6), "p")
    assert request == body(made, size=5, source=compared_fields(BOTH, "p"), filter={"term": {"a": 1}}, exclude=["x"])
    assert BOTH.dedupe_clause(fingerprint, by="both", distance=1, prefix="p") == made


@given(fingerprints(), st.lists(fingerprints(), max_size=6), st.sets(st.integers(0, 5)))
def test_excluded_documents_and_no_others_are_left_out(
    one: Fingerprint, others: Sequence[Fingerprint], excluded: set[int]
) -> None:
    candidates = clause(SMALL, one, Criteria(1, 0.6))
    query = restricted(candidates, None, [str(i) for i in sorted(excluded)])
    documents = [indexed(SMALL, each, str(i)) for i, each in enumerate(others)]
    found = {i for i, document in enumerate(documents) if matches(query, document)}
    assert found == {i for i, document in enumerate(documents) if matches(candidates, document)} - excluded


# --- what is read of the candidates ---


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (BOTH, ["simhash", "bands", "content", "scheme", "status"]),
        (SIMHASH, ["simhash", "content", "scheme", "status"]),
        (MINHASH, ["bands", "content", "scheme", "status"]),
        (small(Layout("fields")), ["simhash", "band0", "band1", "content", "scheme", "status"]),
    ],
)
def test_a_re_rank_reads_all_but_the_blocks(scheme: Scheme, expected: list[str]) -> None:
    assert compared_fields(scheme, "near") == [f"near.{name}" for name in expected]


def test_a_signature_apart_is_read() -> None:
    scheme = Scheme(layout=Layout(signature_bits=8))
    assert "dedup.signature" in compared_fields(scheme, "dedup")
    assert {path.removeprefix("dedup.") for path in compared_fields(scheme, "dedup")} < set(names(scheme))


# --- candidates without our fields ---


def like(field: str, text: str) -> Json:
    return {
        "more_like_this": {
            "fields": [field],
            "like": [text],
            "include": True,
            "min_term_freq": 1,
            "min_doc_freq": 2,
            "max_query_terms": 50,
            "minimum_should_match": "70%",
        }
    }


def test_more_like_this_compares_each_field_with_its_text() -> None:
    query = more_like_this({"title": "t", "body.text": "b"})
    assert query == should(1, like("title", "t"), like("body.text", "b"))


def test_fields_without_text_are_left_out() -> None:
    assert more_like_this({"title": "", "body": "b"}) == should(1, like("body", "b"))


@pytest.mark.parametrize("texts", [{}, {"title": "", "body": ""}])
def test_nothing_is_like_no_text(texts: dict[str, str]) -> None:
    with pytest.raises(TextError):
        more_like_this(texts)
