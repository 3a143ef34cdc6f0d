"""Scopes in searches, on every engine: what is found is what an unscoped search finds, less what is out of scope.

Whether a pair is in scope is decided here once more, by hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from es_simhash import Policy, Scope, Verification
from es_simhash._core.json_paths import Json
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.scheme.scheme import Scheme
from es_simhash.testing.corpus import corpus, edited

FIELDS = ["title", "body"]
DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, tzinfo=timezone.utc)
TENANTS: list[Any] = ["acme", "Acme", "zeta", ["acme", "zeta"], ["zeta", "acme"], 5, "5", "", None, []]
SOURCES: list[Any] = ["wire", "Wire", "blog", ["wire", "blog"], "x" * 300, None]
NUMBERS: list[Any] = [1, 2, [1, 2], 2.0, None]
SCOPES = (
    Scope(("meta.tenant",)),
    Scope((), ("source",)),
    Scope(("meta.tenant",), ("source",)),
    Scope(window=DAY, date="at"),
    Scope(("flag",), ("number",), 3 * DAY, "at"),
    Scope(("number",), ("flag",)),
)
# Without the surroundings of texts, what is found of one document does not depend on others.
ALONE = Scheme(verification=Verification(crowding=None))
MAPPED: Json = {
    "meta": {"properties": {"tenant": {"type": "keyword"}}},
    "source": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}},
    "at": {"type": "date"},
    "number": {"type": "long"},
    "flag": {"type": "boolean"},
}
UNMAPPED: Json = {name: {"type": "object", "enabled": False} for name in ("meta", "source", "at", "number", "flag")}


def documents() -> dict[str, Json]:
    """Copies of some texts, more or less edited, each with values drawn at random, or without."""
    rng = random.Random(24)
    found: dict[str, Json] = {}
    for number, original in enumerate(corpus(6)):
        for copy in range(14):
            text = edited(original, rng.choice([0, 0, 1, 2, 40])) if number else {"title": "", "body": ""}
            found[f"{number}-{copy}"] = {**text, **values(rng)}
    return found


def values(rng: random.Random) -> Json:
    moment = FIRST + rng.choice([0, 1, 1, 2, 4, 9]) * DAY / 2 + timedelta(milliseconds=rng.choice([0, 0, 1]))
    made = {
        "meta": {"tenant": rng.choice(TENANTS[:3] if rng.random() < 0.7 else TENANTS)},
        "source": rng.choice(SOURCES),
        "at": rng.choice([moment.isoformat(), round(moment.timestamp() * 1000), None, [moment.isoformat(), "2030"]]),
        "number": rng.choice(NUMBERS),
        "flag": rng.choice([True, True, False, "true", None]),
    }
    return {name: value for name, value in made.items() if value is not None or rng.random() < 0.5}


DOCUMENTS = documents()


def texts_at(document: Json, path: str) -> set[str]:
    found: Any = document
    for name in path.split("."):
        found = (found or {}).get(name)
    given = found if isinstance(found, list) else [found]
    return {
        str(each).lower() if isinstance(each, bool) else str(each).removesuffix(".0")
        for each in given
        if each is not None
    }


def date_at(document: Json, path: str) -> datetime | None:
    found = document.get(path)
    given = found if isinstance(found, list) else [found]
    dates = [
        datetime.fromtimestamp(each / 1000, timezone.utc)
        if isinstance(each, int)
        else datetime.fromisoformat(each if len(each) > 4 else f"{each}-01-01T00:00:00+00:00")
        for each in given
        if each is not None
    ]
    return min(dates, default=None)


def are_in_scope(scope: Scope, one: Json, other: Json) -> bool:
    for path in (*scope.within, *scope.across):
        a, b = texts_at(one, path), texts_at(other, path)
        if not a or not b or (a != b if path in scope.within else bool(a & b)):
            return False
    if scope.date is None or scope.window is None:
        return True
    first, second = date_at(one, scope.date), date_at(other, scope.date)
    return first is not None and second is not None and abs(first - second) <= scope.window


def filled(engine: Engine, name: str, mapped: Json, **known: Any) -> Index:
    index = Index(name, engine, fields=FIELDS, **known)
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}
    index.init(create={"settings": settings, "mappings": {"properties": mapped}})
    assert not index.add([{"_id": id_, **each} for id_, each in DOCUMENTS.items()], refresh=True).refused
    return index


@pytest.fixture(params=["mapped", "unmapped"], scope="module")
def index(engine: Engine, names: Callable[[], str], request: pytest.FixtureRequest) -> Index:
    return filled(engine, names(), MAPPED if request.param == "mapped" else UNMAPPED, scheme=ALONE)


@pytest.fixture(params=SCOPES, ids=str)
def scope(request: pytest.FixtureRequest) -> Scope:
    scope: Scope = request.param
    return scope


@pytest.fixture(params=["policy", "option", "both"])
def scoped(index: Index, scope: Scope, request: pytest.FixtureRequest) -> Iterator[tuple[Index, Json]]:
    """The index with the scope as its policy, or as an option, or partly both."""
    policy, option = {"policy": (scope, None), "option": (None, scope), "both": halves(scope)}[request.param]
    setting = Index(index.name, index.engine, fields=FIELDS, scheme=ALONE)
    setting.init(policy=Policy(policy))
    yield Index(index.name, index.engine), {} if option is None else {"scope": option}
    setting.init(policy=Policy())


def halves(scope: Scope) -> tuple[Scope | None, Scope | None]:
    return Scope.of(scope.within, (), None, None), Scope.of((), scope.across, scope.window, scope.date)


def found_by_hand(index: Index, scope: Scope, estimate: bool) -> dict[str, list[str]]:
    """The ids that an unscoped search finds for each document, without those out of scope."""
    ids = [id_ for id_, each in DOCUMENTS.items() if each["body"]]
    everything = index.find_many(ids=ids, size=1000, estimate=estimate)
    return {
        id_: [match.id for match in matches if are_in_scope(scope, DOCUMENTS[id_], DOCUMENTS[match.id])]
        for id_, matches in zip(ids, everything, strict=True)
    }


@pytest.mark.parametrize("estimate", [True, False])
def test_what_is_found_is_what_is_near_and_in_scope(
    index: Index, scoped: tuple[Index, Json], scope: Scope, estimate: bool
) -> None:
    opened, options = scoped
    expected = found_by_hand(index, scope, estimate)
    assert any(expected.values())
    found = opened.find_many(ids=expected, size=1000, estimate=estimate, **options)
    assert {id_: [match.id for match in matches] for id_, matches in zip(expected, found, strict=True)} == expected
