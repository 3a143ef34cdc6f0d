"""Reports on groups that are made up, for tests of the report and of its page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.group_report import Collector, GroupReport, Omitted, Setup, SharedKey
from es_simhash.groups.of_index.result import Group, Member
from es_simhash.groups.pairs.compare import Pairs, pair_type
from es_simhash.groups.pairs.diameters import Diameter
from es_simhash.groups.pairs.result import Counts
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme

INDEX = "articles"
SCHEME = Scheme(name="default")


def setup(**known: Any) -> Setup:
    """Return a typical setup."""
    usual: dict[str, Any] = {
        "name": INDEX,
        "scheme": SCHEME,
        "criteria": Criteria.of(SCHEME, "both"),
        "fields": ["body"],
        "date_field": "published",
        "made_at": datetime(2026, 11, 21, 2, 30, tzinfo=timezone.utc),
    }
    return Setup(**usual | known)


def member(
    id_: str,
    similarity: float | None = 1.0,
    distance: int | None = 0,
    index: str = INDEX,
    canonical: str | None = None,
) -> Member:
    """Return a member of a group; without a canonical document, the first of the group stands for it."""
    return Member(index, id_, canonical or "", canonical == id_, distance, similarity)


def group(name: str, *members: Member, diameter: Diameter | None = None) -> Group:
    """Return a group of some members, or of two."""
    given = members or (member(f"{name}-0"), member(f"{name}-1"))
    own = tuple(
        each if each.canonical else replace(each, canonical=given[0].id, is_canonical=not place)
        for place, each in enumerate(given)
    )
    return Group(id=name, members=own, diameter=diameter or Diameter(3, 0.75, True))


def group_of(name: str, size: int) -> Group:
    """Make a group of ``size`` members, each less similar to the first than the one before."""
    members = [member(f"{name}-{place}", 1 - 0.4 * place / size, place % 30) for place in range(size)]
    return group(name, *members)


def pairs(similarities: Sequence[float], distances: Sequence[int], exact: Sequence[bool] | None = None) -> Pairs:
    """Pairs of these similarities and distances."""
    made = np.zeros(len(similarities), dtype=pair_type(Criteria(3, 0.6)))
    made["similarity"], made["distance"] = similarities, distances
    made["is_exact"] = False if exact is None else exact
    return made


def report(
    groups: Iterable[Group],
    texts: dict[str, str] | None = None,
    *,
    found: Sequence[Pairs] = (),
    dates: Sequence[Any] = (),
    keys: Sequence[SharedKey] = (),
    omitted: Omitted | None = None,
    others: int = 100,
    **known: Any,
) -> GroupReport:
    """Return a report on groups, whose documents have these texts by their ids, in an index that has ``others`` too."""
    collector, own, texts = Collector(setup(**known)), list(groups), texts or {}
    for each in own:
        collector.add(each)
    for each_pairs in found:
        collector.add_pairs(each_pairs)
    collector.add_dates(dates)
    duplicates = sum(not member.is_canonical for each in own for member in each.members)
    counts = Counts(others + duplicates + len(own), 0, 2, 3, len(own), duplicates, 1234, 5, 0)

    def look(places: Sequence[tuple[str, str]]) -> list[Json | None]:
        return [{"body": texts[id_]} if id_ in texts else None for _, id_ in places]

    return collector.report(counts, look, keys, omitted or Omitted())
