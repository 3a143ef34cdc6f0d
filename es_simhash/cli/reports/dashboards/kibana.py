"""The address of Kibana or OpenSearch Dashboards, and of pages in it.

A group's page is Discover with a query for the group. Discover keeps its state in the address, in Rison: JSON with
fewer characters that an address must escape (https://github.com/Nanonid/rison).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote

from es_simhash._core.urls import origin, split_url
from es_simhash.cli.reports.dashboards.subject import ALL_TIMES, Subject
from es_simhash.errors import InputError

# Kibana's pages are below these paths; an address copied from a browser has one of them.
_PAGES = re.compile(r"/(app|login|spaces)(/.*|$)")
_SPACE = re.compile(r"/s/([a-z0-9_-]+)$")
# Characters that Rison needs, and that no browser, mail or chat takes for the end of an address.
_LEGIBLE = "!(),:*@$"


@dataclass(frozen=True)
class Kibana:
    """An address without its page and without credentials; a ``space`` of Kibana, or a ``tenant`` of OpenSearch."""

    address: str
    space: str | None = None
    tenant: str | None = None

    @classmethod
    def at(cls, url: str) -> Kibana:
        """Parse the URL of any page; ``/s/SPACE`` in it names the space, ``?security_tenant=TENANT`` the tenant."""
        parts = split_url(url)
        if parts is None:
            raise InputError("The URL of Kibana cannot be read. Write it as https://HOST:PORT.")
        path, space = _PAGES.sub("", parts.path).rstrip("/"), None
        tenant = next(iter(parse_qs(parts.query).get("security_tenant", ())), None)
        if found := _SPACE.search(path):
            path, space = path[: found.start()], found[1]
        if space and tenant:
            raise InputError("Spaces are of Kibana, tenants of OpenSearch Dashboards. Name one of them in the URL.")
        return cls(origin(parts, parts.port) + path, None if space == "default" else space, tenant)

    def group(self, subject: Subject, group: str) -> str:
        """Return the page in Discover with a group's documents."""
        space = f"/s/{self.space}" if self.space else ""
        tenant = f"?security_tenant={quote(self.tenant, safe='')}" if self.tenant else ""
        return f"{self.address}{space}/app{discover(subject, group, tenant)}"


def discover(subject: Subject, group: str, tenant: str = "") -> str:
    """Return the path of a group's documents in Discover, below that of the apps; in the subject's data view.

    Each canonical document comes before its duplicates, with its id and title in whole, so that a reader can tick
    documents and compare them.

    Newer versions of both products read this address, which is that of 7.10, and write it as their own.
    """
    state = {
        "index": subject.data_view_id,
        "query": {"language": "kuery", "query": f"{subject.field('group')}: {_quoted(group)}"},
        "columns": [
            *("_id", *subject.text_fields[:1]),
            *map(subject.field, ("is_canonical", subject.measure)),
            *subject.text_fields[1:],
        ],
        "sort": [[subject.field("canonical"), "asc"], [subject.field("is_canonical"), "desc"]],
        "rowHeight": -1,
    }
    return f"/discover{tenant}#/?_g={_rison({'time': ALL_TIMES})}&_a={_rison(state)}"


def _quoted(text: str) -> str:
    """Quote a text as a phrase of the Kibana query language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _rison(value: Any) -> str:
    return quote(rison(value), safe=_LEGIBLE)


def rison(value: Any) -> str:
    """Write JSON values as Rison; keys must be plain words."""
    match value:
        case None:
            return "!n"
        case bool():
            return "!t" if value else "!f"
        case int():
            return str(value)
        case dict():
            return f"({','.join(f'{key}:{rison(each)}' for key, each in value.items())})"
        case list():
            return f"!({','.join(map(rison, value))})"
    return "'" + re.sub("[!']", r"!\g<0>", str(value)) + "'"
