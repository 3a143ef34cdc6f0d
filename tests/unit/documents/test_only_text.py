"""The field of the texts is the only one that seems to hold any; otherwise people choose."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.documents.guess import only_text
from es_simhash.errors import InputError

BODY = "The storm has left many houses along the coast without power."


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"text": BODY}, "text"),
        ({"url": "https://a.example/b", "author": "Ann Lee", "body": BODY}, "body"),
        ({"lang": "zh", "content": "海岸昨夜有风暴，电车停运。"}, "content"),
        ({"name": "Rain coat", "price": 30, "in_stock": True}, "name"),
        ({"text": BODY, "empty": "  ", "none": None}, "text"),
    ],
)
def test_the_only_field_of_texts_is_taken(row: dict[str, Any], field: str) -> None:
    assert only_text([row] * 5) == (field,)


def test_several_fields_are_named_as_they_can_be_given() -> None:
    with pytest.raises(InputError, match=r"as in fields=\['summary', 'body'\]\.$"):
        only_text([{"id": "7", "summary": BODY, "body": BODY * 2}])


def test_documents_without_texts_are_refused_with_their_fields() -> None:
    with pytest.raises(InputError, match=r"None of the fields seems to hold texts: 'price', 'stock'. Name"):
        only_text([{"price": 30, "stock": 5}])
