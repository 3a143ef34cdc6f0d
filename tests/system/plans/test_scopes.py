"""Scopes in searches, on every engine: what is found is what an unscoped search finds, less what is out of scope.

Whether a pair is in scope is decided here once more, by hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from es_simhash import DocumentError, InputError, Matches, Policy, Scope, Verification
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import MappingError
from es_simhash.index import Index
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus, edited
from tests.support.distinct import by_text, folded_by_hand, ranked, shown

FIELDS = ["title", "body"]
EVERYTHING: Json = {"query": {"match_all": {}}, "sort": ["_doc"]}
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
CASES = [(scope, "both") for scope in SCOPES] + [(SCOPES[2], "policy"), (SCOPES[4], "option")]
# Without the surroundings of texts, what is found of one document does not depend on others.
ALONE = Scheme(verification=Verification())
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
    ids = list(found)
    rng.shuffle(ids)
    return {id_: {**found[id_], "rank": rank} for rank, id_ in enumerate(ids)}


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


def filled(engine: Engine, name: str, mapped: Json, texts: dict[str, Json] = DOCUMENTS, **known: Any) -> Index:
    index = Index(name, engine, fields=FIELDS, **known)
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}
    index.init(create={"settings": settings, "mappings": {"properties": mapped}})
    assert not index.add([{"_id": id_, **each} for id_, each in texts.items()], refresh=True).refused
    return index


@pytest.fixture(scope="module")
def index(engine: Engine, names: Callable[[], str]) -> Index:
    return filled(engine, names(), MAPPED, scheme=ALONE)


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}, {case[1]}")
def case(request: pytest.FixtureRequest) -> tuple[Scope, str]:
    case: tuple[Scope, str] = request.param
    return case


@pytest.fixture
def scope(case: tuple[Scope, str]) -> Scope:
    return case[0]


@pytest.fixture
def scoped(index: Index, case: tuple[Scope, str]) -> Iterator[tuple[Index, Json]]:
    """The index with the scope as its policy, or as an option, or partly both."""
    scope, where = case
    policy, option = {"policy": (scope, None), "option": (None, scope), "both": halves(scope)}[where]
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
    found = opened.find_many(ids=list(expected), size=1000, estimate=estimate, **options)
    assert {id_: [match.id for match in matches] for id_, matches in zip(expected, found, strict=True)} == expected


def test_what_the_server_cannot_filter_is_found_as_well(index: Index, engine: Engine, names: Callable[[], str]) -> None:
    unmapped = filled(engine, names(), UNMAPPED, scheme=ALONE)
    for scope in SCOPES:
        expected = found_by_hand(index, scope, estimate=True)
        found = unmapped.find_many(ids=list(expected), size=1000, estimate=True, scope=scope)
        assert {id_: [match.id for match in matches] for id_, matches in zip(expected, found, strict=True)} == expected


def test_texts_are_found_by_the_values_that_the_caller_gives(scoped: tuple[Index, Json], scope: Scope) -> None:
    opened, options = scoped
    for id_, each in list(DOCUMENTS.items())[:30]:
        if not each["body"]:
            continue
        by_id = opened.find_many(ids=[id_], size=1000, **options)
        expected = [[match.id for match in matches] for matches in by_id]
        by_doc = opened.find_many(docs=[{**each, "_id": id_}], size=1000, **options)
        assert [[match.id for match in matches] for matches in by_doc] == expected
        given = {path: value for path in scope.paths if (value := value_at(each, path)) is not None}
        text = opened.documents.text_of(each)
        if scope.missing(each):
            with pytest.raises(InputError, match=f"A text has no value in {scope.missing(each)[0]}"):
                opened.find(text, scope_values=given, **options)
            continue
        found = opened.find(text, scope_values=given, size=1000, **options)
        # The document itself is another one for a bare text.
        is_own = are_in_scope(scope, each, each)
        assert {match.id for match in found} == {*expected[0], *([id_] if is_own else [])}


def test_a_document_without_a_value_is_named(scoped: tuple[Index, Json], scope: Scope) -> None:
    opened, options = scoped
    unscoped = {id_: each for id_, each in DOCUMENTS.items() if each["body"] and scope.missing(each)}
    id_, document = next(iter(unscoped.items()))
    missing = scope.missing(document)
    with pytest.raises(DocumentError, match=f"no value in {', '.join(missing)}"):
        opened.find(id=id_, **options)
    [matches] = opened.find_many(ids=[id_], **options)
    assert (len(matches), matches.missing) == (0, missing)
    [checked] = opened.check([document], **options)
    assert (checked.is_new, checked.missing) == (True, missing)


def test_a_list_is_checked_against_the_index_and_itself(index: Index, scoped: tuple[Index, Json], scope: Scope) -> None:
    opened, options = scoped
    listed = list(DOCUMENTS.values())
    expected = [
        (
            [match.id for match in each.in_index if are_in_scope(scope, document, DOCUMENTS[match.id])],
            [match.id for match in each.earlier if are_in_scope(scope, document, listed[int(match.id)])],
        )
        for document, each in zip(listed, index.check(listed, size=1000), strict=True)
    ]
    found = [
        ([match.id for match in each.in_index], [match.id for match in each.earlier])
        for each in opened.check(listed, size=1000, **options)
    ]
    assert found == expected
    assert any(earlier for _, earlier in found)


@pytest.mark.parametrize(
    ("window", "source"), [(7, True), (100, False), (13, ["rank"]), (100, {"excludes": ["meta", "at"]})], ids=str
)
def test_hits_are_folded_in_scope_only(
    index: Index, scoped: tuple[Index, Json], scope: Scope, window: int, source: Any
) -> None:
    opened, options = scoped
    is_near = by_text(index, lambda hit: DOCUMENTS[hit["_id"]])
    hits = [hit for hit in ranked(index, EVERYTHING) if DOCUMENTS[hit["_id"]]["body"]]
    expected = folded_by_hand(
        hits, lambda a, b: are_in_scope(scope, *(DOCUMENTS[each["_id"]] for each in (a, b))) and is_near(a, b)
    )
    assert any(expected.values())
    body = {**EVERYTHING, "size": 1000, "_source": source}
    page = opened.search(body, distinct=True, with_texts=True, window=window, **options)
    found = {id_: similar for id_, similar in shown(page).items() if DOCUMENTS[id_]["body"]}
    assert found == expected
    unscoped = [each for each in DOCUMENTS.values() if each["body"] and scope.missing(each)]
    assert page.apart["unscoped"] == len(unscoped)
    if source is False:
        assert all("_source" not in each.hit for each in page)
    else:
        assert ("meta" in page[0].hit["_source"]) == (source is True)


def test_pages_in_scope_are_parts_of_one_list(scoped: tuple[Index, Json]) -> None:
    opened, options = scoped
    whole = shown(opened.search({**EVERYTHING, "size": 1000}, distinct=True, **options))
    found: list[str] = []
    page = opened.search({**EVERYTHING, "size": 9}, distinct=True, paged=True, window=20, **options)
    while True:
        found += shown(page)
        if page.cursor is None:
            break
        other = Scope(("rank",))
        with pytest.raises(InputError, match="Invalid cursor"):
            opened.search({**EVERYTHING, "size": 9}, distinct=True, cursor=page.cursor, scope=other)
        page = opened.search({**EVERYTHING, "size": 9}, distinct=True, cursor=page.cursor, window=20, **options)
    assert found == list(whole)


def value_at(document: Json, path: str) -> Any:
    found: Any = document
    for name in path.split("."):
        found = (found or {}).get(name)
    return found


# --- what a scope keeps off


def news(engine: Engine, name: str, scope: Scope, texts: dict[str, Json], mappings: Json = MAPPED) -> Index:
    index = Index(name, engine, fields=["body"])
    create = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": mappings}}
    index.init(create=create, policy=Policy(scope))
    index.add([{"_id": id_, **each} for id_, each in texts.items()], refresh=True)
    return Index(name, engine)


BODY = corpus(1)[0]["body"]


def test_candidates_out_of_scope_take_no_place_where_the_server_can_leave_them_out(
    engine: Engine, names: Callable[[], str]
) -> None:
    scope = Scope(("meta.tenant",), ("source",), DAY, "at")
    own = {"body": BODY, "meta": {"tenant": "acme"}, "source": "wire", "at": "2026-03-01"}
    others = [
        {**own, "meta": {"tenant": "zeta"}, "source": "blog"},
        own,
        {**own, "source": "blog", "at": "2026-05-01"},
    ]
    texts = {f"{kind}-{i}": each for kind, each in enumerate(others) for i in range(10)}
    texts["in"] = {**own, "source": "blog"}
    index = news(engine, names(), scope, texts)
    for candidates in ("keys", "more_like_this"):
        found = index.find(doc=own, max_candidates=2, candidates=candidates)
        assert ([match.id for match in found], found.candidates, found.complete) == (["in"], 1, True)
    unmapped = news(engine, names(), scope, texts, UNMAPPED)
    assert [match.id for match in unmapped.find(doc=own)] == ["in"]


def test_candidates_without_a_value_are_counted_where_they_are_seen(engine: Engine, names: Callable[[], str]) -> None:
    texts = {"1": {"body": BODY, "source": "wire"}, "2": {"body": BODY}, "3": {"body": BODY, "source": "wire"}}
    index = news(engine, names(), Scope((), ("source",)), texts)
    found = index.find(BODY, scope_values={"source": "blog"})
    assert ([match.id for match in found], found.unscoped) == (["1", "3"], 1)
    [checked] = index.check([{"body": BODY, "source": "blog"}])
    assert checked.in_index.unscoped == 1


def test_a_tenant_of_many_finds_what_it_finds_alone(engine: Engine, names: Callable[[], str]) -> None:
    """By weights that do not depend on the other documents of the index."""
    scheme = Scheme(verification=Verification(weights="scheme"))
    path = "meta.tenant"
    together = filled(engine, names(), MAPPED, scheme=scheme)
    together.init(policy=Policy(Scope((path,))))
    together = Index(together.name, engine)
    for tenant in ("acme", "zeta"):
        own = {id_: each for id_, each in DOCUMENTS.items() if texts_at(each, path) == {tenant} and each["body"]}
        alone = filled(engine, names(), MAPPED, own, scheme=scheme)
        found, expected = (list(each.find_many(ids=list(own), size=1000)) for each in (together, alone))
        assert [as_alone(each) for each in found] == [as_alone(each) for each in expected]
        assert any(found)
        new = [{**each, "_id": f"new-{id_}"} for id_, each in own.items()]
        checked, wanted = (list(each.check(new, size=1000)) for each in (together, alone))
        assert [as_alone(each.in_index) + as_alone(each.earlier) for each in checked] == [
            as_alone(each.in_index) + as_alone(each.earlier) for each in wanted
        ]


def as_alone(matches: Matches) -> list[Any]:
    """All that is known of matches, but for the name of the index."""
    return [[replace(match, index="") for match in matches], matches.refused, matches.candidates]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"meta.tenant": "acme"}, "doc", "Documents have values of their own"),
        ({"meta.tenant": "acme", "tenant": "acme"}, "text", "No scope has the field tenant"),
        ({"meta.tenant": None}, "text", "A text has no value in meta.tenant"),
        (None, "text", "A text has no value in meta.tenant"),
    ],
)
def test_values_for_the_scope_are_checked(
    engine: Engine, names: Callable[[], str], given: Json | None, kind: str, message: str
) -> None:
    index = news(engine, names(), Scope(("meta.tenant",)), {})
    subject: Json = {"doc": {"body": BODY, "meta": {"tenant": "a"}}} if kind == "doc" else {"text": BODY}
    with pytest.raises(InputError, match=message):
        index.find(**subject, scope_values=given)
    with pytest.raises(InputError, match="Documents have values of their own"):
        list(index.check([], scope_values={"meta.tenant": "acme"}))


def test_options_cannot_widen_a_policy(engine: Engine, names: Callable[[], str]) -> None:
    texts: dict[str, Json] = {
        "1": {"body": BODY, "meta": {"tenant": "acme"}, "source": "wire", "at": "2026-03-01"},
        "2": {"body": BODY, "meta": {"tenant": "zeta"}, "source": "blog", "at": "2026-03-02"},
        "3": {"body": BODY, "meta": {"tenant": "acme"}, "source": "blog", "at": "2026-03-09"},
    }
    index = news(engine, names(), Scope(("meta.tenant",), (), DAY, "at"), texts)
    for scope in (None, Scope((), ("source",)), Scope.of(window="99d", date="at")):
        assert not index.find(id="1", scope=scope)
        page = index.search(EVERYTHING, distinct=True, scope=scope)
        assert len(page) == 3
    with pytest.raises(InputError, match="Give one over 'at'"):
        index.find(id="1", scope=Scope.of(window="1d", date="source"))
    with pytest.raises(MappingError, match="multi-field"):
        index.find(id="1", scope=Scope(("source.keyword",)))


def test_groups_of_another_scope_fold_nothing_out_of_this_one(engine: Engine, names: Callable[[], str]) -> None:
    texts: dict[str, Json] = {
        "1": {"body": BODY, "meta": {"tenant": "acme"}, "source": "wire"},
        "2": {"body": BODY, "meta": {"tenant": "zeta"}, "source": "blog"},
        "3": {"body": BODY, "meta": {"tenant": "acme"}, "source": "blog"},
        "4": {"body": BODY},
    }
    name = names()
    index = Index(name, engine, fields=["body"])
    index.init(
        create={"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": MAPPED}}
    )
    index.add([{"_id": id_, **each} for id_, each in texts.items()], refresh=True)
    with index.group() as grouped:
        index.write_groups(grouped)
    index.refresh()
    assert shown(index.search(EVERYTHING, by_groups=True)) == {"1": ["2", "3", "4"]}
    page = index.search({**EVERYTHING, "_source": False}, by_groups=True, scope=Scope(("meta.tenant",)))
    assert shown(page) == {"1": ["3"], "2": [], "4": []}
    assert page.apart == {"unscoped": 1}


def test_explain_names_the_fields_that_keep_two_apart(engine: Engine, names: Callable[[], str]) -> None:
    texts: dict[str, Json] = {
        "1": {"body": BODY, "meta": {"tenant": ["a", "b"]}, "source": "wire", "at": "2026-03-01"},
        "2": {"body": BODY, "meta": {"tenant": ["b", "a"]}, "source": ["blog", "wire"], "at": "2026-03-05"},
        "3": {"body": BODY, "meta": {"tenant": ["a", "b"]}, "source": "blog", "at": "2026-03-01"},
        "4": {"body": BODY},
    }
    index = news(engine, names(), Scope(("meta.tenant",)), texts)
    narrower = Scope((), ("source",), DAY, "at")
    within = index.explain("1", "3", scope=narrower)
    assert (within.verdict.code, [each.is_met for each in within.scope]) == ("duplicates", [True, True, True])
    apart = index.explain("1", "2", scope=narrower)
    assert (apart.verdict.code, apart.verdict.are_duplicates) == ("out-of-scope", False)
    assert apart.verdict.sentence == (
        "No near-duplicates, since out of scope: source is wire and blog, wire, and must be different; "
        "at is 2026-03-01 and 2026-03-05, and must be at most 1d apart."
    )
    assert apart.verdict.notes[0].startswith("But for the scope: Near-duplicates")
    unknown = index.explain("1", "4")
    assert "meta.tenant is a, b and nothing, and must be the same" in unknown.verdict.sentence
    assert index.explain("1", "2").verdict.are_duplicates
