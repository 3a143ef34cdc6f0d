"""What an update would lose stops whatever updates documents, on real servers: the embedded engine keeps them whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import IndexStateError, InputError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.operations import Count, CreateIndex, DeleteIndex, GetDocuments, Refresh
from tests.support.commands import lines, run
from tests.support.whole_indices import fill, servers
from tools.nodes import Node

SECRET = {"match": {"secret": "lighthouse"}}
TEXT = "The storm has left many houses along the coast without power since Monday night."
DOCUMENTS = {str(i): {"body": TEXT, "secret": f"lighthouse {i}"} for i in range(3)}
EXCLUDES: Json = {"_source": {"excludes": ["secret"]}}
ACCEPTED = frozenset({"source-excludes"})

pytestmark = servers


@dataclass(frozen=True)
class Team:
    """An index whose documents have fingerprints, and are found by a field that ``_source`` leaves out."""

    engine: Engine
    name: str
    url: str

    @classmethod
    def of(cls, engine: Engine, name: str, url: str, source: Json) -> Team:
        properties = {"body": {"type": "text"}, "secret": {"type": "text"}}
        engine.perform(CreateIndex(name, {"mappings": {**source, "properties": properties}}))
        index = Index(name, engine, fields=["body"])
        index.init()
        fill(engine, name, {id_: index.documents.add_fields(each) for id_, each in DOCUMENTS.items()})
        return cls(engine, name, url)

    @property
    def state(self) -> tuple[list[Json], int]:
        """The documents as they are, with the numbers of their last changes, and how many are found by the field."""
        self.engine.perform(Refresh(self.name))
        found = self.engine.perform(GetDocuments(self.name, list(DOCUMENTS)))
        return found, self.engine.perform(Count(self.name, SECRET))


@pytest.fixture
def team(engine: Engine, kind: str, names: Callable[[], str], request: pytest.FixtureRequest) -> Team:
    node: Node = request.getfixturevalue(f"{kind}_node")
    return Team.of(engine, names(), node.url, EXCLUDES)


def groups_written(index: Index) -> None:
    with index.group() as grouped:
        index.write_groups(grouped)


async def groups_written_async(index: AsyncIndex) -> None:
    with await index.group() as grouped:
        await index.write_groups(grouped)


@pytest.mark.parametrize(
    "update",
    [Index.remove_fields, groups_written, lambda index: index.backfill(refresh_stale=True)],
    ids=["remove", "group", "backfill"],
)
def test_nothing_is_updated_that_would_lose_a_field(team: Team, update: Callable[[Index], Any]) -> None:
    before = team.state
    assert before[1] == len(DOCUMENTS)
    with pytest.raises(IndexStateError, match=r"leaves fields out \(excludes secret\).* --accept source-excludes\.$"):
        update(Index(team.name, team.engine))
    assert team.state == before


@pytest.mark.parametrize("update", [AsyncIndex.remove_fields, groups_written_async], ids=["remove", "group"])
def test_nor_by_an_asynchronous_index(team: Team, update: Callable[[AsyncIndex], Awaitable[Any]]) -> None:
    before = team.state

    async def do() -> None:
        async with AsyncIndex(team.name, team.url) as index:
            await update(index)

    with pytest.raises(IndexStateError, match="source-excludes"):
        asyncio.run(do())
    assert team.state == before


COMMANDS = {"remove": ("--yes",), "group": ("--write",), "backfill": ("--refresh-stale",)}
each_command = pytest.mark.parametrize("command", COMMANDS)


@each_command
def test_nor_by_a_command(team: Team, tmp_path: Path, command: str) -> None:
    before = team.state
    done = run(command, team.name, *COMMANDS[command], cwd=tmp_path, code=4, ES_SIMHASH_URL=team.url)
    assert f"{team.name!r} cannot be updated. source-excludes: " in done.err
    assert team.state == before


@each_command
def test_a_user_who_accepts_the_loss_is_warned_and_has_it_done(team: Team, tmp_path: Path, command: str) -> None:
    accept = ("--accept", "source-excludes")
    done = run(command, team.name, *COMMANDS[command], *accept, cwd=tmp_path, ES_SIMHASH_URL=team.url)
    assert "Warning (source-excludes): " in done.err
    if command != "backfill":  # which found all of them up to date
        assert team.state[1] == 0


def test_in_python_too(team: Team) -> None:
    index = Index(team.name, team.engine)
    with index.group() as grouped:
        assert index.write_groups(grouped, accept=ACCEPTED).written == len(DOCUMENTS)
        with pytest.raises(InputError, match="'closed' cannot be accepted"):
            index.write_groups(grouped, accept=["closed"])
    assert index.remove_fields(accept=ACCEPTED).left == 0


def test_a_removal_leaves_such_an_index_out_and_does_the_others(team: Team, tmp_path: Path) -> None:
    before = team.state
    whole = Team.of(team.engine, f"{team.name}-whole", team.url, {})
    try:
        pattern = f"{team.name}*"
        dry = lines(run("remove", pattern, "--dry-run", "--json", cwd=tmp_path, code=1, ES_SIMHASH_URL=team.url))
        assert [(plan["left_out"], [each["index"] for each in plan["parts"]]) for plan in dry] == [
            ([team.name], [whole.name])
        ]
        done = run("remove", pattern, "--yes", cwd=tmp_path, code=1, ES_SIMHASH_URL=team.url)
        assert f"Indices left out: {team.name}. See the reasons above.\n" in done.err
        assert team.state == before
        assert [each["_source"] for each in whole.state[0]] == list(DOCUMENTS.values())
    finally:
        team.engine.perform(DeleteIndex(whole.name))


def test_groups_of_several_indices_are_not_written_into_a_part_of_their_members(team: Team) -> None:
    whole = Team.of(team.engine, f"{team.name}-whole", team.url, {})
    try:
        before = team.state, whole.state
        with pytest.raises(IndexStateError, match="source-excludes"):
            groups_written(Index(f"{team.name}*", team.engine))
        assert (team.state, whole.state) == before
    finally:
        team.engine.perform(DeleteIndex(whole.name))


def test_an_index_without_our_fields_that_would_lose_something_is_in_nobody_s_way(team: Team, tmp_path: Path) -> None:
    whole, others = f"{team.name}-whole", f"{team.name}-without"
    try:
        Team.of(team.engine, whole, team.url, {})
        team.engine.perform(CreateIndex(others, {"mappings": EXCLUDES}))
        for command in ("group", "remove"):
            run(command, f"{whole},{others}", *COMMANDS[command], cwd=tmp_path, ES_SIMHASH_URL=team.url)
    finally:
        for name in (whole, others):
            team.engine.perform(DeleteIndex(name))


def test_where_nothing_is_left_to_remove_nothing_is_lost(team: Team) -> None:
    index = Index(team.name, team.engine)
    assert index.remove_fields(accept=ACCEPTED).progress.written == len(DOCUMENTS)
    Index(team.name, team.engine, fields=["body"]).init()
    assert Index(team.name, team.engine).remove_fields().progress.total == 0
