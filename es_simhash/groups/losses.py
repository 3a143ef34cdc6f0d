"""What goes when duplicates go: how many documents, by source, year, language and length, and why.

Deduplication that takes nearly all documents of a source has hardly ever found as many copies: it has met forms,
footers, or texts that say nothing. So shares are counted by values (`es_simhash.groups.loss_counts`), and an alarm
names those that lose implausibly many documents, the likeliest reason (`es_simhash.groups.loss_reasons`, of a sample
of the texts), and some of the documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted, listed, rounded
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.loss_counts import LEAST, OTHERS, By, Column, Loss, LossesBy, Values, named, percent, wanted
from es_simhash.groups.loss_reasons import Reason
from es_simhash.groups.loss_samples import Sample

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
    for values in wanted(documents):
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
