"""A component for Haystack: documents without their near-duplicates, before they are written or after retrieval."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from es_simhash.errors import MissingExtraError
from es_simhash.integrations.standing import metadata_of, scheme_and_options, standing
from es_simhash.scheme.verification import Level

try:
    from haystack import Document, component
except ImportError:
    raise MissingExtraError("haystack-ai", "haystack") from None


@component
class NearDuplicateRemover:
    """Removes near-duplicates: the first of each group is kept, which is the best ranked of what a retriever found.

    ``scheme`` is the name of a preset, or what `Scheme.to_json` wrote; ``similarity`` (the minimum, or a level) and
    ``numbers`` are those of `GroupOptions`. Each removed document is near the one that is kept. That is a copy with the
    same id, whose metadata has their number, ``near_duplicates``, and their ids, ``near_duplicate_ids``. Documents
    without text are kept.
    """

    def __init__(
        self, scheme: str = "default", similarity: float | Level | None = None, numbers: float | None = None
    ) -> None:
        scheme_and_options(scheme, similarity, numbers)  # checks the options
        self.scheme = scheme
        self.similarity = similarity
        self.numbers = numbers

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return the documents without near-duplicates, in their order."""
        groups = standing(
            self.scheme, self.similarity, self.numbers, [document.content or "" for document in documents]
        )
        return {"documents": [_standing_for([documents[place] for place in group]) for group in groups]}

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Do the same in a thread, so that the event loop goes on."""
        return await asyncio.to_thread(self.run, documents)


def _standing_for(group: Sequence[Document]) -> Document:
    """Return the first of a group, as a copy that names the others."""
    first, *others = group
    return replace(first, meta=metadata_of([(each.id, each.meta) for each in group])) if others else first
