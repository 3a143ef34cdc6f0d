"""Erasing: find, review, delete what was confirmed, and look again until a round finds nothing to delete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from getpass import getuser
from http import HTTPStatus

from es_simhash._core.json_codec import Json
from es_simhash._core.stages import OnProgress, stage
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, InputError, MissingError, TextError
from es_simhash.live.erase.copies import (
    Copies,
    Copy,
    Deleted,
    Erased,
    EraseOptions,
    Left,
    Place,
    Reason,
    Source,
    Tenants,
    has_words,
)
from es_simhash.live.erase.hunt import Hunt
from es_simhash.live.learning import now
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.decided import forget
from es_simhash.plans.open_index import IndicesBehind, closed_ones
from es_simhash.plans.operation_retry import attempt, retry, retry_each
from es_simhash.plans.operations import Action, ActionResult, Bulk, Count, GetInfo, GetResource, Plan, Refresh, Search
from es_simhash.plans.reply_size import with_source
from es_simhash.plans.text_fields import fields_in_no_document, no_text

# Writers of copies who are faster than this many rounds must be stopped first.
_ROUNDS = 50


def find_copies(
    index: str, behind: IndicesBehind, ids: Iterable[str], texts: Iterable[str], options: EraseOptions | None
) -> Plan[Copies]:
    """Find all copies of the documents with these ids, and of texts, in the indices behind a name."""
    options = options or EraseOptions()
    with stage("search"):
        yield from retry(Refresh(index), options.patience)
        sources = yield from read_sources(index, behind, ids, texts, options)
        hunt, tenants = Hunt(index, behind, sources, options), Tenants.of(behind)
        hunt.incomplete |= {*(yield from tenants.unknown(index)), *(yield from without_words(behind))}
        hunt.incomplete |= {f"the index {name!r} is closed" for name in (yield from closed_ones(index))}
        found = yield from hunt.round(source.place for source in sources if source.place)
        if options.keep_original:
            originals = {source.place for source in sources}
            found = [copy for copy in found if copy.place not in originals]
        places = frozenset(copy.place for copy in found)
        return Copies(
            index, sources, options, tenants.paths, tuple(found), places, now(), tuple(sorted(hunt.incomplete))
        )


def erase(
    index: str, behind: IndicesBehind, copies: Copies, everything: bool, on_progress: OnProgress[Erased] | None = None
) -> Plan[Erased]:
    """Delete copies as they were reviewed; with ``everything``, also those that appear or change in the meantime."""
    if copies.index != index:
        raise InputError(f"These copies were found in {copies.index!r}, not in {index!r}. Erase them there.")
    by = yield from login()
    found = copies.sources, copies.options, copies.within
    report = Erased(copies.index, by, now(), *found, incomplete=list(copies.incomplete))
    erasing = _Erasing(behind, copies, everything, report, on_progress or (lambda _: None))
    erasing.on_progress(report)
    with stage("delete"):
        yield from erasing.run()
    return report


@dataclass
class _Erasing:
    """One run; ``_refused`` are the places of documents that the engine will not delete, with its reasons."""

    behind: IndicesBehind
    copies: Copies
    everything: bool
    report: Erased
    on_progress: OnProgress[Erased]
    _refused: dict[Place, str] = field(default_factory=dict)
    _done: set[Place] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._confirmed = {copy.place: copy for copy in self.copies.found}
        self._contents = {copy.sha256 for copy in self.copies.found}
        self._originals = {source.place for source in self.copies.sources}
        self._pressure = RequestSize()

    def run(self) -> Plan[None]:
        """Go round until nothing is left to delete; the originals come last, so that a stopped run can be repeated."""
        hunt = Hunt(self.copies.index, self.behind, self.copies.sources, self.copies.options)
        for _ in range(_ROUNDS):
            self.report.rounds += 1
            found = yield from self._found(hunt)
            may = [copy for copy in found if self._reason(copy) is None]
            due = [copy for copy in may if copy.place not in self._originals] or may
            if not due:
                break
            yield from self._delete(due)
        else:
            found = yield from self._found(hunt)
        yield from self._end(hunt, found)

    def _found(self, hunt: Hunt) -> Plan[list[Copy]]:
        """Search again, and look at each confirmed document that was not deleted: it may be found no more."""
        return (yield from hunt.round(place for place in self._confirmed if place not in self._done))

    def _reason(self, copy: Copy) -> Reason | None:
        """Return why a copy must stay; None if it may be deleted."""
        confirmed = self._confirmed.get(copy.place)
        if copy.place in self._refused:
            return "refused"
        if self.copies.options.keep_original and copy.place in self._originals:
            return "dropped"
        if confirmed is not None and confirmed.version == copy.version:
            return None
        if confirmed is None and copy.place in self.copies.reviewed and copy.place not in self._done:
            return "dropped"
        if self.everything or copy.sha256 in self._contents:
            return None
        return "appeared" if confirmed is None else "changed"

    def _delete(self, due: Sequence[Copy]) -> Plan[None]:
        """Delete copies in the versions that were compared; what has changed since waits for the next round."""
        actions = [Action("delete", copy.id, None, copy.index, copy.ref.metadata) for copy in due]

        def take(positions: Sequence[int], results: Sequence[ActionResult]) -> None:
            for position, result in zip(positions, results, strict=True):
                self._note(due[position], result)
            self.on_progress(self.report)

        yield from send(Bulk(due[0].index, actions), take, self._pressure, self.copies.options.patience)

    def _note(self, copy: Copy, result: ActionResult) -> None:
        if result.error is None and result.status != HTTPStatus.NOT_FOUND:
            confirmed = self._confirmed.get(copy.place)
            appeared = copy.place in self._done or confirmed is None or confirmed.version != copy.version
            self._done.add(copy.place)
            self.report.deleted.append(Deleted(copy, self.report.rounds, now(), appeared))
        elif result.status == HTTPStatus.CONFLICT:
            self.report.conflicts += 1
        elif result.status != HTTPStatus.NOT_FOUND:
            self._refused[copy.place] = result.error or ""

    def _end(self, hunt: Hunt, found: Sequence[Copy]) -> Plan[None]:
        """Note what is left, and what has become of confirmed documents that no round has deleted."""
        for copy in found:
            reason = self._reason(copy)
            self.report.left.append(Left(copy, reason or "too many rounds", self._refused.get(copy.place, "")))
        met = self._done | {copy.place for copy in found}
        missing = [copy for copy in self._confirmed.values() if copy.place not in met]
        there = yield from hunt.present([copy.place for copy in missing])
        self.report.gone = sum(copy.place not in there for copy in missing)
        self.report.left += [Left(copy, "no copy now") for copy in missing if copy.place in there]
        self.report.incomplete += sorted(hunt.incomplete - set(self.report.incomplete))
        by_prefix: dict[str, list[tuple[str, str]]] = {}
        for each in self.report.deleted:
            by_prefix.setdefault(self.behind.documents[each.copy.index].prefix, []).append(each.copy.place[:2])
        for prefix, places in by_prefix.items():
            self.report.decisions += yield from forget(self.copies.index, prefix, places)
        self.report.finished = now()


# ---- what is searched for

_AT_ONCE, _MOST = 100, 10_000


def read_sources(
    index: str, behind: IndicesBehind, ids: Iterable[str], texts: Iterable[str], options: EraseOptions
) -> Plan[tuple[Source, ...]]:
    """Return the texts that are given, and those of all documents with these ids, in whichever index they are."""
    ids, texts = ([each] if isinstance(each, str) else list(dict.fromkeys(each)) for each in (ids, texts))
    if not ids and not texts:
        raise InputError("Nothing was named to erase. Give the id of a document, or a text.")
    tenants, documents = Tenants.of(behind), behind.documents
    tenants.check_given(options, texts)
    given = dict(options.scope_values or {})
    sources = [Source(f"text {number}", text, given) for number, text in enumerate(texts, 1)]
    paths = sorted({path for own in documents.values() for path in own.fields} | set(tenants.paths))
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        body = {"query": {"ids": {"values": some}}, "size": _MOST, "_source": False}
        there: list[Json] = (yield from retry(Search(index, body), options.patience))["hits"]["hits"]
        hits = yield from retry_each(with_source(index, there, paths), options.patience)
        for id_ in some:
            own = [hit for hit in hits if hit["_id"] == id_]
            if not own:
                raise MissingError(
                    f"The index {index!r} has no document {id_!r}. If it is deleted already, give its text."
                )
            sources += [_source_of(documents, hit) for hit in own]
    scheme = next(iter(documents.values())).scheme
    for source in sources:
        if scheme.fingerprint(source.text).status == "empty":
            what = f"Document {source.name!r}" if source.place else f"The {source.name}"
            raise TextError(f"{what} has no letters or digits, so nothing is its copy. Delete it by its id.")
    return tuple(sources)


def without_words(behind: IndicesBehind) -> Plan[list[str]]:
    """Name the indices without texts in the source fields, and fields with texts whose words cannot be searched for."""
    found = []
    for index, documents in behind.documents.items():
        if not (yield from attempt(Count(index, {"match_all": {}}))):
            continue
        missing = (yield from attempt(fields_in_no_document(index, documents.fields))) or []
        if len(missing) == len(documents.fields):
            found.append(no_text(index, documents.fields))
        for path in documents.fields:
            if path not in missing and not has_words(behind.mappings[index], path):
                found.append(f"the words of {path} are not indexed as text in {index!r}: scan")
    return found


def _source_of(documents: Mapping[str, Documents], hit: Json) -> Source:
    ref = DocumentRef.of(hit)
    try:
        text = documents[ref.index].text_of(hit.get("_source") or {})
    except DocumentError as error:
        raise DocumentError(f"Document {ref.id!r} {error.problem}") from None
    return Source(ref.id, text, hit.get("_source") or {}, (ref.index, ref.id, ref.routing))


# ---- who deletes

# The APIs in which Elasticsearch and OpenSearch's security plugin name the user.
_ASKED = {
    "elasticsearch": ("/_security/_authenticate", "username"),
    "opensearch": ("/_plugins/_security/authinfo", "user_name"),
}


def login() -> Plan[str]:
    """Return the name of the login, or of the operating system's user where the server knows none."""
    info = yield from attempt(GetInfo())
    if info is not None and info.distribution in _ASKED:
        path, name = _ASKED[info.distribution]
        reply: Json = (yield from attempt(GetResource(path))) or {}
        if isinstance(user := reply.get(name), str) and user:
            match reply:
                case {"api_key": {"name": str(name)}}:
                    return f"{user} (API key {name})"
            return user
    try:
        return f"{getuser()} (operating system)"
    except (OSError, KeyError):  # a user without a name
        return "unknown"
