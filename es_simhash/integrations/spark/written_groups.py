"""Writing groups that were found on Spark into the documents of an index, each partition in a task of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pyspark.sql.datasource import DataSourceWriter, WriterCommitMessage

from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import run
from es_simhash.errors import InputError, StorageError
from es_simhash.groups.of_index.writing import Settling, add_to_mapping
from es_simhash.index import Index
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.live.sweep.writing import Outcome, write
from es_simhash.plans.bulk import RequestSize
from es_simhash.plans.operation_retry import retry
from es_simhash.plans.operations import Action, Refresh
from es_simhash.scheme.mapping import Membership, new_name

_AT_ONCE = 500
_NEEDED = (
    "id",
    "index",
    "group",
    "group_index",
    "group_size",
    "canonical",
    "canonical_index",
    "is_canonical",
    "content",
)


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """What a task has written: ``unwritten`` are the reasons for the first of ``missed`` documents."""

    indices: frozenset[str] = frozenset()
    missed: int = 0
    unwritten: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupsWriter(DataSourceWriter):
    """Writes the fields of groups; ``opened`` connects to the index."""

    opened: Callable[[], AbstractContextManager[Index]]
    documents: Documents
    columns: Sequence[str]
    _are_several: bool = field(init=False)

    def __post_init__(self) -> None:
        if missing := [name for name in _NEEDED if name not in self.columns]:
            raise InputError(f"The rows have no column {missing[0]!r}. Write those of SparkDuplicates.members.")
        with self.opened() as index:
            object.__setattr__(self, "_are_several", len(add_to_mapping(index.engine, index.name, self.documents)) > 1)

    def write(self, iterator: Iterator[Any]) -> Written:
        """Write the groups of some documents."""
        indices: set[str] = set()
        missed: list[str] = []
        with self.opened() as index:
            while rows := list(islice(iterator, _AT_ONCE)):
                indices.update(row["index"] for row in rows)
                missed += self._write(index, rows)
        return Written(frozenset(indices), len(missed), tuple(missed[:1]))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make the groups visible; raise if some documents are without theirs."""
        done = [each for each in messages if isinstance(each, Written)]
        with self.opened() as index:
            for name in sorted(set().union(*(each.indices for each in done))):
                run(retry(Refresh(name), PATIENCE), index.engine)
        if missed := sum(each.missed for each in done):
            first = next(reason for each in done for reason in each.unwritten)
            raise StorageError(
                f"{missed:,} documents are without their groups, the first: {first} Read, group, write again."
            )

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Leave what was written: writing again adds the rest."""

    def _write(self, index: Index, rows: Sequence[Any]) -> list[str]:
        """Write the groups of some documents; return why others were not written."""
        settling = Settling(
            self.documents,
            _Rows(rows),
            {_key(row): place for place, row in enumerate(rows)},
            dict(enumerate(map(self._fields, rows))),
        )
        # They are read first, as if others had changed them: only in the version with this text may they change.
        unread = [(DocumentRef(*_key(row), None, {}), Action("update", row["id"], {}, row["index"])) for row in rows]
        outcome = Outcome()
        prepared = run(settling.settle(unread, PATIENCE), index.engine)
        outcome = run(write(settling, prepared, RequestSize(), PATIENCE), index.engine)
        changed = [
            f"Document {rows[place]['id']!r} has another text now, or is gone." for place in sorted(settling.lost)
        ]
        return [*changed, *(each.reason for each in outcome.rejected)]

    def _fields(self, row: Any) -> Json:
        name = new_name(row["group_index"], row["group"])
        canonical = f"{row['canonical_index']}/{row['canonical']}" if self._are_several else row["canonical"]
        own = Membership(name, row["group_size"], canonical, row["is_canonical"])
        return own.fields(row["distance"], row["similarity"])


@dataclass(frozen=True)
class _Rows:
    """Rows as the documents whose groups are written."""

    rows: Sequence[Any]
    scope_paths: tuple[str, ...] = ()

    def has_scope(self, position: int, document: Json) -> bool:
        return True

    def has_content(self, position: int, content: str) -> bool:
        return bool(self.rows[position]["content"] == content)


def _key(row: Any) -> tuple[str, str]:
    return row["index"], row["id"]
