"""Reports on groups that are made up, for tests of the report and of its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from es_simhash._core.json_codec import Json
from es_simhash.cli.reports.group_report import Fetch, GroupingSettings, GroupReport, SharedKey, report_of
from es_simhash.groups.groups import Counts, Group, Member
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.compare import Pairs, pair_type
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme

INDEX = "articles"
SCHEME = Scheme(name="default")


def setup(**known: Any) -> GroupingSettings:
    """Return a typical setup."""
    usual: dict[str, Any] = {
        "name": INDEX,
        "scheme": SCHEME,
        "criteria": Criteria.of(SCHEME, "both"),
        "fields": ["body"],
        "options": GroupOptions(),
        "date_field": "published",
        "made_at": datetime(2026, 11, 21, 2, 30, tzinfo=timezone.utc),
    }
    return GroupingSettings(**usual | known)


def member(
    id_: str,
    similarity: float | None = 1.0,
    distance: int | None = 0,
    index: str = INDEX,
    canonical: str | None = None,
) -> Member:
    """Return a member of a group; without a canonical document, the first of the group stands for it."""
    return Member(index, id_, canonical or "", canonical == id_, similarity, distance)


def group(name: str, *members: Member) -> Group:
    """Return a group of some members, or of two."""
    given = members or (member(f"{name}-0"), member(f"{name}-1"))
    own = tuple(
        each if each.canonical else replace(each, canonical=given[0].id, is_canonical=not place)
        for place, each in enumerate(given)
    )
    return Group(id=name, members=own)


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
    forms: Sequence[str] = (),
    others: int = 100,
    omitted: Mapping[str, Any] | None = None,
    look: Fetch | None = None,
    **known: Any,
) -> GroupReport:
    """Return a report on groups, whose documents have these texts by their ids, in an index that has ``others`` too."""
    own, has = sorted(groups, key=lambda each: -len(each.members)), texts or {}
    duplicates = sum(not member.is_canonical for each in own for member in each.members)
    counts = Counts(others + duplicates + len(own), 0, 2, 3, len(own), duplicates, 1234, 5, 0)

    def texts_of(members: Sequence[Member]) -> list[Json | None]:
        return [{"body": has[member.id]} if member.id in has else None for member in members]

    counted, fetch = replace(counts, **omitted or {}), look or texts_of
    return report_of(setup(**known), counted, own, found, dates, fetch, shared_keys=keys, forms=forms)
