"""Requests of the REST interface, checks of replies, and errors that name the remedy.

A stranger's answer must not be taken for the engine's: a malformed reply raises a TypeError, or whatever else Python
raises on reading it.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Generator, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from es_simhash._core.json_codec import Json
from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    InputError,
    MappingError,
    MissingError,
    ReaderLostError,
    ScriptError,
    TooLargeError,
    UnansweredError,
    UnavailableError,
    UnreachableError,
    UntrustedError,
)
from es_simhash.plans.operations import EngineInfo

Result = TypeVar("Result")
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Request:
    """One HTTP request; a list as the body stands for lines (NDJSON).

    A request that is not ``repeatable`` must be sent once only: a client's own retry could write a document twice, or
    report its own change as a conflict.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Json | list[Json] | None = None
    repeatable: bool = True


@dataclass(frozen=True)
class Reply:
    """The status of a reply, and its decoded body."""

    status: int
    body: Any


Conversation: TypeAlias = Generator[Request, Json, Result]

# A pattern without a match, or a failed shard, must not look like an empty answer.
SOMETHING = {"allow_no_indices": "false"}
WHOLE_ANSWER = {**SOMETHING, "allow_partial_search_results": "false"}

ABOUT = Request("GET", "/")
# How some servers, and proxies before them, refuse to identify themselves.
_REFUSALS = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)


def engine_info() -> Conversation[EngineInfo]:
    """Ask which engine answers."""
    match (yield ABOUT):
        case {"version": {"number": str(number)} as version}:
            numbers = re.findall(r"\d+", number.partition("-")[0])
            return EngineInfo(typed(version.get("distribution", "elasticsearch"), str), tuple(map(int, numbers)))
    raise EngineError("The server does not identify itself. Name it: distribution='elasticsearch' or 'opensearch'.")


def with_distribution(request: Request, reply: Reply, distribution: str | None) -> Reply:
    """Return the reply; if it does not identify the engine, one with the known ``distribution`` and no version."""
    if request is not ABOUT or distribution is None:
        return reply
    is_named = isinstance(reply.body, dict) and "version" in reply.body
    if reply.status in _REFUSALS or (reply.status < 300 and not is_named):
        return Reply(HTTPStatus.OK, {"version": {"number": "", "distribution": distribution}})
    return reply


@lru_cache
def path_of(index: str, *endpoint: str) -> str:
    """Return the path of an index's endpoint; raise for names that the server would take for all indices."""
    if index in ("", ".", ".."):
        raise InputError(f"{index!r} is not the name of an index. Name an index, alias or pattern.")
    try:
        return "/".join(["", quote(index, safe="*,"), *endpoint])
    except UnicodeEncodeError:
        raise InputError(f"The index name {index!r} is not valid text. Choose another.") from None


def typed(value: object, kind: type[Kind]) -> Kind:
    """Return the value; raise unless it is of this kind."""
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise TypeError(f"{value!r:.80} instead of {_NAMES[kind]}")
    return value


_NAMES: dict[type, str] = {str: "a text", int: "a number", bool: "true or false", list: "a list", dict: "an object"}

_NO_SOURCE: Json = {}


def as_many(values: object, asked: Sized) -> list[Any]:
    """Return a list of answers; raise unless there is one for each question."""
    answers = typed(values, list)
    if len(answers) != len(asked):
        raise TypeError(f"{len(answers)} answers, where {len(asked)} were asked for")
    return answers


def hits_of(reply: Json) -> list[Any]:
    """Return the hits of a search; raise unless each names a document."""
    return [document(hit) for hit in typed(reply["hits"]["hits"], list)]


def document(found: Json) -> Json:
    """Return a document that was found; raise unless it has an index, an id and, if requested, a source."""
    index, id_, source = found["_index"], found["_id"], found.get("_source", _NO_SOURCE)
    # Of a search for a hundred documents, calls of `typed` would take a tenth of the time.
    if not type(index) is type(id_) is str or type(source) is not dict:
        typed(index, str)
        typed(id_, str)
        typed(source, dict)
    return found


def of_id(found: Json, id_: str | None) -> Json:
    """Return an answer about a document; raise unless it is about the requested id (None: any)."""
    if typed(found["_id"], str) != (id_ or found["_id"]):
        raise TypeError(f"the id {found['_id']!r:.80} instead of {id_!r}")
    return found


_LONGEST_REASON = 1_000
_LONGEST_EXCERPT = 200
# A connection that ended while it was made, as where the other side stops; TLS itself is not at fault.
_ENDED = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
# OpenSSL's codes for a certificate of another host name, or of another IP address.
_OTHER_NAMES = (62, 64)
# What urllib3, which compares the names itself, says of them.
_OTHER_NAME = "doesn't match"
# What OpenSSL says of an answer that is no TLS, such as "HTTP/1.1 400".
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
# What a cluster says while a node of it is away and others take over its shards. The request may have been carried out.
_NODE_AWAY = (
    "node_(not_connected|disconnected|closed)_exception|connect_transport_exception|receive_timeout_transport"
    "|no_longer_primary_shard|operation primary term .* is too old|failed_to_commit_cluster_state"
)


@dataclass(frozen=True)
class Remedy:
    """The exception and the advice for replies whose status, types and reasons match a pattern."""

    pattern: str
    error: type[EngineError | InputError]
    advice: str


# The first match applies, so specific patterns precede general ones.
REMEDIES = (
    Remedy(
        "disk usage exceeded flood-stage",
        IndexStateError,
        "Make room on the engine's disk; the engine then lifts this block itself.",
    ),
    Remedy(
        "search_context_missing|[Pp]oint in time.*not found|No search context found|no node found for id",
        ReaderLostError,
        "Read the index from its beginning once more.",
    ),
    Remedy(
        "(Result window|Batch size) is too large",
        TooLargeError,
        "Ask for fewer documents at once, or raise the index's setting index.max_result_window.",
    ),
    Remedy(
        "SERVICE_UNAVAILABLE/[12]/|(master|cluster_manager)_not_discovered",
        UnreachableError,
        "The cluster has no elected manager at the moment: look at its nodes' logs, and try again when it has one.",
    ),
    Remedy(
        _NODE_AWAY,
        UnreachableError,
        "A node of the cluster is away: look at GET _cat/nodes, and try again when others have taken over its shards.",
    ),
    Remedy(
        "no_shard_available|illegal_index_shard_state",
        UnavailableError,
        "The engine is still recovering the index: look at GET _cat/shards, and try again when its shards are started.",
    ),
    Remedy(
        "cluster_block_exception",
        IndexStateError,
        "Ask its owner to remove the block (index.blocks.*; es_simhash never does), or name another index.",
    ),
    Remedy("index_closed_exception", IndexStateError, "Open the index with POST {index}/_open, or name another."),
    Remedy(
        "no write index is defined|did not point to a single write-index|more than one index associated",
        IndexStateError,
        "Name one of the indices behind it, or give the alias a write index (is_write_index).",
    ),
    Remedy("matches an alias", IndexStateError, "Name the index itself instead of its alias."),
    Remedy(
        "op_type of create",
        IndexStateError,
        "A data stream takes new documents by op_type create (load --create-only); change or delete others in the "
        "backing index that holds them (_index).",
    ),
    Remedy("resource_already_exists", IndexStateError, "Use the existing index, or choose another name."),
    Remedy(
        "invalid_index_name", InputError, "Choose a lower-case name without the characters that the engine refuses."
    ),
    Remedy("auto_create_index", MissingError, "Create the index first: this engine does not create it."),
    Remedy("index_not_found", MissingError, "Check the name, or create the index first."),
    Remedy("document_missing", MissingError, "Write the whole document, or leave it out."),
    Remedy(
        "Limit of total fields",
        MappingError,
        "Raise the index's setting index.mapping.total_fields.limit by the number of new fields, or map fewer.",
    ),
    Remedy(
        "strict_dynamic_mapping",
        MappingError,
        "This index takes mapped fields only (dynamic: strict): put the mapping before the documents.",
    ),
    Remedy(
        "subobjects",
        MappingError,
        "This index, or engine, does not take that form of objects (subobjects): use one with subobjects as usual.",
    ),
    Remedy(
        "cannot be changed from type|can't merge|conflicts with existing mapper|Cannot update parameter",
        MappingError,
        "A field's type cannot be changed: choose another field name, or reindex into a new index.",
    ),
    Remedy("Failed to parse mapping|No handler for type|mapper type", MappingError, "Correct the mapping."),
    Remedy(
        "data stream timestamp field|single-valued timestamp field",
        MappingError,
        "Each document of a data stream has one date in that field: give it one.",
    ),
    Remedy(
        "(mapper|document)_parsing|immense term",
        MappingError,
        "Correct the value, or map its field to a type that takes it.",
    ),
    Remedy(
        r"script_lang not supported|unsupported lang|No processor type exists with name \[script\]"
        r"|cannot execute (\[\w+\] )?scripts|\[script\] queries cannot be",
        ScriptError,
        "This server runs no such scripts: have it run them (Painless and Mustache are modules that may be left out; "
        "see also script.allowed_types, script.allowed_contexts and search.allow_expensive_queries).",
    ),
    Remedy("document already exists", IndexStateError, "Leave it as it is, or replace it with op_type index."),
    Remedy("version_conflict", IndexStateError, "Read the document again and repeat the change."),
    Remedy(
        "FLS or DLS|field or document level security",
        AccessError,
        "Use a login that sees whole documents: one without restrictions of documents or fields.",
    ),
    Remedy(
        "plain HTTP request was sent to HTTPS|HTTP request to an HTTPS", UntrustedError, "Use https:// in the address."
    ),
    Remedy(r"^401\b", AccessError, "Check user and password, or the API key (--user, --api-key-file)."),
    Remedy(
        r"^403\b|security_exception",
        AccessError,
        "Have {privilege} granted, or use a login that has it: docs/how-to/security.md lists what each command needs.",
    ),
    Remedy(
        r"^413\b|content_too_long",
        TooLargeError,
        "The request is larger than the engine or a proxy takes (http.max_content_length): send fewer at once.",
    ),
    Remedy("Time exceeded|search_timeout", UnavailableError, "Ask for less, or allow the search more time."),
    Remedy(
        "circuit_breaking_exception",
        UnavailableError,
        "The engine is short of memory: send less at once, or try later.",
    ),
    Remedy(
        r"^429\b|rejected_execution",
        UnavailableError,
        "The engine has too much to do: wait a little, then send less at once.",
    ),
    Remedy("maxClauseCount|too_many_(nested_)?clauses", EngineError, "Ask with fewer clauses."),
    Remedy(
        r"^503\b.*(no_shard_available|unavailable_shards|search_phase_execution)",
        UnavailableError,
        "Some of the index's shards are not there: look at GET _cat/shards/{index}, and try again when they are.",
    ),
    Remedy(
        r"^50[24]\b",
        UnansweredError,
        "A proxy in front of the engine timed out: check the logs of both, and try again.",
    ),
    Remedy(
        r"^503\b",
        UnavailableError,
        "The engine, or a proxy in front of it, is not ready: look at their logs, and try again.",
    ),
    Remedy(r"^50[01]\b", EngineError, "Look at the engine's log, or that of the proxy in front of it, and try again."),
    Remedy("is not JSON of the engine", EngineError, "Check the proxy in front of the engine, or correct the address."),
    Remedy("", EngineError, "Correct what the engine names, then try again."),
)


def error_of(what: str, index: str, status: int, body: Any) -> EngineError | InputError:
    """Return the exception for an error reply; ``what`` says what was being done, and to which index."""
    error = _error_in(body)
    reason = _excerpt(status, body) if error is None else reason_of(error)
    remedy = _remedy(f"{status} {reason}")
    named = {"index": _index_in(body) or index, "privilege": _privilege(reason)}
    found = remedy.error(f"{what} failed: {reason.rstrip('.')}. {remedy.advice.format(**named)}")
    if isinstance(found, EngineError):
        found.is_of_request = status == HTTPStatus.BAD_REQUEST
    return found


def _privilege(reason: str) -> str:
    """Return the least privilege that a server names in its refusal."""
    for pattern, named in _PRIVILEGES.items():
        if found := re.search(pattern, reason):
            return named.format(*found.groups())
    return "the privilege"


# How Elasticsearch, from the least privilege on, and OpenSearch say what was missing.
_PRIVILEGES = {
    r"granted by the (index|cluster) privileges \[([^],]+)": "the {0} privilege {1}",
    r"no permissions for \[([^],]+)": "the action {0}",
}


def _error_in(body: Any) -> Any:
    """Return the error of a reply, or of the first shard that failed where the reply itself names none."""
    match body:
        case {"error": error} | {"_shards": {"failures": [{"reason": error}, *_]}}:
            return error
    return None


def _index_in(body: Any) -> str | None:
    """Return the one index, of several searched, that an error is about."""
    match body:
        case {"error": {"index": str(index)}}:
            return index
    return None


def refusal(item: Json) -> str | None:
    """Return why one item of a bulk request was not done, and the remedy; None if it was done."""
    if "error" not in item:
        if item["status"] < HTTPStatus.MULTIPLE_CHOICES:
            return None
        if item["status"] == HTTPStatus.NOT_FOUND:
            return "not_found: no document has this id."
        return f"the engine answers {item['status']}, and gives no reason. Look at its log."
    reason = reason_of(item["error"])
    advice = _remedy(f"{item['status']} {reason}").advice.format(index=item["_index"], privilege=_privilege(reason))
    return f"{reason.rstrip('.')}. {advice}"


def incompleteness(reply: Json) -> str | None:
    """Return why a reply to a search or count is incomplete; None if it is complete."""
    if reply.get("timed_out"):
        return "it timed out"
    if skipped := reply.get("_clusters", {}).get("skipped"):
        return f"{skipped} of {reply['_clusters']['total']} clusters did not answer"
    shards = reply["_shards"]
    if typed(shards["failed"], int):
        first = shards.get("failures", [{}])[0].get("reason", "no reason given")
        return f"{shards['failed']} of {shards['total']} shards failed ({reason_of(first)})"
    return None


def is_only_for_now(reply: Json) -> bool:
    """Return whether an incomplete reply lacks what a cluster may have the next time.

    That is time, another cluster that was away, or shards that it will have again on another node.
    """
    if reply.get("timed_out") or reply.get("_clusters", {}).get("skipped"):
        return True
    failures = reply["_shards"].get("failures", [])
    away = f"{_NODE_AWAY}|no_shard_available|unavailable_shards|illegal_index_shard_state|shard_not_found"
    return bool(failures) and all(re.search(away, reason_of(each.get("reason"))) for each in failures)


def reason_of(error: Any) -> str:
    """Return the types and reasons in an error, the outermost first, each once."""
    if not isinstance(error, dict):
        return _shortened(str(error), _LONGEST_REASON)
    texts: dict[str, str] = {}
    for cause in _causes(error):
        texts.setdefault(str(cause.get("reason")), f"{cause.get('type')}: {cause.get('reason')}")
    return _shortened("; ".join(texts.values()), _LONGEST_REASON)


def timed_out(address: str, option: str) -> UnreachableError:
    """Return the error for a request without an answer within the client's time, set by its ``option``."""
    return UnreachableError(
        f"{address} did not answer in time. "
        f"Check whether the engine is overloaded, or give the client more time (its option {option})."
    )


def no_connection(address: str, error: BaseException) -> UnreachableError:
    """Return the error for a connection that fails or cannot be trusted."""
    cause = next((cause for cause in _chain(error) if isinstance(cause, OSError)), error)
    if refused := next(filter(_is_of_tls, _chain(error)), None):
        return UntrustedError(f"The TLS connection to {address} failed: {refused}. {_remedy_of_tls(refused)}")
    return UnreachableError(
        f"Nothing answers at {address}: {cause}. Start the engine, or correct the address (also http or https)."
    )


def _is_of_tls(error: BaseException) -> bool:
    is_of_ssl = isinstance(error, ssl.SSLError) and not isinstance(error, _ENDED)
    return is_of_ssl or _OTHER_NAME in str(error)


def _remedy_of_tls(error: BaseException) -> str:
    """Return what to do where the other side has another certificate than expected, or speaks no TLS at all."""
    if _OTHER_NAME in str(error) or getattr(error, "verify_code", None) in _OTHER_NAMES:
        return "Use a name in the address that the certificate is for."
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            "Name the certificate of the authority that signed the engine's, as a PEM file: --ca-certs FILE (in Python "
            "ca_certs). Elasticsearch has it in config/certs/http_ca.crt."
        )
    if getattr(error, "reason", None) in _NO_TLS:
        return "The server answers without TLS: use http:// in the address."
    return "Check the address, also whether it is http:// or https://."


def unreadable(address: str, reason: str) -> EngineError:
    """Return the error for a reply that the client cannot read."""
    return EngineError(
        f"{address} sent a reply that is not the engine's: {_shortened(reason, _LONGEST_EXCERPT)}. "
        "Check the proxy in front of the engine, or correct the address."
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its causes, the first cause last."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _excerpt(status: int, body: Any) -> str:
    """Return the beginning of a reply that comes from a proxy, not from the engine."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    said = f"beginning {_shortened(text.strip(), _LONGEST_EXCERPT)!r}" if text else "without any text"
    return f"the reply has status {status} and is not JSON of the engine, {said}"


def _causes(error: Json) -> Iterator[Json]:
    """Yield an error and its causes; the root cause instead of a search's "all shards failed"."""
    cause: Any = error
    match error:
        case {"type": "search_phase_execution_exception", "root_cause": [dict(root), *_]}:
            cause = root
    while isinstance(cause, dict):
        yield cause
        cause = cause.get("caused_by")


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _remedy(text: str) -> Remedy:
    return next(remedy for remedy in REMEDIES if re.search(remedy.pattern, text, re.DOTALL))
