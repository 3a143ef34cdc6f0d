"""All JSON scalars as values of a scope, in fields of every type: each verb finds exactly what `Scope.in_scope` says.

All documents of a field have the same text, so only the scope keeps them apart. Numbers are also written as Python
writes none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.request import Request, urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Policy, Scope, Verification
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.errors import EngineError
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.index import Index
from es_simhash.plans.operations import GetMappings, Search
from es_simhash.plans.scope_filters import ScopeFilters
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import ScopeValues, number_in, values_in
from tests.support.corpus import corpus
from tests.support.fuzzing import examples, scalars
from tests.support.rest_engines import new_name
from tests.support.whole_indices import engine_of_kind
from tools.nodes import Node

ALONE = Scheme(verification=Verification())
KEYWORD = {"type": "keyword", "ignore_above": 256}
MAPPED: Json = {
    "keyword": KEYWORD,
    "short_keyword": {"type": "keyword", "ignore_above": 3},
    "text": {"type": "text", "fields": {"keyword": KEYWORD}},
    "long": {"type": "long"},
    "byte": {"type": "byte"},
    "double": {"type": "double"},
    "float": {"type": "float"},
    "boolean": {"type": "boolean"},
    "date": {"type": "date"},
}
# Of fields that are mapped by their first value, which is a number, a fraction, a string and a truth value.
DYNAMIC = {"dynamic_long": "7", "dynamic_float": "7.5", "dynamic_text": '"7"', "dynamic_boolean": "true"}
PATHS = [*MAPPED, *DYNAMIC]
# Documents of one field have one text.
TEXTS = {path: str(each["body"]) for path, each in zip(PATHS, corpus(len(PATHS)), strict=True)}
# As JSON writes them.
WRITTEN = (
    *("7", "7.0", "7.00", "7e0", "0.7e1", "70E-1", '"7"', '"7.0"', '"07"', '"7e0"', "6.99999999999999999999", "-7"),
    *("0", "-0", "0.0", "-0.0", "0e5", '"0"', '"-0"', '"-0.0"', "1e20", "100000000000000000000", '"1e20"', "1E+20"),
    *("9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.0", '"9007199254740993"'),
    *("0.5", "0.50", "5e-1", '"0.5"', '"0.50"', "1e-7", "0.0000001", '"1e-07"', '"1e-7"', "1.5e300", "16777217"),
    *("true", '"true"', "false", '"false"', '"True"', '""', '" "', "null", "[]", "[null]", '"null"', '"-"', '"e"'),
    *('[7, 7.0, "7"]', '["a", 7.0]', '["a", "7"]', '["a"]', '"a"', '"A"', '"a\\u0000"', '"ａ"', '"𠀀"', '"é"', '"é"'),
    *('"2026-03-01"', '"2026-03-01T00:00:00Z"', "1772323200000", '"1772323200000"', "1772323200000.0", "20260301"),
    *(json.dumps("x" * 256), json.dumps("x" * 257), json.dumps("y" * 1001), json.dumps("é" * 20_000), "127", "128"),
)


@pytest.fixture(params=["embedded", "elasticsearch", "opensearch"], scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def engine(kind: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_of_kind(kind, request) as engine:
        yield engine


@pytest.fixture(scope="module")
def index(kind: str, engine: Engine, request: pytest.FixtureRequest) -> Iterator[Index]:
    """An index of a document for each value in each field that takes it."""
    index = Index(new_name(), engine, fields=["body"], scheme=ALONE)
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    index.init(create={"settings": settings, "mappings": {"properties": MAPPED}})
    node = None if kind == "embedded" else request.getfixturevalue(f"{kind}_node")
    for path in PATHS:
        values = [DYNAMIC[path], *WRITTEN] if path in DYNAMIC else WRITTEN
        if node is None:
            read = [json.loads(each) for each in values]
            index.add([{"_id": f"{path} {n}", "body": TEXTS[path], path: each} for n, each in enumerate(read)])
        else:
            put_as_written(node, index.name, index.documents, path, values)
    index.refresh()
    yield index
    if node is not None:
        node.request("DELETE", f"/{index.name}")


def put_as_written(node: Node, name: str, documents: Documents, path: str, values: Any) -> None:
    """Write documents whose values are in JSON as given."""
    [fields] = documents.add_fields_to_all([{"body": TEXTS[path]}])
    lines = []
    for number, value in enumerate(values):
        source = json.dumps({**fields, path: "@"}).replace('"@"', value)
        lines += [json.dumps({"index": {"_id": f"{path} {number}"}}), source]
    # The first value decides how the field is mapped.
    for some in (lines[:2], lines[2:]):
        body = ("\n".join(some) + "\n").encode()
        request = Request(f"{node.url}/{name}/_bulk", body, {"Content-Type": "application/x-ndjson"}, method="POST")
        with urlopen(request, timeout=60) as reply:
            assert reply.status == 200


def indexed(engine: Engine, name: str, path: str) -> dict[str, Json]:
    """Return the documents of a field, those that the engine has taken."""
    body = {"query": {"match_all": {}}, "size": 10_000, "_source": [path, "body"]}
    hits = engine.perform(Search(name, body))["hits"]["hits"]
    return {hit["_id"]: hit["_source"] for hit in hits if hit["_id"].startswith(f"{path} ")}


def expected(scope: Scope, documents: dict[str, Json], own: ScopeValues | None, without: str = "") -> set[str]:
    return {id_ for id_, each in documents.items() if id_ != without and scope.in_scope(own, scope.values_of(each))}


def scopes(path: str) -> list[Scope]:
    return [Scope((path,)), Scope((), (path,)), Scope(window=timedelta(days=1), date=path)]


def test_numbers_are_one_value_however_they_are_written_and_strings_are_themselves() -> None:
    same = ("7", "7.0", "7.00", "7e0", "0.7e1", "70E-1", '"7"', "6.99999999999999999999")
    assert {value for written in same for value in values_in({"f": json.loads(written)}, "f")} == {"7"}
    zeros = ("0", "-0", "0.0", "-0.0", "0e5", '"0"')
    assert {value for written in zeros for value in values_in({"f": json.loads(written)}, "f")} == {"0"}
    assert values_in({"f": ["7.0", "07", "7e0", "-0"]}, "f") == {"7.0", "07", "7e0", "-0"}
    assert values_in({"f": [1e20, 10**20]}, "f") == {str(10**20)}
    assert values_in({"f": 2**53 + 1}, "f") != values_in({"f": float(2**53 + 1)}, "f")


@pytest.mark.each_server
@pytest.mark.parametrize("path", PATHS)
def test_find_says_what_the_scope_says_of_every_two_values(engine: Engine, index: Index, path: str) -> None:
    documents = indexed(engine, index.name, path)
    assert len(documents) > 3
    for scope in scopes(path):
        found = index.find_many(ids=list(documents), size=1000, scope=scope)
        for id_, matches in zip(documents, found, strict=True):
            own = scope.values_of(documents[id_])
            assert {match.id for match in matches} == expected(scope, documents, own, id_), documents[id_]


@pytest.mark.parametrize("path", ["keyword", "text", "double", "boolean", "dynamic_float"])
@given(value=scalars | st.lists(scalars | st.sampled_from([7, 7.0, "7", "a"]), max_size=3))
@examples(10)
def test_find_and_check_say_what_the_scope_says_of_any_value(
    engine: Engine, index: Index, path: str, value: Any
) -> None:
    documents = indexed(engine, index.name, path)
    given_document = {"body": TEXTS[path], path: value}
    for scope in scopes(path)[:2]:
        wanted = expected(scope, documents, scope.values_of(given_document))
        [found] = index.find_many(docs=[given_document], size=1000, scope=scope)
        assert {match.id for match in found} == wanted
        [checked] = index.check([given_document], size=1000, scope=scope)
        assert {match.id for match in checked.in_index} == wanted


@pytest.mark.each_server
@pytest.mark.parametrize("path", ["keyword", "dynamic_float"])
def test_all_verbs_mean_the_same_tenant(engine: Engine, index: Index, path: str) -> None:
    """What a group holds is what find, check, dedup and erase name."""
    documents = indexed(engine, index.name, path)
    scope = Scope((path,))
    classes: dict[Any, set[str]] = {}
    for id_, each in documents.items():
        if (values := scope.values_of(each)) is not None:
            classes.setdefault(values, set()).add(id_)
    together = sorted(sorted(each) for each in classes.values() if len(each) > 1)
    setting = Index(index.name, engine, fields=["body"], scheme=ALONE)
    setting.init(policy=Policy(scope))
    opened = Index(index.name, engine)
    try:
        with opened.group() as grouped:
            assert sorted(sorted(member.id for member in group.members) for group in grouped) == together
        triples = [(id_, each["body"], {path: each.get(path)}) for id_, each in documents.items()]
        with group_texts(triples, ALONE, GroupOptions(scope=scope)) as found:
            assert sorted(sorted(map(str, group)) for group in found.ids()) == together
        for group in together:
            copies = opened.copies(group[:1])
            assert sorted(copy.id for copy in copies) == group, documents[group[0]]
    finally:
        setting.init(policy=Policy())


def test_a_text_is_searched_for_in_the_tenant_that_a_caller_gives(engine: Engine, index: Index) -> None:
    documents = indexed(engine, index.name, "keyword")
    scope = Scope(("keyword",))
    for tenant in (7, 7.0, "7", -0.0, 1e20, 10**20, True, "7.0"):
        found = index.find(TEXTS["keyword"], size=1000, scope=scope, scope_values={"keyword": tenant})
        wanted = expected(scope, documents, scope.values_of({"keyword": tenant}))
        assert {match.id for match in found} == wanted
        assert wanted


@pytest.mark.each_server
def test_other_tenants_are_left_out_by_the_engine(engine: Engine, index: Index) -> None:
    scope = Scope(("keyword",))
    mappings = engine.perform(GetMappings(index.name))
    filters = run(ScopeFilters.tried(index.name, mappings, scope), engine)
    values = scope.values_of({"keyword": 7})
    assert values
    body = {"query": {"bool": {"filter": filters.of(values)}}, "size": 1000, "_source": ["keyword"]}
    hits = engine.perform(Search(index.name, body))["hits"]["hits"]
    documents = indexed(engine, index.name, "keyword")
    assert expected(scope, documents, values) <= {hit["_id"] for hit in hits}
    numbers = [number_in(text) for hit in hits for text in values_in(hit["_source"], "keyword")]
    # Others begin alike and have fractions or exponents, or are in an array with one that has.
    assert len(hits) < len(documents) / 2
    assert not {"127", "0.5", str(10**20)} & set(numbers)
    assert "9007199254740993" not in numbers


def test_numbers_too_large_to_be_read_are_unknown(engine: Engine, index: Index) -> None:
    [matches] = index.find_many(docs=[{"body": TEXTS["keyword"], "keyword": 10**5000}], scope=Scope(("keyword",)))
    assert (len(matches), matches.missing) == (0, ("keyword",))


def test_a_cluster_that_takes_no_patterns_is_asked_without(engine: Engine, index: Index) -> None:
    """As with ``search.allow_expensive_queries: false``."""

    class WithoutPatterns:
        refused = 0

        def perform(self, operation: Any) -> Any:
            if "regexp" in str([getattr(operation, name, "") for name in ("body", "bodies")]):
                self.refused += 1
                raise EngineError("[regexp] queries cannot be executed. Allow them.")
            return engine.perform(operation)

        def close(self) -> None: ...

    strict = WithoutPatterns()
    documents, scope = indexed(engine, index.name, "keyword"), Scope(("keyword",))
    found = list(Index(index.name, strict).find_many(ids=list(documents), size=1000, scope=scope))
    assert strict.refused == 1
    for id_, matches in zip(documents, found, strict=True):
        assert {match.id for match in matches} == expected(scope, documents, scope.values_of(documents[id_]), id_)


def test_erasing_goes_on_while_what_it_finds_are_copies_of_other_tenants(
    engine: Engine, kind: str, request: pytest.FixtureRequest
) -> None:
    """If no filter keeps tenants apart, hundreds of them have the same text, and one's copies come last."""
    index = Index(new_name(), engine, fields=["body"], scheme=ALONE)
    mapped = {"tenant": {"type": "object", "enabled": False}}
    index.init(
        create={"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": mapped}},
        policy=Policy(Scope(("tenant",))),
    )
    others: list[Json] = [{"_id": f"of {n}", "body": TEXTS["text"], "tenant": f"tenant {n}"} for n in range(500)]
    ours = [{"_id": f"ours {n}", "body": TEXTS["text"], "tenant": "ours"} for n in range(3)]
    index.add([ours[0], *others, *ours[1:]], refresh=True)
    copies = index.copies(["ours 0"])
    assert {copy.id for copy in copies} == {each["_id"] for each in ours}
    if kind != "embedded":
        request.getfixturevalue(f"{kind}_node").request("DELETE", f"/{index.name}")
