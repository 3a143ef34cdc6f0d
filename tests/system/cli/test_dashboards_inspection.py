"""What an index says of its own dashboard, and which fields are refused for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.cli.reports.dashboards import Copied, Inspection, Subject, inspect_index
from es_simhash.documents.decisions import Decision
from es_simhash.engines.base import Engine, run
from es_simhash.errors import MappingError
from es_simhash.index import Index
from es_simhash.plans.decided import forget
from es_simhash.plans.operations import PutMapping
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus
from tests.support.whole_indices import FIELDS

MAPPINGS = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "source": {"properties": {"site": {"type": "keyword"}, "fetched": {"type": "date"}}},
        "number": {"type": "long"},
    }
}


@pytest.fixture
def made(engine: Engine, names: Callable[[], str]) -> Callable[[str], Index]:
    """A maker of indices with three documents, two of them equal."""

    def make(preset: str) -> Index:
        index = Index(names(), engine, scheme=Scheme.preset(preset), fields=FIELDS)
        index.init(create={"mappings": MAPPINGS})
        first, second = corpus(2)
        index.add([{"_id": "1", **first}, {"_id": "2", **second}, {"_id": "3", **first}], refresh=True)
        return index

    return make


def group(index: Index) -> None:
    with index.group() as found:
        index.write_groups(found)
    index.refresh()


def looked(index: Index, date: str | None = None, by: str | None = None) -> Inspection:
    return run(inspect_index(Subject(index.name, date_field=date, by_field=by)), index.engine)


@pytest.mark.parametrize(("preset", "measure"), [("default", "similarity"), ("strict", "distance")])
def test_the_measure_and_the_texts_are_those_of_the_scheme(
    made: Callable[[str], Index], preset: str, measure: str
) -> None:
    index = made(preset)
    before = looked(index)
    assert (before.grouped, before.subject.measure) == (0, measure)
    group(index)
    found = looked(index, "source.fetched", "source.site")
    assert (found.grouped, found.subject.measure, found.subject.text_fields) == (2, measure, FIELDS[:1])
    assert (found.subject.date_field, found.subject.by_field) == ("source.fetched", "source.site")


def test_fields_that_were_named_are_shown_instead_of_the_texts(made: Callable[[str], Index]) -> None:
    index = made("default")
    subject = Subject(index.name, text_fields=("number",))
    assert run(inspect_index(subject), index.engine).subject.text_fields == ("number",)


@pytest.mark.parametrize(
    ("of", "by", "copied"),
    [
        ({}, "source.site", None),
        ({"source": {"properties": {"site": {"type": "keyword"}}}}, None, Copied("source.site", "source.site")),
        ({"number": {"type": "long"}, "body": {"type": "keyword"}}, "body.raw", Copied("body", "body.raw")),
        ({"number": {"type": "long"}}, "source.site", Copied("number", "number")),
        ({"body": {"properties": {"raw": {"type": "keyword"}}}}, None, Copied("body.raw", "body.raw")),
        ({"source": {"properties": {"fetched": {"type": "date"}}}}, None, None),
        ({"title": {"type": "keyword"}}, None, None),
    ],
)
def test_the_field_of_canonical_documents_is_that_of_the_breakdown_or_else_the_first_that_can_be_counted(
    made: Callable[[str], Index], of: Json, by: str | None, copied: Copied | None
) -> None:
    index = made("default")
    group(index)
    own = {"properties": {"of": {"properties": of}, "lag_days": {"type": "float"}}} if of else {}
    index.engine.perform(PutMapping(index.name, {"properties": {"dedup": own}} if of else {}))
    found = looked(index, by=by).subject
    assert found.copied == copied
    assert found.has_lag == bool(of)


def test_the_decisions_of_people_are_looked_up_by_the_name_that_they_have_for_the_index(
    made: Callable[[str], Index],
) -> None:
    index = made("default")
    assert looked(index).subject.decided == ()
    index.decide([Decision.about("2", "alone")])
    assert looked(index).subject.decided == (index.name,)
    run(forget(index.name, "dedup", [(index.name, "2")]), index.engine)


@pytest.mark.parametrize("by", ["source.site", "body.raw", "number", "_index"])
def test_a_field_that_can_be_aggregated_is_accepted(made: Callable[[str], Index], by: str) -> None:
    assert looked(made("default"), by=by).subject.by_field == by


@pytest.mark.parametrize(
    ("date", "by", "message"),
    [
        ("fetched", None, "has no field 'fetched'"),
        ("number", None, "holds no dates, but long"),
        ("source", None, "holds no dates, but object"),
        (None, "sites", "has no field 'sites'"),
        (None, "source", "of the type object"),
        (None, "title", "Name one with keywords"),
        (None, "body", "Name 'body.raw'"),
    ],
)
def test_a_field_that_would_leave_a_chart_empty_is_refused(
    made: Callable[[str], Index], date: str | None, by: str | None, message: str
) -> None:
    index = made("default")
    with pytest.raises(MappingError, match=message):
        looked(index, date, by)


def test_an_index_without_fingerprints_is_refused(made: Callable[[str], Index]) -> None:
    index = made("default")
    with pytest.raises(MappingError, match="no fields of fingerprints under 'titles'"):
        run(inspect_index(Subject(index.name, "titles")), index.engine)
