"""Whatever is called a duplicate is near the document that stands for it, on every engine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from es_simhash import Policy, Scheme, Scope, canonical_only, collapsed
from es_simhash._core.json_codec import Json
from es_simhash.cli.jobs.groups import write_deletes
from es_simhash.engines.base import Engine
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.options import GroupOptions
from es_simhash.index import Index
from es_simhash.plans.operations import Search
from es_simhash.scheme import mapping
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier
from tests.support.chains import chain, chains
from tests.support.fuzzing import examples
from tests.support.whole_indices import servers

SCHEME = Scheme(verification=Verification.of_fingerprints(0.6))
VERIFIER = Verifier(SCHEME, Verification.of_fingerprints(0.6), None)
EVERYTHING: Json = {"query": {"match_all": {}}, "size": 1000}


def made(name: str, engine: Any, policy: Policy | None = None) -> Index:
    index = Index(name, engine, scheme=SCHEME, fields=["body"])
    create = {"mappings": {"properties": {"rank": {"type": "long"}, "source": {"type": "keyword"}}}}
    index.init(create=create, policy=policy or Policy())
    return index


def add(index: Index, texts: dict[str, str], seed: int = 0) -> None:
    chosen = random.Random(seed)
    own = ({"rank": str(chosen.randrange(3)), "source": chosen.choice("xyz")} for _ in texts)
    documents = [{"_id": id_, "body": text, **each} for (id_, text), each in zip(texts.items(), own, strict=True)]
    assert not index.add(documents, refresh=True).rejected


def hits(index: Index, body: Json) -> list[Json]:
    found: list[Json] = index.engine.perform(Search(index.name, body))["hits"]["hits"]
    return found


def groups(index: Index) -> dict[str, Json]:
    """The stored fields of each document's group."""
    return {hit["_id"]: mapping.stored_in(hit["_source"]["dedup"]) for hit in hits(index, EVERYTHING)}


def similar(one: str, other: str) -> float:
    return float(VERIFIER.similarities([one, other], np.array([[0], [1]]))[0])


def check(texts: dict[str, str], stored: dict[str, Json], similarity: float) -> set[str]:
    """Check the fields of all documents, and return the duplicates."""
    duplicates = {id_ for id_, own in stored.items() if own.get("is_canonical") is False}
    for id_, own in stored.items():
        if not own:
            continue
        canonical = stored[own["canonical"]]
        assert canonical["is_canonical"]
        assert canonical["group"] == own["group"]
        assert own["is_canonical"] == (own["canonical"] == id_)
        if id_ in duplicates:
            assert own["similarity"] >= similarity - 5e-5  # it is rounded
            assert own["similarity"] == pytest.approx(similar(texts[id_], texts[own["canonical"]]), abs=5e-5)
    return duplicates


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scope", [None, Scope(across=("source",))], ids=["all", "across"])
def test_whatever_is_called_a_duplicate_is_near_the_document_that_stands_for_it(
    engine: Engine, names: Callable[[], str], seed: int, scope: Scope | None, tmp_path: Path
) -> None:
    index = made(names(), engine)
    texts = {f"{place:02}/é": text for place, text in enumerate(chains(seed))}
    add(index, texts, seed)
    options = GroupOptions(similarity=0.7, canonical=Canonical.order("rank", "210"), scope=scope)
    with index.group(**vars(options)) as grouped:
        counted = grouped.counts.duplicates
        shown = {member.id: member for group in grouped for member in group.members}
        with (tmp_path / "delete").open("w", encoding="utf-8") as out:
            write_deletes(grouped, out)
        index.write_groups(grouped, singles=True)
    stored = groups(index)
    duplicates = check(texts, stored, 0.7)
    assert len(duplicates) == counted
    assert duplicates == {id_ for id_, member in shown.items() if not member.is_canonical}
    assert all(member.canonical == stored[id_]["canonical"] for id_, member in shown.items())
    script = (tmp_path / "delete").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["delete"]["_id"] for line in script} == duplicates
    once = hits(index, {**EVERYTHING, "query": {"bool": {"filter": [canonical_only()]}}})
    assert {hit["_id"] for hit in once} == texts.keys() - duplicates
    for shown_hit in index.search({**EVERYTHING, "size": 100}, distinct=True, by_groups=True).hits:
        standing = stored[shown_hit.hit["_id"]]["canonical"]
        assert all(stored[match.id]["canonical"] == standing for match in shown_hit.similar)


@servers
def test_collapsing_shows_one_hit_for_each_canonical_document(engine: Engine, names: Callable[[], str]) -> None:
    index = made(names(), engine)
    add(index, {f"{place:02}": text for place, text in enumerate(chain(1, 8))})
    with index.group(similarity=0.7) as grouped:
        index.write_groups(grouped, singles=True)
    stored = groups(index)
    assert len({own["group"] for own in stored.values()}) == 1
    reply = index.engine.perform(Search(index.name, collapsed(EVERYTHING)))
    shown = [stored[hit["_id"]]["canonical"] for hit in reply["hits"]["hits"]]
    assert sorted(shown) == sorted({own["canonical"] for own in stored.values()})
    assert reply["aggregations"]["distinct"]["value"] == len(shown) > 2


def test_of_several_indices_duplicates_name_the_index_as_well(engine: Engine, names: Callable[[], str]) -> None:
    texts, both = chain(2, 6), (names(), names())
    for name, some in zip(both, (texts[::2], texts[1::2]), strict=True):
        add(made(name, engine), {str(place): text for place, text in enumerate(some)})
    index = Index(",".join(both), engine)
    with index.group(similarity=0.7) as grouped:
        index.write_groups(grouped)
    found = hits(index, EVERYTHING)
    by_key = {f"{hit['_index']}/{hit['_id']}": hit["_source"] for hit in found}
    for key, source in by_key.items():
        own = source["dedup"]
        assert own["is_canonical"] == (own["canonical"] == key)
        assert by_key[own["canonical"]]["dedup"]["is_canonical"]
        assert similar(source["body"], by_key[own["canonical"]]["body"]) >= 0.7
    with index.group(similarity=0.7, incremental=True) as grouped:
        assert grouped.counts.new == 0
    # One of them alone names its documents by their ids, so that all are read.
    alone = Index(both[0], engine)
    with alone.group(similarity=0.7, incremental=True) as grouped:
        assert grouped.counts.new is None


IDS = [f"{place:02}" for place in range(24)]
POOL = [text for seed in range(3) for text in chain(seed, 10, 8)]
CHANGES = st.lists(st.tuples(st.sampled_from(IDS), st.none() | st.integers(0, len(POOL) - 1)), max_size=5)


@given(st.integers(0, 10_000), st.lists(CHANGES, min_size=1, max_size=5), st.booleans())
@settings(examples(12), phases=[Phase.explicit, Phase.generate])  # it shrinks for minutes
def test_whatever_happens_incremental_runs_leave_what_a_whole_run_leaves(
    seed: int, later: list[list[tuple[str, int | None]]], online: bool
) -> None:
    chosen = random.Random(seed)
    texts: dict[str, str] = {id_: chosen.choice(POOL) for id_ in IDS[:18]}
    policy = Policy(groups="online" if online else "batch")
    with TemporaryDirectory() as directory:
        part, whole = (made("news", str(Path(directory, name)), policy) for name in ("part", "whole"))
        for index in (part, whole):
            add(index, texts)
            write(index)
        for changes in later:
            for id_, place in changes:
                texts.pop(id_, None)
                if place is not None:
                    texts[id_] = POOL[place]
            for index in (part, whole):
                index.add(
                    [
                        {"_op_type": "delete", "_id": id_} if place is None else {"_id": id_, "body": POOL[place]}
                        for id_, place in changes
                    ],
                    refresh=True,
                )
            write(part, incremental=True)
            write(whole)
            stored = groups(part)
            assert stored == groups(whole)
            check(texts, stored, 0.7)
        part.close()
        whole.close()


def write(index: Index, **how: Any) -> None:
    with index.group(similarity=0.7, **how) as grouped:
        index.write_groups(grouped, singles=True)
    index.refresh()
