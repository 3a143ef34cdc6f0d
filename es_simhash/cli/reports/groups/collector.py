"""The report on all groups: totals, histograms and the largest groups, gathered as groups and pairs arrive.

Only the largest groups are kept, so memory does not grow with the number of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heappush, heappushpop, nsmallest
from typing import Any, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.groups.histograms import DistanceBin, PairCounts, Similarities, SizeBin, Sizes
from es_simhash.cli.reports.groups.timeline import Dates, Timeline
from es_simhash.documents.sources import text_of
from es_simhash.errors import DocumentError
from es_simhash.groups.groups import Counts, Group, Member
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.plans.explain.excerpts import Piece, changes, excerpt
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope

# The index and the id of a document.
Key: TypeAlias = tuple[str, str]
# Returns the sources of the documents with these keys, in order; None for a missing one.
Fetch: TypeAlias = Callable[[Sequence[Key]], Sequence[Json | None]]

# The length of the excerpts from canonical texts, and from texts with a shared key.
_EXCERPT = 500
_EXCERPT_OF_KEY = 160


@dataclass(frozen=True)
class Setup:
    """The settings of a grouping.

    ``name`` is that of the index or of the files. Texts are in the ``fields`` of documents, or without any in all
    strings at the top level; dates, if known, are in the ``date_field``. The other settings are those of
    `es_simhash.groups.options.GroupOptions`, with the name of the canonical document's order. ``link`` returns
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
class ShownKey:
    """A shared key with an excerpt from its example; None if that cannot be read."""

    key: SharedKey
    excerpt: tuple[Piece, ...] | None


@dataclass(frozen=True)
class ShownMember:
    """A member, and how its text differs from that of the document that stands for it.

    ``changes`` is None if a text cannot be read, and empty if the scheme sees no difference; ``is_same`` means equal
    texts.
    """

    member: Member
    changes: tuple[Piece, ...] | None
    is_same: bool


@dataclass(frozen=True)
class ShownCanonical:
    """A canonical document with the beginning of its text, None if it cannot be read, and some of its duplicates."""

    member: Member
    excerpt: tuple[Piece, ...] | None
    duplicates: tuple[ShownMember, ...]


@dataclass(frozen=True)
class ShownGroup:
    """A group: how many of its documents are ``canonicals``, and some of these, with the members least like them.

    ``is_form`` says whether it looks like a form.
    """

    id: str
    size: int
    similarity: float | None
    distance: int | None
    canonicals: int
    is_form: bool
    shown: tuple[ShownCanonical, ...]

    @property
    def unshown(self) -> int:
        """The number of members that are not shown."""
        return self.size - sum(1 + len(each.duplicates) for each in self.shown)


@dataclass(frozen=True)
class GroupReport:
    """The contents of the page about groups; ``forms`` are the first documents of those that look like forms."""

    setup: Setup
    counts: Counts
    sizes: tuple[SizeBin, ...]
    similarities: Similarities | None
    distances: tuple[DistanceBin, ...]
    timeline: Timeline | None
    largest: tuple[ShownGroup, ...]
    shared_keys: tuple[ShownKey, ...]
    omitted: Omitted
    forms: Sequence[str]


@dataclass(frozen=True, order=True)
class _Ranked:
    """One of the largest groups so far; larger groups, and of equal ones earlier, compare as greater."""

    size: int
    turn: int
    canonicals: int
    group: Group


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
        self._largest: list[_Ranked] = []
        self._sizes = Sizes()
        self._pairs = PairCounts(setup.criteria.similarity)
        self._dates = Dates()

    def add(self, group: Group) -> None:
        """Add a group."""
        size = len(group.members)
        self._sizes.add(size, sum(not member.is_canonical for member in group.members))
        self._turn -= 1
        if len(self._largest) < self._most_groups:
            heappush(self._largest, self._ranked(size, group))
        elif self._largest and size > self._largest[0].size:
            heappushpop(self._largest, self._ranked(size, group))

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
        largest = sorted(self._largest, reverse=True)
        keys = [_key(member) for ranked in largest for member in ranked.group.members]
        texts = _texts(self._setup, [*keys, *(key.example for key in shared_keys)], fetch)
        return GroupReport(
            self._setup,
            counts,
            tuple(self._sizes.bins()),
            self._pairs.similarities(),
            tuple(self._pairs.distances()),
            self._dates.timeline(),
            tuple(self._shown(ranked, texts, set(forms)) for ranked in largest),
            tuple(ShownKey(key, self._excerpt(texts.get(key.example), _EXCERPT_OF_KEY)) for key in shared_keys),
            omitted,
            forms,
        )

    def _ranked(self, size: int, group: Group) -> _Ranked:
        """Rank a group, cut to the members to show."""
        duplicates = [each for each in group.members if not each.is_canonical]
        least = nsmallest(self._most_members, duplicates, key=_likeness)
        standing = {each.canonical for each in (group.canonical, *least)}
        shown = [each for each in group.members if each in least or (each.is_canonical and each.canonical in standing)]
        canonicals = len(group.members) - len(duplicates)
        return _Ranked(size, self._turn, canonicals, Group(group.id, tuple(shown)))

    def _excerpt(self, text: str | None, most: int) -> tuple[Piece, ...] | None:
        return None if text is None else excerpt(self._setup.scheme, text, most)

    def _shown(self, ranked: _Ranked, texts: Mapping[Key, str], forms: Collection[str]) -> ShownGroup:
        group = ranked.group
        is_form = group.canonical.canonical in forms
        shown = (self._shown_canonical(each, group, texts) for each in group.members if each.is_canonical)
        return ShownGroup(
            group.id, ranked.size, group.similarity, group.distance, ranked.canonicals, is_form, tuple(shown)
        )

    def _shown_canonical(self, canonical: Member, group: Group, texts: Mapping[Key, str]) -> ShownCanonical:
        scheme, text = self._setup.scheme, texts.get(_key(canonical))
        duplicates = [each for each in group.members if each.canonical == canonical.canonical and each != canonical]
        shown = sorted(duplicates, key=_likeness)
        members = tuple(_shown_member(scheme, text, each, texts.get(_key(each))) for each in shown)
        return ShownCanonical(canonical, self._excerpt(text, _EXCERPT), members)


def _key(member: Member) -> Key:
    return member.index, member.id


def _likeness(member: Member) -> tuple[float, int]:
    return 1.0 if member.similarity is None else member.similarity, -(member.distance or 0)


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


def _shown_member(scheme: Scheme, canonical: str | None, member: Member, text: str | None) -> ShownMember:
    if canonical is None or text is None:
        return ShownMember(member, None, False)
    is_same = canonical == text
    return ShownMember(member, () if is_same else changes(scheme, canonical, text), is_same)
