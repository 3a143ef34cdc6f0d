"""Parts for LlamaIndex: nodes to index, and retrieved ones, without their near-duplicates."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from es_simhash.errors import MissingExtraError
from es_simhash.integrations.standing import COUNT, IDS, metadata_of, scheme_and_options, standing
from es_simhash.scheme.verification import Level

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TransformComponent
    from pydantic import BaseModel
except ImportError:
    raise MissingExtraError("llama-index-core", "llama-index") from None


class _Options(BaseModel):
    """What makes nodes near-duplicates."""

    scheme: str = "default"
    similarity: float | Level | None = None
    numbers: float | None = None

    def model_post_init(self, context: Any) -> None:
        """Check the options."""
        super().model_post_init(context)
        scheme_and_options(self.scheme, self.similarity, self.numbers)

    def _groups(self, nodes: Sequence[BaseNode]) -> list[list[int]]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        return standing(self.scheme, self.similarity, self.numbers, texts)


class NearDuplicateTransform(_Options, TransformComponent):
    """Removes near-duplicates from nodes, before they are embedded: the first of each group is kept.

    ``scheme`` is the name of a preset, or what `Scheme.to_json` wrote; ``similarity`` (the minimum, or a level) and
    ``numbers`` are those of `GroupOptions`. Each removed node is near the one that is kept. That is a copy, whose
    metadata has their number, ``near_duplicates``, and ``near_duplicate_ids``, one a line, since many stores take no
    lists. Neither is embedded or shown to a model.
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which the component is serialised."""
        return "NearDuplicateTransform"

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> list[BaseNode]:
        """Return the nodes without near-duplicates, in their order."""
        return [_standing_for([nodes[place] for place in group]) for group in self._groups(nodes)]

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Do the same in a thread, so that the event loop goes on."""
        return await asyncio.to_thread(self, nodes, **kwargs)


class NearDuplicatePostprocessor(_Options, BaseNodePostprocessor):
    """Removes near-duplicates from what a retriever found: the best ranked of each group is kept, with its score.

    Options and metadata are those of `NearDuplicateTransform`.
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which the component is serialised."""
        return "NearDuplicatePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        groups = self._groups([each.node for each in nodes])
        return [
            nodes[group[0]].model_copy(update={"node": _standing_for([nodes[place].node for place in group])})
            for group in groups
        ]


def _standing_for(group: Sequence[BaseNode]) -> BaseNode:
    """Return the first of a group, as a copy that names the others."""
    first, *others = group
    if not others:
        return first
    metadata = metadata_of([(node.node_id, {**node.metadata, IDS: _ids(node)}) for node in group])
    return first.model_copy(
        update={
            "metadata": {**metadata, IDS: "\n".join(metadata[IDS])},
            "excluded_embed_metadata_keys": _with_ours(first.excluded_embed_metadata_keys),
            "excluded_llm_metadata_keys": _with_ours(first.excluded_llm_metadata_keys),
        }
    )


def _ids(node: BaseNode) -> list[str]:
    return str(node.metadata.get(IDS, "")).splitlines()


def _with_ours(keys: Sequence[str]) -> list[str]:
    return [*keys, *(key for key in (COUNT, IDS) if key not in keys)]
