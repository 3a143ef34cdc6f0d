from __future__ import annotations

from typing import Any

from es_simhash.cli.jobs.file_texts import AbsentFields
from es_simhash.documents.files import FileDocument


def found(document: dict[str, Any]) -> FileDocument:
    return FileDocument("1", document, "a.jsonl", 1)


def test_fields_that_no_document_has_are_named() -> None:
    absent = AbsentFields(["title", "meta.text", "bdoy"])
    absent.check(found({"title": None}))
    absent.check(found({"meta": {"text": "x"}, "body": "y"}))
    assert absent.paths == ["bdoy"]
    assert absent.warning.startswith("Warning: no document has the field bdoy.")


def test_there_is_nothing_to_say_when_all_are_there_or_nothing_was_read() -> None:
    absent = AbsentFields(["title"])
    assert absent.warning == ""
    absent.check(found({"title": "x"}))
    assert absent.warning == ""
