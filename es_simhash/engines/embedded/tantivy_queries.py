"""The queries that all others consist of: single terms, any of several terms, terms that match a pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import tantivy

from es_simhash.engines.embedded.mapping import Field
from es_simhash.errors import EngineError

# With more terms, one pass over the index is faster than looking each up.
_MANY = 1024


class TermQueries:
    """A factory of queries for one index in its present state."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher

    @property
    def document_count(self) -> int:
        """Number of documents."""
        return self._searcher.num_docs

    def document_frequency(self, field: Field, token: str) -> int:
        """Return the number of documents with a token in a field, including some deleted ones."""
        return self._searcher.doc_freq(field.column, field.term_prefix + token)

    def term(self, field: Field, token: str, scored: bool) -> tantivy.Query:
        """Return the query for a token in a field; scored by BM25 for text and keywords, else by 1."""
        term = field.term_prefix + token
        if field.analyzer:
            return tantivy.Query.term_query(self._schema, field.column, term, "freq" if scored else "basic")
        query = tantivy.Query.term_query(self._schema, field.column, term, "basic")
        if not scored:
            return query
        return constant(query, self._idf(field, token) if field.kind == "keyword" else 1.0)

    def _idf(self, field: Field, token: str) -> float:
        """Return the BM25 score of a keyword, which occurs once and whose length does not count."""
        count, frequency = self.document_count, self.document_frequency(field, token)
        return log(1 + (max(count - frequency, 0) + 0.5) / (frequency + 0.5))

    def any_of(self, column: str, terms: Sequence[str]) -> tantivy.Query:
        """Return the query for any of the terms in a column of the store; unscored."""
        if len(terms) > _MANY:
            return tantivy.Query.term_set_query(self._schema, column, terms)
        queries = [tantivy.Query.term_query(self._schema, column, term, "basic") for term in terms]
        return queries[0] if len(queries) == 1 else some_of(queries, 1)

    def matching(self, field: Field, pattern: str) -> tantivy.Query:
        """Return the query for a token in a field that matches a pattern (see `prefix_pattern`); unscored."""
        whole = literal_pattern(field.term_prefix) + pattern
        try:
            return tantivy.Query.regex_query(self._schema, field.column, whole)
        except ValueError as error:
            raise EngineError(f"The pattern for {field.path!r} is too long: {error}. Ask for less at once.") from None


def some_of(queries: Sequence[tantivy.Query], least: int) -> tantivy.Query:
    """Return the query for documents that match ``least`` of the queries, and at least one; scores are added."""
    if max(least, 1) > len(queries):
        return tantivy.Query.empty_query()
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries], max(least, 1))


def constant(query: tantivy.Query, score: float) -> tantivy.Query:
    """Return the query with this score for every hit."""
    return tantivy.Query.const_score_query(query, score)


def boosted(query: tantivy.Query, parameters: Mapping[str, Any]) -> tantivy.Query:
    """Return the query with its scores multiplied by its ``boost``."""
    return tantivy.Query.boost_query(query, parameters["boost"]) if "boost" in parameters else query


_DIGITS = "0123456789abcdef"
_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~")
_ANYTHING = "(?s:.*)"
_ANY_DIGITS = f"[{_DIGITS}]*"
_NOT_PORTABLE = re.compile(r"[^\w \[\]().|?*+-]|\(\?|\[[^]]*\[|--|[?*+]{2}")


def literal_pattern(text: str) -> str:
    """Return a regular expression, in tantivy's syntax, for exactly this text."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in text)


def wildcard_pattern(pattern: str) -> str:
    """Return the expression for a pattern with ``*`` (any characters), ``?`` (one) and backslash escapes."""
    parts = []
    characters = iter(pattern)
    for character in characters:
        if character == "*":
            parts.append(_ANYTHING)
        elif character == "?":
            parts.append("(?s:.)")
        else:
            parts.append(literal_pattern(next(characters, "\\") if character == "\\" else character))
    return "".join(parts)


def prefix_pattern(text: str) -> str:
    """Return the expression for everything that begins with this text."""
    return literal_pattern(text) + _ANYTHING


def regexp_pattern(pattern: str) -> str:
    """Return the expression for a regular expression; raise for what Lucene and tantivy read differently."""
    if _NOT_PORTABLE.search(pattern):
        raise EngineError(
            f"The embedded engine does not support the regular expression {pattern!r:.200}. "
            "Use letters, digits, spaces and . [] () | ? * + - only."
        )
    return f"(?s:{pattern})"


def range_pattern(low: str, high: str) -> str:
    """Return the expression for the strings of digits from ``low`` to ``high``, all of the same length."""
    if low == high:
        return low
    rest = len(low) - 1
    lowest, highest = "0" * rest, "f" * rest
    if low == f"0{lowest}" and high == f"f{highest}":
        return _ANY_DIGITS
    first, last = low[0], high[0]
    if first == last:
        return first + range_pattern(low[1:], high[1:])
    alternatives = [first + range_pattern(low[1:], highest), last + range_pattern(lowest, high[1:])]
    if inner := _DIGITS[_DIGITS.index(first) + 1 : _DIGITS.index(last)]:
        alternatives.append(f"[{inner}]{_ANY_DIGITS}")
    return f"({'|'.join(alternatives)})"
