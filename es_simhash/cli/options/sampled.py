"""The documents that a command looks at before anything is written: of files, or of an index as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.index import filter_option, prefix_option, scheme_named, scheme_option, wanted_documents
from es_simhash.cli.options.inputs import Files, optional_file_options
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.jobs.sample import Sampled
    from es_simhash.documents.files import RejectFile
    from es_simhash.scheme.scheme import Scheme

Command = TypeVar("Command", bound=Callable[..., Any])

SIZE = 2_000
_PATIENCE = 600.0


def sampled_options(command: Command) -> Command:
    """Where documents come from: the arguments of `Source`, and ``files``, ``target`` and ``size``."""
    options = (
        click.option("--index", metavar="INDEX", help="Take the documents of this index, in place of files."),
        prefix_option,
        filter_option("With --index: only documents that this query, as JSON, selects."),
        click.option(
            "--field",
            "fields",
            multiple=True,
            metavar="PATH",
            help="A field with text, as a dotted path; repeat for more. Without it, all texts of a document of a file.",
        ),
        scheme_option,
        click.option(
            "--size",
            type=click.IntRange(2),
            default=SIZE,
            show_default=True,
            metavar="N",
            help="Look at so many documents, drawn at random.",
        ),
    )
    for option in reversed(options):
        option(command)
    return optional_file_options(command)


@dataclass(frozen=True)
class Source:
    """The files, or the index, and how its texts are read."""

    files: Files
    target: Target
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

    def read(self, output: Output, rejects: RejectFile, size: int | None) -> tuple[Scheme | None, Sampled]:
        """The scheme that is named, or that of the index; and so many documents, or all."""
        return self._of_index(output, rejects, size) if self.index else self._of_files(output, rejects, size)

    def _of_files(self, output: Output, rejects: RejectFile, size: int | None) -> tuple[Scheme | None, Sampled]:
        from es_simhash.cli.jobs.evaluate import gather_files
        from es_simhash.cli.jobs.file_texts import AbsentFields, read_texts
        from es_simhash.cli.jobs.sample import Sampled, sample_of_files
        from es_simhash.documents.files import total_bytes
        from es_simhash.groups.of_index.canonical import canonical_named

        scheme, absent = scheme_named(self.scheme), AbsentFields(self.fields)
        with output.progress("Reading", total_bytes(self.files.paths)) as advance:
            found = read_texts(self.files.read(rejects), self.fields, rejects, absent)

            def on_read(done: int) -> None:
                advance(done, 0, self.files.bytes_read)

            if size is None:
                documents = gather_files(found, canonical_named("first", ()), rejects, on_read).documents
                sampled = Sampled(documents, len(documents))
            else:
                sampled = sample_of_files(found, size, on_read)
        output.warn(absent.warning)
        return scheme, sampled

    def _of_index(self, output: Output, rejects: RejectFile, size: int | None) -> tuple[Scheme | None, Sampled]:
        from es_simhash.cli.jobs.sample import all_of_index, sample_of_index
        from es_simhash.engines.base import run
        from es_simhash.plans.operations import GetMappings
        from es_simhash.plans.text_fields import check_text_fields

        assert self.index
        scheme = scheme_named(self.scheme)
        with self.target.opened(output) as engine, output.progress("Reading") as advance:
            known = {"scheme": scheme, "fields": self.fields or None, "prefix": self.prefix}
            documents = wanted_documents(engine, self.index, known)
            if self.fields:
                mappings = engine.perform(GetMappings(self.index))
                run(check_text_fields(mappings, documents), engine)
            else:
                scheme = scheme or documents.scheme
            if size is not None:
                return scheme, sample_of_index(engine, self.index, documents.fields, self.filter, size, rejects)
            return scheme, all_of_index(engine, self.index, documents.fields, self.filter, rejects, advance, _PATIENCE)
