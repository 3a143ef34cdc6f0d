"""The lines of a bulk request: an action, then, unless it deletes, a line with the document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from es_simhash.documents.files.data_file import DataFile
from es_simhash.documents.files.records import Numbered, Record

_ACTIONS = {"index", "create", "update", "delete"}
_METADATA = {
    "_index", "_id", "_type", "routing", "_routing", "version", "version_type", "_version", "_version_type", "parent",
    "_parent", "pipeline", "op_type", "require_alias", "require_data_stream", "dynamic_templates", "retry_on_conflict",
    "if_seq_no", "if_primary_term", "list_executed_pipelines", "_source",
}  # fmt: skip


def is_action(record: Record) -> bool:
    """Whether an object is the action line of a bulk request."""
    if len(record) != 1 or not _ACTIONS.issuperset(record):
        return False
    [metadata] = record.values()
    return isinstance(metadata, dict) and _METADATA.issuperset(metadata)


def sources_of_bulk(file: DataFile, objects: Iterable[Numbered]) -> Iterator[Numbered]:
    """The documents that a bulk request indexes or creates, each with id and routing beside it as in a search hit.

    Updates and deletes are rejected, since they make no whole document.
    """
    objects = iter(objects)
    pending: Numbered | None = None
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


def _reject_incomplete(file: DataFile, action: Numbered | None) -> None:
    if action is not None:
        file.reject(action[0], "The document of this action is missing. Put it on the next line.", action[1])
