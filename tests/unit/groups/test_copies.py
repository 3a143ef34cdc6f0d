"""The work for texts that very many documents share, counted: fetched documents, and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from es_simhash.engines.embedded.engine import EmbeddedEngine
from es_simhash.index import Index
from es_simhash.plans import reply_size
from es_simhash.plans.operations import GetDocuments, MultiSearch, Operation
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import hashed_features
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.text.features import FeatureBatch
from tests.support.meddling import Meddler

TEXT = "One and the same announcement, which is sent to all subscribers every day, and by which nothing new is said."
COPIES, CHECKED = 150, 20


class Counted(Meddler):
    """Counts the candidates that searches give, and the documents that are read again."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        super().__init__(engine)
        self.candidates = self.read = 0
        self.after = self._count

    def _count(self, operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, MultiSearch):
            self.candidates += sum(len(reply["hits"]["hits"]) for reply in result)
        if isinstance(operation, GetDocuments):
            self.read += len(operation.ids)
        return result


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    # Texts that come with the candidates are not counted.
    monkeypatch.setattr(reply_size, "_SECOND_REQUEST", 0)
    monkeypatch.setattr(reply_size, "_LEFT_OUT", 0)
    embedded = EmbeddedEngine(tmp_path)
    index = Index("copies", embedded, scheme=Scheme(verification=Verification.of_fingerprints(0.6)), fields=["body"])
    index.init()
    index.add(({"_id": f"c{number:03}", "body": TEXT} for number in range(COPIES)), refresh=True)
    yield Counted(embedded)
    embedded.close()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts whose features are made."""
    made: list[str] = []

    def noted(settings: Settings, texts: Sequence[str]) -> FeatureBatch:
        made.extend(texts)
        return hashed_features(settings, texts)

    monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")  # what numpy does can be counted
    monkeypatch.setattr(fingerprinting, "hashed_features", noted)
    return made


def test_a_check_of_copies_fetches_no_more_of_them_than_it_takes(engine: Counted, made: list[str]) -> None:
    checked = list(Index("copies", engine).check({"_id": str(number), "body": TEXT} for number in range(CHECKED)))
    assert all(len(each.in_index) == 10 and not each.in_index.complete for each in checked)
    assert all(match.same_text and match.similarity == 1 for each in checked for match in each.in_index)
    assert engine.candidates == 100 * CHECKED
    assert engine.read == 100
    # For the fingerprints, to compare with the index, and to compare each but the first with those before it.
    assert len(made) == CHECKED + 1 + (CHECKED - 1)


def test_a_check_of_other_texts_compares_each_text_once_however_many_copies_there_are(
    engine: Counted, made: list[str]
) -> None:
    texts = [TEXT.replace("subscribers", f"subscribers of {number}") for number in range(CHECKED)]
    checked = list(Index("copies", engine).check({"_id": text[-3:], "body": text} for text in texts))
    assert all(each.in_index.candidates == COPIES and each.in_index.complete for each in checked)
    assert engine.read == COPIES
    assert made.count(TEXT) == 1
    [alone] = Index("copies", engine.engine).find_many(texts[:1], size=COPIES)
    assert [match.id for match in alone] == [f"c{number:03}" for number in range(COPIES)]
    assert alone[:10] == checked[0].in_index.matches
    assert alone[0].similarity == pytest.approx(Scheme().exact_jaccard(texts[0], TEXT))
