"""JSON lines: one object a line, plain, as exports wrap them, or as the lines of a bulk request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from es_simhash.documents.files.bulk_lines import is_action, sources_of_bulk
from es_simhash.documents.files.compression import Stream
from es_simhash.documents.files.data_file import DataFile
from es_simhash.documents.files.encodings import decoded
from es_simhash.documents.files.json_values import parse_object
from es_simhash.documents.files.lines import read_lines
from es_simhash.documents.files.records import Numbered, RecordError


def read_jsonl(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """The records of a file of JSON lines; blank lines are skipped."""
    objects = _objects(file, stream)
    first = next(objects, None)
    if first is None:
        return
    objects = chain([first], objects)
    yield from sources_of_bulk(file, objects) if is_action(first[1]) else objects


def _objects(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    options = file.options
    begun = False
    for number, line in read_lines(file, stream):
        raw = line.strip()
        if not raw:
            continue
        try:
            record = parse_object(decoded(raw, options))
        except RecordError as bad:
            if not begun and raw in {b"{", b"["}:
                file.reject(number, "JSON over several lines begins here. Make it one line a document: jq -c .", raw)
                return
            file.reject(number, str(bad), raw)
        else:
            yield number, record
        begun = True
