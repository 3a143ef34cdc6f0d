"""``es-simhash dashboard``: a dashboard about groups, for Kibana and OpenSearch Dashboards."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from es_simhash._core.urls import credentials
from es_simhash.cli.options.connection import ConnectionVerb
from es_simhash.cli.options.index import fields_option, index_argument
from es_simhash.cli.options.setting_origins import Given, Server, is_server
from es_simhash.cli.options.target import Target, target_of, target_with
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.reports.dashboards.importing import Importer
    from es_simhash.cli.reports.dashboards.kibana import Kibana
    from es_simhash.cli.reports.dashboards.subject import Subject


@click.command(name="dashboard", cls=ConnectionVerb)
@index_argument
@click.option("--date", "date_field", metavar="FIELD", help="Field with a document's date, for charts over time.")
@click.option("--breakdown", "by_field", metavar="FIELD", help="Keyword field, such as a site, to count duplicates by.")
@fields_option("Field of documents to show; repeatable.  [default: the first text field]")
@click.option("--output", "-o", "file", type=click.Path(dir_okay=False), help="Write the saved objects to this file.")
@click.option("--import", "is_import", is_flag=True, help="Import the saved objects into the Kibana at --kibana-url.")
@click.option(
    "--kibana-url",
    metavar="URL",
    help="URL of Kibana or OpenSearch Dashboards, or of any page in the space or tenant.",
)
def command(
    index: str,
    prefix: str,
    date_field: str | None,
    by_field: str | None,
    fields: tuple[str, ...],
    file: str | None,
    is_import: bool,
    kibana_url: str | None,
    connection: Given,
    output: Output,
) -> None:
    """Create a dashboard about the groups stored on the documents of INDEX (see: es-simhash group --write).

    The dashboard consists of saved objects, as NDJSON, for Kibana 7.10 to 9 or OpenSearch Dashboards 2 and 3. Print
    them, write them to a file, or import them at once. If INDEX is a pattern, --breakdown _index compares its indices.
    The same INDEX and --prefix give the same ids, so importing again replaces the dashboard. A space of Kibana or a
    tenant of OpenSearch Dashboards is named in the URL: .../s/team, or ...?security_tenant=team.

    Example: es-simhash dashboard articles --date published --breakdown site --import --kibana-url http://localhost:5601
    """
    from es_simhash.cli.reports.dashboards.kibana import Kibana
    from es_simhash.cli.reports.dashboards.saved_objects import ndjson, saved_objects
    from es_simhash.cli.reports.dashboards.subject import TITLES, Subject
    from es_simhash.documents.files import whole_file

    kibana, server, target = None, None, None
    if kibana_url is None:
        target = target_of(connection, os.environ)
    else:
        kibana = Kibana.at(kibana_url)
        named = Server.with_login(kibana.address, *(credentials(kibana_url) or (None, None)))
        target, server = target_with(named, "--kibana-url", connection, os.environ)
    if is_import and not kibana:
        raise click.UsageError("--import needs --kibana-url. Add it, or drop --import.")
    if kibana and not (is_import or file):
        raise click.UsageError("--kibana-url needs --import, or --output for a file. Add one of them.")
    subject = Subject(index, prefix, date_field, by_field, fields, space=kibana.space if kibana else None)
    found = _looked_up(subject, target, output)
    importer = _importer(kibana, server, output) if kibana and server and is_import else None
    chosen = (importer.ui() if importer else None) or found.ui
    objects = saved_objects(replace(found, ui=chosen))
    if file:
        with whole_file(file) as out:
            out.write(ndjson(objects))
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
        output.note(
            "No server is named, so the fields are not checked, and the dashboard is for Kibana. Name it with --url."
        )
        return subject
    with target.opened(output) as engine:
        found = run(inspect_index(subject), engine)
    if not found.grouped:
        output.warn(f"No document of {subject.index} is in a group yet. Run: es-simhash group {subject.index} --write")
    return found.subject


def _importer(kibana: Kibana, server: Target, output: Output) -> Importer:
    """Announce the UI; return what imports into it; ask for a password that was not given."""
    from es_simhash.cli.reports.dashboards.importing import Importer

    server.announce(output)
    login, tls = server.login, server.tls
    options = login.options() if login else {}
    if login and "headers" not in options:
        raise click.UsageError(
            f"Kibana does not accept a login with {login.source}. Write the saved objects to a file with --output, "
            "and import that by hand."
        )
    return Importer(kibana, options.get("headers") or {}, tls.get("ca_certs"), tls.get("verify_certs") is False)
