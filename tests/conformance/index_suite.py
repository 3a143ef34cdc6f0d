"""`es_simhash.Index` on every engine: a suite for pytest.

Subclass `IndexSuite` and give it a fixture ``engine`` (any target of `Index`). Each test makes indices with its own
names, and removes them.
"""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.documents.sources import Rejected
from es_simhash.errors import (
    DocumentError,
    InputError,
    MappingError,
    MissingError,
    SchemeError,
    SchemeMismatchError,
    TextError,
)
from es_simhash.plans import find
from es_simhash.plans.find import ServerFilter
from es_simhash.plans.operations import Action, Bulk, Count, CreateIndex, GetDocuments, GetMappings, Refresh
from es_simhash.scheme.mapping import HOME
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.rerank import Matches
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Policy, Scope
from es_simhash.scheme.settings import Layout, MinHash, SimHash
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier, rarity_of
from es_simhash.text.tokens import Words
from tests.conformance.index_base import IndexBase
from tests.support.corpus import Document, corpus, edited

FIELDS = ("title", "body")
LAYOUTS = [Layout("text"), Layout("keyword"), Layout("fields"), Layout("text", signature_bits=8)]


def text_of(document: Document) -> str:
    """Return the text of a document."""
    return f"{document['title']}\n{document['body']}"


def ids(matches: Matches) -> list[str]:
    """Return the ids of the matches."""
    return [match.id for match in matches]


def distance_of_copy(number: int) -> int:
    """Return the distance of a planted copy from its original."""
    document = corpus()[number]
    first, second = Scheme().fingerprints([text_of(document), text_of(edited(document, 2, seed=number))])
    return Scheme().distance(first, second)


class IndexSuite(IndexBase):
    """The tests; give them the fixture ``engine``."""

    @pytest.fixture
    def filled(self, engine: Any, names: Any) -> Any:
        """Make an index of 30 documents, 0 to 29, and edited copies of the first 6, named 0a to 5a."""
        index = self.open(names(), engine, scheme=Scheme(), fields=FIELDS)
        index.init()
        documents = corpus()
        copies = [{"_id": f"{i}a", **edited(documents[i], 2, seed=i)} for i in range(6)]
        written = index.add([{"_id": str(i), **each} for i, each in enumerate(documents)] + copies, refresh=True)
        assert (written.done, written.rejected) == (36, [])
        return index

    def put(self, engine: Any, name: str, documents: dict[str, Any]) -> None:
        """Write documents without es_simhash, as a team's own scripts do."""
        actual = self.engine_of(engine)
        actual.perform(Bulk(name, [Action("index", id_, body) for id_, body in documents.items()], refresh=True))

    def source(self, engine: Any, name: str, id: str) -> Any:
        """Return a document as it is stored."""
        return self.engine_of(engine).perform(GetDocuments(name, [id]))[0]["_source"]

    # --- erasing ---

    def test_a_document_is_erased_with_its_copies(self, engine: Any, filled: Any) -> None:
        copies = filled.copies(["3"])
        assert {copy.id: copy.kind for copy in copies} == {"3": "original", "3a": "near"}
        progress: list[int] = []
        erased = filled.erase(copies, on_progress=lambda so_far: progress.append(len(so_far.deleted)))
        assert [each.copy.id for each in erased.deleted] == ["3a", "3"]
        assert progress == [0, 1, 2]
        assert erased.is_complete
        assert self.engine_of(engine).perform(Count(filled.name, {"match_all": {}})) == 34

    def test_a_copy_that_is_dropped_stays(self, engine: Any, filled: Any) -> None:
        erased = filled.erase(filled.copies(["3"]).only(lambda copy: copy.id != "3a"))
        assert [(each.copy.id, each.reason) for each in erased.left] == [("3a", "dropped")]
        assert self.source(engine, filled.name, "3a")

    # --- init ---

    def test_init_makes_a_new_index_with_scheme_and_fields(self, engine: Any, names: Any) -> None:
        name = names()
        done = self.open(name, engine, scheme="strict", fields=["body"]).init()
        assert done.created
        assert "dedup.blocks" in done.added[name]
        reopened = self.open(name, engine)
        reopened.add([{"_id": "1", "body": "the text of the document"}])
        stored = self.source(engine, name, "1")["dedup"]
        assert stored["scheme"] == Scheme.preset("strict").id

    def test_init_takes_settings_and_mappings_for_a_new_index(self, engine: Any, names: Any) -> None:
        name = names()
        create = {"mappings": {"properties": {"views": {"type": "long"}}, "_meta": {"owner": "us"}}}
        self.open(name, engine, fields=["body"]).init(create=create)
        mapping = self.engine_of(engine).perform(GetMappings(name))[name]
        assert mapping["properties"]["views"]["type"] == "long"
        assert mapping["_meta"]["owner"] == "us"
        assert set(mapping["_meta"]) == {"owner", "es_simhash"}

    def test_init_adds_to_a_live_index_and_changes_nothing_else(self, engine: Any, names: Any) -> None:
        name = names()
        mappings = {"properties": {"body": {"type": "text"}, "n": {"type": "long"}}, "_meta": {"team": {"a": 1}}}
        self.engine_of(engine).perform(CreateIndex(name, {"mappings": mappings}))
        self.put(engine, name, {"1": {"body": "a document", "n": 1}})
        before = self.engine_of(engine).perform(GetMappings(name))[name]
        done = self.open(name, engine, fields=["body"]).init()
        assert not done.created
        after = self.engine_of(engine).perform(GetMappings(name))[name]
        assert after["properties"].pop("dedup")
        assert after["properties"].pop(HOME)
        assert after["_meta"].pop("es_simhash")
        assert after == before
        assert self.source(engine, name, "1") == {"body": "a document", "n": 1}

    def test_init_again_changes_nothing(self, engine: Any, names: Any) -> None:
        name = names()
        for layout in LAYOUTS:
            prefix = f"d{LAYOUTS.index(layout)}"
            index = self.open(name, engine, scheme=Scheme(layout=layout), fields=["body"], prefix=prefix)
            assert index.init().bodies
            assert index.init().bodies == {}
            assert index.init().added == {name: []}

    def test_a_dry_run_of_init_shows_the_difference_and_does_nothing(self, engine: Any, names: Any) -> None:
        name = names()
        index = self.open(name, engine, fields=["body"])
        assert index.init(dry_run=True).created
        with pytest.raises(MissingError):
            self.engine_of(engine).perform(GetMappings(name))
        self.engine_of(engine).perform(CreateIndex(name, {}))
        assert "dedup" in index.init(dry_run=True).bodies[name]["properties"]
        assert "dedup" not in self.engine_of(engine).perform(GetMappings(name))[name].get("properties", {})

    def test_init_refuses_fields_of_another_type(self, engine: Any, names: Any) -> None:
        name = names()
        mappings = {"properties": {"dedup": {"properties": {"bands": {"type": "long"}}}}}
        self.engine_of(engine).perform(CreateIndex(name, {"mappings": mappings}))
        with pytest.raises(MappingError, match=r"dedup\.bands.*long.*Choose another prefix"):
            self.open(name, engine, fields=["body"]).init()

    def test_init_refuses_another_scheme_under_the_same_prefix(self, engine: Any, names: Any) -> None:
        name = names()
        self.open(name, engine, scheme="default", fields=["body"]).init()
        strict, default = Scheme.preset("strict"), Scheme()
        with pytest.raises(SchemeMismatchError, match=f"{default.id}.*{strict.id}"):
            self.open(name, engine, scheme=strict, fields=["body"]).init()
        self.open(name, engine, scheme=strict, fields=["body"], prefix="dedup2").init()

    def test_init_without_a_scheme_keeps_that_of_the_index(self, engine: Any, names: Any) -> None:
        name = names()
        self.open(name, engine, scheme="strict", fields=["body"]).init()
        index = self.open(name, engine, fields=["body"])
        assert index.init().bodies == {}
        assert index.info().scheme == Scheme.preset("strict").id

    def test_init_needs_fields(self, engine: Any, names: Any) -> None:
        with pytest.raises(InputError, match="fields="):
            self.open(names(), engine).init()

    # --- add ---

    def test_documents_are_stored_whole_with_the_fields(self, filled: Any, engine: Any) -> None:
        document = corpus()[4]
        stored = self.source(engine, filled.name, "4")
        fields = stored.pop("dedup")
        assert stored == document
        fingerprint = Scheme().fingerprint(text_of(document))
        assert fields["simhash"] == f"{fingerprint.simhash:016x}"
        assert fields["bands"].split() == Scheme().band_keys(fingerprint)

    def test_rejected_documents_are_reported_and_the_rest_is_written(self, filled: Any, engine: Any) -> None:
        written = filled.add(
            [
                {"_id": "new", "title": "a", "body": "b"},
                {"_id": "bad", "title": "a", "body": {"no": "text"}},
                {"_op_type": "create", "_id": "0", "title": "a", "body": "taken already"},
                {"_id": "torn", "title": "\ud83d", "body": "half of a character"},
            ],
            refresh=True,
        )
        assert written.done == 1
        assert [(each.id, each.position) for each in written.rejected] == [("bad", 1), ("0", 2), ("torn", 3)]
        assert "already" in written.rejected[1].reason
        assert self.source(engine, filled.name, "new")["body"] == "b"

    def test_a_changed_document_is_found_by_its_new_text_only(self, filled: Any) -> None:
        old, new = text_of(corpus()[7]), {"title": "changed", "body": corpus(3, seed=9)[0]["body"]}
        assert ids(filled.find(old)) == ["7"]
        filled.add([{"_op_type": "update", "_id": "7", "doc": new}], refresh=True)
        assert ids(filled.find(old)) == []
        assert ids(filled.find(text_of(new))) == ["7"]

    def test_an_update_of_a_part_of_the_text_takes_the_fingerprint_out(self, filled: Any, engine: Any) -> None:
        filled.add([{"_op_type": "update", "_id": "8", "doc": {"title": "another title"}}], refresh=True)
        stored = self.source(engine, filled.name, "8")
        assert stored["body"] == corpus()[8]["body"]
        assert {name: value for name, value in stored["dedup"].items() if value is not None} == {"status": "deferred"}
        assert ids(filled.find(text_of(corpus()[8]))) == []

    def test_deleted_documents_are_not_found(self, filled: Any) -> None:
        assert filled.delete(["0a"], refresh=True).done == 1
        assert ids(filled.find(id="0")) == []

    def test_an_empty_text_is_stored_and_never_found(self, filled: Any, engine: Any) -> None:
        filled.add([{"_id": "e1", "title": ""}, {"_id": "e2", "title": None, "body": [" "]}], refresh=True)
        assert self.source(engine, filled.name, "e1")["dedup"]["status"] == "empty"
        with pytest.raises(TextError, match="empty"):
            filled.find(id="e1")
        assert next(iter(filled.find_many([""]))).status == "empty"

    def test_documents_can_be_counted_by_status_and_scheme(self, filled: Any, engine: Any) -> None:
        query = {"bool": {"filter": [{"term": {"dedup.scheme": Scheme().id}}, {"term": {"dedup.status": "ok"}}]}}
        assert self.engine_of(engine).perform(Count(filled.name, query)) == 36

    # --- find ---

    @pytest.mark.parametrize("by", ["simhash", "minhash", "both"])
    def test_every_planted_copy_is_found_and_nothing_else(self, filled: Any, by: Any) -> None:
        distance = 5 if by != "minhash" else None
        near = [f"{i}a" for i in range(6) if by != "simhash" or distance_of_copy(i) <= 5]
        assert len(near) >= 3
        found = [ids(filled.find(id=str(i), by=by, distance=distance)) for i in range(30)]
        assert found == [[f"{i}a"] if f"{i}a" in near else [] for i in range(30)]

    def test_a_text_a_document_and_an_id_find_the_same(self, filled: Any) -> None:
        document = corpus()[2]
        by_text = filled.find(text_of(document))
        assert ids(by_text) == ["2", "2a"]
        assert by_text[0].same_text
        assert by_text[0].similarity == 1.0
        assert by_text[0].distance == 0
        assert filled.find(doc=document).matches == by_text.matches
        assert filled.find(doc={"_id": "2", **document}).matches == by_text.matches[1:]
        assert filled.find(id="2").matches == by_text.matches[1:]

    def test_distances_and_similarities_are_those_of_the_scheme(self, filled: Any) -> None:
        scheme = Scheme()
        first, second = (scheme.fingerprint(text_of(each)) for each in (corpus()[1], edited(corpus()[1], 2, seed=1)))
        [match] = filled.find(id="1", estimate=True)
        assert match.distance == scheme.distance(first, second)
        assert match.similarity == pytest.approx(scheme.estimated_jaccard(first, second), abs=0.02)
        assert not match.is_exact

    def test_texts_are_compared_as_the_scheme_says_unless_estimates_will_do(self, filled: Any) -> None:
        document, scheme = corpus()[1], Scheme()
        texts = [text_of(each) for each in (document, edited(document, 2, seed=1))]
        verifier = Verifier(scheme, Verification(), builtin())
        for options in ({}, {"by": "both"}):
            [match] = filled.find(id="1", **options)
            assert match.is_exact
            assert [match.similarity] == verifier.to_others(texts[0], texts[1:])
        [estimated] = filled.find(id="1", estimate=True)
        assert not estimated.is_exact
        assert estimated.similarity != match.similarity

    def test_what_was_learnt_stays_until_it_is_learnt_again(self, filled: Any) -> None:
        learnt = filled.learn()
        before = [match.similarity for match in filled.find(id="1")]
        more = [{**edited(corpus()[i], 5, seed=50 + i), "_id": f"more {i}"} for i in range(2, 30)]
        filled.add(more, refresh=True)
        assert [match.similarity for match in filled.find(id="1")] == before
        assert filled.learn().rarity != learnt.rarity

    def test_rarity_is_learnt_from_the_texts_each_once(self, filled: Any) -> None:
        texts = {*map(text_of, corpus()), *(text_of(edited(corpus()[i], 2, seed=i)) for i in range(6))}
        filled.add([{**corpus()[i], "_id": f"copy {i}"} for i in range(20)], refresh=True)
        assert filled.learn().rarity == rarity_of(Scheme(), sorted(texts))

    def test_similar_texts_with_other_numbers_are_refused_on_request(self, filled: Any) -> None:
        body = corpus(1, seed=9)[0]["body"]
        filled.add([{"_id": f"v{n}", "title": f"Volume {n}", "body": body} for n in (17, 18)], refresh=True)
        for numbers, found, refused in ((None, ["v18"], 0), (1, [], 1)):
            matches = filled.find(id="v17", numbers=numbers)
            assert (ids(matches), matches.refused) == (found, refused)

    def test_weights_may_be_others_than_those_of_the_scheme(self, filled: Any) -> None:
        document = corpus()[1]
        [match] = filled.find(id="1")
        texts = [text_of(each) for each in (document, edited(document, 2, seed=1))]
        idf = Scheme().with_idf([*texts, texts[0]]).idf
        [weighted] = filled.find(id="1", idf=idf)
        [expected] = Verifier(Scheme(), Verification(features="scheme"), idf).to_others(texts[0], texts[1:])
        assert weighted.similarity == expected != match.similarity

    def test_texts_that_contain_one_another_are_found_by_the_keys_of_their_passages(
        self, engine: Any, names: Any
    ) -> None:
        index = self.open(names(), engine, scheme="passages", fields=FIELDS)
        index.init()
        stories = [text_of(each) for each in corpus(6)]
        texts = {"whole": "\n".join(stories[:3]), "part": stories[0], "other": stories[3]}
        index.add([{"_id": id_, "title": "", "body": text} for id_, text in texts.items()], refresh=True)
        assert ids(index.find(id="part", relation="containing")) == ["whole"]
        [match] = index.find(texts["whole"], relation="contained", filter={"ids": {"values": ["part", "other"]}})
        assert (match.id, match.containment, match.similarity) == ("part", 1.0, None)
        assert [ids(each) for each in index.find_many(ids=["other", "whole"], relation="contained")] == [[], ["part"]]

    def test_a_filter_restricts_what_is_found(self, filled: Any) -> None:
        assert ids(filled.find(id="1", filter={"ids": {"values": ["5a"]}})) == []
        assert ids(filled.find(id="1", filter=[{"ids": {"values": ["1a"]}}, {"match_all": {}}])) == ["1a"]

    def test_parts_of_the_documents_come_with_the_matches_on_request(self, filled: Any) -> None:
        title = corpus()[1]["title"]
        assert filled.find(id="1")[0].source is None
        assert filled.find(id="1", source=["title"])[0].source == {"title": title}
        assert filled.find(id="1", source=["dedup.status"])[0].source == {"dedup": {"status": "ok"}}
        assert filled.find(id="1", source=True)[0].source["title"] == title

    def test_nearest_come_first_and_ties_by_id(self, filled: Any) -> None:
        document = corpus(40)[39]
        more = {f"n{edits}": edited(document, edits) for edits in (3, 1, 2)} | {"b": document, "a": document}
        filled.add([{"_id": id_, **each} for id_, each in more.items()], refresh=True)
        assert ids(filled.find(text_of(document))) == ["a", "b", "n1", "n2", "n3"]
        assert ids(filled.find(text_of(document), size=2)) == ["a", "b"]

    def test_thresholds_can_be_chosen(self, filled: Any) -> None:
        distance = filled.find(id="0")[0].distance
        assert ids(filled.find(id="0", by="simhash", distance=distance)) == ["0a"]
        assert ids(filled.find(id="0", by="simhash", distance=distance - 1)) == []
        assert ids(filled.find(id="0", similarity=1.0)) == []

    def test_a_distance_beyond_the_guarantee_is_refused_with_a_layout_that_would_do(self, filled: Any) -> None:
        with pytest.raises(SchemeError, match="Choose at least 7 blocks"):
            filled.find(id="1", distance=6)

    def test_more_candidates_than_a_page_are_all_compared(self, filled: Any) -> None:
        document = corpus(40)[36]
        filled.add(({"_id": f"c{i:03}", **edited(document, 1, seed=i)} for i in range(230)), refresh=True)
        matches = filled.find(text_of(document), size=300)
        assert (len(matches), matches.complete) == (230, True)
        cut = filled.find(text_of(document), size=300, max_candidates=120)
        assert (cut.candidates, cut.complete) == (120, False)

    def test_enough_of_very_many_copies_are_found(self, filled: Any) -> None:
        document = corpus(40)[36]
        filled.add(({"_id": f"c{i:03}", **document} for i in range(130)), refresh=True)
        for by in ("minhash", "simhash", "both"):
            matches = filled.find(text_of(document), by=by, size=20)
            assert (len(matches), matches.candidates, matches.complete) == (20, 100, False)
            assert all(match.same_text and match.distance == 0 for match in matches)
        # Those that are wanted alongside them are found, too.
        filled.add([{"_id": f"e{i}", **edited(document, 1, seed=i)} for i in range(3)], refresh=True)
        matches = filled.find(text_of(document), size=200)
        assert (len(matches), matches.complete) == (133, True)
        assert [match.same_text for match in matches] == [True] * 130 + [False] * 3

    def test_comparing_here_and_on_the_server_find_the_same(self, filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for distance in (0, 3, 5):
            found = [filled.find(id="0", distance=distance)]
            for who in (ServerFilter.ALWAYS, ServerFilter.NEVER):
                monkeypatch.setattr(find, "server_filter", lambda *_, who=who: who)
                found.append(here := filled.find(id="0", distance=distance))
            monkeypatch.undo()
            assert all(each.matches == here.matches for each in found)
        assert ids(here) == ["0a"]

    def test_find_many_finds_what_find_does_in_order(self, filled: Any) -> None:
        texts = [text_of(each) for each in corpus() * 3] + [""]
        found = list(filled.find_many(texts))
        assert [ids(each) for each in found[:-1]] == [ids(filled.find(text)) for text in texts[:-1]]
        assert found[-1].status == "empty"
        wanted = [str(i) for i in range(30)]
        assert [ids(each) for each in filled.find_many(ids=wanted)] == [ids(filled.find(id=each)) for each in wanted]

    def test_a_missing_document_or_index_is_named(self, filled: Any, engine: Any, names: Any) -> None:
        with pytest.raises(MissingError, match="'nobody'"):
            filled.find(id="nobody")
        missing = names()
        with pytest.raises(MissingError, match=missing):
            self.open(missing, engine).find("a text of some length")

    def test_one_thing_is_found_at_a_time(self, filled: Any) -> None:
        with pytest.raises(InputError, match="Give one of a text, an id, a document"):
            filled.find("a text", id="1")

    @pytest.mark.parametrize("layout", LAYOUTS, ids=str)
    def test_every_layout_finds_the_same(self, layout: Layout, engine: Any, names: Any) -> None:
        index = self.open(names(), engine, scheme=Scheme(layout=layout), fields=FIELDS)
        index.init()
        documents = corpus(6)
        copies = [{"_id": f"{i}a", **edited(each, 2, seed=i)} for i, each in enumerate(documents)]
        index.add([*({"_id": str(i), **each} for i, each in enumerate(documents)), *copies], refresh=True)
        for by in ("simhash", "minhash", "both"):
            distance = None if by == "minhash" else 5
            near = [by != "simhash" or distance_of_copy(i) <= 5 for i in range(6)]
            found = [ids(index.find(id=str(i), by=by, distance=distance)) for i in range(6)]
            assert found == [[f"{i}a"] if near[i] else [] for i in range(6)]

    @pytest.mark.parametrize(
        "scheme",
        [
            Scheme.preset("short"),
            Scheme.preset("strict"),
            Scheme(minhash=None, layout=Layout(doc_values=False), verification=None),
            Scheme(layout=Layout("fields", simhash="blocks")),
            Scheme(tokens=Words(1), weights="tf", simhash=SimHash(128, 8, 5)),
            Scheme(simhash=None, minhash=MinHash("k-hash", bands=16, rows=8)),
        ],
        ids=["short", "strict", "strict as it was", "blocks alone", "wide", "k-hash"],
    )
    def test_other_schemes_are_read_back_from_the_index(self, scheme: Scheme, engine: Any, names: Any) -> None:
        name = names()
        self.open(name, engine, scheme=scheme, fields=FIELDS).init()
        index = self.open(name, engine)
        document = corpus()[0]
        index.add([{"_id": "1", **document}, {"_id": "2", **document}], refresh=True)
        assert ids(index.find(id="1")) == ["2"]

    # --- an index without fields ---

    def test_an_untouched_index_is_searched_by_more_like_this(self, engine: Any, names: Any) -> None:
        name = names()
        mappings = {"properties": {"title": {"type": "text"}, "body": {"type": "text"}}}
        create = {"mappings": mappings, "settings": {"number_of_shards": 1}}
        self.engine_of(engine).perform(CreateIndex(name, create))
        documents = {str(i): each for i, each in enumerate(corpus(60))}
        documents |= {f"{i}a": edited(documents[str(i)], 2, seed=i) for i in range(6)}
        self.put(engine, name, documents)
        index = self.open(name, engine, fields=FIELDS)
        verifier = Verifier(Scheme(), Verification(), builtin())
        for i in range(6):
            [match] = index.find(id=str(i), candidates="more_like_this")
            assert match.id == f"{i}a"
            assert match.is_exact
            assert [match.similarity] == verifier.to_others(text_of(documents[str(i)]), [text_of(documents[match.id])])
        assert ids(index.find(text_of(documents["3"]), candidates="more_like_this")) == ["3", "3a"]
        shown = {"title": documents["3a"]["title"]}
        for source, wanted in ((["title"], shown), ("ti*", shown), (["n"], {}), (True, documents["3a"])):
            [match] = index.find(id="3", candidates="more_like_this", source=source)
            assert match.source == wanted
        assert "dedup" not in self.engine_of(engine).perform(GetMappings(name))[name]["properties"]
        with pytest.raises(MappingError, match="init"):
            index.find(id="1")

    # --- check ---

    def test_check_finds_duplicates_in_the_index_and_in_the_list(self, filled: Any) -> None:
        fresh = corpus(3, seed=5)
        given = [
            {"_id": "p", **corpus()[3]},
            {"_id": "q", **fresh[0]},
            fresh[1],
            {"_id": "r", **edited(fresh[0])},
            {"_id": "3", **corpus()[3]},
            edited(fresh[1]),
            {"title": ""},
        ]
        checked = list(filled.check(given))
        assert [each.position for each in checked] == list(range(7))
        assert [ids(each.in_index) for each in checked] == [["3", "3a"], [], [], [], ["3a"], [], []]
        assert [ids(each.earlier) for each in checked] == [[], [], [], ["q"], ["p"], ["2"], []]
        assert [each.is_new for each in checked] == [False, True, True, False, False, False, False]
        assert checked[-1].status == "no text"

    def test_check_names_documents_that_cannot_be_read_and_goes_on(self, filled: Any) -> None:
        given = [
            {"_id": "p", **corpus()[3]},
            {"_id": "q", "title": {"an": "object"}, "body": "text"},
            {"title": "half \ud83d a pair"},
            "no mapping",
            {"_id": "s", "_source": None},
            {"_id": "t", **corpus()[3]},
        ]
        rejected: list[Rejected] = []
        checked = list(filled.check(given, on_reject=rejected.append))
        assert [(each.id, each.position) for each in checked] == [("p", 0), ("t", 5)]
        assert ids(checked[1].earlier) == ["p"]
        assert [(each.id, each.position) for each in rejected] == [("q", 1), (None, 2), (None, 3), ("s", 4)]
        named = ["Document 'q' has a value of type dict in the source field 'title'", "Document 2 has a lone surrogate"]
        named += ["Document 3 is of type str", "Document 's' has a body of type NoneType"]
        assert [each.reason.startswith(name) for each, name in zip(rejected, named, strict=True)] == [True] * 4
        with pytest.raises(DocumentError, match="'q' has a value of type dict in the source field 'title'"):
            list(filled.check(given))

    def test_find_check_and_search_keep_to_the_scope_of_the_index_and_of_the_caller(
        self, engine: Any, names: Any
    ) -> None:
        name, text = names(), corpus(1)[0]["body"]
        index = self.open(name, engine, fields=["body"])
        index.init(policy=Policy(Scope(("tenant",))))
        made = {"1": ("a", "x"), "2": ("b", "x"), "3": ("a", "y"), "4": ("a", "x")}
        given = [{"_id": id_, "body": text, "tenant": own, "source": from_} for id_, (own, from_) in made.items()]
        index.add(given, refresh=True)
        opened, across = self.open(name, engine), Scope((), ("source",))
        assert ids(opened.find(id="1")) == ["3", "4"]
        assert ids(opened.find(text, scope_values={"tenant": "b"})) == ["2"]
        assert ids(opened.find(id="1", scope=across)) == ["3"]
        assert [ids(each) for each in opened.find_many(ids=["2", "3"], scope=across)] == [[], ["1", "4"]]
        [checked] = opened.check([{"body": text, "tenant": "b"}])
        assert ids(checked.in_index) == ["2"]
        page = opened.search({"query": {"match_all": {}}}, distinct=True)
        assert sorted(len(each.similar) for each in page) == [0, 2]
        assert opened.explain("1", "2").verdict.code == "out-of-scope"

    def test_find_names_a_document_that_cannot_be_read(self, filled: Any) -> None:
        bad = {"title": {"an": "object"}, "body": "text"}
        with pytest.raises(DocumentError, match=r"Document 'q' has .* in the source field 'title'.*Choose"):
            filled.find(doc={"_id": "q", **bad})
        with pytest.raises(DocumentError, match="Document 60 has"):
            list(filled.find_many(docs=[*corpus(60), bad]))

    def test_check_by_simhash_and_exactly(self, filled: Any) -> None:
        given = [{"_id": "q", **corpus(1, seed=5)[0]}, {"_id": "r", **edited(corpus(1, seed=5)[0])}]
        assert [ids(each.earlier) for each in filled.check(given, by="simhash", distance=5)] == [[], ["q"]]
        [_, exact] = filled.check(given)
        assert exact.earlier[0].is_exact
        [_, estimated] = filled.check(given, estimate=True)
        assert not estimated.earlier[0].is_exact

    # --- several indices, and mismatches ---

    def test_several_indices_are_searched_together(self, filled: Any, engine: Any, names: Any) -> None:
        second = self.open(names(), engine, scheme=Scheme(), fields=FIELDS)
        second.init()
        second.add([{"_id": "1", **corpus()[1]}], refresh=True)
        both = self.open(f"{filled.name},{second.name}", engine)
        found = both.find(text_of(corpus()[1]))
        assert sorted((match.index, match.id) for match in found) == sorted(
            [(filled.name, "1"), (second.name, "1"), (filled.name, "1a")]
        )

    def test_indices_of_different_schemes_are_not_searched_together(self, filled: Any, engine: Any, names: Any) -> None:
        second = self.open(names(), engine, scheme="strict", fields=FIELDS)
        second.init()
        with pytest.raises(SchemeMismatchError, match="Search them separately"):
            self.open(f"{filled.name},{second.name}", engine).find("a text of some length")

    def test_a_scheme_that_is_not_that_of_the_index_is_refused(self, filled: Any, engine: Any) -> None:
        strict = Scheme.preset("strict")
        with pytest.raises(SchemeMismatchError, match=f"{Scheme().id}.*{strict.id}"):
            self.open(filled.name, engine, scheme=strict).find("a text of some length")
        with pytest.raises(SchemeMismatchError, match="title"):
            self.open(filled.name, engine, fields=["body"]).find("a text of some length")

    def test_documents_of_another_scheme_are_counted_and_not_compared(self, filled: Any, engine: Any) -> None:
        stored = self.source(engine, filled.name, "1a")
        stored["dedup"]["scheme"] = "000000000000"
        self.put(engine, filled.name, {"1a": stored})
        matches = filled.find(id="1")
        assert (ids(matches), matches.foreign) == ([], 1)

    def test_a_written_document_is_found_after_a_refresh(self, filled: Any, engine: Any) -> None:
        filled.add([{"_id": "late", **edited(corpus()[9])}])
        filled.refresh()
        self.engine_of(engine).perform(Refresh(filled.name))
        assert ids(filled.find(id="9")) == ["late"]
