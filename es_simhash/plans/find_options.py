"""How near-duplicates are found: the keywords of `Index.find` and similar methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypedDict, get_args

from es_simhash.errors import InputError
from es_simhash.scheme.query import By, Criteria, Filter
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verdict.verification import Measure, Verification, check_similarity
from es_simhash.scheme.verdict.verifier import measure_named
from es_simhash.text.idf import IdfTable

Candidates: TypeAlias = Literal["keys", "more_like_this"]

# The most that engines return for one query by default (index.max_result_window).
MOST_CANDIDATES = 10_000


class FindOptions(TypedDict, total=False):
    """The keywords of `Index.find` and similar methods (see `FindRequest`)."""

    by: By | None
    distance: int | None
    similarity: float | None
    filter: Filter
    size: int
    source: Sequence[str] | bool
    verify: Literal["exact", "estimate"] | None
    measure: Measure | None
    idf: IdfTable | None
    candidates: Candidates
    max_candidates: int


@dataclass(frozen=True)
class FindRequest:
    """How near-duplicates are found.

    - ``by``, ``distance``, ``similarity``: what a match is (see `es_simhash.scheme.query.Criteria`).
    - ``filter``: a query, or several, that every match must satisfy.
    - ``size``: number of matches to return, the nearest first.
    - ``source``: parts of the documents to return with the matches.
    - ``verify``: "exact" reads the texts of possible matches and compares them, as the scheme's ``verification`` says
      or, if it has none, by its features; "estimate" does not. By default, texts are compared if the scheme has a
      ``verification``.
    - ``measure`` and ``idf`` (a table of weights) replace those of the scheme, and imply "exact".
    - ``candidates="more_like_this"`` needs no field in the index, and implies "exact" too.
    - ``max_candidates``: maximum number of candidates to compare.
    """

    by: By | None = None
    distance: int | None = None
    similarity: float | None = None
    filter: Filter = None
    size: int = 10
    source: Sequence[str] | bool = False
    verify: Literal["exact", "estimate"] | None = None
    measure: Measure | None = None
    idf: IdfTable | None = None
    candidates: Candidates = "keys"
    max_candidates: int = MOST_CANDIDATES

    def __post_init__(self) -> None:
        if self.candidates not in get_args(Candidates):
            raise InputError(
                f"There are no candidates {self.candidates!r}. Choose from: {', '.join(get_args(Candidates))}."
            )
        if self.verify not in (None, "exact", "estimate"):
            raise InputError(f"Matches cannot be verified by {self.verify!r}. Choose 'exact' or 'estimate'.")
        if self.measure is not None:
            measure_named(self.measure)
        if self.verify == "estimate" and self._needs_texts:
            raise InputError("Measures, weights and more_like_this need texts. Leave verify='estimate' out.")
        if self.size < 1 or not 1 <= self.max_candidates <= MOST_CANDIDATES:
            raise InputError(
                f"{self.size} matches of {self.max_candidates} candidates cannot be found. Choose a size from 1, and "
                f"max_candidates from 1 to {MOST_CANDIDATES:,}, which is what engines return at most."
            )

    @property
    def is_exact(self) -> bool:
        """Whether texts are compared even if the scheme has no ``verification``."""
        return self.verify == "exact" or self._needs_texts

    @property
    def _needs_texts(self) -> bool:
        return self.candidates == "more_like_this" or self.measure is not None or self.idf is not None

    def verification(self, settings: Settings) -> Verification | None:
        """Return how texts are compared; None if they are not."""
        if self.verify == "estimate":
            return None
        found = settings.verification
        if found is None and self.is_exact:
            found = Verification((settings.minhash or MinHash()).similarity, weights="scheme")
        return replace(found, measure=self.measure) if found and self.measure else found

    def criteria(self, settings: Settings) -> Criteria:
        """Return what a match is under a scheme."""
        verification = self.verification(settings)
        if self.candidates == "more_like_this" and self.by is None and self.distance is None:
            # Texts are compared, which needs no MinHash.
            assert verification
            least = verification.similarity if self.similarity is None else self.similarity
            return Criteria(None, check_similarity(least), verification)
        return Criteria.of(settings, self.by, self.distance, self.similarity, verification)
