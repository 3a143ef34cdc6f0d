"""What searches of an index have shown, and by it what to ask for: as much as costs less than another request would.

Measured on both servers, through their clients: another request takes more than a millisecond. In that time 300 kB
more come with the first reply on one machine, and half as much over a network of a gigabit a second, so the texts of a
few documents do. To leave parts of a document out costs a server more than to send some kilobytes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from es_simhash._core.json_length import json_length
from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.plans.operations import Plan, Search

# Characters that cost as much as a second request, and as much as leaving them out of a document.
_SECOND_REQUEST, _LEFT_OUT = 256 << 10, 4 << 10
# The most characters of a reply, if documents are as long as those before.
_MOST = 1 << 20
# Documents that are read whole to learn their length, how many searches pass between two looks, and the share of the
# newest in what is known.
_FIRST, _PASS, _NEWEST = 3, 8, 1 / 8
# Candidates of a search before any is known.
_CANDIDATES = 8.0


class Part(Enum):
    """The parts of documents to ask for."""

    FINGERPRINTS = "fingerprints"
    TEXTS = "fingerprints and texts"
    WHOLE = "whole documents"


@dataclass
class SearchExperience:
    """How many candidates searches of an index have, and how long documents and their texts are, in characters.

    They are the averages of the latest searches; lengths are None until one is known. A search has also shown whether
    the server ``refuses_scripts``.
    """

    candidates: float = _CANDIDATES
    document: float | None = None
    text: float | None = None
    refuses_scripts: bool = False
    _searches: int = 0

    def read(self, index: str, documents: Documents) -> Plan[None]:
        """Look at some documents, unless their length is known."""
        if self.document is None:
            body = {"query": {"match_all": {}}, "size": _FIRST, "_source": True, "track_total_hits": False}
            for hit in (yield Search(index, body))["hits"]["hits"]:
                self._measure(documents, hit, Part.WHOLE)

    def part(self, count: float, *, with_texts: bool) -> Part:
        """Return what to ask for of ``count`` documents; ``with_texts`` if these are wanted sooner or later."""
        if self.document is None or self.text is None:
            return Part.FINGERPRINTS
        come = with_texts and count * self.text <= _SECOND_REQUEST
        needed = self.text if come else 0.0
        if self.document <= needed + _LEFT_OUT and count * self.document <= _MOST:
            return Part.WHOLE
        return Part.TEXTS if come else Part.FINGERPRINTS

    def fitting(self, part: Part, count: int) -> int:
        """Return how many documents of ``count`` to ask for at once."""
        length = {Part.FINGERPRINTS: None, Part.TEXTS: self.text, Part.WHOLE: self.document}[part]
        return count if not length else max(1, min(count, int(_MOST / length)))

    def note(self, documents: Documents, hits: Sequence[Json], part: Part) -> None:
        """Take in what the first reply of a search shows: lengths now and then, since measuring takes time."""
        self.candidates = _average(self.candidates, len(hits))
        self._searches += 1
        if part is Part.FINGERPRINTS or not hits or self._searches % _PASS:
            return
        self._measure(documents, hits[0], part)

    def _measure(self, documents: Documents, hit: Json, part: Part) -> None:
        source = hit.get("_source") or {}
        self.text = _average(self.text, len(readable_text(documents, source) or ""))
        if part is Part.WHOLE:
            self.document = _average(self.document, json_length(source))


def _average(known: float | None, newest: float) -> float:
    return newest if known is None else known + _NEWEST * (newest - known)
