"""Elasticsearch queries compiled to tantivy queries over the terms of an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tantivy

from es_simhash.engines.embedded.mapping import values
from es_simhash.engines.embedded.mapping.index_mapping import Field, IndexMapping
from es_simhash.engines.embedded.queries import more_like_this, query_bodies, ranges
from es_simhash.engines.embedded.queries.more_like_this import FindDocument, MoreLikeThis
from es_simhash.engines.embedded.queries.query_bodies import minimum_should_match
from es_simhash.engines.embedded.queries.tantivy_queries import (
    TermQueries,
    boosted,
    constant,
    prefix_pattern,
    range_pattern,
    regexp_pattern,
    some_of,
    wildcard_pattern,
)
from es_simhash.errors import EngineError, MappingError

_BOOL = ("must", "should", "filter", "must_not", "minimum_should_match", "boost")


class Compiler:
    """A compiler of queries for the index of a name; ``find_document`` finds documents that ``more_like_this`` names.

    Each kind of query has a method of its name, which takes the query's body and whether its scores matter.
    """

    def __init__(self, name: str, mapping: IndexMapping, queries: TermQueries, find_document: FindDocument) -> None:
        self._name = name
        self._mapping = mapping
        self._queries = queries
        self._find_document = find_document
        self._kinds: dict[str, Callable[[Any, bool], tantivy.Query]] = {
            "bool": self._bool,
            "constant_score": self._constant_score,
            "exists": self._exists,
            "ids": self._ids,
            "match": self._match,
            "match_all": self._match_all,
            "more_like_this": self._more_like_this,
            "prefix": self._prefix,
            "range": self._range,
            "regexp": self._regexp,
            "term": self._term,
            "terms": self._terms,
            "wildcard": self._wildcard,
        }

    def compile(self, query: Any, scored: bool = True) -> tantivy.Query:
        """Compile a query; without ``scored``, its scores are meaningless."""
        if not isinstance(query, Mapping) or len(query) != 1:
            raise EngineError(f"A query cannot be {query!r:.200}. Give an object with one key: the kind of the query.")
        [(kind, body)] = query.items()
        if kind not in self._kinds:
            raise EngineError(
                f"The embedded engine does not support the query {kind!r}. Choose from: {', '.join(self._kinds)}."
            )
        return self._kinds[kind](body, scored)

    def _bool(self, body: Any, scored: bool) -> tantivy.Query:
        body = query_bodies.check("bool", body, _BOOL)
        must, should, filters, must_not = (
            query_bodies.listed(body.get(key)) for key in ("must", "should", "filter", "must_not")
        )
        clauses = [(tantivy.Occur.Must, self.compile(query, scored)) for query in must]
        clauses += [(tantivy.Occur.Must, constant(self.compile(query, False), 0)) for query in filters]
        least = minimum_should_match(body.get("minimum_should_match", 0 if clauses else 1), len(should))
        optional = [self.compile(query, scored) for query in should]
        if clauses and least == 0:
            clauses += [(tantivy.Occur.Should, query) for query in optional]
        elif clauses or optional:
            clauses.append((tantivy.Occur.Must, some_of(optional, least)))
        if not clauses:
            clauses = [(tantivy.Occur.Must, constant(tantivy.Query.all_query(), 0 if must_not else 1))]
        clauses += [(tantivy.Occur.MustNot, self.compile(query, False)) for query in must_not]
        [(_, first), *others] = clauses
        return boosted(tantivy.Query.boolean_query(clauses) if others else first, body)

    def _constant_score(self, body: Any, scored: bool) -> tantivy.Query:
        body = query_bodies.check("constant_score", body, ("filter", "boost"), needed="filter")
        return _constant(self.compile(body["filter"], False), body)

    def _match_all(self, body: Any, scored: bool) -> tantivy.Query:
        return _constant(tantivy.Query.all_query(), query_bodies.check("match_all", body, ("boost",)))

    def _ids(self, body: Any, scored: bool) -> tantivy.Query:
        body = query_bodies.check("ids", body, ("values", "boost"), needed="values")
        return _constant(self._with_ids(body["values"]), body)

    def _with_ids(self, ids: Any) -> tantivy.Query:
        return self._queries.any_of("id", [values.unicode_text(str(id_)) for id_ in query_bodies.listed(ids)])

    def _exists(self, body: Any, scored: bool) -> tantivy.Query:
        body = query_bodies.check("exists", body, ("field", "boost"), needed="field")
        path = query_bodies.path("exists", body["field"])
        self._check_reachable(path)
        present = [field.presence for field in self._mapping.below(path)]
        return _constant(self._queries.any_of("exact", present), body)

    def _term(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = query_bodies.field_and_parameters("term", body, "value")
        if path == "_id":
            return _constant(self._with_ids(parameters["value"]), parameters)
        if path == "_index":
            return _constant(self._of_indices([parameters["value"]]), parameters)
        field = self._searched(path)
        tokens = query_bodies.exact_tokens(field, [parameters["value"]]) if field else []
        if field is None or not tokens:
            return tantivy.Query.empty_query()
        return boosted(self._queries.term(field, tokens[0], scored), parameters)

    def _terms(self, body: Any, scored: bool) -> tantivy.Query:
        path, wanted, parameters = query_bodies.field_and_list("terms", body)
        if path == "_id":
            return _constant(self._with_ids(wanted), parameters)
        if path == "_index":
            return _constant(self._of_indices(wanted), parameters)
        field = self._searched(path)
        if field is None:
            return tantivy.Query.empty_query()
        prefix = field.term_prefix
        terms = [prefix + token for token in query_bodies.exact_tokens(field, wanted)]
        return _constant(self._queries.any_of(field.column, terms), parameters)

    def _of_indices(self, names: Sequence[Any]) -> tantivy.Query:
        return tantivy.Query.all_query() if self._name in names else tantivy.Query.empty_query()

    def _match(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = query_bodies.field_and_parameters(
            "match", body, "query", ("operator", "minimum_should_match")
        )
        field = self._searched(path)
        if field is None:
            return tantivy.Query.empty_query()
        if not field.analyzer:
            return self._term({path: parameters["query"]}, scored)
        tokens = query_bodies.tokens(field, parameters["query"])
        all_of_them = str(parameters.get("operator", "or")).lower() == "and"
        least = (
            len(tokens) if all_of_them else minimum_should_match(parameters.get("minimum_should_match", 1), len(tokens))
        )
        return boosted(some_of([self._queries.term(field, token, scored) for token in tokens], least), parameters)

    def _prefix(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = query_bodies.field_and_parameters("prefix", body, "value")
        return self._matching(path, prefix_pattern, parameters)

    def _wildcard(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = query_bodies.field_and_parameters("wildcard", body, "value")
        return self._matching(path, wildcard_pattern, parameters)

    def _regexp(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = query_bodies.field_and_parameters("regexp", body, "value")
        return self._matching(path, regexp_pattern, parameters)

    def _matching(self, path: str, pattern_of: Callable[[str], str], parameters: Mapping[str, Any]) -> tantivy.Query:
        field = self._searched(path)
        if field is None:
            return tantivy.Query.empty_query()
        if field.kind not in values.OF_STRINGS:
            raise EngineError(f"The field {path!r} of type {field.kind} has no text to match. Use term or range.")
        pattern = pattern_of(query_bodies.token(field, parameters["value"]))
        return _constant(self._queries.matching(field, pattern), parameters)

    def _range(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = query_bodies.field_and_parameters("range", body, None, ranges.BOUNDS)
        field = self._searched(path)
        digits = ranges.digits(field, parameters) if field else None
        if field is None or digits is None:
            return tantivy.Query.empty_query()
        return _constant(self._queries.matching(field, range_pattern(*digits)), parameters)

    def _more_like_this(self, body: Any, scored: bool) -> tantivy.Query:
        asked = MoreLikeThis.of(body)
        fields = [field for path in asked.fields if (field := self._searched(path))]
        return more_like_this.compile(asked, fields, self._queries, self._find_document)

    def _searched(self, path: str) -> Field | None:
        """Return the field that a query names; None if the index has no such field."""
        self._check_reachable(path)
        field = self._mapping.fields.get(path)
        if field is not None and not field.indexed:
            raise _not_indexed(path)
        return field

    def _check_reachable(self, path: str) -> None:
        """Raise for a path inside a field that is stored as a whole."""
        if path not in self._mapping.fields:
            owner = self._mapping.owner(path)
            if isinstance(owner, Field) and owner.opaque:
                raise _not_indexed(path)


def _not_indexed(path: str) -> MappingError:
    return MappingError(
        f"The field {path!r} is stored, but not indexed, so it cannot be searched. "
        "Search another, or load the documents into an index whose mapping has it indexed."
    )


def _constant(query: tantivy.Query, parameters: Mapping[str, Any]) -> tantivy.Query:
    """Return the query with its ``boost`` as the score of every hit."""
    return constant(query, float(parameters.get("boost", 1.0)))
