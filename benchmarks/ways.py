"""Ways to find near-duplicates in an index: ours, and what people set up today."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from benchmarks.nodes import SETTINGS, Json, Server
from es_simhash import Index, Matches, Scheme, SimHash
from es_simhash.plans.keywords import FindKeywords

TEXT: Json = {"body": {"type": "text"}}
PAGE = 10
ESTIMATES, COMPARED = "es_simhash, MinHash", "es_simhash, MinHash, texts compared"
_SURROGATE = re.compile("[\ud800-\udfff]")


class Way(ABC):
    """A way with its index, which answers a text with the ids of documents.

    Ways that share an index fill it once.
    """

    name: str
    index: str
    servers: ClassVar[tuple[str, ...]] = ("elasticsearch", "opensearch")

    def __init__(self, server: Server) -> None:
        self.server = server

    @abstractmethod
    def create(self, index: str) -> None:
        """Make the index."""

    def actions(self, index: str, actions: Iterable[Json]) -> Iterable[Json]:
        """Make the actions that fill it with documents that have a ``body``."""
        return actions

    def prepare(self) -> None:
        """Do what is done once when the index is full: merge it to one segment."""
        self.server.merge(self.index)

    def body(self, text: str) -> Json:
        """Make the search request for a text, if one is enough."""
        raise NotImplementedError

    def find(self, text: str) -> list[str]:
        """Find the ids for a text, all steps included."""
        return [hit["_id"] for hit in self.server.hits(self.index, self.body(text))]

    def find_many(self, texts: Sequence[str]) -> object:
        """Find the ids for several texts at once."""
        return self.server.many_hits(self.index, [self.body(text) for text in texts])

    def candidates(self, text: str) -> int:
        """Count the documents that the query matches."""
        body = {**self.body(text), "size": 0, "track_total_hits": True}
        total: int = self.server.http("POST", f"/{self.index}/_search", body)["hits"]["total"]["value"]
        return total


class Ours(Way):
    """`Index.find` with fingerprints of the default scheme."""

    index = "fingerprints"

    def __init__(
        self, server: Server, name: str, distance: int | None = None, is_exact: bool = False, index: str = index
    ) -> None:
        super().__init__(server)
        self.name = name
        self.index = index
        self.distance = distance
        # Within a distance, or by MinHash; all matches, not only the nearest ten.
        self._options: FindKeywords = {"distance": distance, "size": 1000, "estimate": not is_exact}
        self._index = Index(index, server.client)

    def create(self, index: str) -> None:
        """Make an index with our fields."""
        made = Index(index, self.server.client, scheme=Scheme(), fields=["body"])
        made.init(create={"settings": {"index": SETTINGS}, "mappings": {"properties": TEXT}})

    def actions(self, index: str, actions: Iterable[Json]) -> Iterable[Json]:
        """Add our fields to the documents."""
        return Index(index, self.server.client).documents.actions(actions)

    def prepare(self) -> None:
        """Learn how rare features are, too, as the command that loads does."""
        super().prepare()
        self._index.learn()

    def find(self, text: str) -> list[str]:
        """Find the ids of the verified matches."""
        return [match.id for match in self._find(text)]

    def find_many(self, texts: Sequence[str]) -> object:
        """Find the ids of the verified matches of several texts."""
        return list(self._index.find_many(texts, **self._options))

    def candidates(self, text: str) -> int:
        """Count the documents that are compared."""
        return self._find(text).candidates

    def _find(self, text: str) -> Matches:
        return self._index.find(text, **self._options)


class MoreLikeThis(Way):
    """``more_like_this`` with settings for near-duplicates, in an index without extra fields."""

    name = "more_like_this"
    index = "plain"

    def __init__(self, server: Server, index: str = index) -> None:
        super().__init__(server)
        self.index = index

    def create(self, index: str) -> None:
        """Make a plain index."""
        self.server.create(index, TEXT)

    def body(self, text: str) -> Json:
        """Override the defaults (two occurrences, five documents, 25 terms), which miss most."""
        settings = {"min_term_freq": 1, "min_doc_freq": 2, "max_query_terms": 50, "minimum_should_match": "70%"}
        return _page({"more_like_this": {"fields": ["body"], "like": [text], "include": True, **settings}})


class MinHashMatch(Way):
    """The ``min_hash`` token filter over shingles of five words, and a match query with the same analyzer."""

    name = "min_hash, match"
    index = "min_hash"

    def create(self, index: str) -> None:
        """Make an index with the filter's tokens in a field next to the text."""
        shingle = {"type": "shingle", "min_shingle_size": 5, "max_shingle_size": 5, "output_unigrams": False}
        min_hash = {"type": "min_hash", "hash_count": 1, "bucket_count": 512, "hash_set_size": 1, "with_rotation": True}
        analyzer = {"tokenizer": "standard", "filter": ["lowercase", "shingle5", "min_hash512"]}
        field = {"type": "text", "analyzer": "min_hash", "index_options": "docs", "norms": False}
        self.server.create(
            index,
            {"body": {"type": "text", "fields": {"min_hash": field}}},
            {"filter": {"shingle5": shingle, "min_hash512": min_hash}, "analyzer": {"min_hash": analyzer}},
        )

    def body(self, text: str) -> Json:
        """Match any common token; documents with most come first."""
        return _page({"match": {"body.min_hash": text}})


class MinHashShould(MinHashMatch):
    """The same field, searched for documents with ``share`` of the text's tokens, from ``_analyze``."""

    def __init__(self, server: Server, share: str) -> None:
        super().__init__(server)
        self.name = f"min_hash, {share} of the tokens"
        self._share = share

    def body(self, text: str) -> Json:
        """Make the request, after another one for the tokens."""
        reply = self.server.client.indices.analyze(index=self.index, body={"field": "body.min_hash", "text": text})
        # The filter's tokens are hashes instead of characters; some are not valid text, and cannot be searched for.
        tokens = sorted({token["token"] for token in reply["tokens"] if not _SURROGATE.search(token["token"])})
        should = [{"constant_score": {"filter": {"term": {"body.min_hash": token}}}} for token in tokens]
        return _page({"bool": {"should": should, "minimum_should_match": self._share}})


class BitVectors(Way):
    """SimHashes of 128 bits as ``dense_vector``, by approximate search of nearest neighbours (HNSW)."""

    name = "dense_vector, knn"
    index = "vectors"
    servers = ("elasticsearch",)
    _scheme: ClassVar[Scheme] = replace(Scheme(), simhash=SimHash(128), minhash=None)

    def create(self, index: str) -> None:
        """Make an index with a vector next to the text."""
        options = {"type": "hnsw"}
        vector = {"type": "dense_vector", "element_type": "bit", "dims": 128, "index": True, "index_options": options}
        self.server.create(index, {**TEXT, "vector": vector})

    def actions(self, index: str, actions: Iterable[Json]) -> Iterable[Json]:
        """Add vectors to the documents."""
        documents = list(actions)
        fingerprints = self._scheme.fingerprints(each["_source"]["body"] for each in documents)
        for document, fingerprint in zip(documents, fingerprints, strict=True):
            yield {**document, "_source": {**document["_source"], "vector": f"{fingerprint.simhash or 0:032x}"}}

    def body(self, text: str) -> Json:
        """Search for the ten nearest of a hundred candidates."""
        vector = f"{self._scheme.fingerprint(text).simhash or 0:032x}"
        knn = {"field": "vector", "query_vector": vector, "k": PAGE, "num_candidates": 100}
        return {"knn": knn, "size": PAGE, "_source": False, "track_total_hits": False}


def _page(query: Json) -> Json:
    return {"query": query, "size": PAGE, "_source": False, "track_total_hits": False}


def ours(server: Server) -> list[Way]:
    """List our ways; the first two are by MinHash."""
    return [
        Ours(server, ESTIMATES),
        Ours(server, COMPARED, is_exact=True),
        Ours(server, "es_simhash, SimHash within 3 bits", 3),
        Ours(server, "es_simhash, SimHash within 5 bits", 5),
    ]


def ways(server: Server) -> list[Way]:
    """List the ways that a server supports."""
    every: list[Way] = [
        *ours(server),
        MoreLikeThis(server),
        MinHashMatch(server),
        MinHashShould(server, "30%"),
        BitVectors(server),
    ]
    return [way for way in every if server.name in way.servers]
