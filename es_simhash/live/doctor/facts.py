"""What the doctor reads of an engine and an index, and what he finds.

Facts that the engine does not have, or does not show to this login, are None or empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args
from urllib.parse import quote
from uuid import uuid4

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, is_false, is_true
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.documents.stored_scripts import readable_simhash
from es_simhash.errors import AccessError, EngineError, IndexStateError, InputError, ScriptError
from es_simhash.plans.open_index import fingerprinted
from es_simhash.plans.operations import (
    Action,
    Bulk,
    EngineInfo,
    GetInfo,
    GetMappings,
    GetResource,
    GetSettings,
    Plan,
    Search,
    attempt,
)
from es_simhash.plans.reply_size import sampled
from es_simhash.plans.text_fields import Derived, derived_fields, fields_in_no_document, look_for_foreign
from es_simhash.scheme import mapping
from es_simhash.scheme.mapping import Change

# From harmless to what prevents a backfill.
Level: TypeAlias = Literal["ok", "note", "warning", "stop"]
_LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Code:
    """The subject of a code's findings, their levels, and whether the user may accept them."""

    about: str
    levels: tuple[Level, ...]
    may_be_accepted: bool = False


CODES = {
    "engine": Code("which engine this is, and whether it is a tested one", ("ok", "note", "warning")),
    "indices": Code("which indices a name, alias, pattern or data stream stands for", ("note",)),
    "writable": Code("no block keeps documents from being updated", ("ok",)),
    "closed": Code("the index is closed", ("stop",)),
    "read-only": Code("a block, of the index or of the cluster, or a full disk, refuses updates", ("stop",)),
    "searchable-snapshot": Code("the index is a snapshot that is searched, and cannot be written to", ("stop",)),
    "mapping": Code("the mapping has, or can take, the fields", ("ok", "warning")),
    "no-fields": Code("neither the index nor the caller says which fields the texts are in", ("warning", "stop")),
    "mapping-conflict": Code("the mapping has other fields where ours are to be", ("stop",)),
    "foreign-values": Code("documents have something else where our fields are to be", ("stop",), True),
    "scheme-mismatch": Code("the index holds fingerprints of another scheme, or of other fields", ("stop",)),
    "subobjects": Code("the mapping takes no objects (`subobjects: false`)", ("stop",)),
    "dynamic": Code("the mapping takes no unmapped fields (`dynamic: strict` or `false`)", ("note",)),
    "total-fields": Code("how many fields the index may have, and has", ("ok", "warning", "stop")),
    "nested": Code("nested documents, which each update writes again", ("warning",)),
    "source": Code("`_source` is whole, so that updates lose nothing", ("ok",)),
    "source-disabled": Code("`_source` is not kept, so there are neither texts nor updates", ("stop",)),
    "source-excludes": Code("`_source` leaves fields out, which every update would lose", ("stop",), True),
    "source-synthetic": Code("`_source` is put together from other parts of the index", ("warning",), True),
    "text-fields": Code("whether documents have text in the source fields", ("ok", "warning", "stop"), True),
    "derived-field": Code("a source field is an alias, a multi-field or computed: no document has it", ("stop",)),
    "pipeline": Code("the index has an ingest pipeline", ("note",)),
    "changes-unknown": Code("changes by others during the run cannot be noticed", ("warning",), True),
    "disk": Code("the room that the fields and the rewritten documents take", ("ok", "warning", "stop"), True),
    "disk-unknown": Code("how much room there is cannot be seen", ("note",)),
    "privileges": Code("what the login may do with the index", ("ok", "stop"), True),
    "privileges-unknown": Code("what the login may do cannot be seen", ("note",)),
    "hidden-parts": Code("the login does not see all fields, or all documents", ("stop",), True),
    "rule": Code("texts are compared by the rule of an earlier version", ("warning", "note")),
    "rarity": Code("by which table of rarity texts are compared", ("ok", "note", "warning")),
    "scripts": Code("the server refuses scripts, which quicken searches within some bits", ("note",)),
    "misread": Code("digits within words, as in misread scans, whose copies look unlike", ("warning",)),
    "boilerplate": Code("most of each text is in most others, too, so that searches compare nearly all", ("warning",)),
    "two-scripts": Code("texts in simplified and in traditional Chinese, whose copies look unlike", ("warning",)),
    "speed": Code("what would make the backfill of a large index quicker", ("note",)),
}


@dataclass(frozen=True)
class Finding:
    """A finding, and its remedy; ``index`` is set if it concerns one concrete index."""

    code: str
    level: Level
    message: str
    remedy: str = ""
    index: str | None = None

    @classmethod
    def of(cls, code: str, message: str, remedy: str, index: str | None = None) -> Finding:
        """Return a finding of a code that has one level only.

        >>> Finding.of("closed", "The index 'news' is closed.", "Open it.").level
        'stop'
        """
        [level] = CODES[code].levels
        return cls(code, level, message, remedy, index)


class Findings(list[Finding], Result):
    """The findings of the doctor; a notebook shows the most urgent ones first.

    >>> Findings([Finding.of("closed", "The index 'news' is closed.", "Open it.", "news")])
    Findings(1 problem stops a backfill)
    """

    JSON = ("findings",)
    __repr__ = Result.__repr__

    @property
    def findings(self) -> list[Finding]:
        """The findings as a plain list."""
        return list(self)

    def shown(self) -> Shown:
        """Return the findings that need a person, the most urgent first, and in a note the passed checks."""
        urgent = sorted((each for each in self if each.level != "ok"), key=lambda each: -_LEVELS.index(each.level))
        stops = sum(each.level == "stop" for each in urgent)
        heading = f"{counted(stops, 'problem stops', 'problems stop')} a backfill" if stops else "A backfill can begin"
        fine = [each.code for each in self if each.level == "ok"]
        rows = [(each.level, each.code, each.message, each.remedy) for each in urgent]
        columns = ("level", "subject", "what was found", "what to do")
        return Shown(heading, columns, rows, len(rows), [f"Passed: {', '.join(fine)}."] if fine else [])


def of_error(code: str, error: EngineError, index: str) -> Finding:
    """Make a finding of an exception, whose last sentence is its remedy."""
    message, _, remedy = str(error).rpartition(". ")
    return Finding(code, "stop", f"{message}.", remedy, index)


def stopped(indices: Iterable[str], findings: Collection[Finding]) -> list[str]:
    """Return the indices with a finding that stops the job."""
    names = {finding.index for finding in findings if finding.level == "stop"}
    return [index for index in indices if index in names or None in names]


def refusal(index: str, findings: Iterable[Finding]) -> IndexStateError:
    """Return the error that says what stops the job, and what of it can be accepted."""
    stops = [finding for finding in findings if finding.level == "stop"]
    reasons = " ".join(f"{stop.code}: {stop.message} {stop.remedy}" for stop in stops)
    acceptable = sorted({stop.code for stop in stops if CODES[stop.code].may_be_accepted})
    accept = "".join(f" --accept {code}" for code in acceptable)
    end = f"Do this, or accept it:{accept}." if acceptable else "Do this, then run the command again."
    return IndexStateError(f"{index!r} cannot be updated. {reasons} {end}")


def check_accepted(codes: Iterable[str]) -> None:
    """Refuse codes that cannot be accepted."""
    acceptable = [name for name, code in CODES.items() if code.may_be_accepted]
    for code in codes:
        if code not in acceptable:
            raise InputError(f"{code!r} cannot be accepted. Choose from: {', '.join(acceptable)}.")


def accepting(findings: Iterable[Finding], accepted: Collection[str]) -> list[Finding]:
    """Return the findings, with accepted ones a level lower: a stop becomes a warning, a warning a note."""
    lower: dict[Level, Level] = {"stop": "warning", "warning": "note"}
    return [
        replace(finding, level=lower.get(finding.level, finding.level)) if finding.code in accepted else finding
        for finding in findings
    ]


def losses(indices: Iterable[str], accepted: Collection[str]) -> Plan[list[Finding]]:
    """Return what updates of documents would lose in each of these indices.

    Every job that updates documents asks this first; a backfill does so within the whole examination.
    """
    found = list[Finding]()
    for index in indices:
        found += check_source((yield from index_facts(IndexPart(index, 0, 0))))
    return accepting(found, accepted)


def check_source(there: IndexFacts) -> Iterator[Finding]:
    """Check whether updates lose anything."""
    found = list(_losses(there))
    whole = Finding("source", "ok", f"The index {there.name!r} keeps documents whole.", index=there.name)
    yield from found or [whole]


def _losses(there: IndexFacts) -> Iterator[Finding]:
    kept: Json = there.mapping.get("_source") or {}
    mode = kept.get("mode") or there.settings.get("index.mapping.source.mode") or ""
    name = there.name
    if is_false(kept.get("enabled")) or mode == "disabled":
        yield Finding.of(
            "source-disabled",
            f"The index {name!r} keeps no _source, so its documents can neither be read nor updated.",
            "Index the documents again from their origin, into an index that keeps it.",
            name,
        )
        return
    filters = [f"{kind} {', '.join(kept[kind])}" for kind in ("includes", "excludes") if kept.get(kind)]
    if filters:
        yield Finding.of(
            "source-excludes",
            f"The _source of the index {name!r} leaves fields out ({'; '.join(filters)}): each update rebuilds the "
            "document without them, so they can no longer be searched.",
            "Index the documents again from their origin, with their fields (load); or accept the loss.",
            name,
        )
    if mode == "synthetic" or (not mode and there.settings.get("index.mode") in ("logsdb", "time_series")):
        yield Finding.of(
            "source-synthetic",
            f"The _source of the index {name!r} may be rebuilt from the index (synthetic): a document that is "
            "updated is written as it then looks, with sorted arrays, say.",
            "Accept it if the order and the form of values do not matter.",
            name,
        )


# How many are sampled.
_TEXTS = 200

# The privileges that a backfill needs, by their names in Elasticsearch.
PRIVILEGES = ("read", "view_index_metadata", "index", "maintenance", "monitor", "manage")


@dataclass(frozen=True)
class IndexPart:
    """One concrete index: ``due`` documents to look at, of ``documents``, and the safe changes of its shards so far.

    ``is_begun`` if runs that have not ended left a note in it.
    """

    JSON = ("index", "due", "documents", "is_begun")

    index: str
    due: int
    documents: int
    changes: list[int] | None = None
    is_begun: bool = False


@dataclass(frozen=True)
class ShardCopy:
    """One copy of a shard: its node, its documents including nested ones, and its bytes."""

    node: str
    is_primary: bool
    documents: int
    bytes: int


@dataclass(frozen=True)
class IndexFacts:
    """One concrete index; ``copies`` is None if its statistics are unknown.

    The source fields ``unseen`` have no text in any document; those ``derived`` have values made by the engine, so
    documents have none. ``foreign`` describes a sampled document with something else where our fields belong.
    ``fingerprinted`` counts the documents with fingerprints of the scheme. ``texts`` are a sample.
    """

    name: str
    due: int
    documents: int
    mapping: Json
    settings: Mapping[str, str]
    copies: Sequence[ShardCopy] | None
    unseen: Sequence[str] = ()
    derived: Mapping[str, Derived] = field(default_factory=dict)
    foreign: EngineError | None = None
    fingerprinted: int = 0
    texts: Sequence[str] = ()

    def is_set(self, setting: str) -> bool:
        """Return whether a setting is true."""
        return is_true(self.settings.get(setting))

    def change(self, documents: Documents) -> Change | EngineError:
        """Return the change that adds the fields to the mapping, or the error that prevents it."""
        try:
            return mapping.merge(self.name, self.mapping, documents.scheme.mapping(documents.prefix, documents.fields))
        except EngineError as error:
            return error


@dataclass(frozen=True)
class Disk:
    """The disk of one node, in bytes."""

    node: str
    total: int
    free: int


@dataclass(frozen=True)
class Facts:
    """All facts of one examination.

    ``behind`` is what the name stands for, ``cluster`` the settings of the cluster; ``disks`` are listed by node id.
    ``rights`` has, for each index, which of `PRIVILEGES` the login has; ``roles`` has its roles' rules about indices.
    ``hides_rights`` if the engine has logins but does not show what they may do; ``refused_updates`` then has the
    engine's reason for each index whose documents it does not let the login update. ``refuses_scripts`` if it runs none
    where searches would have some.
    """

    engine: EngineInfo
    documents: Documents | None
    indices: Sequence[IndexFacts]
    behind: Json
    cluster: Json
    disks: Mapping[str, Disk]
    rights: Mapping[str, Mapping[str, bool]] | None
    roles: Sequence[Json]
    hides_rights: bool
    refused_updates: Mapping[str, str]
    refuses_scripts: bool
    changes_settings: bool


def gather(index: str, documents: Documents | None, due: Sequence[IndexPart], changes_settings: bool) -> Plan[Facts]:
    """Gather the facts about the engine, and about the indices that are ``due``."""
    engine = yield GetInfo()
    indices = []
    for each in due:
        indices.append((yield from index_facts(each, documents)))
    rights, roles, hides_rights = yield from _logins(engine, [each.index for each in due])
    return Facts(
        engine=engine,
        documents=documents,
        indices=indices,
        behind=(yield from _look(f"/_resolve/index/{_quoted(index)}")),
        cluster=(yield from cluster_settings()),
        disks=(yield from _disks()),
        rights=rights,
        roles=roles,
        hides_rights=hides_rights,
        refused_updates=(yield from _refused_updates([each.index for each in due])) if hides_rights else {},
        refuses_scripts=bool(documents and (yield from attempt(_refuses_scripts(index, documents)))),
        changes_settings=changes_settings,
    )


def index_facts(due: IndexPart, documents: Documents | None = None) -> Plan[IndexFacts]:
    """Gather the facts about one index; with ``documents``, also about the values of the source fields and of ours."""
    mappings = yield GetMappings(due.index)
    settings = (yield from attempt(GetSettings(due.index))) or {}
    parts = ("routing.node", "routing.primary", "docs.count", "store.size_in_bytes")
    wanted = ",".join(f"indices.*.shards.*.{part}" for part in parts)
    stats = yield from _look(f"/{_quoted(due.index)}/_stats/docs,store?level=shards&filter_path={wanted}")
    [body] = mappings.values()
    copies = list(_copies(stats)) if stats else None
    paths = documents.fields if documents else ()
    unseen, made, texts = list[str](), 0, list[str]()
    if documents and due.documents:
        unseen = (yield from attempt(fields_in_no_document(due.index, paths))) or []
        made = (yield from attempt(fingerprinted(due.index, documents))) or 0
        texts = yield from _texts(due.index, documents)
    kinds = derived_fields(body, paths, unseen if due.documents else paths)
    foreign = (yield from look_for_foreign(due.index, documents)) if documents else None
    own = settings.get(due.index) or {}
    return IndexFacts(due.index, due.due, due.documents, body, own, copies, unseen, kinds, foreign, made, texts)


def _texts(index: str, documents: Documents) -> Plan[list[str]]:
    """Sample texts, as fingerprints are made of them."""
    hits = (yield from attempt(sampled(index, _TEXTS, documents.fields, {"match_all": {}}))) or []
    found = (readable_text(documents, hit.get("_source") or {}) for hit in hits)
    return [text for text in found if text]


def _refuses_scripts(index: str, documents: Documents) -> Plan[bool]:
    """Return whether the server refuses a script in a search, if those of the scheme may have one."""
    if readable_simhash(documents.scheme):
        body = {"query": {"script": {"script": {"source": "true"}}}, "size": 0, "terminate_after": 1}
        try:
            yield Search(index, body)
        except ScriptError:
            return True
    return False


def _copies(stats: Json) -> Iterator[ShardCopy]:
    for there in stats["indices"].values():
        for copies in there["shards"].values():
            for copy in copies:
                routing = copy["routing"]
                yield ShardCopy(
                    routing["node"], routing["primary"], copy["docs"]["count"], copy["store"]["size_in_bytes"]
                )


def cluster_settings() -> Plan[Json]:
    """Get the settings of the cluster as nested objects; transient ones override persistent ones and defaults."""
    reply = yield from _look("/_cluster/settings?include_defaults=true&filter_path=*.cluster")
    merged: Json = {}
    for origin in ("defaults", "persistent", "transient"):
        _overlay(merged, (reply.get(origin) or {}).get("cluster") or {})
    return merged


def _overlay(below: Json, above: Json) -> None:
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(there := below.get(name), dict):
            _overlay(there, value)
        else:
            below[name] = value


def _disks() -> Plan[dict[str, Disk]]:
    reply = yield from _look("/_nodes/stats/fs?filter_path=nodes.*.name,nodes.*.fs.total")
    return {
        id_: Disk(node["name"], total["total_in_bytes"], total["available_in_bytes"])
        for id_, node in reply.get("nodes", {}).items()
        if (total := node.get("fs", {}).get("total"))
    }


def _logins(
    engine: EngineInfo, names: Sequence[str]
) -> Plan[tuple[Mapping[str, Mapping[str, bool]] | None, Sequence[Json], bool]]:
    """Find out what the login may do with indices, what its roles say, and whether the engine hides that."""
    if engine.distribution != "elasticsearch":
        # OpenSearch's security cannot be asked.
        plugins = yield from _look("/_nodes/plugins?filter_path=nodes.*.plugins.name")
        return None, [], "opensearch-security" in str(plugins)
    rights = yield from rights_in(names)
    if rights is None:
        return None, [], False
    roles = yield from _look("/_security/user/_privileges")
    return rights, roles.get("indices", []), False


def _refused_updates(names: Sequence[str]) -> Plan[Mapping[str, str]]:
    """Try to update a document that is not there: a login that may not, or sees only parts, is refused before that."""
    refused = {}
    for name in names:
        try:
            [result] = yield Bulk(name, [Action("update", f"es-simhash-{uuid4().hex}", {"doc": {}})])
            reason = result.error or ""
        except AccessError as error:
            reason = str(error)
        if "security_exception" in reason:
            refused[name] = reason
    return refused


def rights_in(names: Sequence[str]) -> Plan[Mapping[str, Mapping[str, bool]] | None]:
    """Find which `PRIVILEGES` the login has in indices, even missing ones; None if Elasticsearch has no logins."""
    asked = {"index": [{"names": list(names), "privileges": list(PRIVILEGES)}]}
    return (yield from _look("/_security/user/_has_privileges", asked)).get("index")


def _look(path: str, question: Json | None = None) -> Plan[Json]:
    return (yield from attempt(GetResource(path, question=question))) or {}


def _quoted(index: str) -> str:
    return quote(index, safe="*,")
