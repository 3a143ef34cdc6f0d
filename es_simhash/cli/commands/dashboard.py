"""``es-simhash dashboard``: a dashboard about groups, for Kibana and OpenSearch Dashboards."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from es_simhash.cli.options.connection import ConnectionVerb
from es_simhash.cli.options.index import index_argument
from es_simhash.cli.options.kibana import KibanaTarget, kibana_options
from es_simhash.cli.options.places import is_server
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.reports.dashboards.importing import Importer
    from es_simhash.cli.reports.dashboards.subject import UI, Subject


@click.command(name="dashboard", cls=ConnectionVerb)
@index_argument
@click.option("--date", "date_field", metavar="FIELD", help="Field with a document's date, for charts over time.")
@click.option("--breakdown", "by_field", metavar="FIELD", help="Keyword field, such as a site, to count duplicates by.")
@click.option(
    "--field", "fields", multiple=True, metavar="PATH", help="Field of documents to show.  [default: the text fields]"
)
@click.option(
    "--ui",
    type=click.Choice(("kibana", "opensearch")),
    help="UI for the dashboard.  [default: that of the server]",
)
@click.option("--output", "-o", "file", type=click.Path(dir_okay=False), help="Write the saved objects to this file.")
@click.option("--import", "is_import", is_flag=True, help="Import the saved objects into the Kibana at --kibana-url.")
@kibana_options
def command(
    index: str,
    prefix: str,
    date_field: str | None,
    by_field: str | None,
    fields: tuple[str, ...],
    ui: UI | None,
    file: str | None,
    is_import: bool,
    target: Target | None,
    kibana: KibanaTarget | None,
    output: Output,
) -> None:
    """Create a dashboard about the groups stored on the documents of INDEX (see: es-simhash group --write).

    The dashboard consists of saved objects, as NDJSON, for Kibana 7.10 to 9 or OpenSearch Dashboards 2 and 3. Print
    them, write them to a file, or import them at once. If INDEX is a pattern, --breakdown _index compares its indices.
    The same INDEX and --prefix give the same ids, so importing again replaces the dashboard. A space of Kibana or a
    tenant of OpenSearch Dashboards is named in the URL: .../s/team, or ...?security_tenant=team.

    Example: es-simhash dashboard articles --date published --breakdown site --import --kibana-url http://localhost:5601
    """
    from es_simhash.cli.reports.dashboards.saved_objects import ndjson, saved_objects
    from es_simhash.cli.reports.dashboards.subject import TITLES, Subject

    if is_import and not kibana:
        raise click.UsageError("--import needs --kibana-url. Add it, or drop --import.")
    if kibana and not (is_import or file):
        raise click.UsageError("--kibana-url needs --import, or --output for a file. Add one of them.")
    subject = Subject(index, prefix, date_field, by_field, fields, space=kibana.kibana.space if kibana else None)
    found = _looked_up(subject, target, output)
    importer = _importer(kibana, output) if kibana and is_import else None
    chosen = ui or (importer.ui() if importer else None) or found.ui
    objects = saved_objects(replace(found, ui=chosen))
    if file:
        _write(file, ndjson(objects))
        title = TITLES[chosen]
        output.note(f"{len(objects)} saved objects are in {file}. {title} imports it under Saved Objects.")
    page = importer.run(objects) if importer else None
    if page:
        output.note(f"{len(objects)} saved objects imported.")
        output.line(page)
    elif not file:
        sys.stdout.write(ndjson(objects))
        return
    output.result({"objects": len(objects), "data_view": subject.data_view_id, "file": file, "dashboard": page})


def _looked_up(subject: Subject, target: Target | None, output: Output) -> Subject:
    """Complete the subject from its index, if that is on a server."""
    from es_simhash.cli.reports.dashboards.subject import inspect_index
    from es_simhash.engines.base import run

    if target is None or not is_server(target.place):
        output.note("No server is named, so the fields are not checked. Name it with --url to check them.")
        return subject
    with target.opened(output) as engine:
        found = run(inspect_index(subject), engine)
    if not found.grouped:
        output.warn(f"No document of {subject.index} is in a group yet. Run: es-simhash group {subject.index} --write")
    return found.subject


def _write(file: str, text: str) -> None:
    from es_simhash.documents.files import whole_file

    with whole_file(file) as out:
        out.write(text)


def _importer(target: KibanaTarget, output: Output) -> Importer:
    """Announce the UI; return what imports into it, which asks for a password once."""
    from es_simhash.cli.reports.dashboards.importing import Importer

    target.server.announce(output)
    return Importer(target.kibana, **target.import_options())
