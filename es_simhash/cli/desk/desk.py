"""The review desk: the pairs that people look at, in which order, what they decide, and what their answers say.

A pair is a duplicate and the document that stands for it. First come the most doubtful pairs, those nearest to the
threshold; then one of each group, the least similar; then pairs drawn at random. Of these alone, as far as all were
judged from the first on, the precision follows: doubtful pairs are wrong more often than others.

Documents are grouped as if nobody had decided anything, so that what people say of pairs measures the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from math import inf, sqrt
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Protocol

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash.cli.jobs.files import FileIds, NamedFields, read_texts
from es_simhash.cli.jobs.groups import MemberFields
from es_simhash.cli.jobs.groups_report import fields_in_files
from es_simhash.cli.options.files import documents_in
from es_simhash.cli.show.output import Output
from es_simhash.documents.decisions import ON_ONE, Decided, Decision, Key, Verdict, now
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.engines.base import run
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups, Member
from es_simhash.groups.of_texts import TextCorpus, group_texts
from es_simhash.groups.options import GroupOptions, as_asked
from es_simhash.plans.decided import decisions_in
from es_simhash.scheme.rerank import leaves
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Level

if TYPE_CHECKING:
    from es_simhash.groups.of_index.corpus import IndexCorpus
    from es_simhash.index import Index


# Groups, and documents of a group, on a page.
PAGE = 50
_AT_ONCE = 1000
# What others say of the queue is read again after these seconds; what they say of a pair, with each page that shows it.
_SECONDS = 5.0


class Documents(Protocol):
    """The documents of the groups, and the decisions on them."""

    def texts(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, as far as they can be read."""

    def parts(self, positions: Sequence[int]) -> list[Json]:
        """Return the fields to show of documents."""

    def decided(self, documents: Sequence[Key]) -> Decided:
        """Return the decisions on documents, those that others have just made among them."""

    def decide(self, decisions: list[Decision]) -> None:
        """Keep decisions."""


@dataclass(frozen=True)
class ShownDocument:
    """A document as pages show it: its name, its text, and the fields that were asked for."""

    name: str
    text: str
    parts: Json


@dataclass(frozen=True)
class Pair:
    """A duplicate with the document that stands for it, first, by their positions.

    ``group`` is the number of the second's group, -1 if it is in none; ``said`` are the sentences of those who
    decided about one of them or both.
    """

    positions: tuple[int, int]
    documents: tuple[ShownDocument, ShownDocument]
    similarity: float | None
    group: int
    said: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A group in a list: its number, its size, its lowest known similarity, and its canonical document."""

    number: int
    size: int
    similarity: float | None
    canonical: ShownDocument


@dataclass(frozen=True)
class MemberRow:
    """A member of a group, the document that stands for it, how similar they are, and what was ``said`` of it."""

    position: int
    canonical: int
    canonical_name: str
    similarity: float | None
    document: ShownDocument
    said: list[str]


@dataclass(frozen=True)
class GroupFilter:
    """Which groups to list: of a least size, with a lowest similarity in a range, with a value in a shown field."""

    size: int = 2
    low: float = 0.0
    high: float = 1.0
    value: str = ""
    page: int = 0


class Desk:
    """The groups of an index or a file, with their documents, and ``who`` decides about them."""

    def __init__(self, groups: Groups[Corpus], documents: Documents, name: str, who: str) -> None:
        self._groups, self._documents, self._lock = groups, documents, RLock()
        self.name, self.who = name, who
        self.queue: Queue = queue_of(groups)
        # Each with what was decided before, and the address of the page.
        self.made: list[tuple[Decision, list[Decision], str]] = []
        # Says what the last request has kept.
        self.kept = ""
        self._decided, self._due = Decided(), -inf
        self._last_value = "", np.ones(self.total, dtype=np.bool_)

    @property
    def settings(self) -> Settings:
        """How texts are compared."""
        return self._groups.corpus.settings

    @property
    def threshold(self) -> float | None:
        """The minimum similarity."""
        return self._groups.criteria.similarity

    @property
    def total(self) -> int:
        """The number of groups."""
        return len(self._groups)

    # ---- deciding

    def decide(self, positions: Sequence[int], verdict: Verdict, page: str = "/") -> None:
        """Keep a decision on a pair, or that its first document stands for both, made on a page."""
        with self._lock:
            keys = tuple(self._groups.corpus.keys(positions))
            decision = Decision(keys[:1] if verdict in ON_ONE else keys, verdict, who=self.who, when=now())
            own = [each for each in self._documents.decided(keys).decisions if each.who == self.who]
            before = [each for each in own if each.subject == decision.subject] or [decision.withdrawn()]
            # Who lets one stand for both no longer lets the other.
            others = [each for each in own if each.subject == (keys[1:], verdict) and each.holds]
            self._keep([*(each.withdrawn() for each in others), decision])
            self.made.append((decision, [*before, *others], page))
            self.kept = f"Saved: {decision.claim}."

    def undo(self) -> str:
        """Take the last decision back, if there is one; return the page on which it was made."""
        with self._lock:
            if not self.made:
                return "/"
            decision, before, page = self.made.pop()
            self._keep(before)
            self.kept = f"Taken back: {decision.claim}."
            return page

    def _keep(self, decisions: list[Decision]) -> None:
        self._documents.decide(decisions)
        self._decided = Decided([*self._decided.decisions, *decisions])

    def answers(self) -> Answers:
        """Return what all people have said of the pairs of the queue."""
        with self._lock:
            pairs, at = self._keys_of_queue, monotonic()
            if at >= self._due:
                self._decided = self._documents.decided(list(dict.fromkeys(chain(*pairs))))
                self._due = at + _SECONDS
            found = {}
            for duplicate, (one, other) in zip(self.queue.duplicates.tolist(), pairs, strict=True):
                is_same = other in self._decided.others("same", one)
                if is_same or other in self._decided.others("different", one):
                    found[duplicate] = is_same
            return Answers(self.queue, found)

    @cached_property
    def _keys_of_queue(self) -> list[tuple[Key, Key]]:
        duplicates, keys = self.queue.duplicates, self._groups.corpus.keys
        canonicals = self._groups.canonicals[duplicates].tolist()
        return list(zip(keys(canonicals), keys(duplicates.tolist()), strict=True))

    # ---- looking

    def pair_at(self, place: int) -> Pair:
        """Return a pair of the queue."""
        duplicate = int(self.queue.duplicates[place])
        return self.pair(int(self._groups.canonicals[duplicate]), duplicate)

    def pair(self, first: int, second: int) -> Pair:
        """Return two documents, with what was said of them."""
        with self._lock:
            keys = self._groups.corpus.keys([first, second])
            a, b = self._shown([first, second])
            said = tuple(each.sentence for each in self._documents.decided(keys).on(*keys))
            is_canonical = int(self._groups.canonicals[second]) == first
            similarity = self._similarities([second])[0] if is_canonical else None
            return Pair((first, second), (a, b), similarity, int(self._numbers[second]), said)

    def _shown(self, positions: Sequence[int]) -> list[ShownDocument]:
        names, documents = self._groups.corpus.named(positions), self._documents
        found = zip(names, documents.texts(positions), documents.parts(positions), strict=True)
        return [ShownDocument(*each) for each in found]

    def _similarities(self, positions: list[int]) -> list[float | None]:
        found = self._groups.to_canonicals(positions).similarities
        return [None] * len(positions) if found is None else found.tolist()

    def members(self, number: int, page: int = 0) -> tuple[list[MemberRow], int]:
        """Return a page of the members of a group, and how many it has."""
        with self._lock:
            every = self._groups_by_number[number]
            positions = every[page * PAGE :][:PAGE]
            if not positions:
                raise LookupError(page)
            canonicals, corpus = self._groups.canonicals[positions].tolist(), self._groups.corpus
            keys = corpus.keys(positions)
            pairs, decided = zip(corpus.keys(canonicals), keys, strict=True), self._documents.decided(keys)
            said = [[each.sentence for each in decided.on(*pair) if pair[1] in each.documents] for pair in pairs]
            names, similarities = corpus.named(canonicals), self._similarities(positions)
            rows = zip(positions, canonicals, names, similarities, self._shown(positions), said, strict=True)
            return [MemberRow(*row) for row in rows], len(every)

    def rows(self, wanted: GroupFilter) -> tuple[list[Row], int]:
        """Return a page of groups, and how many there are of those that are wanted."""
        with self._lock:
            sizes, lowest = self._measures
            fits = sizes >= wanted.size
            if (wanted.low, wanted.high) != (0.0, 1.0):
                fits &= (lowest >= wanted.low) & (lowest <= wanted.high)
            if wanted.value:
                fits &= self._with_value(wanted.value)
            numbers = np.flatnonzero(fits).tolist()
            some = numbers[wanted.page * PAGE :][:PAGE]
            shown = self._shown([self._groups_by_number[number][0] for number in some])
            known = [None if np.isnan(low) else low for low in lowest[some].tolist()]
            return list(map(Row, some, sizes[some].tolist(), known, shown)), len(numbers)

    def _with_value(self, value: str) -> np.ndarray:
        """Whether a member of each group has a value in a shown field; remembered, since all members are read."""
        if self._last_value[0] != value:
            found = np.zeros(self.total, dtype=np.bool_)
            for some in self._members():
                parts = self._documents.parts([position for _, _, position in some])
                for (number, *_), part in zip(some, parts, strict=True):
                    values = (each if isinstance(each, list) else [each] for _, each in leaves(part))
                    found[number] |= value in map(str, chain(*values))
            self._last_value = value, found
        return self._last_value[1]

    def group_of(self, id_: str) -> tuple[int, int] | None:
        """Return the number of the group that a document is in, and its page; None if it is in none."""
        with self._lock:
            for some in self._members():
                keys = self._groups.corpus.keys([position for _, _, position in some])
                for (number, place, _), (index, own) in zip(some, keys, strict=True):
                    if id_ in (own, f"{index}/{own}"):
                        return number, place // PAGE
            return None

    def _members(self) -> Iterator[list[tuple[int, int, int]]]:
        """Yield the members of all groups, many at once: the number of the group, the place there, the position."""
        groups = enumerate(self._groups_by_number)
        members = ((number, place, each) for number, own in groups for place, each in enumerate(own))
        while some := list(islice(members, _AT_ONCE)):
            yield some

    @cached_property
    def _groups_by_number(self) -> list[list[int]]:
        return list(self._groups.positions())

    @cached_property
    def _measures(self) -> tuple[np.ndarray, np.ndarray]:
        """The size of each group, and its lowest known similarity."""
        sizes = np.array(list(map(len, self._groups_by_number)), dtype=np.int64)
        duplicates, similarities = self._groups.known_similarities()
        lowest = np.full(len(sizes), np.inf)
        known = ~np.isnan(similarities)
        np.minimum.at(lowest, self._numbers[duplicates[known]], similarities[known])
        return sizes, np.where(np.isinf(lowest), np.nan, lowest)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The number of the group of each document, -1 for those in none."""
        numbers = np.full(len(self._groups.corpus), -1, dtype=np.int64)
        for number, positions in enumerate(self._groups_by_number):
            numbers[positions] = number
        return numbers


_DOUBTFUL, _OF_GROUPS, _DRAWN = 200, 500, 200
_SEED = 7
# Fewer answers say nothing about all pairs, nor about the threshold.
_LEAST_DRAWN = 20
# The probability of 95% in standard deviations.
_Z = 1.96


@dataclass(frozen=True)
class Queue:
    """The ``duplicates`` to look at, by their positions, with the ``drawn`` ones among them, and their similarities."""

    duplicates: Integers
    drawn: Integers
    similarities: dict[int, float]
    threshold: float | None

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.duplicates)

    def next_after(self, place: int, judged: set[int]) -> int | None:
        """Return the place of the first pair from one on that nobody has judged; the search begins again at the end."""
        left = [each for each, duplicate in enumerate(self.duplicates.tolist()) if duplicate not in judged]
        return next((each for each in left if each >= place), left[0] if left else None)


def queue_of(groups: Groups[Corpus]) -> Queue:
    """Return the pairs of groups to look at."""
    duplicates, known = groups.known_similarities()
    threshold = groups.criteria.similarity
    chosen = np.random.default_rng(_SEED)
    drawn = chosen.permutation(len(duplicates))[:_DRAWN]
    doubt = np.zeros(len(duplicates)) if threshold is None else np.nan_to_num(np.abs(known - threshold), nan=np.inf)
    order = np.argsort(doubt, kind="stable")
    firsts = groups.firsts[duplicates[order]]
    _, least_alike = np.unique(firsts, return_index=True)
    of_groups = order[np.sort(least_alike)[:_OF_GROUPS]]
    every = np.concatenate([order[:_DOUBTFUL], of_groups, drawn]).astype(np.int64)
    _, first = np.unique(every, return_index=True)
    every = every[np.sort(first)]
    similarities = dict(zip(duplicates[every].tolist(), known[every].tolist(), strict=True))
    return Queue(duplicates[every].astype(np.int64), duplicates[drawn].astype(np.int64), similarities, threshold)


@dataclass(frozen=True)
class Answers:
    """What people have said of the pairs of a queue: of each duplicate whether it is one."""

    queue: Queue
    are_right: dict[int, bool]

    @property
    def wrong(self) -> list[int]:
        """The duplicates that are none."""
        return [duplicate for duplicate, is_right in self.are_right.items() if not is_right]

    @property
    def sentence(self) -> str:
        """What the answers come to, for people."""
        if not self.are_right:
            return "Nothing judged yet."
        said = f"Of {counted(len(self.are_right), 'judged pair')}, {len(self.wrong):,} {self._were} wrong"
        return f"{said}: {self._precision}. {self._advice}".strip()

    @property
    def _were(self) -> str:
        return "was" if len(self.wrong) == 1 else "were"

    @property
    def _precision(self) -> str:
        drawn = self._drawn
        if len(drawn) < _LEAST_DRAWN:
            return (
                f"what that says of all pairs is known when {_LEAST_DRAWN} random ones are judged ({len(drawn)} so far)"
            )
        low, high = wilson(sum(drawn), len(drawn))
        return f"precision {sum(drawn) / len(drawn):.2f} ({low:.2f}–{high:.2f}), by {len(drawn)} drawn at random"

    @property
    def _drawn(self) -> list[bool]:
        """The answers on drawn pairs, up to the first that was not judged: a sample that is free of doubt's order."""
        found = []
        for duplicate in self.queue.drawn.tolist():
            if duplicate not in self.are_right:
                break
            found.append(self.are_right[duplicate])
        return found

    @property
    def _advice(self) -> str:
        threshold, wrong = self.queue.threshold, len(self.wrong)
        if threshold is None or not wrong or len(self.are_right) < _LEAST_DRAWN:
            return ""
        known = [(self.queue.similarities[each], is_right) for each, is_right in self.are_right.items()]
        best = _best_threshold([pair for pair in known if not np.isnan(pair[0])], threshold)
        if best is None:
            return ""
        gone = sum(similarity < best and not is_right for similarity, is_right in known)
        lost = sum(similarity < best and is_right for similarity, is_right in known)
        costs = f", and {lost} right" if lost else ""
        return f"--similarity {best:.2f} would fit your answers: {gone} of {wrong} wrong ones{costs} go away."


def _best_threshold(known: Sequence[tuple[float, bool]], threshold: float) -> float | None:
    """Return the lowest threshold, in hundredths above the present one, at which the fewest answers are missed."""

    def missed(at: float) -> int:
        return sum((similarity >= at) != is_right for similarity, is_right in known)

    present = missed(threshold)
    candidates = (hundredths / 100 for hundredths in range(int(threshold * 100) + 1, 101))
    best = min(candidates, key=lambda at: (missed(at), at), default=None)
    return best if best is not None and missed(best) < present else None


def wilson(right: int, count: int) -> tuple[float, float]:
    """Return the interval in which a share lies with a probability of 95%.

    >>> wilson(95, 100)
    (0.8882, 0.9785)
    """
    share, spread = right / count, _Z**2 / count
    middle = share + spread / 2
    half = _Z * sqrt(share * (1 - share) / count + spread / (4 * count))
    return round((middle - half) / (1 + spread), 4), round((middle + half) / (1 + spread), 4)


@contextmanager
def desk_on_file(
    path: str,
    fields: Sequence[str],
    shown: Sequence[str],
    similarity: float | Level | None,
    decisions: DecisionFile,
    who: str,
    output: Output,
) -> Iterator[Desk]:
    """Group a file, and yield the desk for it."""
    ids, wanted = FileIds([path]), NamedFields(fields, shown=shown)

    def on_read(corpus: TextCorpus) -> None:
        output.warn(wanted.warning)
        output.warn(ids.give(corpus))

    def reject(rejected: object) -> None:
        output.warn(str(getattr(rejected, "reason", rejected)))

    with output.progress("Reading") as advance:
        read = read_texts(documents_in(path, output), fields, reject, wanted)
        documents = wanted.checked((each.key, text) for each, text in read)
        options = GroupOptions(similarity=similarity)
        grouped = group_texts(documents, Scheme.preset("default"), options, advance, on_read)
    with grouped as groups:
        again = (each for each, _ in read_texts(documents_in(path, output), fields, lambda _: None))
        parts = fields_in_files(groups, shown, again) if shown else None
        yield Desk(groups, _OfFile(groups.corpus, parts, decisions), path, who)


class _OfFile:
    """The documents of a file."""

    def __init__(self, corpus: TextCorpus, parts: MemberFields | None, decisions: DecisionFile) -> None:
        self._corpus, self._parts, self._decisions = corpus, parts, decisions

    def texts(self, positions: Sequence[int]) -> list[str]:
        return self._corpus.texts_at(positions)

    def parts(self, positions: Sequence[int]) -> list[Json]:
        if self._parts is None:
            return [{} for _ in positions]
        members = [Member(None, "", "", False, None, None, position=each) for each in positions]
        return [each or {} for each in self._parts.fetch(members)]

    def decided(self, documents: Sequence[Key]) -> Decided:
        return Decided(self._decisions.on(documents))

    def decide(self, decisions: list[Decision]) -> None:
        self._decisions.add(decisions)


@contextmanager
def desk_on_index(
    index: Index, shown: Sequence[str], similarity: float | Level | None, who: str, output: Output
) -> Iterator[Desk]:
    """Group an index as it was grouped last, and yield the desk for it."""
    from es_simhash.groups.of_index.corpus import group
    from es_simhash.groups.of_index.writing import last_run

    documents, engine = index.documents, index.engine
    given = {} if similarity is None else {"similarity": similarity}
    last = run(last_run(index.name, documents, given), engine)
    options = as_asked(last.asked, documents.fields, **given)
    with output.progress("Reading") as advance:
        grouped = group(engine, index.name, documents, options, advance, obeys=False)
    with grouped as groups:
        yield Desk(groups, _OfIndex(index, groups.corpus, shown), index.name, who)


class _OfIndex:
    """The documents of an index."""

    def __init__(self, index: Index, corpus: IndexCorpus, shown: Sequence[str]) -> None:
        self._index, self._corpus, self._shown = index, corpus, list(shown)
        self._documents = index.documents

    def texts(self, positions: Sequence[int]) -> list[str]:
        return list(map(self._documents.text_of, self._sources(positions, self._documents.fields)))

    def parts(self, positions: Sequence[int]) -> list[Json]:
        return self._sources(positions, self._shown) if self._shown else [{} for _ in positions]

    def _sources(self, positions: Sequence[int], names: Sequence[str]) -> list[Json]:
        return [(hit or {}).get("_source") or {} for hit in self._corpus.hits(positions, list(names))]

    def decided(self, documents: Sequence[Key]) -> Decided:
        return run(decisions_in(self._index.name, self._documents.prefix, documents), self._index.engine)

    def decide(self, decisions: list[Decision]) -> None:
        self._index.decide(decisions)
