"""The same pairs are near-duplicates, as similar and by the same clause, wherever they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from es_simhash import Deduplicator, GroupOptions, Scheme, Verification
from es_simhash.engines.base import Engine
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.index import Index
from es_simhash.scheme.verdict.rule import CLAUSES, Clause
from es_simhash.scheme.verdict.verification import Crowding
from tests.support.random_corpus import corpus

SCHEMES = {
    "threshold": Scheme(),
    "crowding": replace(
        Scheme(), verification=Verification(0.65, measure="balanced", numbers=0.5, crowding=Crowding())
    ),
}
# Pairs of unequal texts by their ids, in order, with their similarity and clause.
Verdicts = dict[tuple[str, str], tuple[float, Clause]]


def verdicts(blocks: list[Pairs], ids: Callable[[list[int]], list[str]]) -> Verdicts:
    found: Verdicts = {}
    for pair in (pair for block in blocks for pair in block if CLAUSES[pair["clause"]] != "equal"):
        first, second = sorted(ids([int(pair["first"]), int(pair["second"])]))
        found[first, second] = float(pair["similarity"]), CLAUSES[pair["clause"]]
    return found


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
@pytest.mark.parametrize("seed", range(4))
def test_an_index_is_grouped_as_a_file_and_searched_as_it_is_grouped(
    engine: Engine, names: Callable[[], str], scheme: Scheme, seed: int
) -> None:
    # Each text once: of copies, a file and an index may compare another one.
    texts = [text for text in dict.fromkeys(text for part in range(3) for text in corpus(100 * seed + part)) if text]
    documents = {f"d{place}": text for place, text in enumerate(texts)}
    with Deduplicator(scheme, threads=1).run(documents.items()) as duplicates:
        in_file = verdicts(list(duplicates.pairs()), duplicates.ids_of)
        groups_of_file = {frozenset(group) for group in duplicates.groups_of_ids()}

    index = Index(names(), engine, scheme=scheme, fields=["body"])
    index.init()
    index.add([{"_id": id_, "body": text} for id_, text in documents.items()], refresh=True)
    with index.group(GroupOptions(linkage="single")) as grouped:
        in_index = verdicts(list(grouped.pairs()), lambda places: [ref.id for ref in grouped.refs(places)])
        groups_of_index = {frozenset(member.id for member in group.members) for group in grouped}
    assert in_index == in_file
    assert groups_of_index == groups_of_file

    index.learn()
    for id_, matches in zip(documents, index.find_many(ids=documents, size=1_000), strict=True):
        expected = {b if a == id_ else a: verdict for (a, b), verdict in in_file.items() if id_ in (a, b)}
        found = {match.id: match for match in matches}
        assert expected.keys() <= found.keys()
        for other, (similarity, clause) in expected.items():
            assert found[other].similarity == similarity
            assert found[other].clause == clause or not found[other].is_settled
        # A search may find more where the other side's surroundings decide, and says so.
        assert {match.id for match in matches if match.is_settled} <= expected.keys()
