"""The limits of each door, read from the constants that hold them; ``tools.reference_tables`` writes them to a page."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from typing import Literal, NamedTuple, TypeAlias

from es_simhash.errors import MissingExtraError
from tools import ROOT

Unit: TypeAlias = Literal["bytes", "characters", "documents", "hits", "seconds", "entries", "times", "share"]


class Limit(NamedTuple):
    """A limit: the door that has it, of what, the module and the name of its constant, its unit, and what follows."""

    door: str
    what: str
    module: str
    name: str
    unit: Unit
    beyond: str


# One line a limit; those of a door stand together.
# ruff: noqa: E501
LIMITS = (
    Limit("files", "a line, row or element", "documents.files.reader", "MAX_LINE", "bytes", "rejected"),
    Limit("files", "first documents without any text field", "documents.sources", "MOST_WITHOUT_TEXT", "documents", "the run stops"),
    Limit("files", "the same, together", "documents.sources", "MOST_CHARACTERS", "characters", "the run stops"),
    Limit("files", "an excerpt in the file of rejections", "documents.sources", "_EXCERPT", "characters", "cut"),
    Limit("frames", "rows read at a time", "_core.arrow", "MOST_ROWS", "documents", "read in parts"),
    Limit("frames", "bytes read at a time", "_core.arrow", "BATCH_BYTES", "bytes", "read in parts"),
    Limit("`find`, `check`", "candidates compared", "plans.find_options", "MOST_CANDIDATES", "hits", "`complete` is false"),
    Limit("`find_many`, `check`", "searches in a request", "index.index", "SEARCHES", "documents", "sent in parts"),
    Limit("distinct searches", "hits read at once (`window`)", "plans.find_options", "MOST_CANDIDATES", "hits", "refused"),
    Limit("`add`, `load`", "documents fingerprinted at once", "index.index", "WRITES", "documents", "sent in parts"),
    Limit("distinct searches", "a cursor", "plans.distinct", "MOST_CHARACTERS", "characters", "refused"),
    Limit("replies of servers", "documents asked for, by the length of earlier ones", "plans.reply_size", "REPLY_BYTES", "bytes", "asked for in parts; a longer document alone"),
    Limit("replies of servers", "documents asked for before any length is known", "plans.reply_size", "FIRST_DOCUMENTS", "documents", "asked for in parts"),
    Limit("replies of servers", "documents asked for at once", "plans.reply_size", "MOST_DOCUMENTS", "documents", "asked for in parts"),
    Limit("every write", "an id", "plans.operations", "MOST_ID_BYTES", "bytes", "rejected"),
    Limit("bulk requests", "actions", "plans.bulk", "_MOST_ACTIONS", "documents", "sent in parts"),
    Limit("bulk requests", "a body", "plans.bulk", "_MOST_LENGTH", "bytes", "sent in parts; a single longer document is sent alone"),
    Limit("jobs on an index", "waiting for an engine that is away (`--patience`)", "_core.environment", "PATIENCE", "seconds", "the run ends with 3"),
    Limit("jobs on an index", "documents of a page", "live.sweep.reading", "_MOST", "documents", "read in parts"),
    Limit("jobs on an index", "views lost in turn", "live.sweep.reading", "MOST_LOSSES", "times", "the run ends with 3"),
    Limit("`dedup`, `group`", "memory (`--memory`)", "_core.environment", "MEMORY", "bytes", "temporary files"),
    Limit("`group --incremental`", "new documents", "groups.of_index.reading_new", "MOST_NEW", "share", "all are read"),
    Limit("`group`, `dedup`, Spark", "documents of a group that are compared with one another", "groups.pairs.compare", "MOST_CONNECTED", "documents", "only pairs that keys found count"),
    Limit("gate over HTTP", "a body, or a line of `/bulk` or standard input", "gate.requests", "BODY", "bytes", "413"),
    Limit("gate over HTTP", "documents of a list", "gate.requests", "DOCUMENTS", "documents", "413; send them to `/bulk`"),
    Limit("gate over HTTP", "values of a body or line", "gate.requests", "VALUES", "entries", "413"),
    Limit("gate over HTTP", "levels of objects and lists", "gate.requests", "DEPTH", "entries", "413"),
    Limit("gate over HTTP", "digits of a whole number", "gate.requests", "DIGITS", "entries", "413"),
    Limit("gate over HTTP", "bodies and lines at work, together", "gate.requests", "AT_WORK", "bytes", "429"),
    Limit("gate over HTTP", "the line and headers of a request", "gate.requests", "HEAD", "bytes", "431"),
    Limit("gate over HTTP", "connections", "gate.requests", "CONNECTIONS", "entries", "the one that waited longest is closed; 503 if all have requests"),
    Limit("gate over HTTP", "a connection without a request", "gate.requests", "SILENCE", "seconds", "closed"),
    Limit("gate over HTTP", "a body without its end or another 32 kB", "gate.requests", "STALLED", "seconds", "408"),
    Limit("gate over HTTP", "the same, when others need its room", "gate.requests", "MAKES_WAY", "seconds", "408"),
    Limit("gate over HTTP", "`/bulk` without a line", "gate.requests", "PAUSE", "seconds", "closed"),
    Limit("gate over HTTP", "an answer that is not read", "gate.requests", "UNREAD", "seconds", "closed"),
    Limit("gate over HTTP", "answers that are not read, together", "gate.requests", "UNREAD_BYTES", "bytes", "the largest are closed"),
    Limit("gate", "documents that wait", "gate.requests", "WAITING", "documents", "429; no lines are read until then"),
    Limit("gate", "a routing", "gate.requests", "MOST_OF_ROUTING", "bytes", "rejected"),
    Limit("gate", "documents judged together", "gate.requests", "BATCH", "documents", "judged in parts"),
    Limit("gate", "accepted documents that the index does not show", "gate.judging", "MOST_PENDING", "documents", "429"),
    Limit("gate", "an entry of the journal", "gate.state", "_LONGEST", "bytes", "not read"),
    Limit("MCP", "documents of a call", "integrations.mcp", "MOST_DOCUMENTS", "documents", "refused"),
    Limit("MCP", "the texts of a call", "integrations.mcp", "MOST_CHARACTERS", "characters", "refused"),
    Limit("MCP", "a filter", "integrations.mcp", "MOST_FILTER_BYTES", "bytes", "refused"),
    Limit("MCP", "levels of a filter", "integrations.mcp", "MOST_DEPTH", "entries", "refused"),
    Limit("MCP", "queries of a filter", "integrations.mcp", "MOST_QUERIES", "entries", "refused"),
    Limit("MCP", "values of a filter", "integrations.mcp", "MOST_VALUES", "entries", "refused"),
    Limit("embedded engine", "a keyword", "engines.embedded.mapping", "MAX_KEYWORD_BYTES", "bytes", "rejected"),
    Limit("embedded engine", "fields of a mapping", "engines.embedded.mapping", "MAX_FIELDS", "entries", "refused"),
    Limit("embedded engine", "the name of an index", "engines.embedded.engine", "_MAX_NAME_BYTES", "bytes", "refused"),
    Limit("embedded engine", "writes kept until a refresh", "engines.embedded.index", "_MAX_PENDING_BYTES", "bytes", "written earlier"),
    Limit("command line", "a file with a text or an object", "documents.files.reader", "MAX_LINE", "bytes", "refused"),
    Limit("command line", "a file with a secret", "cli.options.target", "_LONGEST", "characters", "refused"),
    Limit("errors", "what a server says", "engines.rest.requests", "_LONGEST_REASON", "characters", "cut"),
)  # fmt: skip


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of the table."""
    for each in LIMITS:
        yield each.door, each.what, _shown(_value(each), each.unit), each.beyond


def _value(limit: Limit) -> float:
    try:
        value: float = getattr(import_module(f"es_simhash.{limit.module}"), limit.name)
    except MissingExtraError:
        # As of Spark, which the tests of the other parts have not.
        path = ROOT / "es_simhash" / f"{limit.module.replace('.', '/')}.py"
        assigned = (node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.Assign))
        [value] = [ast.literal_eval(node.value) for node in assigned if ast.unparse(node.targets[0]) == limit.name]
    return value


def _shown(value: float, unit: Unit) -> str:
    if unit == "share":
        return f"{value:.0%}"
    if unit == "bytes" and value % (1 << 20) == 0:
        return f"{value // (1 << 20):,} MiB"
    return f"{value:,.10g} {unit}" if isinstance(value, float) else f"{value:,} {unit}"
