"""What goes when duplicates go: how many documents, by source, year, language and length, and why.

Deduplication that takes nearly all documents of a source has hardly ever found as many copies: it has met forms,
footers, or texts that say nothing. So shares are counted by values, and an alarm names those that lose implausibly many
documents, the likeliest reason (see `es_simhash.groups.loss_reasons`), and some of the documents.

Only a sample of the texts is read, drawn with a fixed seed: the same run says the same.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.dates import timestamp
from es_simhash._core.humanize import counted, listed, rounded, shortened
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.guess import language_of, source_and_date
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.loss_reasons import Looked, Reason, look_at, reasons_of

By: TypeAlias = Literal["field", "source", "year", "language", "length"]

# Of fewer documents, no share is implausible.
LEAST = 20
# The share of documents that go for a reason other than copies, or for any, from which on there is an alarm.
_SUSPICIOUS, _NEARLY_ALL, _UNKNOWN = 0.2, 0.9, 0.5
# The share of the duplicates looked at that have another reason than copies, if that is the likeliest.
_MOSTLY = 0.5
# How far the share of a value lies above that of all documents, if these go as copies.
_ABOVE = 0.1
# Texts that are sampled on each side, duplicates of a value that are looked at, values, and texts of a group.
_SAMPLE, _LOOKED_AT, _MOST_VALUES, _MOST_TEXTS = 150, 8, 8, 6
_PAIRS, _EXAMPLES, _SEED = 30, 3, 1
# Different values of a field that are counted, and characters of one.
_MOST_NAMES, _MOST_CHARACTERS = 1_000, 100
# What documents without a value have, and those with one beyond the most.
NONE, _OTHERS = "(none)", "(other values)"
_LENGTHS = ((200, "under 200 characters"), (2_000, "under 2,000 characters"), (20_000, "under 20,000 characters"))
_LONGEST, _LOOKED_IN = "20,000 characters or more", 500


@dataclass(frozen=True)
class Loss:
    """The documents with a value, and how many of them are duplicates."""

    JSON = ("value", "documents", "duplicates", "share")

    value: str
    documents: int
    duplicates: int

    @property
    def share(self) -> float:
        """The share of the documents that are duplicates."""
        return self.duplicates / self.documents if self.documents else 0.0


@dataclass(frozen=True)
class LossesBy:
    """Losses by the values of a ``field``, or by what texts show; estimated from a sample if this ``is_estimate``."""

    by: By
    field: str | None
    is_estimate: bool
    values: tuple[Loss, ...]


@dataclass(frozen=True)
class Alarm:
    """A value with implausibly many duplicates among its documents; of all documents, there is no ``value``.

    The ``reason`` is the likeliest one; None if no texts were compared. ``examples`` are the ids of some duplicates.
    """

    JSON = ("by", "field", "value", "documents", "duplicates", "share", "is_estimate", "reason", "examples")

    by: By | None
    field: str | None
    loss: Loss
    is_estimate: bool
    reason: Reason | None
    examples: tuple[str, ...]

    @property
    def value(self) -> str | None:
        """The value."""
        return self.loss.value if self.by else None

    @property
    def documents(self) -> int:
        """The documents with it."""
        return self.loss.documents

    @property
    def duplicates(self) -> int:
        """How many of them are duplicates."""
        return self.loss.duplicates

    @property
    def share(self) -> float:
        """The share of them that are duplicates."""
        return self.loss.share

    @property
    def sentence(self) -> str:
        """What to say of it, and what to do."""
        of = f" of {self._named}" if self.by else ""
        if self.is_estimate:
            count = f"about {rounded(self.duplicates)} of {rounded(self.documents)} documents"
        else:
            count = f"{self.duplicates:,} of {counted(self.documents, 'document')}"
        said, advice = _SAID[self.reason]
        return f"{percent(self.share)}{of} would go ({count}): {said}. Look at {listed(self.examples)}. {advice}"

    @property
    def _named(self) -> str:
        return named(self.by, self.field, self.loss.value)


_SAID: dict[Reason | None, tuple[str, str]] = {
    "copies": ("likely true copies", "If they are, let them go."),
    "form": ("likely filled-in forms", "To keep those whose numbers differ, add --numbers 0.5."),
    "boilerplate": ("likely the same footer, notice or menu around other texts", "Remove it by --strip REGEX."),
    "empty": ("likely hardly any text of their own", "Leave such documents out."),
    "log": ("likely lines of logs", "Leave them out, or add --numbers 0.5."),
    "table": ("likely rows of tables", "Leave them out, or add --numbers 0.5."),
    "code": ("likely source code, alike in headers or structure", "Leave it out, or remove headers by --strip REGEX."),
    "noise": ("likely unreadable text, as of a bad scan", "Leave such documents out."),
    None: ("fingerprints alone decided", "Compare texts, without --estimate or --distance, to see why."),
}


@dataclass(frozen=True)
class Certificate:
    """Random pairs of a duplicate and its canonical document: how similar they are, and why they count as near.

    ``reasons`` counts the likeliest ones. Of the similarities there are the lowest and the median.
    """

    pairs: int
    equal: int
    lowest: float | None
    median: float | None
    reasons: Mapping[str, int]


@dataclass(frozen=True)
class Losses(Result):
    """What goes when the duplicates go.

    >>> losses_of(groups).sentence
    '1 of 3 documents (33%) would go.'
    """

    JSON = ("documents", "duplicates", "share", "alarms", "by", "certificate")

    total: Loss
    by: tuple[LossesBy, ...]
    alarms: tuple[Alarm, ...]
    certificate: Certificate

    @property
    def documents(self) -> int:
        """All documents."""
        return self.total.documents

    @property
    def duplicates(self) -> int:
        """The documents that go."""
        return self.total.duplicates

    @property
    def share(self) -> float:
        """The share of the documents that go."""
        return self.total.share

    @property
    def sentence(self) -> str:
        """How many documents would go."""
        return f"{self.duplicates:,} of {counted(self.documents, 'document')} ({percent(self.share)}) would go."

    def shown(self) -> Shown:
        """Return the losses by values for people."""
        rows = [(named(each.by, each.field, loss.value), *_counts(loss)) for each in self.by for loss in each.values]
        columns = ("documents of", "documents", "would go", "share")
        return Shown(self.sentence[:-1], columns, rows, len(rows), [each.sentence for each in self.alarms])

    def over(self, most: float) -> tuple[str, Loss] | None:
        """Return of what more than a share goes, and how much: of a value, or of all documents; None if nothing.

        >>> losses_of(groups).over(0.9)
        """
        for each in self.by:
            for loss in each.values:
                if each.by == "field" and loss.documents >= LEAST and loss.share > most:
                    return named(each.by, each.field, loss.value), loss
        return ("all documents", self.total) if self.share > most else None


def percent(share: float) -> str:
    """Write a share; one that is not 0 or 1 does not look so.

    >>> percent(0.9997), percent(0.25), percent(0.0004)
    ('99.97%', '25%', '0.04%')
    """
    written = f"{share:.0%}"
    return written if share in (0, 1) or 0.01 <= share <= 0.99 else f"{share:.2%}"


def named(by: str | None, field: str | None, value: str) -> str:
    """Write a value with what it is of."""
    return f"{field or by} {shortened(value)!r}"


def _counts(loss: Loss) -> tuple[str, str, str]:
    return f"{loss.documents:,}", f"{loss.duplicates:,}", percent(loss.share)


# ---- values of documents


@dataclass
class Values:
    """The value of each document at a path, or what its text shows: of a bounded number of names, four bytes each."""

    by: By
    path: str | None = None
    codes: array[int] = field(default_factory=lambda: array("i"))
    names: dict[str, int] = field(default_factory=dict)

    def add(self, document: Mapping[str, Any]) -> None:
        """Note the first value of a document."""
        path = self.path or ""
        found = document.get(path)
        if not isinstance(found, str) or not found:
            found = next((each for each in values_at(document, path) if each not in (None, "")), None)
        self.add_name(_year(found) if self.by == "year" else _name(found))

    def add_name(self, name: str) -> None:
        """Note a value."""
        name = name[:_MOST_CHARACTERS]
        if name not in self.names and len(self.names) >= _MOST_NAMES:
            name = _OTHERS
        self.codes.append(self.names.setdefault(name, len(self.names)))


def _name(value: Any) -> str:
    """Return what a value is called; objects, and numbers that nobody reads, are none."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and abs(value) < _MOST_NUMBER else NONE


_MOST_NUMBER = 1e18
_A_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d{5,})")
_SECONDS_OF_A_YEAR = 31_556_952


def _year(value: Any) -> str:
    """Return the year of a date, however it is written."""
    if isinstance(value, int | float) and abs(value) < _MOST_NUMBER:
        if 1_000 <= value < 3_000:
            return str(int(value))
        return str(1970 + int((timestamp(value) or 0) // _SECONDS_OF_A_YEAR))
    found = _A_YEAR.search(value[:_MOST_CHARACTERS]) if isinstance(value, str) else None
    return found[0] if found else NONE


@dataclass(frozen=True)
class _Column:
    """The values of some documents, which stand for all: ``weights`` says for how many each."""

    values: Values
    positions: Integers
    weights: npt.NDArray[np.float64]

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        return np.array(self.values.codes, dtype=np.int32)


# ---- losses of groups


# Returns documents by their positions; None for a missing one.
Fetch: TypeAlias = Callable[[Sequence[int]], Sequence[Json | None]]


def losses_of(groups: Groups[Corpus], fields: Sequence[Values] = (), fetch: Fetch | None = None) -> Losses:
    """Count the losses of groups by ``fields``, the values of all documents; and by what a sample of texts shows.

    With ``fetch``, the sources and dates of the sample are guessed and counted as well, unless ``fields`` have them.
    """
    return _Looking(groups, fields, fetch).losses()


def wanted(documents: Iterable[Mapping[str, Any]], per: str | None = None, date: str | None = None) -> list[Values]:
    """Return the fields by which losses are counted: those that were named, or else guessed from some documents."""
    source, dated = source_and_date(documents)
    first = Values("field", per) if per else Values("source", source)
    return [each for each in (first, Values("year", date or dated)) if each.path]


class _Looking:
    """Looks at groups: draws documents, and judges groups by some of their texts."""

    def __init__(self, groups: Groups[Corpus], fields: Sequence[Values], fetch: Fetch | None) -> None:
        self._groups = groups
        self._random = Random(_SEED)
        self._firsts = groups.firsts
        self._gone = ~groups.is_canonical
        self._duplicates = np.flatnonzero(self._gone)
        self._explained = np.zeros(len(self._gone), dtype=np.bool_)
        self._looked: dict[int, Looked] = {}
        self._has_texts = groups.corpus.exact is not None
        drawn = [(self._drawn(each, _SAMPLE), len(each)) for each in (self._duplicates, np.flatnonzero(~self._gone))]
        self._sample = np.array([place for some, _ in drawn for place in some], dtype=np.int64)
        self._weights = np.array([count / len(some) for some, count in drawn for _ in some])
        self._pairs = self._drawn(self._duplicates, _PAIRS)
        every = np.arange(len(self._gone))
        self._columns = [_Column(each, every, np.ones(len(every))) for each in fields]
        self._columns += self._of_documents(fetch) if fetch else []
        self._columns += self._of_texts() if self._has_texts else []

    def losses(self) -> Losses:
        """Count, and look at what is implausible."""
        by = tuple(map(self._by, self._columns))
        total = Loss("", self._groups.counts.documents, len(self._duplicates))
        return Losses(total, by, tuple(self._alarms(by, total)), self._certificate())

    # ---- counting

    def _of_documents(self, fetch: Fetch) -> Iterator[_Column]:
        """Yield what the fields of sampled documents have that seem to hold sources and dates."""
        found = fetch(self._sample.tolist())
        there = [place for place, document in enumerate(found) if document]
        documents = [found[place] or {} for place in there]
        known = {column.values.by for column in self._columns}
        for values in wanted(documents):
            if values.by not in known and not ("field" in known and values.by == "source"):
                for document in documents:
                    values.add(document)
                yield _Column(values, self._sample[there], self._weights[there])

    def _of_texts(self) -> Iterator[_Column]:
        """Yield the languages and lengths of sampled texts."""
        languages, lengths, there = Values("language"), Values("length"), list[int]()
        for place, text in enumerate(self._texts(self._sample.tolist())):
            if text is not None:
                there.append(place)
                languages.add_name(language_of([text[:_LOOKED_IN]]) or NONE)
                lengths.add_name(next((name for most, name in _LENGTHS if len(text) < most), _LONGEST))
        for values in (languages, lengths):
            yield _Column(values, self._sample[there], self._weights[there])

    def _texts(self, positions: Sequence[int]) -> list[str | None]:
        """Return the texts of documents; None of those that cannot be read."""
        corpus = self._groups.corpus
        if not self._has_texts:
            return [None] * len(positions)
        found = corpus.texts_at(positions)
        if len(found) == len(positions):
            return list(found)
        return [next(iter(corpus.texts_at([each])), None) for each in positions]

    def _drawn(self, positions: Integers, most: int) -> list[int]:
        if len(positions) <= most:
            return list(map(int, positions))
        return [int(positions[place]) for place in sorted(self._random.sample(range(len(positions)), most))]

    def _by(self, column: _Column) -> LossesBy:
        codes, gone = column.codes, self._gone[column.positions]
        names = column.values.names
        every, lost = (np.bincount(codes, kept * column.weights, len(names)) for kept in (np.ones(len(codes)), gone))
        rows = zip(names, every.round().astype(int).tolist(), lost.round().astype(int).tolist(), strict=True)
        losses = sorted((Loss(*row) for row in rows), key=lambda loss: (-loss.duplicates, loss.value))
        is_estimate = bool(len(column.weights)) and float(column.weights.max()) > 1
        return LossesBy(column.values.by, column.values.path, is_estimate, tuple(losses))

    # ---- alarms

    def _alarms(self, by: Iterable[LossesBy], total: Loss) -> Iterator[Alarm]:
        least = _SUSPICIOUS
        if not self._is_suspicious(self._reasons(self._pairs)):
            least = max(least, min(total.share + _ABOVE, _NEARLY_ALL))
        for column, each in zip(self._columns, by, strict=True):
            large = (loss for loss in each.values if loss.documents >= LEAST and loss.share >= least)
            for loss in islice(large, _MOST_VALUES):
                there = column.positions[column.codes == column.values.names[loss.value]]
                if len(there) >= LEAST and loss.value != _OTHERS:
                    yield from self._alarm(each, loss, there[self._gone[there]])
        if total.documents >= LEAST and total.share >= _SUSPICIOUS:
            # Of values that are estimated, only the sample is explained.
            yield from self._alarm(None, total, self._sample[self._gone[self._sample]])

    def _is_suspicious(self, reasons: Sequence[Reason]) -> bool:
        return sum(reason != "copies" for reason in reasons) >= _SUSPICIOUS * len(reasons)

    def _alarm(self, by: LossesBy | None, loss: Loss, gone: Integers) -> Iterator[Alarm]:
        """Yield an alarm if too many documents go, without those that another alarm has explained."""
        left = gone[~self._explained[gone]]
        share = loss.share * len(left) / max(len(gone), 1)
        if share < _SUSPICIOUS:
            return
        drawn = self._pairs if by is None and len(left) == len(gone) else self._drawn(left, _LOOKED_AT)
        reasons = self._reasons(drawn)
        others = Counter(reason for reason in reasons if reason != "copies")
        suspicious = others.total() / max(len(reasons), 1)
        reason: Reason | None = "copies"
        if not self._has_texts:
            reason, is_alarm = None, share >= _UNKNOWN
        elif suspicious >= _MOSTLY and share * suspicious >= _SUSPICIOUS:
            reason, is_alarm = others.most_common(1)[0][0], True
        else:
            is_alarm = share >= _NEARLY_ALL
        shown = [place for place, own in zip(drawn, reasons, strict=True) if own == reason] if reason else drawn
        if is_alarm:
            self._explained[left] = True
            examples = tuple(self._groups.corpus.named(shown[:_EXAMPLES]))
            own, path, estimated = (by.by, by.field, by.is_estimate) if by else (None, None, False)
            yield Alarm(own, path, loss, estimated, reason, examples)

    def _reasons(self, duplicates: Sequence[int]) -> list[Reason]:
        """Return the likeliest reason why each of some documents is a duplicate."""
        if not self._has_texts:
            return []
        self._look([int(self._firsts[each]) for each in duplicates])
        firsts = [int(self._firsts[each]) for each in duplicates]
        distinct = list(dict.fromkeys(firsts))
        reasons = dict(zip(distinct, reasons_of(self._looked[each] for each in distinct), strict=True))
        return [reasons[each] for each in firsts]

    def _look(self, firsts: Sequence[int]) -> None:
        """Look at the groups that begin with these documents, unless they were looked at before."""
        new = sorted({*firsts} - self._looked.keys())
        members = np.flatnonzero(np.isin(self._firsts, new))
        order = np.argsort(self._firsts[members], kind="stable")
        starts = np.flatnonzero(np.diff(self._firsts[members][order], prepend=-1))
        for group in np.split(members[order], starts[1:]) if new else ():
            first = int(self._firsts[group[0]])
            some = [first, *self._drawn(group[group != first], _MOST_TEXTS - 1)]
            texts = [text for text in self._texts(some) if text is not None]
            self._looked[first] = look_at(self._groups.corpus.settings, texts, len(group))

    # ---- a certificate

    def _certificate(self) -> Certificate:
        drawn = self._pairs
        near = self._groups.to_canonicals(drawn) if drawn else None
        found = near.similarities if near else None
        known = [] if found is None else sorted(round(float(each), 4) for each in found)
        own, stands = (self._texts(some) for some in (drawn, self._groups.canonicals[drawn].tolist()))
        equal = sum(one is not None and one == other for one, other in zip(own, stands, strict=True))
        reasons: dict[str, int] = dict(sorted(Counter(self._reasons(drawn)).items()))
        lowest, median = (known[0], known[len(known) // 2]) if known else (None, None)
        return Certificate(len(drawn), equal, lowest, median, reasons)
