"""Which documents of groups stand for which, and orders of documents by numbers that tests choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from es_simhash import Canonical
from es_simhash._core.json_codec import Json
from es_simhash.documents.given import Document
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups

BY_RANK = Canonical.by(lambda document: document["rank"], ["rank"])


def ranked(documents: Iterable[tuple[Any, ...]], rank: Callable[[int], Any]) -> Iterator[Document]:
    """Give documents the rank of their position, for `BY_RANK`."""
    for position, (id_, text, *values) in enumerate(documents):
        yield id_, text, {**(values[0] if values else {}), "rank": rank(position)}


def standing(groups: Groups[Corpus]) -> list[list[str]]:
    """Return each canonical document that has duplicates, followed by these."""
    found: dict[str, list[str]] = {}
    for group in groups:
        for member in group.members:
            found.setdefault(member.canonical, []).append(member.id)
    return [each for each in found.values() if len(each) > 1]


def ids(group: Json) -> list[str]:
    """Return the ids of a group as commands print it, the canonical one first."""
    return [member["id"] for member in group["members"]]
