"""What the runners for published datasets share: records of files, and the groups that `dedup` makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from es_simhash import GroupOptions, Scheme, dedup
from es_simhash._core.json_codec import Json
from es_simhash.documents.files import read_documents
from es_simhash.documents.sources import Rejected


def records(files: Sequence[str]) -> Iterator[Json]:
    """Yield the records of files of any format that `dedup` reads."""
    return (dict(found.document) for found in read_documents(files, on_reject=_refuse))


def _refuse(rejected: Rejected) -> None:
    raise ValueError(f"{rejected.file}:{rejected.line}: {rejected.reason}")


def groups_of(scheme: Scheme, options: GroupOptions, documents: Sequence[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return the group of each document that is in one, by ids."""
    with dedup(documents, scheme=scheme, **vars(options)) as found:
        groups = [frozenset(group) for group in found.ids()]
    return {id_: group for group in groups for id_ in group}
