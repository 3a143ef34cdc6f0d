"""What the tools answer; their schemas are made of these."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, Field

Kind = TypeVar("Kind", bound="Answer")


class Answer(BaseModel):
    """An answer, or a part of one, made of a result of the library."""

    @classmethod
    def of(cls: type[Kind], result: object, **more: Any) -> Kind:
        """Take the values of a result that have these names; ``more`` has the others."""
        return cls(**{name: getattr(result, name) for name in cls.model_fields if name not in more}, **more)


class Near(Answer):
    """A near-duplicate of a document, and how near it is."""

    index: str
    id: str
    similarity: float | None = Field(description="Of the texts, from 0 to 1; None if fingerprints alone decided")
    standard_error: float | None = Field(description="Of the similarity, if it is an estimate")
    distance: int | None = Field(description="Number of bits in which the SimHashes differ")
    same_text: bool = Field(description="Whether the texts are equal, not only similar")
    clause: str | None = Field(description="Clause of the rule that decided")
    document: dict[str, Any] = Field(description="Its text fields, and others that were asked for, shortened")


class Found(Answer):
    """The near-duplicates of a text or a document, the nearest first."""

    matches: list[Near]
    candidates: int = Field(description="Number of documents that were compared")
    complete: bool = Field(description="Whether all candidates were compared; if not, narrow the search by a filter")
    refused: int = Field(description="Documents that are similar enough, but differ in their numbers")
    foreign: int = Field(description="Candidates that have fingerprints of another scheme, and were not compared")
    status: str = Field(description="ok; or short or empty, if the text itself has too little to compare")
    missing: list[str] = Field(description="Fields of the index's scope in which the document has no value")


class Checked(Answer):
    """Whether one of the documents given is new."""

    position: int
    id: str | None
    status: str = Field(description="new; near-duplicate; or no text, if nothing is known as it has none to compare")
    is_new: bool = Field(description="Whether it has a text, and no near-duplicate in the index or earlier in the list")
    in_index: list[Near]
    earlier: list[Near] = Field(description="Near-duplicates before it in the list: ids, or positions if it has none")
    complete: bool
    refused: int = Field(description="Documents that are similar enough, but differ in their numbers")
    missing: list[str] = Field(description="Fields of the index's scope in which it has no value: it is new")


class Refused(Answer):
    """A document that could not be read or written."""

    position: int
    id: str | None
    reason: str


class AllChecked(Answer):
    """What became of each document given."""

    documents: list[Checked]
    rejected: list[Refused]


class Explained(Answer):
    """Why two documents are near-duplicates, or why they are not."""

    are_duplicates: bool
    code: str
    verdict: str
    notes: list[str]
    similarity: float | None = Field(description="As the index compares texts, from 0 to 1")
    exact_similarity: float = Field(description="Weighted Jaccard similarity of the features of the scheme")
    minimum: float | None = Field(description="Minimum similarity of near-duplicates")
    distance: int | None
    most_distance: int | None = Field(description="Maximum distance of near-duplicates, if distances count")
    differences: str = Field(description="The changed parts: [-only in a-], {+only in b+}, … for equal parts left out")


class Member(Answer):
    """A document of a group."""

    index: str
    id: str
    canonical: str = Field(description="The document that stands for this one: an id, or INDEX/ID")
    similarity: float | None = Field(description="To the canonical document")
    distance: int | None
    document: dict[str, Any]


class Group(Answer):
    """A group of near-duplicates."""

    group: str
    size: int
    members: list[Member] = Field(description="The first of them, each canonical document before its duplicates")


class Grouped(Answer):
    """The largest groups of near-duplicates, and counts of all."""

    documents: int
    groups: int
    duplicates: int = Field(description="Documents that could be left out: all that others stand for")
    refused: int = Field(description="Pairs that are similar enough, but differ in their numbers")
    without_fingerprint: int = Field(description="Documents without text or whole fingerprint, in no group")
    largest: list[Group]


class Pair(Answer):
    """Two near-duplicates, and the evidence."""

    a: str
    b: str
    a_index: str
    b_index: str
    similarity: float | None
    distance: int | None
    same_text: bool
    clause: str | None
    differences: str = Field(description="The changed parts: [-only in a-], {+only in b+}, … for equal parts left out")


class Sampled(Answer):
    """Near-duplicates of documents drawn at random."""

    drawn: int = Field(description="Number of documents drawn")
    with_near_duplicates: int = Field(description="How many of them have a near-duplicate")
    documents: int = Field(description="Number of documents that they were drawn from")
    refused: int = Field(description="Documents that are similar enough, but differ in their numbers")
    pairs: list[Pair] = Field(description="For each, up to a limit: the document, and its least similar near-duplicate")


class Added(Answer):
    """The documents written."""

    written: int
    rejected: list[Refused]
