"""Documents of very different lengths, all that reads them, and how much of them a request may ask for."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from hypothesis import strategies as st

from es_simhash import Index, Passages, Scheme
from es_simhash._core.json_codec import Json
from es_simhash.cli.jobs.labelled_documents import sample_of_index
from tests.support.reading import never

FIELDS = ["body"]
# Documents that one reply may have before they have shown how long they are.
MOST_AT_ONCE = 16
SCHEME = Scheme(passages=Passages())
_WORDS = [f"word{number}" for number in range(4_000)]


def document(length: int, seed: int, is_scan: bool) -> Json:
    """A document of this length: of text, or of something else next to a short text."""
    rng = random.Random(seed)
    text = " ".join(rng.choices(_WORDS, k=max(12, (200 if is_scan else length) // 9)))
    return {"body": text, **({"scan": "A" * length} if is_scan else {})}


# How many documents are alike, how long they are, by which seed, and whether that is not of text.
Alike: TypeAlias = tuple[int, int, int, bool]


def alike(longest: int) -> st.SearchStrategy[list[Alike]]:
    """Groups of documents, from short ones to the longest."""
    lengths = st.sampled_from([100, longest // 100, longest // 8, longest])
    groups = st.tuples(st.integers(1, 30), lengths, st.integers(0, 2**20), st.booleans())
    return st.lists(groups, min_size=1, max_size=4)


def documents(groups: list[Alike]) -> Iterator[Json]:
    """Yield documents, several of them copies of one another."""
    for count, length, seed, is_scan in groups:
        original = document(length, seed, is_scan)
        for number in range(count):
            yield {**original, "body": f"{original['body']} {_WORDS[number]}"}


def ids_of(found: list[Json]) -> list[str]:
    return [f"d{number}" for number in range(len(found))]


def read_everything(index: Index, found: list[Json], copy: str) -> Mapping[str, Callable[[], Any]]:
    """Everything that reads documents, by its name; an index may be copied under the name ``copy``."""
    ids, texts = ids_of(found), [each["body"] for each in found]
    few = [ids[0], ids[len(ids) // 2], ids[-1]]
    short = " ".join(texts[-1].split()[:12])

    def grouped() -> None:
        with index.group() as groups:
            list(groups)
            index.write_groups(groups)

    def pages() -> None:
        body = {"query": {"match_all": {}}, "size": 5}
        page = index.search(body, distinct=True, paged=True)
        while page.cursor:
            page = index.search(body, distinct=True, paged=True, cursor=page.cursor)

    def found_many() -> None:
        # By estimates, since comparing that number of long texts takes time.
        list(index.find_many(texts, source=True, estimate=True))
        list(index.find_many(ids=[*few, *ids[:5]]))

    return {
        "find a text": lambda: [index.find(text) for text in {texts[0], texts[-1]}],
        "find a document": lambda: [index.find(id=id_) for id_ in few],
        "find with sources": lambda: [index.find(id=id_, source=True, size=30) for id_ in few],
        "find with parts": lambda: [index.find(id=id_, source=["scan"], size=30) for id_ in few],
        "find many": found_many,
        "find by words": lambda: index.find(short, candidates="more_like_this"),
        "find what contains": lambda: index.find(short, relation="containing", source=True),
        "find what is contained": lambda: index.find(texts[-1], relation="contained"),
        "check": lambda: (list(index.check(found, estimate=True)), list(index.check(found[:5], source=["scan"]))),
        "search": lambda: index.search({"query": {"match_all": {}}}, distinct=True),
        "search, page by page": pages,
        "explain": lambda: index.explain(ids[0], ids[-1]) if len(ids) > 1 else None,
        "learn": index.learn,
        "doctor": index.doctor,
        "sample": lambda: sample_of_index(index.engine, index.name, FIELDS, None, 100, never),
        "group": grouped,
        "find copies": lambda: index.copies(few, scan=True),
        "backfill again": lambda: index.backfill(refresh_stale=True),
        "reindex": lambda: index.reindex(copy),
        "write again": lambda: index.add(({"_id": id_, **each} for id_, each in zip(ids, found, strict=True))),
        "remove": index.remove_fields,
    }


def json_bytes(value: Any) -> int:
    """Return the size of a reply as JSON."""
    return len(json.dumps(value, ensure_ascii=False, default=list).encode("utf-8", "surrogatepass"))
