"""What a dashboard is about: an index with groups, and the fields that its charts are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID, uuid5

from es_simhash.scheme.mapping import DEFAULT_PREFIX, check_prefix

# How near a duplicate is to the document kept, as far as the scheme tells: see `es_simhash.scheme.group_fields`.
Measure: TypeAlias = Literal["similarity", "distance"]

_NAMESPACE = UUID("6f1f2c0e-9a53-4c0b-8f0d-3a4f4f0b7f5e")


@dataclass(frozen=True)
class Subject:
    """An index, alias or pattern whose documents have groups.

    With a ``date_field`` there are charts over time, and the time range of the page counts; with a ``by_field``, which
    can be aggregated, the share of duplicates by its values. The ``text_fields`` are shown of documents. Saved objects
    belong to one ``space`` of Kibana, None being the default one.
    """

    index: str
    prefix: str = DEFAULT_PREFIX
    date_field: str | None = None
    by_field: str | None = None
    text_fields: tuple[str, ...] = ()
    measure: Measure = "similarity"
    space: str | None = None

    def __post_init__(self) -> None:
        """Refuse a prefix that no index can have."""
        check_prefix(self.prefix)

    def field(self, name: str) -> str:
        """The whole name of a field of ours."""
        return f"{self.prefix}.{name}"

    @property
    def name(self) -> str:
        """What people see: the index, and the prefix where it is not the usual one."""
        return self.index if self.prefix == DEFAULT_PREFIX else f"{self.index} ({self.prefix})"

    def id_of(self, part: str) -> str:
        """The id of a saved object: the same for the same index, prefix and space, so that an import replaces it.

        From Kibana 8 on an id belongs to one space, and an object with the same id in another would be given a new one.
        """
        return str(uuid5(_NAMESPACE, json.dumps([self.index, self.prefix, self.space or "", part])))

    @property
    def data_view_id(self) -> str:
        """The id of the data view (index pattern)."""
        return self.id_of("data-view")
