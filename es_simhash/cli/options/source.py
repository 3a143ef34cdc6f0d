"""The documents that ``tune`` and ``evaluate`` read: those of files, or of an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from es_simhash.cli.options.files import Files, input_options
from es_simhash.cli.options.index import filter_option, scheme_option, texts_option

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """The files or the index, and how its texts are read."""

    files: Files
    index: str | None
    prefix: str
    filter: dict[str, Any] | None
    fields: tuple[str, ...]
    scheme: str | None

    def __post_init__(self) -> None:
        if bool(self.files.paths) == bool(self.index):
            raise click.UsageError("Name the files with the documents, or an index by --index; one of both.")
        if self.filter is not None and not self.index:
            raise click.UsageError("--filter is for an index. Name it by --index, or drop the filter.")


def source_options(command: Command) -> Command:
    """Take files or an index; the command gets the `Source` as ``source``."""

    @wraps(command)
    def with_source(
        files: Files,
        index: str | None,
        prefix: str,
        filter: dict[str, Any] | None,
        fields: tuple[str, ...],
        scheme: str | None,
        **given: Any,
    ) -> Any:
        return command(source=Source(files, index, prefix, filter, fields, scheme), **given)

    options = (
        click.option("--index", metavar="INDEX", help="Read the documents of this index, instead of files."),
        filter_option("With --index: only documents that match this query (JSON)."),
        texts_option,
        scheme_option,
    )
    for option in reversed(options):
        option(with_source)
    return input_options(with_source, required=False, metavar="[FILE]...")  # type: ignore[return-value]
