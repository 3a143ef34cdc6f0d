"""Where histories take place: an index as it is made, and as it is found in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import name_of
from es_simhash.engines.base import driven
from es_simhash.errors import MissingError
from es_simhash.plans.decided import forget
from es_simhash.plans.operations import Action, Bulk, CreateIndex, DeleteIndex
from es_simhash.scheme import mapping as notes
from es_simhash.scheme.scheme import Scheme
from tests.support.rest_engines import new_name
from tests.system.histories.generations import Generations
from tests.system.histories.history import History, Start
from tests.system.histories.others import FIELDS, SECRET, Others, id_of
from tests.system.histories.target import Target

DOCUMENTS = Documents(Scheme.preset("default"), FIELDS)
_OWNER = {"owner": "somebody"}
# The title may be anything, as a server takes it that does not look into it.
_PROPERTIES: Json = {
    "title": {"type": "object", "enabled": False},
    "body": {"type": "text"},
    "number": {"type": "long"},
    "tag": {"type": "keyword"},
    "id": {"type": "keyword"},
    SECRET: {"type": "keyword"},
}


@dataclass(frozen=True)
class State:
    """What a server has in the end: documents as hits, the searches that find each, the mapping and the settings.

    Of ids that are there ``twice``, in different indices, the hits have one document.
    """

    hits: Mapping[str, Json]
    twice: Collection[str]
    mapping: Json
    settings: Json

    @property
    def foreign_mapping(self) -> Json:
        """The mapping without what we add to it."""
        ours = (DOCUMENTS.prefix, notes.HOME)
        properties = {name: field for name, field in self.mapping["properties"].items() if name not in ours}
        meta = {name: value for name, value in self.mapping["_meta"].items() if name != "es_simhash"}
        return {**self.mapping, "properties": properties, "_meta": meta}

    @property
    def notes(self) -> Json:
        """What runs have noted in the mapping."""
        names = notes.names(self.mapping)
        return {name: notes.note(self.mapping, name) for name in names if not notes.is_prefix(name)}


@contextmanager
def index_of(history: History, target: Target) -> Iterator[Others]:
    """An index with the documents of a history, and the others who write to it."""
    others = Others(target, new_name(), DOCUMENTS, history.shape.excludes and target.is_server)
    body, half = _body(history, others), len(history.documents) // 2
    if history.shape.behind == "index":
        target.perform(CreateIndex(others.index, body))
    else:
        others.generations = Generations(target, others.index, body, history.shape.behind == "stream")
        others.generations.begin()
    try:
        _write(others, history.documents[:half], 0)
        # The source of a copy is one index at first.
        if others.generations and history.verb != "reindex":
            others.generations.roll_over()
        _write(others, history.documents[half:], half)
        target.settle(others.index)
        yield others
    finally:
        if history.verb == "decide":
            about = [(others.index, id_) for id_, _ in others.by_id()]
            driven(forget(others.index, DOCUMENTS.prefix, about), target.perform)
        if others.generations:
            others.generations.end()
        else:
            target.perform(DeleteIndex(others.index))
        if history.verb == "reindex":
            with suppress(MissingError):
                target.perform(DeleteIndex(others.copy))
        elif history.verb == "pipeline":
            target.request("DELETE", f"/_ingest/pipeline/{name_of(others.index, DOCUMENTS.prefix)}")


def _write(others: Others, starts: Sequence[Start], first: int) -> None:
    """Write documents as they are at the start, with numbers from the first."""
    actions = []
    for number, start in enumerate(starts, first):
        source, routing = others.begin(number, start)
        metadata = None if routing is None else {"routing": routing}
        actions.append(Action("create", id_of(number), source, metadata=metadata))
    results = others.target.perform(Bulk(others.index, actions, refresh=True))
    assert not [result.error for result in results if result.error]


def _body(history: History, others: Others) -> Json:
    shape = history.shape
    ours = DOCUMENTS.scheme.mapping(DOCUMENTS.prefix, DOCUMENTS.fields)
    mapping = {
        **({"_source": {"excludes": [SECRET]}} if others.has_secrets else {}),
        "dynamic": shape.dynamic,
        "_meta": {**_OWNER, **ours["_meta"]},
        "properties": {**_PROPERTIES, **ours["properties"]},
    }
    refresh = {"refresh_interval": "10ms" if shape.refreshes else "-1"}
    settings = {"number_of_shards": shape.shards, "number_of_replicas": shape.replicas, **refresh}
    if shape.replicas:
        settings["unassigned.node_left.delayed_timeout"] = "0s"
    return {"settings": settings, "mappings": mapping}


def state_of(others: Others, name: str) -> State | None:
    """The documents of an index with what finds them, its mapping and settings, asked of the node; None without it."""
    request = others.target.request
    if request("POST", f"/{name}/_refresh").status == HTTPStatus.NOT_FOUND:
        return None
    searches = [{"term": {field: {"value": value, "_name": f"{field} {id_}"}}} for id_, field, value in others.values()]
    everything: Json = {"match_all": {}}
    body = {"size": 1000, "seq_no_primary_term": True, "version": True}
    found = request("POST", f"/{name}/_search", {**body, "query": {"bool": {"must": everything, "should": searches}}})
    # Of generations, the first.
    about = min(request("GET", f"/{name}").body.items())[1]
    hits = {hit["_id"]: hit for hit in found.body["hits"]["hits"]}
    counts = Counter(hit["_id"] for hit in found.body["hits"]["hits"])
    twice = {id_ for id_, count in counts.items() if count > 1}
    return State(hits, twice, about["mappings"], about["settings"]["index"])
