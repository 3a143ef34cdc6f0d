""""""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.cli.jobs.files import NamedFields, read_texts
from es_simhash.documents.files import FileDocument
from es_simhash.documents.sources import MOST_WITHOUT_TEXT
from es_simhash.errors import DocumentError
from es_simhash.groups.canonical import Canonical
from es_simhash.scheme.scope import Scope


def found(document: dict[str, Any], line: int = 1) -> FileDocument:
    return FileDocument(str(line), document, "a.jsonl", line)


def read(named: NamedFields, fields: list[str], *documents: dict[str, Any]) -> list[str]:
    each = (found(document, line) for line, document in enumerate(documents, 1))
    return [text for _, text in named.checked(read_texts(each, fields, lambda _: None, named))]


def test_a_field_that_no_document_has_is_named_where_others_have_texts() -> None:
    fields = ["title", "meta.text", "bdoy"]
    named = NamedFields(fields)
    read(named, fields, {"title": None}, {"meta": {"text": "x"}, "body": "y"})
    assert named.warning.startswith(
        "Warning: no document has the field bdoy. They have: title, meta, body. Did you mean 'body'"
    )


def test_there_is_nothing_to_say_when_all_are_there() -> None:
    named = NamedFields(["title"])
    read(named, ["title"], {"title": "x"})
    assert named.warning == ""
    assert named.without_text.sentence == ""


def test_documents_without_any_of_the_fields_stop_the_run() -> None:
    with pytest.raises(
        DocumentError, match=r"None of 2 documents has the field headline.*: headlin, id\. Did you mean 'headlin'"
    ):
        read(NamedFields(["headline"]), ["headline"], {"headlin": "x"}, {"id": 1})


def test_documents_whose_texts_are_all_empty_stop_the_run() -> None:
    with pytest.raises(DocumentError, match=r"2 documents have no text to compare: a\.jsonl:1, a\.jsonl:2\."):
        read(NamedFields([]), [], {"views": 1}, {"title": ""})


def test_no_document_at_all_stops_the_run() -> None:
    with pytest.raises(DocumentError, match="No document could be read"):
        read(NamedFields([]), [])


def test_an_endless_stream_without_texts_ends() -> None:
    def endless() -> Any:
        while True:
            yield found({"headlin": "x"})

    named = NamedFields(["headline"])
    with pytest.raises(DocumentError, match="None of the first 1,000 documents"):
        list(read_texts(endless(), ["headline"], lambda _: None, named))
    assert named.count == MOST_WITHOUT_TEXT


@pytest.mark.parametrize(
    "named",
    [
        NamedFields(["title"], Scope(within=("tenat",))),
        NamedFields(["title"], None, Canonical.oldest("published")),
        NamedFields(["title"], None, None, "day"),
    ],
)
def test_a_field_of_the_scope_or_of_dates_that_no_document_has_stops_the_run(named: NamedFields) -> None:
    with pytest.raises(DocumentError, match=r"None of 1 document has the field \w+\. They have: title, tenant"):
        read(named, ["title"], {"title": "x", "tenant": "y"})


def test_documents_without_a_text_are_counted_and_named() -> None:
    named = NamedFields(["title"])
    read(named, ["title"], {"title": "x"}, {"other": "y"}, {"title": " "})
    assert named.without_text.count == 2
    assert named.without_text.sentence == "2 documents have no text to compare: a.jsonl:2, a.jsonl:3."
