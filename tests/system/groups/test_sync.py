"""One run brings an index up to date, on every engine: after any edits, after kills, and with another at once."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import Engine, run
from es_simhash.errors import InputError, InUseError, SchemeError
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.of_index.sync import Synced
from es_simhash.index import Index
from es_simhash.plans.open_index import note, noted
from es_simhash.plans.operations import (
    Action,
    Bulk,
    CreateIndex,
    GetMappings,
    Operation,
    PutMapping,
    ReadPage,
    UpdateAliases,
)
from es_simhash.scheme import mapping
from es_simhash.scheme.scope import Policy, Scope
from tests.support.commands import environment, run_alone
from tests.support.corpus import corpus, edited
from tests.support.filled_forms import filled
from tests.support.meddling import Meddler, once
from tests.support.whole_indices import FIELDS, contents, create, delete, fill, servers

TEXTS = corpus(40)
COPIES: dict[str, Json] = {f"{i} copy {k}": edited(TEXTS[i], 1, seed=10 * i + k) for i in range(4) for k in range(2)}
DOCUMENTS: dict[str, Json] = {f"{i} original/é": text for i, text in enumerate(TEXTS[:20])} | COPIES


@pytest.fixture
def name(engine: Engine, names: Callable[[], str]) -> str:
    """The name of an index that knows nothing of fingerprints."""
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)
    return name


@pytest.fixture
def index(name: str, meddler: Meddler) -> Index:
    return Index(name, meddler, fields=FIELDS)


def test_what_new_documents_lose_is_said_once(engine: Engine, name: str, index: Index) -> None:
    first = index.sync()
    assert (first.alarms, first.is_first) == ((), True)
    forms = [{"title": f"Form {number}", "body": text} for number, text in enumerate(filled("en", 1, 60))]
    fill(engine, name, {f"form {number}": {**form, "site": "bad.example"} for number, form in enumerate(forms)})
    second = index.sync()
    assert second.alarms[0].reason == "form"
    assert all(each.startswith("form") for alarm in second.alarms for each in alarm.examples)
    assert {alarm.documents for alarm in second.alarms} <= {60}
    assert index.sync().alarms == ()


def change(engine: Engine, name: str, id_: str, text: Json) -> None:
    """Write a text as programs do that know nothing of fingerprints, though a request of a killed run is under way."""
    for _ in range(100):
        [result] = engine.perform(Bulk(name, [Action("update", id_, {"doc": text})], refresh=True))
        if result.error is None:
            return
    raise AssertionError(result.error)


def own(engine: Engine, name: str, ids: list[str]) -> dict[str, Json]:
    return {id_: source["dedup"] for id_, source in contents(engine, name, ids).items()}


def problems(engine: Engine, name: str, documents: dict[str, Json]) -> list[str]:
    """The differences from an index that was fingerprinted and grouped as a whole."""
    index = Index(name, engine)
    found = [
        f"{id_} has another fingerprint"
        for id_, there in own(engine, name, list(documents)).items()
        if not index.documents.add_fields(documents[id_])["dedup"].items() <= there.items()
    ]
    with index.group() as grouped:
        written = index.write_groups(grouped).written
    return [*found, *([f"{written} documents have other groups"] if written else [])]


def counts(synced: Synced) -> tuple[int, ...]:
    return synced.documents, synced.fingerprinted, synced.groups, synced.duplicates


def test_the_first_run_adds_the_fields_and_fingerprints_and_groups_all(engine: Engine, index: Index, name: str) -> None:
    synced = index.sync()
    assert counts(synced) == (28, 28, 4, 8)
    assert (synced.up_to_date, synced.regrouped, synced.new_groups, synced.rejected) == (0, 12, None, 0)
    assert problems(engine, name, DOCUMENTS) == []
    assert index.indices == [name]


def test_a_second_run_at_once_writes_nothing(engine: Engine, meddler: Meddler, index: Index) -> None:
    index.sync()
    index.sync()
    meddler.seen.clear()
    synced = index.sync()
    assert counts(synced) == (28, 0, 4, 8)
    assert (synced.new_groups, synced.new_duplicates, synced.has_news) == (0, 0, False)
    assert {Bulk, PutMapping} & meddler.kinds() == set()


def test_new_and_changed_and_deleted_documents_are_followed(engine: Engine, index: Index, name: str) -> None:
    index.sync()
    documents = {
        **DOCUMENTS,
        "new": edited(TEXTS[9], 1, seed=99),
        "0 copy 0": TEXTS[30],
        "12 original/é": edited(TEXTS[11], 1, seed=98),
    }
    fill(engine, name, {"new": documents["new"]})
    change(engine, name, "0 copy 0", documents["0 copy 0"])
    change(engine, name, "12 original/é", documents["12 original/é"])
    delete(engine, name, "1 copy 0", "1 copy 1")
    for id_ in ("1 copy 0", "1 copy 1"):
        del documents[id_]
    synced = Index(name, engine).sync()
    assert counts(synced) == (27, 3, 5, 7)
    assert (synced.new_groups, synced.new_duplicates) == (1, -1)
    assert problems(engine, name, documents) == []


@servers
def test_later_runs_read_only_what_was_changed(engine: Engine, meddler: Meddler, index: Index, name: str) -> None:
    index.sync()
    index.sync()
    fill(engine, name, {f"other {i}": each for i, each in enumerate(corpus(200)[100:])})
    index.sync()
    index.sync()
    change(engine, name, "5 original/é", TEXTS[31])
    read = list[Json]()

    def keep(operation: Operation[Any], result: Any) -> Any:
        read.extend(result.hits if isinstance(operation, ReadPage) else [])
        return result

    meddler.after = keep
    assert index.sync().fingerprinted == 1
    # The number of changes is known by shard, and the shards have not equally many.
    assert len(read) < 60


def test_texts_that_changed_before_the_first_run_are_found(engine: Engine, index: Index, name: str) -> None:
    index.init()
    index.backfill()
    change(engine, name, "3 original/é", TEXTS[32])
    assert counts(index.sync())[:2] == (28, 1)
    assert problems(engine, name, {**DOCUMENTS, "3 original/é": TEXTS[32]}) == []


def test_a_note_of_other_changes_than_the_index_has_had_counts_for_nothing(
    engine: Engine, index: Index, name: str
) -> None:
    """As after the index was restored from a snapshot by a program that kept the mapping."""
    index.sync()
    found = noted(engine.perform(GetMappings(name))[name], "_synced_dedup")
    assert found
    run(note(name, "_synced_dedup", {**found, "changes": [each + 10_000 for each in found["changes"]]}), engine)
    change(engine, name, "3 original/é", TEXTS[32])
    assert index.sync().fingerprinted == 1


def test_another_order_of_documents_makes_all_groups_again(engine: Engine, index: Index, name: str) -> None:
    for number, id_ in enumerate(DOCUMENTS):
        change(engine, name, id_, {"number": -number})
    index.sync()
    assert index.sync(canonical="oldest:number").regrouped == 12
    assert own(engine, name, ["0 copy 1"])["0 copy 1"]["is_canonical"]
    assert index.sync(canonical="oldest:number").regrouped == 0


def test_a_scope_and_a_similarity_are_those_of_grouping(engine: Engine, index: Index, name: str) -> None:
    for number, id_ in enumerate(DOCUMENTS):
        change(engine, name, id_, {"inner": {"value": [id_]}, "number": number})
    scope = Scope(within=("inner.value",))
    assert index.sync(scope=scope).groups == 0
    assert index.sync(similarity=1.0).options == {"similarity": 1.0, "scope": scope.to_json(), "canonical": "first"}
    with index.group() as found:
        index.write_groups(found)
    assert index.sync(similarity=1.0).groups == 0
    assert index.sync(similarity="near").groups == 4


@pytest.fixture
def numbered(engine: Engine, index: Index, name: str) -> Index:
    """An index whose documents have numbers, the later the lower."""
    for number, id_ in enumerate(DOCUMENTS):
        change(engine, name, id_, {"number": -number})
    return index


def canonical(engine: Engine, name: str) -> list[str]:
    return [id_ for id_, each in own(engine, name, list(DOCUMENTS)).items() if each.get("is_canonical")]


def test_the_order_of_the_last_run_stays_until_another_is_given(engine: Engine, numbered: Index, name: str) -> None:
    assert numbered.sync(canonical="oldest:number").changed_options == {}
    chosen = canonical(engine, name)
    assert "0 copy 1" in chosen
    fill(engine, name, {"new": edited(TEXTS[0], 1, seed=99)})
    for _ in range(2):
        synced = Index(name, engine).sync()
        assert (synced.options["canonical"], synced.changed_options) == ("oldest:number", {})
        assert canonical(engine, name) == chosen
    synced = Index(name, engine).sync(canonical="first")
    assert synced.changed_options == {"canonical": "oldest:number"}
    assert "Canonical documents are now by first (before: oldest:number)." in synced.shown().notes
    assert "0 copy 0" in canonical(engine, name)
    assert Index(name, engine).sync().regrouped == 0


def test_the_similarity_of_the_last_run_stays_until_another_is_given(engine: Engine, index: Index, name: str) -> None:
    assert index.sync(similarity=1.0).groups == 0
    assert Index(name, engine).sync().groups == 0
    synced = Index(name, engine).sync(similarity="near")
    assert (synced.groups, synced.changed_options) == (4, {"similarity": 1.0})
    assert "Groups are now by similarity near (before: 1.0)." in synced.shown().notes
    assert Index(name, engine).sync().groups == 4


def test_a_copy_of_an_index_keeps_the_order(
    engine: Engine, numbered: Index, name: str, names: Callable[[], str]
) -> None:
    numbered.sync(canonical="oldest:number")
    copy = names()
    numbered.reindex(copy)
    assert Index(copy, engine).sync().options["canonical"] == "oldest:number"
    assert canonical(engine, copy) == canonical(engine, name)


def test_what_groups_were_written_with_by_hand_counts(engine: Engine, numbered: Index, name: str) -> None:
    numbered.sync()
    with numbered.group(canonical=Canonical.oldest("number"), distance=0, by="simhash") as found:
        written = numbered.write_groups(found, singles=True)
    assert written.written
    synced = Index(name, engine).sync()
    assert (synced.regrouped, synced.options["distance"]) == (0, 0)
    assert Index(name, engine).sync(similarity="near").options == {"similarity": "near", "canonical": "oldest:number"}
    assert all(mapping.is_settled(each) for each in own(engine, name, list(DOCUMENTS)).values())


def test_groups_written_by_hand_say_which_options_they_replace(engine: Engine, numbered: Index, name: str) -> None:
    numbered.sync(canonical="oldest:number", similarity=1.0)
    with numbered.group() as found:
        written = numbered.write_groups(found)
    assert (written.options, written.changed_options) == (
        {"canonical": "first"},
        {"canonical": "oldest:number", "similarity": 1.0},
    )
    assert Index(name, engine).sync().options == {"canonical": "first"}
    with numbered.group() as found:
        assert numbered.write_groups(found).changed_options == {}


def test_groups_of_a_part_leave_the_options_of_all_as_they_were(engine: Engine, numbered: Index, name: str) -> None:
    numbered.sync(canonical="oldest:number")
    chosen, fields = canonical(engine, name), own(engine, name, list(DOCUMENTS))
    with numbered.group(filter={"exists": {"field": "number"}}) as found:
        assert numbered.write_groups(found).changed_options == {"canonical": "oldest:number"}
    assert canonical(engine, name) != chosen
    synced = Index(name, engine).sync()
    assert (synced.options, synced.changed_options) == ({"canonical": "oldest:number"}, {})
    assert own(engine, name, list(DOCUMENTS)) == fields


def test_an_order_by_a_function_must_be_given_again(engine: Engine, numbered: Index, name: str) -> None:
    by_number = Canonical.by(lambda document: document["number"], ["number"])
    numbered.sync(canonical=by_number)
    chosen = canonical(engine, name)
    with pytest.raises(InputError, match="A function, '<lambda>', chose the canonical documents"):
        Index(name, engine).sync()
    assert Index(name, engine).sync(canonical=by_number).regrouped == 0
    assert canonical(engine, name) == chosen


def test_the_order_of_a_run_that_was_killed_stays(engine: Engine, meddler: Meddler, numbered: Index, name: str) -> None:
    numbered.sync(canonical="oldest:number")
    chosen = canonical(engine, name)
    numbered.sync(canonical="first")

    def kill(operation: Operation[Any]) -> None:
        raise RuntimeError("killed")

    meddler.before = once(Bulk, kill)
    with pytest.raises(RuntimeError):
        numbered.sync(canonical="oldest:number")
    meddler.before = lambda operation: None
    Index(name, engine).sync()
    assert canonical(engine, name) == chosen


@servers
def test_indices_whose_groups_differ_are_refused_until_an_order_is_given(
    engine: Engine, names: Callable[[], str]
) -> None:
    first, second, alias = names(), names(), names()
    for name, order in ((first, "first"), (second, "longest")):
        create(engine, name)
        fill(engine, name, DOCUMENTS)
        Index(name, engine, fields=FIELDS).sync(canonical=order)
        engine.perform(UpdateAliases([{"add": {"index": name, "alias": alias}}]))
    with pytest.raises(InputError, match="were written with different options: canonical"):
        Index(alias, engine).sync()
    assert Index(alias, engine).sync(canonical="longest").groups == 20
    assert Index(alias, engine).sync().regrouped == 0


def test_a_backfill_of_an_index_that_groups_as_documents_come_keeps_the_order(
    engine: Engine, numbered: Index, name: str
) -> None:
    numbered.init(policy=Policy(groups="online"))
    numbered.sync(canonical="oldest:number")
    chosen = canonical(engine, name)
    numbered.backfill()
    assert canonical(engine, name) == chosen


def test_what_cannot_be_is_refused_before_anything_is_written(engine: Engine, meddler: Meddler, index: Index) -> None:
    for given in ({"similarity": 7.0}, {"canonical": "prettiest"}, {"accept": ["closed"]}):
        with pytest.raises((InputError, SchemeError)):
            index.sync(**given)
    assert {Bulk, PutMapping} & meddler.kinds() == set()


def test_an_index_without_fingerprints_names_its_texts(engine: Engine, name: str) -> None:
    with pytest.raises(InputError, match=r"Its text fields are: .*body.*As in: --field title"):
        Index(name, engine).sync()


def test_of_an_index_that_groups_as_documents_come_every_document_is_in_a_group(
    engine: Engine, index: Index, name: str
) -> None:
    index.init(policy=Policy(groups="online"))
    assert counts(index.sync()) == (28, 28, 4, 8)
    assert all(mapping.is_settled(each) for each in own(engine, name, list(DOCUMENTS)).values())


@servers
def test_an_index_that_joins_an_alias_gets_the_fields_and_what_is_known_of_the_others_stays(
    engine: Engine, meddler: Meddler, names: Callable[[], str]
) -> None:
    first, second, alias = names(), names(), names()
    create(engine, first)
    fill(engine, first, DOCUMENTS)
    engine.perform(UpdateAliases([{"add": {"index": first, "alias": alias}}]))
    index = Index(alias, meddler, fields=FIELDS)
    index.init(policy=Policy(groups="online"))
    index.sync()
    create(engine, second)
    fill(engine, second, {"5 other": edited(TEXTS[5], 1, seed=97)})
    engine.perform(UpdateAliases([{"add": {"index": second, "alias": alias}}]))
    synced = index.sync()
    assert counts(synced) == (29, 1, 5, 9)
    assert (synced.new_groups, synced.new_duplicates) == (1, 1)
    assert counts(index.sync()) == (29, 0, 5, 9)


def test_a_document_that_cannot_be_read_is_named_each_time_until_it_can(
    engine: Engine, names: Callable[[], str]
) -> None:
    name, reported = names(), list[Rejected]()
    engine.perform(CreateIndex(name, {"mappings": {"properties": {"body": {"type": "object", "enabled": False}}}}))
    texts: dict[str, Json] = {id_: {"body": f"{each['title']} {each['body']}"} for id_, each in DOCUMENTS.items()}
    fill(engine, name, texts)
    index = Index(name, engine, fields=["body"])
    index.sync()
    change(engine, name, "3 original/é", {"body": {"no": "text"}})
    for _ in range(2):
        assert index.sync(on_reject=reported.append).rejected == 1
    assert [each.id for each in reported] == ["3 original/é"] * 2
    change(engine, name, "3 original/é", texts["4 original/é"])
    assert counts(index.sync(on_reject=reported.append))[:2] == (28, 1)
    assert index.sync().fingerprinted == len(reported[2:]) == 0


def random_edit(rng: random.Random, engine: Engine, name: str, documents: dict[str, Json]) -> None:
    """Write as programs do that know nothing of fingerprints: a new document, another text, or none any more."""
    kind, source = rng.choice(["new", "new", "changed", "deleted"]), rng.randrange(len(TEXTS))
    text = edited(TEXTS[source], rng.choice([0, 1]), seed=rng.randrange(9))
    if kind == "new":
        id_ = f"new {rng.randrange(10**9)}"
        documents[id_] = text
        fill(engine, name, {id_: text})
        return
    id_ = rng.choice(sorted(documents))
    if kind == "deleted":
        del documents[id_]
        delete(engine, name, id_)
        return
    documents[id_] = text
    change(engine, name, id_, text)


@pytest.mark.parametrize("seed", range(3))
def test_random_edits_between_runs_end_as_a_whole_run_does(engine: Engine, names: Callable[[], str], seed: int) -> None:
    rng, name, documents = random.Random(seed), names(), dict(DOCUMENTS)
    create(engine, name)
    fill(engine, name, documents)
    for _ in range(4):
        Index(name, engine, fields=FIELDS).sync()
        for _ in range(rng.randrange(1, 7)):
            random_edit(rng, engine, name, documents)
    synced = Index(name, engine).sync()
    assert synced.documents == len(documents)
    with Index(name, engine).group() as grouped:
        assert (synced.groups, synced.duplicates) == (len(grouped), grouped.counts.duplicates)
    assert problems(engine, name, documents) == []


# ---- killed


def test_a_run_that_is_killed_anywhere_and_begun_again_comes_to_the_same(
    engine: Engine, meddler: Meddler, index: Index, name: str
) -> None:
    """It is killed at its first request that writes, begun again and killed at its second, and so on."""
    documents = dict(DOCUMENTS)
    for times in range(30):
        left = times

        def kill(operation: Operation[Any]) -> None:
            nonlocal left
            if isinstance(operation, Bulk | PutMapping):
                left -= 1
                if left < 0:
                    raise RuntimeError("killed")

        meddler.before = kill
        try:
            index.sync()
        except RuntimeError:
            id_ = f"{times} original/é"
            if id_ in documents:
                documents[id_] = edited(TEXTS[39 - times], 1, seed=times)
                change(engine, name, id_, documents[id_])
            continue
        break
    assert times > 3
    meddler.before = lambda operation: None
    index.sync()
    assert problems(engine, name, documents) == []


@servers
def test_a_process_that_is_killed_leaves_what_the_next_one_goes_on_with(
    engine: Engine, name: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(f"{kind}_node").url
    more = {f"more {i}": edited(each, 1, seed=i) for i, each in enumerate(corpus(400))}
    fill(engine, name, more)
    line = [sys.executable, "-m", "es_simhash", "sync", name, "--field", "title", "--field", "body"]
    for kills in range(3):
        with subprocess.Popen(
            line,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment({"ES_SIMHASH_URL": url}),
        ) as process:
            assert process.stderr
            process.stderr.readline()
            try:
                process.wait(0.2 + 0.3 * kills)
            except subprocess.TimeoutExpired:
                process.kill()
    run_alone(*line[3:], cwd=tmp_path, ES_SIMHASH_URL=url)
    assert problems(engine, name, {**DOCUMENTS, **more}) == []


# ---- at once


@servers
def test_two_processes_at_once_both_end_well_and_leave_what_one_does(
    engine: Engine, name: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(f"{kind}_node").url
    documents = DOCUMENTS | {f"more {i}": edited(each, 1, seed=i) for i, each in enumerate(corpus(300))}
    fill(engine, name, documents)

    def start(_: int) -> int:
        given = ("--field", "title", "--field", "body")
        return run_alone("sync", name, *given, cwd=tmp_path, code=None, ES_SIMHASH_URL=url).code

    for _ in range(2):
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(start, range(2))) == [0, 0]
        assert problems(engine, name, documents) == []
        documents = documents | {f"again {i}": edited(TEXTS[i], 1, seed=50 + i) for i in range(30)}
        fill(engine, name, documents)


@servers
def test_a_run_that_meets_the_groups_of_another_makes_them_again(
    engine: Engine, meddler: Meddler, index: Index, name: str, waited: list[float]
) -> None:
    """When the first is about to write groups, a document comes, and a second run writes the same groups with it."""
    index.sync()
    documents = {**DOCUMENTS, "0 new": edited(TEXTS[0], 1, seed=77), "0 later": edited(TEXTS[0], 1, seed=78)}
    fill(engine, name, {"0 new": documents["0 new"]})

    def other(bulk: Bulk) -> None:
        fill(engine, name, {"0 later": documents["0 later"]})
        Index(name, engine).sync()

    meddler.before = once(Bulk, other, after=1)  # the first adds fingerprints
    synced = index.sync()
    assert waited
    assert counts(synced)[2:] == (4, 10)
    assert {each["group_size"] for each in own(engine, name, ["0 original/é", "0 new", "0 later"]).values()} == {5}
    assert problems(engine, name, documents) == []
    assert index.sync().fingerprinted == 0


@servers
def test_one_that_meets_another_to_the_end_is_to_be_run_later(
    engine: Engine, meddler: Meddler, index: Index, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.sync()
    documents = {**DOCUMENTS, "0 new": edited(TEXTS[0], 1, seed=77), "0 later": edited(TEXTS[0], 1, seed=78)}
    fill(engine, name, {"0 new": documents["0 new"]})

    def other(bulk: Bulk) -> None:
        fill(engine, name, {"0 later": documents["0 later"]})
        Index(name, engine).sync()

    meddler.before = once(Bulk, other, after=1)
    monkeypatch.setattr("es_simhash.groups.of_index.writing._MOST_MET", 0)
    with pytest.raises(InUseError, match="Another program writes groups"):
        index.sync()
    index.sync()
    assert problems(engine, name, documents) == []


@servers
def test_a_group_command_too_stops_where_it_meets_another(
    engine: Engine, meddler: Meddler, index: Index, name: str
) -> None:
    index.sync()
    new = {f"0 new {k}": edited(TEXTS[0], 1, seed=77 + k) for k in range(2)}
    fill(engine, name, {"0 new 0": index.documents.add_fields(new["0 new 0"])})

    def other(bulk: Bulk) -> None:
        fill(engine, name, {"0 new 1": new["0 new 1"]})
        Index(name, engine).sync()

    meddler.before = once(Bulk, other)
    with index.group() as grouped, pytest.raises(InUseError, match="Another program writes groups"):
        index.write_groups(grouped)
    index.sync()
    assert problems(engine, name, DOCUMENTS | new) == []


@pytest.mark.parametrize("id_", ["0 original/é", "0 copy 0", "0 copy 1"])
def test_documents_of_one_group_that_say_different_sizes_are_compared_again(
    engine: Engine, index: Index, name: str, id_: str
) -> None:
    """As runs leave them that were killed while both wrote groups."""
    index.sync()
    change(engine, name, id_, {"dedup": {"group_size": 7}})
    delete(engine, name, "1 copy 0")
    index.sync()
    left = [each for each in DOCUMENTS if each.startswith("0 ")]
    assert {each["group_size"] for each in own(engine, name, left).values()} == {3}
