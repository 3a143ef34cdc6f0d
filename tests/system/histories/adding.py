"""`Index.add` as a command of histories: actions of all kinds on documents of its own, and what they come to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TypeAlias

from es_simhash._core.json_codec import Json
from es_simhash.cli.show import output
from es_simhash.documents.documents import Documents
from es_simhash.index import Index
from es_simhash.scheme.own_fields import DEFERRED
from tests.support.commands import Run
from tests.system.histories.history import Behind

# A document after each of the actions on it: its source and our fields, or None where it is not there.
States: TypeAlias = list[tuple[Json, Json] | None]


@dataclass
class Added:
    """What actions come to, one after the other: the documents that are there then, and those that are refused, since
    there is such a document already; ``states`` are those of each document after the actions on it.
    """

    documents: Documents
    sources: dict[str, Json] = field(default_factory=dict)
    fields: dict[str, Json] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    states: defaultdict[str, States] = field(default_factory=lambda: defaultdict(list))

    def add(self, action: Json) -> None:
        """Do the next action."""
        kind, id_ = action["_op_type"], action["_id"]
        if kind == "delete":
            del self.sources[id_]
        elif kind == "create" and id_ in self.sources:
            self.refused.add(id_)
        elif kind == "update":
            self.sources[id_] = {**self.sources[id_], **action["doc"]}
            self.fields[id_] = {"status": DEFERRED}
        else:
            self.sources[id_] = action["_source"]
            self.fields[id_] = self.documents.add_fields(action["_source"])[self.documents.prefix]
        self.states[id_].append((self.sources[id_], self.fields[id_]) if id_ in self.sources else None)


def added(documents: Documents, actions: Iterable[Json]) -> Added:
    """What actions come to."""
    all_ = Added(documents)
    for action in actions:
        all_.add(action)
    return all_


def actions(sources: Iterable[Json], behind: Behind = "index") -> Iterator[Json]:
    """The documents to add: each one whose text can be read; then every second is updated, created again, or deleted.

    An alias that rolls over takes as new what an earlier generation has; a data stream takes new documents only.
    """
    given = [source for source in sources if isinstance(source["title"], str)]
    for source in given:
        yield {"_op_type": "create" if behind == "stream" else "index", "_id": source["id"], "_source": source}
    for position, source in enumerate(given if behind != "stream" else ()):
        match position % 6:
            case 1:
                yield {"_op_type": "update", "_id": source["id"], "doc": {"body": f"{source['body']} again"}}
            case 3 if behind == "index":
                yield {"_op_type": "create", "_id": source["id"], "_source": source}
            case 5:
                yield {"_op_type": "delete", "_id": source["id"]}


def run(index: str, file: str, rejects: str, patience: str, behind: Behind, *target: str, **_: object) -> Run:
    """Add the documents of a file; the arguments and the result are those of a command."""
    url = target[1]
    try:
        with Index(index, url) as opened:
            given = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
            written = opened.add(actions(given, behind), patience=float(patience))
    except BaseException as error:
        with redirect_stderr(StringIO()) as said:
            code = output.code_of(error, debug=False)
        return Run(code, "", said.getvalue())
    with open(rejects, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(one.to_json()) + "\n" for one in written.rejected)
    summary = {"written": written.done, "rejected": written.refused}
    code = output.after(written.refused, sum(one.may_pass for one in written.rejected))
    return Run(code, json.dumps(summary), "")
