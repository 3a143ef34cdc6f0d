"""Texts that contain one another: what is found by keys of passages, and what that costs.

{documents:,} texts of 400 words in English, Chinese and Japanese, two fifths of them within one of {frames} frames of
{frame} words; and {pairs} planted pairs a kind and language. 1% to 5% of the words that both have are replaced,
inserted or deleted, except in chunks. What contains the inner text is searched for, and what the outer one contains.
`more_like_this` finds what is among its first ten hits.
Passages have {english} words, and {others} in Chinese and Japanese. Elasticsearch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from benchmarks.measuring import Latency, in_turns
from benchmarks.nodes import SETTINGS, Json, Server, running
from benchmarks.quoted import FRAME, FRAMES, Language, Maker, Pair, languages
from benchmarks.tables import Table
from es_simhash import Documents, Index, Matches, Passages, Scheme
from es_simhash.plans.find_options import Relation

DOCUMENTS, WORDS, PAIRS, QUERIES, ROUNDS, TURNS = 30_000, 400, 60, 60, 3, 7
TOP = 10
PLAIN = "default"
ENGLISH, OTHERS = Passages().words, 10
RELATIONS: tuple[Relation, ...] = ("containing", "contained")
__doc__ = __doc__.format(documents=DOCUMENTS, frames=FRAMES, frame=FRAME, pairs=PAIRS, english=ENGLISH, others=OTHERS)


@dataclass(frozen=True)
class Planted:
    """A pair of a kind in a language, as texts, and the ids that they have in an index."""

    kind: str
    inner: str
    outer: str
    id: str


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on one server."""
    with running("elasticsearch") as server:
        yield from on_server(server, share)


def on_server(server: Server, share: float) -> Iterator[Table]:
    """Measure on a running server."""
    costs = Table("Cost of keys of passages", _COST_COLUMNS)
    latencies: dict[str, Latency] = {}
    for language in languages():
        maker = Maker(language)
        texts = [language.text(maker.words(WORDS)) for _ in range(max(int(DOCUMENTS * share) // 3, 200))]
        planted = list(_planted(language, maker, max(int(PAIRS * share), 5)))
        schemes = _schemes(language)
        indices = {
            name: _filled(server, f"{name}-{language.name}".lower(), scheme, texts, planted)
            for name, scheme in schemes.items()
        }
        yield _found(server, language, indices, planted)
        costs.add(*_cost(server, language, schemes, indices, texts))
        if not latencies:
            latencies = _latencies(server, indices, planted)
        for index in indices.values():
            server.delete(index.name)
    yield costs
    yield _searches(latencies)


def _schemes(language: Language) -> dict[str, Scheme]:
    words = ENGLISH if language.gap else OTHERS
    return {PLAIN: Scheme(), "passages": Scheme(passages=Passages(words=words))}


def _planted(language: Language, maker: Maker, count: int) -> Iterator[Planted]:
    for place, (kind, make) in enumerate(maker.kinds.items()):
        for number in range(count):
            pair: Pair = make()
            yield Planted(kind, language.text(pair.inner), language.text(pair.outer), f"{place}-{number}")


def _filled(server: Server, name: str, scheme: Scheme, texts: Sequence[str], planted: Sequence[Planted]) -> Index:
    index = Index(name, server.client, scheme=scheme, fields=["body"])
    index.init(create={"settings": {"index": SETTINGS}, "mappings": {"properties": {"body": {"type": "text"}}}})
    bodies = {str(number): text for number, text in enumerate(texts)}
    bodies |= {f"{each.id}-{side}": text for each in planted for side, text in _sides(each)}
    actions = ({"_id": id_, "_source": {"body": text}} for id_, text in bodies.items())
    server.fill(name, index.documents.actions(actions))
    server.merge(name)
    return index


def _sides(planted: Planted) -> Iterator[tuple[str, str]]:
    yield from (("inner", planted.inner), ("outer", planted.outer))


def _found(server: Server, language: Language, indices: dict[str, Index], planted: Sequence[Planted]) -> Table:
    """Return the share of the pairs of each kind that are found, in each direction."""
    ways = ("", "more_like_this, ", "candidates, ")
    columns = ["", *(f"{way}{relation}" for way in ways for relation in RELATIONS)]
    table = Table(f"Pairs found, {language.name}", columns)
    for kind in dict.fromkeys(each.kind for each in planted):
        pairs = [each for each in planted if each.kind == kind]
        found = {name: [_searched(indices["passages"], each, name) for each in pairs] for name in RELATIONS}
        alike = [mean(_alike(server, indices[PLAIN].name, each, name) for each in pairs) for name in RELATIONS]
        recalls = [mean(is_found for is_found, _ in found[name]) for name in RELATIONS]
        candidates = [mean(matches.candidates for _, matches in found[name]) for name in RELATIONS]
        shares = [f"{recall:.3f}" for recall in (*recalls, *alike)]
        table.add(kind, *shares, *(f"{count:.1f}" for count in candidates))
    return table


def _asked(planted: Planted, relation: Relation) -> tuple[str, str]:
    """Return the id that is searched for, and the one to find."""
    ends = ("inner", "outer") if relation == "containing" else ("outer", "inner")
    return f"{planted.id}-{ends[0]}", f"{planted.id}-{ends[1]}"


def _searched(index: Index, planted: Planted, relation: Relation) -> tuple[bool, Matches]:
    asked, wanted = _asked(planted, relation)
    matches = index.find(id=asked, relation=relation, size=100)
    return any(match.id == wanted for match in matches), matches


def _alike(server: Server, index: str, planted: Planted, relation: Relation) -> bool:
    text = planted.inner if relation == "containing" else planted.outer
    like: Json = {"fields": ["body"], "like": [text], "min_term_freq": 1, "min_doc_freq": 2}
    body: Json = {"query": {"more_like_this": {**like, "max_query_terms": 50}}, "size": TOP + 1, "_source": False}
    _, wanted = _asked(planted, relation)
    return any(hit["_id"] == wanted for hit in server.hits(index, body))


_COST_COLUMNS = ("", "bytes a document, default", "passages", "keys a document", "µs a document, default", "passages",
                 "throughput")  # fmt: skip


def _cost(
    server: Server, language: Language, schemes: dict[str, Scheme], indices: dict[str, Index], texts: Sequence[str]
) -> list[str]:
    """Return the size of the indices by document, and the time in which the fields are made, in turns."""
    some = [{"_id": str(number), "body": text} for number, text in enumerate(texts[:1000])]
    times: dict[str, list[float]] = {name: [] for name in schemes}
    for _ in range(TURNS):
        for name, scheme in schemes.items():
            times[name].append(_cpu(Documents(scheme, ["body"]), some))
    made = Documents(schemes["passages"], ["body"]).add_fields_to_all(some)
    keys = mean(len(each["dedup"]["passages"].split()) for each in made)
    count = server.http("GET", f"/{indices[PLAIN].name}/_count")["count"]
    sizes = [server.size(index.name) / count for index in indices.values()]
    quickest = [min(each) / len(some) * 1e6 for each in times.values()]
    ratio = f"{quickest[0] / quickest[1]:.2f}"
    return [language.name, *(f"{size:,.0f}" for size in sizes), f"{keys:.0f}", *(f"{q:.0f}" for q in quickest), ratio]


def _cpu(documents: Documents, texts: Sequence[Json]) -> float:
    begun = time.process_time()
    for _ in documents.add_fields_to_all(texts):
        pass
    return time.process_time() - begun


def _latencies(server: Server, indices: dict[str, Index], planted: Sequence[Planted]) -> dict[str, Latency]:
    """Search for passages of 100 words, and for texts of 1,000, in turns."""
    chosen = [each for each in planted if each.kind.startswith("passages")][:QUERIES]
    default, passages = indices[PLAIN], indices["passages"]
    ways: dict[str, Callable[[Planted], object]] = {
        "near-duplicates of 100 words": lambda each: default.find(each.inner),
        "what contains 100 words": lambda each: passages.find(each.inner, relation="containing"),
        "near-duplicates of 1,000 words": lambda each: default.find(each.outer),
        "what 1,000 words contain": lambda each: passages.find(each.outer, relation="contained"),
        "what contains 1,000 words": lambda each: passages.find(each.outer, relation="containing"),
    }
    return in_turns(ways, chosen, ROUNDS, chosen[: len(chosen) // 3 + 1], server.cpu)


def _searches(latencies: dict[str, Latency]) -> Table:
    table = Table("Searches by passages", ["", "p50, ms", "p90", "CPU of the client, ms", "of the server"])
    for name, latency in latencies.items():
        own = (f"{cpu:.2f}" if np.isfinite(cpu) else "–" for cpu in (latency.client, latency.server))
        table.add(name, latency.within(0.5), latency.within(0.9), *own)
    return table
