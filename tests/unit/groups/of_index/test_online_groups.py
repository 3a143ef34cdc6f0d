"""What online grouping leaves, after a run of `group`, is what a run alone makes of the same documents."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Policy
from es_simhash._core.json_codec import Json
from es_simhash.groups.options import GroupOptions
from es_simhash.index import Index
from es_simhash.plans.operations import GetDocuments
from tests.support.corpus import corpus, edited
from tests.support.fuzzing import examples

# Of each of some texts, versions that are all near one another.
POOL: list[Json] = [
    version
    for i, text in enumerate(corpus(5))
    for version in (text, *(edited(text, 1, seed=10 * i + k) for k in range(3)))
]
IDS = [f"{i:02}" for i in range(12)]

# A request writes documents (from the pool, by id) or deletes them (None); an empty one runs `group --incremental`.
REQUESTS = st.lists(
    st.lists(st.tuples(st.sampled_from(IDS), st.none() | st.integers(0, len(POOL) - 1)), max_size=8), max_size=6
)


@examples(25)
@given(requests=REQUESTS, as_updates=st.booleans())
def test_reconciled_groups_are_those_of_a_whole_run(
    requests: list[list[tuple[str, int | None]]], as_updates: bool
) -> None:
    with TemporaryDirectory() as directory:
        online, there = index(Path(directory, "online"), Policy(groups="online")), dict[str, Json]()
        with online:
            for request in requests:
                online.add([action(id_, place, id_ in there and as_updates) for id_, place in request])
                for id_, place in request:
                    there.pop(id_, None) if place is None else there.update({id_: POOL[place]})
                every_one_has_a_group(online, there)
                if not request:
                    group(online, GroupOptions(incremental=True))
            group(online, GroupOptions(incremental=True))
            found = groups(online, there)
        with index(Path(directory, "whole"), Policy()) as whole:
            whole.add([{"_id": id_, "_source": each} for id_, each in there.items()], refresh=True)
            group(whole, GroupOptions())
            assert found == groups(whole, there)


def index(path: Path, policy: Policy) -> Index:
    index = Index("news", str(path), fields=["title", "body"])
    index.init(policy=policy)
    return index


def action(id_: str, place: int | None, is_update: bool) -> Json:
    if place is None:
        return {"_op_type": "delete", "_id": id_}
    return (
        {"_op_type": "update", "_id": id_, "doc": POOL[place], "doc_as_upsert": True}
        if is_update
        else {"_id": id_, "_source": POOL[place]}
    )


def group(index: Index, options: GroupOptions) -> None:
    with index.group(**vars(options)) as grouped:
        index.write_groups(grouped, singles=True)


def own(index: Index, there: dict[str, Json]) -> dict[str, Json]:
    return {
        reply["_id"]: reply["_source"]["dedup"] for reply in index.engine.perform(GetDocuments("news", list(there)))
    }


def every_one_has_a_group(index: Index, there: dict[str, Json]) -> None:
    assert all(each["group"] and each["is_canonical"] in (True, False) for each in own(index, there).values())


def groups(index: Index, there: dict[str, Json]) -> set[tuple[frozenset[str], str]]:
    """The members and the canonical document of each group, whose size each member has to know."""
    found: dict[str, dict[str, Json]] = {}
    for id_, fields in own(index, there).items():
        found.setdefault(fields["group"], {})[id_] = fields
    assert all(each["group_size"] == len(members) for members in found.values() for each in members.values())
    return {
        (frozenset(members), *(id_ for id_, each in members.items() if each["is_canonical"]))  # type: ignore[misc]
        for members in found.values()
    }
