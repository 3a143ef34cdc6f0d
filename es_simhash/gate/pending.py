"""What a gate accepted, and the index does not show yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.gate.verdict import Verdict
from es_simhash.plans.check import SeenDocuments
from es_simhash.plans.query_documents import QueryDocument
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.scope import ScopeValues

# The index that a document is written to ("": the gate's own), and its id.
Key = tuple[str, str]
OWN = ""


@dataclass(frozen=True)
class Accepted:
    """An accepted document: its verdict, a hash of its text, its values in the scope, when, and who writes it."""

    verdict: Verdict
    content: str
    values: ScopeValues | None
    at: float
    writes: bool


class Pending:
    """Accepted documents by their keys, the oldest first; those for the gate's own index are compared with others."""

    def __init__(self, seen: SeenDocuments) -> None:
        self.seen = seen
        self._accepted: dict[Key, Accepted] = {}

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._accepted)

    def get(self, key: Key) -> Accepted | None:
        """Return what was accepted under a key."""
        return self._accepted.get(key)

    def items(self) -> Iterator[tuple[Key, Accepted]]:
        """Yield all documents, the oldest first."""
        yield from tuple(self._accepted.items())

    def add(self, key: Key, accepted: Accepted, wanted: QueryDocument, made: tuple[Fingerprint, Json]) -> None:
        """Remember a document; it replaces one with the same key."""
        self.forget([key])
        self._accepted[key] = accepted
        if key[0] == OWN:
            self.seen.add(0, wanted, *made)

    def forget(self, keys: Iterable[Key]) -> None:
        """Forget documents, if they are remembered."""
        for key in keys:
            if self._accepted.pop(key, None) is not None and key[0] == OWN:
                self.seen.forget(key[1])

    def shown(self, id: str, content: str | None) -> bool:
        """Return whether the index shows a document that is remembered, as it was accepted."""
        known = self._accepted.get((OWN, id))
        return known is not None and known.content == content
