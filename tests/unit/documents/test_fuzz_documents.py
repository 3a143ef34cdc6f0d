"""Documents, actions and answers of any form: what can be used is used, all else is refused, and nothing is altered."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from es_simhash.cli.reports.dashboards import Subject, ndjson, saved_objects
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import Rejected
from es_simhash.documents.stored_scripts import pipeline
from es_simhash.errors import EsSimhashError
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from tests.support.fuzzing import check_message, damaged, json_values, nested, one_in

DOCUMENTS = Documents(Scheme(), ["title", "body.text"])
KEYS = ("title", "body", "text", "body.text", "dedup", "_source", "doc", "script", "upsert", "doc_as_upsert")
ACTIONS = [
    {"_op_type": "index", "_id": "1", "_source": {"title": "a storm", "body": {"text": ["hit", "the coast"]}}},
    {"_op_type": "update", "_id": "2", "doc": {"title": "a storm", "body": {"text": "hit"}}, "doc_as_upsert": True},
    {"_op_type": "update", "_id": "3", "script": {"source": "ctx.op = 'none'"}, "upsert": {"title": "a storm"}},
    {"_op_type": "delete", "_id": "4"},
    {"_index": "docs", "title": "a storm"},
]
contents = json_values(KEYS)


class TestActions:
    @given(actions=st.lists(st.sampled_from(ACTIONS).flatmap(lambda action: damaged(action, contents)) | contents))
    def test_each_is_given_its_fields_or_rejected_and_none_is_altered(self, actions: list[Any]) -> None:
        # If all lack a text, none comes back.
        actions.append(ACTIONS[0])
        before = repr(actions)
        rejected: list[Rejected] = []
        made = list(DOCUMENTS.actions(actions, rejected.append))
        assert len(made) + len(rejected) == len(actions)
        assert [each.position for each in rejected] == sorted({each.position for each in rejected})
        assert all(each.reason.endswith(".") for each in rejected)
        assert repr(actions) == before

    @given(document=st.dictionaries(st.sampled_from(KEYS), contents))
    def test_a_document_keeps_all_that_it_has(self, document: dict[str, Any]) -> None:
        before = copy.deepcopy(document)
        try:
            made = DOCUMENTS.add_fields(document)
        except EsSimhashError as error:
            check_message(error)
        else:
            assert made["dedup"]["scheme"] == DOCUMENTS.scheme.id
            assert repr({**before, **made, "dedup": None}) == repr({**before, "dedup": None})
        assert repr(document) == repr(before)

    def test_one_that_is_nested_too_deeply_is_refused_or_read(self) -> None:
        rejected: list[Rejected] = []
        made = list(DOCUMENTS.actions([{"title": "a", "body": {"text": nested()}}, {"title": "b"}], rejected.append))
        assert len(made) + len(rejected) == 2


names = st.text(min_size=1, max_size=10) | st.sampled_from(["a.b", "'); ctx.op='none", "\\", '"', "\u2028", "*"])


class TestWhatServersAreGiven:
    @one_in(4)
    @given(fields=st.lists(names, min_size=1, max_size=3), preset=st.sampled_from(sorted(PRESETS)))
    def test_a_pipeline_is_json_or_is_refused(self, fields: list[str], preset: str) -> None:
        try:
            made = pipeline("docs", Documents(Scheme.preset(preset), fields))
        except EsSimhashError as error:
            check_message(error)
        else:
            parameters = json.loads(json.dumps(made, allow_nan=False))["processors"][0]["script"]["params"]
            assert [".".join(names) for names in parameters["sources"]] == fields

    @one_in(4)
    @given(index=names, date=st.none() | names, by=st.none() | names, texts=st.lists(names, max_size=2))
    def test_a_dashboard_is_lines_of_json(self, index: str, date: str | None, by: str | None, texts: list[str]) -> None:
        made = saved_objects(Subject(index, date_field=date, by_field=by, text_fields=tuple(texts)))
        assert [json.loads(line) for line in ndjson(made).strip("\n").split("\n")] == made
