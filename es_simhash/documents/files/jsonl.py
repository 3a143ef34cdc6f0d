"""JSON lines: one object a line, plain, as exports wrap them, or as the lines of a bulk request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from es_simhash._core.json_codec import loads
from es_simhash._core.json_paths import Json
from es_simhash.documents.files.compression import Stream
from es_simhash.documents.files.data_file import DataFile, Numbered, ReadOptions, RecordError
from es_simhash.documents.files.encodings import decoded
from es_simhash.documents.files.json_values import parse_object
from es_simhash.documents.files.lines import read_lines

_ACTIONS = {"index", "create", "update", "delete"}
_METADATA = {
    "_index", "_id", "_type", "routing", "_routing", "version", "version_type", "_version", "_version_type", "parent",
    "_parent", "pipeline", "op_type", "require_alias", "require_data_stream", "dynamic_templates", "retry_on_conflict",
    "if_seq_no", "if_primary_term", "list_executed_pipelines", "_source",
}  # fmt: skip


def read_jsonl(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the records of a file of JSON lines; skip blank lines."""
    objects = _objects(file, stream)
    first = next(objects, None)
    if first is None:
        return
    objects = chain([first], objects)
    yield from sources_of_bulk(file, objects) if is_action(first[1]) else objects


def _objects(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    options = file.options
    begun = False
    for number, line in read_lines(file, stream):
        raw = line.strip()
        if not raw:
            continue
        try:
            record = read_line(raw, options)
        except RecordError as bad:
            if not begun and raw in {b"{", b"["}:
                file.reject(number, "JSON over several lines begins here. Make it one line a document: jq -c .", raw)
                return
            file.reject(number, str(bad), raw)
        else:
            yield number, record
        begun = True


def read_line(raw: bytes, options: ReadOptions) -> Json:
    """Read a line as an object: what is not UTF-8, or no object, is read strictly, which says what is wrong."""

    def strictly(_: object) -> Json:
        return parse_object(decoded(raw, options))

    record = loads(raw, strictly) if options.line_encoding == "utf-8" else None
    return record if type(record) is dict else strictly(raw)


def is_action(record: Json) -> bool:
    """Return whether an object is the action line of a bulk request."""
    if len(record) != 1 or not _ACTIONS.issuperset(record):
        return False
    [metadata] = record.values()
    return isinstance(metadata, dict) and _METADATA.issuperset(metadata)


def sources_of_bulk(file: DataFile, objects: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield the documents that a bulk request indexes or creates, with id and routing beside them as in search hits.

    Updates and deletes are rejected, since they make no whole document.
    """
    pending: tuple[int, Json] | None = None
    for number, record in objects:
        if is_action(record):
            _reject_incomplete(file, pending)
            pending = (number, record)
            if "delete" in record:
                file.reject(number, "The action deletes a document. Give only documents to index.", record)
                pending = None
        elif pending is None:
            file.reject(number, "There is no action before this line of a bulk request. Put it in front.", record)
        else:
            [(action, metadata)] = pending[1].items()
            pending = None
            if action == "update":
                file.reject(number, "The line updates a part of a document. Give whole documents to index.", record)
            else:
                routing = metadata.get("routing", metadata.get("_routing"))
                yield number, {"_id": metadata.get("_id"), "_routing": routing, "_source": record}
    _reject_incomplete(file, pending)


def _reject_incomplete(file: DataFile, action: tuple[int, Json] | None) -> None:
    if action is not None:
        file.reject(action[0], "The document of this action is missing. Put it on the next line.", action[1])
