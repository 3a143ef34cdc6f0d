"""Facts about an engine and the indices behind a name, from which findings are made.

Facts that the engine does not have, or does not show to this login, are None or empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote
from uuid import uuid4

from es_simhash._core.json_codec import Json, is_true
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.documents.painless.stored_scripts import readable_simhash
from es_simhash.errors import AccessError, EngineError, ScriptError
from es_simhash.plans.open_index import fingerprinted
from es_simhash.plans.operation_retry import attempt
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
)
from es_simhash.plans.reply_size import sampled
from es_simhash.plans.text_fields import Derived, derived_fields, fields_in_no_document, look_for_foreign
from es_simhash.scheme import mapping
from es_simhash.scheme.mapping import Change

# How many are sampled.
_TEXTS = 200

# The privileges that a backfill needs, by their names in Elasticsearch.
PRIVILEGES = ("read", "view_index_metadata", "index", "maintenance", "monitor", "manage")


@dataclass(frozen=True)
class Part:
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


def gather(index: str, documents: Documents | None, due: Sequence[Part], changes_settings: bool) -> Plan[Facts]:
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


def index_facts(due: Part, documents: Documents | None = None) -> Plan[IndexFacts]:
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
