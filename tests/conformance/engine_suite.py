"""The operations of an engine: a suite for pytest.

Subclass `EngineSuite` and give it two fixtures: ``engine``, and ``index_name``, an unused name. Each test makes indices
whose names begin with it, and removes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import EngineError, IndexStateError, InputError, MappingError, MissingError
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetDocuments,
    GetInfo,
    GetMappings,
    MultiSearch,
    Operation,
    PutMapping,
    Refresh,
    Search,
)
from tests.conformance.engine_base import KEYWORD, MAPPINGS, EngineBase, indexed, matching


def _parameter_id(value: object) -> str:
    """Name a parameter, the same in each process."""
    return " ".join(sorted(value)) if isinstance(value, set) else str(value)


class EngineSuite(EngineBase):
    """The tests; give them the fixtures ``engine`` and ``index_name``."""

    # --- what answers, and indices

    def test_an_engine_names_its_distribution_and_version(self, engine: Engine) -> None:
        info = engine.perform(GetInfo())
        assert info.distribution in ("elasticsearch", "opensearch", "embedded")
        assert len(info.version) >= 2
        assert all(isinstance(number, int) for number in info.version)

    def test_a_new_index_has_its_mapping_and_no_documents(self, engine: Engine, index_name: str) -> None:
        meta = {"es_simhash": {"dedup": {"id": "x", "bands": [1, 2]}}}
        self.create(engine, index_name, {**MAPPINGS, "_meta": meta})
        [(name, mapping)] = engine.perform(GetMappings(index_name)).items()
        assert name == index_name
        assert mapping["_meta"] == meta
        assert mapping["properties"]["dedup"]["properties"]["bands"]["analyzer"] == "whitespace"
        assert mapping["properties"]["title"]["fields"]["raw"]["type"] == "keyword"
        assert engine.perform(Count(index_name, {"match_all": {}})) == 0

    def test_an_index_that_is_there_is_not_made_again(self, engine: Engine, index: str) -> None:
        with pytest.raises(IndexStateError, match=index):
            engine.perform(CreateIndex(index, {}))

    @pytest.mark.parametrize("bad", ["Upper", "with space", "_first", "a*", "a,b", "a/b", "a#b", "x" * 256])
    def test_a_name_that_no_index_can_have_is_refused(self, engine: Engine, index_name: str, bad: str) -> None:
        with pytest.raises((InputError, EngineError)):
            engine.perform(CreateIndex(bad, {}))

    def test_a_deleted_index_is_gone_and_its_name_is_free(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "a"}})
        engine.perform(DeleteIndex(index))
        with pytest.raises(MissingError):
            engine.perform(GetMappings(index))
        self.create(engine, index, {})
        assert engine.perform(Count(index, {"match_all": {}})) == 0

    def test_a_missing_index_is_reported_by_every_operation(self, engine: Engine, index_name: str) -> None:
        query: Json = {"match_all": {}}
        operations: Sequence[Operation[Any]] = [
            GetMappings(index_name),
            PutMapping(index_name, {"properties": {"tag": KEYWORD}}),
            DeleteIndex(index_name),
            GetDocuments(index_name, ["1"]),
            Search(index_name, {"query": query}),
            MultiSearch(index_name, [{"query": query}]),
            Refresh(index_name),
            Count(index_name, query),
        ]
        for operation in operations:
            with pytest.raises(MissingError, match=index_name):
                engine.perform(operation)

    def test_a_pattern_that_nothing_fits_is_missing_too(self, engine: Engine, index_name: str) -> None:
        with pytest.raises(MissingError):
            engine.perform(GetMappings(f"{index_name}-*"))
        with pytest.raises(MissingError):
            engine.perform(Search(f"{index_name}-*", {"query": {"match_all": {}}}))

    def test_patterns_and_lists_read_several_indices(self, engine: Engine, index_name: str) -> None:
        names = [f"{index_name}-{letter}" for letter in "abc"]
        for name in names:
            self.create(engine, name, MAPPINGS)
            self.put(engine, name, {name[-1]: {"tag": "x"}})
        assert engine.perform(GetMappings(f"{index_name}-*")).keys() == set(names)
        assert engine.perform(GetMappings(f"{names[0]},{names[2]}")).keys() == {names[0], names[2]}
        hits = engine.perform(Search(f"{names[0]},{names[2]}", {"query": {"term": {"tag": "x"}}}))["hits"]["hits"]
        assert {(hit["_index"], hit["_id"]) for hit in hits} == {(names[0], "a"), (names[2], "c")}
        assert self.ids(engine, f"{index_name}-*", {"term": {"_index": names[1]}}) == {"b"}
        assert engine.perform(Count(f"{index_name}-*", {"match_all": {}})) == 3
        with pytest.raises(MissingError):
            engine.perform(Count(f"{names[0]},{index_name}-missing", {"match_all": {}}))

    # --- mappings

    def test_put_mapping_adds_fields_and_keeps_the_others(self, engine: Engine, index: str) -> None:
        body = {"properties": {"extra": KEYWORD, "dedup": {"properties": {"simhash": KEYWORD}}}}
        engine.perform(PutMapping(index, body))
        properties = engine.perform(GetMappings(index))[index]["properties"]
        assert set(properties) == {*MAPPINGS["properties"], "extra"}
        assert set(properties["dedup"]["properties"]) == {"bands", "scheme", "simhash"}
        self.put(engine, index, {"1": {"extra": "e", "dedup": {"simhash": "0f"}}})
        assert self.ids(engine, index, {"term": {"dedup.simhash": "0f"}}) == {"1"}

    def test_meta_is_replaced_whole_and_stays_where_none_is_given(self, engine: Engine, index: str) -> None:
        engine.perform(PutMapping(index, {"_meta": {"a": {"x": 1}, "b": 2}}))
        engine.perform(PutMapping(index, {"_meta": {"a": {"y": 3}}}))
        engine.perform(PutMapping(index, {"properties": {"extra": KEYWORD}}))
        assert engine.perform(GetMappings(index))[index]["_meta"] == {"a": {"y": 3}}

    def test_a_field_cannot_change_its_type(self, engine: Engine, index: str) -> None:
        with pytest.raises(MappingError, match="tag"):
            engine.perform(PutMapping(index, {"properties": {"tag": {"type": "long"}}}))
        assert engine.perform(GetMappings(index))[index]["properties"]["tag"]["type"] == "keyword"

    def test_a_field_cannot_become_an_object(self, engine: Engine, index: str) -> None:
        with pytest.raises(MappingError, match="tag"):
            engine.perform(PutMapping(index, {"properties": {"tag": {"properties": {"inner": KEYWORD}}}}))

    def test_new_fields_are_mapped_by_their_first_value(self, engine: Engine, index_name: str) -> None:
        self.create(engine, index_name, {})
        document = {"s": "One", "i": 1, "f": 1.5, "b": True, "d": "2024-05-01T10:00:00Z", "o": {"in": ["x"]}, "n": None}
        self.put(engine, index_name, {"1": document})
        properties = engine.perform(GetMappings(index_name))[index_name]["properties"]
        assert {name: field.get("type") for name, field in properties.items()} == {
            "s": "text", "i": "long", "f": "float", "b": "boolean", "d": "date", "o": None,
        }  # fmt: skip
        assert properties["s"]["fields"]["keyword"]["type"] == "keyword"
        assert properties["o"]["properties"]["in"]["type"] == "text"
        for query in ({"match": {"s": "one"}}, {"term": {"s.keyword": "One"}}, {"term": {"o.in.keyword": "x"}}):
            assert self.ids(engine, index_name, query) == {"1"}

    def test_dynamic_false_stores_new_fields_unsearched(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"new": "value", "dedup": {"other": 7}}})
        properties = engine.perform(GetMappings(index))[index]["properties"]
        assert "new" not in properties
        assert set(properties["dedup"]["properties"]) == {"bands", "scheme"}
        assert self.ids(engine, index, {"term": {"new": "value"}}) == set()
        assert self.source(engine, index, "1") == {"new": "value", "dedup": {"other": 7}}

    def test_dynamic_of_an_object_holds_for_that_object(self, engine: Engine, index_name: str) -> None:
        self.create(engine, index_name, {"properties": {"closed": {"dynamic": "false", "properties": {"k": KEYWORD}}}})
        self.put(engine, index_name, {"1": {"open": 1, "closed": {"k": "v", "new": 1}}})
        properties = engine.perform(GetMappings(index_name))[index_name]["properties"]
        assert set(properties) == {"open", "closed"}
        assert set(properties["closed"]["properties"]) == {"k"}

    def test_dynamic_strict_rejects_the_document_with_the_new_field(self, engine: Engine, index_name: str) -> None:
        self.create(engine, index_name, {"dynamic": "strict", "properties": {"tag": KEYWORD}})
        bad, good = self.act(engine, index_name, *indexed({"1": {"tag": "a", "new": 1}, "2": {"tag": "b"}}))
        assert bad.status == 400
        assert "new" in (bad.error or "")
        assert good.error is None
        assert [found["found"] for found in engine.perform(GetDocuments(index_name, ["1", "2"]))] == [False, True]

    # --- writing

    def test_each_action_has_its_result_in_order(self, engine: Engine, index: str) -> None:
        results = self.act(
            engine,
            index,
            Action("index", "1", {"tag": "a"}),
            Action("index", "1", {"tag": "b"}),
            Action("create", "1", {"tag": "c"}),
            Action("create", "2", {"tag": "d"}),
            Action("update", "3", {"doc": {"tag": "e"}}),
            Action("update", "2", {"doc": {"tag": "f"}}),
            Action("delete", "1", None),
            Action("delete", "4", None),
        )
        assert [result.id for result in results] == ["1", "1", "1", "2", "3", "2", "1", "4"]
        assert [result.status for result in results] == [201, 200, 409, 201, 404, 200, 200, 404]
        assert [result.error is None for result in results] == [True, True, False, True, False, True, True, False]
        found = engine.perform(GetDocuments(index, ["1", "2", "3"]))
        assert [document.get("_source") for document in found] == [None, {"tag": "f"}, None]

    def test_documents_without_id_get_one(self, engine: Engine, index: str) -> None:
        actions = [Action("index", None, {"tag": "a"}), Action("create", None, {"tag": "b"})]
        first, second = self.act(engine, index, *actions)
        assert first.id
        assert second.id
        assert first.id != second.id
        assert self.source(engine, index, second.id) == {"tag": "b"}

    def test_an_update_merges_objects_and_replaces_the_rest(self, engine: Engine, index: str) -> None:
        before = {"keep": 1, "list": [1, 2], "dedup": {"bands": "a b", "deep": {"x": 1, "y": 2}}, "tag": "t"}
        part = {"list": [3], "dedup": {"bands": "c", "deep": {"y": None}}, "tag": None}
        self.put(engine, index, {"1": before})
        [result] = self.act(engine, index, Action("update", "1", {"doc": part}))
        assert (result.status, result.error) == (200, None)
        after = {"keep": 1, "list": [3], "dedup": {"bands": "c", "deep": {"x": 1, "y": None}}, "tag": None}
        assert self.source(engine, index, "1") == after
        engine.perform(Refresh(index))
        assert self.ids(engine, index, matching("dedup.bands", "a")) == set()
        assert self.ids(engine, index, matching("dedup.bands", "c")) == {"1"}

    def test_an_upsert_makes_what_is_not_there(self, engine: Engine, index: str) -> None:
        results = self.act(
            engine,
            index,
            Action("update", "1", {"doc": {"tag": "a"}, "doc_as_upsert": True}),
            Action("update", "2", {"doc": {"tag": "a"}, "upsert": {"tag": "b"}}),
            Action("update", "2", {"doc": {"tag": "c"}, "upsert": {"tag": "b"}}),
        )
        assert [result.status for result in results] == [201, 201, 200]
        assert [self.source(engine, index, id_)["tag"] for id_ in ("1", "2")] == ["a", "c"]

    def test_a_replaced_document_is_found_by_its_new_values_only(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "old"}, "2": {"tag": "old"}})
        self.put(engine, index, {"1": {"tag": "new"}})
        assert self.ids(engine, index, {"term": {"tag": "old"}}) == {"2"}
        assert self.ids(engine, index, {"match_all": {}}) == {"1", "2"}

    def test_an_action_can_name_another_index(self, engine: Engine, index: str) -> None:
        other = f"{index}-other"
        self.create(engine, other, MAPPINGS)
        self.act(engine, index, Action("index", "1", {"tag": "a"}), Action("index", "1", {"tag": "b"}, index=other))
        assert self.source(engine, index, "1") == {"tag": "a"}
        assert self.source(engine, other, "1") == {"tag": "b"}

    def test_writing_to_a_missing_index_makes_it(self, engine: Engine, index_name: str) -> None:
        [result] = engine.perform(Bulk(index_name, [Action("index", "1", {"tag": "a"})], refresh=True))
        assert result.status == 201
        assert self.ids(engine, index_name, {"match": {"tag": "A"}}) == {"1"}

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("number", "ten"),
            ("number", {"a": 1}),
            ("when", "yesterday"),
            ("flag", "perhaps"),
            ("dedup", "no object"),
            ("tag", "x" * 40_000),
        ],
        ids=str,
    )
    def test_a_value_that_does_not_fit_its_field_rejects_the_document(
        self, engine: Engine, index: str, field: str, value: Any
    ) -> None:
        bad, good = self.act(engine, index, *indexed({"1": {field: value}, "2": {"tag": "ok"}}))
        assert bad.status == 400
        assert field in (bad.error or "")
        assert good.error is None

    def test_a_keyword_above_its_limit_is_stored_unsearched(self, engine: Engine, index_name: str) -> None:
        self.create(engine, index_name, {"properties": {"k": {"type": "keyword", "ignore_above": 5}}})
        self.put(engine, index_name, {"1": {"k": "short"}, "2": {"k": "longer"}})
        assert self.ids(engine, index_name, {"terms": {"k": ["short", "longer"]}}) == {"1"}
        assert self.ids(engine, index_name, {"exists": {"field": "k"}}) == {"1"}
        assert self.source(engine, index_name, "2") == {"k": "longer"}

    @pytest.mark.parametrize("id_", ["é ü/ß?&#%", "近似重複", "𝔘𝔫𝔦", "a b\tc", '"quoted"\\', "x" * 512])
    def test_any_text_can_be_an_id(self, engine: Engine, index: str, id_: str) -> None:
        self.put(engine, index, {id_: {"tag": id_[:9]}})
        assert self.source(engine, index, id_) == {"tag": id_[:9]}
        assert self.ids(engine, index, {"ids": {"values": [id_]}}) == {id_}
        assert self.ids(engine, index, {"term": {"tag": id_[:9]}}) == {id_}

    def test_a_document_comes_back_as_it_was(self, engine: Engine, index: str) -> None:
        document = {
            "title": 'Größe 近似 "q" \\ \n\t\u2028 😀',
            "numbers": [0, -1, 1.5, 1e-7, 2**53, -(2**63), 2**63 - 1],
            "nested": [{"a": [[1, 2], []]}, {}, None, True],
        }
        self.put(engine, index, {"1": document})
        assert self.source(engine, index, "1") == document

    def test_a_document_of_five_megabytes_can_be_written(self, engine: Engine, index: str) -> None:
        document = {"tag": "big", "unmapped": "0123456789 近" * 400_000}
        self.put(engine, index, {"1": document})
        assert self.source(engine, index, "1") == document
        body = {"query": {"term": {"tag": "big"}}, "_source": ["tag"]}
        [hit] = engine.perform(Search(index, body))["hits"]["hits"]
        assert hit["_source"] == {"tag": "big"}

    # --- reading by id, and what searches see

    def test_documents_are_got_in_the_order_asked_for(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"a": {"tag": "1"}, "b": {"tag": "2"}})
        found = engine.perform(GetDocuments(index, ["b", "missing", "a", "b"]))
        assert [(each["_index"], each["_id"], each["found"]) for each in found] == [
            (index, "b", True), (index, "missing", False), (index, "a", True), (index, "b", True),
        ]  # fmt: skip
        assert "_source" not in found[1]
        assert engine.perform(GetDocuments(index, [])) == []

    def test_documents_are_cut_down_to_the_paths_asked_for(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "t", "number": 1, "dedup": {"bands": "a", "scheme": "s"}}})
        [some] = engine.perform(GetDocuments(index, ["1"], ["tag", "dedup.scheme", "missing"]))
        assert some["_source"] == {"tag": "t", "dedup": {"scheme": "s"}}
        [nothing] = engine.perform(GetDocuments(index, ["1"], []))
        assert nothing["_source"] == {}

    def test_documents_are_got_at_once_but_searched_after_a_refresh(self, engine: Engine, index: str) -> None:
        self.act(engine, index, Action("index", "1", {"tag": "a"}))
        assert self.source(engine, index, "1") == {"tag": "a"}
        assert self.ids(engine, index, {"match_all": {}}) == set()
        engine.perform(Refresh(index))
        assert self.ids(engine, index, {"match_all": {}}) == {"1"}
        self.act(engine, index, Action("update", "1", {"doc": {"tag": "b"}}))
        assert self.source(engine, index, "1") == {"tag": "b"}
        assert self.ids(engine, index, {"term": {"tag": "a"}}) == {"1"}
        self.act(engine, index, Action("delete", "1", None))
        [found] = engine.perform(GetDocuments(index, ["1"]))
        assert not found["found"]
        engine.perform(Refresh(index))
        assert self.ids(engine, index, {"match_all": {}}) == set()

    # --- searching: counts and scores

    def test_shared_keys_are_counted_by_score_and_by_minimum_should_match(self, engine: Engine, index: str) -> None:
        bands = {"3": "a b c", "2": "a b x", "1": "a y z", "0": "x y z"}
        self.put(engine, index, {id_: {"dedup": {"bands": keys}} for id_, keys in bands.items()})
        query = matching("dedup.bands", "a", "b", "c")
        assert self.scores(engine, index, query) == {"3": 3, "2": 2, "1": 1}
        assert list(self.scores(engine, index, query)) == ["3", "2", "1"]
        for least, found in ((2, {"2", "3"}), ("3", {"3"}), (4, set()), (0, {"1", "2", "3"})):
            assert self.ids(engine, index, matching("dedup.bands", "a", "b", "c", least=least)) == found

    @pytest.mark.parametrize(
        ("least", "shared"), [(-1, 3), ("-1", 3), ("50%", 2), ("70%", 2), ("-30%", 3), ("100%", 4), (-4, 1), ("10%", 1)]
    )
    def test_minimum_should_match_can_be_negative_and_a_percentage(
        self, engine: Engine, index: str, least: Any, shared: int
    ) -> None:
        self.put(engine, index, {str(i): {"dedup": {"bands": "a b c d"[: 2 * i - 1]}} for i in range(1, 5)})
        found = self.ids(engine, index, matching("dedup.bands", *"abcd", least=least))
        assert found == {str(i) for i in range(shared, 5)}

    def test_should_is_optional_next_to_must_or_filter(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "a", "number": 1}, "2": {"tag": "a"}, "3": {"number": 1}})
        one = {"constant_score": {"filter": {"term": {"number": 1}}, "boost": 3.0}}
        is_a = {"term": {"tag": "a"}}
        assert self.scores(engine, index, {"bool": {"filter": is_a, "should": one}}) == {"1": 3, "2": 0}
        must = {"bool": {"must": {"constant_score": {"filter": is_a}}, "should": [one]}}
        assert self.scores(engine, index, must) == {"1": 4, "2": 1}
        both = {"bool": {"filter": [is_a], "should": [one], "minimum_should_match": 1}}
        assert self.scores(engine, index, both) == {"1": 3}
        assert self.ids(engine, index, {"bool": {"filter": [is_a], "minimum_should_match": 1}}) == set()

    def test_must_not_excludes_documents(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {str(i): {"tag": "a"} for i in range(5)})
        own = {"ids": {"values": ["1", "3"]}}
        assert self.ids(engine, index, {"bool": {"must": [{"term": {"tag": "a"}}], "must_not": [own]}}) == {
            "0",
            "2",
            "4",
        }
        assert self.ids(engine, index, {"bool": {"must_not": own}}) == {"0", "2", "4"}
        nested = {"bool": {"must": [matching("tag", "a")], "must_not": [own], "filter": [{"exists": {"field": "tag"}}]}}
        assert self.scores(engine, index, nested) == {"0": 1, "2": 1, "4": 1}

    def test_queries_without_frequencies_score_their_boost(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "a", "number": 1}})
        plain: list[Json] = [
            {"match_all": {}},
            {"terms": {"tag": ["a", "b"]}},
            {"ids": {"values": ["1", "2"]}},
            {"exists": {"field": "tag"}},
            {"constant_score": {"filter": {"term": {"tag": "a"}}}},
            {"bool": {}},
        ]
        for query in plain:
            assert self.scores(engine, index, query) == {"1": 1}
        assert self.scores(engine, index, {"bool": {"filter": [{"match_all": {}}]}}) == {"1": 0}
        assert self.scores(engine, index, {"match_all": {"boost": 2.5}}) == {"1": 2.5}
        assert self.scores(engine, index, {"terms": {"tag": ["a"], "boost": 2.5}}) == {"1": 2.5}
        assert self.scores(engine, index, {"constant_score": {"filter": {"match_all": {}}, "boost": 2.5}}) == {"1": 2.5}

    def test_rarer_words_score_higher(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {str(i): {"title": "common"} for i in range(9)})
        self.put(engine, index, {"rare": {"title": "rare"}})
        scores = self.scores(engine, index, {"match": {"title": "common rare"}})
        assert next(iter(scores)) == "rare"
        assert len(scores) == 10

    # --- searching: what is found

    def test_keys_are_found_as_they_are_and_words_in_lower_case(self, engine: Engine, index: str) -> None:
        self.put(
            engine, index, {"1": {"dedup": {"bands": "aB_-1 Cd"}, "title": "Ärger, mit dem U.S.-Zoll!", "tag": "A b"}}
        )
        for path, value in (
            ("dedup.bands", "aB_-1"),
            ("title", "ärger"),
            ("title.raw", "Ärger, mit dem U.S.-Zoll!"),
            ("tag", "A b"),
        ):
            assert self.ids(engine, index, {"term": {path: value}}) == {"1"}
        for path, value in (
            ("dedup.bands", "ab_-1"),
            ("title", "Ärger"),
            ("tag", "a b"),
            ("tag", "A"),
            ("title.raw", "ärger"),
        ):
            assert self.ids(engine, index, {"term": {path: value}}) == set()

    def test_each_ideograph_is_a_word(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"title": "近似重複検出"}, "2": {"title": "重い"}})
        assert self.ids(engine, index, {"term": {"title": "重"}}) == {"1", "2"}
        assert self.ids(engine, index, {"match": {"title": {"query": "検出", "operator": "and"}}}) == {"1"}

    def test_every_element_of_an_array_is_found(self, engine: Engine, index: str) -> None:
        self.put(
            engine, index, {"1": {"tag": ["a", "b"], "dedup": [{"scheme": "x"}, {"scheme": "y"}]}, "2": {"tag": []}}
        )
        for path, value in (("tag", "a"), ("tag", "b"), ("dedup.scheme", "x"), ("dedup.scheme", "y")):
            assert self.ids(engine, index, {"term": {path: value}}) == {"1"}
        assert self.ids(engine, index, {"exists": {"field": "tag"}}) == {"1"}

    def test_a_dotted_name_is_a_path(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"dedup.scheme": "x"}, "2": {"dedup": {"scheme": "x"}}})
        assert self.ids(engine, index, {"term": {"dedup.scheme": "x"}}) == {"1", "2"}

    def test_exists_means_a_value_that_is_not_null(self, engine: Engine, index: str) -> None:
        documents: dict[str, Json] = {
            "text": {"title": "a"}, "number": {"number": 0}, "keys": {"dedup": {"bands": "a"}},
            "null": {"title": None, "dedup": {"bands": None}}, "nothing": {},
        }  # fmt: skip
        self.put(engine, index, documents)
        for path, found in (("title", "text"), ("number", "number"), ("dedup.bands", "keys"), ("dedup", "keys")):
            assert self.ids(engine, index, {"exists": {"field": path}}) == {found}
        assert self.ids(engine, index, {"bool": {"must_not": {"exists": {"field": "dedup.bands"}}}}) == set(
            documents
        ) - {"keys"}

    def test_numbers_and_booleans_are_found_by_value(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"number": 7, "flag": True, "ratio": 0.5}, "2": {"number": "8", "flag": "false"}})
        for path, value, found in (
            ("number", 7, "1"),
            ("number", "7", "1"),
            ("number", 8, "2"),
            ("flag", True, "1"),
            ("flag", False, "2"),
            ("ratio", 0.5, "1"),
        ):
            assert self.ids(engine, index, {"term": {path: {"value": value}}}) == {found}
        assert self.ids(engine, index, {"terms": {"number": [7, 8, 9]}}) == {"1", "2"}

    @pytest.mark.parametrize(
        ("path", "bounds", "found"),
        [
            ("number", {"gte": -5, "lt": 10}, {"0", "1"}),
            ("number", {"gt": 0}, {"2", "3"}),
            ("number", {"lte": 10}, {"0", "1", "2"}),
            ("number", {"gt": 10, "lt": 11}, set()),
            ("ratio", {"gte": -1.5, "lt": 0.25}, {"0", "1"}),
            ("ratio", {"gt": 0.25}, {"3"}),
            ("when", {"gte": "2024-01-01", "lte": "2024-01-31"}, {"1", "2"}),
            ("when", {"lt": "2024-01-01T00:00:00Z"}, {"0"}),
            ("when", {"gt": "2024-01-31"}, {"3"}),
            ("when", {"gt": "2024-01"}, {"2", "3"}),
        ],
        ids=_parameter_id,
    )
    def test_a_range_finds_numbers_and_dates(
        self, engine: Engine, index: str, path: str, bounds: Json, found: set[str]
    ) -> None:
        numbers, ratios = (-5, 0, 10, 2**60), (-1.5, 0.0, 0.25, 1e300)
        dates = ("1969-07-20T20:17:40.5Z", "2024-01-01", "2024-01-31T23:59:59.999Z", "2024-02-01T01:00:00+01:00")
        rows = enumerate(zip(numbers, ratios, dates, strict=True))
        self.put(engine, index, {str(i): {"number": n, "ratio": r, "when": d} for i, (n, r, d) in rows})
        assert self.ids(engine, index, {"range": {path: bounds}}) == found

    def test_prefixes_and_wildcards_find_keywords(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "a.b(c)"}, "2": {"tag": "a.c"}, "3": {"tag": "axb"}})
        assert self.ids(engine, index, {"prefix": {"tag": "a."}}) == {"1", "2"}
        assert self.ids(engine, index, {"wildcard": {"tag": "a?b*"}}) == {"1", "3"}
        assert self.ids(engine, index, {"wildcard": {"tag": {"value": "*(c)"}}}) == {"1"}

    def test_regular_expressions_match_whole_keywords(self, engine: Engine, index: str) -> None:
        tags = ("7", "7.0", "-70e-1", "7.x", "x7.0", "7\n.0", "1E+20")
        self.put(engine, index, {tag: {"tag": tag} for tag in tags})
        fraction = {"regexp": {"tag": "-?[0-9]+[.eE][-+.eE0-9]*"}}
        assert self.ids(engine, index, fraction) == {"7.0", "-70e-1", "1E+20"}
        assert self.ids(engine, index, {"regexp": {"tag": {"value": "7.*|x.+"}}}) == {
            "7",
            "7.0",
            "7.x",
            "7\n.0",
            "x7.0",
        }

    def test_match_finds_any_word_or_all_of_them(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"title": "red fox"}, "2": {"title": "red dog"}, "3": {"title": "grey cat"}})
        assert self.ids(engine, index, {"match": {"title": "RED fox"}}) == {"1", "2"}
        assert self.ids(engine, index, {"match": {"title": {"query": "RED fox", "operator": "and"}}}) == {"1"}
        assert self.ids(engine, index, {"match": {"title": {"query": "red fox cat", "minimum_should_match": 2}}}) == {
            "1"
        }

    def test_many_terms_can_be_asked_for_at_once(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {str(i): {"tag": f"t{i}"} for i in range(40)})
        assert self.ids(engine, index, {"terms": {"tag": [f"t{i}" for i in range(0, 4000, 2)]}}) == {
            str(i) for i in range(0, 40, 2)
        }
        assert self.ids(engine, index, {"ids": {"values": [str(i) for i in range(30, 1030)]}}) == {
            str(i) for i in range(30, 40)
        }

    def test_a_field_that_no_document_has_finds_nothing(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "a"}})
        queries: list[Json] = [{"term": {"none": "a"}}, {"terms": {"none": ["a"]}}, {"exists": {"field": "none"}}]
        for query in queries:
            assert self.ids(engine, index, query) == set()

    # --- replies

    def test_hits_come_in_pages_next_to_their_total(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {str(i): {"dedup": {"bands": " ".join("abcdefghijkl"[: i + 1])}} for i in range(12)})
        query = matching("dedup.bands", *"abcdefghijkl")
        reply = engine.perform(Search(index, {"query": query}))
        assert len(reply["hits"]["hits"]) == 10
        assert reply["hits"]["total"] == {"value": 12, "relation": "eq"}
        assert reply["hits"]["max_score"] == 12
        assert reply["timed_out"] is False
        assert reply["_shards"]["failed"] == 0
        page = engine.perform(Search(index, {"query": query, "size": 3, "from": 2}))["hits"]["hits"]
        assert [hit["_id"] for hit in page] == ["9", "8", "7"]
        none = engine.perform(Search(index, {"query": query, "size": 0}))["hits"]
        assert (none["hits"], none["total"]["value"]) == ([], 12)
        uncounted = engine.perform(Search(index, {"query": query, "track_total_hits": False}))["hits"]
        assert "total" not in uncounted
        assert len(uncounted["hits"]) == 10

    @pytest.mark.parametrize(
        ("source", "part"),
        [
            (True, {"tag": "t", "dedup": {"bands": "a", "scheme": "s"}, "list": [{"x": 1, "y": 2}, {"y": 3}]}),
            (["dedup"], {"dedup": {"bands": "a", "scheme": "s"}}),
            ("dedup.scheme", {"dedup": {"scheme": "s"}}),
            (["*.bands", "tag"], {"tag": "t", "dedup": {"bands": "a"}}),
            (["list.x"], {"list": [{"x": 1}]}),
            ({"excludes": ["dedup.b*", "list"]}, {"tag": "t", "dedup": {"scheme": "s"}}),
            ({"includes": ["dedup"], "excludes": ["dedup.bands"]}, {"dedup": {"scheme": "s"}}),
            (["missing"], {}),
        ],
        ids=str,
    )
    def test_hits_hold_the_part_of_the_source_asked_for(
        self, engine: Engine, index: str, source: Any, part: Json
    ) -> None:
        document = {"tag": "t", "dedup": {"bands": "a", "scheme": "s"}, "list": [{"x": 1, "y": 2}, {"y": 3}]}
        self.put(engine, index, {"1": document})
        [hit] = engine.perform(Search(index, {"query": {"match_all": {}}, "_source": source}))["hits"]["hits"]
        assert hit["_source"] == part

    def test_hits_can_come_without_source(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {"1": {"tag": "t"}})
        [hit] = engine.perform(Search(index, {"query": {"match_all": {}}, "_source": False}))["hits"]["hits"]
        assert "_source" not in hit
        assert (hit["_index"], hit["_id"], hit["_score"]) == (index, "1", 1)

    def test_hits_in_the_order_of_the_index_have_no_scores(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {str(i): {"tag": "t"} for i in range(5)})
        hits = engine.perform(Search(index, {"query": {"match_all": {}}, "sort": ["_doc"]}))["hits"]
        assert sorted(hit["_id"] for hit in hits["hits"]) == list("01234")
        assert {hit["_score"] for hit in hits["hits"]} == {None}
        assert hits["max_score"] is None

    def test_several_searches_are_answered_in_order(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {str(i): {"tag": f"t{i}"} for i in range(3)})
        bodies = [{"query": {"term": {"tag": f"t{i}"}}} for i in (2, 0, 9)]
        replies = engine.perform(MultiSearch(index, bodies))
        assert [[hit["_id"] for hit in reply["hits"]["hits"]] for reply in replies] == [["2"], ["0"], []]
        assert engine.perform(MultiSearch(index, [])) == []

    def test_a_query_of_no_known_kind_is_an_error(self, engine: Engine, index: str) -> None:
        query = {"no_such_query": {"field": "tag"}}
        with pytest.raises(EngineError, match="no_such_query"):
            engine.perform(Search(index, {"query": query}))
        with pytest.raises(EngineError, match="no_such_query"):
            engine.perform(MultiSearch(index, [{"query": {"match_all": {}}}, {"query": query}]))
        with pytest.raises(EngineError, match="no_such_query"):
            engine.perform(Count(index, query))

    # --- texts that are like others

    TEXTS: Mapping[str, str] = {
        "fox": "the quick brown fox jumps over the lazy dog near the river bank",
        "copy": "the quick brown fox leaps over the lazy dog near the river bank",
        "bread": "fresh bread needs flour water salt and the patience of the baker",
        "sea": "the grey sea was calm while ships left the harbour for the north",
        "zh": "近似重复检测用于搜索引擎中的文档",
        "zh copy": "近似重复检测用于搜索引擎里的文档",
    }

    def more_like_this(self, like: Any, **settings: Any) -> Json:
        """Query texts with most of the words of another."""
        usual = {"fields": ["title"], "min_term_freq": 1, "min_doc_freq": 2, "minimum_should_match": "70%"}
        return {"more_like_this": {**usual, "like": like, **settings}}

    def test_copies_are_found_by_their_text(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {id_: {"title": text} for id_, text in self.TEXTS.items()})
        assert self.ids(engine, index, self.more_like_this([self.TEXTS["fox"]])) == {"fox", "copy"}
        assert self.ids(engine, index, self.more_like_this([self.TEXTS["zh"]])) == {"zh", "zh copy"}

    def test_copies_are_found_by_the_id_of_the_original(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {id_: {"title": text} for id_, text in self.TEXTS.items()})
        like = [{"_index": index, "_id": "fox"}]
        assert self.ids(engine, index, self.more_like_this(like)) == {"copy"}
        assert self.ids(engine, index, self.more_like_this(like, include=True)) == {"fox", "copy"}
        document = {"doc": {"title": self.TEXTS["fox"]}, "_index": index}
        assert self.ids(engine, index, self.more_like_this(document, include=True)) == {"fox", "copy"}

    def test_words_must_be_as_frequent_as_asked_for(self, engine: Engine, index: str) -> None:
        self.put(engine, index, {id_: {"title": text} for id_, text in self.TEXTS.items()})
        assert self.ids(engine, index, self.more_like_this("fox", min_doc_freq=3)) == set()
        assert self.ids(engine, index, self.more_like_this("fox", min_term_freq=2)) == set()
        assert self.ids(engine, index, self.more_like_this("fox fox", min_term_freq=2)) == {"fox", "copy"}
        assert self.ids(engine, index, self.more_like_this("bread")) == set()
        assert self.ids(engine, index, self.more_like_this("bread", min_doc_freq=1)) == {"bread"}
