"""No command shows, or stores, a pair that is out of the scope of an index: each verb that reads pairs, on each engine.

A new verb has to be named here, as one that reads pairs, or one that does not.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.cli.desk.desk import desk_on_index
from es_simhash.cli.program import COMMANDS
from es_simhash.cli.show.output import Output
from es_simhash.engines.connect import connect
from es_simhash.errors import MissingError
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, CreateIndex, DeleteIndex, Operation, Refresh, Search
from tests.support.commands import lines, run
from tests.support.corpus import corpus, edited
from tests.support.whole_indices import ENGINES
from tools.nodes import Node

Result = TypeVar("Result")
TENANTS = ("acme", "zeta")
ASKED = ("acme-0-whole", "zeta-1-edited")
EVERYTHING = '{"match_all": {}}'
MAPPED: Json = {"properties": {"body": {"type": "text"}, "tenant": {"type": "keyword"}}}


def documents() -> Iterator[Json]:
    """Both tenants have the same texts: each whole, edited, and in a longer one."""
    for number, original in enumerate(corpus(3)):
        whole, other = original["body"], corpus(8)[5 + number]["body"]
        forms = {"whole": whole, "edited": edited(original, 1, seed=number)["body"], "part": f"{whole} {other}"}
        for tenant in TENANTS:
            for form, text in forms.items():
                yield {"id": f"{tenant}-{number}-{form}", "body": text, "tenant": tenant}


@dataclass
class Team:
    """An index of two tenants, and a folder with its documents as a file."""

    folder: Path
    place: str
    policy: tuple[str, ...]
    made: list[str] = field(default_factory=list)

    def run(self, *arguments: str, code: int | None = 0, stdin: str = "") -> Any:
        return run(*arguments, cwd=self.folder, code=code, stdin=stdin, ES_SIMHASH_URL=self.place)

    def json(self, *arguments: str) -> list[Json]:
        return lines(self.run(*arguments, "--json"))

    def new(self) -> str:
        """Make an index without documents."""
        name = self.name()
        self.perform(CreateIndex(name, {"mappings": MAPPED}))
        self.run("init", name, "--field", "body", "--scheme", "passages", *self.policy)
        return name

    def filled(self) -> str:
        name = self.new()
        self.run("load", name, "news.jsonl")
        self.perform(Refresh(name))
        return name

    def perform(self, operation: Operation[Result]) -> Result:
        """Do this apart from the commands, which may find an embedded index open to nobody else."""
        engine = connect(self.place)
        try:
            return engine.perform(operation)
        finally:
            engine.close()

    def name(self) -> str:
        self.made.append(f"scoped-{uuid.uuid4().hex[:10]}")
        return self.made[-1]

    def groups(self, name: str) -> Iterator[set[str]]:
        """The groups that documents have in the index."""
        self.perform(Refresh(name))
        found = defaultdict(set)
        for hit in self.perform(Search(name, {"query": {"match_all": {}}, "size": 1000}))["hits"]["hits"]:
            if group := hit["_source"].get("dedup", {}).get("group"):
                found[group].add(hit["_id"])
        yield from found.values()


def ids(matches: list[Json]) -> set[str]:
    return {match["id"] for match in matches}


# --- what each verb puts together


def find(team: Team, name: str, *more: str) -> Iterator[set[str]]:
    for id_ in ASKED:
        [found] = team.json("find", name, "--id", id_, *more)
        yield {id_, *ids(found["matches"])}


def find_text(team: Team, name: str) -> Iterator[set[str]]:
    body = next(documents())["body"]
    value = ("--scope-value", "tenant=zeta") if "--within" in team.policy else ()
    [found] = team.json("find", name, "--text", body, *value)
    yield {"zeta", *ids(found["matches"])}


def search(team: Team, name: str) -> Iterator[set[str]]:
    [page] = team.json("search", name, "--query", EVERYTHING)
    for each in page["hits"]:
        yield {each["hit"]["_id"], *ids(each["similar"])}


def explain(team: Team, name: str) -> Iterator[set[str]]:
    for pair in (("acme-0-whole", "zeta-0-whole"), ("acme-0-whole", "acme-0-edited")):
        [found] = team.json("explain", name, *pair)
        yield set(pair) if found["verdict"]["are_duplicates"] else {pair[0]}


def check(team: Team, name: str, *more: str) -> Iterator[set[str]]:
    for each in team.json("check", name, "news.jsonl", *more):
        yield {each["id"], *ids(each["in_index"]["matches"]), *ids(each["earlier"]["matches"])}


def check_and_write(team: Team, _: str) -> Iterator[set[str]]:
    name = team.new()
    yield from check(team, name, "--write")
    yield from team.groups(name)


def gate(team: Team, name: str) -> Iterator[set[str]]:
    """The documents of the index, and in an empty one those that the gate itself has accepted."""
    lines_in = (team.folder / "news.jsonl").read_text(encoding="utf-8")
    for place in (name, team.new()):
        for each in lines(team.run("gate", place, "--stdin", "--state", place, "--json", stdin=lines_in)):
            yield {each["id"], *ids(each.get("duplicates", []))}


def group(team: Team, name: str, *more: str) -> Iterator[set[str]]:
    for each in team.json("group", name, *more):
        yield ids(each.get("members", []))


def group_and_write(team: Team, _: str) -> Iterator[set[str]]:
    name = team.filled()
    for more in ((), ("--incremental",)):
        yield from group(team, name, "--write", *more)
        yield from team.groups(name)


def erase(team: Team, name: str) -> Iterator[set[str]]:
    for id_ in ASKED:
        [found] = team.json("erase", name, "--id", id_)
        yield {id_, *ids(found["copies"])}


def evaluate(team: Team, name: str) -> Iterator[set[str]]:
    labels = [json.dumps({"cluster": each["id"].split("-")[1], "ids": [each["id"]]}) for each in documents()]
    (team.folder / "labels.jsonl").write_text("\n".join(labels), encoding="utf-8")
    team.run("evaluate", name, "--labels", "labels.jsonl", "--pairs", "pairs.jsonl")
    for line in (team.folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        yield {pair["first"], pair["second"]}


def histogram(team: Team, name: str, *more: str) -> Iterator[set[str]]:
    [found] = team.json("tune", "--histogram", name, *more)
    for level in found["levels"]:
        assert bool(level["examples"]) == bool(level["pairs"])
        for each in level["examples"]:
            yield {each["first"], each["second"]}


def load(team: Team, _: str) -> Iterator[set[str]]:
    yield from team.groups(team.filled())


def backfill(team: Team, _: str) -> Iterator[set[str]]:
    name = team.new()
    team.perform(Bulk(name, [Action("index", each["id"], each) for each in documents()], refresh=True))
    team.run("backfill", name)
    yield from team.groups(name)


def sync(team: Team, _: str) -> Iterator[set[str]]:
    name = team.new()
    for _time in range(2):  # what other programs write again loses its fingerprints
        team.perform(Bulk(name, [Action("index", each["id"], each) for each in documents()], refresh=True))
        team.run("sync", name)
        yield from team.groups(name)


def reindex(team: Team, name: str) -> Iterator[set[str]]:
    copy = team.name()
    team.run("reindex", name, copy)
    yield from find(team, copy)


def mcp(team: Team, name: str) -> Iterator[set[str]]:
    """The tools of the server, in this process."""
    from es_simhash.integrations.mcp import server_of

    with Index(name, team.place) as index:
        server = server_of(index, False)

        def asked(tool: str, **arguments: Any) -> Json:
            answer: Any = asyncio.run(server.call_tool(tool, arguments))
            return dict(answer.structured_content)

        for id_ in ASKED:
            yield {id_, *ids(asked("find", id=id_)["matches"])}
        given = [{"_id": each.pop("id"), **each} for each in documents()]
        for each in asked("check", documents=given)["documents"]:
            yield {each["id"], *ids(each["in_index"]), *ids(each["earlier"])}
        pair = {"a": "acme-0-whole", "b": "zeta-0-whole"}
        yield set(pair.values()) if asked("explain", **pair)["are_duplicates"] else {pair["a"]}
        for each in asked("groups", members=20)["largest"]:
            yield ids(each["members"])
        for each in asked("sample", pairs=50)["pairs"]:
            yield {each["a"], each["b"]}


def show(team: Team, name: str) -> Iterator[set[str]]:
    """The groups of the desk, in this process."""
    with Index(name, team.place) as index, desk_on_index(index, [], None, "", Output(quiet=True)) as desk:
        for number in range(desk.total):
            yield {member.document.name for member in desk.members(number)[0]}


READS_PAIRS: dict[str, Callable[[Team, str], Iterator[set[str]]]] = {
    "find": find,
    "find --text": find_text,
    "find --containing": lambda team, name: find(team, name, "--containing"),
    "find --contained": lambda team, name: find(team, name, "--contained"),
    "search": search,
    "explain": explain,
    "check": check,
    "check --write": check_and_write,
    "gate": gate,
    "group": group,
    "group --write": group_and_write,
    "erase": erase,
    "evaluate": evaluate,
    "tune": histogram,
    "tune --field": lambda team, name: histogram(team, name, "--field", "body"),
    "load": load,
    "backfill": backfill,
    "sync": sync,
    "reindex": reindex,
    "mcp": mcp,
    "show": show,
}
REFUSES = ("scripts", "scripts --install")
# These compare no documents of an index with each other.
READS_NONE = (
    "init",
    "doctor",
    "remove",
    "dashboard",
    "info",
    "learn",
    "dedup",
    "try",
)


def test_each_verb_is_known() -> None:
    assert {each.split()[0] for each in (*READS_PAIRS, *REFUSES, *READS_NONE)} == set(COMMANDS)


@pytest.fixture(scope="module", params=[*((kind, True) for kind in ENGINES), ("embedded", False)], ids=str)
def team(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    kind, is_scoped = request.param
    folder = tmp_path_factory.mktemp("team")
    (folder / "news.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in documents()), encoding="utf-8")
    place = str(folder / "engine")
    if kind != "embedded":
        node: Node = request.getfixturevalue(f"{kind}_node")
        place = node.url
    policy = ("--groups", "online", *(("--within", "tenant") if is_scoped else ()))
    team = Team(folder, place, policy)
    yield team
    for name in team.made:
        try:
            team.perform(DeleteIndex(name))
        except MissingError:
            continue


@pytest.fixture(scope="module")
def index(team: Team) -> str:
    return team.filled()


@pytest.mark.parametrize("verb", READS_PAIRS)
def test_no_verb_puts_documents_of_two_tenants_together(team: Team, index: str, verb: str) -> None:
    together = [each for each in READS_PAIRS[verb](team, index) if len(each) > 1]
    assert together
    mixed = [each for each in together if len({id_.split("-")[0] for id_ in each}) > 1]
    # Without a scope they are, so this sees it.
    assert bool(mixed) == ("--within" not in team.policy), mixed


@pytest.mark.parametrize("verb", REFUSES)
def test_what_cannot_follow_a_scope_is_refused_by_name(team: Team, index: str, verb: str) -> None:
    if "--within" not in team.policy:
        assert team.json("scripts", index)
        return
    refused = team.run("scripts", index, *verb.split()[1:], code=2).err
    assert f"cannot follow the scope of the index {index!r} (within tenant)" in refused
    assert "search" in refused
    if team.place.startswith("http"):  # older ones can be removed
        assert "none of these" in team.run("scripts", index, "--name", index, "--remove").err
