"""Erasing leaves no copy, and deletes nothing else, whatever others write in the meantime."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine, run
from es_simhash.errors import FormatError, InputError, MappingError, MissingError, TextError
from es_simhash.index import Index
from es_simhash.live.erase import run as hunt
from es_simhash.live.erase.copies import Copies, Erased, EraseOptions
from es_simhash.live.sweep.reading import Reading
from es_simhash.plans.operations import (
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetDocuments,
    PutSettings,
    Refresh,
    UpdateAliases,
)
from es_simhash.scheme.passages import containment
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Policy, Scope
from es_simhash.scheme.settings import Passages
from es_simhash.text.normalise import Normalisation
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler, Overloaded, once
from tests.support.runs import runs_of
from tests.support.whole_indices import FIELDS, contents, create, delete, fill, servers
from tools.nodes import Node

OTHERS: dict[str, Json] = {str(number): dict(each) for number, each in enumerate(corpus(30))}
SOURCE = OTHERS.pop("0")
BODY = SOURCE["body"]
# Copies of every kind, and by which kind each is found.
COPIES: dict[str, tuple[str, Json]] = {
    "equal": ("equal", SOURCE),
    "near": ("near", edited(SOURCE, 5)),
    "half": ("contained", {"title": "An excerpt", "body": BODY[: len(BODY) // 2]}),
    "sentence": ("contained", {"title": "", "body": " ".join(BODY.split()[40:60])}),
    "quoting": ("containing", {"title": "", "body": " ".join([*(each["body"] for each in OTHERS.values()), BODY])}),
    "in the middle": ("containing", {"title": "", "body": f"{OTHERS['3']['body']} {BODY} {OTHERS['6']['body']}"}),
}
NOT_COPIES: dict[str, Json] = {
    "empty": {"title": "", "body": ""},
    "none": {"number": 1},
    "short": {"title": "", "body": BODY[:12]},
}


def text_of(document: Json) -> str:
    return "\n".join(str(document[field]) for field in FIELDS if document.get(field))


def is_copy(document: Json, source: Json = SOURCE) -> bool:
    """Return whether a document is a copy, by sets of runs and the passages in common, without any search."""
    own, there = ({*runs_of(Normalisation()(text_of(each)))} for each in (source, document))
    parts = containment(Scheme(), text_of(source), text_of(document), 6)
    is_long = len(text_of(document).split()) >= 10 or not text_of(document).isascii()
    return bool(there) and (
        len(own & there) >= 0.5 * len(own | there) or parts.of_first >= 0.9 or (is_long and parts.of_second >= 0.9)
    )


def everything_in(engine: Engine, name: str) -> dict[str, Json]:
    engine.perform(Refresh(name))
    reading, found = Reading(name, {"match_all": {}}, True, None, 10), {}
    while hits := run(reading.next(), engine):
        found.update({hit["_id"]: hit["_source"] for hit in hits})
    return found


@pytest.fixture
def index(engine: Engine, meddler: Meddler, names: Callable[[], str]) -> Index:
    """An index with a document, its copies, and others; a third each without fingerprints, with old ones, with ours."""
    name = names()
    create(engine, name)
    Index(name, engine, fields=FIELDS).init()
    index, old = Index(name, meddler), Scheme(minhash=None, floor=9)
    documents = {**{id_: each for id_, (_, each) in COPIES.items()}, **OTHERS, **NOT_COPIES}
    written: dict[str, Json] = {"0": index.documents.add_fields(SOURCE)}
    for number, (id_, each) in enumerate(documents.items()):
        ours = index.documents.add_fields(each)
        stale = {**each, "dedup": {**ours["dedup"], "scheme": old.id}}
        written[id_] = (ours, stale, each)[number % 3]
    fill(engine, name, written)
    return index


def test_short_parts_and_letters_of_another_width_are_found_without_a_fingerprint(
    engine: Engine, names: Callable[[], str]
) -> None:
    rng = Random(1)
    chinese = ["".join(chr(0x4E00 + rng.randrange(1500)) for _ in range(600)) for _ in range(200)]
    wide = {point: point + 0xFEE0 for point in range(0x21, 0x7F)}
    copies = {f"part {at}": chinese[0][at : at + 12] for at in range(3, 580, 29)}
    copies |= {"wide": BODY.translate(wide), "wide part": " ".join(BODY.split()[20:50]).translate(wide)}
    name = names()
    create(engine, name)
    Index(name, engine, fields=["body"]).init()
    texts = {**{f"chinese {number}": text for number, text in enumerate(chinese)}, "english": BODY, **copies}
    fill(engine, name, {id_: {"body": text} for id_, text in texts.items()})
    found = Index(name, engine).copies(["chinese 0", "english"])
    assert {copy.id for copy in found} == {"chinese 0", "english", *copies}
    assert {copy.fingerprint for copy in found} == {"none"}


def rest(engine: Engine, index: Index) -> set[str]:
    return set(everything_in(engine, index.name))


def test_all_copies_are_found_and_nothing_else(index: Index) -> None:
    copies = index.copies(["0"])
    assert {copy.id: copy.kind for copy in copies} == {
        "0": "original",
        **{id_: kind for id_, (kind, _) in COPIES.items()},
    }
    assert {copy.fingerprint for copy in copies} == {"current", "other scheme", "none"}
    assert (copies.incomplete, copies.found[0].similarity, copies.found[0].containment) == ((), 1.0, 1.0)
    [quoting] = [copy for copy in copies if copy.id == "quoting"]
    assert quoting.source_in_copy > 0.9
    assert quoting.similarity < 0.2
    assert quoting.text.startswith(str(OTHERS["1"]["body"])[:10])


def test_the_oracle_agrees(engine: Engine, index: Index) -> None:
    found = everything_in(engine, index.name)
    assert {id_ for id_, each in found.items() if is_copy(each)} == {"0", *COPIES}


def test_nothing_is_left_and_the_others_stay(engine: Engine, index: Index) -> None:
    erased = index.erase(index.copies(["0"]))
    assert {each.copy.id for each in erased.deleted} == {"0", *COPIES}
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}
    assert (erased.is_complete, erased.left, erased.gone, erased.conflicts) == (True, [], 0, 0)
    assert not any(each.appeared for each in erased.deleted)
    # The last of all, so that a run that is stopped can be repeated by the same id.
    assert erased.deleted[-1].copy.id == "0"


def test_the_report_has_hashes_and_times_but_no_text(index: Index) -> None:
    erased = index.erase(index.copies(["0"]))
    form = erased.to_json()
    said = json.dumps(form, ensure_ascii=False) + erased.to_text()
    assert not any(piece in said for piece in (SOURCE["title"], BODY[:20], BODY[300:320]))
    assert form["by"]
    assert form["started"] <= form["deleted"][0]["time"] <= form["finished"]
    assert {"index", "id", "kind", "similarity", "seq_no", "primary_term", "sha256"} <= form["deleted"][0][
        "copy"
    ].keys()


def test_only_what_is_confirmed_is_deleted(engine: Engine, index: Index) -> None:
    lines = [line for line in index.copies(["0"]).to_lines() if '"id": "near"' not in line]
    erased = index.erase(index.copies(["0"]).confirmed_by(lines))
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES, "near"}
    assert [(each.copy.id, each.reason) for each in erased.left] == [("near", "dropped")]
    assert erased.is_complete


def test_a_text_that_was_dropped_stays_even_if_it_equals_a_confirmed_one(engine: Engine, index: Index) -> None:
    copies = index.copies(["0"]).only(lambda copy: copy.id != "equal")
    assert index.erase(copies).is_complete
    assert "equal" in rest(engine, index)


def test_the_original_can_be_kept(engine: Engine, index: Index) -> None:
    erased = index.erase(index.copies(["0"], keep_original=True), everything=True)
    assert erased.is_complete
    assert rest(engine, index) == {"0", *OTHERS, *NOT_COPIES}


def test_a_document_that_is_gone_is_erased_by_its_text(engine: Engine, index: Index) -> None:
    delete(engine, index.name, "0")
    assert index.erase(index.copies(texts=[text_of(SOURCE)])).is_complete
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


def test_several_documents_are_erased_at_once(engine: Engine, index: Index) -> None:
    copies = index.copies(["0", "3", "0"], texts=[text_of(OTHERS["6"])])
    assert {copy.source for copy in copies} == {"0", "3", "text 1"}
    index.erase(copies)
    assert not {"0", "3", "6", *COPIES} & rest(engine, index)
    assert {"9", "12"} <= rest(engine, index)


def test_stricter_bars_find_less(index: Index) -> None:
    found = index.copies(["0"], similarity=1.0, containment=1.0)
    assert {"near", "half"}.isdisjoint(copy.id for copy in found)
    assert {"0", "equal"} <= {copy.id for copy in found}


def test_every_document_can_be_compared(engine: Engine, meddler: Meddler, index: Index) -> None:
    meddler.after = lambda operation, result: (
        [{"hits": {"hits": []}} for _ in result] if type(operation).__name__ == "MultiSearch" else result
    )
    assert [copy.id for copy in index.copies(["0"])] == ["0"]
    assert index.erase(index.copies(["0"], scan=True)).is_complete
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


def test_hundreds_of_copies_are_found_at_once(engine: Engine, index: Index) -> None:
    many = {f"many {number}": edited(SOURCE, number % 4, seed=number) for number in range(450)}
    fill(engine, index.name, many)
    copies = index.copies(["0"])
    assert ({copy.id for copy in copies}, copies.incomplete) == ({"0", *COPIES, *many}, ())
    assert len(index.erase(copies).deleted) == len(copies)
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


def test_more_copies_than_searches_return_are_named_and_erased_in_rounds(
    engine: Engine, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hunt, "_FIRST_LIST", 2)
    monkeypatch.setattr(hunt, "_FIRST_OF_PART", 2)
    monkeypatch.setattr(hunt, "_LONGEST", 5)
    fill(engine, index.name, {f"many {number}": SOURCE for number in range(30)})
    copies = index.copies(["0"])
    assert copies.incomplete == ("more than 5 copies match a search: repeat the command, or scan",)
    assert len(copies) < 31
    erased = index.erase(copies, everything=True)
    # The list that was confirmed lacked some, so one more run must say that there are none.
    assert (erased.is_complete, erased.incomplete) == (False, list(copies.incomplete))
    # Lists as short as these do not show all others.
    assert not {f"many {number}" for number in range(30)} & rest(engine, index)


def test_what_was_compared_is_read_again_only_if_it_changes(engine: Engine, meddler: Meddler, index: Index) -> None:
    copies = index.copies(["0"])
    meddler.seen.clear()
    meddler.before = once(Bulk, lambda _: fill(engine, index.name, {"3": {**OTHERS["3"], "number": 1}}))
    index.erase(copies)
    read = Counter(id_ for each in meddler.seen if isinstance(each, GetDocuments) for id_ in each.ids)
    # Confirmed ones are looked at in every round until they are deleted.
    assert {id_ for id_, times in read.items() if times > 1 and id_ != "0"} <= {"3"}
    assert len(read) > 10


# --- while others write


def erased_while(meddler: Meddler, index: Index, do: Callable[[Any], Any], everything: bool = False) -> Erased:
    """Erase, with something happening between the review and the first request that deletes."""
    copies = index.copies(["0"])
    meddler.before = once(Bulk, do)
    return index.erase(copies, everything=everything)


def test_a_copy_that_appears_is_deleted_and_named(engine: Engine, meddler: Meddler, index: Index) -> None:
    new = {"late": edited(SOURCE, 3, seed=9), "other": OTHERS["3"]}
    erased = erased_while(meddler, index, lambda _: fill(engine, index.name, new), everything=True)
    assert [each.copy.id for each in erased.deleted if each.appeared] == ["late"]
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES, "other"}
    assert erased.is_complete


def test_a_copy_that_appears_is_left_and_named_unless_its_text_was_confirmed(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    new = {"late": edited(SOURCE, 3, seed=9), "again": SOURCE}
    erased = erased_while(meddler, index, lambda _: fill(engine, index.name, new))
    assert [each.copy.id for each in erased.deleted if each.appeared] == ["again"]
    assert [(each.copy.id, each.reason) for each in erased.left] == [("late", "appeared")]
    assert not erased.is_complete
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES, "late"}


def test_a_text_that_is_edited_after_the_review_is_not_deleted(engine: Engine, meddler: Meddler, index: Index) -> None:
    changed = {"equal": edited(SOURCE, 4, seed=7), "near": OTHERS["3"]}
    erased = erased_while(meddler, index, lambda _: fill(engine, index.name, changed))
    assert sorted((each.copy.id, each.reason) for each in erased.left) == [
        ("equal", "changed"),
        ("near", "no copy now"),
    ]
    assert contents(engine, index.name, ["equal", "near"]) == changed
    assert (erased.is_complete, erased.conflicts) == (False, 2)


def test_a_document_that_is_written_again_is_named(engine: Engine, meddler: Meddler, index: Index) -> None:
    before = contents(engine, index.name, ["equal"])
    copies = index.copies(["0"])

    def write_it_again(operation: Any, result: Any) -> Any:
        if isinstance(operation, Bulk) and sum(isinstance(each, Bulk) for each in meddler.seen) == 1:
            fill(engine, index.name, before)
        return result

    meddler.after = write_it_again
    erased = index.erase(copies)
    assert [(each.copy.id, each.appeared) for each in erased.deleted if each.copy.id == "equal"] == [
        ("equal", False),
        ("equal", True),
    ]
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


def test_another_field_that_is_edited_does_not_keep_a_copy(engine: Engine, meddler: Meddler, index: Index) -> None:
    changed = {"equal": {**SOURCE, "number": 7}}
    erased = erased_while(meddler, index, lambda _: fill(engine, index.name, changed))
    assert (erased.is_complete, erased.conflicts) == (True, 1)
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


def test_what_others_delete_is_counted(engine: Engine, meddler: Meddler, index: Index) -> None:
    erased = erased_while(meddler, index, lambda _: delete(engine, index.name, "near"))
    assert (erased.is_complete, erased.gone) == (True, 1)


def test_a_document_that_cannot_be_deleted_is_left_with_the_reason(engine: Engine, index: Index) -> None:
    frozen = Overloaded(engine, lambda bulk, place: bulk.actions[place].id != "near", status=403)
    erased = Index(index.name, frozen).erase(index.copies(["0"]))
    assert [(each.copy.id, each.reason) for each in erased.left] == [("near", "refused")]
    assert "the queue is full" in erased.left[0].detail
    assert not erased.is_complete
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES, "near"}


@pytest.mark.nightly
def test_writers_who_never_stop_do_not_keep_it_going_forever(engine: Engine, meddler: Meddler, index: Index) -> None:
    def write_again(operation: Any) -> None:
        if isinstance(operation, Bulk):
            fill(engine, index.name, {f"more {len(meddler.seen)}": SOURCE})

    copies = index.copies(["0"])
    meddler.before = write_again
    erased = index.erase(copies)
    assert {each.reason for each in erased.left} == {"too many rounds"}
    assert len(erased.left) == 2  # the last one written, and the original, which is to go after all others
    assert not erased.is_complete


def test_with_concurrent_writers_no_copy_is_left_and_no_other_is_lost(engine: Engine, index: Index) -> None:
    begun, done = Event(), []

    def write() -> None:
        for number in range(60):
            copy = edited(SOURCE, number % 6, seed=number)
            fill(engine, index.name, {f"copy {number}": copy, f"other {number}": OTHERS[str(number % 29 + 1)]})
            begun.set()

    copies = index.copies(["0"])
    writer = Thread(target=write)
    writer.start()
    begun.wait()
    while True:
        is_last = not writer.is_alive()
        done.append(index.erase(copies, everything=True))
        if is_last:
            break
    left = everything_in(engine, index.name)
    assert [id_ for id_, each in left.items() if is_copy(each)] == []
    assert set(left) == {*OTHERS, *NOT_COPIES, *(f"other {number}" for number in range(60))}
    deleted = {each.copy.id: each.appeared for erased in done for each in erased.deleted}
    assert {id_ for id_, appeared in deleted.items() if appeared} == {f"copy {number}" for number in range(60)}


# --- where documents lie


def test_a_copy_of_another_tenant_is_not_seen(engine: Engine, meddler: Meddler, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name)
    index = Index(name, meddler, fields=FIELDS)
    index.init(policy=Policy(Scope.of(within="tenant", across="site", window="1h", date="published")))
    ours = {"tenant": "a", "site": "x", "published": "2026-01-01"}
    index.add(
        [
            {"_id": "0", **SOURCE, **ours},
            {"_id": "same", **SOURCE, **ours},
            {"_id": "long ago", **edited(SOURCE, 3), **ours, "published": "1999-01-01"},
            {"_id": "theirs", **SOURCE, **ours, "tenant": "b"},
            {"_id": "both", **SOURCE, **ours, "tenant": ["a", "b"]},
            {"_id": "nobody's", **SOURCE},
        ],
        refresh=True,
    )
    copies = index.copies(["0"])
    assert ({copy.id for copy in copies}, copies.within) == ({"0", "same", "long ago"}, ("tenant",))
    assert copies.incomplete == ("1 documents have no value in tenant, so they count as copies of nothing",)
    assert {copy.id for copy in index.copies(["0"], scan=True)} == {copy.id for copy in copies}
    assert {copy.id for copy in index.copies(["nobody's"])} == {"nobody's"}
    report = index.erase(copies, everything=True).to_json()
    assert (report["within"], report["is_complete"]) == (["tenant"], False)
    assert rest(engine, index) == {"theirs", "both", "nobody's"}
    # A text has no tenant of its own.
    with pytest.raises(InputError, match="no value in tenant"):
        index.copies(texts=[text_of(SOURCE)])
    of_b = EraseOptions(scope_values={"tenant": "b"})
    assert {copy.id for copy in index.copies(**vars(of_b), texts=[text_of(SOURCE)])} == {"theirs"}
    with pytest.raises(InputError, match="Leave it out"):
        index.copies(["theirs"], **vars(of_b))


def test_copies_in_all_indices_behind_a_name_are_deleted_where_they_are(
    engine: Engine, index: Index, names: Callable[[], str]
) -> None:
    other, plain = names(), names()
    strict = Index(other, engine, scheme="strict", fields=["body"])
    strict.init()
    strict.add([{"_id": "0", **SOURCE}, {"_id": "3", **OTHERS["3"]}], refresh=True)
    engine.perform(CreateIndex(plain, {}))
    # One of the fields is in none of its documents, which must not keep words from being searched for elsewhere.
    fill(engine, plain, {"1": {"body": text_of(SOURCE)}, "2": {"body": text_of(OTHERS["6"])}})
    copies = Index(f"{index.name},{other},{plain}", engine).copies(["0"])
    assert copies.incomplete == ()
    places = {(copy.index, copy.id) for copy in copies}
    assert places == {*((index.name, id_) for id_ in ("0", *COPIES)), (other, "0"), (plain, "1")}
    Index(f"{index.name},{other},{plain}", engine).erase(copies)
    assert set(everything_in(engine, other)) == {"3"}
    assert set(everything_in(engine, plain)) == {"2"}
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


@servers
def test_documents_behind_an_alias_and_with_routing_values_are_deleted(
    engine: Engine, index: Index, names: Callable[[], str]
) -> None:
    alias = f"{names()}-alias"
    fill(engine, index.name, {"routed": SOURCE}, routing="elsewhere")
    engine.perform(UpdateAliases([{"add": {"index": index.name, "alias": alias}}]))
    erased = Index(alias, engine).erase(Index(alias, engine).copies(["0"]))
    assert {each.copy.index for each in erased.deleted} == {index.name}
    assert [each.copy.routing for each in erased.deleted if each.copy.id == "routed"] == ["elsewhere"]
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


@servers
def test_an_index_that_is_read_only_keeps_its_copies_and_the_others_are_erased(
    engine: Engine, index: Index, names: Callable[[], str]
) -> None:
    frozen = names()
    create(engine, frozen)
    fill(engine, frozen, {"1": SOURCE})
    engine.perform(PutSettings(frozen, {"index.blocks.write": True}))
    both = Index(f"{index.name},{frozen}", engine)
    erased = both.erase(both.copies(["0"]), everything=True)
    assert [(each.copy.index, each.copy.id, each.reason) for each in erased.left] == [(frozen, "1", "refused")]
    assert "block" in erased.left[0].detail
    assert BODY[:20] not in erased.left[0].detail
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES}


@servers
def test_a_closed_index_behind_a_pattern_is_named(engine: Engine, kind: str, request: Any, index: Index) -> None:
    node: Node = request.getfixturevalue(f"{kind}_node")
    engine.perform(CreateIndex(f"{index.name}-closed", {}))
    assert node.request("POST", f"/{index.name}-closed/_close").status == 200
    copies = Index(f"{index.name}*", engine).copies(["0"])
    assert copies.incomplete == (f"the index '{index.name}-closed' is closed",)
    erased = Index(f"{index.name}*", engine).erase(copies)
    assert (erased.incomplete, erased.left, erased.is_complete) == (list(copies.incomplete), [], False)
    engine.perform(DeleteIndex(f"{index.name}-closed"))


@servers
def test_documents_that_a_filter_of_an_alias_hides_stay(engine: Engine, index: Index, names: Callable[[], str]) -> None:
    alias = f"{names()}-alias"
    some = {"add": {"index": index.name, "alias": alias, "filter": {"ids": {"values": ["0", "equal", "3"]}}}}
    engine.perform(UpdateAliases([some]))
    Index(alias, engine).erase(Index(alias, engine).copies(["0"]))
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES, *COPIES} - {"equal"}
    with pytest.raises(InputError, match="filter"):
        Index(alias, engine).copies(["3"], scan=True)


@pytest.fixture
def stream(opensearch_node: Node) -> Iterator[str]:
    """A data stream with two backing indices, each with a document, a copy and another one."""
    name = f"erased-stream-{uuid4().hex[:10]}"
    mapping = {"properties": {"body": {"type": "text"}}}
    template = {"settings": {"number_of_replicas": 0}, "mappings": mapping}
    body = {"index_patterns": [name], "data_stream": {}, "template": template, "priority": 500}
    assert opensearch_node.request("PUT", f"/_index_template/{name}", body).status == 200
    for day in ("01", "02"):
        for text in (BODY, edited(SOURCE, 3)["body"], OTHERS["3"]["body"]):
            event = {"@timestamp": f"2026-03-{day}T08:00:00Z", "body": text}
            opensearch_node.request("POST", f"/{name}/_doc?refresh=true", event)
        opensearch_node.request("POST", f"/{name}/_rollover")
    yield name
    opensearch_node.request("DELETE", f"/_data_stream/{name}")
    opensearch_node.request("DELETE", f"/_index_template/{name}")


def test_copies_in_a_data_stream_are_deleted_in_the_indices_behind_it(opensearch_node: Node, stream: str) -> None:
    index = Index(stream, opensearch_node.url, fields=["body"])
    erased = index.erase(index.copies(texts=[BODY]))
    assert erased.is_complete
    assert sorted((each.copy.index[-1], each.copy.kind) for each in erased.deleted) == [
        ("1", "equal"),
        ("1", "near"),
        ("2", "equal"),
        ("2", "near"),
    ]
    assert index.engine.perform(Count(stream, {"match_all": {}})) == 2
    index.close()


def test_an_index_without_fingerprints_is_searched_by_the_fields_that_are_named(
    engine: Engine, names: Callable[[], str]
) -> None:
    name = names()
    engine.perform(CreateIndex(name, {}))
    fill(engine, name, {"0": SOURCE, "3": OTHERS["3"], "near": edited(SOURCE, 4)})
    with pytest.raises(MappingError, match="init"):
        Index(name, engine).copies(["0"])
    index = Index(name, engine, fields=FIELDS)
    assert {copy.id for copy in index.copies(["0"])} == {"0", "near"}
    index.erase(index.copies(["0"]))
    assert set(everything_in(engine, name)) == {"3"}


def test_texts_that_are_not_indexed_are_found_by_their_keys(engine: Engine, names: Callable[[], str]) -> None:
    found = {}
    for scheme in (Scheme(), Scheme(passages=Passages())):
        name = names()
        field = {"type": "text", "index": False}
        engine.perform(CreateIndex(name, {"mappings": {"properties": dict.fromkeys(FIELDS, field)}}))
        index = Index(name, engine, scheme=scheme, fields=FIELDS)
        index.init()
        documents = {"0": SOURCE, **OTHERS, **{id_: each for id_, (_, each) in COPIES.items()}}
        index.add([{"_id": id_, **each} for id_, each in documents.items()], refresh=True)
        copies = index.copies(["0"])
        found[scheme.passages is None] = {copy.id for copy in copies}
        assert copies.incomplete[0] == f"the words of body are not indexed as text in {name!r}: scan"
        assert {copy.id for copy in index.copies(["0"], scan=True)} == {"0", *COPIES}
    assert {"0", "equal", "near"} <= found[True]
    assert found[True] < found[False] >= {"0", *COPIES} - {"sentence"}


def test_an_index_without_texts_in_the_fields_is_named(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    engine.perform(CreateIndex(name, {}))
    misspelt = Index(name, engine, fields=["bodi"])
    assert misspelt.copies(texts=[BODY]).incomplete == ()
    fill(engine, name, {"0": SOURCE})
    assert misspelt.copies(texts=[BODY]).incomplete == (f"No document of the index {name!r} has text in bodi",)
    with pytest.raises(TextError, match="no letters"):
        misspelt.copies(["0"])


# --- what cannot be erased


def test_a_missing_an_empty_and_no_document_are_errors_that_say_so(index: Index) -> None:
    with pytest.raises(MissingError, match=r"no document 'nowhere'.*give its text"):
        index.copies(["nowhere"])
    with pytest.raises(TextError, match="'empty' has no letters"):
        index.copies(["empty"])
    with pytest.raises(InputError, match="Nothing was named"):
        index.copies()


def test_copies_of_another_index_are_refused(engine: Engine, index: Index) -> None:
    with pytest.raises(InputError, match="Erase them there"):
        Index(f"{index.name}*", engine).erase(index.copies(["0"]))


def test_a_list_for_another_text_is_refused(index: Index) -> None:
    lines = list(index.copies(["3"]).to_lines())
    with pytest.raises(FormatError, match="another text"):
        index.copies(["0"]).confirmed_by(lines)


def test_a_line_of_another_document_deletes_nothing(engine: Engine, index: Index) -> None:
    lines = [line for line in index.copies(["3"]).to_lines() if '"id": "3"' in line]
    erased = index.erase(index.copies(["0"]).confirmed_by(lines))
    assert [(each.copy.id, each.reason) for each in erased.left if each.reason != "dropped"] == [("3", "no copy now")]
    assert rest(engine, index) == {"0", *COPIES, *OTHERS, *NOT_COPIES}


def test_a_list_without_its_first_line_confirms_what_it_lists_only(engine: Engine, index: Index) -> None:
    copies: Copies = index.copies(["0"])
    lines = [line for line in copies.to_lines() if '"id": "near"' in line]
    index.erase(index.copies(["0"]).confirmed_by(lines))
    assert rest(engine, index) == {*OTHERS, *NOT_COPIES, *COPIES, "0"} - {"near"}
