"""The tables of docs/quality.md and benchmarks/quality.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.labelled import Result
from benchmarks.quality_sets import NOISE, SETS, about
from benchmarks.tables import Table
from es_simhash.quality.scores import Estimate

DEFAULT = "es_simhash, near"


@dataclass(frozen=True)
class Measured:
    """A set, with the results of the contenders by their names."""

    name: str
    documents: int
    pairs: int
    results: Mapping[str, Result]


def board(measured: Sequence[Measured]) -> Iterator[Table]:
    """Make the tables of docs/quality.md: the summary first, then the sets, then those with noise."""
    known = {each.name: each for each in measured}
    noisy = [known[name] for name in NOISE if name in known]
    clean = [known[name] for name in SETS if name in known]
    clean += [each for each in measured if each not in noisy and each not in clean]
    if clean:
        yield _summary("F1 of pairs", clean)
        yield _by_default("The sets, and the default on them", clean)
    if noisy:
        yield _summary("Noise: F1 of pairs", noisy)
        yield _by_default("The sets with noise, and the default on them", noisy)


def _summary(title: str, measured: Sequence[Measured]) -> Table:
    table = Table(title, ["", *(each.name for each in measured)])
    everywhere = [name for name in measured[0].results if all(name in each.results for each in measured)]
    for name in everywhere:
        table.add(name, *(_shown(each.results[name].f1.value) for each in measured))
    return table


def _by_default(title: str, measured: Sequence[Measured]) -> Table:
    columns = ("", "origin", "documents", "pairs", "looked at", "precision", "recall", "F1", "closure F1", "B³", "ARI")
    table = Table(title, columns)
    for each in measured:
        origin, looked = about(each.name)
        result = each.results[DEFAULT]
        table.add(each.name, origin, f"{each.documents:,}", f"{each.pairs:,}", looked, *_scores(result))
    return table


def details(each: Measured) -> Table:
    """Make the table of all contenders on a set."""
    columns = ("", "precision", "recall", "F1", "closure F1", "B³", "ARI", "F1 without equal texts", "candidates",
               "best F1", "at")  # fmt: skip
    table = Table(each.name, columns, f"{each.documents:,} documents, {each.pairs:,} pairs of duplicates.")
    for name, result in each.results.items():
        best = result.best
        at = (f"{best.at:.2f}" if best.at > 0 else f"{abs(best.at):.0f} bits") if best else ""
        more = map(_shown, (result.f1_of_unequal, result.candidates, best.f1 if best else None))
        table.add(name, *_scores(result), *more, at)
    return table


def _scores(result: Result) -> Iterator[str]:
    """Show scores of pairs, then of groups; the F1 of both with its interval."""
    yield from map(_shown, (result.precision.value, result.recall.value))
    yield _with_interval(result.f1)
    groups = result.groups
    yield _with_interval(groups.closure_f1) if groups else ""
    yield from (_shown(each.value) for each in (groups.b_cubed_f1, groups.adjusted_rand_index)) if groups else ("", "")


def _with_interval(score: Estimate) -> str:
    is_known = score.low is not None and score.high is not None
    return _shown(score.value) + (f" ({_shown(score.low)}–{_shown(score.high)})" if is_known else "")


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".replace("-0.000", "0.000")
