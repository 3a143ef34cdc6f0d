"""``es-simhash try``: near-duplicates in a file or an index that nobody has described yet."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.urls import origin, split_url, without_logins
from es_simhash.cli.options.connection import ConnectionVerb
from es_simhash.cli.options.files import documents_in, is_file
from es_simhash.cli.options.index import fields_option, similarity_option
from es_simhash.cli.options.target import OriginSettings, target_of
from es_simhash.cli.process import take_little_memory
from es_simhash.cli.show.first_look import show_first_look
from es_simhash.cli.show.output import FINE, Output
from es_simhash.scheme.verification import Level

if TYPE_CHECKING:
    from es_simhash.documents.files.data_file import Shape

# A document with its id.
Found = Iterator[tuple[str, Mapping[str, Any]]]
# How many are read.
_MOST = 100_000


@click.command(name="try", cls=ConnectionVerb)
@click.argument("place", metavar="FILE|INDEX|URL")
@fields_option("Text field, as a dotted path; repeatable.  [default: the fields that look like texts]")
@similarity_option
@click.option(
    "--report",
    type=click.Path(dir_okay=False, writable=True),
    default="near-duplicates.html",
    show_default=True,
    help="Write the HTML report to this file.",
)
def command(
    place: str,
    fields: tuple[str, ...],
    similarity: float | Level | None,
    report: str,
    connection: OriginSettings,
    prefix: str,
    output: Output,
) -> int:
    """Show which near-duplicates FILE, INDEX or URL has, without any setup.

    Text fields, id, date and source are guessed, and 100,000 documents are read at most. Only the report is written; a
    browser opens it, if there is one. A URL is that of an index (http://localhost:9200/news) or of a file
    (https://example.org/news.csv).

    Example: es-simhash try news.csv
    """
    from es_simhash.cli.jobs.first_look import first_look

    take_little_memory()
    with _opened(place, connection, prefix, output) as (documents, total, follow_up):
        with output.progress("Reading", min(total, _MOST) if total else None) as advance:
            how: dict[str, Any] = {"fields": fields, "similarity": similarity, "most": _MOST}
            look = first_look(documents, place, report, of=total, **how, on_progress=advance)
        near = "" if similarity is None else f" --similarity {similarity}"
        show_first_look(output, look, follow_up + near)
    if not output.as_json and not output.quiet:
        _open(Path(report))
    return FINE


@contextmanager
def _opened(
    place: str, connection: OriginSettings, prefix: str, output: Output
) -> Iterator[tuple[Found, int | None, str]]:
    """Yield the documents, how many there are, if that is known, and the command that goes on with them."""
    from es_simhash.cli.jobs.first_look import downloaded, is_file_at
    from es_simhash.documents.files.data_file import shape_of

    if "://" in place and not split_url(place):
        raise click.UsageError(
            "The address cannot be read. Write it as http://HOST:PORT/INDEX or https://HOST/FILE.csv, with characters "
            "such as / # ? @ in a password percent-encoded."
        )
    if is_file_at(place):
        with downloaded(place) as path:
            yield _in_file(path, output, shape_of(path)), None, f"dedup {shlex.quote(Path(path).name)}"
    elif is_file(place) or Path(place).is_dir():
        shape = shape_of(place)
        yield _in_file(place, output, shape), None, f"dedup {shlex.quote(place)}{_how_read(place, shape)}"
    else:
        with _index(place, connection, prefix, output) as (found, total, where):
            yield found, total, f"sync {where}"


def _in_file(path: str, output: Output, shape: Shape) -> Found:
    return ((each.id, each.document) for each in documents_in(path, output, shape))


def _how_read(path: str, shape: Shape) -> str:
    """Return the options by which dedup reads a file as it was read here."""
    from es_simhash.documents.files.data_file import format_by_name

    format = f" --format {shape.format}" if shape.format and not format_by_name(path) else ""
    return format + (f" --encoding {shape.encoding}" if shape.encoding != "utf-8" else "")


@contextmanager
def _index(place: str, connection: OriginSettings, prefix: str, output: Output) -> Iterator[tuple[Found, int, str]]:
    from es_simhash._core.environment import PATIENCE
    from es_simhash.cli.jobs.labelled_documents import hits_of
    from es_simhash.plans.operations import Count

    name = place
    if address := split_url(place):
        name = address.path.strip("/")
        if not name or "/" in name:
            raise click.UsageError(f"This address names no index. Write {origin(address, address.port)}/INDEX.")
        connection = _at(connection, f"{address.scheme}://{address.netloc}")
    everything: dict[str, Any] = {"match_all": {}}
    with target_of(connection, os.environ).opened(output) as engine:
        total = engine.perform(Count(name, everything))
        hits = hits_of(engine, name, everything, True, PATIENCE)
        found = ((hit["_id"], _without(hit.get("_source") or {}, prefix)) for hit in hits)
        url = without_logins(connection.values.get("url", ""))
        yield found, total, shlex.join([name, *(["--url", url] if url else [])])


def _at(connection: OriginSettings, url: str) -> OriginSettings:
    return OriginSettings(
        {**connection.values, "url": url}, lambda name: "its address" if name == "url" else connection.name(name)
    )


def _without(source: Mapping[str, Any], prefix: str) -> Mapping[str, Any]:
    return {name: value for name, value in source.items() if name != prefix} if prefix in source else source


def _open(path: Path) -> None:
    """Open the report in a browser, where there is a desktop to show it on."""
    has_desktop = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.stdout.isatty() and has_desktop:
        import webbrowser

        webbrowser.open(path.absolute().as_uri())
