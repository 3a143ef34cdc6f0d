"""The gate: it judges documents before they are written, remembers those it accepts, and counts its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, values_at
from es_simhash.documents.documents import Document, id_of
from es_simhash.documents.guess import source_and_date
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import run
from es_simhash.engines.connect import connect
from es_simhash.errors import (
    DocumentError,
    EngineError,
    InputError,
    UnavailableError,
    UnreachableError,
    WritesLostError,
)
from es_simhash.gate.judging import Accepting, Decision, Event, GateOptions, Judge, Pending, Verdict, now
from es_simhash.gate.known_keys import KnownKeys
from es_simhash.gate.remembering import Remembering, Writing, is_for_good
from es_simhash.gate.requests import Answer, AskedDocument, has_id, identified
from es_simhash.gate.state import Journal, SetAside, StateFolder
from es_simhash.groups.loss_counts import LEAST, MOST_NAMES, Loss, named, percent
from es_simhash.plans.check import made_of
from es_simhash.plans.find import all_candidates
from es_simhash.plans.find_options import query_documents
from es_simhash.plans.index_plans import IndexPlans
from es_simhash.plans.operations import is_server

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from es_simhash.plans.keywords import KnownIndexKeywords


class Gate:
    """A gate before an index; ``target`` and what is ``known`` are as for an `Index`.

    ``state`` is a folder for its journal, which one process at a time may use. Threads may share a gate. What it has
    ``answered`` is counted.
    """

    def __init__(
        self,
        name: str,
        target: Any = None,
        *,
        state: str | Path,
        options: GateOptions | None = None,
        **known: Unpack[KnownIndexKeywords],
    ) -> None:
        self.name = name
        self.options = options or GateOptions()
        self.answered = Answered()
        self._plans = IndexPlans(name, **known)
        self._lock = RLock()
        self._doubtful: set[str] = set()
        self._doubts_all = False
        self._keys: KnownKeys | None = None
        self._engine = connect(target)
        self._is_own = self._engine is not target
        self._folder = StateFolder(Path(state), {"index": name})
        try:
            self._open()
        except BaseException:
            self._folder.close()
            self._close_engine()
            raise

    def _open(self) -> None:
        documents = run(self._plans.documents_to_write(), self._engine)
        self._pending = Pending(run(self._plans.seen(self.options.request()), self._engine))
        grouping = documents.policy.groups == "online"
        self._keys = KnownKeys.of(self._engine, self._pending.seen.terms, grouping=grouping)
        self._judge = Judge(self._pending, self._keys.candidates if self._keys else all_candidates)
        self._accepting = Accepting(self.options, documents, self._pending)
        self._writing = Writing(self._plans, self._engine, self.options)
        durable_at_once = run(is_server(), self._engine)
        self._aside = SetAside(self._folder.rejected)
        self._journal = Journal(self._folder.journal, self.options.syncs)
        self._remembering = Remembering(
            self._engine,
            self._pending,
            self._journal,
            self._writing,
            self._aside,
            self.options.remember,
            durable_at_once,
            self._keys.flush if self._keys else lambda: None,
        )
        with ExitStack() as if_it_fails:
            if_it_fails.callback(self._journal.close)
            self._remembering.recover()
            if_it_fails.pop_all()
        if self._keys:
            self._keys.start()

    @property
    def pending(self) -> int:
        """The number of documents that were accepted, and that the index does not show yet."""
        return len(self._pending)

    @property
    def journal_bytes(self) -> int:
        """The size of the journal."""
        return self._journal.size

    @property
    def expired(self) -> int:
        """The number of accepted documents that were forgotten before the index showed them."""
        return self._remembering.expired

    @property
    def set_aside(self) -> int:
        """The number of records that the journal held and no gate can use: lines of the file ``set_aside_in``."""
        return self._aside.count

    @property
    def set_aside_in(self) -> Path:
        """The file of records that no gate can use, each with the reason."""
        return self._aside.path

    @property
    def is_warm(self) -> bool:
        """Whether no fingerprints are being read into memory; see `warm_up`."""
        return self._keys is None or not self._keys.is_reading

    def check(self, documents: Iterable[Document]) -> list[Verdict]:
        """Judge documents that somebody else writes, and remember those that are accepted."""
        return _raised(self.answer([AskedDocument(document) for document in documents]))

    def add(self, documents: Iterable[Document]) -> list[Verdict]:
        """Judge documents, and write them as the mode says."""
        return _raised(self.answer([AskedDocument(document, writes=True) for document in documents]))

    def answer(self, asked: Sequence[AskedDocument]) -> list[Verdict | EngineError]:
        """Answer in order: with a verdict, or an error if it is unknown whether the document was written.

        An error is raised if no document was judged. Either way, ask again with the same ids.
        """
        with self._lock, self._doubting():
            self._resolve_doubts()
            self._remembering.settle_if_due()
            self._make_room()
            if self._journal.is_overgrown(len(self._pending)):
                self._remembering.compact()
            answers = self._answered(asked)
            self.answered.add(asked, answers)
            return answers

    def settle(self) -> None:
        """Forget what the index shows by now, and what nobody has written in time; this is done while asked, too."""
        with self._lock, self._doubting():
            self._resolve_doubts()
            self._remembering.settle()

    def warm_up(self) -> None:
        """Wait until the fingerprints of an embedded index are in memory, from when on answers take less time."""
        if self._keys:
            self._keys.wait()

    def reach(self) -> None:
        """Raise unless the engine answers."""
        run(is_server(), self._engine)

    def close(self) -> None:
        """Make what was written durable, and let another process have the state."""
        with self._lock:
            try:
                # Documents in doubt, or not shown, are in the journal.
                with suppress(UnreachableError, UnavailableError):
                    self.settle()
                if not self._doubts_all:
                    self._remembering.compact()
            finally:
                self._journal.close()
                self._folder.close()
                self._close_engine()

    def __enter__(self) -> Self:
        """Return the gate."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the gate."""
        self.close()

    def _close_engine(self) -> None:
        if self._keys:
            self._keys.close()
        if self._is_own:
            self._engine.close()

    def _make_room(self) -> None:
        if len(self._pending) >= self.options.most_pending:
            self._remembering.settle(urgently=True)
            if len(self._pending) >= self.options.most_pending:
                raise UnavailableError(
                    f"The index {self.name!r} does not show {len(self._pending):,} accepted documents yet, which is "
                    "all that the gate remembers. Refresh the index, or have accepted documents written sooner."
                )

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """Read everything again before the next answer, if what is remembered may differ from what is noted."""
        try:
            yield
        except BaseException as error:
            self._doubts_all |= isinstance(error, WritesLostError) or not isinstance(error, EngineError)
            raise

    def _resolve_doubts(self) -> None:
        """Ask the index for the documents that may have been written, or not."""
        if self._doubts_all or self._doubtful:
            self._remembering.recover(None if self._doubts_all else self._doubtful)
            self._doubts_all = False
            self._doubtful.clear()
            if self._keys:
                self._keys.flush()

    def _answered(self, asked: Sequence[AskedDocument]) -> list[Verdict | EngineError]:
        answers: dict[int, Verdict | EngineError] = {}
        actions: dict[int, Json] = {}
        for position, each in enumerate(asked):
            try:
                actions[position] = identified(each.document, each.id, self.name)
            except DocumentError as error:
                own = id_of(each.document)
                answers[position] = Verdict(each.id if own is None else own, "rejected", reason=error.problem)
        decisions = self._decided(asked, actions, answers) if actions else {}
        self._journal.append([each.event for each in decisions.values() if each.event is not None])
        for position, decision in decisions.items():
            answers[position] = decision.verdict
        named = {str(actions[place]["_id"]) for place in decisions if has_id(asked[place].document, asked[place].id)}
        writing = {place: each for place, each in decisions.items() if each.writes}
        self._write(writing, named, answers)
        return [answers[position] for position in range(len(asked))]

    def _decided(
        self, asked: Sequence[AskedDocument], actions: dict[int, Json], answers: dict[int, Verdict | EngineError]
    ) -> dict[int, Decision]:
        """Decide about documents; where the engine refuses to search for all at once, about each alone."""
        try:
            return self._decided_at_once(asked, actions, answers)
        except (EngineError, InputError) as error:
            if len(actions) == 1 or not is_for_good(error):
                raise
        decisions: dict[int, Decision] = {}
        failed: dict[int, EngineError] = {}
        for place, action in actions.items():
            try:
                decisions |= self._decided_at_once(asked, {place: action}, answers)
            except (EngineError, InputError) as error:
                if not is_for_good(error):
                    # Some may be remembered, and are not noted.
                    self._doubts_all = True
                    raise
                failed[place] = error if isinstance(error, EngineError) else EngineError(str(error))
        if len(failed) == len(actions):
            raise next(iter(failed.values()))
        answers |= failed
        return decisions

    def _decided_at_once(
        self, asked: Sequence[AskedDocument], actions: dict[int, Json], answers: dict[int, Verdict | EngineError]
    ) -> dict[int, Decision]:
        """Decide about documents in order, and remember those that are accepted; reject the unreadable."""
        documents, places = self._pending.seen.terms.documents, list(actions)

        def reject(one: Rejected) -> None:
            answers[places[one.position]] = Verdict(one.id, "rejected", reason=one.reason)

        wanted = query_documents(documents, list(actions.values()), 0, reject)
        made = made_of(documents, wanted, reject)
        judged = run(self._judge.judge({place: wanted[place] for place in made}, made), self._engine)
        found = {}
        for each in judged:
            place = places[each.position]
            found[place] = self._accepting.decide(each, actions[place], asked[place].writes, now())
            if self._keys and found[place].writes:
                self._keys.add(found[place].id, each.made[0])
        return dict(sorted(found.items()))

    def _write(
        self, decisions: dict[int, Decision], named: set[str], answers: dict[int, Verdict | EngineError]
    ) -> None:
        """Write documents, some with ids that clients have named; what the engine refuses is forgotten again."""
        if not decisions:
            return
        ids, actions = [each.id for each in decisions.values()], [each.action for each in decisions.values()]
        try:
            refused = self._writing.write(actions, named, any(each.again for each in decisions.values()))
        except EngineError as error:
            self._doubtful.update(ids)
            self._doubts_all |= isinstance(error, WritesLostError)
            answers |= dict.fromkeys(decisions, error)
            return
        if self._keys:
            self._keys.note_written(len(ids) - len(refused))
        for number, (place, decision) in enumerate(decisions.items()):
            if number in refused:
                answers[place] = replace(decision.verdict, kind="rejected", accepted=False, reason=refused[number])
            else:
                answers[place] = replace(decision.verdict, written_to=self._writing.index)
        gone = [ids[number] for number in refused]
        self._pending.forget(gone)
        self._journal.append([Event.gone(gone)] if gone else [], durable=False)


def _raised(answers: Sequence[Verdict | EngineError]) -> list[Verdict]:
    found = []
    for each in answers:
        if isinstance(each, EngineError):
            raise each
        found.append(each)
    return found


# Documents from which the field of sources is guessed, fields of them that are kept, and characters of a value.
_GUESSED, _MOST_FIELDS, _MOST_CHARACTERS = 200, 50, 100
# Sources that sentences name, and those that metrics do.
_SHOWN, _MEASURED = 3, 20


class Answered:
    """Counts ``documents`` and ``duplicates``, and both of at most a thousand sources."""

    def __init__(self) -> None:
        self.documents = self.duplicates = 0
        self._first: list[tuple[Mapping[str, Any], bool]] = []
        self._path: str | None = None
        self._sources: dict[str, Loss] = {}
        self._measured: set[str] = set()

    def add(self, asked: Sequence[AskedDocument], answers: Sequence[Answer]) -> None:
        """Count documents; the first ones show which field has their sources."""
        for each, answer in zip(asked, answers, strict=True):
            is_duplicate = isinstance(answer, Verdict) and answer.kind in ("equal", "near-duplicate")
            self.documents += 1
            self.duplicates += is_duplicate
            if self.documents <= _GUESSED:
                self._first.append((_cut(_body(each.document)), is_duplicate))
                if self.documents == _GUESSED:
                    self._path, self._sources = self._by_source()
                    self._first.clear()
            elif self._path:
                _count(self._sources, self._path, _body(each.document), is_duplicate)

    @property
    def sentence(self) -> str:
        """How many there were."""
        said = f"{counted(self.documents, 'document was', 'documents were')} answered."
        if not self.duplicates:
            return said
        loss = Loss("", self.documents, self.duplicates)
        return f"{said} {percent(loss.share)} of them ({self.duplicates:,}) were duplicates."

    @property
    def warnings(self) -> list[str]:
        """Sentences on the sources that sent mostly duplicates."""
        path, sources = self._by_source()
        large = nlargest(_SHOWN, filter(_is_alarming, sources.values()), key=lambda loss: loss.duplicates)
        return [
            f"{percent(loss.share)} of {named(None, path, loss.value)} were duplicates "
            f"({loss.duplicates:,} of {loss.documents:,}). Look at some of them."
            for loss in large
        ]

    def measured(self) -> list[Loss]:
        """Return the first sources that sent mostly duplicates, once their field is sure; they stay when it is over."""
        # Another thread may count.
        losses = [] if self._first else list(self._sources.values())
        alarming = (loss.value for loss in filter(_is_alarming, losses) if loss.value not in self._measured)
        self._measured.update(list(alarming)[: _MEASURED - len(self._measured)])
        return [loss for loss in losses if loss.value in self._measured]

    def _by_source(self) -> tuple[str | None, dict[str, Loss]]:
        """Return the field of sources and their counts; guess it until it is sure."""
        first = self._first.copy()
        if not first:
            return self._path, self._sources
        path, found = source_and_date(body for body, _ in first)[0], dict[str, Loss]()
        for body, is_duplicate in first if path else ():
            _count(found, str(path), body, is_duplicate)
        return path, found


def _count(sources: dict[str, Loss], path: str, body: Mapping[str, Any], is_duplicate: bool) -> None:
    # Nothing that metrics cannot write.
    name = str(next(values_at(body, path), None))[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
    if name in sources or len(sources) < MOST_NAMES:
        loss = sources.get(name) or Loss(name, 0, 0)
        sources[name] = Loss(name, loss.documents + 1, loss.duplicates + is_duplicate)


def _is_alarming(loss: Loss) -> bool:
    return loss.documents >= LEAST and 2 * loss.duplicates > loss.documents


def _body(document: Any) -> Mapping[str, Any]:
    body = document.get("_source", document) if isinstance(document, Mapping) else None
    return body if isinstance(body, Mapping) else {}


def _cut(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return short values of some fields, which are kept for a while."""
    some = ((name, value) for name, value in islice(body.items(), _MOST_FIELDS) if isinstance(value, str | int | float))
    return {name: value[:_MOST_CHARACTERS] if isinstance(value, str) else value for name, value in some}
