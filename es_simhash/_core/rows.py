"""Results of verbs: each declares its values once; JSON, CSV, Arrow, terminals and notebooks have them from there.

The JSON of a value is an object with the names of its attributes in Python: those that ``JSON`` of its class names, or
else the fields of its dataclass that its ``repr`` has (``*`` in ``JSON``). A class with a stored form has ``to_json``
instead. Unknown values, and those that were not compared, are null, and no key is ever missing.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from itertools import chain, compress, islice
from math import isfinite
from typing import IO, Any, ClassVar, NamedTuple

from es_simhash._core.arrow import MOST_ROWS, pyarrow_module
from es_simhash._core.humanize import UNSEEN, json_text, printable, share
from es_simhash._core.json_codec import Json

# What spreadsheets would calculate (OWASP, "CSV Injection"), also after the apostrophes that keep them from it, and
# after what they may drop: spaces, and what shows nothing. Signs have full-width and small forms.
_FORMULA = re.compile(rf"(?:'*[\t\r\n]|[\s'{UNSEEN}]*[=+\-@＝＋－＠﹢﹣﹦﹫−]).", re.DOTALL)
_QUOTED = re.compile(r'[",\r\n]')
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Shown(NamedTuple):
    """What people see of a result: a sentence, a table of ``total`` rows, and notes.

    ``details`` are further notes, and the columns named in ``detailed`` further values, for experts.
    """

    heading: str
    columns: Sequence[str] = ()
    rows: Iterable[Sequence[Any]] = ()
    total: int = 0
    notes: Sequence[str] = ()
    details: Sequence[str] = ()
    detailed: Collection[str] = ()

    def for_everyone(self) -> Shown:
        """Return it without the details."""
        kept = [name not in self.detailed for name in self.columns]
        rows = (list(compress(row, kept)) for row in self.rows)
        return Shown(self.heading, list(compress(self.columns, kept)), rows, self.total, self.notes)


class Result:
    """What a verb returns."""

    JSON: ClassVar[tuple[str, ...]] = ()

    def shown(self) -> Shown:
        """Return what people see of it.

        >>> len(list(index.find(id="1").shown().rows))
        1
        """
        raise NotImplementedError

    def to_json(self) -> Json:
        """Return it as JSON has it, as the command line prints it.

        >>> [match["id"] for match in index.find(id="1").to_json()["matches"]]
        ['2']
        """
        return {name: as_json(getattr(self, name)) for name in json_names(type(self))}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown().heading})"

    def _repr_html_(self) -> str:
        from es_simhash._core.html import in_notebook

        return in_notebook(self.shown().for_everyone())


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
        """Return the table of pyarrow.

        >>> index.find(id="1").to_arrow().column("id").to_pylist()
        ['2']
        """
        return self._arrow_reader().read_all()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the capsule of an Arrow stream, as other libraries ask for it."""
        return self._arrow_reader().__arrow_c_stream__(requested_schema)

    def _arrow_reader(self) -> Any:
        pyarrow = pyarrow_module()
        schema = self._arrow_schema(pyarrow)
        return pyarrow.RecordBatchReader.from_batches(schema, self._arrow_batches(pyarrow))


class Rows(ArrowTable, Result):
    """A result that is a table row by row."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, str]:
        """The names of the columns, and their types as Arrow calls them."""

    @abstractmethod
    def rows(self) -> Iterable[Sequence[Any]]:
        """Yield the values of each row.

        >>> [row[:2] for row in index.find(id="1").rows()]
        [['articles', '2']]
        """

    def _arrow_schema(self, pyarrow: Any) -> Any:
        return pyarrow.schema([(name, pyarrow.type_for_alias(type)) for name, type in self.columns.items()])

    def _arrow_batches(self, pyarrow: Any) -> Iterator[Any]:
        return _batches(pyarrow, self._arrow_schema(pyarrow), iter(self.rows()))


def _batches(pyarrow: Any, schema: Any, rows: Iterator[Sequence[Any]]) -> Iterator[Any]:
    while some := list(islice(rows, MOST_ROWS)):
        columns = zip(*some, strict=True)
        arrays = [pyarrow.array(column, type) for column, type in zip(columns, schema.types, strict=True)]
        yield pyarrow.record_batch(arrays, schema=schema)


# ---- JSON

_PLAIN = frozenset({str, int, bool, type(None)})
_names: dict[type, tuple[str, ...]] = {}


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: objects, lists, and plain values; times as ISO 8601 in UTC, NaN as null."""
    # Of most values this is enough; files of groups have many millions.
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if names := json_names(type(value)):
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(name): as_json(each) for name, each in value.items()}
    return _other_as_json(value)


def _other_as_json(value: Any) -> Any:
    if isinstance(value, str | int):
        return value
    if hasattr(value, "to_json"):
        form = value.to_json()
        return json.loads(form) if isinstance(form, str) else form
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat()
    if hasattr(value, "tolist"):  # what numpy made
        return as_json(value.tolist())
    if isinstance(value, set | frozenset):
        value = sorted(value)
    return [as_json(each) for each in value] if isinstance(value, Sequence) else str(value)


def json_names(kind: type) -> tuple[str, ...]:
    """Return the names that the JSON of a class has; none if it is not an object of named values."""
    if (known := _names.get(kind)) is None:
        _names[kind] = known = _names_of(kind)
    return known


def _names_of(kind: type) -> tuple[str, ...]:
    named: tuple[str, ...] = getattr(kind, "JSON", ())
    has_own_form = hasattr(kind, "to_json") and not issubclass(kind, Result)
    if not is_dataclass(kind) or (has_own_form and not named):
        return named
    own = tuple(each.name for each in fields(kind) if each.repr)
    return tuple(chain.from_iterable(own if name == "*" else (name,) for name in named or ("*",)))


def json_record(*values: Any) -> str:
    """Return one line of JSON, of one value or of several joined to an object; it commands no terminal."""
    if len(values) == 1:
        return json_text(as_json(values[0])) + "\n"
    return json_text({name: each for value in values for name, each in as_json(value).items()}) + "\n"


# ---- CSV and cells


def write_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]], out: IO[str]) -> None:
    """Write a table as CSV, for spreadsheets as well; on a terminal without what it would obey."""
    lines = (",".join(map(_csv_cell, row)) + "\n" for row in chain([columns], rows))
    out.writelines(map(printable, lines) if out.isatty() else lines)


def _csv_cell(value: Any) -> str:
    """Write a value as a cell. The module csv would leave a carriage return, which ends a row, without quotes."""
    text = "" if value is None else harmless(str(int(value) if isinstance(value, bool) else value))
    return '"{}"'.format(text.replace('"', '""')) if _QUOTED.search(text) else text


def harmless(text: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would take for a formula; numbers are none.

    An apostrophe of the cell is kept, so that removing the first one restores each cell.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text.strip()) else text


def cell(value: Any) -> str:
    """Write a value as a cell for people; what is unknown is empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return share(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)
