"""The searches that find what may be a copy of a text, in every way that an index offers.

- by keys of both kinds; one in common is enough.
- by keys of passages, if the scheme has them.
- by the words of the text, for documents without a current fingerprint.
- by the words of each part of the text, for documents that stand in it, or have much of it.

They find too much on purpose: what decides is the exact comparison of texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from unicodedata import normalize

import numpy as np

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, fingerprinted
from es_simhash.plans.derived_fields import field_at, is_searchable
from es_simhash.scheme import passages, query
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MAX_KEYS
from es_simhash.text.tokens.words import word_spans
from es_simhash.text.units import batch

# The words of half a part, which is also the first half of the next; those of a long text are longer.
_HALF, _MOST_PARTS = 13, 200
# The beginning of a text that is sent as a whole; of more, a server would choose hardly other words.
_WHOLE = 50_000
_OF_WHOLE: Json = {"max_query_terms": 50, "minimum_should_match": "20%"}
# All words of a part: what stands in half of it has half of them, however common each is.
_OF_PART: Json = {"max_query_terms": 2 * _HALF, "minimum_should_match": "30%"}
# The full-width forms of printable ASCII.
_WIDE = {point: point - 0x20 + 0xFF00 for point in range(0x21, 0x7F)}


def by_keys(documents: Iterable[Documents], text: str) -> Iterator[Json]:
    """Yield the queries for the keys of a text in indices whose documents are made in one of these ways."""
    ways = {(own.scheme.id, own.prefix): own for own in documents}
    for own in ways.values():
        yield from _by_keys(own, text)
        yield from _by_passages(own, text)


def by_words(fields: Sequence[str], text: str) -> Iterator[Json]:
    """Yield the queries for the words of a text, and of its parts, in any of these fields."""
    if fields:
        yield _by_words(fields, text[:_WHOLE], _OF_WHOLE)
        for part in parts(text):
            yield _by_words(fields, part, _OF_PART)


def has_words(mapping: Json, path: str) -> bool:
    """Return whether a field of an index can be searched for words; Elasticsearch refuses it for any other."""
    field = field_at(mapping, path)
    return field.get("type") in ("text", "keyword") and is_searchable(field)


def parts(text: str) -> list[str]:
    """Cut a text into parts that overlap by half; none of a text that is one itself."""
    spans, units = word_spans(batch([text])), text.encode("utf-16-le")
    count = len(spans.starts)
    half = max(_HALF, -(-count // _MOST_PARTS))
    if count <= 2 * half:
        return []
    starts, ends = spans.starts[: count - half : half], np.append(spans.ends[2 * half - 1 :: half], spans.ends[-1])
    edges = zip(starts.tolist(), ends.tolist(), strict=False)
    return [units[2 * start : 2 * end].decode("utf-16-le") for start, end in edges]


def _forms(text: str) -> list[str]:
    """Return a text as it is, and with letters of the other width, which are other letters to a server."""
    return list(dict.fromkeys((text, normalize("NFKC", text), text.translate(_WIDE))))


def _by_keys(documents: Documents, text: str) -> Iterator[Json]:
    [(fingerprint, fields)] = fingerprinted(documents, [text])
    scheme = documents.scheme
    if fingerprint.status != "empty":
        # The farthest distance at which two SimHashes are sure to share a block, and the lowest similarity.
        criteria = Criteria(scheme.simhash.blocks - 1 if scheme.simhash else None, 0.0 if scheme.minhash else None)
        yield query.clause(scheme, fingerprint, criteria, documents.prefix, shared=1, fields=fields)


def _by_passages(documents: Documents, text: str) -> Iterator[Json]:
    """Find documents that contain the text, or parts of it, by the keys that they store of their passages."""
    if documents.scheme.passages is None:
        return
    words, _ = passages.words_of(documents.scheme, [text])
    keys, _ = passages.query_keys(documents.scheme, words, most=passages.MOST_RUNS)
    terms = [{"term": {f"{documents.prefix}.{passages.FIELD}": key}} for key in keys]
    for start in range(0, len(terms), MAX_KEYS):
        yield {"bool": {"should": terms[start : start + MAX_KEYS], "minimum_should_match": 1}}


def _by_words(fields: Sequence[str], text: str, settings: Json) -> Json:
    chosen = {"min_term_freq": 1, "min_doc_freq": 1, "include": True, **settings}
    should = [
        {"more_like_this": {"fields": [field], "like": [form], **chosen}} for field in fields for form in _forms(text)
    ]
    return {"bool": {"should": should, "minimum_should_match": 1}}
