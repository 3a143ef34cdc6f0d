"""Pages of readers: what is asked for, and where a slice begins and ends."""

from __future__ import annotations

from dataclasses import replace

from es_simhash._core.json_codec import Json
from es_simhash.plans.operations import Reader, ReadPage, Slice
from tests.unit.engines.rest.test_operations import converse


def page_of(*places: int) -> Json:
    found = [{"_index": "index", "_id": str(place), "sort": [place]} for place in places]
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return {"pit_id": "next", "_shards": shards, "hits": {"hits": found}}


def test_whole_documents_are_asked_for_without_leaving_parts_out() -> None:
    [request], page = converse(
        ReadPage(Reader("elasticsearch", "index", "id"), {}, 10, ["a"], after=3, whole=True), page_of(4, 5)
    )
    assert isinstance(request.body, dict)
    assert (request.body["_source"], request.body["search_after"]) == (True, [3])
    assert (page.after, page.reader.id) == (5, "next")


def test_a_slice_of_opensearch_is_what_lies_between_two_places() -> None:
    second = 1 << 32
    reader = Reader("opensearch", "index", "id")
    asked = ReadPage(reader, {"q": 1}, 10, ["a"], Slice(1, 4))
    (last, first), page = converse(asked, page_of(second + 99), page_of(50, 60))
    assert isinstance(last.body, dict)
    assert isinstance(first.body, dict)
    assert (last.body["sort"], last.body["size"]) == ([{"_shard_doc": "desc"}], 1)
    assert "slice" not in first.body
    assert (first.body["search_after"], first.body["query"]) == ([49], {"q": 1})
    assert [hit["_id"] for hit in page.hits] == ["50", "60"]
    [behind], over = converse(replace(asked, after=page.after), page_of(61, second - 1, second, second + 1))
    assert isinstance(behind.body, dict)
    assert behind.body["search_after"] == [60]
    assert [hit["_id"] for hit in over.hits] == ["61", str(second - 1)]
    requests, nothing = converse(replace(asked, after=over.after))
    assert (requests, nothing.hits) == ([], [])


def test_slices_of_an_empty_index_are_empty() -> None:
    asked = ReadPage(Reader("opensearch", "index", "id"), {}, 10, True, Slice(1, 2))
    requests, page = converse(asked, page_of())
    assert (len(requests), page.hits) == (1, [])
