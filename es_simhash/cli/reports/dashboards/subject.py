"""The subject of a dashboard: an index with groups, and the fields of its charts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID, uuid5

from es_simhash.cli.reports.dashboards.ui import UI, UIS, Name
from es_simhash.scheme.mapping import DEFAULT_PREFIX, check_prefix

# How near a duplicate is to its canonical document: see `es_simhash.scheme.group_fields`.
Measure: TypeAlias = Literal["similarity", "distance"]

# Any date of a document; tomorrow's dates come from other time zones.
ALL_TIMES = {"from": "1900-01-01T00:00:00.000Z", "to": "now+1d"}

_NAMESPACE = UUID("6f1f2c0e-9a53-4c0b-8f0d-3a4f4f0b7f5e")


@dataclass(frozen=True)
class Subject:
    """An index, alias or pattern whose documents have groups.

    A ``date_field`` adds charts over time, and applies the time range of the page; a ``by_field``, which can be
    aggregated, adds the share of duplicates by its values. ``text_fields`` are shown for documents. Saved objects
    belong to one ``space`` of Kibana; None is the default one. Their charts work in one ``ui``.
    """

    index: str
    prefix: str = DEFAULT_PREFIX
    date_field: str | None = None
    by_field: str | None = None
    text_fields: tuple[str, ...] = ()
    measure: Measure = "similarity"
    space: str | None = None
    ui: Name = "kibana"

    def __post_init__(self) -> None:
        """Refuse a prefix that no index can have."""
        check_prefix(self.prefix)

    def field(self, name: str) -> str:
        """Return the full name of one of our fields."""
        return f"{self.prefix}.{name}"

    @property
    def shown_in(self) -> UI:
        """The UI whose functions the charts call."""
        return UIS[self.ui]

    @property
    def name(self) -> str:
        """The displayed name: the index, and the prefix unless it is the default one."""
        return self.index if self.prefix == DEFAULT_PREFIX else f"{self.index} ({self.prefix})"

    def id_of(self, part: str) -> str:
        """Return the id of a saved object: the same for the same index, prefix and space, so an import replaces it.

        Since Kibana 8 an id belongs to one space, and an import into another space changes a taken id.
        """
        return str(uuid5(_NAMESPACE, json.dumps([self.index, self.prefix, self.space or "", part])))

    @property
    def data_view_id(self) -> str:
        """The id of the data view (index pattern)."""
        return self.id_of("data-view")
