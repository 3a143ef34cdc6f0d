"""The requests for Dev Tools and the saved objects in ``mappings/``; ``python -m tools.mapping_files`` writes them."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from es_simhash._core.json_codec import Json
from es_simhash.cli.commands.scripts import request, script_request
from es_simhash.cli.reports.dashboards import TITLES, Measure, Subject, ndjson, saved_objects
from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import StoredScript, name_of, pipeline, stored_scripts
from es_simhash.errors import SchemeError
from es_simhash.plans.init import path_of_pipeline
from es_simhash.scheme.mapping import DEFAULT_PREFIX, META, component_template
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from tools import ROOT
from tools.alerts import alert_requests

DIRECTORY = ROOT / "mappings"
# What people replace by names of their own.
INDEX, FIELDS = "articles", ("title", "body")
# For every index whose fields have the usual prefix, whatever else its documents have.
_ALL = Subject("*", by_field="_index")
_MEASURES: dict[str, Measure] = {"all-indices": "similarity", "all-indices-simhash-only": "distance"}

_BOTH = "For Elasticsearch and OpenSearch"
_NAMES = f"Replace {INDEX} with the name of your index, and title and body with its text fields."
WAITING = "Ask again until it is 0. If it stops falling, send the first request again."
_WITHOUT: Json = {"query": {"bool": {"must_not": {"exists": {"field": f"{DEFAULT_PREFIX}.status"}}}}}


def requests() -> dict[str, str]:
    """Return the files of requests, by their paths in ``mappings/``: a folder for each preset."""
    return {f"{preset}/{name}.txt": text for preset in PRESETS for name, text in _of_preset(preset)}


def dashboards() -> dict[str, str]:
    """Return the saved objects in ``mappings/dashboards/``, by file name: one for each UI."""
    return {
        f"{name}-{ui}.ndjson": ndjson(saved_objects(replace(_ALL, measure=measure, ui=ui)))
        for name, measure in _MEASURES.items()
        for ui in TITLES
    }


def alerts() -> dict[str, str]:
    """Return the requests for alerts in ``mappings/dashboards/``, by file name: one for each UI."""
    return {f"alert-{ui}.txt": text for ui, text in alert_requests(INDEX).items()}


def _of_preset(preset: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a preset, in the order in which people paste them."""
    documents = Documents(Scheme.preset(preset), FIELDS)
    about = f"{_BOTH}, preset {preset}:"
    yield "1-component-template", _component_template(preset, about)
    default: Json = {}
    try:
        body = pipeline(INDEX, documents)
    except SchemeError as error:
        yield "2-no-pipeline", _no_pipeline(about, str(error))
    else:
        yield "2-pipeline", _pipeline(about, body)
        default = {"index.default_pipeline": name_of(INDEX)}
    yield "3-existing-index", _existing_index(about, documents.scheme.mapping(fields=FIELDS), default)
    yield "3-new-index", _new_index(preset, about, default)
    if default:
        yield "4-update-by-query", _update_by_query()
    scripts = stored_scripts(documents.scheme)
    if own := [each for each in scripts if not each.is_template]:
        yield "5-search-scripts", _stored(own, f"{about} scripts that compare SimHashes, for searches by distance.")
    templates = [each for each in scripts if each.is_template]
    yield "6-search-templates", _stored(templates, f"{about} searches for near-duplicates.")
    yield "7-remove", _removal(preset, about, has_pipeline=bool(default))


def _component_template(preset: str, about: str) -> str:
    form = component_template(Scheme.preset(preset).mapping(), f"es_simhash, preset {preset}: {PRESETS[preset].use}")
    return request(
        "PUT",
        f"_component_template/{_component(preset)}",
        form,
        f"{about} the fields of fingerprints, for new indices.",
    )


def _component(preset: str) -> str:
    return f"{DEFAULT_PREFIX}-{preset}"


def _pipeline(about: str, body: Json) -> str:
    return request(
        "PUT",
        path_of_pipeline(name_of(INDEX)),
        body,
        f"{about} the pipeline that fingerprints each document that is written.",
        f'Replace {INDEX} with the name of your index, and ["title"] and ["body"] with its text fields: for a field',
        'news.headline write ["news", "headline"].',
    )


def _no_pipeline(about: str, why: str) -> str:
    said = f"{about} no pipeline. {why} The other files in this folder search what such a program has written."
    return textwrap.fill(said, 118, initial_indent="# ", subsequent_indent="# ") + "\n"


def _existing_index(about: str, mapping: Json, default: Json) -> str:
    fields = request(
        "PUT",
        f"{INDEX}/_mapping",
        mapping,
        f"{about} an index that exists gets the fields of fingerprints.",
        _NAMES,
        f"This replaces the _meta of the mapping: if GET {INDEX}/_mapping shows one, copy its entries into this one.",
    )
    if not default:
        return fields
    call = f'{{"pipeline": {{"name": "{name_of(INDEX)}"}}}}'
    return f"{fields}\n" + request(
        "PUT",
        f"{INDEX}/_settings",
        default,
        "Each document that is written to the index goes through the pipeline.",
        f"If GET {INDEX}/_settings shows a default_pipeline, leave this out, and add to that one, as its last:",
        call,
    )


def _new_index(preset: str, about: str, default: Json) -> str:
    """Return the request for the index template.

    Servers merge its ``_meta`` into that of the component, so it names the fields of the texts and nothing else.
    """
    mappings = {
        "_meta": {META: {DEFAULT_PREFIX: {"fields": list(FIELDS)}}},
        "properties": {field: {"type": "text"} for field in FIELDS},
    }
    template = {
        "index_patterns": [INDEX, f"{INDEX}-*"],
        "composed_of": [_component(preset)],
        "priority": 500,
        "template": {**({"settings": default} if default else {}), "mappings": mappings},
        "_meta": {"description": f"Indices of {INDEX}, with fingerprints of es_simhash."},
    }
    given = "the fields and the pipeline" if default else "the fields"
    about = f"{about} new indices whose names are {INDEX}, or begin with {INDEX}-, get {given}."
    own = "If they have an index template of yours, add composed_of, settings and mappings of this one to it instead."
    return request("PUT", f"_index_template/{INDEX}", template, about, _NAMES, own)


def _stored(scripts: list[StoredScript], about: str) -> str:
    note = "A server has one script of each name: paste those of one preset, or change the names."
    return "\n".join([f"# {about}\n# {note}\n", *map(script_request, scripts)])


def _update_by_query() -> str:
    query = f"pipeline={name_of(INDEX)}&conflicts=proceed&wait_for_completion=false&refresh=true"
    parts = [
        request(
            "POST",
            f"{INDEX}/_update_by_query?{query}",
            _WITHOUT,
            f"{_BOTH}, every preset: the documents that are in the index already get fingerprints.",
            f"Replace {INDEX} with the name of your index. The answer is a task, which works on by itself.",
            "To do it over, for example with other field names in the pipeline, send it without the lines below POST.",
        ),
        request("GET", f"{INDEX}/_count", _WITHOUT, f"Documents without fingerprints. {WAITING}"),
    ]
    return "\n".join(parts)


def _removal(preset: str, about: str, *, has_pipeline: bool) -> str:
    """Return what takes all back but scripts, which other indices may use; what is in use cannot be deleted earlier."""
    pipeline_of = request(
        "PUT",
        f"{INDEX}/_settings",
        {"index.default_pipeline": None},
        "New documents get no fingerprints. If the pipeline was added to one of yours, take it out there instead.",
    )
    fields = request(
        "POST",
        f"{INDEX}/_update_by_query?conflicts=proceed&wait_for_completion=false&refresh=true",
        {
            "query": {"exists": {"field": f"{DEFAULT_PREFIX}.status"}},
            "script": {"source": f"ctx._source.remove('{DEFAULT_PREFIX}')"},
        },
        "A task takes the fingerprints out of the documents. Their fields stay in the mapping, and take no space.",
    )
    paths = [f"_index_template/{INDEX}", f"_component_template/{_component(preset)}"]
    paths += [path_of_pipeline(name_of(INDEX)).lstrip("/")] if has_pipeline else []
    head = f"# {about} what the files before have made is removed, but for scripts.\n"
    head += f"# Replace {INDEX} with the name of your index. Leave out what you have not pasted.\n"
    head += f"# After 3-new-index, send the first requests to its indices, {INDEX}-*, as well.\n"
    note = f"# The templates, if no other index needs them{', and the pipeline' if has_pipeline else ''}.\n"
    deletions = note + "".join(f"DELETE {path}\n" for path in paths)
    return "\n".join([head, *([pipeline_of] if has_pipeline else []), fields, deletions])


if __name__ == "__main__":
    for preset in PRESETS:
        shutil.rmtree(DIRECTORY / preset, ignore_errors=True)
    of_dashboards = {f"dashboards/{name}": text for name, text in {**dashboards(), **alerts()}.items()}
    for path, text in {**requests(), **of_dashboards}.items():
        (DIRECTORY / path).parent.mkdir(parents=True, exist_ok=True)
        (DIRECTORY / path).write_text(text, encoding="utf-8")
