"""An index with groups for dashboards, and what its documents have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from typing import Any

from es_simhash.cli.reports.dashboards import UI, Copied, Subject
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.plans.operations import PutMapping, Search
from tests.support.corpus import corpus, edited
from tests.support.whole_indices import FIELDS, fill

SITE = Copied("site", "site")
SITES = ("a.example", "b.example", "c.example")
MAPPINGS = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "site": {"type": "keyword"},
        "published": {"type": "date"},
    }
}


def documents() -> Iterator[dict[str, Any]]:
    """Thirty stories, the first with nine copies, others with one or two or none, on three sites over two years."""
    for number, story in enumerate(corpus(30)):
        copies = 9 if number == 0 else number % 3
        for copy in range(1 + copies):
            text = edited(story, copy) if copy else story
            own = {"site": SITES[(number + copy) % 3], "published": f"{2025 + number % 2}-{1 + copy:02}-15"}
            yield {"_id": f"{number}-{copy}", **text, **own}


@dataclass(frozen=True)
class Grouped:
    """An index with groups, and what its documents have."""

    engine: Engine
    subject: Subject

    def ask(self, body: dict[str, Any]) -> Any:
        return self.engine.perform(Search(self.subject.index, body))

    @cached_property
    def documents(self) -> dict[str, dict[str, Any]]:
        hits = self.ask({"size": 1000})["hits"]["hits"]
        return {hit["_id"]: hit["_source"] for hit in hits}

    @cached_property
    def duplicates(self) -> dict[str, dict[str, Any]]:
        """Our fields of the documents that are not canonical."""
        return {
            id_: each["dedup"] for id_, each in self.documents.items() if not each["dedup"].get("is_canonical", True)
        }

    @cached_property
    def groups(self) -> Counter[str]:
        """How many duplicates each group has."""
        return Counter(each["group"] for each in self.duplicates.values())


def subject_of(index: str, ui: UI = "kibana") -> Subject:
    """The subject with all charts."""
    return Subject(index, date_field="published", by_field="site", text_fields=FIELDS, copied=SITE, has_lag=True, ui=ui)


def copy_fields(grouped: Grouped) -> None:
    """Give duplicates the site of their canonical documents, and any days since their dates."""
    of: Any = {"properties": {"site": {"type": "keyword"}}}
    own = {"properties": {"of": of, "lag_days": {"type": "float"}}}
    grouped.engine.perform(PutMapping(grouped.subject.index, {"properties": {"dedup": own}}))
    written = {}
    for id_, days in zip(grouped.duplicates, cycle((-2.5, 0, 0.02, 0.2, 0.9, 1, 6.5, 20, 100, 400.25)), strict=False):
        document = grouped.documents[id_]
        canonical = grouped.documents[document["dedup"]["canonical"]]
        copied = {"of": {"site": canonical["site"]}, "lag_days": days}
        written[id_] = {**document, "dedup": {**document["dedup"], **copied}}
    fill(grouped.engine, grouped.subject.index, written)


def group(index: Index, **options: Any) -> None:
    with index.group(similarity=0.5, **options) as found:
        index.write_groups(found)
    index.refresh()
