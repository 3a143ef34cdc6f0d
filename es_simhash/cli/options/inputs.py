"""The files that commands read, and the file of what could not be read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash.cli.show.output import Advance, Output

if TYPE_CHECKING:
    from es_simhash.documents.files import FileDocument, RejectFile
    from es_simhash.documents.rejected import OnReject

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_REJECTS = "rejected.jsonl"


def file_options(command: Command) -> Command:
    """The files of a command, and how they are read; the command gets them as ``files``."""
    return _file_options(command, required=True)


def optional_file_options(command: Command) -> Command:
    """The same, for a command that need not have files."""
    return _file_options(command, required=False)


def _file_options(command: Command, required: bool) -> Command:
    @wraps(command)
    def with_files(paths: tuple[str, ...], **given: Any) -> Any:
        options = {name: given.pop(name) for name in ("format", "id_field", "encoding", "rejects")}
        return command(files=Files(paths, **options), **given)

    options = (
        click.argument("paths", nargs=-1, required=required, metavar="FILE..." if required else "[FILE]..."),
        click.option(
            "--format",
            type=click.Choice(["jsonl", "json", "csv", "tsv", "parquet", "text"]),
            help="The files' format, where their names do not tell it.",
        ),
        click.option("--id-field", metavar="PATH", help="The field with the id, as a dotted path."),
        click.option("--encoding", default="utf-8", show_default=True, help="The encoding of texts in the files."),
        click.option(
            "--rejects",
            type=click.Path(dir_okay=False),
            default=DEFAULT_REJECTS,
            show_default=True,
            help="Where to append what could not be used, with line and reason.",
        ),
    )
    for option in reversed(options):
        option(with_files)
    return with_files  # type: ignore[return-value]


@dataclass
class Files:
    """Files to read, with how far that is."""

    paths: tuple[str, ...]
    format: str | None
    id_field: str | None
    encoding: str
    rejects: str
    bytes_read: int = 0

    @contextmanager
    def opened(self, output: Output, doing: str) -> Iterator[tuple[Iterator[FileDocument], RejectFile, Advance]]:
        """The documents, the file of rejections, and how to say how far the command is."""
        from es_simhash.documents.files import RejectFile, total_bytes

        if not Path(self.rejects).absolute().parent.is_dir():
            raise click.UsageError(f"--rejects names a file in a directory that is not there: {self.rejects}. Make it.")
        with RejectFile(self.rejects) as rejects, output.progress(doing, total_bytes(self.paths)) as advance:
            found = self.read(rejects)
            yield (
                found,
                rejects,
                lambda done, failed=0, position=None, /, more="": advance(done, failed, self.bytes_read, more=more),
            )
        if rejects.count:
            output.note(f"{rejects.count:,} could not be used; {self.rejects} tells which, and why.")

    def read(self, on_reject: OnReject) -> Iterator[FileDocument]:
        """The documents."""
        from es_simhash.documents.files import read_documents

        return read_documents(
            self.paths,
            format=self.format,
            id_field=self.id_field,
            encoding=self.encoding,
            on_reject=on_reject,
            on_progress=self._on_progress,
        )

    def _on_progress(self, bytes_read: int) -> None:
        self.bytes_read = bytes_read


text_file_option = click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="A file with the text; - for standard input.",
)


def text_in(path: str) -> str:
    """The text in a file, or with ``-`` on standard input."""
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        name = "Standard input" if path == "-" else path
        raise click.UsageError(f"{name} is not UTF-8. Write it anew in this encoding.") from None


def json_object_in(path: str) -> dict[str, Any]:
    """The JSON object in a file."""
    return json_object(text_in(path), path, '{"mappings": {…}}')


def json_object(text: str, name: str, example: str) -> dict[str, Any]:
    """The JSON object that a text is; ``name`` says where it was given."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # also where an integer has thousands of digits
        value = None
    if not isinstance(value, dict):
        raise click.UsageError(f"{name} is no JSON object. Give one such as {example}.")
    return value
