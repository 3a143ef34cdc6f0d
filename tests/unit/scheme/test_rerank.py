"""Matches as notebooks show them."""

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
from es_simhash.scheme import own_fields, rerank
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Compared, Match, Matches, Measured, compare
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash, SimHash
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import PairMeasures
from es_simhash.sketches.minhash.common import estimate, standard_error
from tests.support.html_reader import Reader

TEXT = "Near-duplicate detection finds what was copied, 轉載 and コピー, and changed a little."
TEXTS = [
    TEXT,
    TEXT.upper(),
    TEXT.replace("a little", "slightly"),
    TEXT + " So it does, and it does so again and again.",
    "Nothing in common: 完全に違う文章です。その内容も長さも別。",
    "short",
]

SCHEMES = {
    "text": Scheme(),
    "keyword": Scheme(layout=Layout("keyword")),
    "fields": Scheme(layout=Layout("fields")),
    "blocks alone": Scheme(layout=Layout(simhash="blocks")),
    "signature of 1 bit": Scheme(layout=Layout(signature_bits=1)),
    "signature of 8 bits": Scheme(layout=Layout("fields", signature_bits=8)),
    "whole signature": Scheme(layout=Layout(signature_bits=32)),
    "wide keys": Scheme(minhash=MinHash(size=100, bands=50, rows=1, key_bits=48)),
    "rows left over": Scheme(minhash=MinHash(size=128, bands=10, rows=3)),
    "32 bits": Scheme(simhash=SimHash(32, 4, 2)),
    "128 bits": Scheme(simhash=SimHash(128, 8, 3)),
    "simhash": Scheme(minhash=None),
    "minhash": Scheme(simhash=None),
}
each_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def hits(scheme: Scheme, texts: Sequence[str] = TEXTS, prefix: str = "dedup") -> list[Json]:
    """What an engine returns for documents of these texts."""
    stored = [
        each
        for batch in scheme.fingerprint_batches(texts)
        for each in own_fields.write(scheme, scheme.id, texts, batch)
    ]
    return [{"_index": "i", "_id": str(i), "_score": 1.0, "_source": {prefix: each}} for i, each in enumerate(stored)]


def compared(scheme: Scheme, found: list[Json], text: str | None = None) -> Compared:
    content = None if text is None else own_fields.content_hash(text)
    return compare(scheme, scheme.id, scheme.fingerprint(TEXT), found, prefix="dedup", content=content)


def listed(values: Any) -> Any:
    """Return an array as a list."""
    return None if values is None else values.tolist()


# --- the comparison ---


@each_scheme
def test_distances_are_those_of_the_fingerprints(scheme: Scheme) -> None:
    query = scheme.fingerprint(TEXT)
    expected = [scheme.distance(query, other) if scheme.simhash else None for other in scheme.fingerprints(TEXTS)]
    assert listed(compared(scheme, hits(scheme)).distances) == (expected if scheme.simhash else None)
    assert expected[:2] == ([0, 0] if scheme.simhash else [None, None])


@each_scheme
def test_similarities_are_estimated_from_the_bits_that_are_stored(scheme: Scheme) -> None:
    if scheme.minhash is None:
        assert compared(scheme, hits(scheme)).similarities is None
        return
    size, bits = scheme.minhash.size, scheme.layout.signature_bits
    if not bits:
        size, bits = scheme.minhash.bands * scheme.minhash.rows, min(32, scheme.minhash.key_bits // scheme.minhash.rows)
    query = scheme.fingerprint(TEXT).signature[:size]
    expected = [estimate(query, other.signature[:size], bits) for other in scheme.fingerprints(TEXTS)]
    similarities = listed(compared(scheme, hits(scheme)).similarities) or []
    assert similarities == expected
    assert similarities[:2] == [1, 1]
    assert max(similarities[4:]) < 0.3 < min(similarities[2:4])


@each_scheme
def test_nothing_is_compared_with_nothing(scheme: Scheme) -> None:
    found = compared(scheme, [])
    assert (found.hits, found.same_texts, found.foreign) == ([], [], 0)
    assert [listed(each) or [] for each in (found.distances, found.similarities)] == [[], []]


@each_scheme
def test_an_empty_text_is_compared_with_nothing(scheme: Scheme) -> None:
    found = hits(scheme)
    made = scheme.rerank(scheme.fingerprint(""), {"hits": {"hits": found}})
    assert (list(made), made.candidates, made.status) == ([], len(found), "empty")


def test_equal_texts_are_distinguished_from_similar_ones() -> None:
    scheme = Scheme()
    both = compared(scheme, hits(scheme), TEXT)
    assert both.same_texts == [True, False, False, False, False, False]
    assert listed(both.distances)[1] == 0
    assert not any(compared(scheme, hits(scheme)).same_texts)
    without = changed(hits(scheme)[0], content=None)
    assert compared(scheme, [without]).same_texts == compared(scheme, [without], TEXT).same_texts == [False]


def test_fields_may_lie_under_another_prefix() -> None:
    scheme = Scheme()
    found = compare(scheme, scheme.id, scheme.fingerprint(TEXT), hits(scheme, prefix="near"), prefix="near")
    assert listed(found.distances) == listed(compared(scheme, hits(scheme)).distances)
    assert compare(scheme, scheme.id, scheme.fingerprint(TEXT), hits(scheme), prefix="near").foreign == len(TEXTS)


def test_hits_are_never_altered() -> None:
    scheme = Scheme()
    found = hits(scheme)
    before = deepcopy(found)
    matches_of(compared(scheme, found), Criteria(3, 0.1), with_source=True)
    assert found == before


# --- hits that cannot be compared ---

SIGNED = Scheme(layout=Layout(signature_bits=8))


def changed(hit: Json, **stored: Any) -> Json:
    """A hit with other fields, or, where they are None, without."""
    own = {name: value for name, value in (hit["_source"]["dedup"] | stored).items() if value is not None}
    return {**hit, "_source": {"dedup": own}}


@pytest.mark.parametrize(
    "lacking",
    [
        {"_index": "i", "_id": "x"},
        {"_index": "i", "_id": "x", "_source": None},
        {"_index": "i", "_id": "x", "_source": {}},
        {"_index": "i", "_id": "x", "_source": {"dedup": None}},
        {"_index": "i", "_id": "x", "_source": {"dedup": "text"}},
        {"_index": "i", "_id": "x", "_source": {"dedup": [{}]}},
        {"_index": "i", "_id": "x", "_source": {"dedup": own_fields.deferred(SIGNED)}},
        changed(hits(SIGNED)[0], scheme=None),
        changed(hits(SIGNED)[0], scheme=Scheme(minhash=None).id),
        changed(hits(SIGNED)[0], simhash=None),
        changed(hits(SIGNED)[0], bands=None),
        changed(hits(SIGNED)[0], bands="AAAAA BBBBB"),
        changed(hits(SIGNED)[0], bands=["AAAAA"] * 33),
        hits(SIGNED, [""])[0],
        changed(hits(SIGNED)[0], signature=None),
        changed(hits(SIGNED)[0], signature="AAAA"),
        changed(hits(SIGNED)[0], simhash="no digits"),
        changed(hits(SIGNED)[0], simhash="f" * 17),
        changed(hits(SIGNED)[0], simhash=-1),
        changed(hits(SIGNED)[0], bands=7),
    ],
)
def test_what_is_not_a_whole_fingerprint_of_the_scheme_is_counted_and_left_out(lacking: Json) -> None:
    whole = hits(SIGNED)
    found = compared(SIGNED, [whole[0], lacking, whole[2]])
    assert found.foreign == 1
    assert found.hits == [whole[0], whole[2]]
    assert listed(found.distances) == [listed(compared(SIGNED, whole).distances)[i] for i in (0, 2)]
    matches = matches_of(found, Criteria(64, 0.01))
    assert (len(matches), matches.candidates, matches.foreign) == (2, 3, 1)


@pytest.mark.parametrize("keys", ["text", "keyword", "fields"])
def test_keys_that_are_not_keys_are_counted_and_left_out(keys: Any) -> None:
    scheme = Scheme(layout=Layout(keys))
    whole = hits(scheme)
    if keys == "fields":
        broken = changed(whole[1], band3="!")
    else:
        held = whole[1]["_source"]["dedup"]["bands"]
        listed = held.split() if isinstance(held, str) else [*held]
        listed[3] = "!"
        broken = changed(whole[1], bands=listed if keys == "keyword" else " ".join(listed))
    found = compared(scheme, [whole[0], broken])
    assert (found.hits, found.foreign) == ([whole[0]], 1)


def test_an_empty_text_that_came_by_an_update_is_counted_and_left_out() -> None:
    """An update takes the keys out by nulls, which stay in the document."""
    scheme = Scheme(simhash=None, layout=Layout("fields"))
    [empty] = hits(scheme, [""])
    emptied = {**empty, "_source": {"dedup": dict.fromkeys(own_fields.names(scheme)) | empty["_source"]["dedup"]}}
    assert compared(scheme, [emptied]).foreign == 1


def test_a_fingerprint_next_to_fields_of_others_is_read() -> None:
    [hit] = hits(SIGNED, [TEXT])
    hit["_source"] |= {"title": "x"}
    hit["_source"]["dedup"] |= {"group": "g"}
    assert listed(compared(SIGNED, [hit]).distances) == [0]


# --- what is a match ---


def made(rows: Sequence[tuple[int | None, float | None]], ids: Sequence[str] | None = None) -> Compared:
    """Hits of given distances, if these are known, and similarities."""
    simhashes = [(1 << row[0]) - 1 for row in rows if row[0] is not None]
    found: list[Json] = [
        {"_index": "i", "_id": id_, "_source": {"title": id_}} for id_ in ids or map(str, range(len(rows)))
    ]
    return Compared(
        found,
        np.array(simhashes, dtype=np.uint64) if len(simhashes) == len(rows) else None,
        np.array([np.nan if row[1] is None else row[1] for row in rows], dtype=np.float64),
        [False] * len(rows),
        0,
        simhash=0,
    )


def matches_of(hits: Compared, criteria: Criteria, exact: Sequence[float | None] | None = None, **more: Any) -> Matches:
    if exact is None:
        return rerank.matches_of(Measured(hits), criteria, **more)
    measures = PairMeasures.of_similarities(np.array([np.nan if each is None else each for each in exact]))
    return rerank.matches_of(Measured(hits, measures), criteria, **more)


ROWS = [(2, 0.7), (3, 0.6), (4, 0.599999), (0, 0.0), (64, 1.0)]


@pytest.mark.parametrize(
    ("criteria", "ids"),
    [
        (Criteria(3, None), "301"),
        (Criteria(0, None), "3"),
        (Criteria(None, 0.6), "401"),
        (Criteria(None, 1), "4"),
        (Criteria(3, 0.6), "4013"),
        (Criteria(None, None), ""),
    ],
)
def test_thresholds_are_matched_by_what_equals_them(criteria: Criteria, ids: str) -> None:
    assert [match.id for match in matches_of(made(ROWS), criteria)] == list(ids)


@pytest.mark.parametrize("criteria", [Criteria(64, None), Criteria(None, 0.001), Criteria(64, 0.001)])
def test_what_was_not_compared_is_not_a_match(criteria: Criteria) -> None:
    found: Json = {"_index": "i", "_id": "0", "_source": {}}
    assert not matches_of(Compared([found], None, None, [False], 0), criteria)


def test_a_match_shows_where_it_is_and_how_near() -> None:
    scheme = Scheme()
    found = hits(scheme)[:1]
    expected = Match("i", "0", 0, 1.0, same_text=True, standard_error=0.0, clause="equal")
    assert matches_of(compared(scheme, found, TEXT), Criteria(3, None))[0] == expected
    with_source = matches_of(compared(scheme, found), Criteria(3, None), with_source=True)[0]
    assert with_source.source == found[0]["_source"]
    assert not with_source.same_text


def test_an_estimate_has_its_standard_error_and_an_exact_similarity_none() -> None:
    scheme = Scheme()
    assert scheme.minhash
    estimated = list(matches_of(compared(scheme, hits(scheme)), Criteria(None, 0.01)))
    bands = scheme.minhash.layout
    for match in estimated:
        assert match.similarity is not None
        assert match.standard_error == standard_error(match.similarity, bands.size, bands.value_bits)
    assert 0.01 < max(match.standard_error or 0 for match in estimated) < 0.1
    exact = matches_of(made(ROWS), Criteria(None, 0.6), exact=[0.5, 0.9, 0.6, 0.0, 0.59])
    assert [match.standard_error for match in exact] == [None, None]


def test_exact_similarities_count_in_place_of_estimates() -> None:
    found = matches_of(made(ROWS), Criteria(None, 0.6), exact=[0.5, 0.9, 0.6, 0.0, 0.59])
    assert [(match.id, match.similarity, match.is_exact) for match in found] == [("1", 0.9, True), ("2", 0.6, True)]
    by_distance = matches_of(made(ROWS), Criteria(3, None), exact=[0.5, 0.9, 0.6, 0.0, 0.59])
    assert [(match.id, match.similarity) for match in by_distance] == [("3", 0.0), ("0", 0.5), ("1", 0.9)]


def test_estimates_stay_where_no_text_is_known() -> None:
    found = matches_of(made(ROWS), Criteria(None, 0.6), exact=[None, 0.9, None, None, 0.1])
    assert [(match.id, match.similarity, match.is_exact) for match in found] == [("1", 0.9, True), ("0", 0.7, False)]


# --- the order ---

distances = st.integers(0, 3)
similarities = st.none() | st.sampled_from([0.0, 0.25, 0.6, 1.0])
rows = st.lists(st.tuples(distances, similarities), max_size=12)
criteria = st.sampled_from([Criteria(3, None), Criteria(1, None), Criteria(None, 0.25), Criteria(2, 0.6)])


def place(match: Match, criteria: Criteria) -> tuple[float, ...]:
    distance = 1000 if match.distance is None else match.distance
    return (distance, -(match.similarity or 0)) if criteria.similarity is None else (-(match.similarity or 0), distance)


@given(rows, criteria, st.randoms())
def test_the_nearest_come_first_in_whatever_order_they_were_found(
    rows: list[tuple[int, float | None]], criteria: Criteria, random: Any
) -> None:
    found = matches_of(made(rows), criteria).matches
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = made([rows[i] for i in order], [str(i) for i in order])
    assert matches_of(shuffled, criteria).matches == found
    assert list(found) == sorted(found, key=lambda match: (place(match, criteria), match.index, match.id))


def test_ties_come_in_the_order_of_index_and_id() -> None:
    tied = Compared(
        [{"_index": index, "_id": id_, "_source": {}} for index, id_ in ("b1", "a2", "b0", "a1")],
        np.ones(4, dtype=np.uint64),
        np.full(4, 0.5),
        [False] * 4,
        0,
        simhash=0,
    )
    for wanted in (Criteria(1, None), Criteria(None, 0.5)):
        assert [match.index + match.id for match in matches_of(tied, wanted)] == ["a1", "a2", "b0", "b1"]


# --- matches as a sequence ---


def test_matches_are_a_sequence() -> None:
    found = matches_of(made(ROWS), Criteria(3, None))
    first, *others = found
    assert isinstance(found, Sequence)
    assert len(found) == 3
    assert found[0] == first
    assert found[-1] == others[-1]
    assert found[1:] == tuple(others)
    assert found[:100] == tuple(found) == found.matches
    assert others[0] in found
    assert found.index(others[0]) == 1
    assert list(reversed(found)) == [*reversed(others), first]
    with pytest.raises(IndexError):
        found[3]


def test_matches_are_true_if_there_are_any() -> None:
    assert matches_of(made(ROWS), Criteria(3, None))
    assert not matches_of(made(ROWS), Criteria(None, None))
    assert not Matches(())


def test_matches_say_whether_they_are_all() -> None:
    assert matches_of(made(ROWS), Criteria(3, None)).complete
    cut = matches_of(made(ROWS), Criteria(3, None), complete=False, status="short")
    assert (cut.complete, cut.candidates, cut.foreign, cut.status) == (False, 5, 0, "short")
    assert Matches((), status="empty") == Matches((), 0, True, 0, "empty")


# --- a scheme's own re-rank ---


def test_a_scheme_re_ranks_a_reply() -> None:
    scheme = Scheme()
    reply = {"hits": {"hits": [*hits(scheme), {"_index": "i", "_id": "9", "_source": {}}]}}
    fingerprint = scheme.fingerprint(TEXT)
    found = scheme.rerank(fingerprint, reply)
    assert found == matches_of(compared(scheme, reply["hits"]["hits"]), Criteria(None, 0.6))
    assert [match.id for match in found] == ["0", "1", "2", "3"]
    assert (found.candidates, found.foreign, found.status) == (7, 1, "ok")
    assert [match.id for match in scheme.rerank(fingerprint, reply, distance=0)] == ["0", "1"]
    assert scheme.rerank(fingerprint, {"hits": {"hits": []}}) == Matches(())


@pytest.mark.parametrize("bits", [1, 8, 32])
def test_a_stored_signature_estimates_better_than_the_keys(bits: int) -> None:
    """Ten bands of three rows hold 30 of the 128 values."""
    scheme = Scheme(simhash=None, minhash=MinHash(bands=10, rows=3), layout=Layout(signature_bits=bits))
    without = Scheme(simhash=None, minhash=MinHash(bands=10, rows=3))
    by_signature = listed(compared(scheme, hits(scheme)).similarities)
    by_keys = listed(compared(without, hits(without)).similarities)
    other = [each.signature for each in scheme.fingerprints(TEXTS)]
    query = scheme.fingerprint(TEXT).signature
    mask = np.uint32((1 << bits) - 1)
    chance = 0 if bits == 32 else 2.0**-bits
    shares = [float(((query ^ each) & mask == 0).mean()) for each in other]
    assert by_signature == pytest.approx([max(0.0, (share - chance) / (1 - chance)) for share in shares])
    assert by_signature != by_keys


def test_what_is_similar_but_meets_no_condition_is_counted_and_not_returned() -> None:
    exact = PairMeasures(np.array([0.7, 0.7, 0.4]), np.array([True, False, False]))
    found = rerank.matches_of(Measured(made([(None, 0.1)] * 3), exact), Criteria(None, 0.5, Verification(0.5)))
    assert [(match.id, match.similarity, match.clause) for match in found] == [("0", 0.7, "similar")]
    assert found.refused == 1


def test_the_number_of_similar_hits_makes_no_difference() -> None:
    for count in (1, 2, 30, 1000):
        found = rerank.matches_of(Measured(made([(None, 0.7)] * count)), Criteria(None, 0.5, Verification(0.5)))
        assert len(found) == count


NEAR = Match("news", "7", 3, 0.91, is_exact=True)


def shown(*matches: Match, **more: Any) -> str:
    return Reader(Matches(matches, **more)._repr_html_()).text


def test_each_match_is_a_row_and_columns_without_anything_are_left_out() -> None:
    assert shown(NEAR, candidates=4) == "1 near-duplicate" + "indexidsimilarity" + "news70.91"
    assert "text" in shown(replace(NEAR, same_text=True))
    assert "0.80 contained" in shown(replace(NEAR, similarity=None, containment=0.8))
    assert "0.91 ± 0.02" in shown(replace(NEAR, standard_error=0.02))
    assert "bits" not in shown(replace(NEAR, distance=None))


def test_what_was_asked_for_of_the_documents_is_shown() -> None:
    assert "sourcenews70.91A storm" in shown(replace(NEAR, source={"title": "A storm"}))
    assert "titlennews70.91中1" in shown(replace(NEAR, source={"title": "中", "n": 1}))


def test_many_matches_are_cut_with_a_count() -> None:
    assert "… and 90 more" in shown(*(replace(NEAR, id=str(place)) for place in range(100)))


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"complete": False}, "There may be more"),
        ({"status": "empty"}, "The text is empty"),
        ({"missing": ("tenant",)}, "no value in a field of the scope: tenant"),
        ({"foreign": 2}, "2 documents were not compared"),
        ({"unscoped": 2}, "Not compared: 2 documents of the index have no value in a field of the scope."),
    ],
)
def test_what_keeps_matches_from_being_all_is_noted(more: dict[str, Any], note: str) -> None:
    assert note in shown(**more)
    assert "No near-duplicates" in shown(**more)
