"""Results as tables of Arrow: polars, pandas, DuckDB and others take them as they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from es_simhash._core.arrow import MOST_ROWS, pyarrow_module


class ArrowTable(ABC):
    """A result that is a table, too: ``polars.DataFrame(result)``, ``pandas.DataFrame.from_arrow(result)``.

    Its columns are made when they are asked for, batch by batch.
    """

    @abstractmethod
    def _arrow_schema(self, pyarrow: Any) -> Any:
        """Return the names and types of the columns."""

    @abstractmethod
    def _arrow_batches(self, pyarrow: Any) -> Iterator[Any]:
        """Yield the rows, in batches with these columns."""

    def to_arrow(self) -> Any:
        """Return the table of pyarrow."""
        return self._arrow_reader().read_all()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the capsule of an Arrow stream, as other libraries ask for it."""
        return self._arrow_reader().__arrow_c_stream__(requested_schema)

    def _arrow_reader(self) -> Any:
        pyarrow = pyarrow_module()
        schema = self._arrow_schema(pyarrow)
        return pyarrow.RecordBatchReader.from_batches(schema, self._arrow_batches(pyarrow))


class Rows(ArrowTable):
    """A result that is a table row by row, for Arrow, JSON, CSV and notebooks."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, str]:
        """The names of the columns, and their types as Arrow calls them."""

    @abstractmethod
    def rows(self) -> Iterable[Sequence[Any]]:
        """Yield the values of each row."""

    def _arrow_schema(self, pyarrow: Any) -> Any:
        return pyarrow.schema([(name, pyarrow.type_for_alias(type)) for name, type in self.columns.items()])

    def _arrow_batches(self, pyarrow: Any) -> Iterator[Any]:
        return _batches(pyarrow, self._arrow_schema(pyarrow), iter(self.rows()))


def _batches(pyarrow: Any, schema: Any, rows: Iterator[Sequence[Any]]) -> Iterator[Any]:
    while some := list(islice(rows, MOST_ROWS)):
        columns = zip(*some, strict=True)
        arrays = [pyarrow.array(column, type) for column, type in zip(columns, schema.types, strict=True)]
        yield pyarrow.record_batch(arrays, schema=schema)
