"""How near-duplicates are found: the keywords of `Index.find` and similar methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from es_simhash._core.arguments import check_types
from es_simhash._core.json_codec import Json
from es_simhash.documents.actions import Document, check_mapping, checked_id, id_of
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.documents.sources import text_of
from es_simhash.errors import DocumentError, InputError, MissingError
from es_simhash.plans.operations import Plan, Search
from es_simhash.plans.reply_size import documents_by_id, with_source
from es_simhash.scheme.query import By, Criteria, Filter, name_list
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.levels import Level, similarity_of
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import verification_of
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

    ``document`` has its values in the fields of a scope and, unless the text ``is_bare``, the texts of source fields.
    """

    text: str
    document: Document
    id: str | None = None
    index: str | None = None
    is_bare: bool = False

    @classmethod
    def of_text(cls, text: str, values: Document) -> QueryDocument:
        """Return a bare text, to compare with each source field, and its values in the fields of a scope."""
        return cls(text, values, is_bare=True)

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

    def is_self(self, hit: Json) -> bool:
        """Return whether a hit is this document itself."""
        return bool(hit["_id"] == self.id and self.index in (None, hit["_index"]))


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
        body = {"query": {"ids": {"values": missing}}, "size": len(missing), "_source": False}
        reply = yield Search(index, body)
        hits |= {hit["_id"]: hit for hit in (yield from with_source(index, reply["hits"]["hits"], fields))}
    for id_ in missing:
        if id_ not in hits:
            raise MissingError(f"The index {index!r} has no document {id_!r}. Check the id.")
    wanted = (hits[id_] for id_ in ids)
    actions = [{"_id": hit["_id"], "_index": hit["_index"], "_source": hit.get("_source") or {}} for hit in wanted]
    return list(query_documents(documents, actions).values())
