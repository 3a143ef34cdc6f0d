"""Files on the command line: documents to read, results and rejections to write, texts, and JSON objects."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash._core.json_codec import parse_json
from es_simhash.cli.show.output import Advance, Output

if TYPE_CHECKING:
    from es_simhash.documents.files import FileDocument, RejectFile
    from es_simhash.documents.files.data_file import Shape
    from es_simhash.documents.sources import OnReject, Rejected

Command = TypeVar("Command", bound=Callable[..., Any])

_OUTPUT = click.Path(dir_okay=False, writable=True)
rejects_option = click.option(
    "--rejects",
    type=click.Path(dir_okay=False),
    default="rejected.jsonl",
    show_default=True,
    help="Append rejected documents, with their reasons, to this file.",
)


def output_file(*names: str, help: str) -> Callable[[Command], Command]:
    """Add an option for a file that the command writes."""
    return click.option(*names, type=_OUTPUT, help=help)


report_option = output_file("--report", "report_file", help="Write an HTML report to this file.")


def input_options(command: Command, *, metavar: str = "FILE...") -> Command:
    """Add the files of a command, and how they are read; the command gets them as ``files``."""

    @wraps(command)
    def with_files(paths: tuple[str, ...], **given: Any) -> Any:
        options = {name: given.pop(name) for name in ("format", "id_field", "encoding", "rejects")}
        return command(files=Files(paths, **options), **given)

    options = (
        click.argument("paths", nargs=-1, required=True, metavar=metavar),
        click.option(
            "--format",
            type=click.Choice(["jsonl", "json", "csv", "tsv", "parquet", "text"]),
            help="Format of the files.  [default: by their names]",
        ),
        click.option("--id-field", metavar="PATH", help="Field with the id, as a dotted path.  [default: _id or id]"),
        click.option("--encoding", default="utf-8", show_default=True, help="Text encoding of the files."),
        rejects_option,
    )
    for option in reversed(options):
        option(with_files)
    return with_files  # type: ignore[return-value]


@dataclass
class Files:
    """Files to read, how many bytes of them have been read, and the columns of the tables among them."""

    paths: tuple[str, ...]
    format: str | None
    id_field: str | None
    encoding: str
    rejects: str
    bytes_read: int = 0
    columns: dict[str, None] = field(default_factory=dict)

    @contextmanager
    def opened(self, output: Output, doing: str) -> Iterator[tuple[Iterator[FileDocument], RejectFile, Advance]]:
        """Open the files; yield their documents, the file of rejections, and a function that reports progress."""
        from es_simhash.documents.files import RejectFile, total_bytes

        if not Path(self.rejects).absolute().parent.is_dir():
            raise click.UsageError(f"The directory of the file {self.rejects} (--rejects) does not exist. Create it.")
        with RejectFile(self.rejects) as rejects, output.progress(doing, total_bytes(self.paths)) as advance:
            found = self.read(rejects)
            yield (
                found,
                rejects,
                lambda done, failed=0, position=None, /, more="": advance(done, failed, self.bytes_read, more=more),
            )
        output.rejected(rejects.count, self.rejects)

    def read(self, on_reject: OnReject) -> Iterator[FileDocument]:
        """Yield the documents."""
        from es_simhash.documents.files import read_documents

        return read_documents(
            self.paths,
            format=self.format,
            id_field=self.id_field,
            encoding=self.encoding,
            on_reject=on_reject,
            on_progress=self._on_progress,
            columns=self.columns,
        )

    def _on_progress(self, bytes_read: int) -> None:
        self.bytes_read = bytes_read


def is_file(place: str) -> bool:
    """Return whether a place is a file or standard input rather than an index, or a directory with a slash at its end.

    Without the slash it may be the directory of something that is kept for the index of this name.
    """
    return place == "-" or Path(place).is_file() or is_named_like_a_file(place)


def is_named_like_a_file(place: str) -> bool:
    """Return whether a name is that of a file rather than of an index: with a folder, or the suffix of a format."""
    from es_simhash.documents.files.data_file import format_by_name

    return "://" not in place and (format_by_name(place) is not None or os.sep in place)


def documents_in(path: str, output: Output, shape: Shape | None = None) -> Iterator[FileDocument]:
    """Yield the documents of a file of a shape, by default that which it shows; warn of what cannot be read."""
    from es_simhash.documents.files import read_documents
    from es_simhash.documents.files.data_file import shape_of

    rejected: list[Rejected] = []
    format, encoding = shape or shape_of(path)
    yield from read_documents([path], format=format, encoding=encoding, on_reject=rejected.append)
    if rejected:
        first = rejected[0]
        output.warn(f"{len(rejected):,} records could not be read, the first at line {first.line}: {first.reason}")


rarity_option = click.option(
    "--rarity",
    "rarity_file",
    type=click.Path(exists=True, dir_okay=False),
    help="File with a rarity table (see learn).  [default: a built-in one]",
)

text_file_option = click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="File with the text; - for standard input.",
)


def text_in(path: str) -> str:
    """Read the text of a file, or with ``-`` of standard input."""
    from es_simhash.documents.files.reader import MAX_LINE

    name = "Standard input" if path == "-" else path
    with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as file:
        raw = file.read(MAX_LINE + 1)
    if len(raw) > MAX_LINE:
        raise click.UsageError(f"{name} has more than {MAX_LINE:,} bytes. Give one that is shorter.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError(f"{name} is not UTF-8. Convert it to this encoding.") from None


def json_object_in(path: str) -> dict[str, Any]:
    """Read the JSON object in a file."""
    return json_object(text_in(path), path, '{"mappings": {…}}')


def json_object(text: str, name: str, example: str) -> dict[str, Any]:
    """Parse a JSON object; errors call it by ``name``."""
    try:
        value = parse_json(text)
    except ValueError:  # also where an integer has thousands of digits
        value = None
    if not isinstance(value, dict):
        raise click.UsageError(f"{name} is not a JSON object. Give one such as {example}.")
    return value
