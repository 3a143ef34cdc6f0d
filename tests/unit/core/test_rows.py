"""Results have one form each in JSON and CSV, and for people."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from es_simhash._core.rows import Result, as_json, json_record
from es_simhash.scheme.scope import Policy, Scope


@dataclass(frozen=True)
class Part:
    name: str
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class Whole(Result):
    JSON = ("parts", "size")

    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        return len(self.parts)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (Part("a", "not shown"), {"name": "a"}),
        ({1: (np.int64(2), np.bool_(True))}, {"1": [2, True]}),
        ([np.float64(0.5), float("nan"), np.array([1, 2])], [0.5, None, [1, 2]]),
        ({"b", "a"}, ["a", "b"]),
        (datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-01T00:00:00+00:00"),
        (ValueError("why not"), "why not"),
        (Policy(Scope(("tenant",))), {"scope": {"within": ["tenant"]}}),
    ],
)
def test_a_value_has_one_form_in_json(value: Any, form: Any) -> None:
    assert as_json(value) == form
    assert json.loads(json_record(value)) == form


def test_the_json_of_a_result_has_the_attributes_that_its_class_names() -> None:
    whole = Whole((Part("a"), Part("b")))
    assert whole.to_json() == as_json(whole) == {"parts": [{"name": "a"}, {"name": "b"}], "size": 2}
    assert json.loads(json_record({"event": "done"}, whole)) == {"event": "done", **whole.to_json()}
