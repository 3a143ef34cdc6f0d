"""What goes when duplicates go: how many documents, by source, year, language and length, and why.

Deduplication that takes nearly all documents of a source has hardly ever found as many copies: it has met forms,
footers, or texts that say nothing. So shares are counted by values (`es_simhash.groups.loss_counts`), and an alarm
names those that lose implausibly many documents, the likeliest reason, and some of the documents.

Reasons come from a sample of the texts, drawn with a fixed seed: the same run says the same.

This decides nothing: it says what to look at before duplicates go. Some texts of a group are looked at:

- **empty**: hardly any text, which very many documents have in common,
- **form**: they differ in the same places all over the text (see `es_simhash.groups.form_detection`),
- **boilerplate**: they differ in one place, where each has words of its own, and share the rest; or what two of them
  share stands in other groups as well,
- **log**, **table**, **code**, **noise**: they differ in any of these ways, and look like that,
- **copies**: their texts are equal, or differ as edits do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted, listed, rounded
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.guess import language_of
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.form_detection import Slots, slots_of
from es_simhash.groups.groups import Groups
from es_simhash.groups.loss_counts import (
    LEAST,
    NONE,
    OTHERS,
    By,
    Column,
    Loss,
    LossesBy,
    Values,
    named,
    percent,
    values_to_count,
)
from es_simhash.scheme.settings import Settings

if TYPE_CHECKING:
    from es_simhash.groups.of_index.corpus import IndexCorpus


# The share of documents that go for a reason other than copies, or for any, from which on there is an alarm.
_SUSPICIOUS, _NEARLY_ALL, _UNKNOWN = 0.2, 0.9, 0.5
# The share of the duplicates looked at that have another reason than copies, if that is the likeliest.
_MOSTLY = 0.5
# How far the share of a value lies above that of all documents, if these go as copies.
_ABOVE = 0.1
# Duplicates of a value that are looked at, values, and examples.
_LOOKED_AT, _MOST_VALUES, _EXAMPLES = 8, 8, 3


@dataclass(frozen=True)
class Alarm:
    """A value with implausibly many duplicates among its documents; of all documents, there is no ``value``.

    The ``reason`` is the likeliest one; None if no texts were compared. ``examples`` are the ids of some duplicates.
    """

    JSON = ("by", "field", "value", "documents", "duplicates", "share", "is_estimate", "reason", "examples")

    by: By | None
    field: str | None
    value: str | None
    documents: int
    duplicates: int
    is_estimate: bool
    reason: Reason | None
    examples: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the documents with it that are duplicates."""
        return self.duplicates / self.documents

    @property
    def sentence(self) -> str:
        """What to say of it, and what to do."""
        of = "" if self.value is None else f" of {named(self.by, self.field, self.value)}"
        if self.is_estimate:
            count = f"about {rounded(self.duplicates)} of {rounded(self.documents)} documents"
        else:
            count = f"{self.duplicates:,} of {counted(self.documents, 'document')}"
        said, advice = SAID[self.reason]
        return f"{percent(self.share)}{of} would go ({count}): {said}. Look at {listed(self.examples)}. {advice}"


SAID: dict[Reason | None, tuple[str, str]] = {
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

    documents: int
    duplicates: int
    by: tuple[LossesBy, ...]
    alarms: tuple[Alarm, ...]
    certificate: Certificate

    @property
    def total(self) -> Loss:
        """The loss of all documents."""
        return Loss("", self.documents, self.duplicates)

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


def _counts(loss: Loss) -> tuple[str, str, str]:
    return f"{loss.documents:,}", f"{loss.duplicates:,}", percent(loss.share)


# ---- losses of groups


# Returns documents by their positions; None for a missing one.
Fetch: TypeAlias = Callable[[Sequence[int]], Sequence[Json | None]]


def losses_of(
    groups: Groups[Corpus], fields: Sequence[Values] = (), fetch: Fetch | None = None, among: Integers | None = None
) -> Losses:
    """Count the losses of groups by ``fields``, the values of all documents; and by what a sample of texts shows.

    With ``fetch``, the sources and dates of the sample are guessed and counted as well, unless ``fields`` have them.
    Of a part of the documents, ``among`` has the positions.
    """
    every = np.arange(len(groups.corpus)) if among is None else among
    sample = Sample(groups, every)
    columns = [Column(each, every, np.ones(len(every))) for each in fields]
    if fetch:
        columns += _of_documents(sample, fetch, {each.by for each in fields})
    columns += sample.columns()
    total = Loss("", groups.counts.documents if among is None else len(every), len(sample.duplicates))
    by = tuple(column.losses(sample.gone) for column in columns)
    alarms = tuple(_Alarms(groups, sample).of(columns, by, total))
    return Losses(total.documents, total.duplicates, by, alarms, _certificate(groups, sample))


def alarms_of_new(groups: Groups[IndexCorpus]) -> tuple[Alarm, ...]:
    """Return the alarms of those documents of an index that no run has grouped before."""
    corpus, new = groups.corpus, groups.corpus.new
    if len(new) < LEAST or np.count_nonzero(~groups.is_canonical[new]) < _SUSPICIOUS * LEAST:
        return ()
    return losses_of(groups, (), corpus.sources, new).alarms


def _of_documents(sample: Sample, fetch: Fetch, known: Collection[By]) -> Iterator[Column]:
    """Yield what the fields of sampled documents have that seem to hold sources and dates."""
    found = fetch(sample.positions.tolist())
    there = [place for place, document in enumerate(found) if document]
    documents = [found[place] or {} for place in there]
    for values in values_to_count(documents):
        if values.by not in known and not ("field" in known and values.by == "source"):
            values.add(*documents)
            yield Column(values, sample.positions[there], sample.weights[there])


def _certificate(groups: Groups[Corpus], sample: Sample) -> Certificate:
    drawn = sample.pairs
    near = groups.to_canonicals(drawn) if drawn else None
    found = near.similarities if near else None
    known = [] if found is None else sorted(round(float(each), 4) for each in found)
    own, stands = (sample.texts(some) for some in (drawn, groups.canonicals[drawn].tolist()))
    equal = sum(one is not None and one == other for one, other in zip(own, stands, strict=True))
    reasons: dict[str, int] = dict(sorted(Counter(sample.reasons(drawn)).items()))
    lowest, median = (known[0], known[len(known) // 2]) if known else (None, None)
    return Certificate(len(drawn), equal, lowest, median, reasons)


class _Alarms:
    """Judges shares by some of the duplicates; what an alarm has explained raises no other."""

    def __init__(self, groups: Groups[Corpus], sample: Sample) -> None:
        self._corpus = groups.corpus
        self._sample = sample
        self._explained = np.zeros(len(sample.gone), dtype=np.bool_)

    def of(self, columns: Sequence[Column], by: Sequence[LossesBy], total: Loss) -> Iterator[Alarm]:
        """Yield the alarms of values, then that of all documents."""
        sample, least = self._sample, _SUSPICIOUS
        reasons = sample.reasons(sample.pairs)
        if sum(reason != "copies" for reason in reasons) < _SUSPICIOUS * len(reasons):
            least = max(least, min(total.share + _ABOVE, _NEARLY_ALL))
        for column, each in zip(columns, by, strict=True):
            large = (loss for loss in each.values if loss.documents >= LEAST and loss.share >= least)
            for loss in islice(large, _MOST_VALUES):
                there = column.having(loss.value)
                if len(there) >= LEAST and loss.value != OTHERS:
                    yield from self._alarm(each, loss, there[sample.gone[there]])
        if total.documents >= LEAST and total.share >= _SUSPICIOUS:
            # Of values that are estimated, only the sample is explained.
            yield from self._alarm(None, total, sample.positions[sample.gone[sample.positions]])

    def _alarm(self, by: LossesBy | None, loss: Loss, gone: Integers) -> Iterator[Alarm]:
        """Yield an alarm if too many documents go, without those that another alarm has explained."""
        sample = self._sample
        left = gone[~self._explained[gone]]
        share = loss.share * len(left) / max(len(gone), 1)
        if share < _SUSPICIOUS:
            return
        drawn = sample.pairs if by is None and len(left) == len(gone) else sample.drawn(left, _LOOKED_AT)
        reasons = sample.reasons(drawn)
        others = Counter(reason for reason in reasons if reason != "copies")
        suspicious = others.total() / max(len(reasons), 1)
        reason: Reason | None = "copies"
        if not sample.has_texts:
            reason, is_alarm = None, share >= _UNKNOWN
        elif suspicious >= _MOSTLY and share * suspicious >= _SUSPICIOUS:
            reason, is_alarm = others.most_common(1)[0][0], True
        else:
            is_alarm = share >= _NEARLY_ALL
        shown = [place for place, own in zip(drawn, reasons, strict=True) if own == reason] if reason else drawn
        if is_alarm:
            self._explained[left] = True
            examples = tuple(self._corpus.named(shown[:_EXAMPLES]))
            own, path, value, estimated = (
                (by.by, by.field, loss.value, by.is_estimate) if by else (None, None, None, False)
            )
            yield Alarm(own, path, value, loss.documents, loss.duplicates, estimated, reason, examples)


# Documents drawn on each side, texts of a group that are looked at, and pairs.
_SAMPLE, _MOST_TEXTS, _PAIRS, _SEED = 150, 6, 30, 1
_LENGTHS = ((200, "under 200 characters"), (2_000, "under 2,000 characters"), (20_000, "under 20,000 characters"))
_LONGEST, _LOOKED_IN = "20,000 characters or more", 500


class Sample:
    """Documents drawn ``among`` those of groups, by their ``positions``; ``weights`` says for how many each stands.

    Of the documents, the ``duplicates`` go: they are ``gone``. ``pairs`` are some of these.
    """

    def __init__(self, groups: Groups[Corpus], among: Integers) -> None:
        self._groups = groups
        self._random = Random(_SEED)
        self._firsts = groups.firsts
        self._looked: dict[int, GroupReason] = {}
        self.has_texts = groups.corpus.exact is not None
        self.gone = ~groups.is_canonical
        is_gone = self.gone[among]
        self.duplicates = among[is_gone]
        drawn = [(self.drawn(each, _SAMPLE), len(each)) for each in (self.duplicates, among[~is_gone])]
        self.positions = np.array([place for some, _ in drawn for place in some], dtype=np.int64)
        self.weights = np.array([count / len(some) for some, count in drawn for _ in some])
        self.pairs = self.drawn(self.duplicates, _PAIRS)

    def drawn(self, positions: Integers, most: int) -> list[int]:
        """Draw some documents, in their order."""
        if len(positions) <= most:
            return list(map(int, positions))
        return [int(positions[place]) for place in sorted(self._random.sample(range(len(positions)), most))]

    def texts(self, positions: Sequence[int]) -> list[str | None]:
        """Return the texts of documents; None of those that cannot be read."""
        corpus = self._groups.corpus
        if not self.has_texts:
            return [None] * len(positions)
        found = corpus.texts_at(positions)
        if len(found) == len(positions):
            return list(found)
        return [next(iter(corpus.texts_at([each])), None) for each in positions]

    def columns(self) -> Iterator[Column]:
        """Yield the languages and lengths of the texts."""
        languages, lengths, there = Values("language"), Values("length"), list[int]()
        for place, text in enumerate(self.texts(self.positions.tolist())):
            if text is not None:
                there.append(place)
                languages.add_name(language_of([text[:_LOOKED_IN]]) or NONE)
                lengths.add_name(next((name for most, name in _LENGTHS if len(text) < most), _LONGEST))
        for values in (languages, lengths) if self.has_texts else ():
            yield Column(values, self.positions[there], self.weights[there])

    def reasons(self, duplicates: Sequence[int]) -> list[Reason]:
        """Return the likeliest reason why each of some documents is a duplicate; nothing without texts."""
        if not self.has_texts:
            return []
        firsts = [int(self._firsts[each]) for each in duplicates]
        self._look(firsts)
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
            some = [first, *self.drawn(group[group != first], _MOST_TEXTS - 1)]
            texts = [text for text in self.texts(some) if text is not None]
            self._looked[first] = look_at(self._groups.corpus.settings, texts, len(group))


Reason: TypeAlias = Literal["copies", "form", "boilerplate", "empty", "log", "table", "code", "noise"]

# Bytes of a text, and the size of its group, for there to be hardly any text; equal texts may be a little longer.
_HARDLY_ANY, _ALIKE_BY_CHANCE = 120, 8
_A_NOTICE, _MANY = 600, 50
# In a group of fewer, each may have the header of its site around one text.
_LEAST_AROUND, _LEAST_OWN, _LEAST_SHARE = 8, 3, 0.03
_MOST_COMPARED = 1_500
# The length of shared passages in words, and the share of them that other groups have, too.
_PASSAGE, _RECURS = 5, 0.6
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class GroupReason:
    """The likeliest reason of a group, and the one ``instead`` if other groups share the ``passages``."""

    reason: Reason
    passages: frozenset[tuple[str, ...]] = frozenset()
    instead: Reason = "boilerplate"


def look_at(settings: Settings, texts: Sequence[str], size: int) -> GroupReason:
    """Look at some texts of a group of this ``size``.

    >>> from es_simhash import Scheme
    >>> look_at(Scheme(), ["Storm hits the coast."] * 2, 2).reason
    'copies'
    """
    if not texts:
        return GroupReason("copies")
    length = sorted(len(text.encode()) for text in texts)[len(texts) // 2]
    cut = ((text[:_MOST_COMPARED], text[_MOST_COMPARED:]) for text in dict.fromkeys(texts))
    distinct = list({(" ".join(head.lower().split()), rest): head for head, rest in cut}.values())
    is_notice = length < _A_NOTICE and size >= _MANY and 2 * len(distinct) <= len(texts)
    kind = _kind(texts)
    if is_notice or (length < _HARDLY_ANY and size >= _ALIKE_BY_CHANCE):
        return GroupReason(kind or "empty")
    return _differing(settings, distinct, size, kind) if distinct[1:] else GroupReason("copies")


def _differing(settings: Settings, distinct: Sequence[str], size: int, kind: Reason | None) -> GroupReason:
    slots = slots_of(settings, distinct)
    if kind == "noise" or (kind in ("log", "table") and slots and slots.places):
        return GroupReason(kind)
    if slots and slots.is_form:
        return GroupReason(kind or "form")
    if slots and size >= _LEAST_AROUND and _is_around(slots):
        return GroupReason(kind or "boilerplate")
    return GroupReason("copies", _shared(distinct), kind or "boilerplate")


def reasons_of(looked: Iterable[GroupReason]) -> list[Reason]:
    """Return the reasons of groups: not copies where most of what the texts share stands in other groups, too."""
    groups = list(looked)
    often = Counter(passage for each in groups for passage in each.passages)
    return [each.instead if _recurs(each.passages, often) else each.reason for each in groups]


def _recurs(passages: Collection[object], often: Mapping[Any, int]) -> bool:
    return bool(passages) and sum(often[each] > 1 for each in passages) >= _RECURS * len(passages)


def _is_around(slots: Slots) -> bool:
    """Return whether each text has words of its own, and the same around them."""
    own = sum(map(len, slots.places))
    return bool(slots.wordy) and own >= _LEAST_OWN and slots.share >= _LEAST_SHARE and slots.are_all


def _shared(texts: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the passages that any two of some texts share."""
    passages = [_passages(text) for text in texts[:3]]
    return frozenset().union(*(one & other for one, other in combinations(passages, 2)))


def _passages(text: str) -> frozenset[tuple[str, ...]]:
    found = _WORD.findall(text[:_MOST_COMPARED].lower())
    return frozenset(zip(*(found[start:] for start in range(_PASSAGE)), strict=False))


# ---- kinds of text that are not prose

_STAMP = re.compile(
    r"\W{0,3}(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3}\b)"
)
_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b|HTTP/\d|\[\d+\]")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|<!--)")
_CODE = re.compile(r"[;{}(,:\\]\s*(?://.*|/\*.*)?$|^\s*(?:import\b|from\b|return\b|@\w|</?\w)|[)}\]]$")
_CODE_MARKS = re.compile(r"[{}();=<>\[\]]")
_LEAST_LINES, _LEAST_CELLS, _WORDS_OF_A_CELL = 5, 4, 3
_MOSTLY_OF_REASON, _CODE_LINES, _CODE_DENSITY, _NOISE = 0.7, 0.5, 0.03, 0.4
_LEAST_MARKS, _MOST_OF_A_TOKEN = 3, 5


def _kind(texts: Sequence[str]) -> Reason | None:
    """Return what most of some texts look like; None of prose."""
    kinds = Counter(_kind_of(text[:_MOST_COMPARED]) for text in texts[:3])
    [(kind, count)] = kinds.most_common(1)
    return kind if 2 * count > sum(kinds.values()) else None


def _kind_of(text: str) -> Reason | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if _is_log(lines):
        return "log"
    if _is_table(lines):
        return "table"
    if _is_code(lines):
        return "code"
    return "noise" if _is_noise(text) else None


def _is_log(lines: Sequence[str]) -> bool:
    stamped = sum(bool(_STAMP.match(line)) for line in lines)
    marked = sum(bool(_LEVEL.search(line)) for line in lines)
    return stamped >= _MOSTLY_OF_REASON * len(lines) and 2 * marked >= len(lines)


def _is_table(lines: Sequence[str]) -> bool:
    for delimiter in ("\t", ";", "|", ","):
        cells = [line.split(delimiter) for line in lines]
        if min(map(len, cells)) < _LEAST_CELLS:
            continue
        same = sum(len(one) == len(other) for one, other in pairwise(cells))
        own = [cell for row in cells for cell in row]
        of_words = sum(len(cell.split()) for cell in own) / len(own)
        has_digits = sum(any(map(str.isdigit, cell)) for cell in own)
        if same >= _MOSTLY_OF_REASON * (len(lines) - 1) and of_words < _WORDS_OF_A_CELL and 4 * has_digits >= len(own):
            return True
    return False


def _is_code(lines: Sequence[str]) -> bool:
    """Return whether lines end or begin as code does, and have its brackets and signs outside of comments."""
    own = "\n".join(line for line in lines if not _COMMENT.match(line))
    of_code = sum(bool(_COMMENT.match(line) or _CODE.search(line)) for line in lines)
    return (
        len(lines) >= _LEAST_LINES
        and of_code >= _CODE_LINES * len(lines)
        and len(_CODE_MARKS.findall(own)) >= max(_LEAST_MARKS, _CODE_DENSITY * len(own))
    )


def _is_noise(text: str) -> bool:
    """Return whether much of a text is short pieces instead of words: signs, and letters mixed with digits or signs.

    Scripts without spaces between words are left out.
    """
    tokens = text.split()
    if len(tokens) < _LEAST_LINES or len(text) > _MOST_OF_A_TOKEN * len(tokens):
        return False
    return sum(map(_is_noisy, tokens)) >= _NOISE * len(tokens)


def _is_noisy(token: str) -> bool:
    inner = token.strip("\"'“”‘’()[].,;:!?…-–—")
    if not inner:
        return len(token) > 1
    letters, digits = sum(map(str.isalpha, inner)), sum(map(str.isdigit, inner))
    return bool(letters and digits) or letters + digits < 0.7 * len(inner)
