"""Indices of another cluster: searched, checked against and grouped from here as from there, and never changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Index
from es_simhash._core.json_codec import Json
from es_simhash.errors import EngineError, IndexStateError, MappingError, SchemeMismatchError
from tests.support.commands import run
from tests.support.corpus import corpus, edited
from tests.support.pytest_nodes import own_node
from tests.support.rest_engines import new_name
from tools.nodes import Node

FIELDS = ("title", "body")
STORIES = [{**story, "tenant": f"t{number % 2}"} for number, story in enumerate(corpus(12))]
COPIES = [edited(story, seed=number) for number, story in enumerate(STORIES[:8])]
DOCUMENTS: dict[str, Json] = {str(number): document for number, document in enumerate([*STORIES, *COPIES])}


@pytest.fixture(params=["elasticsearch", "opensearch"], scope="module")
def far(request: pytest.FixtureRequest) -> Node:
    """A cluster of one node, which has the documents."""
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture(scope="module")
def near(far: Node) -> Iterator[Node]:
    """Another cluster, which knows the first as ``far``."""
    with own_node(far.release.name, settings={"cluster.name": "near"}) as node:
        [about] = far.request("GET", "/_nodes/_local/transport").body["nodes"].values()
        seeds = {"cluster.remote.far.seeds": [about["transport"]["publish_address"]]}
        assert node.request("PUT", "/_cluster/settings", {"persistent": seeds}).status == 200
        yield node


@pytest.fixture(scope="module")
def name(far: Node) -> Iterator[str]:
    """An index of the far cluster."""
    name = new_name()
    with Index(name, far.url, fields=FIELDS) as index:
        index.init(create={"settings": {"number_of_shards": 2, "number_of_replicas": 0}})
        index.add([{"_id": id_, **document} for id_, document in DOCUMENTS.items()], refresh=True)
    yield name
    far.request("DELETE", f"/{name}")


@pytest.fixture(scope="module")
def there(far: Node, name: str) -> Iterator[Index]:
    """The index as its own cluster has it."""
    with Index(name, far.url) as index:
        yield index


@pytest.fixture(scope="module")
def from_here(near: Node, name: str) -> Iterator[Index]:
    """The index as the near cluster reaches it."""
    with Index(f"far:{name}", near.url, fields=FIELDS) as index:
        yield index


@pytest.fixture(scope="module")
def both(near: Node, name: str) -> Iterator[Index]:
    """The index with one of the near cluster, which says how documents are fingerprinted."""
    with Index(name, near.url, fields=FIELDS) as index:
        index.init()
        index.add([{"_id": "here", **STORIES[0]}], refresh=True)
    with Index(f"{name},far:{name}", near.url) as index:
        yield index


def shown(matches: Any) -> list[tuple[str, float | None]]:
    return sorted((match.id, match.similarity) for match in matches)


def test_the_same_is_found_as_there(there: Index, from_here: Index) -> None:
    for id_, document in DOCUMENTS.items():
        found = shown(there.find(id=id_))
        assert shown(from_here.find(id=id_)) == found
        assert shown(from_here.find(doc=document)) == shown(there.find(doc=document))
    assert any(shown(there.find(id=id_)) for id_ in DOCUMENTS)


def test_matches_name_the_cluster(from_here: Index, name: str) -> None:
    assert {match.index for match in from_here.find(doc=STORIES[0])} == {f"far:{name}"}


def test_both_clusters_are_searched_at_once(both: Index, there: Index) -> None:
    found = shown(both.find(doc=STORIES[0]))
    assert found == sorted([*shown(there.find(doc=STORIES[0])), ("here", 1.0)])


def test_a_search_shows_the_same_distinct_hits(there: Index, from_here: Index) -> None:
    body: Json = {"query": {"match_all": {}}, "sort": ["title.keyword"], "size": 5}

    def pages(index: Index) -> list[list[str]]:
        found, cursor = [], None
        while True:
            page = index.search(body, distinct=True, paged=True, cursor=cursor)
            found.append([each.hit["_id"] for each in page])
            cursor = page.cursor
            if cursor is None:
                return found

    assert pages(from_here) == pages(there)
    assert sum(map(len, pages(there))) < len(DOCUMENTS)


def test_new_documents_are_checked_alike(there: Index, from_here: Index) -> None:
    new = [edited(story, seed=99) for story in STORIES] + [
        {"title": "something else", "body": "that nobody has had yet"}
    ]

    def checked(index: Index) -> list[list[str]]:
        return [[match.id for match in each.in_index] for each in index.check(new)]

    assert checked(from_here) == checked(there)


def test_groups_are_the_same(there: Index, from_here: Index, both: Index) -> None:
    def groups(index: Index) -> list[set[str]]:
        with index.group() as grouped:
            return sorted(({member.id for member in group.members} for group in grouped), key=sorted)

    assert groups(from_here) == groups(there)
    joined = [group | {"here"} if "0" in group else group for group in groups(there)]
    assert groups(both) == sorted(joined, key=sorted)


def test_without_fields_nothing_says_how_texts_are_read(near: Node, name: str) -> None:
    with Index(f"far:{name}", near.url) as index, pytest.raises(MappingError, match=f"'articles,far:{name}'"):
        index.find("a text of some length")


def test_another_scheme_finds_nothing_and_says_so(near: Node, name: str) -> None:
    expected = pytest.raises(SchemeMismatchError, match=f"'far:{name}' holds fingerprints of the scheme")
    with Index(f"far:{name}", near.url, fields=FIELDS, scheme="strict") as index, expected:
        index.find("a text of some length")


@pytest.mark.parametrize("missing", ["far:no-such-index", "nowhere:articles"])
def test_what_is_not_there_is_an_error(near: Node, missing: str) -> None:
    with Index(missing, near.url, fields=FIELDS) as index, pytest.raises(EngineError):
        index.find("a text of some length")


CHANGES: dict[str, Callable[[Index], object]] = {
    "init": lambda index: index.init(),
    "add": lambda index: index.add([{"_id": "new", "title": "a title", "body": "a body"}]),
    "delete": lambda index: index.delete(["0"]),
    "backfill": lambda index: index.backfill(),
    "remove": lambda index: index.remove_fields(),
    "refresh": lambda index: index.refresh(),
    "info": lambda index: index.info(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("also_here", [False, True], ids=["there", "here and there"])
def test_what_cannot_be_done_is_refused_by_name(
    near: Node, both: Index, name: str, change: Callable[[Index], object], also_here: bool
) -> None:
    before = state_of(near, name)
    whole = f"{name},far:{name}" if also_here else f"far:{name}"
    with Index(whole, near.url, fields=FIELDS) as index, pytest.raises(IndexStateError, match=f"'far:{name}' can be"):
        change(index)
    assert state_of(near, name) == before


def state_of(node: Node, name: str) -> Any:
    """What there is of an index: its mapping, its settings and its documents."""
    hits = node.request("GET", f"/{name}/_search?version=true").body["hits"]["hits"]
    return node.request("GET", f"/{name}").body, hits


def test_commands_refuse_it_before_they_read(near: Node, both: Index, name: str, tmp_path: Path) -> None:
    url, fields = ("--url", near.url), ("--field", "title", "--field", "body")
    document = '{"_id": "of the file", "title": "A document", "body": "that is checked."}\n'
    for command in (
        ("group", f"{name},far:{name}", "--write"),
        ("backfill", f"far:{name}", *fields),
        ("reindex", f"far:{name}", "copy", *fields),
        ("remove", f"{name},far:{name}", "--yes"),
        ("init", f"far:{name}", *fields),
        ("scripts", f"far:{name}", "--install"),
        ("scripts", f"{name},far:{name}", "--pipeline", "--install"),
        ("scripts", f"far:{name}", "--pipeline", "--remove"),
        ("gate", f"{name},far:{name}", "--state", "state"),
        ("erase", f"{name},far:{name}", "--id", "here", "--yes"),
        ("doctor", f"{name},far:{name}"),
        ("check", f"{name},far:{name}", "--write", "-"),
        ("load", f"far:{name}", "-"),
        ("dashboard", f"far:{name}"),
    ):
        done = run(*command, *url, cwd=tmp_path, code=None, stdin=document)
        assert done.code not in (0, 1), command
        assert f"'far:{name}' can be searched from this cluster" in done.err, (command, done.err)
        assert not (tmp_path / "rejected.jsonl").exists(), command
        assert "documents" not in done.out
        assert "of the file" not in done.out, command


def test_commands_search_it(near: Node, name: str, tmp_path: Path) -> None:
    fields = ("--field", "title", "--field", "body")
    done = run("find", f"far:{name}", "--id", "0", *fields, "--url", near.url, cwd=tmp_path)
    assert f"far:{name}" in done.out
