"""Deduplication in scopes, alongside a reference that compares all documents with all others.

The tables by which all pairs are found: each value stands in a table of every turn, and they miss few pairs.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash import DocumentError, GroupOptions, Scheme, Scope, Verification, dedup
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import TextCorpus, learn_from
from es_simhash.groups.pairs import fingerprint_store
from es_simhash.groups.pairs import fingerprint_store as scope_columns
from es_simhash.groups.pairs.candidates import HotKeys, Linker, positions
from es_simhash.groups.pairs.fingerprint_store import ScopeColumns, ScopeRows, value_tables
from es_simhash.groups.pairs.stored_rows import Spools
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verifier import CLAUSES, Verifier, lowest_estimate
from es_simhash.sketches.keys import sharing
from es_simhash.sketches.minhash.common import estimates
from tests.support.fuzzing import examples
from tests.support.scoped import SCOPES, connected, documents, in_scope, stars
from tests.support.standing_documents import standing as standing_ids

BY_DISTANCE: dict[str, Any] = {"by": "simhash", "distance": 5}
PLAIN = SCHEME = Scheme()


def pairs_of(found: Groups[TextCorpus]) -> dict[tuple[int, int], str]:
    rows = [
        (int(pair["first"]), int(pair["second"]), CLAUSES[pair["clause"]]) for block in found.pairs() for pair in block
    ]
    assert all(first < second for first, second, _ in rows)
    assert len({row[:2] for row in rows}) == len(rows)
    return {(first, second): clause for first, second, clause in rows}


def groups_of(found: Groups[TextCorpus]) -> set[frozenset[int]]:
    return {frozenset(map(int, group)) for group in found.ids()}


def near_in_scope(scope: Scope, known: list[Any], distance: int) -> set[tuple[int, int]]:
    """The pairs that are in scope, and equal or near by their distance."""
    texts = [text for _, text, _ in known]
    prints = list(PLAIN.fingerprints(texts))
    near = {
        (a, b)
        for a, b in in_scope(scope, known)
        if prints[a].simhash is not None
        and prints[b].simhash is not None
        and (texts[a] == texts[b] or PLAIN.distance(prints[a], prints[b]) <= distance)
    }
    return near


@given(st.integers(0, 10_000), st.sampled_from(SCOPES))
@examples(150)
def test_pairs_and_groups_within_a_distance_are_those_of_all_pairs_in_scope(seed: int, scope: Scope) -> None:
    known = documents(seed)
    expected = near_in_scope(scope, known, 5)
    with dedup(known, scheme=PLAIN, scope=scope, threads=1, **BY_DISTANCE) as found:
        pairs = pairs_of(found)
        assert groups_of(found) == connected(expected)
        texts = {text for _, text, _ in known}
        assert found.counts.unscoped == sum(
            scope.values_of(own) is None and PLAIN.fingerprint(text).simhash is not None for _, text, own in known
        )
        assert found.counts.empty == sum(PLAIN.fingerprint(text).simhash is None for _, text, _ in known)
    assert set(pairs) <= expected
    if scope.across or scope.window:
        assert set(pairs) == expected
    assert all((known[a][1] == known[b][1]) == (clause == "equal") for (a, b), clause in pairs.items())
    assert texts


@given(st.integers(0, 10_000), st.sampled_from(SCOPES))
@examples(80)
def test_what_stands_for_a_document_is_in_scope_with_it(seed: int, scope: Scope) -> None:
    known = documents(seed)
    expected = near_in_scope(scope, known, 5)

    def near(one: int, other: int) -> bool:
        return (min(one, other), max(one, other)) in expected

    with dedup(known, scheme=PLAIN, scope=scope, threads=1, **BY_DISTANCE) as found:
        standing = {frozenset(map(int, group)) for group in standing_ids(found)}
    assert standing == stars(len(known), near)


def one_source(seed: int, count: int) -> list[Any]:
    """Documents with two texts and one value in each field; runs of the same source are long."""
    chosen = random.Random(seed)
    sources = chosen.choices(["s", "s", "s", "t", "u"], k=count)
    days = chosen.choices(range(12), k=count)
    if chosen.random() < 0.5:
        sources.sort()
        days.sort()
    return [
        (
            str(place),
            chosen.choice(["the same words everywhere", "other words than those"]),
            {"tenant": chosen.choice("aab"), "source": source, "at": day * 86_400_000 + 10**12},
        )
        for place, (source, day) in enumerate(zip(sources, days, strict=True))
    ]


ALL = Scope(("tenant",), ("source",), timedelta(days=3), "at")


@given(st.integers(0, 10_000), st.integers(60, 400), st.sampled_from([*SCOPES[:5], ALL, replace(ALL, within=())]))
@examples(60)
def test_very_many_copies_are_grouped_as_if_all_were_compared(seed: int, count: int, scope: Scope) -> None:
    known = one_source(seed, count)
    expected = {(a, b) for a, b in in_scope(scope, known) if known[a][1] == known[b][1]}
    with dedup(known, scheme=PLAIN, scope=scope, threads=1, by="simhash", distance=0) as found:
        pairs, groups = set(pairs_of(found)), groups_of(found)
    assert pairs <= expected
    assert groups == connected(expected)
    assert len(pairs) <= 35 * count


# Of the example, two texts have numbers in common, and little else.
@given(st.integers(0, 10_000), st.sampled_from(SCOPES))
@example(6129, SCOPES[0])
@examples(60)
def test_texts_are_near_only_in_scope(seed: int, scope: Scope) -> None:
    known = documents(seed, copies=2)
    with pytest.MonkeyPatch.context() as patch:
        # With a value a key, all pairs that have anything in common are compared.
        patch.setattr(fingerprint_store, "_MOST_VALUES", 1)
        found = dedup(known, scheme=SCHEME, scope=scope, threads=1)
    with found:
        pairs = {pair: clause for pair, clause in pairs_of(found).items() if clause != "equal"}
        groups = groups_of(found)
    expected = near_by_text(scope, known)
    if scope.across or scope.window:
        assert pairs == expected
    else:
        firsts: dict[Any, int] = {}
        for place, (_, text, own) in enumerate(known):
            firsts.setdefault((text, scope.values_of(own)), place)
        assert pairs == {pair: clause for pair, clause in expected.items() if set(pair) <= set(firsts.values())}
    equal = [
        (a, b)
        for a, b in in_scope(scope, known)
        if known[a][1] == known[b][1] and SCHEME.fingerprint(known[a][1]).minhash is not None
    ]
    assert groups == connected([*equal, *expected])


def near_by_text(scope: Scope, known: list[Any]) -> dict[tuple[int, int], str]:
    """The pairs of unequal texts in scope that are near, and whose fingerprints do not rule it out."""
    texts = [text for _, text, _ in known]
    pairs = [(a, b) for a, b in sorted(in_scope(scope, known)) if texts[a] != texts[b]]
    verification = Verification()
    verifier = Verifier(SCHEME, verification, builtin())
    found = verifier.similarities(texts, np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    near = [pair for pair, s in zip(pairs, found.tolist(), strict=True) if s >= verification.similarity]
    return {pair: "similar" for pair in near if are_compared(*(texts[place] for place in pair))}


def are_compared(one: str, other: str) -> bool:
    assert SCHEME.minhash
    size, bits = SCHEME.minhash.layout.size, SCHEME.minhash.layout.value_bits
    first, second = (SCHEME.fingerprint(text).signature[:size] for text in (one, other))
    least = lowest_estimate(Criteria.of(SCHEME, verification=Verification()), SCHEME.minhash, bits)
    return bool(estimates(first, second, bits) >= least)


@pytest.mark.parametrize("scope", SCOPES)
def test_the_result_depends_neither_on_memory_nor_on_threads_nor_on_the_kernels(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [(str(place), text, own) for place, (_, text, own) in enumerate(one_source(3, 400) + documents(5))]
    found = []
    for memory, threads in ((1 << 28, 1), (1 << 20, 3)):
        with dedup(known, scheme=PLAIN, scope=scope, memory=memory, threads=threads, **BY_DISTANCE) as duplicates:
            found.append((pairs_of(duplicates), groups_of(duplicates), duplicates.counts))
        # So few numbers are sorted at once that a key has more.
        monkeypatch.setattr("es_simhash.groups.corpus._BYTES_A_NUMBER", 1 << 15)
        monkeypatch.setattr("es_simhash.groups.pairs.stored_rows.BLOCK", 64)
        monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")
    assert found[0] == found[1]


def test_the_rarity_of_features_is_learnt_from_all_documents() -> None:
    known = documents(3)
    assert any(SCOPES[0].values_of(own) is None for _, _, own in known)
    rarity = learn_from([each[:2] for each in known], SCHEME)
    assert learn_from(known, SCHEME, GroupOptions(scope=SCOPES[0])) == rarity


def test_a_tenant_is_deduplicated_as_if_it_were_alone() -> None:
    known = [(f"{tenant}{id_}", text, {"tenant": tenant}) for tenant in "abc" for id_, text, _ in documents(11)]
    apart = []
    for tenant in "abc":
        with dedup(
            [(id_, text) for id_, text, own in known if own["tenant"] == tenant], scheme=SCHEME, threads=1
        ) as own:
            apart += list(own.ids())
    random.Random(0).shuffle(known)
    with dedup(known, scheme=SCHEME, scope=Scope(("tenant",)), threads=1) as found:
        assert sorted(map(sorted, found.ids())) == sorted(map(sorted, apart))


def test_documents_whose_scope_is_unknown_are_counted_and_in_no_group() -> None:
    same = "the same words in all of them"
    own: dict[str, Any] = {"a": {"tenant": "x"}, "b": {}, "c": {"tenant": []}, "d": {"tenant": "x"}}
    known = [(id_, same, values) for id_, values in own.items()]
    with dedup([*known, ("e", "", {})], scheme=PLAIN, scope=Scope(("tenant",))) as found:
        assert list(found.ids()) == [["a", "d"]]
        assert (found.counts.documents, found.counts.empty, found.counts.unscoped) == (5, 1, 2)


@pytest.mark.parametrize("document", [("a", "text"), ("a", "text", "x"), ("a", "text", {}, 1), ["a", "text", {}]])
def test_with_a_scope_each_document_has_its_values(document: Any) -> None:
    with pytest.raises(DocumentError, match=r"of the scope, or of the order\. Give such triples"):
        dedup([document], scheme=PLAIN, scope=Scope(("tenant",)))


SIMPLE = (
    st.none() | st.sampled_from(["a", "b", "1"]) | st.integers(0, 2) | st.booleans() | st.lists(st.sampled_from("ab"))
)
MOMENTS = st.none() | st.sampled_from(["2026-03-01", "never", 10**400, 1e300, -1e300, 1772366400000, 1.5, True])
NUMBERS = st.none() | st.sampled_from([1, 1.0, True, 0, -0.0, float("nan")])
TEAMS = st.none() | st.sampled_from([{"name": "x"}, {"name": "y"}, {}, {"name": ["x", "y"]}, [{"name": "x"}], "x"])
READ = st.fixed_dictionaries(
    {},
    optional={
        "tenant": SIMPLE | NUMBERS,
        "source": SIMPLE,
        "author": SIMPLE,
        "at": MOMENTS,
        "team": TEAMS,
        "team.name": st.sampled_from(["x", None]),
    },
)


def alike(values: list[Any], dates: list[Any]) -> st.SearchStrategy[list[Any]]:
    """Documents with at most one plain value in each field."""
    value = st.sampled_from([*values, None])
    team = st.fixed_dictionaries({}, optional={"name": value})
    optional = {"tenant": value, "source": value, "author": value, "at": st.sampled_from(dates), "team": team}
    return st.lists(st.fixed_dictionaries({}, optional=optional), max_size=6)


ALIKE = st.one_of(
    alike(["a", "b"], ["2026-03-01T00:00:00Z", "2026-03-02T10:00:00Z"]),
    alike(["a", 1, 0], [1772366400000, 5, None]),
    alike([True, "1"], ["2026-03-01", None]),
    alike([1.0, 0.5, float("nan")], [1.5, -0.0]),
)


@given(st.lists(READ, max_size=6) | ALIKE, st.sampled_from(SCOPES))
@example([{"at": 1e300}, {"at": -1e300}], SCOPES[2])
def test_values_are_read_at_once_as_one_by_one(known: list[Any], scope: Scope) -> None:
    one_by_one = ScopeRows.of([scope.values_of(own) for own in known])
    at_once = ScopeRows.read(scope, known)
    is_known = one_by_one.known
    assert at_once.known.tolist() == is_known.tolist()
    assert at_once.within[is_known].tolist() == one_by_one.within[is_known].tolist()
    assert at_once.sets[is_known].tolist() == one_by_one.sets[is_known].tolist()
    assert at_once.dates[is_known].tolist() == one_by_one.dates[is_known].tolist()
    assert _values(at_once) == _values(one_by_one)


def _values(rows: ScopeRows) -> list[Any]:
    parts = np.split(rows.values, np.cumsum(rows.counts)[:-1]) if len(rows.counts) else []
    return [part.tolist() for part, is_known in zip(parts, rows.known, strict=True) if is_known]


@pytest.mark.parametrize("scope", [Scope(("tenant",)), Scope((), ("tenant",)), Scope(("tenant", "team"))])
def test_equal_values_of_other_types_in_another_page_are_other_values(scope: Scope) -> None:
    values: list[Any] = [1, True, 1.0, "1", 0, False, 0.0, 1]
    for value in values:
        page = [{"tenant": value, "team": 1}]
        read, expected = ScopeRows.read(scope, page), ScopeRows.of([scope.values_of(page[0])])
        assert (read.within.tolist(), read.sets.tolist()) == (expected.within.tolist(), expected.sets.tolist())


def test_what_is_hashed_alike_is_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents of tenants whose hashes begin alike are neighbours, and no pairs."""
    whole = scope_columns._agreeing
    monkeypatch.setattr(scope_columns, "_agreeing", lambda values: bytes(8) + whole(values)[:8])
    monkeypatch.setattr(scope_columns, "_agreeing_texts", scope_columns._agreeing_texts.__wrapped__)
    texts = ["some words of a story", "Some words of a story", "SOME words of a story"]
    known = [(f"{tenant}{place}", text, {"tenant": tenant}) for place, text in enumerate(texts) for tenant in "ab"]
    with dedup(known, scheme=PLAIN, scope=Scope(("tenant",)), threads=1, **BY_DISTANCE) as found:
        assert {frozenset((a, b)) for a, b in pairs_of(found)} == {
            frozenset(pair) for pair in combinations(range(6), 2) if known[pair[0]][2] == known[pair[1]][2]
        }
        assert sorted(map(sorted, found.ids())) == [["a0", "a1", "a2"], ["b0", "b1", "b2"]]


def linked(dates: list[int], all: int, most: int | None, hot: HotKeys) -> tuple[list[tuple[int, int]], Linker]:
    """Link documents of a tenant and a key, whose dates may differ by one."""
    scope = Scope(("tenant",), (), timedelta(milliseconds=1), "at")
    with Spools(1 << 20) as spools:
        columns = ScopeColumns(scope, spools)
        columns.add(ScopeRows.read(scope, [{"tenant": "a", "at": date} for date in dates]))
        columns.complete()
        words = columns.mixed(np.arange(len(dates), dtype=np.uint64), 0, np.ones(len(dates), dtype=np.bool_))
        linker = Linker(all, 1, most, hot, columns)
        found = [pair for codes in linker.pairs([np.sort(words)]) for pair in zip(*positions(codes), strict=True)]
    return sorted((int(a), int(b)) for a, b in found), linker


def test_documents_of_a_key_are_linked_to_the_nearest_in_time_and_the_key_is_counted_and_named() -> None:
    hot, dates = HotKeys(least=6), [5, 3, 1, 2, 4, 9]
    pairs, linker = linked(dates, 1, None, hot)
    assert pairs == [(0, 4), (1, 3), (1, 4), (2, 3)]
    assert (linker.left_out, linker.cut_off) == (0, 0)
    assert [(size, dates[position]) for size, _, position in hot] == [(6, 9)]


def test_in_a_crowd_of_a_window_some_are_linked_and_the_rest_is_counted() -> None:
    pairs, linker = linked([7] * 6, 2, 4, HotKeys())
    assert pairs == [(0, 1), (0, 2), (1, 2), (2, 3)]
    assert (linker.left_out, linker.cut_off) == (11, 2)


DEFAULT, FIRST = MinHash(), MinHash(bands=32, rows=4, key_bits=30)
SCHEMES = st.sampled_from([DEFAULT, FIRST, MinHash(bands=42), MinHash(size=256, bands=64, rows=4)])


def near(similarity: float) -> Criteria:
    return Criteria(None, similarity, Verification())


@given(SCHEMES, st.floats(0.3, 1))
def test_no_value_stands_in_two_tables_of_a_turn(minhash: MinHash, similarity: float) -> None:
    tables = value_tables(minhash, near(similarity))
    size = minhash.layout.size
    together = size // len(tables[0])
    for start in range(0, len(tables), together):
        places = [place for table in tables[start : start + together] for place in table]
        assert len(set(places)) == len(places)
        assert set(places) <= set(range(size))
    sets = [frozenset(table) for table in tables]
    if len(tables[0]) > 1:
        assert all(len(one & other) <= 1 for one, other in combinations(sets, 2))


@pytest.mark.parametrize("minhash", [DEFAULT, FIRST], ids=["default", "first default"])
@pytest.mark.parametrize("similarity", [0.5, 0.63, 0.85])
def test_tables_find_nearly_as_many_pairs_as_a_search(minhash: MinHash, similarity: float) -> None:
    criteria = near(similarity)
    jaccard = min(criteria.jaccard, minhash.similarity)
    agree = np.random.default_rng(3).random((20_000, minhash.layout.size)) < jaccard
    found = np.zeros(len(agree), dtype=np.bool_)
    for table in value_tables(minhash, criteria):
        found |= agree[:, list(table)].all(axis=1)
    assert found.mean() >= min(sharing(jaccard, minhash.layout, minhash.shared), 0.975) - 0.005


def test_keys_have_fewer_values_where_less_similar_texts_are_wanted() -> None:
    assert [len(value_tables(DEFAULT, near(each))[0]) for each in (0.63, 0.5, 0.3)] == [5, 4, 3]
