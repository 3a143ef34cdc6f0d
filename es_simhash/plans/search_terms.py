"""What searches of one index go by, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from es_simhash.documents.documents import Documents
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.index_rarity import IndexRarity
from es_simhash.plans.operations import Plan
from es_simhash.plans.search_experience import SearchExperience
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, is_by_rarity
from es_simhash.text.idf import IdfTable


@dataclass(frozen=True)
class SearchTerms:
    """An ``index`` and its documents, how near-duplicates are found, and what is known from earlier searches."""

    index: str
    documents: Documents
    options: FindRequest
    rarity: IndexRarity = field(default_factory=IndexRarity)
    experience: SearchExperience = field(default_factory=SearchExperience)

    @cached_property
    def verification(self) -> Verification | None:
        """How texts are compared; None where fingerprints decide and the caller asks for no more."""
        verification = self.options.verification(self.documents.scheme)
        if verification is None or (self.criteria.similarity is None and not self.options.needs_texts):
            return None
        return verification

    @cached_property
    def criteria(self) -> Criteria:
        """What a match is."""
        return self.options.criteria(self.documents.scheme)

    def verifier(self) -> Plan[Verifier | None]:
        """Return what compares texts; None where none are compared."""
        verification, scheme = self.verification, self.documents.scheme
        if verification is None:
            return None
        weights: IdfTable | Rarity | None = self.options.idf
        if weights is None and is_by_rarity(scheme, verification):
            weights = yield from self.rarity.table(self.index, self.documents)
        return self.rarity.verifier(scheme, verification, weights)
