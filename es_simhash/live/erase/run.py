"""Erasing documents and their copies: round after round, until none is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from getpass import getuser
from http import HTTPStatus
from typing import NamedTuple

import numpy as np

from es_simhash._core.batches import OnProgress, counted_each, counting, stage
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.errors import (
    DocumentError,
    EngineError,
    InputError,
    MissingError,
    TextError,
    UnavailableError,
    UnreachableError,
)
from es_simhash.live.erase.copies import (
    KINDS,
    Copies,
    Copy,
    Deleted,
    Erased,
    EraseOptions,
    Kind,
    LeftCopy,
    Place,
    Reason,
    Source,
    Tenants,
    by_keys,
    by_words,
    has_words,
    hash_of,
)
from es_simhash.live.learning import now
from es_simhash.live.sweep.reading import DocumentRef, Reading
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.decided import forget
from es_simhash.plans.open_index import IndicesBehind, closed_ones
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    Count,
    GetAliases,
    GetInfo,
    GetResource,
    MultiSearch,
    Plan,
    Refresh,
    Search,
    attempt,
    retry,
    retry_all,
    retry_each,
)
from es_simhash.plans.reply_size import ReplySize, documents_by_id, place_of, with_source
from es_simhash.plans.text_fields import fields_in_no_document, no_text
from es_simhash.scheme import query
from es_simhash.scheme.own_fields import content_hash
from es_simhash.scheme.passages import WordsOfText, words_of_texts
from es_simhash.scheme.settings import Passages, Settings
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier, compared, plain

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
            self.report.left.append(LeftCopy(copy, reason or "too many rounds", self._refused.get(copy.place, "")))
        met = self._done | {copy.place for copy in found}
        missing = [copy for copy in self._confirmed.values() if copy.place not in met]
        there = yield from hunt.present([copy.place for copy in missing])
        self.report.gone = sum(copy.place not in there for copy in missing)
        self.report.left += [LeftCopy(copy, "no copy now") for copy in missing if copy.place in there]
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


_ALL: Json = {"match_all": {}}
_SEARCHES, _TEXTS = 20, 100
# A list is made longer while its second half still has copies, up to what engines return.
_FIRST_LIST, _GROWTH, _LONGEST = 200, 10, 10_000
# Of a part, what stands in it comes first.
_FIRST_OF_PART = 50


@dataclass
class Hunt:
    """Looks for copies in the indices behind a name; what was compared once is compared again only if it changes.

    ``incomplete`` says where copies may have been missed.
    """

    index: str
    behind: IndicesBehind
    sources: Sequence[Source]
    options: EraseOptions
    incomplete: set[str] = field(default_factory=set)
    _known: dict[Place, tuple[tuple[int, int], Judged]] = field(default_factory=dict)
    _filters: list[list[Json] | None] | None = None
    _fields_with_words: list[tuple[str, Sequence[str]]] | None = None

    def __post_init__(self) -> None:
        self._tenants = Tenants.of(self.behind)
        self._judge = Judge(self.documents, self._tenants, self.sources, self.options)

    @property
    def documents(self) -> Mapping[str, Documents]:
        """How the documents of each index are read."""
        return self.behind.documents

    def round(self, places: Iterable[Place] = ()) -> Plan[list[Copy]]:
        """Return all copies that there are now, the most alike first; the documents at ``places`` are compared, too."""
        yield from retry(Refresh(self.index), self.options.patience)
        found: dict[Place, Copy] = {}
        named = [dict(zip(("_index", "_id", "_routing"), place, strict=True)) for place in places]
        yield from self._compare(named, found)
        if self._filters is None:
            asking = partial(self._tenants.filters, self.index, self.sources)
            self._filters = yield from retry_all(asking, self.options.patience)
        # Documents with the same id in several indices often have the same text.
        each = zip(self.sources, self._filters, strict=True)
        asked_once = {(source.text, str(filters)): (source.text, filters) for source, filters in each}
        for text, filters in counted_each("Searching", asked_once.values(), len(asked_once), "texts"):
            if filters is None:
                continue
            asked = by_keys(self.documents.values(), text)
            keys = [query.restricted(each, filters, ()) for each in asked]
            yield from self._search(self.index, keys, _FIRST_LIST, found)
            for name, fields in (yield from self._with_words()):
                words = [query.restricted(each, filters, ()) for each in by_words(fields, text)]
                yield from self._search(name, words[:1], _FIRST_LIST, found)
                yield from self._search(name, words[1:], _FIRST_OF_PART, found)
        if self.options.scan:
            if (yield from self._is_filtered()):
                raise InputError(
                    f"The alias {self.index!r} has a filter, which a scan would not heed. "
                    "Name the index, or do not scan."
                )
            for index in self.documents:
                yield from self._scan(index, found)
        return sorted(found.values(), key=lambda copy: (KINDS.index(copy.kind), -copy.similarity, copy.place[:2]))

    def present(self, places: Iterable[Place]) -> Plan[set[Place]]:
        """Return the places at which there still is a document."""
        wanted = list(places)
        for index in sorted({place[0] for place in wanted} & self.documents.keys()):
            yield from self._read(index, [place for place in wanted if place[0] == index])
        return {place for place in wanted if place in self._known}

    def _with_words(self) -> Plan[list[tuple[str, Sequence[str]]]]:
        """Return the names of indices, each with the fields that can be searched for words in all that it names."""
        if self._fields_with_words is None:
            groups: dict[tuple[str, ...], list[str]] = {}
            for index, own in self.documents.items():
                fields = tuple(path for path in own.fields if has_words(self.behind.mappings[index], path))
                groups.setdefault(fields, []).append(index)
            named: list[tuple[str, Sequence[str]]] = [(",".join(names), fields) for fields, names in groups.items()]
            if len(groups) == 1 or (yield from self._is_filtered()):
                # By its own name, which may stand for some of the documents only.
                first, *others = groups
                named = [(self.index, [path for path in first if all(path in fields for fields in others)])]
            self._fields_with_words = named
        return self._fields_with_words

    def _search(self, name: str, wanted: list[Json], size: int, found: dict[Place, Copy]) -> Plan[None]:
        """Run queries for ``size`` hits, and again for more where the last ones still are copies."""
        while wanted:
            unfinished = []
            for start in range(0, len(wanted), _SEARCHES):
                some = wanted[start : start + _SEARCHES]
                for each, hits in zip(some, (yield from self._hits(name, some, size)), strict=True):
                    yield from self._compare(hits, found)
                    # Those of others count: they may have been before a copy, where no filter keeps them out.
                    if len(hits) == size and any(self._is_alike(place_of(hit)) for hit in hits[size // 2 :]):
                        unfinished.append(each)
            if size == _LONGEST and unfinished:
                self.incomplete.add(f"more than {_LONGEST:,} copies match a search: repeat the command, or scan")
                return
            wanted, size = unfinished, min(size * _GROWTH, _LONGEST)

    def _hits(self, name: str, wanted: Sequence[Json], size: int) -> Plan[list[list[Json]]]:
        asked = {"size": size, "_source": False, "seq_no_primary_term": True, "track_total_hits": False}
        bodies = [{"query": each, **asked} for each in wanted]
        try:
            replies = yield from retry(MultiSearch(name, bodies), self.options.patience)
        except (UnreachableError, UnavailableError):
            raise
        except EngineError:
            # One of the fields cannot be searched for words, say.
            replies = []
            for body in bodies:
                reply = yield from attempt(Search(name, body))
                if reply is None:
                    # Not why: the reason may quote the text.
                    self.incomplete.add("the engine refuses some of the searches: scan")
                replies.append(reply or {"hits": {"hits": []}})
        return [reply["hits"]["hits"] for reply in replies]

    def _compare(self, hits: Sequence[Json], found: dict[Place, Copy]) -> Plan[None]:
        """Read the present texts of hits that were not compared in this round, and keep those that are copies."""
        new = {place: hit for hit in hits if (place := place_of(hit)) not in found and place[0] in self.documents}
        for index in sorted({place[0] for place in new}):
            own = [place for place in new if place[0] == index and not self._is_known(place, new[place])]
            yield from self._read(index, own)
        for place in new:
            if place in self._known and (copy := self._known[place][1].copy):
                found[place] = copy

    def _is_alike(self, place: Place) -> bool:
        """Return whether a document is a copy, or that of another class of the scope."""
        return place in self._known and self._known[place][1].is_alike

    def _is_known(self, place: Place, hit: Json) -> bool:
        """Return whether a document was compared in the version that a search sees."""
        return place in self._known and self._known[place][0] == (hit.get("_seq_no"), hit.get("_primary_term"))

    def _read(self, index: str, places: Sequence[Place]) -> Plan[None]:
        parts, patience, size = self._parts(self.documents[index]), self.options.patience, ReplySize()
        for start in range(0, len(places), _TEXTS):
            some = places[start : start + _TEXTS]
            ids, routings = [id_ for _, id_, _ in some], [routing for _, _, routing in some]
            replies = yield from documents_by_id(index, ids, parts, routings, patience=patience, size=size)
            for place in some:
                self._known.pop(place, None)
            there = zip(some, replies, strict=True)
            self._note([{**reply, "_index": index, "_routing": place[2]} for place, reply in there if reply["found"]])

    def _parts(self, documents: Documents) -> list[str]:
        return [*documents.fields, *self._tenants.paths, documents.prefix]

    def _is_filtered(self) -> Plan[bool]:
        """Return whether the name is an alias that stands for some of the documents only."""
        aliases = (yield from attempt(GetAliases(self.index))) or {}
        return any("filter" in found.get(self.index, {}) for found in aliases.values())

    def _scan(self, index: str, found: dict[Place, Copy]) -> Plan[None]:
        own, done = self.documents[index], 0
        reading = Reading(index, _ALL, self._parts(own), None, self.options.patience)
        with counting("Scanning", (yield from retry(Count(index, _ALL), self.options.patience))) as advance:
            while hits := (yield from reading.next()):
                self._note([hit for hit in hits if not self._is_known(place_of(hit), hit)])
                for place in map(place_of, hits):
                    if copy := self._known[place][1].copy:
                        found[place] = copy
                done += len(hits)
                advance(done)

    def _note(self, hits: Sequence[Json]) -> None:
        for hit, judged in zip(hits, self._judge.judged(hits), strict=True):
            self._known[place_of(hit)] = (hit["_seq_no"], hit["_primary_term"]), judged


# ---- the comparison

# A text of fewer words is a part of too many others by chance: it must be equal or similar.
_LEAST_PART = 10
_SHOWN = 100


class Judged(NamedTuple):
    """A document as a ``copy``, or None; it ``is_alike`` also if only the scope keeps it from being one."""

    copy: Copy | None
    is_alike: bool


@dataclass(frozen=True)
class Judge:
    """Compares documents with the ``sources``; ``documents`` says how those of each index are read."""

    documents: Mapping[str, Documents]
    tenants: Tenants
    sources: Sequence[Source]
    options: EraseOptions

    def judged(self, hits: Sequence[Json]) -> list[Judged]:
        """Judge each hit. Empty and unreadable documents are copies of nothing."""
        texts = [readable_text(self.documents[hit["_index"]], hit.get("_source") or {}) or "" for hit in hits]
        least = np.zeros(len(texts))
        measured = self._verifier.each_to_others([(source.text, texts, least) for source in self.sources])
        similar = [each.similarities.tolist() for each in measured]
        words = words_of_texts(self._settings, texts)
        return [self._judged(*each) for each in zip(hits, texts, words, zip(*similar, strict=True), strict=True)]

    @cached_property
    def _settings(self) -> Settings:
        return next(iter(self.documents.values())).scheme

    @cached_property
    def _verifier(self) -> Verifier:
        """What measures the Jaccard similarity of the features that the scheme's own verdict compares."""
        features = plain(compared(self._settings, self._settings.verification))
        return Verifier(features, Verification.of_fingerprints(1.0))

    @cached_property
    def _own_words(self) -> list[WordsOfText]:
        return list(words_of_texts(self._settings, [source.text for source in self.sources]))

    def _judged(self, hit: Json, text: str, words: WordsOfText, similarities: Sequence[float]) -> Judged:
        together, is_alike = [], False
        for source, own, similarity in zip(self.sources, self._own_words, similarities, strict=True):
            if copy := self._copy_of(source, own, hit, text, words, similarity):
                is_alike = True
                if source.place == copy.place or self.tenants.are_together(source, hit.get("_source") or {}):
                    together.append(copy)
        first = min(together, key=lambda copy: (KINDS.index(copy.kind), -copy.similarity), default=None)
        return Judged(first, is_alike)

    def _copy_of(
        self, source: Source, own: WordsOfText, hit: Json, text: str, words: WordsOfText, similarity: float
    ) -> Copy | None:
        ref = DocumentRef.of(hit)
        place = ref.index, ref.id, ref.routing
        n = (self._settings.passages or Passages()).words
        source_in_copy, copy_in_source = own.share_in(words, n), words.share_in(own, n)
        if source.text == text:
            kind: Kind | None = "original" if source.place == place else "equal"
        else:
            shares = source_in_copy * _may_be_part(own), copy_in_source * _may_be_part(words)
            kind = self._kind(similarity, *shares)
        if kind is None:
            return None
        return Copy(
            *place,
            seq_no=ref.version["if_seq_no"],
            primary_term=ref.version["if_primary_term"],
            kind=kind,
            source=source.name,
            similarity=similarity,
            source_in_copy=source_in_copy,
            copy_in_source=copy_in_source,
            fingerprint=self._fingerprint(hit, text),
            sha256=hash_of(text),
            text=" ".join(text[:_SHOWN].split()),
        )

    def _kind(self, similarity: float, source_in_copy: float, copy_in_source: float) -> Kind | None:
        if similarity >= self.options.similarity:
            return "near"
        if source_in_copy >= self.options.containment:
            return "containing"
        return "contained" if copy_in_source >= self.options.containment else None

    def _fingerprint(self, hit: Json, text: str) -> str:
        documents = self.documents[hit["_index"]]
        own = (hit.get("_source") or {}).get(documents.prefix)
        if not isinstance(own, dict) or not own.get("scheme"):
            return "none"
        if own["scheme"] != documents.scheme.id:
            return "other scheme"
        return "current" if own.get("content") == content_hash(text) else "stale"


def _may_be_part(text: WordsOfText) -> bool:
    return len(text.hashes) >= _LEAST_PART
