"""Documents that are stored once and read again, in order or by their places."""

from __future__ import annotations

from typing import Any

import polars
import pytest

from es_simhash.errors import DocumentError, InputError
from es_simhash.quality.predictions import StoredDocuments


def test_documents_are_read_again_as_they_were() -> None:
    given = [("a", "one"), ("b", ""), ("c", "one"), ("d", "日本" * 100_000), ("e", "\ud800")]
    with StoredDocuments.of(iter(given), memory=1 << 20) as stored:
        assert list(stored) == list(stored) == given
        assert (len(stored), stored.ids) == (5, ["a", "b", "c", "d", "e"])
        assert stored.originals.tolist() == [0, 1, 0, 3, 4]
        assert stored.sizes().tolist() == [3, 0, 3, 600_000, 3]
        assert stored.texts_at([3, 0, 3]) == ["日本" * 100_000, "one", "日本" * 100_000]
        assert stored.add("f", "new")
        assert stored.texts_at([5]) == ["new"]


def test_the_rows_of_a_frame_are_documents() -> None:
    pytest.importorskip("pyarrow")
    frame = polars.DataFrame({"id": ["a", "b"], "body": ["one", None]})
    with StoredDocuments.of(frame) as stored:
        assert list(stored) == [("a", "one"), ("b", "")]


def test_an_id_is_taken_once() -> None:
    with StoredDocuments() as stored:
        assert stored.add("a", "one")
        assert not stored.add("a", "two")
        assert list(stored) == [("a", "one")]
    with pytest.raises(InputError, match="the same id"):
        StoredDocuments.of([("a", "x"), ("a", "y")])


@pytest.mark.parametrize("document", [("a",), ("a", None), (1, "x"), ["a", "x"]])
def test_what_is_not_a_document_is_refused(document: Any) -> None:
    with pytest.raises(DocumentError, match="pair of an id and a text"):
        StoredDocuments.of([document])
