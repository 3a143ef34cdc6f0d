"""How near-duplicates are found: the keywords of `Index.find` and its like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict, get_args

from es_simhash.errors import InputError
from es_simhash.idf import IdfTable
from es_simhash.query import By, Criteria, Filter
from es_simhash.settings import MinHash, Settings, check_similarity
from es_simhash.verification import Measure, measure_named

Candidates: TypeAlias = Literal["keys", "more_like_this"]

# What engines return at most for one query unless an index says otherwise (index.max_result_window).
MOST_CANDIDATES = 10_000


class FindOptions(TypedDict, total=False):
    """The keywords of `Index.find` and its like (see `Options`)."""

    by: By | None
    distance: int | None
    similarity: float | None
    filter: Filter
    size: int
    source: Sequence[str] | bool
    verify: Literal["exact"] | None
    measure: Measure
    idf: IdfTable | None
    candidates: Candidates
    max_candidates: int


@dataclass(frozen=True)
class Options:
    """How near-duplicates are found.

    ``by``, ``distance``, ``similarity``: what a match is (see `es_simhash.query.Criteria`). ``filter``: a query that
    matches must pass, or several. ``size``: how many matches are returned, the nearest. ``source``: the parts of the
    documents that come with the matches. ``verify="exact"``: read the texts and compare their features exactly, by
    ``measure``, with the weights of the scheme or of ``idf``. ``candidates="more_like_this"``: needs no field in the
    index, and implies ``verify="exact"``. ``max_candidates``: how many candidates are compared at most.
    """

    by: By | None = None
    distance: int | None = None
    similarity: float | None = None
    filter: Filter = None
    size: int = 10
    source: Sequence[str] | bool = False
    verify: Literal["exact"] | None = None
    measure: Measure = "jaccard"
    idf: IdfTable | None = None
    candidates: Candidates = "keys"
    max_candidates: int = MOST_CANDIDATES

    def __post_init__(self) -> None:
        if self.candidates not in get_args(Candidates):
            raise InputError(
                f"There are no candidates {self.candidates!r}. Choose from: {', '.join(get_args(Candidates))}."
            )
        if self.verify not in (None, "exact"):
            raise InputError(f"Matches cannot be verified by {self.verify!r}. Choose 'exact', or leave it out.")
        measure_named(self.measure)
        if self.size < 1 or not 1 <= self.max_candidates <= MOST_CANDIDATES:
            raise InputError(
                f"{self.size} matches of {self.max_candidates} candidates cannot be found. Choose a size from 1, and "
                f"max_candidates from 1 to {MOST_CANDIDATES:,}, which is what engines return at most."
            )

    @property
    def is_exact(self) -> bool:
        """Whether texts are compared."""
        return self.verify == "exact" or self.candidates == "more_like_this"

    def criteria(self, settings: Settings) -> Criteria:
        """What a match is under a scheme."""
        if self.candidates == "more_like_this" and self.by is None and self.distance is None:
            # The texts are compared, so no MinHash is needed.
            default = (settings.minhash or MinHash()).similarity
            return Criteria(None, check_similarity(default if self.similarity is None else self.similarity))
        return Criteria.of(settings, self.by, self.distance, self.similarity)
