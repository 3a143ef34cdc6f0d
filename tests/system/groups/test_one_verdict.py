"""The same pairs are near-duplicates, as similar and by the same clause, wherever they are asked for.

A search compares what shares as many bands as it asks for; files and indices are grouped by tables, which are made to
find all pairs here.

On Spark, `tests.system.integrations.spark` shows the same of the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest

from es_simhash import GroupOptions, Scheme, Verification, dedup
from es_simhash.engines.base import Engine
from es_simhash.groups.pairs import fingerprint_store
from es_simhash.groups.pairs.candidates import positions
from es_simhash.index import Index
from es_simhash.plans.find_options import FindOptions
from es_simhash.quality import Labels
from es_simhash.quality.evaluation import evaluation_of
from es_simhash.quality.labels import Member
from es_simhash.scheme import own_fields, query
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.rerank import Match
from es_simhash.scheme.verifier import CLAUSES, Clause, Verifier
from tests.support.random_corpus import corpus

SCHEMES = {
    "rule": Scheme(),
    "versions": Scheme(verification=Verification.at("versions")),
    "features": Scheme(verification=Verification.of_fingerprints(0.55, weights="rarity")),
}


class Verdict(NamedTuple):
    """The similarity of two unequal texts, and the clause by which they are near-duplicates."""

    similarity: float
    clause: Clause


# By texts, in order: of several copies, a file and an index may compare other ones.
Verdicts = dict[tuple[str, str], Verdict]


def verdicts(pairs: Iterable[Any], texts: Callable[[list[int]], list[str]]) -> Verdicts:
    found: Verdicts = {}
    for pair in pairs:
        first, second = sorted(texts([int(pair["first"]), int(pair["second"])]))
        if first != second:
            found[first, second] = Verdict(float(pair["similarity"]), CLAUSES[pair["clause"]])
    return found


def between_candidates(scheme: Scheme, found: Verdicts) -> Verdicts:
    """Those of pairs that share as many bands as a search asks for."""
    assert scheme.minhash
    least = query.shared_bands(scheme.minhash, FindOptions().criteria(scheme))
    keys = {
        text: set(own_fields.terms(scheme, "band", scheme.fingerprint(text)))
        for text in {text for p in found for text in p}
    }
    return {(a, b): verdict for (a, b), verdict in found.items() if len(keys[a] & keys[b]) >= least}


def groups(found: Iterable[Iterable[str]]) -> set[frozenset[str]]:
    return {frozenset(group) for group in found}


def check_matches(text: str, matches: Iterable[Match], texts: dict[str, str], expected: Verdicts) -> None:
    wanted = {b if a == text else a: verdict for (a, b), verdict in expected.items() if text in (a, b)}
    found = {texts[match.id]: match for match in matches if texts[match.id] != text}
    assert {other: (match.similarity, match.clause) for other, match in found.items()} == wanted


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
@pytest.mark.parametrize("seed", range(3))
def test_every_verb_comes_to_the_same_verdict(
    engine: Engine, names: Callable[[], str], scheme: Scheme, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With a value a key, all pairs that have anything in common are compared.
    monkeypatch.setattr(fingerprint_store, "_MOST_VALUES", 1)
    made = [text for part in range(3) for text in corpus(3 * seed + part)]
    texts = {f"d{place}": text for place, text in enumerate(made)}
    documents = [{"_id": id_, "body": text} for id_, text in texts.items()]
    with dedup(texts.items(), scheme=scheme, threads=1) as duplicates:
        ids = list(duplicates.corpus.ids())
        pairs = [pair for block in duplicates.pairs() for pair in block]
        expected = verdicts(pairs, lambda places: [texts[ids[place]] for place in places])
        groups_of_file = groups(duplicates.ids())
    assert expected

    labels = Labels("clusters", [Member(id_, text) for id_, text in texts.items() if text])
    found = evaluation_of(list(texts.items()), labels, scheme, GroupOptions(threads=1)).found
    judged = {
        (min(made[first], made[second]), max(made[first], made[second])): similarity
        for first, second, similarity in zip(*positions(found.pairs), found.similarities.tolist(), strict=True)
    }
    assert {pair: judged[pair] for pair in judged if pair[0] != pair[1]} == {
        pair: verdict.similarity for pair, verdict in expected.items()
    }

    index = Index(names(), engine, scheme=scheme, fields=["body"])
    index.init()
    index.add(documents, refresh=True)
    with index.group() as grouped:
        by_index = verdicts(
            (pair for block in grouped.pairs() for pair in block),
            lambda places: [texts[ref.id] for ref in grouped.corpus.refs.take(places)],
        )
        groups_of_index = groups([member.id for member in group.members] for group in grouped)
    assert by_index == expected
    assert groups_of_index == groups_of_file

    expected = between_candidates(scheme, expected)
    assert expected
    nonempty = [id_ for id_, text in texts.items() if text]
    for id_, matches in zip(nonempty, index.find_many(ids=nonempty, size=1_000), strict=True):
        check_matches(texts[id_], matches, texts, expected)
    for checked in index.check([each for each in documents if each["body"]], size=1_000):
        assert checked.id
        check_matches(texts[checked.id], checked.in_index, texts, expected)

    verifier = Verifier(scheme, scheme.verification or Verification(), builtin())
    for id_ in nonempty[:10]:
        for match in index.find(id=id_, candidates="more_like_this", size=1_000):
            both = [texts[id_], texts[match.id]]
            assert match.similarity == verifier.measures(both, np.array([[0], [1]])).meeting[0]

    firsts = {text: id_ for id_, text in reversed(texts.items()) if text}
    for a, b in [*by_index, *combinations(list(firsts)[:5], 2)]:
        explained = index.explain(firsts[a], firsts[b])
        verdict = expected.get((min(a, b), max(a, b)))
        assert explained.verdict.are_duplicates == (verdict is not None)
        if verdict:
            assert (explained.evidence.similarity.verified, explained.evidence.clause) == verdict
