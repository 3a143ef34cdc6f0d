"""What each field of a fingerprint costs the server: bytes, and CPU time of indexing.

English documents of 1.3 kB with a title and a body, and the fields of the default scheme made beforehand. One field is
left out; or all stay in `_source` and none is indexed; or keys are narrower; or the codec compresses more. A refresh
follows the requests, and then a merge to one segment. Bytes are those in addition to the same documents without fields,
by the same codec; CPU times are medians of {rounds} rounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

from benchmarks.corpora import topical
from benchmarks.nodes import CHUNK, SERVERS, SETTINGS, Json, Server, documents_of, running
from benchmarks.tables import Table, side_by_side
from es_simhash import Documents, MinHash, Scheme
from es_simhash.scheme import own_fields

DOCUMENTS, ROUNDS = 10_000, 7
__doc__ = __doc__.format(rounds=ROUNDS)

SOURCES = ["title", "body"]
TEXTS: Json = {name: {"type": "text"} for name in SOURCES}
PLAIN, ALL = "no fields", "all fields"


@dataclass
class Kind:
    """Documents that are indexed in one way, and what they cost so far."""

    documents: Sequence[Json]
    mapping: Json
    codec: str = "default"
    size: int = 0
    seconds: list[float] = field(default_factory=list)

    @cached_property
    def requests(self) -> list[bytes]:
        """The bodies of bulk requests."""
        compact = json.JSONEncoder(separators=(",", ":")).encode
        lines = [f'{{"index":{{"_id":"{i}"}}}}\n{compact(each)}\n'.encode() for i, each in enumerate(self.documents)]
        return [b"".join(lines[i : i + CHUNK]) for i in range(0, len(lines), CHUNK)]


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure both servers."""
    texts = topical(int(DOCUMENTS * share))
    labelled = []
    for name, label in SERVERS.items():
        with running(name) as server:
            labelled.append((label, on_server(server, texts)))
    yield side_by_side("Fields", labelled, f"{len(texts):,} documents.")


def on_server(server: Server, texts: Sequence[str], rounds: int = ROUNDS) -> Table:
    """Measure one server."""
    kinds = _kinds(texts)
    for label in (PLAIN, ALL) * 3:  # lets the server compile what it does often
        _fill(server, kinds[label])
    for kind in kinds.values():
        kind.seconds.clear()
    labels = list(kinds)
    for turn in range(rounds):
        for label in labels[turn % len(labels) :] + labels[: turn % len(labels)]:
            _fill(server, kinds[label], is_last=turn == rounds - 1)
    plain = {kind.codec: kind for label, kind in kinds.items() if label.startswith(PLAIN)}
    table = Table("", ["", "bytes a document", "CPU µs a document", "× no fields"])
    for label, kind in kinds.items():
        base = plain[kind.codec]
        size = (kind.size - base.size) / len(texts)
        cpu, ratio = 1e6 * median(kind.seconds) / len(texts), median(kind.seconds) / median(base.seconds)
        table.add(label, f"{size:.1f}", f"{cpu:.0f}", f"{ratio:.2f}")
    return table


def _kinds(texts: Sequence[str]) -> dict[str, Kind]:
    scheme = Scheme()
    names = own_fields.names(scheme)
    plain = [action["_source"] for action in documents_of(texts)]
    full, mapping = _made(scheme, plain), own_fields.properties(scheme)
    narrow = replace(scheme, minhash=MinHash(key_bits=18))
    kinds = {PLAIN: Kind(plain, TEXTS), ALL: Kind(full, _mapped(mapping))}
    for name in names:
        documents = [{**each, "dedup": _without(name, each["dedup"])} for each in full]
        kinds[f"without `{name}`"] = Kind(documents, _mapped(_without(name, mapping)))
    return kinds | {
        "all in `_source`, none indexed": Kind(full, _mapped({})),
        "keys of 18 bits": Kind(_made(narrow, plain), _mapped(mapping)),
        f"{PLAIN}, best_compression": Kind(plain, TEXTS, "best_compression"),
        f"{ALL}, best_compression": Kind(full, _mapped(mapping), "best_compression"),
    }


def _made(scheme: Scheme, documents: Sequence[Json]) -> list[Json]:
    return list(Documents(scheme, SOURCES).add_fields_to_all(documents))


def _without(name: str, fields: Json) -> Json:
    return {other: value for other, value in fields.items() if other != name}


def _mapped(fields: Json) -> Json:
    return {**TEXTS, "dedup": {"dynamic": "false", "properties": fields}}


def _fill(server: Server, kind: Kind, is_last: bool = False) -> None:
    """Fill a fresh index, and note the server's CPU time; the last time the size, too."""
    index = "field-costs"
    settings = {"index": {**SETTINGS, "codec": kind.codec}}
    server.http("PUT", f"/{index}", {"settings": settings, "mappings": {"properties": kind.mapping}})
    before = server.cpu()
    for request in kind.requests:
        server.http.send("POST", f"/{index}/_bulk?filter_path=errors", request)
    server.http("POST", f"/{index}/_refresh")
    kind.seconds.append(server.cpu() - before)
    if is_last:
        server.merge(index)
        kind.size = server.size(index)
    server.delete(index)
