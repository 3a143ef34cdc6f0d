"""The two UIs that show a dashboard, and all that they differ in: the names of the functions that a click calls.

Each adds its own to the expressions of Vega, and refuses a chart that calls another's:
https://www.elastic.co/docs/explore-analyze/visualize/custom-visualizations-with-vega
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.expressions import Expression, literal

Name: TypeAlias = Literal["kibana", "opensearch"]


@dataclass(frozen=True)
class UI:
    """A UI: its title, and what the names of its functions begin with."""

    title: str
    prefix: str

    def filtered(self, query: Json | Expression, label: str) -> str:
        """Return the expression that adds a filter to the page; ``label`` is the expression of what the page calls it.

        Kibana before 8.2 and OpenSearch Dashboards before 2.8 ignore labels, and show the query. Without a data view
        (null) both take the page's.
        """
        return f"{self.prefix}AddFilter({literal(query)}, null, {label})"

    def zoomed(self, start: str, end: str) -> str:
        """Return the expression that sets the page's time range; ``start`` and ``end`` are milliseconds."""
        return f"{self.prefix}SetTimeFilter({start}, {end})"


UIS: dict[Name, UI] = {
    "kibana": UI("Kibana", "kibana"),
    "opensearch": UI("OpenSearch Dashboards", "opensearchDashboards"),
}
