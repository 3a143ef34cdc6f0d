"""Parts for LangChain: chunks, and retrieved documents, without their near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from es_simhash.errors import MissingExtraError
from es_simhash.integrations.standing import metadata_of, scheme_and_options, standing
from es_simhash.scheme.verification import Level

try:
    from langchain_core.callbacks import Callbacks
    from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
    from pydantic import BaseModel
except ImportError:
    raise MissingExtraError("langchain-core", "langchain") from None


class _Options(BaseModel):
    """What makes documents near-duplicates."""

    scheme: str = "default"
    similarity: float | Level | None = None
    numbers: float | None = None

    def model_post_init(self, _: Any) -> None:
        """Check the options."""
        scheme_and_options(self.scheme, self.similarity, self.numbers)

    def _kept(self, documents: Sequence[Document]) -> list[Document]:
        groups = standing(self.scheme, self.similarity, self.numbers, [document.page_content for document in documents])
        return [_standing_for([(place, documents[place]) for place in group]) for group in groups]


class NearDuplicateTransformer(_Options, BaseDocumentTransformer):
    """Removes near-duplicates from chunks, before they are embedded: the first of each group is kept.

    ``scheme`` is the name of a preset, or what `Scheme.to_json` wrote; ``similarity`` (the minimum, or a level) and
    ``numbers`` are those of `GroupOptions`. Each removed chunk is near the one that is kept. That is a copy, whose
    metadata has their number, ``near_duplicates``, and ``near_duplicate_ids``: their ids or, where they have none,
    their positions in the list.
    """

    def transform_documents(self, documents: Sequence[Document], **_: Any) -> Sequence[Document]:
        """Return the documents without near-duplicates, in their order."""
        return self._kept(documents)


class NearDuplicateCompressor(_Options, BaseDocumentCompressor):
    """Removes near-duplicates from what a retriever found: the best ranked of each group is kept.

    Options and metadata are those of `NearDuplicateTransformer`.
    """

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the documents without near-duplicates, as they were ranked; the query does not matter."""
        return self._kept(documents)


def _standing_for(group: Sequence[tuple[int, Document]]) -> Document:
    """Return the first of a group, as a copy that names the others."""
    (_, first), *others = group
    if not others:
        return first
    metadata = metadata_of([(document.id or str(place), document.metadata) for place, document in group])
    return first.model_copy(update={"metadata": metadata})
