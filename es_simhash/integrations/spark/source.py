"""A data source for Spark: the documents of an index, each partition a slice of it, and groups written into them.

Our own readers and writers do it, so no connector is needed where Spark runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, InputPartition, WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import run
from es_simhash.engines.connect import connect
from es_simhash.errors import DocumentError, InputError, StorageError
from es_simhash.groups.of_index.corpus import CopiedFields
from es_simhash.groups.of_index.stored_fingerprints import DocumentReader
from es_simhash.groups.of_index.writing import Settling, add_to_mapping
from es_simhash.index import Index
from es_simhash.integrations.spark.decided import OBEYS
from es_simhash.integrations.spark.frames import stored_type
from es_simhash.live.sweep.reading import DocumentRef, Reading, make_visible
from es_simhash.live.sweep.writing import write
from es_simhash.plans.bulk import RequestSize
from es_simhash.plans.open_index import grouping_noted
from es_simhash.plans.operations import Action, GetMappings, Refresh, Slice, retry
from es_simhash.scheme.mapping import SUPERSEDED, SUPERSEDED_PROPERTIES, Membership, entries, new_name

_SLICES = 8
_REQUIRED = ("index", "url")
_LOGIN = ("api_key", "ca_certs", "user", "password")
_OPTIONS = (*_REQUIRED, *_LOGIN, "slices", "copy")


@dataclass(frozen=True)
class Target:
    """The index that options name, and how to log in at its server."""

    name: str
    url: str
    client: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Target:
        """Read the options of a data source."""
        if unknown := sorted({name.lower() for name in options} - {*_OPTIONS, "path"}):
            raise InputError(f"Unknown option {unknown[0]!r}. Choose from: {', '.join(_OPTIONS)}.")
        for name in _REQUIRED:
            if not options.get(name):
                raise InputError(f"The option {name!r} is missing. Name the index, and the URL of its server.")
        client: dict[str, Any] = {name: options[name] for name in ("api_key", "ca_certs") if name in options}
        if "user" in options:
            client["basic_auth"] = (options["user"], options.get("password", ""))
        return cls(options["index"], options["url"], client)

    @contextmanager
    def opened(self) -> Iterator[Index]:
        """Connect to the index, until the end of the block."""
        with closing(connect(self.url, **self.client)) as engine:
            yield Index(self.name, engine)


class IndexSource(DataSource):
    """The documents of an index, for ``spark.dataSource.register(IndexSource)``; its format is "es_simhash".

    Options are ``index`` and ``url``, to log in ``api_key``, or ``user`` and ``password``, and ``ca_certs``; ``slices``
    are the partitions of each index, by default 8; ``copy`` are the fields of canonical documents, with commas between
    them, that duplicates get. Columns are ``id``, ``index``, ``text``, which is what the index fingerprints, and the
    struct of our fields. With a ``schema`` they are those that it names, also others of the documents.

    Rows of `SparkDuplicates.members` can be written: the fields of groups are added to their documents, unless their
    texts have changed since. The name of a group is that of a new one, made of its canonical document. Those that have
    left their group lose its fields. If people have decided about documents, groups are written only if decisions were
    given, as ``index.decisions()`` has them.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "es_simhash"

    def schema(self) -> StructType:
        """Return the columns of documents."""
        with Target.of(self.options).opened() as index:
            own = index.documents
        named = [StructField(name, StringType()) for name in ("id", "index", "text")]
        return StructType([*named, StructField(own.prefix, stored_type(own))])

    def reader(self, schema: StructType) -> IndexReader:
        """Return the reader of these columns."""
        return IndexReader(Target.of(self.options), int(self.options.get("slices", _SLICES)), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Return the writer of groups."""
        if overwrite:
            raise InputError("Groups are added to documents, and nothing else is overwritten. Use mode('append').")
        target = Target.of(self.options)
        with target.opened() as index:
            if index.decisions() and not ("id" in schema.names and schema["id"].metadata.get(OBEYS)):
                raise InputError(
                    f"People have decided about documents of {target.name!r}, and these groups do not obey them. Group "
                    "with GroupOptions(decisions=index.decisions()), and write the members as they are."
                )
            copy = tuple(filter(None, self.options.get("copy", "").split(",")))
            return GroupsWriter(target.opened, index.documents, schema.names, copy)


@dataclass(frozen=True)
class SourcePartition(InputPartition):
    """A slice of an index."""

    index: str
    slice: Slice


@dataclass(frozen=True)
class IndexReader(DataSourceReader):
    """Reads the slices of the indices behind a name; each has a reader of its own, as those of several machines."""

    target: Target
    slices: int
    columns: StructType

    def partitions(self) -> Sequence[InputPartition]:
        """Return the slices of all indices that have our fields, which are refreshed."""
        with self.target.opened() as index:
            mappings = index.engine.perform(GetMappings(self.target.name))
            ours = entries(mappings, index.documents.prefix)
            names = sorted(name for name, entry in ours.items() if entry)
            for name in names:
                run(make_visible(name, PATIENCE), index.engine)
        return [SourcePartition(name, Slice(number, self.slices)) for name in names for number in range(self.slices)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the documents of a slice in batches."""
        assert isinstance(partition, SourcePartition)
        with self.target.opened() as index:
            own = index.documents
            wanted = [name for name in self.columns.names if name not in {"id", "index", "text"}]
            source = [*wanted, *(own.fields if "text" in self.columns.names else [])]
            # A document that is read twice would be a near-duplicate of itself: a lost reader fails the task.
            part = partition.slice if self.slices > 1 else None
            reading = Reading(partition.index, {"match_all": {}}, source, part, PATIENCE, once=True)
            try:
                while hits := run(reading.next(), index.engine):
                    yield self._batch(own, hits)
            finally:
                run(reading.close(), index.engine)

    def _batch(self, own: Documents, hits: Sequence[Json]) -> Any:
        schema = to_arrow_schema(self.columns)
        columns = []
        for each in schema:
            try:
                columns.append(pa.array([_value(own, hit, each.name) for hit in hits], type=each.type))
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise DocumentError(
                    f"The values of {each.name!r} are not of type {each.type}: {error}. Name another type."
                ) from error
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _value(own: Documents, hit: Json, name: str) -> Any:
    """Return the value of a document in a column."""
    source: Json = hit.get("_source") or {}
    if name in {"id", "index"}:
        return hit[f"_{name}"]
    return own.text_of(source) if name == "text" else source.get(name)


# ---- writing groups, each partition in a task of its own

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
class WrittenByTask(WriterCommitMessage):
    """What a task has written: ``unwritten`` are the reasons for the first of ``missed`` documents."""

    indices: frozenset[str] = frozenset()
    missed: int = 0
    unwritten: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupsWriter(DataSourceWriter):
    """Writes the fields of groups, and those to ``copy``; ``opened`` connects to the index."""

    opened: Callable[[], AbstractContextManager[Index]]
    documents: Documents
    columns: Sequence[str]
    copy: Sequence[str] = ()
    _are_several: bool = field(init=False)
    _singles: bool = field(init=False)
    _copied: CopiedFields = field(init=False)

    def __post_init__(self) -> None:
        if missing := [name for name in _NEEDED if name not in self.columns]:
            raise InputError(f"The rows have no column {missing[0]!r}. Write those of SparkDuplicates.members.")
        with self.opened() as index:
            mappings = index.engine.perform(GetMappings(index.name))
            ours = sorted(name for name, entry in entries(mappings, self.documents.prefix).items() if entry)
            copied = CopiedFields.of({name: mappings[name] for name in ours}, self.copy)
            versions = SUPERSEDED_PROPERTIES if SUPERSEDED in self.columns else {}
            add_to_mapping(index.engine, index.name, self.documents, {**(copied.properties or {}), **versions})
        last = [grouping_noted(mappings[name], self.documents) or {} for name in ours]
        singles = self.documents.policy.groups == "online" or any(each.get("singles") for each in last)
        object.__setattr__(self, "_singles", singles)
        object.__setattr__(self, "_are_several", len(ours) > 1)
        object.__setattr__(self, "_copied", copied)

    def write(self, iterator: Iterator[Any]) -> WrittenByTask:
        """Write the groups of some documents."""
        indices: set[str] = set()
        missed: list[str] = []
        with self.opened() as index:
            while rows := list(islice(iterator, _AT_ONCE)):
                indices.update(row["index"] for row in rows)
                missed += self._write(index, rows)
        return WrittenByTask(frozenset(indices), len(missed), tuple(missed[:1]))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make the groups visible; raise if some documents are without theirs."""
        done = [each for each in messages if isinstance(each, WrittenByTask)]
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
        own = list(map(self._fields, rows))
        if self._copied.paths:
            both = [pair for pair in zip(rows, own, strict=True) if pair[0]["is_canonical"] is False]
            duplicates = {_key(row): (each, _key(row, "canonical")) for row, each in both}
            reader = DocumentReader(index.engine, PATIENCE)
            self._copied.add(duplicates, lambda keys, paths: reader.read([_ref(key) for key in keys], paths))
        places = {_key(row): place for place, row in enumerate(rows)}
        settling = Settling(self.documents, _Rows(rows), places, dict(enumerate(own)))
        # They are read first, as if others had changed them: only in the version with this text may they change.
        unread = [(_ref(_key(row)), Action("update", row["id"], {}, row["index"])) for row in rows]
        prepared = run(settling.settle(unread, PATIENCE), index.engine)
        outcome = run(write(settling, prepared, RequestSize(), PATIENCE), index.engine)
        lost = [rows[place] for place in sorted(settling.lost) if rows[place]["group"] is not None]
        changed = [f"Document {row['id']!r} has another text now, or is gone." for row in lost]
        return [*changed, *(each.reason for each in outcome.rejected)]

    def _fields(self, row: Any) -> Json:
        if row["group"] is None:
            key = "/".join(_key(row)) if self._are_several else row["id"]
            return Membership(new_name(*_key(row)), 1, key, True).fields() if self._singles else {}
        name = new_name(row["group_index"], row["group"])
        newer = self._named(row, SUPERSEDED) if SUPERSEDED in self.columns and row[SUPERSEDED] is not None else None
        own = Membership(name, row["group_size"], self._named(row, "canonical"), row["is_canonical"], newer)
        return own.fields(row["distance"], row["similarity"])

    def _named(self, row: Any, which: str) -> str:
        return "/".join(_key(row, which)) if self._are_several else str(row[which])


@dataclass(frozen=True)
class _Rows:
    """Rows as the documents whose groups are written."""

    rows: Sequence[Any]
    scope_paths: tuple[str, ...] = ()

    def has(self, position: int, document: Json, content: str) -> bool:
        return bool(self.rows[position]["content"] == content)


def _key(row: Any, which: str | None = None) -> tuple[str, str]:
    """Return the index and the id of the document of a row, or of another that it names."""
    return (row[f"{which}_index"], row[which]) if which else (row["index"], row["id"])


def _ref(key: tuple[str, str]) -> DocumentRef:
    return DocumentRef(*key, None, {})
