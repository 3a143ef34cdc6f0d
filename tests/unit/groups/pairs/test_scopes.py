"""Deduplication in scopes, beside a reference that compares all documents with all others."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash import Deduplicator, DocumentError, Scheme, Scope, Verification
from es_simhash.groups.pairs.linkage import Linkage
from es_simhash.groups.pairs.result import Duplicates
from es_simhash.scheme.verdict.rule import CLAUSES
from es_simhash.scheme.verdict.verifier import Verifier, rarity_of
from tests.support.scoped import SCOPES, cliques, connected, documents, in_scope, stars
from tests.unit.groups.pairs.test_crowding import SCHEME, clause, shares_a_key

BY_DISTANCE: dict[str, Any] = {"by": "simhash", "distance": 5}
PLAIN = Scheme()


def pairs_of(found: Duplicates) -> dict[tuple[int, int], str]:
    rows = [
        (int(pair["first"]), int(pair["second"]), CLAUSES[pair["clause"]]) for block in found.pairs() for pair in block
    ]
    assert all(first < second for first, second, _ in rows)
    assert len({row[:2] for row in rows}) == len(rows)
    return {(first, second): clause for first, second, clause in rows}


def groups_of(found: Duplicates) -> set[frozenset[int]]:
    return {frozenset(map(int, group)) for group in found.groups_of_ids()}


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
@settings(deadline=None, max_examples=150)
def test_pairs_and_groups_within_a_distance_are_those_of_all_pairs_in_scope(seed: int, scope: Scope) -> None:
    known = documents(seed)
    expected = near_in_scope(scope, known, 5)
    with Deduplicator(PLAIN, scope=scope, threads=1, **BY_DISTANCE).run(known) as found:
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


@given(st.integers(0, 10_000), st.sampled_from(SCOPES), st.sampled_from(["star", "complete"]))
@settings(deadline=None, max_examples=80)
def test_stars_and_cliques_have_members_that_are_in_scope(seed: int, scope: Scope, linkage: Linkage) -> None:
    known = documents(seed)
    expected = near_in_scope(scope, known, 5)

    def near(one: int, other: int) -> bool:
        return (min(one, other), max(one, other)) in expected

    with Deduplicator(PLAIN, scope=scope, threads=1, linkage=linkage, **BY_DISTANCE).run(known) as found:
        groups = groups_of(found)
    assert groups == (stars if linkage == "star" else cliques)(len(known), near)


def one_source(seed: int, count: int) -> list[Any]:
    """Documents with two texts and one value in each field; runs of the same source are long."""
    chosen = random.Random(seed)
    sources = chosen.choices(["s", "s", "s", "t", "u"], k=count)
    if chosen.random() < 0.5:
        sources.sort()
    return [
        (
            str(place),
            chosen.choice(["the same words everywhere", "other words than those"]),
            {"tenant": chosen.choice("ab"), "source": source, "at": chosen.randrange(20) * 86_400_000 + 10**12},
        )
        for place, source in enumerate(sources)
    ]


@given(st.integers(0, 10_000), st.integers(60, 300), st.sampled_from(SCOPES[:5]))
@settings(deadline=None, max_examples=60)
def test_very_many_copies_are_grouped_as_if_all_were_compared(seed: int, count: int, scope: Scope) -> None:
    known = one_source(seed, count)
    expected = {(a, b) for a, b in in_scope(scope, known) if known[a][1] == known[b][1]}
    with Deduplicator(PLAIN, scope=scope, threads=1, by="simhash", distance=0).run(known) as found:
        pairs, groups = set(pairs_of(found)), groups_of(found)
    assert pairs <= expected
    assert groups == connected(expected)
    assert len(pairs) <= 35 * count


@given(st.integers(0, 10_000), st.sampled_from(SCOPES))
@settings(deadline=None, max_examples=60)
def test_only_what_is_in_scope_is_around_a_document(seed: int, scope: Scope) -> None:
    known = documents(seed, copies=2)
    with Deduplicator(SCHEME, scope=scope, threads=1).run(known) as found:
        pairs = {pair: clause for pair, clause in pairs_of(found).items() if clause != "equal"}
        groups = groups_of(found)
    expected = crowded(scope, known)
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
        if known[a][1] == known[b][1] and shares_a_key(SCHEME, [known[a][1]])[0]
    ]
    assert groups == connected([*equal, *expected])


def crowded(scope: Scope, known: list[Any]) -> dict[tuple[int, int], str]:
    """The deciding clause of each pair of unequal texts in scope that a key brings together, if they are near."""
    texts = [text for _, text, _ in known]
    keys = shares_a_key(SCHEME, texts)
    allowed = in_scope(scope, known)
    pairs = [(a, b) for a, b in sorted(allowed) if keys[a] & keys[b] and texts[a] != texts[b]]
    verifier = Verifier(
        SCHEME,
        Verification(measure="balanced"),
        rarity_of(SCHEME, list(dict.fromkeys(text for text, own in zip(texts, keys, strict=True) if own))),
    )
    found = verifier.similarities(texts, np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    s = dict(zip(pairs, found.tolist(), strict=True))
    s |= {(a, b): 1.0 for a, b in allowed if texts[a] == texts[b]}
    near: list[list[float]] = [[] for _ in texts]
    for pair, similarity in s.items():
        for side in pair:
            near[side].append(similarity)
    best = [max(each, default=0.0) for each in near]
    crowd = [sum(similarity >= 0.4 for similarity in each) for each in near]
    found_clauses = {
        (a, b): clause(s[a, b], texts[a], texts[b], best[a] * best[b], min(crowd[a], crowd[b])) for a, b in pairs
    }
    return {pair: name for pair, name in found_clauses.items() if name}


@pytest.mark.parametrize("scope", SCOPES)
def test_the_result_depends_neither_on_memory_nor_on_threads_nor_on_the_kernels(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [(str(place), text, own) for place, (_, text, own) in enumerate(one_source(3, 400) + documents(5))]
    found = []
    for memory, threads in ((1 << 28, 1), (1 << 20, 3)):
        with Deduplicator(PLAIN, scope=scope, memory=memory, threads=threads, **BY_DISTANCE).run(known) as duplicates:
            found.append((pairs_of(duplicates), groups_of(duplicates), duplicates.counts))
        # So few numbers are sorted at once that a key has more.
        monkeypatch.setattr("es_simhash.groups.pairs.document_links._BYTES_A_NUMBER", 1 << 15)
        monkeypatch.setattr("es_simhash.groups.pairs.spool._BLOCK", 64)
        monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")
    assert found[0] == found[1]


def test_a_tenant_is_deduplicated_as_if_it_were_alone() -> None:
    known = [(f"{tenant}{id_}", text, {"tenant": tenant}) for tenant in "abc" for id_, text, _ in documents(11)]
    apart = []
    for tenant in "abc":
        with Deduplicator(SCHEME, threads=1).run(
            [(id_, text) for id_, text, own in known if own["tenant"] == tenant]
        ) as own:
            apart += list(own.groups_of_ids())
    random.Random(0).shuffle(known)
    with Deduplicator(SCHEME, scope=Scope(("tenant",)), threads=1).run(known) as found:
        assert sorted(map(sorted, found.groups_of_ids())) == sorted(map(sorted, apart))


def test_documents_whose_scope_is_unknown_are_counted_and_in_no_group() -> None:
    same = "the same words in all of them"
    own: dict[str, Any] = {"a": {"tenant": "x"}, "b": {}, "c": {"tenant": []}, "d": {"tenant": "x"}}
    known = [(id_, same, values) for id_, values in own.items()]
    with Deduplicator(PLAIN, scope=Scope(("tenant",))).run([*known, ("e", "", {})]) as found:
        assert list(found.groups_of_ids()) == [["a", "d"]]
        assert (found.counts.documents, found.counts.empty, found.counts.unscoped) == (5, 1, 2)


@pytest.mark.parametrize("document", [("a", "text"), ("a", "text", "x"), ("a", "text", {}, 1), ["a", "text", {}]])
def test_with_a_scope_each_document_has_its_values(document: Any) -> None:
    with pytest.raises(DocumentError, match=r"an object with the values of the scope\. Give such triples"):
        Deduplicator(PLAIN, scope=Scope(("tenant",))).run([document])
