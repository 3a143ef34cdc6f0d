"""What is found for many texts by one query is what a query for each finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from es_simhash import Scheme, Scope
from es_simhash.documents.documents import Documents, fingerprinted
from es_simhash.engines.base import run
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError
from es_simhash.index import Index
from es_simhash.plans import shared_candidates
from es_simhash.plans.candidates import all_candidates
from es_simhash.plans.find import FetchCandidates, find_fingerprinted
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.operations import MultiSearch, Operation
from es_simhash.plans.query_documents import QueryDocument
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.testing.corpus import corpus, edited
from tests.support.meddling import Meddler

FIELDS = ["title", "body"]
TEXTS = [edited(corpus(30)[i], k, seed=i) | {"tenant": "ab"[i % 2]} for i in range(30) for k in (1, 3, 9)]
FORMS = [{"title": "form", "body": f"the same words of a form for all, {i}", "tenant": "a"} for i in range(8)]
ASKED = [
    *({**each, "tenant": "a"} for each in corpus(30)),
    {"title": ""},
    {"body": "nothing is like this", "tenant": "a"},
]


class Counting(Meddler):
    """An engine that counts queries."""

    queries, longest = 0, 10_000

    def perform(self, operation: Operation[Any]) -> Any:
        bodies = operation.bodies if isinstance(operation, MultiSearch) else []
        self.queries += len(bodies)
        if any(body["size"] > self.longest for body in bodies):
            raise EngineError("The index allows fewer hits.")
        return super().perform(operation)


@pytest.mark.parametrize("options", [{}, {"estimate": True}, {"scope": Scope(("tenant",))}, {"by": "simhash"}])
@pytest.mark.parametrize(("most", "longest"), [(10, 10_000), (1, 10_000), (10, 150)])
def test_matches_are_those_of_a_query_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], most: int, longest: int
) -> None:
    monkeypatch.setattr(shared_candidates, "_CANDIDATES", most)
    monkeypatch.setattr(shared_candidates, "_TEXTS", 20)
    engine = Counting(EmbeddedEngine(tmp_path))
    Index("news", engine, fields=FIELDS).init()
    Index("news", engine, fields=FIELDS).add([*TEXTS, *FORMS], refresh=True)
    engine.longest = longest
    documents = Documents(Scheme(), FIELDS)
    wanted = [QueryDocument.of_document(documents, each) for each in [*ASKED, *FORMS[:3]]]
    made = list(fingerprinted(documents, [each.text for each in wanted]))

    def found(candidates: FetchCandidates) -> tuple[list[list[tuple[Any, ...]]], int]:
        terms, before = SearchTerms("news", documents, FindRequest(**options)), engine.queries
        results = run(find_fingerprinted(terms, wanted, made, terms.verifier(), candidates), engine)
        matches = [[(match.id, match.similarity, match.distance) for match in each.matches()] for each in results]
        return matches, engine.queries - before

    (together, queries), (each, most_queries) = found(shared_candidates.shared_candidates), found(all_candidates)
    assert list(map(sorted, together)) == list(map(sorted, each))
    assert sum(map(len, each)) > 15
    if most * longest == 100_000 and options.get("by") != "simhash":
        assert (queries, most_queries) == (2, len(wanted) - 1)
