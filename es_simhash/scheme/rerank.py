"""Re-ranking: candidates that an engine found by keys become matches, sorted by exact distance or by similarity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, Integers
from es_simhash._core.humanize import counted, share, shortened, value_text, with_error
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Rows, Shown, cell
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprinting import Fingerprint, Status
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verifier import CLAUSES, EQUAL, NUMBERS, Clause, PairMeasures, Similarities, are_near, clauses
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import VALUE_BITS, Signatures, estimates, standard_error


@dataclass(frozen=True)
class Match:
    """A near-duplicate: where it is, and how near.

    ``distance`` counts differing bits. ``similarity`` is exact if ``is_exact``; else it is estimated from the
    signatures, with this ``standard_error``.
    ``same_text`` marks texts that are equal, not only similar. ``source`` holds the parts of the document that were
    asked for. ``clause`` of the rule decided (see `es_simhash.scheme.verifier`), or ``people`` did. Of two texts
    that were compared by their passages alone, only ``containment`` is known: the share of the contained one that
    stands in the other.

    >>> [match] = index.find(id="1")
    >>> match.id, match.is_exact, match.same_text
    ('2', True, False)
    """

    index: str
    id: str
    distance: int | None
    similarity: float | None
    is_exact: bool = False
    same_text: bool = False
    source: Json | None = None
    standard_error: float | None = None
    clause: Clause | Literal["people"] | None = "similar"
    containment: float | None = None

    @property
    def nearness(self) -> str:
        """The similarity, with its error if it is an estimate, or the containment, for people; empty if unknown."""
        if self.containment is not None:
            return f"{share(self.containment)} contained"
        return "" if self.similarity is None else with_error(self.similarity, self.standard_error)


def source_columns(sources: Iterable[Json | None]) -> tuple[list[str], list[list[str]]]:
    """Return a column for each field of documents, and a row of values for each document, for people.

    >>> source_columns([{"title": "A storm", "meta": {"site": "a"}}, {"title": "Rain"}])
    (['title', 'meta.site'], [['A storm', 'a'], ['Rain', '']])
    """
    found = [source or {} for source in sources]
    values = [dict(leaves(source)) for source in found]
    paths = list(dict.fromkeys(path for each in values for path in each))
    if len(paths) > _MOST_COLUMNS:
        return ["source"], [[shortened(cell(source))] for source in found]
    rows = [[shortened(value_text(each.get(path))) for path in paths] or [""] for each in values]
    return paths if len(paths) > 1 else ["source"], rows


# A document with more fields is shown as JSON in one column.
_MOST_COLUMNS = 5


def leaves(source: Json, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each field that is not an object."""
    for name, value in source.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


# How many matches a repr names.
_SHOWN = 3
_COLUMNS = {
    "index": "string",
    "id": "string",
    "similarity": "double",
    "standard_error": "double",
    "is_exact": "bool",
    "distance": "int64",
    "same_text": "bool",
    "containment": "double",
    "clause": "string",
    "source": "string",
}


@dataclass(frozen=True, repr=False)
class Matches(Sequence[Match], Rows):
    """The near-duplicates of one text, nearest first.

    ``candidates`` counts the documents that were compared, without those that the server itself left out. Unless the
    result is ``complete`` there were more: beyond the caller's limit, or no nearer than the copies of the text found,
    if these are as many as the caller wants. ``foreign`` counts the candidates that could not be compared, as they have
    fingerprints of another scheme, or unreadable ones. ``status`` is that of the text itself; an empty one has no
    matches. Candidates out of scope do not count; ``unscoped`` counts those among them without a value in one of
    the scope's fields. A document that itself is ``missing`` values in some fields has no matches.

    ``refused`` counts the candidates that are similar enough, but share too few numbers. If it ``lacks_decisions`` of
    people, that is the name of the index that has them and could not be read.

    They are a table of Arrow, too (``to_arrow()``), with what they hold of the documents as JSON, and a notebook shows
    them as one.

    >>> matches = index.find(id="1")
    >>> [match.id for match in matches], matches.complete
    (['2'], True)
    """

    matches: tuple[Match, ...]
    candidates: int = 0
    complete: bool = True
    foreign: int = 0
    status: Status = "ok"
    refused: int = 0
    unscoped: int = 0
    missing: tuple[str, ...] = ()
    lacks_decisions: str | None = None

    @overload
    def __getitem__(self, place: int) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Match, ...]: ...
    def __getitem__(self, place: int | slice) -> Match | tuple[Match, ...]:
        """Return the match at a position, or the matches of a slice."""
        return self.matches[place]

    def __len__(self) -> int:
        """Return the number of matches."""
        return len(self.matches)

    def __iter__(self) -> Iterator[Match]:
        """Yield each match."""
        return iter(self.matches)

    def __repr__(self) -> str:
        nearest = [f"{match.id!r} {match.nearness}".rstrip() for match in self.matches[:_SHOWN]]
        more = ", …" if len(self) > _SHOWN else ""
        return f"Matches({self.shown().heading}{': ' if nearest else ''}{', '.join(nearest)}{more})"

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the table, and their types as Arrow calls them."""
        return _COLUMNS

    def rows(self) -> Iterator[list[Any]]:
        """Yield a row for each match."""
        for match in self.matches:
            *known, source = (getattr(match, name) for name in _COLUMNS)
            yield [*known, source if source is None else cell(source)]

    def shown(self) -> Shown:
        """Return the nearest matches, and what keeps them from being all, for people."""
        is_by_passages = any(match.containment is not None for match in self)
        noun = ("match", "matches") if is_by_passages else ("near-duplicate",)
        heading = counted(len(self), *noun) if self else "No near-duplicates"
        details = [f"{counted(self.candidates, 'candidate was', 'candidates were')} compared."]
        columns, rows = shown_matches(self)
        return Shown(heading, columns, rows, len(self), tuple(self._notes()), details, DETAILED_COLUMNS)

    def _notes(self) -> Iterator[str]:
        if self.lacks_decisions:
            yield LACKING.format(self.lacks_decisions)
        if any(match.standard_error is not None for match in self):
            yield "Similarities with ± are estimates, based on fingerprints alone."
        if not self.complete and self and all(match.same_text or match.containment == 1.0 for match in self):
            yield f"There may be more copies: {len(self):,} were asked for. Ask for more to see them."
        elif not self.complete:
            yield "There may be more: not all similar documents were compared. Raise the similarity, or add a filter."
        if self.foreign:
            were = counted(self.foreign, "document was", "documents were")
            yield f"{were} not compared: the fingerprints were made with other settings. Run backfill."
        if self.unscoped:
            has = counted(self.unscoped, "document of the index has", "documents of the index have")
            yield f"Not compared: {has} no value in a field of the scope."
        if self.refused:
            are = counted(self.refused, "document is", "documents are")
            yield f"{are} similar enough, but the numbers in the texts differ."
        if self.missing:
            yield f"The document has no value in a field of the scope: {', '.join(self.missing)}."
        if self.status == "empty":
            yield "The text is empty, and so has no near-duplicates."
        elif self.status == "short":
            yield "The text is short: too short for a reliable comparison by fingerprints."


DETAILED_COLUMNS = ("bits",)
# What results say that lack the decisions in this index.
LACKING = "Decisions of people are not in it. Let the login read the index {!r}."


def shown_matches(matches: Iterable[Match]) -> tuple[list[str], Iterator[list[str | int | None]]]:
    """Return what people see of matches: the columns, and a row for each."""
    found = list(matches)
    columns, sources = source_columns(match.source for match in found)
    rows = ([*_shown(match), *source] for match, source in zip(found, sources, strict=True))
    return ["index", "id", "similarity", "bits", "text", *columns], rows


def _shown(match: Match) -> list[str | int | None]:
    return [match.index, match.id, match.nearness, match.distance, "equal" if match.same_text else ""]


@dataclass(frozen=True, eq=False)
class Compared:
    """Hits with fingerprints of the scheme, and how near each is; ``foreign`` counts the others.

    The SimHashes of the hits differ from ``simhash``; similarities were estimated by the lowest bits of some values
    (``estimated_by``: their number, and the bits). They are None without SimHash or MinHash. ``keyed`` are the values
    that band keys hold, a row each. ``unscoped`` counts the hits left out for want of a value.
    """

    hits: list[Json]
    simhashes: Codes | None
    similarities: Similarities | None
    same_texts: Sequence[bool]
    foreign: int
    simhash: int | None = None
    estimated_by: tuple[int, int] = (1, VALUE_BITS)
    keyed: Signatures | None = None
    unscoped: int = 0

    @cached_property
    def distances(self) -> Integers | None:
        """The distance of each hit; None without SimHash."""
        if self.simhashes is None or self.simhash is None:
            return None
        words = 1 if self.simhashes.ndim == 1 else self.simhashes.shape[1]
        return hamming.distances(arrays.from_ints([self.simhash], 64 * words), self.simhashes).astype(np.int64)

    def distance(self, place: int) -> int | None:
        """Return the distance of one hit."""
        if self.simhashes is None or self.simhash is None:
            return None
        [simhash] = arrays.to_ints(self.simhashes[place : place + 1])
        return hamming.distance(self.simhash, simhash)

    def standard_error(self, similarity: float) -> float:
        """Return the standard error of an estimate."""
        return standard_error(similarity, *self.estimated_by)


def compare(
    settings: Settings,
    scheme_id: str,
    fingerprint: Fingerprint,
    hits: Sequence[Json],
    *,
    prefix: str,
    content: str | None = None,
) -> Compared:
    """Compare a fingerprint with those of hits: their exact distances, and their estimated similarities.

    Given the hash of the text's ``content``, hits with the same text are marked as well.
    """
    objects = [(hit.get("_source") or {}).get(prefix) for hit in hits]
    stored = own_fields.read_all(settings, scheme_id, objects, fingerprint.minhash if settings.minhash else None)
    comparable = [hits[place] for place in stored.places]
    same = [content is not None and each == content for each in stored.contents]
    foreign, simhash = len(hits) - len(comparable), fingerprint.simhash
    if settings.minhash is None or fingerprint.minhash is None:
        return Compared(comparable, stored.simhashes, None, same, foreign, simhash)
    (size, bits), found = own_fields.estimated_by(settings), stored.similarities
    if found is None:
        assert stored.values is not None
        found = estimates(fingerprint.signature[:size], stored.values, bits)
    return Compared(comparable, stored.simhashes, found, same, foreign, simhash, (size, bits), stored.keyed)


@dataclass(frozen=True)
class Measured:
    """Hits compared by their fingerprints, and what was measured of their texts, where texts were compared at all.

    ``exact`` has NaN where a text is not known.
    """

    compared: Compared
    exact: PairMeasures | None = None

    @cached_property
    def is_exact(self) -> npt.NDArray[np.bool_]:
        """Whether the text of each hit was compared."""
        if self.exact is None:
            return np.zeros(len(self.compared.hits), dtype=np.bool_)
        return ~np.isnan(self.exact.similarities)

    @cached_property
    def texts(self) -> PairMeasures:
        """The similarity of each hit's text: the measured one, else the estimated similarity, else NaN."""
        estimated = self.compared.similarities
        if estimated is None:
            estimated = np.full(len(self.compared.hits), np.nan)
        if self.exact is None:
            return PairMeasures.of_similarities(estimated)
        return PairMeasures(np.where(self.is_exact, self.exact.similarities, estimated), self.exact.meets)

    def shown(self, place: int) -> float | None:
        """Return the similarity of a hit, 0 where too few numbers are shared; None if it is not known."""
        if not self.texts.meets[place]:
            return 0.0
        similarity = float(self.texts.similarities[place])
        return None if math.isnan(similarity) else similarity


NOTHING = Measured(Compared([], None, None, [], 0))


def matches_of(
    measured: Measured,
    criteria: Criteria,
    *,
    status: Status = "ok",
    complete: bool = True,
    with_source: bool = False,
    size: int | None = None,
) -> Matches:
    """Return the ``size`` nearest hits that meet the criteria, by default all; ties in the order of index and id."""
    compared = measured.compared
    if not compared.hits:
        foreign, unscoped = compared.foreign, compared.unscoped
        return Matches((), foreign, complete, foreign, status, unscoped=unscoped)
    found = clauses(criteria, None if criteria.distance is None else compared.distances, measured.texts)
    matches = []
    for place in np.flatnonzero(are_near(found)).tolist():
        hit, is_exact, similarity = compared.hits[place], bool(measured.is_exact[place]), measured.shown(place)
        match = Match(
            hit["_index"],
            hit["_id"],
            compared.distance(place),
            similarity,
            is_exact=is_exact,
            same_text=compared.same_texts[place],
            source=hit["_source"] if with_source else None,
            standard_error=None if is_exact or similarity is None else compared.standard_error(similarity),
            clause=CLAUSES[EQUAL if compared.same_texts[place] else found[place]],
        )
        matches.append(match)
    matches.sort(key=nearest_first(criteria))
    candidates = len(compared.hits) + compared.foreign
    refused = int(np.count_nonzero(found == NUMBERS))
    return Matches(tuple(matches[:size]), candidates, complete, compared.foreign, status, refused, compared.unscoped)


def nearest_first(criteria: Criteria) -> Callable[[Match], tuple[float, float, str, str]]:
    """Return the key that sorts matches, those of unknown distance last."""

    def key(match: Match) -> tuple[float, float, str, str]:
        distance, farness = np.inf if match.distance is None else match.distance, -(match.similarity or 0.0)
        first, second = (distance, farness) if criteria.similarity is None else (farness, distance)
        return first, second, match.index, match.id

    return key
