"""How many of the documents that a gate has answered were duplicates: of all, and of each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import islice
from typing import Any

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import values_at
from es_simhash.documents.guess import source_and_date
from es_simhash.gate.requests import Answer, Asked
from es_simhash.gate.verdict import Verdict
from es_simhash.groups.loss_counts import LEAST, MOST_NAMES, Loss, named, percent

# Documents from which the field of sources is guessed, fields of them that are kept, and characters of a value.
_GUESSED, _MOST_FIELDS, _MOST_CHARACTERS = 200, 50, 100
# Sources that sentences name, and those that metrics do.
_SHOWN, _MEASURED = 3, 20


class Answered:
    """Counts ``documents`` and ``duplicates``, and both of at most a thousand sources."""

    def __init__(self) -> None:
        self.documents = self.duplicates = 0
        self._first: list[tuple[Mapping[str, Any], bool]] = []
        self._path: str | None = None
        self._sources: dict[str, Loss] = {}
        self._measured: set[str] = set()

    def add(self, asked: Sequence[Asked], answers: Sequence[Answer]) -> None:
        """Count documents; the first ones show which field has their sources."""
        for each, answer in zip(asked, answers, strict=True):
            is_duplicate = isinstance(answer, Verdict) and answer.kind in ("equal", "near-duplicate")
            self.documents += 1
            self.duplicates += is_duplicate
            if self.documents <= _GUESSED:
                self._first.append((_cut(_body(each.document)), is_duplicate))
                if self.documents == _GUESSED:
                    self._path, self._sources = self._by_source()
                    self._first.clear()
            elif self._path:
                _count(self._sources, self._path, _body(each.document), is_duplicate)

    @property
    def sentence(self) -> str:
        """How many there were."""
        said = f"{counted(self.documents, 'document was', 'documents were')} answered."
        if not self.duplicates:
            return said
        loss = Loss("", self.documents, self.duplicates)
        return f"{said} {percent(loss.share)} of them ({self.duplicates:,}) were duplicates."

    @property
    def warnings(self) -> list[str]:
        """Sentences on the sources that sent mostly duplicates."""
        path, sources = self._by_source()
        large = nlargest(_SHOWN, filter(_is_alarming, sources.values()), key=lambda loss: loss.duplicates)
        return [
            f"{percent(loss.share)} of {named(None, path, loss.value)} were duplicates "
            f"({loss.duplicates:,} of {loss.documents:,}). Look at some of them."
            for loss in large
        ]

    def measured(self) -> list[Loss]:
        """Return the first sources that sent mostly duplicates, once their field is sure; they stay when it is over."""
        # Another thread may count.
        losses = [] if self._first else list(self._sources.values())
        alarming = (loss.value for loss in filter(_is_alarming, losses) if loss.value not in self._measured)
        self._measured.update(list(alarming)[: _MEASURED - len(self._measured)])
        return [loss for loss in losses if loss.value in self._measured]

    def _by_source(self) -> tuple[str | None, dict[str, Loss]]:
        """Return the field of sources and their counts; guess it until it is sure."""
        first = self._first.copy()
        if not first:
            return self._path, self._sources
        path, found = source_and_date(body for body, _ in first)[0], dict[str, Loss]()
        for body, is_duplicate in first if path else ():
            _count(found, str(path), body, is_duplicate)
        return path, found


def _count(sources: dict[str, Loss], path: str, body: Mapping[str, Any], is_duplicate: bool) -> None:
    # Nothing that metrics cannot write.
    name = str(next(values_at(body, path), None))[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
    if name in sources or len(sources) < MOST_NAMES:
        loss = sources.get(name) or Loss(name, 0, 0)
        sources[name] = Loss(name, loss.documents + 1, loss.duplicates + is_duplicate)


def _is_alarming(loss: Loss) -> bool:
    return loss.documents >= LEAST and 2 * loss.duplicates > loss.documents


def _body(document: Any) -> Mapping[str, Any]:
    body = document.get("_source", document) if isinstance(document, Mapping) else None
    return body if isinstance(body, Mapping) else {}


def _cut(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return short values of some fields, which are kept for a while."""
    some = ((name, value) for name, value in islice(body.items(), _MOST_FIELDS) if isinstance(value, str | int | float))
    return {name: value[:_MOST_CHARACTERS] if isinstance(value, str) else value for name, value in some}
