"""How near-duplicates are found: the keywords of `Index.find` and similar methods, and all that searches go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from es_simhash._core.arguments import check_types
from es_simhash._core.json_codec import Json, json_length
from es_simhash.documents.decisions import DecisionsThere
from es_simhash.documents.documents import Document, Documents, check_mapping, checked_id, id_of
from es_simhash.documents.sources import OnReject, Rejected, SourceFilter, text_of
from es_simhash.errors import DocumentError, InputError, MissingError
from es_simhash.plans.open_index import IndexRarity
from es_simhash.plans.operations import Plan
from es_simhash.plans.reply_size import DocumentPart, SearchExperience, documents_by_id, searched
from es_simhash.plans.scope_filters import ScopeFilters
from es_simhash.scheme.query import By, Criteria, Filter, name_list, shared_bands
from es_simhash.scheme.scope import Scope, ScopeValues, combined
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Level, Verification, similarity_of
from es_simhash.scheme.verifier import Verifier, verification_of
from es_simhash.text.features import IdfTable

Candidates: TypeAlias = Literal["keys", "more_like_this"]
# Documents that contain the text, or that the text contains.
Relation: TypeAlias = Literal["containing", "contained"]

# The most that engines return for one query by default (index.max_result_window).
MOST_CANDIDATES = 10_000


@dataclass(frozen=True)
class MatchOptions:
    """What a match is.

    - ``by``, ``distance``, ``similarity`` (a number or the name of a level): the fingerprint that decides, the maximum
      number of different bits, and the minimum similarity.
    - ``numbers``: the share of the numbers, of the text with fewer, that must be in the other as well; 0 is none, and
      by default the scheme says. It needs texts.
    - ``estimate``: fingerprints alone decide, and no text is read. By default, texts do as the scheme's
      ``verification`` says, if it has one.
    - ``scope``: which documents are compared at all, in addition to the index's policy.
    """

    by: By | None = None
    distance: int | None = None
    similarity: float | Level | None = None
    numbers: float | None = None
    estimate: bool = False
    scope: Scope | None = None


@dataclass(frozen=True)
class FindOptions(MatchOptions):
    """How near-duplicates are found, in addition to `MatchOptions`: the keywords of `Index.find`.

    - ``filter``: a query, or several, that every match must satisfy.
    - ``size``: number of matches to return, the nearest first.
    - ``source``: parts of the documents to return with the matches.
    - ``idf``, a table of weights, replaces those of the scheme; it needs texts.
    - ``candidates="more_like_this"`` needs no field in the index, and texts as well.
    - ``max_candidates``: maximum number of candidates to compare.
    - ``scope_values``: the values of a text in the fields of both, by their paths; a document has its own.
    - ``relation="containing"`` finds the documents that contain the text instead, ``"contained"`` those that the text
      contains, by the keys of passages in the scheme (`es_simhash.Passages`). Then ``similarity`` is the minimum
      containment, by default that of the level ``near``, .75.

    >>> [match.source for match in index.find(id="1", size=1, source=["title"])]
    [{'title': 'Storm'}]
    """

    filter: Filter = None
    size: int = 10
    source: str | Sequence[str] | bool = False
    idf: IdfTable | None = None
    candidates: Candidates = "keys"
    max_candidates: int = MOST_CANDIDATES
    scope_values: Mapping[str, Any] | None = None
    relation: Relation | None = None

    @property
    def named_source(self) -> list[str]:
        """The parts of documents that the ``source`` names."""
        return [] if isinstance(self.source, bool) else name_list(self.source)

    def __post_init__(self) -> None:
        check_types(self)
        if self.candidates not in get_args(Candidates):
            raise InputError(f"Unknown candidates {self.candidates!r}. Choose from: {', '.join(get_args(Candidates))}.")
        self._check_relation()
        if self.estimate and self.needs_texts:
            raise InputError("Weights, numbers and more_like_this need texts. Leave the estimate out.")
        if self.size < 1 or not 1 <= self.max_candidates <= MOST_CANDIDATES:
            raise InputError(
                f"{self.size} matches of {self.max_candidates} candidates cannot be found. Choose a size from 1, and "
                f"max_candidates from 1 to {MOST_CANDIDATES:,}, which is what engines return at most."
            )

    def _check_relation(self) -> None:
        if self.relation is None:
            return
        if self.relation not in get_args(Relation):
            raise InputError(
                f"Unknown relation {self.relation!r}. Choose from: {', '.join(get_args(Relation))}; or leave "
                "it out, for near-duplicates."
            )
        if self.by or self.distance is not None or self.estimate or self.needs_texts:
            raise InputError(
                f"The relation {self.relation!r} is found by passages and verified in texts. Leave out what compares "
                "fingerprints, weights, numbers and more_like_this."
            )

    @property
    def needs_texts(self) -> bool:
        """Whether texts are compared even if the scheme has no ``verification``."""
        return self.candidates == "more_like_this" or self.idf is not None or bool(self.numbers)

    def verification(self, settings: Settings) -> Verification | None:
        """Return how texts are compared; None if they are not, or by their passages.

        >>> FindOptions(estimate=True).verification(scheme) is None
        True
        """
        if self.relation is not None:
            return None
        found = verification_of(settings, estimate=self.estimate, numbers=self.numbers, needs_texts=self.needs_texts)
        # A table of weights has the features of the fingerprints.
        return replace(found, features="scheme") if found and self.idf is not None else found

    def criteria(self, settings: Settings) -> Criteria:
        """Return what a match is under a scheme.

        >>> FindOptions(similarity="copies").criteria(scheme).similarity
        0.85
        """
        verification = self.verification(settings)
        if self.relation is not None:
            least = "near" if self.similarity is None else self.similarity
            return Criteria(None, similarity_of(least, "containment"))
        if self.candidates == "more_like_this" and self.by is None and self.distance is None:
            # Texts are compared, which needs no MinHash.
            assert verification
            least = verification.similarity if self.similarity is None else self.similarity
            return Criteria(None, similarity_of(least, verification.measure), verification)
        return Criteria.of(settings, self.by, self.distance, self.similarity, verification, self.numbers)


@dataclass(frozen=True)
class QueryDocument:
    """A text whose near-duplicates are searched for, and the document that it comes from, which is never a match.

    ``document`` has its values in the fields of a scope and, unless the text ``is_bare``, the texts of source fields. A
    bare text is compared with each source field.
    """

    text: str
    document: Document
    id: str | None = None
    index: str | None = None
    is_bare: bool = False

    @classmethod
    def of_document(
        cls, documents: Documents, document: Document, id: str | None = None, index: str | None = None
    ) -> QueryDocument:
        """Return the text of a document, indexed or not."""
        return cls(documents.text_of(document), document, id, index)

    @classmethod
    def of_action(cls, documents: Documents, action: Document) -> QueryDocument:
        """Return the text of a bulk action: ``_id`` if present, and ``_source`` or the fields themselves."""
        id_ = checked_id(check_mapping(action, "is"))
        body = check_mapping(action.get("_source", action), "has a body")
        return cls.of_document(documents, body, id_, action.get("_index"))

    def texts(self, documents: Documents) -> dict[str, str]:
        """Return the text for each source field."""
        if self.is_bare:
            return dict.fromkeys(documents.fields, self.text)
        return {path: text_of(self.document, [path]) for path in documents.fields}


def query_documents(
    documents: Documents, actions: Sequence[Document], first: int = 0, on_reject: OnReject | None = None
) -> dict[int, QueryDocument]:
    """Return documents by position, starting with ``first``.

    A document that cannot be read raises a `DocumentError` that names it, or goes to ``on_reject`` and is left out.
    """
    wanted: dict[int, QueryDocument] = {}
    for position, action in enumerate(actions, first):
        try:
            wanted[position] = QueryDocument.of_action(documents, action)
        except DocumentError as error:
            Rejected.given(id_of(action), position, error.problem).hand_to(on_reject)
    return wanted


def query_documents_by_id(
    index: str, documents: Documents, ids: Sequence[str], others: Sequence[str]
) -> Plan[list[QueryDocument]]:
    """Read documents of the index by id: their texts, and ``others`` of their fields."""
    fields = [*documents.fields, *others]
    found = yield from documents_by_id(index, ids, fields)
    hits = {hit["_id"]: hit for hit in found if hit["found"]}
    missing = [id_ for id_ in ids if id_ not in hits]
    if missing:
        # An id alone does not lead to a document with its own routing value.
        found = yield from searched(index, {"ids": {"values": missing}}, len(missing), fields)
        hits |= {hit["_id"]: hit for hit in found}
    for id_ in missing:
        if id_ not in hits:
            raise MissingError(f"The index {index!r} has no document {id_!r}. Check the id.")
    wanted = (hits[id_] for id_ in ids)
    actions = [{"_id": hit["_id"], "_index": hit["_index"], "_source": hit.get("_source") or {}} for hit in wanted]
    return list(query_documents(documents, actions).values())


@dataclass(frozen=True)
class SearchTerms:
    """An ``index`` and its documents, how near-duplicates are found, and what is known from earlier searches.

    ``scope_filters`` are those of the scope, as far as the server can filter by it. ``decisions`` says where those of
    people are, if there are any.
    """

    index: str
    documents: Documents
    options: FindOptions
    rarity: IndexRarity = field(default_factory=IndexRarity)
    experience: SearchExperience = field(default_factory=SearchExperience)
    scope_filters: ScopeFilters | None = None
    decisions: DecisionsThere | None = None

    @cached_property
    def scope(self) -> Scope | None:
        """Which pairs of documents count: by the policy of the index, and by the options."""
        return combined(self.documents.policy.scope, self.options.scope)

    @property
    def scope_paths(self) -> tuple[str, ...]:
        """The fields that a scope reads."""
        return self.scope.paths if self.scope else ()

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

    @property
    def shared_bands(self) -> int | None:
        """How many bands a candidate shares at least; None where similarities do not count."""
        minhash, criteria = self.documents.scheme.minhash, self.criteria
        if minhash is None or criteria.similarity is None:
            return None
        return shared_bands(minhash, criteria, self.experience.documents)

    @cached_property
    def criteria_of_fingerprints(self) -> Criteria:
        """What a match is where no texts are compared."""
        return replace(self.options, estimate=True, numbers=None).criteria(self.documents.scheme)

    def verifier(self) -> Verifier | None:
        """Return what compares texts; None where none are compared."""
        if self.verification is None:
            return None
        return self.rarity.verifier(self.documents.scheme, self.verification, self.options.idf)

    def check_scope_values(self, is_text: bool) -> None:
        """Refuse values of a text that has none in a field of the scope, and values that nothing reads."""
        given, scope = self.options.scope_values or {}, self.scope
        if given and not is_text:
            raise InputError("Documents have values of their own in the fields of a scope. Leave scope_values out.")
        if unread := sorted(set(given) - set(self.scope_paths)):
            raise InputError(f"No scope has the field {', '.join(unread)}. Leave it out of scope_values.")
        if is_text and scope and (missing := scope.missing(given)):
            raise InputError(
                f"A text has no value in {', '.join(missing)}, which the scope needs: {scope}. "
                f"Give it by scope_values (--scope-value {missing[0]}=…)."
            )

    def values_of(self, document: Mapping[str, Any]) -> ScopeValues | None:
        """Return the values of a document in the fields of the scope."""
        return self.scope.values_of(document) if self.scope else None

    def in_scope(self, values: ScopeValues | None, hits: Sequence[Json]) -> tuple[Sequence[int], int]:
        """Return the places of hits in scope with a document, given by its values, and how many lack a value."""
        if self.scope is None:
            return range(len(hits)), 0
        others = [self.values_of(hit.get("_source") or {}) for hit in hits]
        places = [place for place, other in enumerate(others) if self.scope.in_scope(values, other)]
        return places, others.count(None)

    def source(self, part: DocumentPart, compared: Sequence[str]) -> list[str] | bool:
        """Return what to fetch of documents: the part with what is ``compared``; what is asked for may be long."""
        if part is DocumentPart.WHOLE:
            return True
        asked = self.options.named_source if self.brings_asked(part) else []
        source = [*self.scope_paths, *asked, *compared]
        return [*source, *self.documents.fields] if part is DocumentPart.TEXTS else source or False

    def brings_asked(self, part: DocumentPart) -> bool:
        """Return whether a part has all that the caller asks for: in whole documents, or if it is ours."""
        asked, prefix = self.options.source, self.documents.prefix
        if not asked or part is DocumentPart.WHOLE:
            return bool(asked)
        return asked is not True and all(name.startswith(f"{prefix}.") for name in self.options.named_source)

    @cached_property
    def asked_source(self) -> SourceFilter:
        """What the caller asks for of documents, whose source also has the fields read for the comparison."""
        return SourceFilter.of(
            self.options.source if isinstance(self.options.source, bool) else self.options.named_source
        )


@dataclass(frozen=True)
class ScopedText:
    """The text of a document that is searched for."""

    terms: SearchTerms
    wanted: QueryDocument

    @cached_property
    def own_length(self) -> int:
        """The bytes of the text."""
        return json_length(self.wanted.text)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The fields of the scope in which the document has no value."""
        return self.terms.scope.missing(self.wanted.document) if self.terms.scope else ()

    @cached_property
    def _values(self) -> ScopeValues | None:
        """The values of the document in the fields of the scope."""
        return self.terms.values_of(self.wanted.document)

    @cached_property
    def scope_filters(self) -> list[Json]:
        """Queries that all documents in scope match."""
        filters = self.terms.scope_filters
        return [] if filters is None or self._values is None else filters.of(self._values)

    def in_scope(self, hits: Sequence[Json]) -> tuple[list[Json], int]:
        """Return the hits in scope, without the document itself, and how many were left out for want of a value."""
        own, index = self.wanted.id, self.wanted.index
        others = [hit for hit in hits if hit["_id"] != own or index not in (None, hit["_index"])]
        places, unscoped = self.terms.in_scope(self._values, others)
        return [others[place] for place in places], unscoped
