"""A first look at documents that nobody has described yet, in files, in an index or at an address."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPResponse
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from es_simhash._core.batches import OnProgress
from es_simhash._core.humanize import with_unit
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.rows import Result, Shown
from es_simhash.cli.jobs.groups_report import duplicates_of, report_on
from es_simhash.documents.files import whole_file
from es_simhash.documents.files.data_file import format_by_name
from es_simhash.documents.guess import SAMPLE, Guess, guess
from es_simhash.documents.sources import text_of, what_there_is
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.groups import Groups, Member
from es_simhash.groups.of_texts import TextCorpus, group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.quality.tuning import preset_for
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verification import Level

_TEXT = "text"
_LARGEST, _SOURCES, _TITLE = 3, 10, 70


@dataclass(frozen=True)
class LargeGroup:
    """One of the largest groups: its documents, the lowest similarity in it, and the beginning of its text."""

    documents: int
    similarity: float | None
    text: str


@dataclass(frozen=True)
class OfSource:
    """The documents of a source, and how many of them are duplicates."""

    source: str
    documents: int
    duplicates: int


@dataclass(frozen=True)
class FirstLook(Result):
    """What a first look found: which fields were read, the counts, the largest groups, and the worst sources.

    ``documents`` were read, out of ``of``, if that is known; ``bytes`` is the size of their texts, and
    ``duplicate_bytes`` that of the duplicates' texts; ``of_sources`` is how many sources have duplicates.
    """

    JSON = ("*",)

    name: str
    fields: Guess
    preset: str
    documents: int
    of: int | None
    groups: int
    duplicates: int
    bytes: int
    duplicate_bytes: int
    largest: tuple[LargeGroup, ...]
    sources: tuple[OfSource, ...]
    of_sources: int
    report: str

    def shown(self) -> Shown:
        """Return the largest groups for people."""
        rows = [(each.documents, each.similarity, each.text) for each in self.largest]
        return Shown(self.name, ("documents", "lowest similarity", "text"), rows, self.groups)


def first_look(
    documents: Iterable[tuple[str, Mapping[str, Any]]],
    name: str,
    report: str,
    *,
    of: int | None = None,
    fields: Sequence[str] = (),
    similarity: float | Level | None = None,
    most: int,
    on_progress: OnProgress[int],
) -> FirstLook:
    """Find the near-duplicates among the first documents, given with their ids, and write a report on them."""
    documents = islice(documents, most)
    sample = list(islice(documents, SAMPLE))
    guessed = guess(document for _, document in sample)
    guessed = replace(guessed, texts=tuple(fields)) if fields else guessed
    if not guessed.texts:
        raise DocumentError(_without_text([document for _, document in sample], name))
    reading = _Reading(guessed)
    pairs = reading.pairs(chain(sample, documents))
    head = list(islice(pairs, SAMPLE))
    preset, options = preset_for(text for _, text in head), GroupOptions(similarity=similarity)
    with group_texts(chain(head, pairs), Scheme.preset(preset), options, on_progress) as groups:
        with whole_file(report) as file:
            file.write(_page(groups, name, reading))
        counts = groups.counts
        gone = list(duplicates_of(groups))
        return FirstLook(
            name,
            guessed,
            preset,
            counts.documents,
            of,
            counts.groups,
            counts.duplicates,
            sum(reading.sizes),
            sum(reading.sizes[place] for place in gone),
            tuple(_largest(groups)),
            *reading.worst(gone),
            report,
        )


def _without_text(documents: Sequence[Mapping[str, Any]], name: str) -> str:
    if not documents:
        return f"{name} has no documents that can be read."
    names = dict.fromkeys(chain.from_iterable(documents))
    return f"No field of {name} looks like a text. Name the text fields with --field. {what_there_is(names, ())}"


class _Reading:
    """Reads texts, and notes of each its size, date and source."""

    def __init__(self, guessed: Guess) -> None:
        self.fields = guessed
        self._ids: set[str] = set()
        self.sizes = array("q")
        self.dates: list[Any] = []
        self._sources: list[str] = []
        self._names: dict[str, str] = {}

    def pairs(self, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
        """Yield ids, made distinct, and texts; leave out documents whose text cannot be read."""
        for place, (id_, document) in enumerate(documents, 1):
            try:
                text = text_of(document, self.fields.texts)
            except DocumentError:
                continue
            self.sizes.append(len(text.encode()))
            if self.fields.date:
                self.dates.append(self._value(document, self.fields.date))
            if self.fields.source:
                source = _source_name(self._value(document, self.fields.source))
                self._sources.append(self._names.setdefault(source, source))
            name = id_ if id_ not in self._ids else f"{id_} ({place})"
            self._ids.add(name)
            yield name, text

    def worst(self, duplicates: Iterable[int]) -> tuple[tuple[OfSource, ...], int]:
        """Return the sources with the most duplicates, and how many sources have some."""
        every, gone = Counter(self._sources), Counter(self._sources[place] for place in duplicates if self._sources)
        most = gone.most_common(_SOURCES)
        return tuple(OfSource(source, every[source], count) for source, count in most), len(gone)

    @staticmethod
    def _value(document: Mapping[str, Any], path: str) -> Any:
        return next((value for value in values_at(document, path) if value not in (None, "")), None)


def _source_name(value: Any) -> str:
    text = "(none)" if value is None else str(value)
    return urlsplit(text).netloc or text if "://" in text else text


def _largest(groups: Groups[TextCorpus]) -> Iterator[LargeGroup]:
    for group in islice(groups, _LARGEST):
        [text] = groups.corpus.texts_at([group.members[0].position])
        short = " ".join(text.split())
        short = f"{short[:_TITLE]} …" if len(short) > _TITLE else short
        yield LargeGroup(len(group.members), group.similarity, short)


def _page(groups: Groups[TextCorpus], name: str, reading: _Reading) -> str:
    def fetch(members: Sequence[Member]) -> list[Json | None]:
        return [{_TEXT: text} for text in groups.corpus.texts_at([member.position for member in members])]

    dates = [reading.dates[place] for place in duplicates_of(groups)] if reading.dates else []
    field = reading.fields.date if dates else None
    return report_on(groups, name, [_TEXT], scope=None, dates=dates, date_field=field, fetch=fetch)


MOST_BYTES = 1 << 30
_SECONDS, _BLOCK = 60, 1 << 18


def is_file_at(place: str) -> bool:
    """Return whether this is the address of a file, by its name.

    >>> is_file_at("https://example.org/news.csv.gz"), is_file_at("http://localhost:9200/news")
    (True, False)
    """
    address = urlsplit(place)
    return address.scheme in ("http", "https") and format_by_name(address.path) is not None


@contextmanager
def downloaded(address: str) -> Iterator[str]:
    """Download a file; yield its path, which lasts as long as the block."""
    name = Path(unquote(urlsplit(address).path)).name
    with TemporaryDirectory(prefix="es-simhash-") as folder:
        path = Path(folder) / name
        try:
            with urlopen(address, timeout=_SECONDS) as response, path.open("wb") as file:
                file.writelines(_blocks(response, address))
        except URLError as error:
            raise InputError(f"{address} cannot be downloaded: {error.reason}. Check the address.") from None
        yield str(path)


def _blocks(response: HTTPResponse, address: str) -> Iterator[bytes]:
    left = MOST_BYTES
    while block := response.read(_BLOCK):
        left -= len(block)
        if left < 0:
            raise InputError(f"{address} has more than {with_unit(MOST_BYTES)}. Download it, and try the file.")
        yield block
