"""The demo's summary: the results of its trial in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any

from es_simhash.cli.demo import outcome
from es_simhash.cli.demo.corpus import CorpusDocument
from es_simhash.cli.demo.grammar import Language, language
from es_simhash.cli.demo.outcome import DocumentGroup, Example, Missed
from es_simhash.cli.demo.trial import PLAIN, Pair, Rate, WayResult
from es_simhash.scheme.scheme import Scheme

UNRELATED = "unrelated"
_LARGEST = 3
# Words, or characters of languages without spaces, on each side of a difference.
_AROUND = {True: 4, False: 10}


@dataclass(frozen=True)
class WayCounts:
    """The number of pairs of each kind, unrelated ones too, that searches with these ``options`` found."""

    options: str
    found: dict[str, int]
    searches: Rate


@dataclass(frozen=True)
class Summary:
    """What was made, how fast it was loaded, and what each way of searching found.

    ``missed`` and ``examples`` come from searches without options, at the minimum similarity ``threshold``. Groups are
    linked by pairs that were verified by their texts; ``largest`` has the first few.
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
    largest: list[DocumentGroup]

    def as_json(self) -> dict[str, Any]:
        """Return the summary in JSON's types."""
        return {
            **asdict(self),
            "loading": _rate_as_json(self.loading),
            "ways": [asdict(way) | {"searches": _rate_as_json(way.searches)} for way in self.ways],
            "examples": [_example_as_json(example) for example in self.examples],
            "largest": [_group_as_json(group) for group in self.largest],
        }


def summarize(
    scheme: Scheme, documents: Sequence[CorpusDocument], loading: Rate, found: Sequence[WayResult]
) -> Summary:
    """Summarize a trial."""
    planted = outcome.planted_pairs(documents)
    pairs = {each.way.options: each.pairs for each in found}
    plain = pairs[PLAIN.options]
    groups = outcome.groups(documents, plain)
    comparing = outcome.verifier(scheme)
    return Summary(
        languages=dict(Counter(each.language for each in documents)),
        kinds=dict(Counter(each.kind for each in documents)),
        loading=loading,
        threshold=comparing.verification.similarity,
        planted={kind: len(own) for kind, own in planted.items()},
        ways=[WayCounts(each.way.options, _counts(planted, each.pairs), each.searches) for each in found],
        missed=list(outcome.missed(comparing, documents, planted, plain)),
        examples=list(outcome.examples(comparing, documents, planted, plain)),
        groups=len(groups),
        largest=groups[:_LARGEST],
    )


def difference(example: Example) -> str:
    """Mark what differs between the two texts of an example."""
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


def _group_as_json(group: DocumentGroup) -> dict[str, Any]:
    return {"ids": [each.id for each in group.documents], "kinds": group.kinds}


def marked(language: Language, before: str, after: str) -> str:
    """Return the second text with ``[-removed-]`` and ``{+added+}`` parts; long equal parts are cut."""
    first, second = language.units(before), language.units(after)
    # Units have the spaces behind them, which make no difference.
    matcher = SequenceMatcher(None, [unit.strip() for unit in first], [unit.strip() for unit in second], autojunk=False)
    around = _AROUND[bool(language.gap)]
    parts = []
    for operation, i, j, k, m in matcher.get_opcodes():
        if operation == "equal":
            parts.append(_shortened(first[i:j], around, is_first=i == 0, is_last=j == len(first)))
        else:
            parts += [_around("[-", first[i:j], "-]"), _around("{+", second[k:m], "+}")]
    return " ".join("".join(parts).split())


def _around(left: str, units: list[str], right: str) -> str:
    text = "".join(units)
    return f"{left}{text.rstrip()}{right}{text[len(text.rstrip()) :]}" if text else ""


def _shortened(units: list[str], around: int, *, is_first: bool, is_last: bool) -> str:
    head = [] if is_first else units[:around]
    tail = [] if is_last else units[-around:]
    if len(head) + len(tail) >= len(units):
        return "".join(units)
    return "".join([*head, "… ", *tail])
