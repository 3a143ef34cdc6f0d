"""Documents that are stored once and read again, in order or by their places."""

from __future__ import annotations

from typing import Any

import polars
import pytest

from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.options import GroupOptions
from es_simhash.quality.predictions import StoredDocuments, stored


def test_documents_are_read_again_as_they_were() -> None:
    given = [("a", "one"), ("b", ""), ("c", "one"), ("d", "日本" * 100_000), ("e", "\ud800")]
    with stored(iter(given), options=GroupOptions(memory=1 << 20)) as kept:
        assert list(kept) == list(kept) == given
        assert (len(kept), kept.ids) == (5, ["a", "b", "c", "d", "e"])
        assert kept.originals.tolist() == [0, 1, 0, 3, 4]
        assert kept.sizes().tolist() == [3, 0, 3, 600_000, 3]
        assert kept.texts_at([3, 0, 3]) == ["日本" * 100_000, "one", "日本" * 100_000]
        assert kept.add("f", "new")
        assert kept.texts_at([5]) == ["new"]


def test_the_rows_of_a_frame_are_documents() -> None:
    pytest.importorskip("pyarrow")
    frame = polars.DataFrame({"id": ["a", "b"], "body": ["one", None]})
    with stored(frame) as kept:
        assert list(kept) == [("a", "one"), ("b", "")]


def test_an_id_is_taken_once() -> None:
    with StoredDocuments() as kept:
        assert kept.add("a", "one")
        assert not kept.add("a", "two")
        assert list(kept) == [("a", "one")]
    with pytest.raises(InputError, match="the same id"), stored([("a", "x"), ("a", "y")]):
        pass


@pytest.mark.parametrize("document", [("a",), ("a", None), (1, "x"), ["a", "x"]])
def test_what_is_not_a_document_is_refused(document: Any) -> None:
    with pytest.raises(DocumentError, match="pair of an id and a text"), stored([document]):
        pass
