"""What the script of a pipeline makes of documents on a node, alongside what Python makes, and texts to try it with."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from es_simhash._core.batches import chunks
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import pipeline
from es_simhash.text.normalise import unassigned_ranges
from tests.support.texts import AWKWARD
from tools.nodes import Node


@cache
def code_points() -> list[str]:
    return [chr(point) for point in chain(range(0xD800), range(0xE000, 0x110000))]


@dataclass(frozen=True)
class Script:
    """The script on a node, which nothing is written to."""

    node: Node

    def made(self, documents: Documents, sources: Sequence[Json]) -> list[Json]:
        """Run documents through the pipeline; raise if the script fails on one."""
        body = pipeline("any", documents)
        del body["processors"][0]["script"]["on_failure"]
        made = []
        for _, chunk in chunks(sources, 1000):
            asked = {"pipeline": body, "docs": [{"_source": source} for source in chunk]}
            reply = self.node.request("POST", "/_ingest/pipeline/_simulate", asked).body
            made += [each["doc"]["_source"] for each in reply["docs"]]
        return made

    def is_right_about(self, documents: Documents, sources: Sequence[Json]) -> None:
        """All are fingerprinted, none is deferred, and all is as by Python."""
        expected = list(documents.add_fields_to_all(sources))
        made = self.made(documents, sources)
        different = [(ours, theirs) for ours, theirs in zip(expected, made, strict=True) if ours != theirs]
        assert not different, f"{len(different)} differ, such as: {different[0]}"


def texts(*made: str) -> list[Json]:
    """Documents of one text each."""
    return [{"text": text, "other": 1} for text in made]


def every_code_point() -> list[Json]:
    """All 1,112,064 of them, each between letters that a mark can join."""
    return texts(*("e".join(code_points()[start : start + 160]) for start in range(0, len(code_points()), 160)))


def awkward_texts() -> Iterator[str]:
    """Several thousand texts of marks, ligatures, letters that fold, and code points that were not assigned."""
    rng = random.Random(5)
    changed = [
        character
        for character in code_points()
        if character.casefold() != character
        or unicodedata.normalize("NFKC", character) != character
        or unicodedata.combining(character)
    ]
    bounds = [
        chr(point)
        for first, last in unassigned_ranges()
        for point in (first - 1, first, last, last + 1)
        if point < 0x110000 and not 0xD800 <= point < 0xE000
    ]
    alphabets = (list(AWKWARD), changed, bounds, code_points(), [*AWKWARD, *rng.choices(changed, k=40)])
    for number in range(3000):
        yield "".join(rng.choices(alphabets[number % len(alphabets)], k=rng.randrange(70)))
