"""`Index.add` as a command of histories: actions of all kinds on documents of its own, and what they come to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from es_simhash.cli import exits
from es_simhash.documents import Documents
from es_simhash.fields import DEFERRED, Json
from es_simhash.index import Index
from tests.commands import Run

_PATIENCE = 0.2


@dataclass
class Added:
    """What actions come to, one after the other: the documents that are there then, and those that are refused, since
    there is such a document already.
    """

    documents: Documents
    sources: dict[str, Json] = field(default_factory=dict)
    fields: dict[str, Json] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def add(self, action: Json) -> None:
        """Do the next action."""
        kind, id_ = action["_op_type"], action["_id"]
        if kind == "delete":
            del self.sources[id_]
        elif kind == "create":
            self.refused.add(id_)
        elif kind == "update":
            self.sources[id_] = {**self.sources[id_], **action["doc"]}
            self.fields[id_] = {"status": DEFERRED}
        else:
            self.sources[id_] = action["_source"]
            self.fields[id_] = self.documents.add_fields(action["_source"])[self.documents.prefix]


def actions(sources: dict[str, Json]) -> tuple[list[Json], list[Json]]:
    """What is added: each document; and then, every second of them updated, created once more, or deleted."""
    changes: list[Json] = []
    for place, (id_, source) in enumerate(sources.items()):
        match place % 6:
            case 1:
                changes.append({"_op_type": "update", "_id": id_, "doc": {"body": f"{source['body']} again"}})
            case 3:
                changes.append({"_op_type": "create", "_id": id_, "_source": source})
            case 5:
                changes.append({"_op_type": "delete", "_id": id_})
    return [{"_op_type": "index", "_id": id_, "_source": source} for id_, source in sources.items()], changes


def readable(given: Iterable[Json]) -> dict[str, Json]:
    """Those of some documents whose text can be read, by their ids."""
    return {each["id"]: each for each in given if isinstance(each["title"], str)}


def run(index: str, file: str, rejects: str, *target: str, **_: object) -> Run:
    """Add the documents of a file; the arguments and the result are those of a command."""
    url = target[1]
    try:
        with Index(index, url) as opened:
            given = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
            # In two calls: in one, an action that is refused for now comes after another on the same document.
            written, changed = (opened.add(each, patience=_PATIENCE) for each in actions(readable(given)))
    except BaseException as error:
        with redirect_stderr(StringIO()) as said:
            code = exits.code_of(error, debug=False)
        return Run(code, "", said.getvalue())
    rejected = [*written.rejected, *changed.rejected]
    with open(rejects, "w", encoding="utf-8") as out:
        out.writelines(json.dumps({"id": one.id, "reason": one.reason}) + "\n" for one in rejected)
    summary = {"written": written.done + changed.done, "rejected": len(rejected)}
    return Run(int(bool(rejected)), json.dumps(summary), "")
