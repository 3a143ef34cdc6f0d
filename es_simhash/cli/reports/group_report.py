"""What the page about groups says: charts, and the largest and most doubtful groups with all their members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heappush, heappushpop, nsmallest
from itertools import islice
from math import inf
from typing import Any, TypeAlias

from es_simhash._core.json_codec import Json
from es_simhash.cli.reports import chart_bins
from es_simhash.cli.reports.chart_bins import Chart, PairCounts
from es_simhash.cli.show.groups import natural_threshold
from es_simhash.documents.sources import text_of
from es_simhash.errors import DocumentError
from es_simhash.groups.groups import Counts, Group, Member
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Verification

# The index and the id of a document.
Key: TypeAlias = tuple[str, str]
# Returns the sources of these documents, in order; None for a missing one.
Fetch: TypeAlias = Callable[[Sequence[Member]], Sequence[Json | None]]

# How many groups are shown because they are large, and because they are doubtful; how many duplicates of each have
# their text shown, in the first groups and in all others; how many other members are named.
_MOST_LARGE, _MOST_DOUBTFUL = 100, 100
_MOST_DUPLICATES, _WITH_MANY, _MOST_OF_OTHERS = 4, 20, 1
_MOST_NAMED = 500


@dataclass(frozen=True)
class GroupingSettings:
    """The settings of a grouping.

    ``name`` is that of the index or of the files. Texts are in the ``fields`` of documents, or without any in all
    strings at the top level; dates, if known, are in the ``date_field``. The ``scope`` includes that of the index.
    ``link`` returns the address of a group's page elsewhere.
    """

    name: str
    scheme: Scheme
    criteria: Criteria
    fields: Sequence[str]
    options: GroupOptions
    scope: Scope | None = None
    date_field: str | None = None
    made_at: datetime | None = None
    link: Callable[[str], str] | None = None


@dataclass(frozen=True)
class SharedKey:
    """A key that very many documents share: its ``name``, their number, and one example."""

    name: str
    documents: int
    example: Member


@dataclass(frozen=True)
class LargeGroup:
    """One of the groups on a page: its size, how many of its documents are ``canonicals``, and the members to show.

    ``similarity`` and ``distance`` are those of the whole group; ``doubt`` is how far its least similar member is from
    the threshold. The ``named`` members are shown without texts.
    """

    size: int
    canonicals: int
    similarity: float | None
    distance: int | None
    doubt: float
    shown: Group
    named: tuple[Member, ...] = ()


@dataclass(frozen=True)
class GroupReport:
    """What a page says of groups; ``texts`` are those of the documents that it shows and that can be read.

    The ``largest`` groups are followed by the most doubtful of the others. ``forms`` are the first documents of groups
    that look like forms; ``warnings`` name implausible losses.
    """

    setup: GroupingSettings
    counts: Counts
    charts: tuple[Chart, ...]
    largest: tuple[LargeGroup, ...]
    shared_keys: Sequence[SharedKey]
    forms: Sequence[str]
    warnings: Sequence[str]
    texts: Mapping[Key, str]


def report_of(
    setup: GroupingSettings,
    counts: Counts,
    groups: Iterable[Group],
    pairs: Iterable[Pairs],
    dates: Iterable[Any],
    fetch: Fetch,
    *,
    shared_keys: Sequence[SharedKey] = (),
    forms: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> GroupReport:
    """Return the report on groups, which come with the largest first; ``dates`` are those of duplicates.

    It shows the largest and the most doubtful groups, with those duplicates that are least like the documents that
    stand for them, which best show whether the threshold is right. ``fetch`` is called once, for the documents to show.
    """
    sizes, measures = Counter[int](), PairCounts(setup.criteria.similarity)
    largest: list[LargeGroup] = []
    doubtful: list[tuple[float, int, Group]] = []
    for number, group in enumerate(groups):
        sizes[len(group.members)] += 1
        if number < _MOST_LARGE:
            largest.append(_cut(group, setup.criteria, _MOST_DUPLICATES if number < _WITH_MANY else _MOST_OF_OTHERS))
        else:
            push = heappush if len(doubtful) < _MOST_DOUBTFUL else heappushpop
            push(doubtful, (-_doubt(group, setup.criteria), -number, group))
    for _, _, group in sorted(doubtful, key=lambda each: -each[1]):
        largest.append(_cut(group, setup.criteria, _MOST_OF_OTHERS))
    for some in pairs:
        measures.add(some)
    shown = [member for each in largest for member in each.shown.members] + [key.example for key in shared_keys]
    charts = tuple(_charts(setup, counts, sizes, measures, dates))
    return GroupReport(setup, counts, charts, tuple(largest), shared_keys, forms, warnings, _texts(setup, shown, fetch))


def _charts(
    setup: GroupingSettings, counts: Counts, sizes: Counter[int], pairs: PairCounts, dates: Iterable[Any]
) -> Iterator[Chart]:
    yield from chart_bins.sizes(sizes)
    natural = natural_threshold(counts, setup.options, setup.criteria)
    yield from pairs.similarities(nearness_in_words(setup.criteria, setup.scheme), natural)
    simhash = setup.scheme.simhash
    if simhash and setup.criteria.distance is not None:
        yield from pairs.distances(simhash.bits)
    yield from chart_bins.dates(dates, setup.date_field or "date")


def _doubt(group: Group, criteria: Criteria) -> float:
    """Return how far the least similar member is from the threshold; infinite if one of both is unknown."""
    if group.similarity is None or criteria.similarity is None:
        return inf
    return abs(group.similarity - criteria.similarity)


def _cut(group: Group, criteria: Criteria, most: int) -> LargeGroup:
    """Cut a group to the members to show: the duplicates least like what stands for them, and that."""
    duplicates = [each for each in group.members if not each.is_canonical]
    least = nsmallest(most, duplicates, key=likeness)
    standing = {each.canonical for each in (group.canonical, *least)}
    shown = [each for each in group.members if each in least or (each.is_canonical and each.canonical in standing)]
    canonicals = len(group.members) - len(duplicates)
    measures = group.similarity, group.distance, _doubt(group, criteria)
    are_shown = set(map(key_of, shown))
    named = tuple(islice((each for each in group.members if key_of(each) not in are_shown), _MOST_NAMED))
    return LargeGroup(len(group.members), canonicals, *measures, Group(group.id, tuple(shown)), named)


def key_of(member: Member) -> Key:
    """Return the index and the id of a member."""
    return member.index or "", member.id


def likeness(member: Member) -> tuple[float, int]:
    """Return how like a member is to the document that stands for it, to sort by."""
    return 1.0 if member.similarity is None else member.similarity, -(member.distance or 0)


def nearness_in_words(criteria: Criteria, settings: Settings) -> str:
    """Describe the criteria of near pairs."""
    simhash = settings.simhash
    asked = numbers_phrase(criteria.verification)
    said = [f"a similarity of at least {criteria.similarity:g}{asked}"] if criteria.similarity is not None else []
    if criteria.distance is not None and simhash:
        said.append(f"fingerprints that differ in up to {criteria.distance} of {simhash.bits} bits")
    return ", or ".join(said)


def _texts(setup: GroupingSettings, members: Iterable[Member], fetch: Fetch) -> Mapping[Key, str]:
    """Return the texts of documents that can be read."""
    wanted = {key_of(member): member for member in members}
    texts = {}
    for key, document in zip(wanted, fetch(list(wanted.values())) if wanted else (), strict=True):
        if document is None:
            continue
        own = setup.fields or [name for name, value in document.items() if isinstance(value, str) and value != key[1]]
        try:
            texts[key] = text_of(document, own)
        except DocumentError:
            continue
    return texts


def numbers_phrase(verification: Verification | None) -> str:
    """Return which share of numbers texts must have in common, to end a phrase; empty if it is none."""
    least = verification.numbers if verification else 0
    return f" and at least {least:g} of their numbers in common" if least else ""
