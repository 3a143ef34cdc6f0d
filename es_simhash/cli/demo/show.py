"""The demo's summary for the terminal: lines of text, and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from es_simhash.cli.demo.corpus import KINDS, LANGUAGES
from es_simhash.cli.demo.outcome import DUPLICATES, LOOK_ALIKES, Why
from es_simhash.cli.demo.summary import UNRELATED, Summary, difference, kinds_of

_WHY: dict[Why, str] = {
    "below": "below the threshold",
    "keys": "no band in common",
}
_TITLE = 40


class Table(NamedTuple):
    """The titles of columns, and rows of cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def parts(summary: Summary) -> Iterator[str | Table]:
    """Yield all parts from top to bottom."""
    return chain(_corpus(summary), _found(summary), _missed(summary), _examples(summary), _groups(summary))


def _corpus(summary: Summary) -> Iterator[str | Table]:
    languages = ", ".join(f"{count:,} {LANGUAGES[code]}" for code, count in summary.languages.items())
    loading = summary.loading
    yield f"Made {sum(summary.languages.values()):,} texts: {languages}."
    yield Table(
        ["kind", "texts", "what they are"], [[kind, count, KINDS[kind]] for kind, count in summary.kinds.items()]
    )
    yield f"Loaded in {loading.seconds:.1f} s: {loading.per_second:,.0f} a second, with fingerprints."


def _found(summary: Summary) -> Iterator[str | Table]:
    yield "\nPairs found with these options of es-simhash find."
    yield "Siblings are two copies of the same text; kinds in brackets are no duplicates."
    rows = [
        [_labelled(kind), summary.planted.get(kind), *(way.found[kind] for way in summary.ways)]
        for kind in (*DUPLICATES, *LOOK_ALIKES, UNRELATED)
    ]
    rates = ["searches a second", None, *(round(way.searches.per_second) for way in summary.ways)]
    yield Table(["", "pairs", *(_options(way.options) for way in summary.ways)], [*rows, rates])
    templates = "; ".join(f"{_options(way.options)}: {way.found['template']:,}" for way in summary.ways)
    yield f"Templates look like duplicates. Of their {summary.planted['template']:,} pairs these were found with"
    yield f"{templates}."


def _missed(summary: Summary) -> Iterator[str | Table]:
    yield f"\nMissed without options, at the minimum similarity {summary.threshold}:"
    rows = [[each.kind, each.count, f"{each.lowest:.3f}–{each.highest:.3f}", _WHY[each.why]] for each in summary.missed]
    yield Table(["", "pairs", "exact similarity", "why"], rows) if rows else "None."


def _examples(summary: Summary) -> Iterator[str | Table]:
    for example in summary.examples:
        first, second = example.first, example.second
        name = LANGUAGES[first.language]
        yield f"\n{name}: {second.id} is {first.id}, {second.kind}; their similarity is {example.similarity:.3f}."
        yield difference(example)


def _groups(summary: Summary) -> Iterator[str | Table]:
    yield f"\nes-simhash group makes {summary.groups:,} groups. It calls these texts duplicates of what it keeps:"
    hidden = [[_labelled_texts(kind), count, summary.duplicates.get(kind, 0)] for kind, count in summary.kinds.items()]
    yield Table(["kind", "texts", "duplicates"], hidden)
    yield "The largest groups:"
    rows = []
    for group in summary.largest:
        kinds = ", ".join(f"{count} {kind}" for kind, count in kinds_of(group).items())
        first = group.documents[0]
        rows.append([len(group.documents), kinds, first.id, first.title[:_TITLE]])
    yield Table(["texts", "kinds", "first", "title"], rows)


def _options(options: str) -> str:
    return options or "no options"


def _labelled(kind: str) -> str:
    return kind if kind in DUPLICATES else f"({kind})"


def _labelled_texts(kind: str) -> str:
    return f"({kind})" if kind in LOOK_ALIKES else kind
