"""The page about all groups: totals, charts, the largest groups, and what was left out."""

from __future__ import annotations

import json
from collections.abc import Iterator

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import counted
from es_simhash.cli.reports.groups.collector import GroupReport, Setup
from es_simhash.cli.reports.groups.histograms import Similarities
from es_simhash.cli.reports.groups.timeline import Timeline, Unit
from es_simhash.cli.reports.html.column_chart import Column, below, between, chart
from es_simhash.cli.reports.html.largest_groups import groups, name_of, pieces
from es_simhash.cli.reports.html.page import page, section, style_of
from es_simhash.cli.show.groups import missing
from es_simhash.cli.show.refused import numbers_phrase, refused_sentence

# The number of characters of an ISO 8601 date that name a period.
_NAMED: dict[Unit, int] = {"day": 10, "month": 7, "year": 4}
_DECIDED_BY = {"fingerprints": "fingerprints, without reading texts", "texts": "texts"}


def report_page(report: GroupReport) -> str:
    """Return the page."""
    return page(f"Near-duplicates in {report.setup.name}", *_sections(report), style=style_of("groups"))


def _sections(report: GroupReport) -> Iterator[Html]:
    yield _header(report)
    yield section("In numbers", _totals(report))
    if report.sizes:
        yield section("Groups by size", *_sizes(report))
    if report.similarities:
        yield section("Similarity of pairs", *_similarities(report.similarities, report.setup, report.counts.valley))
    if report.distances:
        yield section("Distance of pairs", *_distances(report))
    if report.timeline:
        yield section("Duplicates over time", *_timeline(report.timeline, report.setup))
    if report.largest:
        yield section("The largest groups", *groups(report))
    if report.shared_keys:
        yield section("Keys that very many documents share", *_shared_keys(report))
    yield section("Left out", _left_out(report))
    yield section("Settings", _settings(report.setup))


# ---- what it came to


def _header(report: GroupReport) -> Html:
    counts, setup, sentences = report.counts, report.setup, list[str]()
    if counts.groups:
        sentences.append(
            f"{counted(counts.documents - counts.duplicates, 'document')} would remain without duplicates."
        )
    if report.largest:
        sentences.append(f"The largest group has {counted(report.largest[0].size, 'document')}.")
    if any(_omissions(report)):
        sentences.append("Not everything was compared: see what was left out.")
    made_at = f", {setup.made_at:%Y-%m-%d %H:%M %Z}".rstrip() if setup.made_at else ""
    return element(
        "header",
        element("h1", _headline(report)),
        element("p", " ".join(sentences)) if sentences else "",
        element("p", element("bdi", setup.name), made_at, class_="faint"),
    )


def _headline(report: GroupReport) -> str:
    counts = report.counts
    if not counts.documents:
        return "There were no documents to compare."
    if not counts.groups:
        return f"No near-duplicates among {counted(counts.documents, 'document')}."
    are = "is a duplicate" if counts.duplicates == 1 else "are duplicates"
    of = f"{counts.duplicates:,} of {counted(counts.documents, 'document')}"
    return f"{of} {are}, in {counted(counts.groups, 'group')}."


def _totals(report: GroupReport) -> Html:
    counts = report.counts
    share = f"{counts.duplicates / counts.documents:.1%} of all" if counts.documents else ""
    tiles = [
        ("documents", counts.documents, "that were compared"),
        ("duplicates", counts.duplicates, share),
        ("groups", counts.groups, "of documents that near pairs connect"),
        ("remaining", counts.documents - counts.duplicates, "without duplicates"),
        ("pairs of equal texts", counts.identical, "each with the previous one only"),
        ("pairs of similar texts", counts.near, f"of {counts.compared:,} compared"),
    ]
    return element("div", [_tile(*each) for each in tiles], class_="tiles")


def _tile(name: str, count: int, note: str) -> Html:
    return element(
        "p", element("span", name), element("b", f"{count:,}"), element("small", note, class_="faint"), class_="tile"
    )


# ---- charts


def _sizes(report: GroupReport) -> Iterator[Html]:
    yield element("p", "The number of groups by their number of documents.")
    columns = [Column(_range(each.least, each.most), each.groups, (f"{each.duplicates:,}",)) for each in report.sizes]
    heads = ["documents in a group", "groups", "duplicates"]
    yield chart(heads, columns, below([each.label for each in columns]))


def _similarities(found: Similarities, setup: Setup, valley: float | None) -> Iterator[Html]:
    drawn = sum(each.pairs for each in found.bins)
    sentences = [f"{counted(found.pairs, 'pair')}, {_origin(found)}. Near means {_near(setup)}."]
    if found.equal:
        sentences.append(f"{found.equal:,} at exactly 1 are not drawn: equal texts, or the same features.")
    if found.below:
        sentences.append(
            f"{found.below:,} below {found.bins[0].least:g} are not drawn: they are near by their distance."
        )
    if valley is not None:
        sentences.append(f"Your texts part at {valley:g}: few pairs that share a key are about as similar.")
    yield element("p", " ".join(sentences))
    if drawn:
        digits = max(len(f"{each.least:g}") for each in found.bins) - 2
        edges = [f"{each.least:.{digits}f}" for each in found.bins] + ["1"]
        columns = [
            Column(f"{edges[number]} to below {edges[number + 1]}", each.pairs)
            for number, each in enumerate(found.bins)
        ]
        yield chart(["similarity", "pairs"], columns, between(edges))


def _origin(found: Similarities) -> str:
    """Describe how the similarities were computed."""
    if found.exact == found.pairs:
        return "by their texts"
    estimated = "as their fingerprints estimate"
    return f"{found.exact:,} by their texts, the others {estimated}" if found.exact else estimated


def _distances(report: GroupReport) -> Iterator[Html]:
    simhash = report.setup.scheme.simhash
    yield element("p", f"The number of differing bits of their SimHashes, of {simhash.bits}." if simhash else "")
    columns = [Column(_range(each.least, each.most), each.pairs) for each in report.distances]
    yield chart(["bits that differ", "pairs"], columns, below([each.label for each in columns]))


def _timeline(found: Timeline, setup: Setup) -> Iterator[Html]:
    sentences = [f"By {setup.date_field or 'date'}, a column for each {found.unit} in UTC."] if found.periods else []
    if found.undated:
        sentences.append(f"{counted(found.undated, 'duplicate')} without a valid date.")
    if found.earlier or found.later:
        sentences.append(f"{found.earlier:,} earlier and {found.later:,} later than the chart.")
    yield element("p", " ".join(sentences))
    if found.periods:
        columns = [Column(each.start.isoformat()[: _NAMED[found.unit]], each.duplicates) for each in found.periods]
        yield chart([found.unit, "duplicates"], columns, below([each.label for each in columns]))


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


# ---- what needs a look


def _shared_keys(report: GroupReport) -> Iterator[Html]:
    yield element(
        "p",
        "Often boilerplate: a footer, a template, an error page. Documents with such a key were not compared with all "
        "others that have it.",
    )
    for each in report.shared_keys:
        text = f" with the same {each.key.name}, such as "
        example = name_of(*each.key.example, report.setup)
        yield element("p", element("b", counted(each.key.documents, "document")), text, example)
        yield pieces(each.excerpt)


def _left_out(report: GroupReport) -> Html:
    omissions = list(_omissions(report))
    return element("ul", [element("li", each) for each in omissions]) if omissions else element("p", "Nothing.")


def _omissions(report: GroupReport) -> Iterator[str]:
    counts, omitted = report.counts, report.omitted
    if omitted.new is not None:
        yield f"Only {counted(omitted.new, 'new document')} were compared with the others; known groups were extended."
    if omitted.unfingerprinted:
        yield (
            f"{counted(omitted.unfingerprinted, 'document')} without a fingerprint of this scheme, or without text. "
            "A backfill gives fingerprints to those that have text."
        )
    if counts.empty:
        yield f"{counted(counts.empty, 'document')} without text to compare."
    if counts.unscoped:
        yield f"{counted(counts.unscoped, 'document')} without a value of the scope, or a readable date."
    if counts.refused:
        yield refused_sentence(counts.refused)
    if counts.left_out:
        yield (
            f"{counted(counts.left_out, 'comparison')} of documents with keys that very many share. {missing(counts)}"
        )
    if omitted.cut_off:
        yield (
            f"{counted(omitted.cut_off, 'time')} a document was not compared by a key, because more documents than "
            "the limit have it: groups may lack members."
        )


def _settings(setup: Setup) -> Html:
    scheme = setup.scheme
    rows: list[tuple[str, str | Html]] = [
        ("documents", setup.name),
        ("texts in", ", ".join(setup.fields) or "all strings of a document"),
        ("scheme", element("span", element("code", scheme.id), f", {scheme.name}")),
        ("near", _near(setup)),
        ("canonical document", setup.canonical),
        ("decided by", _DECIDED_BY[setup.criteria.decided_by]),
        ("filter", element("code", json.dumps(setup.filter, ensure_ascii=False)) if setup.filter else "none"),
    ]
    if setup.scope:
        rows.append(("scope", element("code", json.dumps(setup.scope.to_json(), ensure_ascii=False))))
    if setup.strip:
        rows.append(("left out of texts", element("code", "  ".join(setup.strip))))
    if setup.max_bucket is not None:
        rows.append(("compared of a key", f"{counted(setup.max_bucket, 'document')} at most"))
    if setup.date_field:
        rows.append(("dates in", setup.date_field))
    return table(["setting", "value"], rows)


def _near(setup: Setup) -> str:
    """Describe the criteria of near pairs."""
    criteria, simhash = setup.criteria, setup.scheme.simhash
    asked = numbers_phrase(criteria.verification)
    near = [f"a similarity of at least {criteria.similarity:g}{asked}"] if criteria.similarity is not None else []
    if criteria.distance is not None and simhash:
        near.append(f"a distance of up to {criteria.distance} of {simhash.bits} bits")
    return ", or ".join(near)
