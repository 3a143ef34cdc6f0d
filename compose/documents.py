"""Print a generated corpus as JSON lines, each with a site and a date added: ``python documents.py [SIZE]``.

Stories appear on sites that write, within a year; their copies some days later, mostly on sites that collect.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from datetime import date, timedelta

from examples.corpus import make_corpus

_BEGIN = date(2026, 1, 1)
_DAYS = 330
_WRITING = ("courier.example", "herald.example", "gazette.example", "observer.example", "chronicle.example")
_COLLECTING = ("mirror.example", "digest.example", "reader.example")


def documents(size: int) -> Iterator[dict[str, str]]:
    """Generate about ``size`` documents, the same each time."""
    published: dict[str, date] = {}
    for each in make_corpus(size):
        rng = random.Random(each.id)
        original = published.get(each.family)
        published[each.id] = _published(rng, original)
        site = _site(rng, is_copy=original is not None)
        yield {**each.document, "site": site, "published": published[each.id].isoformat()}


def _published(rng: random.Random, original: date | None) -> date:
    if original is None:
        # More in some months than in others.
        return _BEGIN + timedelta(days=int(_DAYS * rng.betavariate(2, 1.4)))
    return original + timedelta(days=int(rng.expovariate(1 / 6)))


def _site(rng: random.Random, is_copy: bool) -> str:
    own = _COLLECTING if is_copy and rng.random() < 0.7 else _WRITING
    return rng.choices(own, weights=range(len(own), 0, -1))[0]


if __name__ == "__main__":
    for found in documents(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(json.dumps(found, ensure_ascii=False))
