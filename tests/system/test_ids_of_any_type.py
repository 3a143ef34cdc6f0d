"""An ``_id`` of any type of Python's is written as a text, or its document is rejected by name, through every door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash import Documents, Index, Scheme, dedup
from es_simhash.documents.files import read_documents
from es_simhash.documents.sources import Rejected
from es_simhash.errors import DocumentError
from es_simhash.gate.gate import Gate
from es_simhash.gate.requests import asked_of
from es_simhash.plans.operations import DeleteIndex
from tests.support.fuzzing import examples, nested
from tests.support.rest_engines import new_name
from tests.support.unicode_documents import WORDS
from tools.nodes import Node


class Named(str, Enum):
    ONE = "one"


class Numbered(IntEnum):
    ONE = 1


class Unshown:
    def __repr__(self) -> str:
        raise OSError("of its own")

    __str__ = __repr__


_HUGE = [10**511, -(10**511), 10**512, 2**4096, 10**4299, 10**4300, 10**5000, -(10**5000), 1 << 500_000]
_STRANGE: list[Any] = [
    *(Named.ONE, Numbered.ONE, np.str_("n"), np.int64(7), np.float32(1.5), True, 1.5, float("nan"), Decimal(7)),
    *(Fraction(1, 3), b"x", bytearray(b"x"), (1,), [1], {"a": 1}, {1}, object, Unshown(), [Unshown()], [10**5000]),
    *(date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=timezone.utc), UUID(int=1), len, 1j, nested()),
]
ids = st.integers() | st.sampled_from([*_HUGE, *_STRANGE]) | st.text(max_size=3) | st.none()
several = st.lists(ids, min_size=1, max_size=6)


def written_as(id_: Any) -> str | None:
    """Return the text that an id must become; None if its document must be rejected."""
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        return None
    text = id_.value if isinstance(id_, Named) else id_
    if isinstance(id_, int):
        if abs(id_) >= 10**512:
            return None
        text = json.dumps(int(id_))
    return str(text) if 0 < len(str(text).encode(errors="replace")) <= 512 and str(text).isprintable() else None


@given(found=several)
def test_a_bulk_helper_keeps_an_id_that_can_be_written(found: list[Any]) -> None:
    rejected: list[Rejected] = []
    documents = Documents(Scheme(), "body")
    given_actions = [{"_id": id_, "_source": {"body": WORDS}} for id_ in found]
    made = list(documents.actions(given_actions, rejected.append))
    assert len(made) + len(rejected) == len(found)
    for each in rejected:
        assert f"{each.reason}"[-1] == "."
        assert not isinstance(found[each.position], str)
    refused = {each.position for each in rejected}
    for position, id_ in enumerate(found):
        # Those of 513 digits and more are written by clients, and rejected by engines.
        if isinstance(id_, str) or id_ is None or written_as(id_) is not None:
            assert position not in refused
        elif not isinstance(id_, int) or isinstance(id_, bool) or abs(id_) > 10**4000:
            assert position in refused


@pytest.fixture(params=["embedded", "elasticsearch", "opensearch"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    name, target = new_name(), str(tmp_path / "db")
    if request.param != "embedded":
        node: Node = request.getfixturevalue(f"{request.param}_node")
        target = node.url
    with Index(name, target, fields=["body"]) as opened:
        opened.init()
        yield opened
        opened.engine.perform(DeleteIndex(name))


@given(found=several)
@settings(examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_added_and_checked_documents_are_named_or_rejected(index: Index, found: list[Any]) -> None:
    given_documents = [{"_id": id_, "_source": {"body": WORDS}} for id_ in found]
    rejected: list[Rejected] = []
    checked = list(index.check(given_documents, on_reject=rejected.append))
    assert sorted([*(each.position for each in checked), *(each.position for each in rejected)]) == list(
        range(len(found))
    )
    named = [text for id_ in found if (text := written_as(id_)) is not None]
    assert set(named) <= {each.id for each in checked}
    rejected.clear()
    written = index.add(given_documents, on_reject=rejected.append, refresh=True)
    assert written.done + len(rejected) == len(found)
    refused = {each.position for each in rejected}
    for position, id_ in enumerate(found):
        if id_ is not None and not isinstance(id_, str):
            assert (position in refused) == (written_as(id_) is None)
        if written_as(id_) is not None:
            assert index.find(id=written_as(id_)) is not None


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_gate_takes_or_rejects_each(tmp_path: Path, wrapped: bool) -> None:
    with Index("news", str(tmp_path / "db"), fields=["body"]) as index:
        index.init()
    batches: list[list[Any]] = []

    @given(found=several)
    @settings(examples(25), database=None)
    def draw(found: list[Any]) -> None:
        batches.append(found)

    draw()
    with Gate("news", str(tmp_path / "db"), state=tmp_path / "state") as gate:
        for found in [*batches, [10**5000, "after"]]:
            if wrapped:
                asked = [asked_of({"id": id_, "body": WORDS}, True) for id_ in found]
                answers: list[Any] = [*gate.answer(asked)]
            else:
                answers = [*gate.add([{"_id": id_, "body": WORDS} for id_ in found])]
            for id_, answer in zip(found, answers, strict=True):
                if isinstance(id_, int) and not isinstance(id_, bool):
                    assert (answer.kind == "rejected") == (written_as(id_) is None)
                    assert answer.id == written_as(id_) or answer.kind == "rejected"
    # All that is in the journal can be settled.
    with Gate("news", str(tmp_path / "db"), state=tmp_path / "state") as gate:
        assert gate.check([{"_id": "new", "body": WORDS}])


def test_numbers_of_thousands_of_digits_are_refused_in_files_and_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    digits = [f"1{'0' * 5000}", "7", str(10**2000)]
    path.write_text("".join(f'{{"id": {each}, "body": "a"}}\n' for each in digits))
    rejected: list[Rejected] = []
    taken = list(read_documents([str(path)], on_reject=rejected.append, id_field="id"))
    assert [each.id for each in taken] == ["7"]
    assert [each.line for each in rejected] == [1, 3]
    with pytest.raises(DocumentError, match="not a pair of an id and a text"):
        dedup([(10**5000, "a text")])  # type: ignore[list-item]
    with pytest.raises(DocumentError, match="has a number of thousands of digits in the source field 'body'"):
        Documents(Scheme(), "body").add_fields({"body": 10**5000})


@pytest.mark.parametrize("kind", [10**5000, [10**5000], Unshown(), nested()], ids=lambda kind: type(kind).__name__)
def test_an_op_type_of_any_type_is_refused_by_name(kind: Any) -> None:
    with pytest.raises(DocumentError, match="has the _op_type"):
        list(Documents(Scheme(), "body").actions([{"_op_type": kind, "_id": "1", "_source": {"body": "a"}}]))
