"""The demo's report: all that its trial came to, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from es_simhash.cli.demo import outcome
from es_simhash.cli.demo.corpus import Planted
from es_simhash.cli.demo.differences import marked
from es_simhash.cli.demo.grammar import language
from es_simhash.cli.demo.outcome import Example, Group, Missed
from es_simhash.cli.demo.trial import PLAIN, Found, Pair, Rate
from es_simhash.scheme.scheme import Scheme

UNRELATED = "unrelated"
_LARGEST = 3


@dataclass(frozen=True)
class WayCounts:
    """How many pairs of each kind a search with these ``options`` found, unrelated ones too."""

    options: str
    found: dict[str, int]
    searches: Rate


@dataclass(frozen=True)
class Report:
    """What was made, how fast it was loaded, and what was found in which way.

    ``missed`` and ``examples`` are of a search without options, which matches from ``threshold`` on; the groups are
    of pairs verified by their texts, ``largest`` being the first few.
    """

    languages: dict[str, int]
    kinds: dict[str, int]
    loading: Rate
    threshold: float
    planted: dict[str, int]
    ways: list[WayCounts]
    missed: list[Missed]
    examples: list[Example]
    groups: int
    largest: list[Group]

    def as_json(self) -> dict[str, Any]:
        """The report in values that JSON has."""
        return {
            **asdict(self),
            "loading": _rate_as_json(self.loading),
            "ways": [asdict(way) | {"searches": _rate_as_json(way.searches)} for way in self.ways],
            "examples": [_example_as_json(example) for example in self.examples],
            "largest": [_group_as_json(group) for group in self.largest],
        }


def report(scheme: Scheme, documents: Sequence[Planted], loading: Rate, found: Sequence[Found]) -> Report:
    """The report on a trial."""
    planted = outcome.planted_pairs(documents)
    pairs = {each.way.options: each.pairs for each in found}
    plain = pairs[PLAIN.options]
    groups = outcome.groups(documents, plain)
    comparing = outcome.verifier(scheme, documents)
    return Report(
        languages=dict(Counter(each.language for each in documents)),
        kinds=dict(Counter(each.kind for each in documents)),
        loading=loading,
        threshold=comparing.verification.similarity,
        planted={kind: len(own) for kind, own in planted.items()},
        ways=[WayCounts(each.way.options, _counts(planted, each.pairs), each.searches) for each in found],
        missed=list(outcome.missed(scheme, comparing, documents, planted, plain)),
        examples=list(outcome.examples(comparing, documents, planted, plain)),
        groups=len(groups),
        largest=groups[:_LARGEST],
    )


def difference(example: Example) -> str:
    """What differs between the two texts of an example."""
    return marked(language(example.first.language), example.first.text, example.second.text)


def _counts(planted: dict[str, set[Pair]], found: Collection[Pair]) -> dict[str, int]:
    counts = {kind: len(own.intersection(found)) for kind, own in planted.items()}
    return counts | {UNRELATED: len(outcome.unplanted(found, planted))}


def _rate_as_json(rate: Rate) -> dict[str, float]:
    return asdict(rate) | {"per_second": rate.per_second}


def _example_as_json(example: Example) -> dict[str, Any]:
    return {
        "language": example.first.language,
        "kind": example.second.kind,
        "ids": [example.first.id, example.second.id],
        "similarity": example.similarity,
        "difference": difference(example),
    }


def _group_as_json(group: Group) -> dict[str, Any]:
    return {"ids": [each.id for each in group.documents], "kinds": group.kinds}
