"""The demo's report as people read it: lines of text, and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from es_simhash.cli.demo.corpus import KINDS, LANGUAGES
from es_simhash.cli.demo.outcome import DUPLICATES, LOOK_ALIKES, Why
from es_simhash.cli.demo.report import UNRELATED, Report, difference

_WHY: dict[Why, str] = {
    "below": "less similar than asked for",
    "sample": "less, by the sample of the index that tells which features are rare",
    "keys": "no band in common",
}
_TITLE = 40


class Table(NamedTuple):
    """The heads of columns, and rows of cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def parts(report: Report) -> Iterator[str | Table]:
    """The whole page, from top to bottom."""
    return chain(_corpus(report), _found(report), _missed(report), _examples(report), _groups(report))


def _corpus(report: Report) -> Iterator[str | Table]:
    languages = ", ".join(f"{count:,} {LANGUAGES[code]}" for code, count in report.languages.items())
    loading = report.loading
    yield f"Made {sum(report.languages.values()):,} texts: {languages}."
    yield Table(["kind", "texts", "what they are"], [[kind, report.kinds[kind], KINDS[kind]] for kind in report.kinds])
    yield f"Loaded in {loading.seconds:.1f} s: {loading.per_second:,.0f} a second, with fingerprints."


def _found(report: Report) -> Iterator[str | Table]:
    yield "\nPairs found, by the options of es-simhash find."
    yield "Siblings are two copies of the same text; what stands in brackets is no duplicate."
    rows = [
        [_labelled(kind), report.planted.get(kind), *(way.found[kind] for way in report.ways)]
        for kind in (*DUPLICATES, *LOOK_ALIKES, UNRELATED)
    ]
    rates = ["searches a second", None, *(round(way.searches.per_second) for way in report.ways)]
    yield Table(["", "pairs", *(_options(way.options) for way in report.ways)], [*rows, rates])
    templates = "; ".join(f"{_options(way.options)}: {way.found['template']:,}" for way in report.ways)
    yield f"Templates look like duplicates. So many of their {report.planted['template']:,} pairs were found by"
    yield f"{templates}."


def _missed(report: Report) -> Iterator[str | Table]:
    yield f"\nMissed without options, by which pairs match from the similarity {report.threshold} on:"
    rows = [[each.kind, each.count, f"{each.lowest:.3f}–{each.highest:.3f}", _WHY[each.why]] for each in report.missed]
    yield Table(["", "pairs", "exact similarity", "why"], rows) if rows else "None."


def _examples(report: Report) -> Iterator[str | Table]:
    for example in report.examples:
        first, second = example.first, example.second
        name = LANGUAGES[first.language]
        yield f"\n{name}: {second.id} is {first.id}, {second.kind}; their similarity is {example.similarity:.3f}."
        yield difference(example)


def _groups(report: Report) -> Iterator[str | Table]:
    yield f"\n{report.groups:,} groups of near-duplicates. The largest:"
    rows = []
    for group in report.largest:
        kinds = ", ".join(f"{count} {kind}" for kind, count in group.kinds.items())
        first = group.documents[0]
        rows.append([len(group.documents), kinds, first.id, first.title[:_TITLE]])
    yield Table(["texts", "of which", "first", "title"], rows)


def _options(options: str) -> str:
    return options or "no options"


def _labelled(kind: str) -> str:
    return kind if kind in DUPLICATES else f"({kind})"
