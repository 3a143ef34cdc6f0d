"""Arrow streams: how frames of pandas, polars, DuckDB and pyarrow come in, and how results go out as tables.

The interface is that of Arrow's PyCapsules: whatever has ``__arrow_c_stream__`` is a frame, or a column of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, cast

from es_simhash.errors import EsSimhashError, InputError, MissingExtraError, TextError

# A batch may be a whole column in memory; its values become Python's a few megabytes at a time.
BATCH_BYTES = 1 << 23
MOST_ROWS = 4096
# The name of a column that comes alone, without a frame.
ALONE = "text"


class ArrowStream(Protocol):
    """A frame, or a column of one: of pandas, polars, DuckDB, pyarrow and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the capsule of an Arrow stream."""


class ArrowArray(Protocol):
    """One array of Arrow, which is a column."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        """Return the capsules of an Arrow schema and array."""


Given = TypeVar("Given")

# Texts, or a column of them.
Texts: TypeAlias = Iterable[str] | ArrowStream | ArrowArray


def is_arrow(given: object) -> TypeGuard[ArrowStream | ArrowArray]:
    """Return whether something is a frame or a column of Arrow."""
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def pyarrow_module() -> Any:
    """Return the module that reads and makes Arrow's data."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow, which reads and makes frames,", "parquet") from None
    return pyarrow


def read_frame(frame: ArrowStream | ArrowArray) -> Any:
    """Return a reader of a frame's batches; a column becomes a frame with this column alone."""
    pyarrow = pyarrow_module()
    try:
        try:
            return pyarrow.RecordBatchReader.from_stream(frame)
        except (pyarrow.ArrowInvalid, TypeError):  # a column, or an array
            column = pyarrow.chunked_array(frame)
    except Exception as error:  # whatever a foreign library raises
        raise InputError(
            f"The frame cannot be read as Arrow's data ({one_line(error)}). Correct its columns."
        ) from error
    return pyarrow.table({ALONE: column}).to_reader()


def small_batches(reader: Any) -> Iterator[Any]:
    """Yield the rows of a reader in batches of a few megabytes."""
    row = 0
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except EsSimhashError:
            raise
        except Exception as error:  # whatever a foreign library raises
            problem = f"The frame breaks off after row {row:,} ({one_line(error)}). Correct what makes it."
            raise InputError(problem) from error
        row += batch.num_rows
        size = rows_at_once(batch.num_rows, batch.get_total_buffer_size())
        yield from (batch.slice(start, size) for start in range(0, batch.num_rows, size))


def rows_at_once(rows: int, size: int) -> int:
    """Return how many of so large rows are handled at once."""
    return min(max(BATCH_BYTES * rows // max(size, 1), 1), MOST_ROWS)


def each_text(texts: Given | ArrowStream | ArrowArray) -> Given | Iterable[str]:
    """Return the texts of a column, or of a frame with only one, where null is an empty text; or those given."""
    if not is_arrow(texts):
        return cast("Given", texts)
    reader = read_frame(texts)
    names, types = reader.schema.names, reader.schema.types
    if len(names) != 1:
        raise InputError(
            f"Texts are one column, but the frame has {len(names)}: {', '.join(map(repr, names))}. "
            "Select one, or name those to be joined: Frame(frame, fields=[…]).texts()."
        )
    if not is_text(types[0]):
        raise InputError(
            f"The column {names[0]!r} has the type {types[0]}, which is not text. Select a column of texts."
        )
    return (text for batch in small_batches(reader) for text in _texts(batch.column(0)))


def _texts(column: Any) -> Iterable[str]:
    try:
        texts = column.to_pylist()
    except UnicodeDecodeError:
        raise TextError(f"There is a text that is not valid UTF-8 among {len(column):,} rows. Correct it.") from None
    return (text or "" for text in texts)


def is_text(type: Any) -> bool:
    """Return whether an Arrow type is of texts, be they in a dictionary; a column of nulls only counts."""
    types = pyarrow_module().types
    if types.is_dictionary(type):
        return is_text(type.value_type)
    return bool(is_string(type) or types.is_null(type))


def is_string(type: Any) -> bool:
    """Return whether an Arrow type is of plain texts."""
    types = pyarrow_module().types
    return bool(types.is_string(type) or types.is_large_string(type) or types.is_string_view(type))


def is_integer(type: Any) -> bool:
    """Return whether an Arrow type is of integers."""
    return bool(pyarrow_module().types.is_integer(type))


def one_line(error: BaseException) -> str:
    """Return the message of a foreign exception on one line, cut."""
    return " ".join(str(error).split())[:200].rstrip(".")
