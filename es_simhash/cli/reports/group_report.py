"""The report on all groups: totals, histograms and the largest groups, gathered as groups and pairs arrive.

Only the largest groups are kept, so memory does not grow with the number of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heappush, heappushpop, nsmallest
from typing import Any, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.charts import Chart, Dates, PairCounts, Sizes
from es_simhash.cli.show.refused import numbers_phrase
from es_simhash.documents.sources import text_of
from es_simhash.errors import DocumentError
from es_simhash.groups.of_index.result import Group, Member
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.result import Counts
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings

# The index and the id of a document.
Key: TypeAlias = tuple[str, str]
# Returns the sources of the documents with these keys, in order; None for a missing one.
Fetch: TypeAlias = Callable[[Sequence[Key]], Sequence[Json | None]]


@dataclass(frozen=True)
class Setup:
    """The settings of a grouping.

    ``name`` is that of the index or of the files. Texts are in the ``fields`` of documents, or without any in all
    strings at the top level; dates, if known, are in the ``date_field``. The other settings are those of
    `es_simhash.groups.of_index.options.GroupOptions`, with the name of the canonical document's order. ``link`` returns
    the address of a group's page elsewhere.
    """

    name: str
    scheme: Scheme
    criteria: Criteria
    fields: Sequence[str]
    canonical: str = "first"
    filter: Json | None = None
    strip: Sequence[str] = ()
    max_bucket: int | None = None
    date_field: str | None = None
    made_at: datetime | None = None
    link: Callable[[str], str] | None = None
    scope: Scope | None = None


@dataclass(frozen=True)
class SharedKey:
    """A key that very many documents share: its ``name``, their number, and one example."""

    name: str
    documents: int
    example: Key


@dataclass(frozen=True)
class Omitted:
    """What the grouping left out, in addition to the counts.

    ``unfingerprinted`` documents have no fingerprint of the scheme, or an empty text. ``cut_off`` counts how often a
    document was not compared by a key because too many documents have it. If groups were extended, only the ``new``
    documents were compared with the others.
    """

    unfingerprinted: int = 0
    cut_off: int = 0
    new: int | None = None


@dataclass(frozen=True)
class LargeGroup:
    """One of the largest groups: its size, how many of its documents are ``canonicals``, and the members to show."""

    size: int
    canonicals: int
    shown: Group


@dataclass(frozen=True)
class GroupReport:
    """What a page says of groups; ``texts`` are those of the documents that it shows and that can be read.

    ``forms`` are the first documents of groups that look like forms.
    """

    setup: Setup
    counts: Counts
    charts: tuple[Chart, ...]
    largest: tuple[LargeGroup, ...]
    shared_keys: Sequence[SharedKey]
    omitted: Omitted
    forms: Sequence[str]
    texts: Mapping[Key, str]


class Collector:
    """Collects groups, pairs, and dates of duplicates for the report.

    The report shows the ``most_groups`` largest groups, each with up to ``most_members`` duplicates: those least like
    the documents that stand for them, which best show whether the thresholds are right.
    """

    def __init__(self, setup: Setup, most_groups: int = 20, most_members: int = 4) -> None:
        self._setup = setup
        self._most_groups = most_groups
        self._most_members = most_members
        self._turn = 0
        # Larger groups, and of equal ones earlier, compare as greater.
        self._largest: list[tuple[int, int, LargeGroup]] = []
        self._sizes = Sizes()
        self._pairs = PairCounts(setup.criteria.similarity)
        self._dates = Dates()

    def add(self, group: Group) -> None:
        """Add a group."""
        size = len(group.members)
        self._sizes.add(sum(not member.is_canonical for member in group.members))
        self._turn -= 1
        if len(self._largest) < self._most_groups:
            heappush(self._largest, (size, self._turn, self._cut(group)))
        elif self._largest and size > self._largest[0][0]:
            heappushpop(self._largest, (size, self._turn, self._cut(group)))

    def add_pairs(self, pairs: Pairs) -> None:
        """Add some of the pairs that link documents."""
        self._pairs.add(pairs)

    def add_dates(self, dates: Iterable[Any]) -> None:
        """Add the dates of duplicates (all members but canonical ones); an invalid date counts as none."""
        self._dates.add(dates)

    def report(
        self,
        counts: Counts,
        fetch: Fetch,
        shared_keys: Sequence[SharedKey] = (),
        omitted: Omitted = Omitted(),
        forms: Sequence[str] = (),
    ) -> GroupReport:
        """Return the report; ``fetch`` is called once, for the documents to show."""
        largest = tuple(each for *_, each in sorted(self._largest, reverse=True))
        keys = [key_of(member) for each in largest for member in each.shown.members]
        texts = _texts(self._setup, [*keys, *(key.example for key in shared_keys)], fetch)
        charts = tuple(self._charts(counts))
        return GroupReport(self._setup, counts, charts, largest, shared_keys, omitted, forms, texts)

    def _charts(self, counts: Counts) -> Iterator[Chart]:
        setup = self._setup
        yield from self._sizes.chart()
        yield from self._pairs.similarities(near(setup.criteria, setup.scheme), counts.valley)
        if simhash := setup.scheme.simhash:
            yield from self._pairs.distances(simhash.bits)
        yield from self._dates.chart(setup.date_field or "date")

    def _cut(self, group: Group) -> LargeGroup:
        """Cut a group to the members to show: the duplicates least like what stands for them, and that."""
        duplicates = [each for each in group.members if not each.is_canonical]
        least = nsmallest(self._most_members, duplicates, key=likeness)
        standing = {each.canonical for each in (group.canonical, *least)}
        shown = [each for each in group.members if each in least or (each.is_canonical and each.canonical in standing)]
        canonicals = len(group.members) - len(duplicates)
        return LargeGroup(len(group.members), canonicals, Group(group.id, tuple(shown), group.diameter))


def key_of(member: Member) -> Key:
    """Return the index and the id of a member."""
    return member.index, member.id


def likeness(member: Member) -> tuple[float, int]:
    """Return how like a member is to the document that stands for it, to sort by."""
    return 1.0 if member.similarity is None else member.similarity, -(member.distance or 0)


def near(criteria: Criteria, settings: Settings) -> str:
    """Describe the criteria of near pairs."""
    simhash = settings.simhash
    asked = numbers_phrase(criteria.verification)
    said = [f"a similarity of at least {criteria.similarity:g}{asked}"] if criteria.similarity is not None else []
    if criteria.distance is not None and simhash:
        said.append(f"a distance of up to {criteria.distance} of {simhash.bits} bits")
    return ", or ".join(said)


def _texts(setup: Setup, keys: Iterable[Key], fetch: Fetch) -> Mapping[Key, str]:
    """Return the texts of documents that can be read."""
    wanted = list(dict.fromkeys(keys))
    texts = {}
    for key, document in zip(wanted, fetch(wanted) if wanted else (), strict=True):
        if document is None:
            continue
        own = setup.fields or [name for name, value in document.items() if isinstance(value, str) and value != key[1]]
        try:
            texts[key] = text_of(document, own)
        except DocumentError:
            continue
    return texts
