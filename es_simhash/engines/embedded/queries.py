"""Queries in Elasticsearch's JSON, compiled to queries of the tantivy library over the terms of an index.

An unsupported part of a query is an error, never ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from heapq import nlargest
from math import log
from sys import float_info
from typing import Any, TypeAlias

import tantivy

from es_simhash._core.dates import milliseconds
from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded import mapping as values
from es_simhash.engines.embedded.mapping import ANALYZERS, Field, IndexMapping, leaves
from es_simhash.errors import EngineError, MappingError

# Finds a document by index (None: the searched one) and id.
FindDocument: TypeAlias = Callable[[str | None, str], Json | None]

_NAMES = ("_id", "_index")
_NUMBERS = {"min_term_freq": 2, "min_doc_freq": 5, "max_query_terms": 25}
_MORE_LIKE_THIS = ("fields", "like", *_NUMBERS, "minimum_should_match", "include", "boost")
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
            "prefix": partial(self._matching, "prefix", prefix_pattern),
            "range": self._range,
            "regexp": partial(self._matching, "regexp", regexp_pattern),
            "term": self._term,
            "terms": self._terms,
            "wildcard": partial(self._matching, "wildcard", wildcard_pattern),
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
        body = checked("bool", body, _BOOL)
        must, should, filters, must_not = (listed(body.get(key)) for key in ("must", "should", "filter", "must_not"))
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
        body = checked("constant_score", body, ("filter", "boost"), needed="filter")
        return _constant(self.compile(body["filter"], False), body)

    def _match_all(self, body: Any, scored: bool) -> tantivy.Query:
        return _constant(tantivy.Query.all_query(), checked("match_all", body, ("boost",)))

    def _ids(self, body: Any, scored: bool) -> tantivy.Query:
        body = checked("ids", body, ("values", "boost"), needed="values")
        return _constant(self._with_ids(body["values"]), body)

    def _with_ids(self, ids: Any) -> tantivy.Query:
        return self._queries.any_of("id", [values.unicode_text(str(id_)) for id_ in listed(ids)])

    def _exists(self, body: Any, scored: bool) -> tantivy.Query:
        body = checked("exists", body, ("field", "boost"), needed="field")
        path = field_name("exists", body["field"])
        self._check_reachable(path)
        present = [field.presence for field in self._mapping.below(path)]
        return _constant(self._queries.any_of("exact", present), body)

    def _term(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = field_and_parameters("term", body, "value")
        if path in _NAMES:
            return self._named(path, [parameters["value"]], parameters)
        field = self._searched(path)
        tokens = exact_tokens(field, [parameters["value"]]) if field else []
        if field is None or not tokens:
            return tantivy.Query.empty_query()
        return boosted(self._queries.term(field, tokens[0], scored), parameters)

    def _terms(self, body: Any, scored: bool) -> tantivy.Query:
        path, wanted, parameters = field_and_list("terms", body)
        if path in _NAMES:
            return self._named(path, wanted, parameters)
        field = self._searched(path)
        if field is None:
            return tantivy.Query.empty_query()
        prefix = field.term_prefix
        terms = [prefix + token for token in exact_tokens(field, wanted)]
        return _constant(self._queries.any_of(field.column, terms), parameters)

    def _named(self, path: str, names: Sequence[Any], parameters: Mapping[str, Any]) -> tantivy.Query:
        if path == "_id":
            return _constant(self._with_ids(names), parameters)
        query = tantivy.Query.all_query() if self._name in names else tantivy.Query.empty_query()
        return _constant(query, parameters)

    def _match(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = field_and_parameters("match", body, "query", ("operator", "minimum_should_match"))
        field = self._searched(path)
        if field is None:
            return tantivy.Query.empty_query()
        if not field.analyzer:
            return self._term({path: parameters["query"]}, scored)
        tokens = tokens_of(field, parameters["query"])
        all_of_them = str(parameters.get("operator", "or")).lower() == "and"
        least = (
            len(tokens) if all_of_them else minimum_should_match(parameters.get("minimum_should_match", 1), len(tokens))
        )
        return boosted(some_of([self._queries.term(field, token, scored) for token in tokens], least), parameters)

    def _matching(self, kind: str, pattern_of: Callable[[str], str], body: Any, scored: bool) -> tantivy.Query:
        path, parameters = field_and_parameters(kind, body, "value")
        field = self._searched(path)
        if field is None:
            return tantivy.Query.empty_query()
        if field.kind not in values.OF_STRINGS:
            raise EngineError(f"The field {path!r} of type {field.kind} has no text to match. Use term or range.")
        pattern = pattern_of(token_of(field, parameters["value"]))
        return _constant(self._queries.matching(field, pattern), parameters)

    def _range(self, body: Any, scored: bool) -> tantivy.Query:
        path, parameters = field_and_parameters("range", body, None, tuple(_STEP))
        field = self._searched(path)
        digits = range_digits(field, parameters) if field else None
        if field is None or digits is None:
            return tantivy.Query.empty_query()
        return _constant(self._queries.matching(field, range_pattern(*digits)), parameters)

    def _more_like_this(self, body: Any, scored: bool) -> tantivy.Query:
        """Compile a query for the texts and documents (whole, or by index and id) that hits should resemble.

        A hit has enough of the terms that Lucene's MoreLikeThis would choose from all texts, or from all documents.
        """
        body = checked("more_like_this", body, _MORE_LIKE_THIS, needed="like")
        if not (paths := listed(body.get("fields"))):
            raise EngineError("The query 'more_like_this' has no fields. Name those to compare in 'fields'.")
        likes = listed(body["like"])
        texts = [like for like in likes if isinstance(like, str)]
        items = [like for like in likes if not isinstance(like, str)]
        for item in items:
            checked("more_like_this.like", item, ("_index", "_id", "doc"))
            if "doc" not in item and "_id" not in item:
                raise EngineError("A document in 'like' has neither 'doc' nor '_id'. Give it one of them.")
        numbers = {key: whole_number(body, key, default) for key, default in _NUMBERS.items()}
        paths = [field_name("more_like_this", path) for path in paths]
        fields = [field for path in paths if (field := self._searched(path))]
        found = list(self._liked(items))
        alike = []
        if texts:
            alike.append(self._some_terms(body, numbers, [(field, texts) for field in fields]))
        if found:
            inside = [leaf for _, document in found for leaf in leaves(document)]
            contents = [(field, [value for path, value in inside if path == field.source]) for field in fields]
            alike.append(self._some_terms(body, numbers, contents))
        query = some_of(alike, 1)
        own_ids = [id_ for id_, _ in found if id_ is not None]
        if own_ids and not body.get("include"):
            others = (tantivy.Occur.MustNot, self._queries.any_of("id", own_ids))
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), others])
        return boosted(query, body)

    def _liked(self, items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str | None, Json]]:
        """Yield the documents, with their ids if they are in the searched index."""
        for item in items:
            if "doc" in item:
                yield None, item["doc"]
            elif document := self._find_document(item.get("_index"), str(item["_id"])):
                yield str(item["_id"]), document

    def _some_terms(
        self, body: Mapping[str, Any], numbers: Mapping[str, int], contents: Sequence[tuple[Field, Sequence[Any]]]
    ) -> tantivy.Query:
        """Return the query for enough of the heaviest terms of each field.

        Their weight is tf · idf, where idf is ln((N + 1) / (df + 1)) + 1, with N documents, df of them with the token,
        as in Lucene's ClassicSimilarity.
        """
        chosen = []
        for field, contents_of_field in contents:
            weights: dict[str, float] = {}
            tokens = Counter(token for value in contents_of_field for token in tokens_of(field, value))
            for token, count in tokens.items():
                frequency = self._queries.document_frequency(field, token) if count >= numbers["min_term_freq"] else 0
                if frequency >= max(numbers["min_doc_freq"], 1):
                    weights[token] = count * (log((self._queries.document_count + 1) / (frequency + 1)) + 1)
            heaviest = nlargest(numbers["max_query_terms"], weights, key=lambda token: (weights[token], token))
            chosen += [self._queries.term(field, token, True) for token in heaviest]
        return some_of(chosen, minimum_should_match(body.get("minimum_should_match", "30%"), len(chosen)))

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


# The step from a bound to the first value in the range.
_STEP = {"gt": 1, "gte": 0, "lt": -1, "lte": 0}
_HIGHEST = (1 << 64) - 1


def range_digits(field: Field, bounds: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the digits of both ends, inclusive; None if the range is empty."""
    if field.kind not in values.ORDERED:
        raise EngineError(
            f"The embedded engine has no ranges over the field {field.path!r} of type {field.kind}. "
            "Search ranges of numbers or dates."
        )
    low, high = 0, _HIGHEST
    for name in _STEP:
        if bounds.get(name) is None:
            continue
        try:
            end = _end(field.kind, name, bounds[name])
        except (ValueError, OverflowError) as error:
            raise EngineError(f"The range over {field.path!r} has a wrong {name}: {error}. Correct it.") from None
        if name in ("gt", "gte"):
            low = max(low, end)
        else:
            high = min(high, end)
    return (f"{low:016x}", f"{high:016x}") if low <= high else None


def _end(kind: str, name: str, value: Any) -> int:
    """Return the first or last value that a bound allows, as its position in the order of all digits."""
    # A date without a time is a whole day: gt and lte extend to its end. The same holds for fractions between integers.
    reaches_up = name in ("gt", "lte")
    if kind == "date":
        place = milliseconds(value, round_up=reaches_up) + values.MIDDLE
    elif kind in values.INTEGER_BITS:
        rounding = ROUND_FLOOR if reaches_up else ROUND_CEILING
        place = int(values.number(value).to_integral_value(rounding)) + values.MIDDLE
    else:
        place = int(values.ordered(kind, value), 16)
    return place + _STEP[name]


def checked(kind: str, body: Any, known: Sequence[str], needed: str | None = None) -> Mapping[str, Any]:
    """Return the body of a query; raise if it lacks the ``needed`` key or has unknown ones."""
    if not isinstance(body, Mapping):
        raise EngineError(f"The query {kind!r} cannot be {body!r:.200}. Give an object with: {', '.join(known)}.")
    if unknown := set(body) - set(known):
        raise EngineError(
            f"The embedded engine does not support {sorted(unknown, key=str)!r} in the query {kind!r}. "
            f"Leave it out; supported: {', '.join(known)}."
        )
    if needed is not None and needed not in body:
        raise EngineError(f"The query {kind!r} lacks {needed!r}. Add it.")
    _check_boost(kind, body)
    return body


def field_and_parameters(
    kind: str, body: Any, main: str | None, known: Sequence[str] = ()
) -> tuple[str, Mapping[str, Any]]:
    """Return the field of a query's body and its parameters: ``{field: value}`` means ``{field: {main: value}}``."""
    if not isinstance(body, Mapping) or len(body) != 1:
        raise EngineError(f"The query {kind!r} cannot be {body!r:.200}. Give an object with one field.")
    [(path, parameters)] = body.items()
    if main is not None and not isinstance(parameters, Mapping):
        return path, {main: parameters}
    keys = (*((main,) if main else ()), *known, "boost")
    return path, checked(kind, parameters, keys, needed=main)


def field_and_list(kind: str, body: Any) -> tuple[str, Sequence[Any], Mapping[str, Any]]:
    """Return the only field of a query's body, its list of values, and the whole body."""
    paths = [key for key in body if key != "boost"] if isinstance(body, Mapping) else []
    if len(paths) != 1 or not isinstance(body[paths[0]], list | tuple):
        raise EngineError(f"The query {kind!r} cannot be {body!r:.200}. Give one field with a list of values.")
    _check_boost(kind, body)
    return paths[0], body[paths[0]], body


def whole_number(body: Mapping[str, Any], key: str, default: int) -> int:
    """Return the number of a key, or its default."""
    value = body.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise EngineError(f"{key} cannot be {value!r}. Give a whole number, 0 or more.")
    return value


def field_name(kind: str, value: Any) -> str:
    """Return the name of a field; raise if it is not a text."""
    if not isinstance(value, str):
        raise EngineError(f"The query {kind!r} cannot look into the field {value!r}. Give its name.")
    return value


def listed(value: Any) -> Sequence[Any]:
    """Return a list of one value or several."""
    if value is None:
        return []
    return value if isinstance(value, list | tuple) else [value]


def exact_tokens(field: Field, wanted: Sequence[Any]) -> list[str]:
    """Return the tokens of unanalyzed values, without those that no document can have."""
    written = _written(field, wanted)
    if field.kind not in values.INTEGER_BITS:
        return written
    return [token for token, value in zip(written, wanted, strict=True) if values.is_whole(value)]


def token_of(field: Field, value: Any) -> str:
    """Return a value as an unanalyzed token of a field."""
    return _written(field, [value])[0]


def _written(field: Field, wanted: Sequence[Any]) -> list[str]:
    try:
        if field.kind in values.OF_STRINGS and {*map(type, wanted)} == {str}:
            values.unicode_text("".join(wanted))
            return list(wanted)
        return [field.write(value) for value in wanted]
    except (ValueError, OverflowError) as error:
        raise EngineError(
            f"The field {field.path!r} of type {field.kind} has no such value: {error}. Correct it."
        ) from None


def tokens_of(field: Field, value: Any) -> list[str]:
    """Return the tokens of a value in a field."""
    written = token_of(field, value)
    if field.analyzer is None:
        return [written]
    found = ANALYZERS[field.analyzer](written)
    return found.split(" ") if found else []


def _check_boost(kind: str, body: Mapping[str, Any]) -> None:
    boost = body.get("boost", 1)
    if isinstance(boost, bool) or not isinstance(boost, int | float) or not 0 <= boost <= float_info.max:
        raise EngineError(f"The query {kind!r} cannot have boost: {boost!r:.80}. Give a number, 0 or more.")


_FORM = re.compile(r"(-?\d+)(%?)")


def minimum_should_match(spec: object, clauses: int) -> int:
    """Return the number of clauses that must match: ``3``, all but one (``-1``), ``70%``, or all but ``-30%``.

    Percentages are rounded down, as in Elasticsearch.
    """
    form = _FORM.fullmatch(str(spec).strip())
    if isinstance(spec, bool) or not form:
        raise EngineError(
            f"The embedded engine cannot count minimum_should_match: {spec!r}. "
            "Give a number such as 3 or -1, or a percentage such as '70%' or '-30%'."
        )
    number = int(form[1])
    amount = clauses * abs(number) // 100 if form[2] else abs(number)
    return amount if number >= 0 else max(0, clauses - amount)


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
