"""The headings under which the help of each verb lists its options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

# The options of each heading, wherever they occur; all others are the verb's own.
HEADINGS = {
    "What to compare": (
        *("text", "id", "file", "query", "index", "field", "scheme", "prefix", "filter", "refresh-stale", "preview"),
        *("containing", "contained", "distinct", "by-groups", "similarity", "distance", "numbers", "containment"),
        *("estimate", "strip", "rarity", "labels", "sample", "histogram", "scan"),
    ),
    "Scope": ("within", "across", "window", "date", "no-scope", "scope-value"),
    "Files": ("format", "id-field", "encoding", "rejects"),
    "Long jobs": (
        *("part", "workers", "max-rate", "patience", "memory", "state", "no-refresh", "no-replicas", "fast", "accept"),
        *("metrics-port", "metrics-file"),
    ),
    "Output": (
        *("size", "source", "output", "pairs", "report", "canonical-only", "delete-script", "kibana-url"),
        *("json", "quiet", "verbose", "log-format"),
    ),
    "Connection": (
        *("url", "profile", "user", "password-file", "api-key", "api-key-file", "cloud-id", "aws-sigv4", "ca-certs"),
        *("insecure", "distribution"),
    ),
}
OWN = "Options"


def under_headings(parameters: Sequence[click.Parameter]) -> Iterator[tuple[str, list[click.Parameter]]]:
    """Yield each heading with its options, those of the verb itself first.

    >>> [heading for heading, _ in under_headings([click.Option(["--url"]), click.Option(["--write"])])]
    ['Options', 'Connection']
    """
    names = {max(each.opts, key=len).lstrip("-"): each for each in parameters if isinstance(each, click.Option)}
    placed = {heading: [name for name in known if name in names] for heading, known in HEADINGS.items()}
    if "window" not in names and "date" in placed["Scope"]:  # a date for something else
        placed["Scope"].remove("date")
    taken = {name for known in placed.values() for name in known}
    for heading, known in {OWN: [name for name in names if name not in taken], **placed}.items():
        if known:
            yield heading, [names[name] for name in known]


def write_options(ctx: click.Context, formatter: click.HelpFormatter, parameters: Sequence[click.Parameter]) -> None:
    """Write a section for each heading that has an option to show."""
    for heading, options in under_headings(parameters):
        if records := [record for each in options if (record := each.get_help_record(ctx))]:
            with formatter.section(heading):
                formatter.write_dl(records)
