"""``es-simhash dashboard``: a dashboard about groups, for Kibana and OpenSearch Dashboards."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from es_simhash.cli.options.connection import ConnectionVerb
from es_simhash.cli.options.index import fields_option, index_argument
from es_simhash.cli.options.target import OriginSettings, Target, is_server, target_of
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.reports.dashboards import Subject


@click.command(name="dashboard", cls=ConnectionVerb)
@index_argument
@click.option("--date", "date_field", metavar="FIELD", help="Field with a document's date, for charts over time.")
@click.option("--breakdown", "by_field", metavar="FIELD", help="Keyword field, such as a site, to count duplicates by.")
@fields_option("Field of documents to show; repeatable.  [default: the first text field]")
@click.option("--output", "-o", "file", type=click.Path(dir_okay=False), help="Write the saved objects to this file.")
@click.option("--kibana-url", metavar="URL", help="URL of a page in the space of Kibana.  [default: the default space]")
def command(
    index: str,
    prefix: str,
    date_field: str | None,
    by_field: str | None,
    fields: tuple[str, ...],
    file: str | None,
    kibana_url: str | None,
    connection: OriginSettings,
    output: Output,
) -> None:
    """Create a dashboard about the groups stored on the documents of INDEX (see: es-simhash group --write).

    The dashboard consists of saved objects, as NDJSON, for Kibana 7.10 to 9 or OpenSearch Dashboards 2 and 3, which
    import them under Saved Objects. If INDEX is a pattern, --breakdown _index compares its indices. The same INDEX and
    --prefix give the same ids, so importing again replaces the dashboard. A space of Kibana is named in the URL:
    .../s/team.

    Example: es-simhash dashboard articles --date published --breakdown site --output articles.ndjson
    """
    from es_simhash.cli.reports.dashboards import TITLES, Kibana, Subject, ndjson, saved_objects
    from es_simhash.documents.files import whole_file

    space = Kibana.at(kibana_url).space if kibana_url else None
    subject = Subject(index, prefix, date_field, by_field, fields, space=space)
    found = _looked_up(subject, target_of(connection, os.environ), output)
    objects = saved_objects(found)
    if not file:
        sys.stdout.write(ndjson(objects))
        return
    with whole_file(file) as out:
        out.write(ndjson(objects))
    output.note(f"{len(objects)} saved objects are in {file}. {TITLES[found.ui]} imports it under Saved Objects.")
    output.result({"objects": len(objects), "data_view": subject.data_view_id, "file": file})


def _looked_up(subject: Subject, target: Target, output: Output) -> Subject:
    """Complete the subject from its index, if that is on a server."""
    from es_simhash.cli.reports.dashboards import inspect_index
    from es_simhash.engines.base import run

    if not is_server(target.place):
        output.note(
            "No server is named, so the fields are not checked, and the dashboard is for Kibana. Name it with --url."
        )
        return subject
    with target.opened(output) as engine:
        found = run(inspect_index(subject), engine)
    if not found.grouped:
        output.warn(f"No document of {subject.index} is in a group yet. Run: es-simhash group {subject.index} --write")
    return found.subject
