"""What searches of an index have shown, and by it what to ask for: as much as costs less than another request would.

Measured on both servers, through their clients: another request takes more than a millisecond. In that time 300 kB
more come with the first reply on one machine, and half as much over a network of a gigabit a second, so the texts of a
few documents do. To leave parts of a document out costs a server more than to send some kilobytes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from es_simhash._core.json_codec import Json, json_length
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.plans.operations import Plan, Search
from es_simhash.plans.reply_size import REPLY_BYTES, ReplySize

# Bytes that cost as much as a second request, and as much as leaving them out of a document.
_SECOND_REQUEST, _LEFT_OUT = 256 << 10, 4 << 10
# Documents that are read whole to learn their length, and the share of the newest in what is known.
_FIRST, _NEWEST = 3, 1 / 8
# Until more documents have shown how long they are, this is how many are asked for with more than their fingerprints.
_UNSEEN = 16
# The length of an ordinary text.
_ORDINARY = 8 << 10
# As many documents are measured as a first list may have. Until then, a search that may have many candidates asks for
# whole documents now and then only, since their list has to be short.
_MEASURED, _PASS = 100, 8
# Candidates of a search before any is known.
_CANDIDATES = 8.0


class Part(Enum):
    """The parts of documents to ask for."""

    FINGERPRINTS = "fingerprints"
    TEXTS = "fingerprints and texts"
    WHOLE = "whole documents"


@dataclass
class SearchExperience:
    """How many ``documents`` an index has, how many candidates its searches have, and how long texts are, in bytes.

    The latter are averages of the latest searches; lengths are None until one is known. Near-duplicates are about as
    long as a text itself, which counts where that is longer. ``replies`` are those to several searches at once,
    ``hits`` those of the caller's own searches, and ``texts`` those read by the ids of candidates. A search has also
    shown whether the server ``refuses_scripts``.
    """

    candidates: float = _CANDIDATES
    document: float | None = None
    text: float | None = None
    refuses_scripts: bool = False
    documents: int = 0
    replies: ReplySize = field(default_factory=ReplySize)
    hits: ReplySize = field(default_factory=ReplySize)
    texts: ReplySize = field(default_factory=ReplySize)
    _whole: int = 0
    _searches: int = 0

    def read(self, index: str, documents: Documents) -> Plan[None]:
        """Count the documents and look at some of them, unless their length is known."""
        if self.document is None:
            body = {"query": {"match_all": {}}, "size": _FIRST, "_source": True, "track_total_hits": True}
            found = (yield Search(index, body))["hits"]
            self.documents = found["total"]["value"]
            for hit in found["hits"]:
                self._measure(documents, hit, Part.WHOLE)

    def part(self, count: float, *, with_texts: bool, own: int = 0) -> Part:
        """Return what to ask for of ``count`` documents; ``with_texts`` if these are wanted sooner or later.

        The text that is searched for has ``own`` bytes.
        """
        if self.document is None or self.text is None:
            return Part.FINGERPRINTS
        text, document = self._lengths(own)
        come = with_texts and count * text <= _SECOND_REQUEST
        needed = text if come else 0.0
        is_known = self._whole >= _MEASURED or self.candidates < _CANDIDATES or self._searches % _PASS == _PASS - 1
        if is_known and document <= needed + _LEFT_OUT and count * document <= REPLY_BYTES:
            return Part.WHOLE
        return Part.TEXTS if come else Part.FINGERPRINTS

    def fitting(self, part: Part, count: int, own: int = 0) -> int:
        """Return how many documents of ``count`` to ask for at once.

        Texts are about as long as the own one; how long the rest of documents is, or texts if ``own`` is 0, only those
        before show.
        """
        if part is Part.FINGERPRINTS:
            return count
        text, document = self._lengths(own)
        fitting = int(REPLY_BYTES / max(1.0, text if part is Part.TEXTS else document))
        if part is Part.WHOLE or not own:
            fitting = min(fitting, max(_UNSEEN, self._whole))
        return max(1, min(count, fitting))

    def size_of_texts(self, own: int) -> ReplySize:
        """Return what shows how many texts to read at once; those of a far longer text show it again."""
        return self.texts if own <= max(_ORDINARY, 4 * self.texts.length) else ReplySize()

    def _lengths(self, own: int) -> tuple[float, float]:
        """Return the lengths to expect of the text of a candidate, and of the whole document."""
        assert self.text is not None
        assert self.document is not None
        text = max(self.text, own)
        return text, self.document - self.text + text

    def note(self, documents: Documents, hits: Sequence[Json], part: Part) -> None:
        """Take in what the first reply of a search shows: all lengths at first, then one, since measuring takes time.

        Measurements let later replies have as many documents.
        """
        self.candidates = _average(self.candidates, len(hits))
        self._searches += 1
        if part is not Part.FINGERPRINTS:
            for hit in hits[: 1 if self._whole >= _MEASURED else None]:
                self._measure(documents, hit, part)

    def _measure(self, documents: Documents, hit: Json, part: Part) -> None:
        source = hit.get("_source") or {}
        self.text = _average(self.text, json_length(readable_text(documents, source) or ""))
        if part is Part.WHOLE:
            self._whole += 1
            self.document = _average(self.document, json_length(source))


def _average(known: float | None, newest: float) -> float:
    return newest if known is None else known + _NEWEST * (newest - known)
